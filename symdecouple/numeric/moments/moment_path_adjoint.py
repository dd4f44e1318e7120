r"""Covectors along narrow paths of the moments: from the end of a path to where it began.

A narrow path goes back by the discrete adjoint of the steps it was made of (`integrate.pull_back`). With D the distance
of the k-th moment, g = p_(k-1)(y), H = <g, g>, V = (D/(k H)) g the velocity of the path and l a covector, the product
of l with the Jacobian matrix of V is

.. math:: g' (l_1 - R) - g R', \qquad l_1 = \frac{D}{kH} \Bigl(l - 2 g \frac{\langle l, g\rangle}{H}\Bigr), \qquad
    R = \sum_{j<k-1} \frac{\langle l_1, p_j\rangle}{D_j} p_j

where R' and g' are sums of p_j again (`hankel.Basis.derivatives`). D itself depends on where the path begins:
dD = -k y0^(k-1)/N. What is normal to the moments held is dropped at every end: the levels below take it out anyway.

Influence functions go back too. The velocity knows the law of the sample by averages, and what one more value at z does
to it is, with a_j = <l, p_j>/D_j,

.. math:: \langle l, \partial_z V\rangle = -\frac{D}{kH} \Bigl(g(z) \sum_{j<k-1} a_j\,p_j(z)
    + a_{k-1} \bigl(g(z)^2 - H\bigr)\Bigr), \qquad \partial_z D = -(z_0^k - \mathrm{Mean}\,y_0^k)

NumPy alone: with the path itself, which is NumPy's where steps are kept, compiled loops would buy less than twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symdecouple.numeric.moments.hankel import Basis, Weights, orthogonal_basis, taken
from symdecouple.numeric.moments.moment_path import Course, Followed
from symdecouple.numeric.moments.ties import is_flat_at_two
from symdecouple.numeric.paths.integrate import pull_back
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["influence_before", "project", "project_influence", "pullback"]

_BLOCK = 8192  # products summed at a time, as in `hankel`
_DEPENDENT = 2.0**-92  # D_2/h_4 of two values: rounding, squared
_ROUNDING = float(np.finfo(np.float64).eps)


def pullback(followed: Followed, covectors: FloatArray) -> FloatArray:
    """Covectors at the end of `moment_path.follow`, with ``store=True``, become covectors at its start.

    They are d(anything)/d(values), (R, N) or (c, R, N); of weighted samples, over the weights. The answer has their
    shape: d(anything)/d(rows) along the moments held; NaN in refused rows.
    """
    course = followed.course
    given = np.asarray(covectors, dtype=np.float64)
    stacked = given if given.ndim == 3 else given[None]
    with np.errstate(all="ignore"):
        backward = _Backward(course, np.zeros(stacked.shape[:2]))
        pulled = project(followed.values, stacked, course.k, course.weights)
        pulled = pull_back(followed.path.tape, backward.slope, backward.pull, pulled)
        pulled -= (course.k * backward.by_distance)[:, :, None] * course.start ** (course.k - 1)
    pulled[:, list(followed.refusals)] = np.nan
    return pulled if given.ndim == 3 else pulled[0]


def influence_before(followed: Followed, slopes: FloatArray, psi: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Influence functions at the end of `moment_path.follow`, with ``store=True``, become those at its start.

    Given, and returned, are their derivatives and their values at the entries, (c, R, N), of standardized samples; up
    to constants, and modulo those of the moments held. NaN in refused rows.
    """
    course = followed.course
    with np.errstate(all="ignore"):
        free, before = project_influence(followed.values, slopes, psi, course.k, course.weights)
        backward = _Backward(course, np.zeros(slopes.shape[:2]), before)
        pulled = pull_back(followed.path.tape, backward.slope, backward.pull, free)
        received = backward.by_distance[:, :, None] * course.start ** (course.k - 1)
        pulled -= course.k * received
        before -= received * course.start
    for found in (pulled, before):
        found[:, list(followed.refusals)] = np.nan
    return pulled, before


def project_influence(
    z: FloatArray, slopes: FloatArray, psi: FloatArray, k: int, weights: Weights = None
) -> tuple[FloatArray, FloatArray]:
    """Influence functions (c, R, N) less those of moments 1..k: derivatives as `project` takes them, and values.

    The part of a derivative in span {1, z, .., z^(k-1)} has an integral in span {p_1, .., p_k}, p_j' = sum_i E_ji p_i.
    """
    basis, _ = orthogonal_basis(z, k + 1, weights)
    p, of_derivatives = basis.polynomials(z), basis.derivatives()
    shares = _means_of_products(slopes, lambda part: p[:-1, :, part], weights)
    shares /= basis.norm[:-1].T[:, None]
    integral = np.zeros((*shares.shape[:2], k + 1))
    for i in reversed(range(k)):
        higher = np.einsum("rcj,jr->rc", integral[:, :, i + 2 :], of_derivatives[i + 2 :, i])
        integral[:, :, i + 1] = (shares[:, :, i] - higher) / (i + 1)
    by_row = p.swapaxes(0, 1)
    free: FloatArray = slopes - (shares @ by_row[:, :-1]).swapaxes(0, 1)
    left: FloatArray = psi - (integral @ by_row).swapaxes(0, 1)
    return free, left


