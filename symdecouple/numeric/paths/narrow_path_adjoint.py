r"""Gradients of the normalization along the narrow path, exact for the steps that were computed: the discrete adjoint.

A covector at the end of a path is carried back through the corrections, through the stages of every step, and into the
values that the path started from: the distance v - f_k(y_0) and the values f_1, ..., f_{k-1} that were kept depend on
y_0 too. Targets and step sizes count as constants. With lambda the covector, split along and across the span of the
gradients, lambda_par = sum b_j v_j, and w = sum a_j v_j the slope or the correction, one formula serves both:

.. math:: \bar y = \sum_j D_{w_j} v_j, \qquad w_j = a_j \lambda_\perp - b_j w

`check_gradient` judges any gradient against differences of its function, by the order of their convergence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from symdecouple.errors import InvalidInput
from symdecouple.numeric.features.differences import least_moved
from symdecouple.numeric.features.features import Features
from symdecouple.numeric.paths.integrate import pull_back
from symdecouple.numeric.paths.narrow_path import Frame, Imposed, Part
from symdecouple.numeric.samples.batch import FloatArray, IntArray
from symdecouple.numeric.samples.matrix import row_scales
from symdecouple.shown import Shown

__all__ = ["GradientCheck", "check_gradient", "pullback"]

_HALVINGS = 17  # of the steps of differences
_ROUGH = 1e-3  # a resolution above it tells nothing


def pullback(imposed: Imposed, covectors: Any) -> FloatArray:
    """Return covectors at the normalized samples as covectors at the samples before this level.

    Parameters
    ----------
    imposed : Imposed
        Of `NarrowPath.follow` with ``store=True``.
    covectors : array_like (R, N) or (c, R, N)
        Gradients by the normalized samples.

    Returns
    -------
    array of the same shape
        Gradients by the samples; NaN in refused rows, and where feature k is at its target at a critical point.

    Examples
    --------
    Any function of x - Mean(x) has a gradient of sum zero:

    >>> from symdecouple.language.mean import Mean
    >>> from symdecouple.language.sample import x
    >>> from symdecouple.numeric.paths.narrow_path import NarrowPath
    >>> moved = NarrowPath([Mean(x)]).follow(np.array([[1.0, 2.0, 6.0]]), 1, 0.0, store=True)
    >>> pullback(moved, [[1.0, 2.0, 3.0]]).round(14).tolist()
    [[-1.0, 0.0, 1.0]]
    """
    given = np.array(covectors, dtype=np.float64)
    if given.shape[-2:] != imposed.values.shape or given.ndim not in (2, 3):
        raise InvalidInput(f"covectors of shape {given.shape} were given for sample vectors of shape "
                           f"{imposed.values.shape}; (R, N) or (c, R, N) is expected")
    if not imposed.parts and given.size:
        raise InvalidInput("the path was not kept: follow(..., store=True)")
    if imposed.parts and not hasattr(imposed.parts[0].level.features, "curvature"):
        raise InvalidInput("gradients of a normalization need second derivatives: give the features a method curvature")
    out = given.reshape(-1, *imposed.values.shape)
    with np.errstate(all="ignore"):
        for part in reversed(imposed.parts):
            out[:, part.rows] = _Backwards(part, len(out)).through(out[:, part.rows])
    out[:, np.fromiter(imposed.refusals, dtype=np.intp)] = np.nan
    return out.reshape(given.shape)


class _Backwards:
    """One part of a batch on its way back; `at_begin` collects the covectors of f_1, ..., f_k at the start."""

    def __init__(self, part: Part, n_covectors: int) -> None:
        self.part, self.level = part, part.level
        self.at_begin = np.zeros((n_covectors, len(part.rows), part.level.k))

    def through(self, covectors: FloatArray) -> FloatArray:
        level, n = self.level, covectors.shape[-1]
        out = covectors.copy()
        for which, values in reversed(self.part.corrections):
            out[:, which] = self.through_correction(values, np.ones(len(which)), which, out[:, which])
        out = pull_back(self.part.tape, level.slope, self.through_slope, out, self.through_correction)
        gradients = level.features.gradients(level.start, level.k)
        out += (self.at_begin[..., None] * gradients).sum(axis=2) / n
        return out

    def through_slope(self, y: FloatArray, s: FloatArray, which: IntArray, covectors: FloatArray) -> FloatArray:
        """Pull back through dy/ds and collect what belongs to the distance v - f_k(y_0)."""
        level = self.level
        frame = Frame.of(level.features.gradients(y, level.k))
        z = np.zeros((len(y), level.k))
        z[:, -1] = level.rate(frame.triangle[:, -1, -1], which)
        b, pulled, _ = through_span(level.features, y, frame, z, covectors)
        self.at_begin[:, which, -1] -= y.shape[1] * b[..., -1]
        return pulled

    def through_correction(self, y: FloatArray, s: FloatArray, which: IntArray, covectors: FloatArray) -> FloatArray:
        """Pull back through a Gauss-Newton step and collect what belongs to the values at the start."""
        level = self.level
        frame = Frame.of(level.features.gradients(y, level.k))
        z = frame.solve(level.wanted(s, which) - level.features.values(y)[:, : level.k])
        b, pulled, across = through_span(level.features, y, frame, z, covectors)
        at_values = y.shape[1] * b
        at_values[..., -1] *= np.where(frame.sound[:, -1], 1 - s, np.nan)
        if level.held is not None:
            at_values[..., :-1] = 0
        self.at_begin[:, which] += at_values
        return across + pulled


def through_span(
    features: Features, y: FloatArray, frame: Frame, z: FloatArray, covectors: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return b, the sum of D_{w_j} v_j, and the part of the covectors across the span, for w = sum of z_i q_i."""
    b, across = frame.split(covectors)
    a = frame.coefficients(z)
    moved = frame.combined(z)
    weights = a[..., None] * across[:, :, None] - b[..., None] * moved[:, None]
    return b, features.curvature(y, weights), across


