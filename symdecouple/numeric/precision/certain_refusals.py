"""What float64 knows of a moment before mpmath sets out: refusals that are certain.

A path to many digits that leads nowhere takes long to find that out. What no sample with these ties can reach is known
in milliseconds (`moment_path.refused_beforehand`). It is taken for certain where distinct values are distinct in
float64, and where it holds for targets a little on either side, too, so that no rounding decides; the range of the
orthokurtosis is compared in the numbers themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np

from symdecouple.errors import Outcome
from symdecouple.numeric.features.expressions import Array
from symdecouple.numeric.moments.attainable import orthokurtosis_range
from symdecouple.numeric.moments.moment_path import refused_beforehand
from symdecouple.numeric.moments.out_of_reach import beyond_any_sample
from symdecouple.numeric.moments.ties import why_unreachable
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["certainly_refused", "judged_by_ties"]

_NEARER = 1e-9  # of the target: what float64 refuses so far on either side, it refuses whatever its rounding


def certainly_refused(row: Array, k: int, point: Sequence[Any]) -> Outcome | None:
    """Return why moment k of a sample cannot come to its target, where float64 knows for certain.

    Parameters
    ----------
    row : object array (N,)
        mpmath numbers, with moments 1 to k - 1 where they are held.
    k : int
        At least 4.
    point : sequence of k numbers
        Mean, standard deviation, and standardized moments 3..k that are to be reached (`MomentCoordinates`).

    Examples
    --------
    Six values have a kurtosis below 3 where they have no skewness:

    >>> z = np.array([mpmath.mpf(v) for v in (-3, -2, -1, 1, 2, 3)]) * mpmath.sqrt(mpmath.mpf(3) / 14)
    >>> certainly_refused(z, 4, [0, 1, 0, 3]).reason
    'moment not attainable'
    >>> certainly_refused(z, 4, [0, 1, 0, mpmath.mpf("2.99")]) is None
    True
    """
    if k < 4 or (held := _real(point)) is None:
        return None
    z = (row - held[0]) / held[1]
    floats, goal, now = _floats(z), held[-1], mpmath.fsum(v**k for v in z) / len(z)
    below = np.array([0.0, 1.0, *map(float, held[2:-1])])

    def refused(target: float) -> Outcome | None:
        if floats is None:
            return beyond_any_sample(np.array([1.0, *below, target]), float(now), len(z), is_certain=True)
        return refused_beforehand(floats[None], k, target, held=below).get(0)

    if (first := refused(float(goal))) is None:
        return None
    shift = _NEARER * (1 + abs(float(goal)))
    is_clear = all(refused(float(goal) + step) for step in (-shift, shift))
    return first if is_clear or _beyond_range(k, held[2:], now, len(z)) else None


def judged_by_ties(row: Array, k: int, point: Sequence[Any], seen: Outcome) -> Outcome:
    """Return why a sample did not come to level k of moments, in the words of `stats` where counting is certain.

    Where its ties allow the target, and it was `seen` not to be attainable, or not to move, digits were too few.
    """
    if k < 3 or (held := _real(point)) is None:
        return seen
    near = float(held[-1])
    if k > 3:
        floats = _floats((row - held[0]) / held[1])
        below = np.array([0.0, 1.0, *map(float, held[2:-1])])
        is_there = floats is not None and not refused_beforehand(floats[None], k, near, held=below)
    else:
        around = [near] if near == held[-1] else [np.nextafter(near, -np.inf), np.nextafter(near, np.inf)]
        low, high = (int(np.count_nonzero(row == end)) for end in (row.min(), row.max()))
        found = [why_unreachable(low, high, len(row), float(target)) for target in around]
        if found[0] is not None and all(found):
            return found[0]
        is_there = not any(found)
    digits = f"beyond {mpmath.mp.dps} digits" if row.dtype == object else "no convergence"
    is_blamed = seen.reason in ("limit only", "critical point") or seen.reason.endswith("not attainable")
    return replace(seen, reason=digits) if is_there and is_blamed else seen


def _real(point: Sequence[Any]) -> list[Any] | None:
    """The coordinates as numbers; None where no sample has them."""
    found = [mpmath.mpmathify(v) for v in point]
    is_real = all(not isinstance(v, mpmath.mpc) and mpmath.isfinite(v) for v in found)
    return found if is_real and found[1] > 0 else None


def _beyond_range(k: int, held: Sequence[Any], now: Any, n_samples: int) -> bool:
    """Whether the orthokurtosis is to leave the open range of all samples; exactly."""
    if k != 4 or held[0] != 0:
        return False
    least = mpmath.mpf(n_samples) / (n_samples - 1) if n_samples % 2 else mpmath.mpf(1)
    is_inside = least < held[1] < mpmath.mpf(orthokurtosis_range(n_samples)[1])
    return not is_inside and abs(now - held[1]) > _NEARER


def _floats(row: Array) -> FloatArray | None:
    """The row in float64, None where that is another sample: beyond its range, or with ties that were none."""
    floats = row.astype(np.float64)
    scale = np.abs(floats).max(initial=0)
    if not np.isfinite(floats).all() or not 1e-150 < scale < 1e150 or len(np.unique(floats)) < len(set(row)):
        return None
    return floats
