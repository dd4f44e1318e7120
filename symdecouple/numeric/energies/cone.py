r"""Which energies a signal can be given: the cone of its active frequencies, by linear programs.

Multiplying the power of a signal X by positive factors reaches exactly the vectors

.. math:: v = \sum_{\xi} p_\xi\, w(\xi), \qquad p_\xi > 0 \text{ where } X(\xi) \ne 0,

the relative interior of the cone that the w(xi) of the active frequencies generate. A vector outside is shown by a
direction d with d.w <= 0 at all of them and d.v > 0; one on the boundary by d.w <= 0, d.v = 0, and d.w < 0 somewhere:
there the power must vanish, which a flow reaches in the limit only.

What one energy can be while those before it are held at v are two more programs, in their dual form: its least value is
the largest x.v with x.w <= w_k, which is (x, -1).(w, w_k) <= 0. A signal has p > 0 at its active frequencies: it comes
to every value between the ends, to the ends in the limit only, unless they are equal.

The programs have M unknowns. Their constraints, one a frequency, are added as they are found to be violated. Columns
are looked at by parts: those of a long signal are never there all at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric.energies.eigenvalues import EPS, Columns
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["Dependence", "Membership", "cone_membership_of", "dependence_of", "energy_range"]

_TOLERANCE = 1e-12  # of unit vectors: as near to the boundary from outside as the iteration gets from inside
_CLEAR = 1e-4  # what a constraint is below on a face; half of it is what 1e-16 of another one can buy there
_SCALES = 1.0, 1e-6  # HiGHS keeps constraints to 1e-10: what is left is solved for once more, in a unit of its own
_PRECISE = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
_VIOLATED = 1e-9  # of a constraint that is not there yet, in the unit of the step
_ADDED = 64  # constraints added at a time
_BOX = 1e9  # multipliers beyond it belong to targets that no signal has

Parts = Callable[[], Iterable[FloatArray]]  # some columns after the others, from the first one each time


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
    """

    independent: NDArray[np.bool_]
    coefficients: FloatArray


def dependence_of(columns: Columns, is_active: NDArray[np.bool_] | slice) -> Dependence:
    """Find features that depend on those before, up to rounding, at some frequencies: by a triangle of their parts.

    Examples
    --------
    >>> found = dependence_of(Columns(np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 1.0, 1.0]]), (3,)), slice(None))
    >>> found.independent.tolist(), found.coefficients[1].round(12).tolist()
    ([True, False, True], [2.0, 0.0, 0.0])
    """
    m, parts = len(columns), _some(columns, slice(None), is_active)
    scale, triangle = _largest(parts, m), np.zeros((0, m))
    for part in parts():
        triangle = np.asarray(np.linalg.qr(np.vstack([triangle, part.T]), mode="r"))
    return _dependence(triangle / np.where(scale > 0, scale, 1), scale)


def _some(columns: Columns, wanted: NDArray[np.bool_] | slice, is_active: NDArray[np.bool_] | slice) -> Parts:
    """Some features at some frequencies: where a mask is true, or from the start of a slice on."""
    mask = np.zeros(columns.count, dtype=np.bool_)
    mask[is_active] = True
    return lambda: (columns.at(part)[wanted][:, mask[part]] for part in columns.chunks())


def _largest(parts: Parts, m: int) -> FloatArray:
    """The largest entry of each row."""
    out = np.zeros(m)
    for part in parts():
        np.maximum(out, np.abs(part).max(axis=1, initial=0), out=out)
    return out


def _dependence(triangle: FloatArray, scale: FloatArray) -> Dependence:
    m = len(scale)
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
    return Dependence(independent, coefficients)


def cone_membership_of(columns: Columns, wanted: NDArray[np.bool_] | slice, is_active: NDArray[np.bool_] | slice,
                       target: FloatArray) -> Membership:
    """Tell where a vector lies with respect to the cone of some features at some frequencies.

    Parameters
    ----------
    columns : Columns
    wanted : bool array (M,) or slice
    is_active : bool array (n,) or slice
        Which frequencies count; of a slice, those from its start on.
    target : array
        As many as are wanted.

    Returns
    -------
    Membership
        Decided to 1e-12 of the angle: what is closer to the boundary counts as on it.

    Examples
    --------
    >>> quadrant, all_ = Columns(np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]), (3,)), slice(None)
    >>> [cone_membership_of(quadrant, all_, all_, np.array(v)).where for v in ([2.0, 1], [1.0, 0], [1.0, -1])]
    ['inside', 'boundary', 'outside']
    """
    scale, units = _units_of(_some(columns, wanted, is_active), len(target))
    box = np.array([[-1.0, 1.0]] * len(target))
    total, count = np.zeros(len(target)), 0
    for part in units():
        total, count = total + part.sum(axis=1), count + part.shape[1]
    v = target / scale
    v = v / max(float(np.abs(v).max(initial=0)), np.finfo(np.float64).tiny)
    length = float(np.linalg.norm(v))
    if not count:  # without columns the cone is the origin
        return Membership("outside" if length else "inside", v / max(length, 1e-300) / scale)
    if length:
        v = v / length
        away = _highest(units, v, box, np.zeros(0))
        if v @ away > _TOLERANCE:
            return Membership("outside", away / scale)
    along = _highest(units, -total / count, box, v if length else np.zeros(0))  # the origin is interior to a subspace
    sides = [part.T @ along for part in units()]
    # beside a thin cone HiGHS may keep constraints to 1e-10 and find nothing nearer: no face is seen then
    is_face = max(float(side.max(initial=0)) for side in sides) <= _TOLERANCE and float(v @ along) >= -_TOLERANCE
    if is_face and min(float(side.min(initial=0)) for side in sides) < -_CLEAR:
        return Membership("boundary", along / scale if length else along)
    return Membership("inside", np.zeros(len(target)))


