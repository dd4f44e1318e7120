"""The stages of a step along a narrow path of the moments, kept for the way back.

A step of the pair of order 8 looks at twelve points: where it begins and eleven more. `runge_kutta` keeps the first
one. The others are on hand when a step is accepted, so keeping them costs memory alone, eleven times that of the
beginnings, and the way back need not make them again. Samples too long for that do without.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric.paths.integrate import NODES, Step
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["LONGEST", "Recorder", "StagedStep", "some_rows", "step_of"]

LONGEST = 2**14  # entries of a sample whose stages are kept
_LATER = len(NODES) - 1


@dataclass(frozen=True, slots=True)
class StagedStep(Step):
    """A step that knows its later stages, eleven arrays (r, N)."""

    later: tuple[FloatArray, ...]


@dataclass(slots=True)
class Recorder:
    """Listens to `runge_kutta.integrate`: `asked` at every slope, `accepted` after every accepted step."""

    asked_for: deque[tuple[IntArray, FloatArray, FloatArray]] = field(default_factory=lambda: deque(maxlen=_LATER))
    kept: list[list[tuple[FloatArray, FloatArray]]] = field(default_factory=list)

    def asked(self, y: FloatArray, s: FloatArray, which: IntArray) -> None:
        """Note a point where the slope is wanted."""
        self.asked_for.append((which, s, y))

    def accepted(self, values: FloatArray, which: IntArray) -> None:
        """Keep the stages of the rows that go on: `values` are the ends, not finite where a step fails after all."""
        finite = np.isfinite(values).all(axis=1)
        if not finite.any():
            return
        rows, stages = which if finite.all() else which[finite], []
        for there, s, y in self.asked_for:
            places = np.searchsorted(there, rows)
            stages.append((s, y) if len(places) == len(there) else (s[places], y[places]))
        self.kept.append(stages)

    def staged(self, tape: Sequence[Step]) -> tuple[Step, ...]:
        """The steps with their stages, as far as what was noted is just that."""
        if len(tape) != len(self.kept):
            return tuple(tape)
        return tuple(_with_stages(step, stages) for step, stages in zip(tape, self.kept, strict=True))


def _with_stages(step: Step, stages: Sequence[tuple[FloatArray, FloatArray]]) -> Step:
    places = [step.begin + node * step.size for node in NODES[1:]]
    if len(stages) != _LATER or not all(np.array_equal(s, place) for (s, _), place in zip(stages, places, strict=True)):
        return step
    return StagedStep(step.which, step.begin, step.size, step.values, tuple(y for _, y in stages))


def some_rows(step: Step, chosen: NDArray[np.bool_] | IntArray | slice, which: IntArray | None = None) -> Step:
    """The same step of some of its rows; `which` gives them other places in a batch."""
    places = step.which[chosen] if which is None else which
    parts = places, step.begin[chosen], step.size[chosen], step.values[chosen]
    if isinstance(step, StagedStep):
        return StagedStep(*parts, tuple(y[chosen] for y in step.later))
    return Step(*parts)


def step_of(row: int, begin: float, size: float, points: Sequence[FloatArray]) -> Step:
    """A step of one row by its points, (N,) each: where it began, and the others, if they were kept."""
    first, *later = (y[None] for y in points)
    parts = np.array([row]), np.array([begin]), np.array([size]), first
    return StagedStep(*parts, tuple(later)) if later else Step(*parts)