def project(
    z: FloatArray, covectors: FloatArray, k: int, weights: Weights = None, out: FloatArray | None = None
) -> FloatArray:
    """Covectors (c, R, N) less their part in span {1, z, .., z^(k-1)}, the gradients of moments 1..k.

    They may be `out` themselves; nothing else as long as a row is made. Two values are a saddle of the skewness: of
    covectors that are one number at each nothing is left for k = 3, and others have no gradient: NaN.
    """
    basis, means = orthogonal_basis(z, k, weights)
    out = np.empty_like(covectors) if out is None else out
    shares = _means_of_products(covectors, lambda part: basis.polynomials(z[:, part]), weights)
    two = np.flatnonzero(basis.norm[-1] <= _DEPENDENT * means[-1]) if k == 3 else np.empty(0, dtype=np.intp)
    flat = {(j, i): is_flat_at_two(z[i], one[i], _ROUNDING) for i in two.tolist() for j, one in enumerate(covectors)}
    basis.norm[-1, two] = np.inf
    shares /= basis.norm.T[:, None]
    for part in _parts(z.shape[1]):
        along = shares @ basis.polynomials(z[:, part]).swapaxes(0, 1)
        np.subtract(covectors[:, :, part], along.swapaxes(0, 1), out=out[:, :, part])
    for (j, i), is_flat in flat.items():
        out[j, i] = 0.0 if is_flat else np.nan
    return out


@dataclass(slots=True)
class _Backward:
    """The velocity of a path and its transposed Jacobian; what the distance receives, over N, is summed up."""

    course: Course
    by_distance: FloatArray
    psi: FloatArray | None = None  # which receives what the velocity owes to the weights
    met: list[Basis] = field(default_factory=list)  # at the stages of a step, which go back from the last one on

    def slope(self, y: FloatArray, s: FloatArray, which: IntArray) -> FloatArray:
        """As `Course.slope`; what the polynomials are is kept for `pull`."""
        k = self.course.k
        basis, _ = orthogonal_basis(y, k, taken(self.course.weights, which))
        self.met.append(basis)
        moved: FloatArray = (self.course.distance[which] / (k * basis.norm[-1]))[:, None] * basis.polynomials(y)[-1]
        return moved

    def pull(self, y: FloatArray, s: FloatArray, which: IntArray, covectors: FloatArray) -> FloatArray:
        """The product with covectors (c, r, n)."""
        k, weights, basis = self.course.k, taken(self.course.weights, which), self.met.pop()
        p = basis.polynomials(y)
        rate = self.course.distance[which] / (k * basis.norm[-1])
        shares = _means_of_products(covectors, lambda part: p[:, :, part], weights)
        shares /= basis.norm.T[:, None]  # <l, p_j>/D_j, (r, c, k)
        self.by_distance[:, which] += shares[:, :, -1].T / k
        shares *= rate[:, None, None]
        if self.psi is not None:
            lower = (shares[:, :, :-1] @ p[:-1].swapaxes(0, 1)).swapaxes(0, 1)
            own = shares[:, :, -1].T[:, :, None]
            self.psi[:, which] -= p[-1] * lower + own * (p[-1] ** 2 - basis.norm[-1][:, None])
        slopes = np.ascontiguousarray(np.moveaxis(basis.derivatives(), 2, 0))  # (r, k, k)
        rest_slopes = shares[:, :, :-1] @ slopes[:, :-1]
        shares[:, :, -1] *= 2
        by_degree = np.concatenate([shares, rest_slopes, slopes[:, -1:]], axis=1)
        sums = by_degree @ p.swapaxes(0, 1)  # at the entries: D/(kH) l - l_1 + R, R', g'
        moved, along = sums[:, : len(covectors)], sums[:, len(covectors) : -1]
        along *= p[-1][:, None]
        out: FloatArray = covectors * rate[:, None]
        out -= moved.swapaxes(0, 1)
        out *= sums[:, -1]
        out -= along.swapaxes(0, 1)
        return out


def _means_of_products(covectors: FloatArray, p: Callable[[slice], FloatArray], weights: Weights) -> FloatArray:
    """<l, p_j>, (r, c, k), each row by itself, in blocks."""
    share: Any = 1 / covectors.shape[2]
    total: Any = 0.0
    for part in _parts(covectors.shape[2]):
        heavy = covectors[:, :, part] * (share if weights is None else weights[:, part])
        total = total + heavy.swapaxes(0, 1) @ np.moveaxis(p(part), 0, 2)
    return np.asarray(total)


def _parts(n_samples: int) -> list[slice]:
    return [slice(i, i + _BLOCK) for i in range(0, n_samples, _BLOCK)]
