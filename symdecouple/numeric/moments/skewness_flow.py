"""Samples moved along their own skew flow to any skewness they can reach: values, and their slopes for gradients.

The leaf of x under mean, variance and skewness is {(a x + b)/(c x + d), increasing, no pole among the samples}
(Theorem B); on it one sample has mean 0, variance 1 and the wanted skewness (Theorem C). Where the pole must go is
found by `find_roots`; `skewness_step` carries the sample there, each value to its own digits.

*What is in the result.* With g the distance from the minimum of the sample (turned, where its skewness must rise) and w
that of the pole, z is affine in g/(g + w), and dz is beta w dx/(g + w)^2: where g is large against w, a relative error
eps of z stands for an error of eps g/w of g. So much of the sample is left in z, and can be brought back from it: the
largest value to about eps max(g)/w. At zero skewness that is 1e-14 for lognormal values with sigma = 1 and 1e-7 with
sigma = 5, below 1e-12 for a thousand Cauchy values. Where w is below eps max(g), values that differ in x may share one
z.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symdecouple.errors import InvalidInput, Outcome
from symdecouple.numeric.moments.power_sums import range_exponent
from symdecouple.numeric.moments.skewness_root import LIFT, STRAIGHT, UNRESOLVED, Roots, find_roots
from symdecouple.numeric.moments.skewness_step import TILE, Bundle, run_of
from symdecouple.numeric.moments.ties import ties_of
from symdecouple.numeric.samples.batch import EMPTY, INFINITE, NAN_INPUT, SINGLE, FloatArray, IntArray, Panel

__all__ = ["Imposed", "Quick", "impose_skewness"]

_ROUNDING = 2.0**-49  # 1.8e-15: what rounding does to a skewness, at most, in units of Mean|z|^3


@dataclass(frozen=True, slots=True)
class Imposed:
    """Standardized samples (R, N) of the wanted skewness, their slopes, how near they came; refused rows are NaN.

    `slope` is dz_n/dx_n with the parameters of the Moebius map held fixed, in units of 1/x; of shape (R, 0) where it
    was not asked for. `residual` is
    abs(skewness reached - target)/(1 + abs(target)).
    """

    values: FloatArray
    slope: FloatArray
    residual: FloatArray
    refusals: dict[int, Outcome] = field(default_factory=dict)


# Fills in ordinary rows of the answer, of those named, all of which can move; leaves NaN residuals in all others.
Quick: TypeAlias = Callable[[Panel, IntArray, IntArray, FloatArray, Imposed], None]


def impose_skewness(
    rows: ArrayLike,
    targets: ArrayLike,
    *,
    weights: FloatArray | None = None,
    quick: Quick | None = None,
    ends: tuple[FloatArray, FloatArray] | None = None,
    with_slope: bool = True,
) -> Imposed:
    """Move each sample along its skew flow to a given skewness; mean 0 and population variance 1.

    .. math:: z = \\beta\\Bigl(\\frac{g}{g + w} - \\gamma\\Bigr), \\qquad \\bar z = 0,\\; \\overline{z^2} = 1,\\;
        \\overline{z^3} = \\mathrm{target}

    with g the distance from the minimum of x, or, where the skewness must rise, with -x in place of x and of z.

    Parameters
    ----------
    rows : array_like, shape (R, N)
        One sample a row.
    targets : array_like, shape (R,) or ()
        The skewness wanted of each row.
    weights : array (R, N), optional
        How often each entry counts: finite and not negative, two positive ones a row at least; equal by default. An
        entry of weight 0 goes where the minimum goes.
    quick : Quick, optional
        Tried first, without weights: the compiled kernel of `skewness_kernel`.
    ends : pair of arrays (R,), optional
        Minimum and maximum of each row, where they are known; without weights.
    with_slope : bool
        Whether slopes are asked for: they take the room of the rows.

    Returns
    -------
    Imposed
        Values in the order of the samples. Equal values stay equal; the order of the others is kept, strictly so where
        float64 can tell them apart. A sample already at its target, to rounding, is standardized and no more.

    Raises
    ------
    InvalidInput
        The shapes do not fit, or a target is not finite.

    Notes
    -----
    Refused, by counting ties and exact comparison: constant samples; two-valued samples, unless their skewness is the
    target; targets outside the open interval of Theorem C (`skewness_interval`), or at its end.

    Mean and variance are met to about 1e-15, the skewness to about 1e-15 Mean(abs(z)^3). With q = z^2 - G z - 1, each z
    is within about 1e-15 abs(q)/(3 Mean(q^2)) + 1e-15 (1 + abs(z)) of the exact one: dz/dG is q/(3 Mean(q^2)). A power
    of two as unit changes no bit, a permutation of the sample no more than that rounding. Cost: two to five times that
    of `scipy.stats.kurtosis`, compiled less than once.

    Source: paper, eq:skew_adjustment, for the flow; Theorems B and C of the documentation.

    Examples
    --------
    Three values at zero skewness are -sqrt(3/2), 0, sqrt(3/2):

    >>> answer = impose_skewness([[1, 2, 40]], 0.0)
    >>> (answer.values + 0.0).round(12).tolist()
    [[-1.224744871392, 0.0, 1.224744871392]]

    Half of the values tied at the minimum keep the skewness positive:

    >>> print(impose_skewness([[0, 0, 1, 2]], -0.25).refusals[0].reason)
    skewness out of reach
    """
    samples, wanted = _as_rows(rows, targets)
    slope = np.empty((len(samples), samples.shape[1] if with_slope else 0))
    answer = Imposed(np.empty(samples.shape), slope, np.full(len(samples), np.nan))
    panel = _panel(samples, answer.refusals, weights, ends)
    if not answer.refusals:
        _impose(*_lifted(panel), wanted, answer, quick if weights is None else None)
    elif len(answer.refusals) < len(samples):
        which = np.array([i for i in range(len(samples)) if i not in answer.refusals], dtype=np.intp)
        heavy = None if weights is None else weights[which]
        part = impose_skewness(samples[which], wanted[which], weights=heavy, quick=quick, with_slope=with_slope)
        answer.values[which], answer.slope[which], answer.residual[which] = part.values, part.slope, part.residual
        answer.refusals.update((int(which[i]), outcome) for i, outcome in part.refusals.items())
    lost = list(answer.refusals)
    answer.values[lost], answer.slope[lost] = np.nan, np.nan
    return answer


def _as_rows(rows: ArrayLike, targets: ArrayLike) -> tuple[FloatArray, FloatArray]:
    samples, wanted = np.asarray(rows, dtype=np.float64), np.asarray(targets, dtype=np.float64)
    if samples.ndim != 2 or wanted.shape not in ((), (1,), (len(samples),)):
        raise InvalidInput(
            "rows of shape (R, N) and a target for all or for each are expected, "
            f"got {samples.shape} and {wanted.shape}"
        )
    if not np.isfinite(wanted).all():
        raise InvalidInput(f"a target must be finite, got {wanted[~np.isfinite(wanted)].flat[0]}")
    return np.ascontiguousarray(samples), np.broadcast_to(wanted, (len(samples),))


def _panel(
    samples: FloatArray,
    refusals: dict[int, Outcome],
    weights: FloatArray | None,
    ends: tuple[FloatArray, FloatArray] | None,
) -> Panel:
    if samples.shape[1] < 2:
        refusals.update(dict.fromkeys(range(len(samples)), SINGLE if samples.shape[1] else EMPTY))
        return Panel(samples, np.empty(0), np.empty(0))
    with np.errstate(invalid="ignore"):
        if weights is not None:
            panel = Panel.weighted(samples, weights)
        else:
            panel = Panel.of(samples) if ends is None else Panel(samples, *ends)
    for i in np.flatnonzero(~(np.isfinite(panel.low) & np.isfinite(panel.high))).tolist():
        refusals[i] = NAN_INPUT if np.isnan(samples[i]).any() else INFINITE
    return panel


def _lifted(panel: Panel) -> tuple[Panel, NDArray[np.intp]]:
    """The rows times 2^lift, where a scale below 2**1023 would not bring their ranges near the top of float64."""
    magnitude = np.frexp(np.maximum(np.abs(panel.low), np.abs(panel.high)))[1]
    wanted = np.minimum(LIFT - range_exponent(panel), 1022 - magnitude).astype(np.intp)
    lift = np.where(wanted > 1023, wanted, 0)
    if not lift.any():
        return panel, lift
    values = np.ldexp(panel.values, lift[:, None])
    low, high = np.ldexp(panel.low, lift), np.ldexp(panel.high, lift)
    return Panel(values, low, high, weights=panel.weights), lift


# --- which rows move ---


def _impose(panel: Panel, lift: NDArray[np.intp], target: FloatArray, answer: Imposed, quick: Quick | None) -> None:
    """Fill in the answer: rows as they are where they are at the target already, else along the flow."""
    n_rows, ties = len(panel.low), ties_of(panel)
    answer.refusals.update(ties.unreachable(target))
    two_valued = ties.two_valued()
    standing = [i for i in answer.refusals if two_valued[i]]
    movable = np.delete(np.arange(n_rows), list(answer.refusals)) if answer.refusals else np.arange(n_rows)
    if quick is not None:
        quick(panel, movable, lift, target, answer)
        movable = movable[np.isnan(answer.residual[movable])]
    if len(movable):
        roots = find_roots(panel, movable, target)
        standing += movable[roots.is_there[movable]].tolist()
        answer.refusals.update(dict.fromkeys(movable[np.isnan(roots.kurtosis[movable])].tolist(), UNRESOLVED))
    if standing:
        at_home = np.array(sorted(standing), dtype=np.intp)
        _settle(panel, at_home, _standing(panel), target, lift, answer, stays=True)
        for i in at_home[~np.isnan(answer.residual[at_home])].tolist():
            answer.refusals.pop(i, None)
    moving = movable[np.isnan(answer.residual[movable])]
    moving = moving[~np.isnan(roots.kurtosis[moving])] if len(moving) else moving
    if len(moving):
        _settle(panel, moving, roots, target, lift, answer)


def _standing(panel: Panel) -> Roots:
    """The root of rows that need not move."""
    n_rows = len(panel.low)
    lift = np.minimum(-range_exponent(panel), 1023).astype(np.intp)
    nothing, nowhere = np.zeros(n_rows), np.zeros(n_rows, dtype=np.bool_)
    return Roots(nothing, nothing, np.full(n_rows, STRAIGHT), lift, nowhere, nowhere)


# --- rows carried to their roots ---


def _settle(
    panel: Panel,
    which: IntArray,
    roots: Roots,
    target: FloatArray,
    lift: NDArray[np.intp],
    answer: Imposed,
    stays: bool = False,
) -> None:
    """Write values, slopes and residuals; with `stays` no residual where the skewness is not the target already."""
    step = max(1, TILE // panel.values.shape[1])
    for start in range(0, len(which), step):
        rows = which[start : start + step]
        here = run_of(rows)
        values, slope = answer.values[here], answer.slope[here]  # where rows are a run, the very entries of the answer
        bundle = Bundle.of(panel, rows, roots, target, lift, stays)
        place = bundle.at(roots.pole[rows], (values, slope))
        kept = np.ones(len(rows), dtype=np.bool_)
        if stays:
            kept = np.abs(place.distance) <= _ROUNDING * bundle.third_absolute_moment(place)
            place.time[:] = 0.0
        else:
            bundle.polish(place)
        distance = bundle.put_right(place)
        if not isinstance(here, slice):
            answer.values[here], answer.slope[here] = values, slope
        answer.residual[rows[kept]] = (np.abs(distance) / (1 + np.abs(target[rows])))[kept]
