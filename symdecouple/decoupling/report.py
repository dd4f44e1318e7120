"""What was imposed on a sample and what was reached, in float64 and in many digits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

from symdecouple.errors import Outcome
from symdecouple.numeric.features.expressions import as_multiprecision
from symdecouple.shown import Tabled

__all__ = ["Report", "Row", "report_of"]


@dataclass(frozen=True, slots=True)
class Row:
    """One imposed feature."""

    feature: str
    target: Any
    reached: Any
    precise: Any

    def residuals(self) -> tuple[Any, Any]:
        """Return the distances from the target, over 1 + abs(target)."""
        return tuple(None if v is None else abs(v - self.target) / (1 + abs(self.target))
                     for v in (self.reached, self.precise))  # type: ignore[return-value]


@dataclass(frozen=True, slots=True, repr=False)
class Report(Tabled):
    """The residuals of one normalization; `str` and notebooks show a table.

    Attributes
    ----------
    level, dps : int
    rows : tuple of Row
    distance : mpf or None
        Between the two normalized samples: the largest, over the largest absolute value.
    outcomes : tuple of Outcome
        Of float64 and of many digits.
    error : mpf or None
        Of the sample normalized in many digits, estimated as in `Precise`; None where it was refused.
    """

    level: int
    dps: int
    rows: tuple[Row, ...]
    distance: Any
    outcomes: tuple[Outcome, Outcome]
    error: Any = None

    def _cells(self) -> list[tuple[str, ...]]:
        return [("feature", "imposed", "residual in float64", f"residual at {self.dps} digits"),
                *((r.feature, mpmath.nstr(r.target, 17), *map(_short, r.residuals())) for r in self.rows)]

    def _notes(self) -> list[str]:
        names = ("float64", f"{self.dps} digits")
        notes = [f"{name}: {outcome}" for name, outcome in zip(names, self.outcomes, strict=True) if not outcome.ok]
        if self.distance is not None:
            notes.append(f"the two normalized samples differ by {_short(self.distance)} of their largest value")
        if self.error is not None:
            notes.append(f"that of {self.dps} digits is known to {_short(self.error)} of its standard deviation, an "
                         "estimate")
        return notes

    def __str__(self) -> str:
        return f"level {self.level}\n{Tabled.__str__(self)}"


def report_of(dps: int, names: Sequence[str], reference: Sequence[Any], values: Callable[[Any], Any],
              floats: tuple[Any, Outcome], precise: tuple[Any, Outcome]) -> Report:
    """Return the report of one sample, normalized in float64 and in many digits, each with its outcome."""
    ends = [as_multiprecision(np.ravel(end)) if outcome.ok else None for end, outcome in (floats, precise)]
    reached = [None if end is None else values(end) for end in ends]
    rows = tuple(Row(name, as_multiprecision([reference[j]])[0], *(None if r is None else r[j] for r in reached))
                 for j, name in enumerate(names))
    distance = None
    if ends[0] is not None and ends[1] is not None:
        distance = max(abs(ends[0] - ends[1])) / max(abs(ends[1]))
    return Report(len(names), dps, rows, distance, (floats[1], precise[1]),
                  precise[0].error[0] if precise[1].ok else None)


def _short(value: Any) -> str:
    return "refused" if value is None else mpmath.nstr(value, 2)
