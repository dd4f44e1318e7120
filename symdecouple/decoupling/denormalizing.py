r"""What a denormalization is asked for: the features that samples at a level are to have again.

.. math:: x = D(z, v) \quad\text{with}\quad \hat f_j(x) = v_j,\; j = 1..k, \qquad N_k(x) = z

With as many values as there are features, z may be at the level before the last, which is what normalization gives
unless it is asked for more: f_M of it is then free. Where it has the last value already, nothing of level M is moved,
and denormalization is the inverse of normalization also where level M has no reference, no way or no gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from symdecouple.decoupling.routes.route import Answers, Levels, within
from symdecouple.decoupling.running import Compute
from symdecouple.errors import InvalidInput, Outcome
from symdecouple.numeric.features.expressions import Array, as_multiprecision
from symdecouple.numeric.samples.asked import asked_numbers
from symdecouple.numeric.samples.matrix import taken
from symdecouple.numeric.samples.vectors import Batch, rounding, widened

__all__ = ["denormalizer"]

_NEAR = 1e-6  # over 1 + abs(reference): a narrow path of many features, and moments of order 12, come nearer
_SAME = 1e-9  # over 1 + abs(value): what `transform` itself knows of a narrow path


def denormalizer(plan: Any, batch: Batch, values: Any, level: int | None, dps: int | None, unit: float
                 ) -> tuple[int, Compute]:
    """Return the level that a batch is at, and what denormalizes rows of it, refusing those that are not normalized.

    Wanted values, array_like (R, k), that are not finite bar their rows; by default the level is as many as there are.
    `unit` is the relative rounding of the samples.
    """
    choice, order, application = plan.choice, plan._order, plan._application.on(batch.grid)
    size, wanted = len(choice.features), asked_numbers(values, bool(dps))
    count = wanted.shape[-1] if wanted.ndim else 0
    is_whole = level is None and count == size
    k = choice.level(count if level is None and 0 < count < size else level)
    if not wanted.ndim or wanted.shape[:-1] != batch.shape or not k <= count <= size:
        raise InvalidInput(f"values of shape {wanted.shape} were given for samples of shape "
                           f"{(*batch.shape, *batch.grid)}; {(*batch.shape, size)} is expected, or fewer at the end, "
                           "one for each feature up to the level")
    given = wanted.reshape(-1, count)
    beyond = size if is_whole else k
    batch.bar(given[:, :beyond])
    unit = max(unit, rounding(values, dps))

    def compute(levels: Levels, rows: Array, references: Sequence[Any], index: Array) -> Answers:
        out, asked = widened(rows), as_multiprecision(given[index]) if dps else given[index]
        own = application.own(out, beyond, True)  # of normalized rows they are the decoupled ones
        apart = np.abs(own[:, k:] - asked[:, k:beyond])
        is_moved = (apart > max(_SAME, 64 * unit) * (1 + np.abs(asked[:, k:beyond]))).any(axis=1)
        each = asked[:, [j for j in order if j < count]]
        refused: dict[int, Outcome] = {}
        for value, j in zip(references, order, strict=True):
            for r in np.flatnonzero(np.abs(own[:, j] - value) > max(_NEAR, 1e4 * unit) * (1 + abs(value))
                                    ) if j < k else ():
                detail = (f"feature {j + 1}, {application.features[j].name}, is {float(own[r, j]):.6g}, and "
                        f"{float(value):.6g} at level {k}; pass what plan.normalize(samples, level={k}) returns")
                refused.setdefault(int(r), Outcome(False, "not normalized", detail))
        refused = application.undefined(own) | refused
        last = np.where(is_moved, beyond, k)  # where each row is, 0 where nothing is left to do
        known = np.zeros((2, len(rows)), dtype=object) if dps else None
        for start, end in reversed(application.spans):  # last feature first
            last[list(refused)] = 0
            if not (which := np.flatnonzero(last >= end)).size:
                continue
            way = levels if end <= k else choice.levels(beyond, bool(dps), batch.grid)
            way = replace(way, interval=None)  # on the way they may be anywhere
            here, goals = taken(out, which), each[which, :end]
            found = way.route.at_once(here, references, goals, unit) if application.is_single else None
            targets = [*references[:start], *goals[:, start:].T]
            at = found or next(way.at(here, [end], targets, is_fine=True, start=start))
            out = at.values if len(which) == len(out) else out.copy()
            out[which] = at.values
            if known is not None and at.known is not None:
                known[:, which] = np.maximum(known[:, which], at.known)
            refused |= {int(which[r]): outcome for r, outcome in at.refusals.items()}
            last[which] = 0 if found is not None else last[which]
        return within(Answers(out, refused, known), choice.interval)

    return k, compute
