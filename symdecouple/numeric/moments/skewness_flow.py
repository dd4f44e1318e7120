"""Samples moved along their own skew flow to any skewness they can reach: values, and their slopes for gradients.

The orbit of x under mean, variance and skewness is {(a x + b)/(c x + d), increasing, no pole among the samples}
(Theorem B); on it one sample has mean 0, variance 1 and the wanted skewness (Theorem C). Where the pole must go is
found by `find_roots`. With g the distance from the minimum of the sample (turned, where its skewness must rise) and w
that of the pole, z is affine in u = g/(g + w). Values are taken from the median of the sample, x_c, without
cancellation, whatever w: with h = x - x_c and v = g_c + w,

    u - u_c = (w/v)/(1 + v/h) above,  (h/v) w/(g + w) below,        du/dx = w/(g + w)^2.

Every step of these is monotone in x, and stays so when it is rounded: the order of the sample is kept. What rounding
leaves of mean, variance and skewness is put right along 1, z and q = z^2 - G z - 1, to first order: their gradients are
1, 2 z and 3 z^2, and q is orthogonal to 1 and z.

*What is in the result.* dz is beta w dx/(g + w)^2: where g is large against w, a relative error eps of z stands for an
error of eps g/w of g. So much of the sample is left in z, and can be brought back from it: the largest value to about
eps max(g)/w. At zero skewness that is 1e-14 for lognormal values with sigma = 1 and 1e-7 with sigma = 5, below 1e-12
for a thousand Cauchy values. Where w is below eps max(g), values that differ in x may share one z.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from symdecouple.errors import InvalidInput, Outcome
from symdecouple.numeric.moments.power_sums import PowerSums, lifted, standardized_entries
from symdecouple.numeric.moments.skewness_root import UNRESOLVED, Roots, Turned, find_roots
from symdecouple.numeric.moments.ties import ties_of
from symdecouple.numeric.samples.batch import EMPTY, INFINITE, NAN_INPUT, SINGLE, FloatArray, IntArray, SampleMatrix

__all__ = ["Quick", "Skewed", "impose_skewness"]

TILE = 2**14  # samples worked on at a time: four arrays of them stay in the cache
_ROUNDING = 2.0**-49  # 1.8e-15: what rounding does to a skewness, at most, in units of Mean|z|^3
LINEAR = 2.0**-27  # times s max|z| up to which s q is the flow to the last digit
LOST = 2.0**-20  # Mean(q^2) below which a_4 - a_3^2 - 1 does not hold its digits: values stay as they are


@dataclass(frozen=True, slots=True)
class Skewed:
    """Standardized samples (R, N) of the wanted skewness, their slopes, how near they came; refused rows are NaN.

    `slope` is dz_n/dx_n with the parameters of the Moebius map held fixed, in units of 1/x; of shape (R, 0) where it
    was not asked for. `residual` is abs(skewness reached - target)/(1 + abs(target)).
    """

    values: FloatArray
    slope: FloatArray
    residual: FloatArray
    refusals: dict[int, Outcome] = field(default_factory=dict)


# Fills in ordinary rows of the answer, of those named; leaves NaN residuals in all others. Given are the exponents of
# the powers of two that bring ranges near 1, before the matrix was lifted.
Quick: TypeAlias = Callable[[SampleMatrix, IntArray, IntArray, FloatArray, Skewed], None]


def impose_skewness(
    rows: ArrayLike,
    targets: ArrayLike,
    *,
    weights: FloatArray | None = None,
    quick: Quick | None = None,
    with_slope: bool = True,
) -> Skewed:
    """Move each sample along its skew flow to a given skewness; mean 0 and population variance 1.

    .. math:: z = \\beta\\Bigl(\\frac{g}{g + w} - \\gamma\\Bigr), \\qquad \\bar z = 0,\\; \\overline{z^2} = 1,\\;
        \\overline{z^3} = \\mathrm{target}

    with g the distance from the minimum of x, or, where the skewness must rise, with -x in place of x and of z.

    Parameters
    ----------
    rows : array_like, shape (R, N)
    targets : array_like, shape (R,) or ()
        The skewness wanted of each row.
    weights : array (R, N), optional
        How often each entry counts: finite and not negative, two positive ones a row at least; equal by default. An
        entry of weight 0 goes where the minimum goes.
    quick : Quick, optional
        Tried first, without weights: the compiled kernel of `skewness_kernel`.
    with_slope : bool
        Whether slopes are asked for: they take as much memory as the rows.

    Returns
    -------
    Skewed
        Values in the order of the samples. Equal values stay equal; the order of the others is kept, strictly so where
        float64 can tell them apart. A sample already at its target, to rounding, is standardized and no more.

    Raises
    ------
    InvalidInput

    Notes
    -----
    Refused, by counting ties and exact comparison: constant samples; two-valued samples, unless their skewness is the
    target; targets outside the open interval of Theorem C (`skewness_interval`), or at its end.

    Mean and variance are met to about 1e-15, the skewness to about 1e-15 Mean(abs(z)^3). With q = z^2 - G z - 1, each z
    is within about 1e-15 abs(q)/(3 Mean(q^2)) + 1e-15 (1 + abs(z)) of the exact one: dz/dG is q/(3 Mean(q^2)). A power
    of two as unit changes no bit. Cost: two to five times `scipy.stats.kurtosis`, compiled less than once.

    Source: paper, eq:skew_adjustment, for the flow; Theorems B and C of the documentation.

    Examples
    --------
    >>> answer = impose_skewness([[1, 2, 40]], 0.0)
    >>> (answer.values + 0.0).round(12).tolist()
    [[-1.224744871392, 0.0, 1.224744871392]]

    >>> print(impose_skewness([[0, 0, 1, 2]], -0.25).refusals[0].reason)  # half of the values are the minimum
    skewness out of reach
    """
    samples, wanted = np.ascontiguousarray(rows, dtype=np.float64), np.asarray(targets, dtype=np.float64)
    if samples.ndim != 2 or wanted.shape not in ((), (1,), (len(samples),)):
        raise InvalidInput("rows of shape (R, N) and a target for all or for each are expected, "
                           f"got {samples.shape} and {wanted.shape}")
    if not np.isfinite(wanted).all():
        raise InvalidInput(f"a target must be finite, got {wanted[~np.isfinite(wanted)].flat[0]}")
    wanted = np.broadcast_to(wanted, (len(samples),))
    slope = np.empty((len(samples), samples.shape[1] if with_slope else 0))
    answer = Skewed(np.empty(samples.shape), slope, np.full(len(samples), np.nan))
    matrix = _matrix(samples, answer.refusals, weights)
    left = np.delete(np.arange(len(samples)), list(answer.refusals)) if answer.refusals else np.arange(len(samples))
    if len(left):
        raised, lift, unit = lifted(matrix)
        if quick is not None and weights is None:
            quick(raised, left, unit, wanted, answer)
            left = left[np.isnan(answer.residual[left])]
        if len(left) == len(samples):
            _impose(raised, lift, wanted, answer)
        elif len(left):
            heavy = None if weights is None else weights[left]
            part = impose_skewness(samples[left], wanted[left], weights=heavy, with_slope=with_slope)
            answer.values[left], answer.slope[left], answer.residual[left] = part.values, part.slope, part.residual
            answer.refusals.update((int(left[i]), outcome) for i, outcome in part.refusals.items())
    if answer.refusals:
        lost = list(answer.refusals)
        answer.values[lost], answer.slope[lost] = np.nan, np.nan
    return answer


def _matrix(samples: FloatArray, refusals: dict[int, Outcome], weights: FloatArray | None) -> SampleMatrix:
    if samples.shape[1] < 2:
        refusals.update(dict.fromkeys(range(len(samples)), SINGLE if samples.shape[1] else EMPTY))
        return SampleMatrix(samples, np.empty(0), np.empty(0))
    with np.errstate(invalid="ignore"):
        matrix = SampleMatrix.weighted(samples, weights)
    for i in np.flatnonzero(~np.isfinite(matrix.low) | ~np.isfinite(matrix.high)).tolist():
        refusals[i] = NAN_INPUT if np.isnan(samples[i]).any() else INFINITE
    return matrix


# --- which rows move ---


def _impose(matrix: SampleMatrix, lift: IntArray, target: FloatArray, answer: Skewed) -> None:
    """Fill in the answer: rows as they are where they are at the target already, else along the flow."""
    ties = ties_of(matrix)
    answer.refusals.update(ties.unreachable(target))
    two_valued = ties.two_valued
    standing = [i for i in answer.refusals if two_valued[i]]
    movable = np.delete(np.arange(len(matrix.low)), list(answer.refusals))
    if len(movable):
        roots = find_roots(matrix, movable, target)
        standing += movable[roots.is_there[movable]].tolist()
        answer.refusals.update(dict.fromkeys(movable[np.isnan(roots.kurtosis[movable])].tolist(), UNRESOLVED))
    if standing:
        _stand(matrix, np.array(sorted(standing), dtype=np.intp), lift, target, answer)
    moving = movable[np.isnan(answer.residual[movable])]
    moving = moving[~np.isnan(roots.kurtosis[moving])] if len(moving) else moving
    if len(moving):
        turned, step = Turned.of(matrix, roots, target), max(1, TILE // matrix.values.shape[1])
        for start in range(0, len(moving), step):
            _move(matrix, moving[start : start + step], roots, lift, turned, answer)


def _stand(matrix: SampleMatrix, which: IntArray, lift: IntArray, target: FloatArray, answer: Skewed) -> None:
    """Standardize rows whose skewness is the target already, to rounding; no residual in the others."""
    for i in which.tolist():
        weights = None if matrix.weights is None else matrix.weights[i : i + 1]
        z, slope, _ = standardized_entries(matrix.values[i : i + 1], weights)
        distance = float(np.average(z**3, weights=weights)) - target[i]
        if abs(distance) <= _ROUNDING * np.average(np.abs(z) ** 3, weights=weights):
            answer.values[i], answer.residual[i] = z, abs(distance) / (1 + abs(target[i]))
            with np.errstate(over="ignore"):
                answer.slope[i] = np.ldexp(slope[0], lift[i])
            answer.refusals.pop(i, None)


def _move(matrix: SampleMatrix, rows: IntArray, roots: Roots, lift: IntArray, turned: Turned, answer: Skewed) -> None:
    """Write values, slopes and residuals of some rows at their roots."""
    is_run = rows[-1] - rows[0] + 1 == len(rows)
    here = slice(int(rows[0]), int(rows[-1]) + 1) if is_run else rows
    values, slope = answer.values[here], answer.slope[here]  # of a run, the very entries of the answer
    distance = _Bundle.of(matrix, here, roots, lift, turned, values).carried(values, slope)
    if not is_run:
        answer.values[here], answer.slope[here] = values, slope
    answer.residual[rows] = np.abs(distance) / (1 + np.abs(turned.target[rows]))


# --- rows carried to their roots ---


@dataclass(frozen=True, slots=True)
class _Bundle:
    """A few rows, and the scales that turn them so that the pole lies below; g = x scale - offset, columns (R, 1)."""

    x: FloatArray
    scale: FloatArray
    offset: FloatArray
    entry: FloatArray  # the median, scaled: u of it is at most one deviation from the mean of u
    pole: FloatArray
    lift: IntArray  # from the units of the sample
    target: FloatArray
    weights: FloatArray | None

    @classmethod
    def of(cls, matrix: SampleMatrix, rows: Any, roots: Roots, lift: IntArray, turned: Turned, spare: Any) -> _Bundle:
        """The rows named, for their roots; what is in `spare`, of their shape, is lost."""
        scale, offset, target = (each[rows] for each in turned)
        x = np.asarray(matrix.values[rows], dtype=np.float64)
        weights = None if matrix.weights is None else matrix.weights[rows]
        half = x.shape[1] // 2
        if weights is None:
            spare[:] = x
            spare.partition(half, axis=1)
        entry = scale * (spare[:, half] if weights is None else roots.near[rows])
        return cls(x, scale[:, None], offset[:, None], entry[:, None], roots.pole[rows, None],
                   lift[rows] + roots.lift[rows], target, weights)

    def tiles(self) -> Iterator[tuple[slice, FloatArray | None]]:
        """Parts of the entries, with their weights."""
        for start in range(0, self.x.shape[1], TILE):
            part = slice(start, start + TILE)
            yield part, None if self.weights is None else self.weights[:, part]

    def carried(self, values: FloatArray, slope: FloatArray) -> FloatArray:
        """Flow until the pole is at infinity; values and slopes are written, the distance from the target returned."""
        v, sums = self.entry - self.offset + self.pole, PowerSums.empty(2, len(self.x))
        with np.errstate(all="ignore"):  # 1/0 is what the formula wants; slopes may be beyond float64
            for part, weights in self.tiles():
                p = self.x[:, part] * self.scale
                h = p - self.entry
                p -= self.offset
                p += self.pole
                np.divide(self.pole, p, out=p)
                z = np.maximum(h, 0.0, out=values[:, part])
                np.divide(v, z, out=z)
                z += 1.0
                np.divide(self.pole / v, z, out=z)
                np.minimum(h, 0.0, out=h)
                h /= v
                h *= p
                z += h
                if slope.shape[1]:
                    slope[:, part] = p
                sums.update(z, weights)
            _, shift, square = sums.means()
            deviation, sums = np.sqrt(square - shift * shift), PowerSums.empty(4, len(self.x))
            for part, weights in self.tiles():
                z = values[:, part]
                z -= shift[:, None]
                z /= deviation[:, None]
                sums.update(z, weights)
            return self._put_right(values, slope, deviation, sums.means())

    def _put_right(self, values: FloatArray, slope: FloatArray, deviation: FloatArray, moments: FloatArray
                   ) -> FloatArray:
        """Correct the values and turn them back; slopes become those of the samples."""
        _, mean, variance, skewness, kurtosis = moments
        spread, furthest = kurtosis - skewness**2 - 1, np.maximum(values.max(axis=1), -values.min(axis=1))
        time = (self.target - skewness + 3 * mean - 1.5 * (1 - variance) * skewness) / (3 * spread)
        time = np.where((spread > LOST) & (np.abs(time) * furthest <= LINEAR), time, 0.0)
        linear = (1 - variance) / 2 - time * skewness
        mantissa, exponent = np.frexp(self.pole[:, 0])
        steepest = np.ldexp(1 / deviation / mantissa, self.lift - exponent)[:, None]
        turn, sums = np.sign(self.scale), PowerSums.empty(3, len(self.x))
        for part, weights in self.tiles():
            z, p = values[:, part], slope[:, part]
            if p.shape[1]:
                p *= p * steepest
                p *= 1 + (linear[:, None] + 2 * time[:, None] * z)
            h = z * time[:, None]
            h += linear[:, None]
            h *= z
            h -= (mean + time)[:, None]
            z += h
            sums.update(z, weights)
            z *= turn
        distance: FloatArray = sums.means()[3] - self.target
        return distance
