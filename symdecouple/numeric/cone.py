r"""Which energies a signal can be given: the cone of its active frequencies, by linear programs.

Multiplying |X|^2 by positive factors reaches exactly the vectors

.. math:: v = \sum_{\xi} p_\xi\, w(\xi), \qquad p_\xi > 0 \text{ where } X(\xi) \ne 0,

the relative interior of the cone that the w(xi) of the active frequencies generate. A vector outside is told by a
direction d with d.w <= 0 at all of them and d.v > 0; one on the boundary by d.w <= 0, d.v = 0, and d.w < 0 somewhere:
there the power must vanish, which a flow reaches in the limit only.

The programs have M unknowns. Their constraints, one a frequency, are added as they are found to be violated.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric.batch import FloatArray
from symdecouple.numeric.columns import EPS, Columns

__all__ = ["Dependence", "Membership", "cone_membership", "dependence", "dependence_of"]

_CHUNK = 2**16
_TOLERANCE = 1e-8  # of unit vectors: HiGHS keeps constraints to 1e-9 here
_PRECISE = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}
_ADDED = 64  # constraints added at a time


@dataclass(frozen=True, slots=True)
class Membership:
    """Where a vector lies: "inside" (the relative interior), "boundary" or "outside", and the direction that tells."""

    where: Literal["inside", "boundary", "outside"]
    direction: FloatArray


@dataclass(frozen=True, slots=True)
class Dependence:
    """Which rows of a matrix depend on those before them, and how.

    Attributes
    ----------
    independent : bool array (M,)
    coefficients : array (M, M)
        Row j is the sum of coefficients[j, i] times row i, i independent.
    is_free : bool
        True iff all rows are independent.
    """

    independent: NDArray[np.bool_]
    coefficients: FloatArray
    is_free: bool


def dependence(rows: FloatArray) -> Dependence:
    """Find rows of an (M, n) matrix that depend on those before, up to rounding: by orthogonal triangles of its parts.

    Examples
    --------
    >>> found = dependence(np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 1.0, 1.0]]))
    >>> found.independent.tolist(), found.coefficients[1].round(12).tolist()
    ([True, False, True], [2.0, 0.0, 0.0])
    """
    scale = np.abs(rows).max(axis=1, initial=0)
    return _dependence((rows[:, start : start + _CHUNK] for start in range(0, rows.shape[1], _CHUNK)), scale)


def dependence_of(columns: Columns, first: int = 0) -> Dependence:
    """The same for features, at their frequencies from the first one on that counts; no more than a part is made."""
    parts = (slice(max(part.start, first), part.stop) for part in columns.chunks())
    return _dependence((columns.at(part) for part in parts), columns.largest)


def _dependence(parts: Iterable[FloatArray], scale: FloatArray) -> Dependence:
    m = len(scale)
    triangle, unit = np.zeros((0, m)), np.where(scale > 0, scale, 1)
    for part in parts:
        triangle = np.asarray(np.linalg.qr(np.vstack([triangle, (part / unit[:, None]).T]), mode="r"))
    independent, coefficients = np.zeros(m, dtype=np.bool_), np.zeros((m, m))
    for j in range(m):
        column, before = triangle[:, j], np.flatnonzero(independent)
        fit = np.linalg.lstsq(triangle[:, before], column, rcond=None)[0]
        left = np.linalg.norm(column - triangle[:, before] @ fit)
        independent[j] = left > 256 * m * EPS * np.linalg.norm(column)
        if independent[j]:
            coefficients[j, j] = 1
        else:
            coefficients[j, before] = fit * scale[j] / np.where(scale[before] > 0, scale[before], 1)
    return Dependence(independent, coefficients, bool(independent.all()))


def cone_membership(rows: FloatArray, target: FloatArray) -> Membership:
    """Tell where a vector lies with respect to the cone of the columns of a matrix.

    Parameters
    ----------
    rows : array (M, n)
        Its columns generate the cone; those that vanish do not count.
    target : array (M,)

    Returns
    -------
    Membership
        Decided to 1e-8 of the angle: what is closer to the boundary counts as on it.

    Examples
    --------
    >>> quadrant = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    >>> [cone_membership(quadrant, np.array(v)).where for v in ([2.0, 1.0], [1.0, 0.0], [1.0, -1.0])]
    ['inside', 'boundary', 'outside']
    """
    scale = np.abs(rows).max(axis=1, initial=0)
    scale = np.where(scale > 0, scale, 1)
    columns = rows / scale[:, None]
    lengths = np.linalg.norm(columns, axis=0)
    columns = columns[:, lengths > 0] / lengths[lengths > 0]
    v = target / scale
    v = v / max(float(np.abs(v).max(initial=0)), np.finfo(np.float64).tiny)
    length = np.linalg.norm(v)
    if not columns.shape[1] or length == 0:
        return _trivial(columns, float(length), v / max(float(length), 1e-300) / scale)
    v = v / length
    away = _highest(columns, v, np.zeros(0))
    if v @ away > _TOLERANCE:
        return Membership("outside", away / scale)
    along = _highest(columns, -columns.mean(axis=1), v)
    if (columns.T @ along).min() < -_TOLERANCE * 10:
        return Membership("boundary", along / scale)
    return Membership("inside", np.zeros(len(rows)))


def _trivial(columns: FloatArray, length: float, direction: FloatArray) -> Membership:
    """Without columns the cone is the origin; the origin is interior to a cone that is a subspace."""
    if not columns.shape[1]:
        return Membership("outside" if length else "inside", direction)
    along = _highest(columns, -columns.mean(axis=1), np.zeros(0))
    is_edge = bool((columns.T @ along).min() < -_TOLERANCE * 10)
    return Membership("boundary" if is_edge else "inside", along if is_edge else np.zeros(len(columns)))


def _highest(columns: FloatArray, objective: FloatArray, floor: FloatArray) -> FloatArray:
    """Maximize objective.d over |d_j| <= 1 with d.w <= 0 for all columns, and d.floor >= 0 where there is one."""
    from scipy.optimize import linprog

    m = len(columns)
    chosen = np.unique(np.concatenate([columns.argmax(axis=1), columns.argmin(axis=1)]))
    below = -floor.reshape(-1, m) if floor.size else np.zeros((0, m))
    while True:
        upper = np.vstack([below, columns[:, chosen].T])
        solved = linprog(-objective, A_ub=upper, b_ub=np.zeros(len(upper)), bounds=(-1, 1), method="highs",
                         options=_PRECISE)
        direction = np.asarray(solved.x, dtype=np.float64)
        above = columns.T @ direction
        above[chosen] = 0
        worst = np.argsort(above)[-_ADDED:]
        worst = worst[above[worst] > _TOLERANCE / 10]
        if not len(worst):
            return direction
        chosen = np.union1d(chosen, worst)
