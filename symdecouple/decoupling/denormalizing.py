r"""What a denormalization is asked for: the features that samples at a level are to have again.

.. math:: x = D(z, v) \quad\text{with}\quad \hat f_j(x) = v_j,\; j = 1..k, \qquad N_k(x) = z

With as many values as there are features, z may be at the level before the last, which is what normalization gives
unless it is asked for more: f_M of it is then free. Where it has the last value already, nothing of level M is moved,
and denormalization is the inverse of normalization also where level M has no reference, no way or no gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symdecouple.decoupling.application import Application
from symdecouple.decoupling.choice import Choice
from symdecouple.decoupling.routes.levels import Levels
from symdecouple.decoupling.routes.route import Answers
from symdecouple.errors import InvalidInput, Outcome
from symdecouple.numeric.features.expressions import Array, as_multiprecision
from symdecouple.numeric.samples.matrix import taken
from symdecouple.numeric.samples.vectors import Batch, rounding, widened

__all__ = ["Wanted", "wanted_of"]

_NEAR = 1e-6  # over 1 + abs(reference): a narrow path of many features, and moments of order 12, come nearer
_SAME = 1e-9  # over 1 + abs(value): what `transform` itself knows of a narrow path


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked of the samples of a batch: `values`, (R, k), at the `level` that they are normalized to.

    Rows whose own features after it are not the wanted ones are at `beyond`: the same level, or all of them. `order` is
    the column of each of the features of `choice`, `unit` the relative rounding of samples and values.
    """

    choice: Choice
    application: Application
    order: tuple[int, ...]
    values: Array
    level: int
    beyond: int
    grid: tuple[int, ...]
    unit: float
    precise: bool

    def compute(self, levels: Levels, rows: Array, references: Sequence[Any], index: Array) -> Answers:
        """Denormalize some rows; those that are not normalized are refused."""
        asked = as_multiprecision(self.values[index]) if self.precise else self.values[index]
        own = self.application.own(widened(rows), self.beyond, True)  # of normalized rows they are the decoupled ones
        is_moved = np.zeros(len(rows), dtype=np.bool_)
        for j in range(self.level, self.beyond):
            is_moved |= np.abs(own[:, j] - asked[:, j]) > max(_SAME, 64 * self.unit) * (1 + np.abs(asked[:, j]))
        targets = asked[:, [j for j in self.order if j < asked.shape[1]]]
        refused = self.application.undefined(own) | self._not_normalized(own, references)
        is_asked, parts = np.ones(len(rows), dtype=np.bool_), list[tuple[Array, Answers]]()
        is_asked[list(refused)] = False
        for level, is_part in ((self.level, ~is_moved), (self.beyond, is_moved)):
            if (which := np.flatnonzero(is_part & is_asked)).size:
                way = levels if is_part is not is_moved else self.choice.levels(self.beyond, True, self.precise,
                                                                                self.grid)
                parts.append((which, self.application.denormalized(way, taken(rows, which), references, targets[which],
                                                                   level, self.unit)))
        if parts and parts[0][0].size == len(rows):
            return parts[0][1]
        values = np.full(rows.shape, np.nan, dtype=object if self.precise else np.float64)
        residual = np.zeros(len(rows), dtype=values.dtype)
        error = residual.copy() if self.precise else None
        for which, found in parts:
            values[which], residual[which] = found.values, found.residual
            refused |= {int(which[r]): outcome for r, outcome in found.refusals.items()}
            if error is not None:
                error[which] = found.error
        return Answers(values, residual, refused, error)

    def _not_normalized(self, own: Array, references: Sequence[Any]) -> dict[int, Outcome]:
        """Refuse rows that have not the reference values of a level."""
        found: dict[int, Outcome] = {}
        near = max(_NEAR, 1e4 * self.unit)
        for value, j in zip(references, self.order, strict=True):
            if j < self.level:
                for r in np.flatnonzero(np.abs(own[:, j] - value) > near * (1 + abs(value))):
                    told = (f"feature {j + 1}, {self.application.features[j].name}, is {float(own[r, j]):.6g}, and "
                            f"{float(value):.6g} at level {self.level}; pass what plan.normalize(samples, level="
                            f"{self.level}) returns")
                    found.setdefault(int(r), Outcome(False, "not normalized", told))
        return found


def wanted_of(choice: Choice, order: tuple[int, ...], application: Application, batch: Batch, values: Any,
              level: int | None, dps: int | None, unit: float) -> Wanted:
    """Read the values for a batch at a level, None for as many levels as there are values; `unit` is its rounding."""
    try:
        wanted = np.asarray(values, dtype=object if dps else float)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"values={values!r:.80} were given; numbers are expected, one for each feature") from error
    size, count = len(choice.features), wanted.shape[-1] if wanted.ndim else 0
    is_whole = level is None and count == size
    k = choice.level(count if level is None and 0 < count < size else level)
    if not wanted.ndim or wanted.shape[:-1] != batch.shape or not k <= count <= size:
        raise InvalidInput(f"values of shape {wanted.shape} were given for samples of shape "
                           f"{(*batch.shape, *batch.grid)}; {(*batch.shape, size)} is expected, or fewer at the end, "
                           "one for each feature up to the level")
    given = wanted.reshape(-1, count)
    beyond = size if is_whole else k
    batch.bar(given[:, :beyond])
    return Wanted(choice, application, order, given, k, beyond, batch.grid, max(unit, rounding(values, dps)), bool(dps))