def _units_of(parts: Parts, m: int) -> tuple[FloatArray, Parts]:
    """Return the largest entries of rows, 1 for rows of zeros, and columns of length 1 in units of these."""
    scale = _largest(parts, m)
    scale[scale == 0] = 1

    def units() -> Iterator[FloatArray]:
        for part in parts():
            columns = part / scale[:, None]
            lengths = np.linalg.norm(columns, axis=0)
            yield columns[:, lengths > 0] / lengths[lengths > 0]

    return scale, units


def _highest(units: Parts, objective: FloatArray, limits: FloatArray, floor: FloatArray) -> FloatArray:
    """Maximize objective.d within limits (M, 2), with d.w <= 0 for all columns, and d.floor >= 0 where there is one.

    Columns have length 1. NaN where no d is found.
    """
    from scipy.optimize import linprog

    m, below = len(objective), -floor.reshape(-1, len(objective))
    chosen, places = _worst(units, np.vstack([np.eye(m), -np.eye(m)]), 1)
    direction, origin = np.full(m, np.nan), np.zeros(m)
    for scale in _SCALES:
        while True:
            upper = np.vstack([below, chosen.T])
            solved = linprog(-objective / scale, A_ub=upper, b_ub=-(upper @ origin) / scale,
                             bounds=(limits - origin[:, None]) / scale, method="highs", options=_PRECISE)
            if solved.x is None:
                return direction
            direction = origin + scale * np.asarray(solved.x, dtype=np.float64)
            columns, found = _worst(units, direction[None], _ADDED, places)
            is_over = direction @ columns > scale * _VIOLATED * max(1, np.abs(direction).max())
            is_over &= ~np.isin(found, places)
            if not is_over.any():
                break
            chosen, places = np.hstack([chosen, columns[:, is_over]]), np.concatenate([places, found[is_over]])
        origin = direction
    return direction


def _worst(units: Parts, directions: FloatArray, most: int, known: Sequence[int] | IntArray = ()
           ) -> tuple[FloatArray, IntArray]:
    """The columns, and their places, that go farthest along directions (D, M), so many for each; known ones last."""
    columns, places, first = np.zeros((directions.shape[1], 0)), np.zeros(0, dtype=np.intp), 0
    for part in units():
        columns, places = np.hstack([columns, part]), np.append(places, first + np.arange(part.shape[1]))
        along = np.where(np.isin(places, known), -np.inf, directions @ columns)
        last = min(most, len(places))
        kept = np.unique(np.argpartition(along, -last)[:, -last:]) if last else places
        columns, places, first = columns[:, kept], places[kept], first + part.shape[1]
    return columns, places


def energy_range(
    columns: Columns, k: int, held: FloatArray, is_active: NDArray[np.bool_], first: int | None = None
) -> tuple[float, float] | None:
    """Return the least and the largest feature k, counted from 0, beside held features; None where these cannot be.

    Parameters
    ----------
    columns : Columns
        Weights of the features at the frequencies.
    k : int
    held : array (first,)
        Values of features 0..first - 1; of those that depend on others at these frequencies, the first ones count.
    is_active : bool array (n,)
    first : int, optional
        Default k.

    Examples
    --------
    Two energies with the weights (4, 2, 0) and (0, 2, 4): their sum is 4 times the power.

    >>> pair = Columns(np.array([[4.0, 2, 0], [0, 2, 4]]), (3,))
    >>> energy_range(pair, 1, np.array([8.0]), np.array([True, True, False]))
    (0.0, 8.0)
    >>> energy_range(pair, 1, np.array([8.0]), np.array([True, True, True]))
    (0.0, inf)
    """
    return _programmed(columns, k, tuple(held[: k if first is None else first].tolist()), is_active.tobytes())


@lru_cache(maxsize=32)  # refused signals of a batch have the same targets as a rule: their cone takes a quarter of it
def _programmed(columns: Columns, k: int, values: tuple[float, ...], active: bytes) -> tuple[float, float] | None:
    held, is_active = np.array(values, dtype=np.float64), np.frombuffer(active, dtype=np.bool_)
    if not is_active.any():
        return (0.0, 0.0) if not np.any(held) else None
    free = dependence_of(columns, is_active).independent[: len(held)]
    wanted = np.append(np.flatnonzero(free), k)
    scale, units = _units_of(_some(columns, wanted, is_active), len(wanted))
    goal = np.append(held[free] / scale[:-1], 0)
    size = float(np.abs(goal).max()) or 1.0
    ends, limits = [], np.array([[-_BOX, _BOX]] * len(goal))
    for sign in (1.0, -1.0):
        limits[-1] = -sign
        x = _highest(units, goal / size, limits, np.zeros(0))
        if np.abs(x).max() > 0.999 * _BOX:
            return None
        ends.append(-np.inf if np.isnan(x).any() else float(x @ goal) * float(scale[-1]))
    return ends[0] + 0.0, -ends[1] + 0.0
