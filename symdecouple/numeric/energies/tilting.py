r"""Exponential tilting: weights p(xi) exp(a.w(xi)) with prescribed sums of w, by the minimum of a convex function.

.. math:: F(a) = \sum_\xi p(\xi)\, e^{a\cdot w(\xi)} - a\cdot v, \qquad
    \nabla F = \sum_\xi w\, p\, e^{a\cdot w} - v, \qquad \nabla^2 F = \sum_\xi w\, w'\, p\, e^{a\cdot w}

Far from the minimum, the step d of Newton's method is scaled to a length max |d.w| that is likely to lower F: at most
four times the last one after a success, a quarter after a failure, longer than full after full ones that were not
enough, and never shorter than log(1 + m), m = max |d.w|, which lowers F from anywhere: F is self-concordant in the
sense |F'''[u, u, d]| <= m F''[u, u]. Near the minimum, full steps. Weights over fifty orders of magnitude take some
fifty. Many problems are solved side by side.

Exponents are shifted by their maximum, sums are kept in units of its exponential, and the targets have a logarithm of
their own: nothing overflows, whatever the units.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.numeric.energies.eigenvalues import EPS, Columns
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["Problems", "Tilted", "sums", "tilt"]

_NEAR = 0.5  # max |d.w| from which on Newton's full step converges quadratically
_RADIUS, _CHANGE = 16.0, 4.0  # max |d.w| of the first step, and how much more or less is tried next
_BEYOND = 2.0  # times the last step, where a full one was not enough: each brings sums nearer to a limit by a factor e
_ENOUGH = 1e-4  # the part of the slope that a step must deliver
_HIDDEN = 2.0**-26  # the part of all power that features may have, so that the fall of F is lost in its rounding
_POOR = 0.1  # the residual from which on a start is worse than none
_ACCURATE = 1e-11  # the largest residual of a solution whose digits have run out
_PATIENCE = 12  # far steps at that accuracy: frequencies that have lost all power may be told apart by ever so much
_RIDGE = 16 * EPS  # of a matrix with unit diagonal; keeps the step finite where features are dependent by rounding


@dataclass(frozen=True, slots=True)
class Problems:
    """Q problems on common frequencies.

    Parameters
    ----------
    bands : Columns
    shares : array (R, n)
        Weights p, 0 where a frequency is not active.
    owner : int array (Q,)
        The row of `shares` of each problem.
    wanted : bool array (Q, M)
        Which features are imposed.
    targets : array (Q, M), log_scale : array (Q,)
        v is targets * exp(log_scale).
    """

    bands: Columns
    shares: FloatArray
    owner: IntArray
    wanted: NDArray[np.bool_]
    targets: FloatArray
    log_scale: FloatArray

    def __len__(self) -> int:
        return len(self.owner)

    def take(self, which: Any) -> Problems:
        """Some of the problems."""
        return Problems(self.bands, self.shares, self.owner[which], self.wanted[which], self.targets[which],
                        self.log_scale[which])


@dataclass(slots=True)
class Tilted:
    """Sums at some a, all in units of exp(shift).

    Attributes
    ----------
    parameters : array (Q, M)
        a.
    shift : array (Q,)
        The largest a.w over active frequencies.
    total : array (Q,)
        Sum of p exp(a.w).
    values : array (Q, M)
        Sums of w p exp(a.w): of all M features, imposed or not.
    sizes : array (Q, M)
        Sums of abs(w) p exp(a.w): the rounding of the values is some eps of them.
    matrix : array (Q, M, M)
        Sums of w w' p exp(a.w).
    residual : array (Q,)
        Largest abs(value - v)/(size + abs(v)) of an imposed feature.
    converged : bool array (Q,)
    """

    parameters: FloatArray
    shift: FloatArray
    total: FloatArray
    values: FloatArray
    sizes: FloatArray
    matrix: FloatArray
    residual: FloatArray
    converged: NDArray[np.bool_]

    def take(self, which: Any) -> Tilted:
        """Some of the problems."""
        return Tilted(*(getattr(self, name)[which] for name in _SUMS))

    def put(self, which: IntArray, other: Tilted) -> None:
        """Replace some of the problems."""
        for name in _SUMS:
            getattr(self, name)[which] = getattr(other, name)


_SUMS = Tilted.__slots__


def sums(problems: Problems, parameters: FloatArray) -> Tilted:
    """Evaluate all sums of Q problems, frequencies part by part."""
    bands, (count, m) = problems.bands, parameters.shape
    upper = np.triu_indices(m)
    shift = np.full(count, -np.inf)
    total, values, sizes = np.zeros(count), np.zeros((count, m)), np.zeros((count, m))
    packed = np.zeros((count, len(upper[0])))
    for part in bands.chunks():
        columns, weights = bands.at(part), problems.shares[problems.owner, part]
        exponents = each(parameters, columns)
        silent = weights == 0
        if silent.any():
            exponents[silent] = -np.inf
        largest = np.maximum(shift, exponents.max(axis=1))
        safe = np.where(np.isfinite(largest), largest, 0)
        rescale = np.exp(shift - safe)
        shift = largest
        exponents -= safe[:, None]
        tilted = np.exp(exponents, out=exponents)
        tilted *= weights
        products = bands.products(part)
        total = total * rescale + tilted.sum(axis=1)
        values = values * rescale[:, None] + each(tilted, columns.T)
        packed = packed * rescale[:, None] + each(tilted, products.T)
        if bands.is_signed:
            sizes = sizes * rescale[:, None] + each(tilted, np.abs(columns).T)
    shift[~np.isfinite(shift)] = 0
    matrix = np.empty((count, m, m))
    matrix[:, upper[0], upper[1]] = matrix[:, upper[1], upper[0]] = packed
    found = Tilted(parameters, shift, total, values, sizes if bands.is_signed else values.copy(), matrix,
                   np.zeros(count), np.zeros(count, dtype=np.bool_))
    found.residual = _residual(problems, found)
    return found


def each(rows: FloatArray, matrix: FloatArray) -> FloatArray:
    """Rows times a matrix, each by itself: the rounding of one product of matrices depends on their number."""
    return np.asarray((rows[:, None] @ matrix)[:, 0])


@np.errstate(all="ignore")  # what is beyond float64 is no solution
def tilt(problems: Problems, most: int, start: FloatArray | None = None) -> Tilted:
    """Solve all problems; where no minimum is found in so many iterations, `converged` is False.

    From 0, 4 to 8 iterations are usual; smooth signals, without power at high frequencies, take some 20.
    """
    first = np.zeros(problems.targets.shape) if start is None else start.copy()
    found = sums(problems, first)
    poor = np.flatnonzero(first.any(axis=1) & ~(found.residual < _POOR))
    if len(poor):
        found.put(poor, sums(problems.take(poor), np.where(problems.wanted[poor], 0, first[poor])))
    radius, beyond, since = np.full(len(problems), _RADIUS), np.ones(len(problems)), np.zeros(len(problems))
    found.converged = found.residual <= 4 * EPS
    open_ = np.flatnonzero(~found.converged)
    for _ in range(most):
        if not len(open_):
            break
        some, here = problems.take(open_), found.take(open_)
        step = _solve(scaled_matrix(here.matrix, some.wanted), some.wanted, _goal(some, here) - here.values)
        reach = _reach(some, step)
        is_far = reach > _NEAR
        safe = np.where(is_far, np.log1p(reach), reach)
        length = np.where(is_far, np.maximum(safe, np.minimum(radius[open_], beyond[open_] * reach)), reach)
        step *= (length / np.where(reach > 0, reach, 1))[:, None]
        there, is_sure = sums(some, here.parameters + step), length <= safe
        is_good = is_sure | _is_lower(some, here, there, step)
        radius[open_] = length * np.where(is_good, _CHANGE, 1 / _CHANGE)
        beyond[open_] = np.where(is_good & is_far & (length >= reach), _BEYOND * length / reach, 1)
        # Near the end F tells nothing any more: the residual falls to rounding, and then stays.
        since[open_] += here.residual < _ACCURATE
        is_still = (here.residual < _ACCURATE) & ~(there.residual < here.residual / 4)
        is_last = is_still & (~is_far | (since[open_] > _PATIENCE))
        is_good &= ~(is_last & ~(there.residual < here.residual))
        found.put(open_[is_good], there.take(is_good))
        found.converged[open_] = is_last | (is_good & (there.residual <= 4 * EPS))
        open_ = open_[~found.converged[open_]]
    found.converged &= found.residual <= _ACCURATE
    return found


def solve_scaled(matrix: FloatArray, wanted: NDArray[np.bool_], right: FloatArray) -> FloatArray:
    """Solve with the Gram matrices (Q, M, M) of the wanted features only, to rounding; the others get 0."""
    scaled = scaled_matrix(matrix, wanted)
    solved = _solve(scaled, wanted, right)
    # The ridge leaves some 100 eps; one correction takes them away.
    return solved + _solve(scaled, wanted, right - (matrix @ solved[..., None])[..., 0])


def scaled_matrix(matrix: FloatArray, wanted: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
    """Gram matrices with a unit diagonal and a ridge, the identity where features are not wanted; and their scales."""
    diagonal = np.einsum("qii->qi", matrix)
    scale = np.sqrt(np.where(wanted & (diagonal > 0), diagonal, 1))
    unit = np.where(wanted[:, :, None] & wanted[:, None, :], matrix / (scale[:, :, None] * scale[:, None, :]), 0)
    index = np.arange(matrix.shape[1])
    unit[:, index, index] = 1 + _RIDGE * matrix.shape[1]
    return unit, scale


def _solve(matrix: tuple[FloatArray, FloatArray], wanted: NDArray[np.bool_], right: FloatArray) -> FloatArray:
    unit, scale = matrix
    return np.asarray(np.linalg.solve(unit, np.where(wanted, right / scale, 0)[..., None])[..., 0] / scale)


def _goal(problems: Problems, found: Tilted) -> FloatArray:
    return np.asarray(problems.targets * np.exp(np.minimum(problems.log_scale - found.shift, 700))[:, None])


def _residual(problems: Problems, found: Tilted) -> FloatArray:
    goal = _goal(problems, found)
    size = found.sizes + np.abs(goal)  # 0 of a sum that is lost below float64
    apart = np.where(problems.wanted, np.abs(found.values - goal) / np.where(size != 0, size, np.nan), 0)
    return np.asarray(np.nan_to_num(apart.max(axis=1), nan=np.inf, posinf=np.inf))  # what is no number is no solution


def _reach(problems: Problems, step: FloatArray) -> FloatArray:
    """Return max |d.w| over the active frequencies; where it is surely no more than `_NEAR`, a bound."""
    reach = np.asarray(np.abs(step) @ problems.bands.largest)
    which = np.flatnonzero(reach > _NEAR)
    if len(which):
        reach[which] = 0
        owner = problems.owner[which]
        for part in problems.bands.chunks():
            along = np.abs(each(step[which], problems.bands.at(part)))
            along[problems.shares[owner, part] == 0] = 0
            reach[which] = np.maximum(reach[which], along.max(axis=1))
    return reach


def _is_lower(problems: Problems, here: Tilted, there: Tilted, step: FloatArray) -> NDArray[np.bool_]:
    """True where F falls by enough, both sides in the larger of their units.

    As F is convex, it falls by no less than its slope at the end; rounding leaves that where frequencies of which
    nothing is wanted have nearly all of the sum.
    """
    unit = np.maximum(here.shift, there.shift)
    old, new = np.exp(here.shift - unit), np.exp(there.shift - unit)
    goal = _goal(problems, here) * problems.wanted
    fall = there.total * new - here.total * old - (step * goal).sum(axis=1) * old
    slope = ((here.values * problems.wanted - goal) * step).sum(axis=1) * old
    ahead = ((there.values - _goal(problems, there)) * problems.wanted * step).sum(axis=1) * new
    is_lost = (here.sizes * problems.wanted / problems.bands.largest).max(axis=1) < _HIDDEN * here.total
    return np.asarray(np.where(is_lost, np.fmin(fall, ahead), fall) <= _ENOUGH * np.minimum(slope, 0))
