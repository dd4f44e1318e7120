"""The way back along narrow paths of the moments, compiled: one stored step of many rows, row after row.

The same mathematics as `moment_levels.adjoint` and `runge_kutta.pull_back`, in loops over one row at a time: the twelve
stages of the step are made again, then the covectors go through them from the last on. Rows with a crowded stage are
handed back undone.

The functions are plain Python, far too slow to use as such; `jit` compiles them. Results agree with NumPy's to about
1e-13 of the gradient.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric.kernels.compile import Kernels
from symdecouple.numeric.paths.integrate import Step
from symdecouple.numeric.paths.runge_kutta import STAGES, WEIGHTS
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["KERNELS", "step_back", "step_back_rows", "warm"]

KERNELS = Kernels(
    __name__,
    ("symdecouple.numeric.kernels.compile", "symdecouple.numeric.paths.runge_kutta", __name__),
    seconds=1.2e-6,  # and step
)

BLOCK = 512
_LOST = 1e-5  # as in moment_basis
_N_STAGES = len(STAGES)
_FAST = ("_combine", "_add_power_sums", "_add_products", "_polynomial", "_pull_block")


def _table(rows: Sequence[Mapping[int, float]]) -> tuple[NDArray[np.intp], FloatArray, NDArray[np.intp]]:
    """Places and weights of what each row adds up, in groups of four, and the number of groups."""
    places = np.zeros((len(rows), 12), dtype=np.intp)
    weights = np.zeros((len(rows), 12))
    for i, row in enumerate(rows):
        places[i, :] = next(iter(row), 0)
        places[i, : len(row)], weights[i, : len(row)] = list(row), list(row.values())
    return places, weights, np.array([-(-len(row) // 4) for row in rows], dtype=np.intp)


_PLACES, _COEFFICIENTS, _GROUPS = _table(STAGES)
# For the way back: what each slope receives from later stages, and from the end of the step in place 12.
_LATER = [{j: STAGES[j][i] for j in range(i + 1, _N_STAGES) if i in STAGES[j]} for i in range(_N_STAGES)]
_BACK_PLACES, _BACK_COEFFICIENTS, _BACK_GROUPS = _table([
    later | ({_N_STAGES: WEIGHTS[i]} if i in WEIGHTS else {}) for i, later in enumerate(_LATER)
])


@cache
def _kernel() -> Any:
    return KERNELS.build(step_back_rows, fast=_FAST)[0]


def step_back(step: Step, k: int, distance: FloatArray, covectors: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Covectors (c, r, N) at the end of a step become those at its begin, in place.

    Parameters
    ----------
    step : Step
        Of r rows.
    k : int
        The moment that moves.
    distance : array (r,)
        By how much, on the whole path.
    covectors : array (c, r, N)
        C-contiguous.

    Returns
    -------
    by_distance : array (c, r)
        What the distance receives.
    done : array (r,) of bool
        The other rows are as they were.
    """
    along, done = np.zeros(covectors.shape[:2]), np.zeros(len(step.size), dtype=np.bool_)
    _kernel()(np.ascontiguousarray(step.values), step.size, distance, k, covectors, along, done)
    return along, done


def warm() -> None:
    """Compile and keep on the disk. Cost: some seconds, once; nothing where it is done."""
    values = np.array([[-1.5, -0.9, -0.2, 0.3, 0.8, 1.6]])
    one = np.ones(1)
    step_back(Step(np.zeros(1, dtype=np.intp), one, one * 0.01, values), 4, one * 0.1, np.ones((1, 1, 6)))
    KERNELS.note_warm()


# --- compiled from here on ---


def step_back_rows(
    values: Any, sizes: Any, distance: Any, k: int, covectors: Any, along: Any, done: Any
) -> None:
    """One step back, each row whose stages are not crowded."""
    count, n_rows, n = covectors.shape
    stages, slopes = np.empty((_N_STAGES, n)), np.empty((_N_STAGES, n))
    pulled, at_slope = np.empty((_N_STAGES + 1, n)), np.empty(n)
    inverse, norm = np.empty((_N_STAGES, k, k)), np.empty((_N_STAGES, k))
    means, lower, c, normal = np.empty(2 * k - 1), np.empty((k, k)), np.empty(k), np.empty(2 * k)
    power = np.empty(BLOCK)
    for r in range(n_rows):
        done[r] = _make_stages(
            values[r], sizes[r], distance[r], k, stages, slopes, inverse, norm, means, lower, c, power
        )
        if not done[r]:
            continue
        for m in range(count):
            for i in range(n):
                pulled[_N_STAGES, i] = covectors[m, r, i]
            for stage in range(_N_STAGES - 1, -1, -1):
                _combine(
                    pulled[_N_STAGES], 0.0, pulled, _BACK_PLACES[stage], _BACK_COEFFICIENTS[stage],
                    _BACK_GROUPS[stage], sizes[r], at_slope,
                )
                along[m, r] += _pull(
                    stages[stage], at_slope, distance[r], k, inverse[stage], norm[stage], c, normal, power,
                    pulled[stage],
                )
            for i in range(n):
                total = pulled[_N_STAGES, i]
                for stage in range(_N_STAGES):
                    total += pulled[stage, i]
                covectors[m, r, i] = total


