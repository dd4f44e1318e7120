"""How far a long call has come: portions of a batch by the clock, and what is told of them.

``progress=f`` calls ``f(done, total)`` after each portion, of 0.3 seconds or so; ``progress=True`` shows a bar: that of
tqdm where it is installed, else a line on standard error. What `f` raises ends the call, as Ctrl-C does.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any, TypeAlias

from symdecouple.errors import InvalidInput
from symdecouple.numeric.features.expressions import Array
from symdecouple.waiting import counted_line

__all__ = ["EVERY", "Portioned", "Progress", "Tell", "reported"]

Tell: TypeAlias = Callable[[int, int], object]
Progress: TypeAlias = Tell | bool

EVERY = 0.3  # seconds of a portion: seen as going on, and short beside what a user waits for
_SOON = 1.0  # seconds: what is left of a batch, or of a part of it, and done sooner is told at its end only
_LONGEST = 1.2  # seconds of a portion that may still grow
_PAYS = 1.2  # times the rows a second that a portion of twice the rows must bring
_GROWTH = 8  # times that a portion may be longer than the one before: a first row may be slower, or faster, than others


@contextmanager
def reported(progress: Progress | None, doing: str, unit: str = "samples") -> Iterator[Tell | None]:
    """Yield what is to be called with the numbers done and to do; None where nothing is to be told."""
    if progress is None or progress is False:
        yield None
    elif progress is True:
        with ExitStack() as bars:
            yield _bar(bars, doing, unit)
    elif callable(progress):
        yield progress
    else:
        raise InvalidInput(f"progress={progress!r} was given; True, for a bar, or a function of the numbers done and "
                           "to do is expected")


class Portioned:
    """The portions of a batch cut by the clock, where somebody waits for them.

    They take about `EVERY` seconds each, and are told, unless what they are part of is done soon.
    """

    def __init__(self, tell: Tell | None, total: int, is_cut: bool) -> None:
        self._tell, self._total, self._is_cut = tell, total, is_cut or tell is not None
        self._told = self._began = time.perf_counter()
        self._step, self._left = 1, 0  # rows at once, and rows after these
        self._rate = 0.0  # rows a second

    def cut(self, rows: Array) -> Iterator[Array]:
        """Yield the rows in portions; the first one is a single row."""
        start = 0
        while start < len(rows):
            step = self._step if self._is_cut else len(rows)
            self._began, self._left = time.perf_counter(), max(len(rows) - start - step, 0)
            worked = time.process_time()
            yield rows[start : start + step]
            start += step
            # work, not waiting for a busy machine, is what a row costs
            seconds = min(time.perf_counter() - self._began, time.process_time() - worked)
            rate, before = step / max(seconds, 1e-6), self._rate
            self._rate, self._step = rate, step
            if seconds < EVERY / 2:
                self._step = int(min(EVERY * rate, _GROWTH * step))
            elif rate > _PAYS * before and seconds < _LONGEST:  # many rows may take as long as one: growing pays
                self._step = 2 * step
            elif seconds > 2 * EVERY:
                self._step = max(1, int(EVERY * rate))

    def is_due(self) -> bool:
        """True iff the last time that something was told is `EVERY` ago, and the rest takes longer than a moment."""
        now = time.perf_counter()
        return now - self._told >= EVERY and self._left * (now - self._began) / self._step >= _SOON

    def tell(self, done: int, is_end: bool = False) -> None:
        """Tell how many are done, if it is time, or at the end of a portion that was to be whole."""
        if is_end or self.is_due():
            self._told = time.perf_counter()
            if self._tell is not None:
                self._tell(done, self._total)


def _bar(stack: ExitStack, doing: str, unit: str) -> Tell:
    """Return what draws a bar, which the stack closes."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a notebook without widgets: tqdm writes its line
            tqdm = import_module("tqdm.auto").tqdm
    except ImportError:
        return stack.enter_context(counted_line(doing, unit))
    bars: list[Any] = []

    def tell(done: int, total: int) -> None:
        if not bars:
            bars.append(tqdm(total=total, desc=doing, unit=f" {unit}"))
            stack.callback(bars[0].close)
        bars[0].update(done - bars[0].n)

    return tell
