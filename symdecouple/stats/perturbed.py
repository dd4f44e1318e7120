"""Refused samples of statistics by order, tried once more with a perturbation: the option `perturb`.

What is asked of a perturbed sample is what its refusal left open: orders that it has stay its own. Samples that cannot
be asked at all (NaN, infinite values, fewer than two) are not perturbed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import Outcome
from symdecouple.numeric.perturbing import Perturbation, RefusedRow, tried_again
from symdecouple.numeric.samples.batch import (
    EMPTY,
    INFINITE,
    NAN_INPUT,
    SINGLE,
    Answer,
    Kernel,
    SampleMatrix,
    as_rows,
)
from symdecouple.numeric.samples.intake import Numbers, exact, shifted_exactly

__all__ = ["try_perturbed"]

_AT_ONCE = 2**16  # numbers; each becomes five


def try_perturbed(answer: Answer, given: Numbers, axes: tuple[int, ...], kernel: Kernel, perturbation: Perturbation,
                  order: int) -> None:
    """Answer refused samples by the kernel of their perturbation, as far as they lack orders up to `order`."""
    rows = as_rows(given.array, axes)
    hidden = None if given.masked is None else as_rows(given.masked, axes)
    grid, whole = tuple(given.array.shape[i] for i in sorted(axes)), given.array.dtype.kind in "iu"
    refused = {i: RefusedRow(_kept(rows[i], None if hidden is None else hidden[i]), outcome, answer.values[i, :order])
               for i, outcome in answer.refusals.items() if outcome not in (NAN_INPUT, INFINITE, EMPTY, SINGLE)}
    for which in _of_one_length(refused):
        each = [refused[i] for i in which]
        count = len(each[0].row)
        form = grid if count == math.prod(grid) else (count,)

        def ask(rows: NDArray[Any], _: NDArray[np.intp]) -> tuple[NDArray[Any], Any, dict[int, Outcome]]:
            found = kernel(SampleMatrix.of(rows))
            return found.values[:, :order], [None] * len(rows), found.refusals

        for i, tried in zip(which, tried_again(perturbation, each, form, whole, ask), strict=True):
            if tried.values is not None:
                answer.values[i, :order] = tried.values
            if tried.outcome.ok:
                answer.notes[i] = tried.outcome
                del answer.refusals[i]
            else:
                answer.refusals[i] = tried.outcome


def _kept(row: NDArray[Any], hidden: NDArray[np.bool_] | None) -> NDArray[Any]:
    """What counts of a row, as floats; numbers that these would round are less their median, which no shape feels."""
    kept = row if hidden is None else row[~hidden]
    if kept.dtype.kind == "f":
        finite: NDArray[Any] = kept[~np.isnan(kept)]
        return finite
    if kept.dtype.kind == "O":
        exactly = [v for v in map(exact, kept.tolist()) if not (isinstance(v, float) and math.isnan(v))]
        kept = np.array(exactly, dtype=object)
    shifted = shifted_exactly(kept)
    return np.array([float(v) for v in kept]) if shifted is None else shifted[0]


def _of_one_length(refused: dict[int, RefusedRow]) -> Iterator[Sequence[int]]:
    """Rows of one length together, as many as are answered at once."""
    groups: dict[int, list[int]] = {}
    for i, each in refused.items():
        groups.setdefault(len(each.row), []).append(i)
    for size, which in groups.items():
        step = max(1, _AT_ONCE // size)
        yield from (which[start : start + step] for start in range(0, len(which), step))