def _make_stages(
    y: Any, h: float, distance: float, k: int, stages: Any, slopes: Any, inverse: Any, norm: Any, means: Any,
    lower: Any, c: Any, power: Any,
) -> bool:
    for stage in range(_N_STAGES):
        z = stages[stage]
        _combine(y, 1.0, slopes, _PLACES[stage], _COEFFICIENTS[stage], _GROUPS[stage], h, z)
        for j in range(2 * k - 1):
            means[j] = 0
        for begin in range(0, len(z), BLOCK):
            _add_power_sums(z[begin : begin + BLOCK], k, power, means)
        for j in range(2 * k - 1):
            means[j] /= len(z)
        means[0] = 1
        if not _decompose(means, k, lower, norm[stage], inverse[stage]):
            return False
        rate = distance / (k * norm[stage, k - 1])
        for j in range(k):
            c[j] = rate * inverse[stage, k - 1, j]
        for begin in range(0, len(z), BLOCK):
            _polynomial(z[begin : begin + BLOCK], c, k, slopes[stage, begin : begin + BLOCK])
    return True


def _combine(
    y: Any, kept: float, vectors: Any, places: Any, weights: Any, groups: int, h: float, out: Any
) -> None:
    """out = kept y + h sum of weight times vector."""
    for begin in range(0, len(y), BLOCK):
        end = begin + BLOCK
        v, o = y[begin:end], out[begin:end]
        m = len(v)
        for i in range(m):
            o[i] = kept * v[i]
        for first in range(0, 4 * groups, 4):
            p, q = vectors[places[first], begin:end], vectors[places[first + 1], begin:end]
            t, u = vectors[places[first + 2], begin:end], vectors[places[first + 3], begin:end]
            a, b, c, d = h * weights[first], h * weights[first + 1], h * weights[first + 2], h * weights[first + 3]
            for i in range(m):
                o[i] += a * p[i] + b * q[i] + c * t[i] + d * u[i]


def _add_power_sums(v: Any, k: int, power: Any, sums: Any) -> None:
    """Sums of v^1..v^(2k-2): two for each further power."""
    m = len(v)
    for i in range(m):
        power[i] = 1
    for j in range(1, k):
        odd = 0.0
        even = 0.0
        for i in range(m):
            before = power[i]
            now = before * v[i]
            power[i] = now
            odd += now * before
            even += now * now
        sums[2 * j - 1] += odd
        sums[2 * j] += even


def _decompose(means: Any, k: int, lower: Any, norm: Any, inverse: Any) -> bool:
    """D of the Hankel matrix L D L' and the inverse of L; False where too many digits are lost."""
    for j in range(k):
        for i in range(j, k):
            entry = means[i + j]
            for m in range(j):
                entry -= lower[i, m] * lower[j, m] * norm[m]
            if i == j:
                norm[j] = entry
            else:
                lower[i, j] = entry / norm[j]
        if not norm[j] > _LOST * means[2 * j]:
            return False
    for i in range(k):
        for j in range(k):
            inverse[i, j] = 1.0 if i == j else 0.0
        for m in range(i):
            for j in range(m + 1):
                inverse[i, j] -= lower[i, m] * inverse[m, j]
    return True


def _polynomial(v: Any, c: Any, k: int, out: Any) -> None:
    """sum_j c_j v^j, j < k."""
    m = len(v)
    for i in range(m):
        out[i] = c[k - 1] * v[i] + c[k - 2]
    for j in range(k - 3, -1, -1):
        d = c[j]
        for i in range(m):
            out[i] = out[i] * v[i] + d


def _pull(
    y: Any, covector: Any, distance: float, k: int, inverse: Any, norm: Any, c: Any, normal: Any, power: Any, out: Any
) -> float:
    """The covector times the Jacobian matrix of the velocity at y; returns what the distance receives."""
    n = len(y)
    for j in range(k):
        c[j] = 0
    for begin in range(0, n, BLOCK):
        _add_products(y[begin : begin + BLOCK], covector[begin : begin + BLOCK], k, power, c)
    rate = distance / (k * norm[k - 1])
    for j in range(2 * k - 1):
        normal[j] = 0
    along = 0.0
    for i in range(k):  # the polynomial p_(k-1) S of `moment_levels.adjoint`
        along = 0.0
        for j in range(i + 1):
            along += inverse[i, j] * c[j]
        along /= n
        for j in range(i + 1):
            share = rate * along / norm[i] * inverse[i, j]
            for m in range(k):
                normal[j + m] += share * inverse[k - 1, m]
    for j in range(1, 2 * k - 1):
        normal[j - 1] = j * normal[j]
    for j in range(1, k):
        c[j - 1] = rate * j * inverse[k - 1, j]
    for begin in range(0, n, BLOCK):
        end = begin + BLOCK
        _pull_block(y[begin:end], covector[begin:end], c, normal, k, power, out[begin:end])
    return float(n * along / (k * norm[k - 1]))


def _add_products(v: Any, u: Any, k: int, power: Any, sums: Any) -> None:
    """Sums of u v^j, j < k."""
    m = len(v)
    for i in range(m):
        power[i] = u[i]
    for j in range(k):
        total = 0.0
        for i in range(m):
            total += power[i]
            power[i] *= v[i]
        sums[j] += total


def _pull_block(v: Any, u: Any, slope: Any, normal: Any, k: int, power: Any, out: Any) -> None:
    """out = u times the polynomial `slope`, of k - 1 coefficients, less the polynomial `normal`, of 2k - 2."""
    m = len(v)
    _polynomial(v, slope, k - 1, power)
    _polynomial(v, normal, 2 * k - 2, out)
    for i in range(m):
        out[i] = u[i] * power[i] - out[i]
