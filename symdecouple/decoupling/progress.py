"""How far a long call has come: portions of a batch by the clock, what is told of them, and what is kept.

``progress=f`` calls ``f(done, total)`` after each portion, of 0.3 seconds or so; ``progress=True`` shows a bar: that of
tqdm where it is installed, else a line on standard error. What `f` raises ends the call, as Ctrl-C does.

A long transform may be kept on the disk portion by portion, so that one that was interrupted goes on where it stopped.
The file knows what it belongs to: features, references, path and samples. Answers of anything else are never taken.
"""

from __future__ import annotations

import hashlib
import json
import time
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import astuple, dataclass
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput, Outcome
from symdecouple.numeric.features.expressions import Array
from symdecouple.numeric.samples.vectors import Batch
from symdecouple.replacing import replacing
from symdecouple.waiting import counted_line

__all__ = ["EVERY", "Checkpoint", "Portioned", "Progress", "Tell", "reported"]

Tell: TypeAlias = Callable[[int, int], object]
Progress: TypeAlias = Tell | bool

EVERY = 0.3  # seconds of a portion: seen as going on, and short beside what a user waits for
_SOON = 1.0  # seconds: what is left of a batch, or of a part of it, and done sooner is told at its end only
_LONGEST = 1.2  # seconds of a portion that may still grow
_PAYS = 1.2  # times the rows a second that a portion of twice the rows must bring
_FORMAT = "symdecouple checkpoint 1"
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
            least = 2 * step if rate > _PAYS * before and seconds < _LONGEST else 1  # many rows may take as long as one
            self._rate, self._step = rate, max(least, int(min(EVERY * rate, _GROWTH * step)))

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


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The answers of the rows of a batch that are done, in one file."""

    path: Path
    fingerprint: str

    @classmethod
    def of(cls, path: str | PathLike[str], plan: Sequence[Any], batch: Batch) -> Checkpoint:
        """Return the checkpoint of a batch of float64 numbers and all that its answers depend on, as texts."""
        if batch.numbers != np.float64:
            raise InvalidInput("a checkpoint keeps float64 numbers: leave dps out, or the checkpoint")
        digest = hashlib.sha256(repr([_FORMAT, *map(str, plan), batch.grid, batch.rows.shape, batch.whole]).encode())
        for row in batch.rows:
            digest.update(np.ascontiguousarray(row, dtype="<f8").data)
        return cls(Path(path), digest.hexdigest())

    def restore(self, batch: Batch) -> NDArray[np.int64]:
        """Put the answers that are there into the batch, and return their rows; refuse files of something else."""
        if not self.path.exists():
            return np.empty(0, dtype=np.int64)
        try:
            with np.load(self.path, allow_pickle=False) as kept:
                fingerprint, rows, values, texts = (kept[name] for name in ("fingerprint", "rows", "values", "told"))
                outcomes = json.loads(str(texts))
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise InvalidInput(f"{self.path} is no checkpoint of a transform ({error}); give another name") from error
        if str(fingerprint) != self.fingerprint:
            raise InvalidInput(f"{self.path} keeps the answers of another plan or of other samples; give another name, "
                               "or remove it")
        batch.put_all(rows, values)
        batch.refusals.update({index: Outcome(*outcome) for index, *outcome in outcomes["refused"]})
        batch.notes.update({index: Outcome(*outcome) for index, *outcome in outcomes["noted"]})
        return np.asarray(rows)

    def keep(self, batch: Batch, done: NDArray[np.bool_]) -> None:
        """Write the answers of rows that are done in place of the file: it is whole whenever the process ends."""
        noted = {name: [(i, *astuple(outcome)) for i, outcome in outcomes.items() if done[i]]
                for name, outcomes in (("refused", batch.refusals), ("noted", batch.notes))}
        with replacing(self.path) as file:
            np.savez(file, fingerprint=self.fingerprint, rows=np.flatnonzero(done),
                     values=np.asarray(batch.values[done], dtype=np.float64), told=json.dumps(noted))


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
