"""The narrow path of one sample at a time: few calls a step, for samples so long that more of them gain nothing.

The same path, pair of order 8, error control and corrections as `moment_path` with `runge_kutta`, one row by itself.
The powers of the sample are the rows of a matrix P, so that moments, velocities and their derivatives are products with
P; the Hankel matrix is decomposed in numbers. Where that loses too much the polynomials are made by Stieltjes'
procedure, degree by degree.

The first step is as long as the derivative of the velocity allows: 1.35 k rtol^(1/8) over the steepest one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from symdecouple.numeric.moments.course import NOISE
from symdecouple.numeric.moments.hankel import Weights
from symdecouple.numeric.paths.integrate import End
from symdecouple.numeric.paths.runge_kutta import FIFTH, STAGES, THIRD, WEIGHTS
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["Walked", "walk"]

_LOST = 1e-5  # D_j/h_(2j) below which the Hankel matrix leaves fewer than eleven digits
_BLOCK = 4096
_REACH = 1.35  # as in `moment_path.steps`
_STABLE = 5.5  # of a step, by the rate at which values fall together: beyond about 6 the pair is not stable
_SMALLEST = 2.0**-40
_MOST_STEPS = 400
_ROOM = 2**17  # numbers kept of the points of steps
_SAFETY, _SHRINK, _GROW, _LAST = 0.9, 0.2, 8.0, 1.05
_BELOW = np.array([[row.get(j, 0.0) for j in range(12)] for row in STAGES])
_EIGHTH, _FIFTH, _THIRD = (np.array([row.get(j, 0.0) for j in range(12)]) for row in (WEIGHTS, FIFTH, THIRD))


@dataclass(frozen=True, slots=True)
class Walked:
    """Where a sample (N,) came to, as in `runge_kutta.Path`, and by how much near values were pulled apart.

    The tape, if that was asked for: of each step s, size and its points, all twelve of them as far as there is room.
    """

    values: FloatArray
    reached: float
    ending: End
    steps: int
    failed: int
    growth: float
    tape: tuple[tuple[float, float, list[FloatArray]], ...] = ()


@dataclass(slots=True)
class _Look:
    """Orthogonal polynomials of a sample at a point of its path.

    `last` is p_(k-1) at the entries, `norm` D_0..D_(k-1), `means` h_0..h_(2k-2); `by_powers` the coefficients of
    p_(k-1), None where the polynomials are in `all` instead.
    """

    last: FloatArray
    norm: list[float]
    means: list[float]
    by_powers: list[float] | None
    lower: list[list[float]] | None
    all: FloatArray | None


class _Row:
    """A sample's powers and weights, and what is made of them."""

    def __init__(self, n: int, k: int, weights: Weights) -> None:
        self.k, self.n = k, n
        self.powers, self.heavy = np.ones((k, n)), np.empty((2, n))
        self.heavy[0] = 1 / n if weights is None else weights

    def look(self, y: FloatArray) -> _Look:
        """At a point."""
        k, powers, heavy = self.k, self.powers, self.heavy
        powers[1] = y
        for j in range(2, k):
            np.multiply(powers[j - j // 2], powers[j // 2], out=powers[j])
        np.multiply(powers[k - 1], heavy[0], out=heavy[1])
        low, high = _products(heavy, powers).tolist()
        means = low + high[1:]
        lower, norm = _decomposed(means, k)
        if not all(norm[j] > _LOST * means[2 * j] for j in range(k)):
            return self._stieltjes(means)
        c = [0.0] * (k - 1) + [1.0]
        for j in range(k - 2, -1, -1):
            c[j] = -sum(c[i] * lower[i][j] for i in range(j + 1, k))
        return _Look(_combined(c, powers), norm, means, c, lower, None)

    def _stieltjes(self, means: list[float]) -> _Look:
        k, y, share = self.k, self.powers[1], self.heavy[0]
        every, norm = np.empty((k, self.n)), list[float]()
        every[0] = 1
        for j in range(k):
            p = every[j]
            weighted = p * share
            norm.append(_dot(weighted, p))
            if j < k - 1:
                weighted *= p
                np.subtract(y, _dot(weighted, y) / norm[j] if norm[j] else np.nan, out=every[j + 1])
                every[j + 1] *= p
                if j:
                    every[j + 1] -= norm[j] / norm[j - 1] * every[j - 1]
        return _Look(every[-1], norm, means, None, None, every)

    def slope(self, at: _Look) -> FloatArray:
        """p_(k-1)' at the entries; the powers are those of the same point."""
        k = self.k
        if at.by_powers is not None:
            return _combined([j * at.by_powers[j] for j in range(1, k)], self.powers[: k - 1])
        assert at.all is not None
        y, share, every = self.powers[1], self.heavy[0], at.all
        before, now = np.zeros(self.n), np.zeros(self.n)
        for j in range(k - 1):
            centre = _dot(every[j] * every[j] * share, y) / at.norm[j]
            ratio = at.norm[j] / at.norm[j - 1] if j else 0.0
            before, now = now, every[j] + (y - centre) * now - ratio * before
        return now

    def correction(self, at: _Look, goal: FloatArray) -> FloatArray | None:
        """Newton's step towards Mean(y^j) = goal[j], as in `moment_path.course`; None where there is nothing to do."""
        k, h = self.k, at.means
        size = [h[j] if j % 2 == 0 else (h[j - 1] * h[j + 1]) ** 0.5 for j in range(k + 1)]
        gap = [goal[j] - h[j] for j in range(1, k + 1)]
        if all(abs(gap[j - 1]) <= NOISE * size[j] for j in range(1, k + 1)):
            return None
        if at.lower is not None:
            product = [[at.lower[i][j] * at.norm[j] for j in range(k)] for i in range(k)]
        else:
            assert at.all is not None
            product = _products(self.powers * self.heavy[0], at.all).tolist()
        c = [0.0] * k
        for i in range(k):
            rest = gap[i] / (i + 1) if abs(gap[i]) > NOISE * size[i + 1] else 0.0
            c[i] = (rest - sum(product[i][j] * c[j] for j in range(i))) / at.norm[i]
        if at.all is not None:
            return _combined(c, at.all)
        assert at.lower is not None
        for j in range(k - 1, -1, -1):
            c[j] -= sum(c[i] * at.lower[i][j] for i in range(j + 1, k))
        return _combined(c, self.powers)


def walk(
    z: FloatArray, k: int, goal: FloatArray, distance: float, weights: Weights, rtol: float,
    is_over: Callable[[FloatArray], FloatArray | None], crowded: float, store: bool = False,
) -> Walked:
    """Follow dz/ds = distance p_(k-1)(z)/(k D_(k-1)) from s = 0 to 1.

    Parameters
    ----------
    z : array (N,)
        Moments 1..k-1 are those of the goal.
    k : int
    goal : array (k + 1,)
        Moments at the end, from order 0.
    distance : float
        By how much the k-th changes.
    weights : array (N,) or None
        Sum 1.
    rtol : float
        Local error of a step, root mean square over the row.
    is_over : callable
        Asked where D_(k-1)/h_(2k-2) is below `crowded`, and again where it is half of what it was: the sample that the
        path ends at, or None.
    crowded : float
    store : bool
        Keep the steps.
    """
    row, slopes = _Row(len(z), k, weights), np.empty((12, len(z)))
    at = row.look(z)
    rate = distance / (k * at.norm[-1]) if at.norm[-1] else np.nan
    stretch = rate * row.slope(at)
    slopes[0] = rate * at.last
    steepest = max(float(stretch.max()), -float(stretch.min()))
    h = min(1.0, _REACH * k * rtol ** (1 / 8) / steepest) if steepest > 0 else 1.0
    y, s, steps, failed = z.copy(), 0.0, 0, 0
    log_growth, has_failed, asked = np.zeros(len(z)), False, crowded
    tape, room = list[tuple[float, float, list[FloatArray]]](), _ROOM if store else 0
    while steps + failed < _MOST_STEPS:
        is_last = s + _LAST * h >= 1
        h = 1 - s if is_last else h
        points = [y]
        for i in range(1, 12):
            moved = _combined(h * _BELOW[i, :i], slopes[:i])
            moved += y
            if room >= 12 * len(z):
                points.append(moved)
            at = row.look(moved)
            np.multiply(at.last, distance / (k * at.norm[-1]) if at.norm[-1] else np.nan, out=slopes[i])
        error = _error(slopes, h) / rtol
        good = error <= 1
        if good:
            moved = _combined(h * _EIGHTH, slopes)
            moved += y
            end = 1.0 if is_last else s + h
            at = row.look(moved)
            due = goal.copy()
            due[k] -= (1 - end) * distance
            step = row.correction(at, due)
            if step is not None:
                moved += step
                at = row.look(moved)
            good = bool(np.isfinite(at.norm[-1])) and at.norm[-1] > 0
        if good:
            rate = distance / (k * at.norm[-1])
            now = rate * row.slope(at)
            log_growth += (stretch + now) * ((end - s) / 2)
            np.maximum(log_growth, 0, out=log_growth)
            if store:
                tape.append((s, h, points))
                room -= len(points) * len(z)
            y, s, stretch, steps = moved, end, now, steps + 1
            slopes[0] = rate * at.last
            spare = at.norm[-1] / at.means[-1]
            if s < 1 and spare < asked:
                caught, asked = is_over(y), spare / 2
                if caught is not None:
                    return Walked(caught, s, End.OVER, steps, failed, 1.0)
        else:
            failed += 1
        if s == 1:
            return Walked(y, s, End.REACHED, steps, failed, float(np.exp(log_growth.max())), tuple(tape))
        wanted = _SAFETY * max(error, 1e-30) ** (-1 / 8) if error == error else _SHRINK
        h *= min(max(wanted, _SHRINK), _GROW if good and not has_failed else 1.0 if good else 0.5)
        h, has_failed = min(h, _STABLE / max(-float(stretch.min()), _STABLE * h / _GROW)), not good
        if h < _SMALLEST * s or h < 2.0**-100:
            return Walked(y, s, End.STALLED, steps, failed, 1.0)
    return Walked(y, s, End.EXHAUSTED, steps, failed, 1.0)


def _error(slopes: FloatArray, h: float) -> float:
    """As in `runge_kutta`."""
    fifth, third = _combined(_FIFTH, slopes), _combined(_THIRD, slopes)
    five, three = _dot(fifth, fifth), _dot(third, third)
    both = ((five + 0.01 * three) * len(fifth)) ** 0.5
    return h * five / both if both else (0.0 if both == 0 else np.nan)


# Products by blocks: of longer rows BLAS would take threads, which costs more than it saves.


def _combined(c: Sequence[float] | FloatArray, rows: FloatArray) -> FloatArray:
    """sum_j c_j rows_j."""
    weights, n = np.asarray(c), rows.shape[1]
    if n <= _BLOCK:
        return np.asarray(weights @ rows)
    out = np.empty(n)
    for i in range(0, n, _BLOCK):
        np.matmul(weights, rows[:, i : i + _BLOCK], out=out[i : i + _BLOCK])
    return out


def _products(one: FloatArray, other: FloatArray) -> FloatArray:
    """Inner products of rows with rows."""
    total = one[:, :_BLOCK] @ other[:, :_BLOCK].T
    for i in range(_BLOCK, one.shape[1], _BLOCK):
        total += one[:, i : i + _BLOCK] @ other[:, i : i + _BLOCK].T
    return np.asarray(total)


def _dot(u: FloatArray, v: FloatArray) -> float:
    return float(sum(u[i : i + _BLOCK] @ v[i : i + _BLOCK] for i in range(0, len(u), _BLOCK)))


def _decomposed(h: list[float], k: int) -> tuple[list[list[float]], list[float]]:
    """L and D of the Hankel matrix."""
    lower, norm = [[0.0] * k for _ in range(k)], [0.0] * k
    for j in range(k):
        row = lower[j]
        entry, scaled = h[2 * j], row[:j]
        for m in range(j):
            scaled[m] *= norm[m]
            entry -= scaled[m] * row[m]
        norm[j], row[j] = entry, 1.0
        inverse = 1 / entry if entry else np.nan
        for i in range(j + 1, k):
            other = lower[i]
            entry = h[i + j]
            for m in range(j):
                entry -= scaled[m] * other[m]
            other[j] = entry * inverse
    return lower, norm