@dataclass(frozen=True, slots=True, repr=False)
class GradientCheck(Shown):
    """What differences say of a gradient.

    Attributes
    ----------
    agrees : bool or None
        None where differences are too rough to tell.
    order : float
        At which power of the step the central differences approach the gradient; NaN where they are there at once. It
        is 2 for a gradient of a smooth function, and falls to 0 for a wrong one.
    error : float
        Largest distance from the extrapolated differences, relative to the size of the gradient.
    resolution : float
        How accurately they are known, in the same units.
    verdict : str
    """

    agrees: bool | None
    order: float
    error: float
    resolution: float
    verdict: str

    def __str__(self) -> str:
        return self.verdict


def check_gradient(
    function: Callable[[FloatArray], Any],
    x: Any,
    gradient: Any,
    *,
    n_directions: int = 3,
    first_step: float = 0.125,
    seed: int = 0,
) -> GradientCheck:
    """Compare a gradient with central differences along random directions, by the order of their convergence.

    Parameters
    ----------
    function : callable
        From a sample vector (N,) to a number.
    x, gradient : array_like (N,)
    n_directions : int
    first_step : float
        Largest step, in standard deviations of x; then halved 16 times. It may leave the domain of the function.
    seed : int
        Of the directions.

    Returns
    -------
    GradientCheck

    Examples
    --------
    >>> x = np.array([1.0, 2.0, 4.0])
    >>> print(check_gradient(lambda y: float(np.mean(y**4)), x, 4 * x**3 / 3))
    agrees: differences converge with order 2.0, ...
    >>> check_gradient(lambda y: float(np.mean(y**4)), x, 4.0001 * x**3 / 3).agrees
    False
    """
    point, given = np.asarray(x, dtype=np.float64), np.asarray(gradient, dtype=np.float64)
    if point.ndim != 1 or given.shape != point.shape or not len(point):
        raise InvalidInput(f"expected a sample vector and its gradient, got shapes {point.shape} and {given.shape}")
    rng = np.random.default_rng(seed)
    size = float(np.linalg.norm(given)) or 1.0
    unit = float(row_scales(point[None])[0])
    steps = np.ldexp(first_step * unit, -np.arange(_HALVINGS))
    results = []
    for _ in range(n_directions):
        u = rng.normal(size=len(point))
        u /= np.linalg.norm(u)
        with np.errstate(all="ignore"):
            sides = np.array([[float(function(point + h * u)), float(function(point - h * u))] for h in steps])
        results.append(_judged(sides, steps, float(given @ u)))
    error, resolution = (max(found) / size for found in list(zip(*results, strict=True))[:2])
    order = min((order for *_, order in results if np.isfinite(order)), default=float("nan"))
    way = "differences are there at once" if np.isnan(order) else f"differences converge with order {order:.1f}"
    found = f"off by {error:.1e}, resolved to {resolution:.1e}"
    if not resolution <= _ROUGH:
        return GradientCheck(None, order, error, resolution, f"undecided: differences are too rough ({found})")
    if error <= 10 * resolution:
        return GradientCheck(True, order, error, resolution, f"agrees: {way}, {found}")
    return GradientCheck(False, order, error, resolution, f"differs: {way}, {found}")


def _judged(sides: FloatArray, steps: FloatArray, slope: float) -> tuple[float, float, float]:
    """Return how far the extrapolated derivative is from a slope, its accuracy, and the order of the approach."""
    plain = (sides[:, 0] - sides[:, 1]) / (2 * steps)
    floor = np.finfo(np.float64).eps * np.abs(sides).max(axis=1) / steps
    best, resolved = map(float, least_moved(plain, floor))
    away = np.abs(plain - slope)
    seen = np.isfinite(away[:-1]) & (away[1:] > 30 * np.maximum(resolved, floor[1:]))
    ratios = np.log2(away[:-1][seen] / away[1:][seen])
    return abs(best - slope), resolved, float(np.median(ratios[-3:])) if len(ratios) else float("nan")
