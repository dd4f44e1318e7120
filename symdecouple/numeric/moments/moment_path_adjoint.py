r"""Covectors along narrow paths of the moments: from the end of a path to where it began.

A narrow path goes back by the discrete adjoint of the steps it was made of (`integrate.pull_back`). With D the distance
of the k-th moment, g = p_(k-1)(y), H = <g, g>, V = (D/(k H)) g the velocity of the path and l a covector, the product
of l with the Jacobian matrix of V is

.. math:: V'(y)\, l - \frac{d}{dy}(V S), \qquad S = \sum_{j<k} a_j\,p_j, \qquad a_j = \frac{\langle l, p_j\rangle}{D_j}

so an entry receives a polynomial of itself, whose coefficients are linear in <l, y^j>. The forward pass notes the basis
of every stage: nothing but these averages is summed up on the way back.

Moment k is at its target at the end, whatever it was before: covectors start without a part along g, <l, V> = 0. That
holds all along the path, so j = k - 1 is left out of S, and it does not matter that D depends on where the path begins:
this moves the end along V. What is normal to the moments held is dropped too: the levels below take it out anyway.

Influence functions go back too, up to constants. The velocity knows the law of the sample by averages, and what one
more value at z does to it is

.. math:: \langle l, \partial_z V\rangle = -V(z)\,S(z) + \mathrm{const}

NumPy alone: with the path itself, which is NumPy's where steps are kept, compiled loops would buy less than twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from symdecouple.numeric.moments.hankel import Basis, Weights, mean_of_product, orthogonal_basis, parts, taken
from symdecouple.numeric.moments.moment_path import Course, Followed
from symdecouple.numeric.moments.power_sums import blocks
from symdecouple.numeric.moments.ties import is_flat_at_two
from symdecouple.numeric.paths.integrate import Step, pull_back
from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["project", "project_influence", "pullback"]

_DEPENDENT = 2.0**-92  # D_2/h_4 of two values: rounding, squared
_ROUNDING = float(np.finfo(np.float64).eps)


def pullback(followed: Followed, covectors: FloatArray, psi: FloatArray | None = None) -> FloatArray:
    """Covectors at the end of `moment_path.follow`, with ``store=True``, become covectors at its start.

    They are d(anything)/d(values), (R, N) or (c, R, N); of weighted samples, over the weights. The answer has their
    shape: d(anything)/d(rows) along the moments held; NaN in refused rows.

    Covectors may be the derivatives of influence functions whose values at the entries of standardized samples are
    `psi`, (c, R, N): these go back in place, up to constants, and modulo those of the moments held.
    """
    course, lost = followed.course, list(followed.refusals)
    given = np.asarray(covectors, dtype=np.float64)
    stacked = given if given.ndim == 3 else given[None]
    with np.errstate(all="ignore"):
        if psi is None:
            pulled = project(followed.values, stacked, course.k, course.weights)
        else:
            pulled, psi[:] = project_influence(followed.values, stacked, psi, course.k, course.weights)
            psi[:, lost] = np.nan
        _through(course, followed.path.tape, pulled, psi)
    pulled[:, lost] = np.nan
    return pulled if given.ndim == 3 else pulled[0]


def project_influence(
    z: FloatArray, slopes: FloatArray, psi: FloatArray, k: int, weights: Weights = None
) -> tuple[FloatArray, FloatArray]:
    """Influence functions (c, R, N) less those of moments 1..k: derivatives as `project` takes them, and values.

    The part of a derivative in span {1, z, .., z^(k-1)} has an integral in span {p_1, .., p_k}, p_j' = sum_i E_ji p_i.
    """
    basis, _ = orthogonal_basis(z, k + 1, weights)
    p, of_derivatives = np.array([*basis.polynomials(z)]), basis.derivatives()
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
    shares = _means_of_products(covectors, lambda part: np.array([*basis.polynomials(z[:, part])]), weights)
    two = np.flatnonzero(basis.norm[-1] <= _DEPENDENT * means[-1]) if k == 3 else np.empty(0, dtype=np.intp)
    flat = {(j, i): is_flat_at_two(z[i], one[i], _ROUNDING) for i in two.tolist() for j, one in enumerate(covectors)}
    basis.norm[-1, two] = np.inf
    shares /= basis.norm.T[:, None]
    for part in parts(z.shape[1]):
        along = shares @ np.array([*basis.polynomials(z[:, part])]).swapaxes(0, 1)
        np.subtract(covectors[:, :, part], along.swapaxes(0, 1), out=out[:, :, part])
    for (j, i), is_flat in flat.items():
        out[j, i] = 0.0 if is_flat else np.nan
    return out


def _through(course: Course, tape: Sequence[Step], covectors: FloatArray, psi: FloatArray | None = None) -> None:
    """Take covectors, and influence functions, back in place."""
    for step in reversed(tape):
        maps = _maps(course, step)
        for part in blocks(len(step.which), covectors.shape[2]):
            which = step.which[part]
            velocity, products = (each[:, part] for each in maps)
            back = _Backward(course.k, taken(course.weights, which), velocity, products,
                             None if psi is None else psi[:, which])
            here = replace(step.of(part), which=np.arange(len(which)))
            covectors[:, which] = pull_back((here,), back.slope, back.pull, covectors[:, which])
            if psi is not None:
                psi[:, which] = back.psi


def _maps(course: Course, step: Step) -> tuple[FloatArray, FloatArray]:
    """At each stage, coefficients of V, and what those of -V S are made of by <l, y^j>."""
    k, (n_rows, count, _) = course.k, step.notes.shape
    basis = Basis(step.notes.swapaxes(0, 1).reshape(count * n_rows, -1).T)
    coefficients = np.moveaxis(basis.coefficients(), 2, 0).reshape(count, n_rows, k, k)
    norm = basis.norm.T.reshape(count, n_rows, k, 1)
    velocity = np.zeros((count, n_rows, 2 * k - 2))
    velocity[..., :k] = (course.distance[step.which] / k)[:, None] / norm[:, :, -1] * coefficients[:, :, -1]
    lower = coefficients[:, :, :-1, :-1]
    inverse = (lower / norm[:, :, :-1]).swapaxes(2, 3) @ lower  # of the matrix of <y^i, y^j>
    lag = np.arange(2 * k - 2) - np.arange(k - 1)[:, None]
    return velocity, inverse @ -velocity[..., np.where(lag < 0, 2 * k - 3, lag)]


@dataclass(slots=True)
class _Backward:
    """The velocity at the stages of a step, in the order of a step, and its transposed Jacobian, backwards."""

    k: int
    weights: Weights
    velocity: FloatArray
    products: FloatArray
    psi: FloatArray | None  # which receives what the velocity owes to the weights
    stage: int = 0

    def slope(self, y: FloatArray, s: FloatArray, which: IntArray) -> FloatArray:
        """As `Course.slope`."""
        moved: FloatArray = (self.velocity[self.stage, :, None, : self.k] @ _powers(y, self.k))[:, 0]
        self.stage += 1
        return moved

    def pull(self, y: FloatArray, s: FloatArray, which: IntArray, covectors: FloatArray) -> FloatArray:
        """The product with covectors (c, r, n)."""
        self.stage -= 1
        k, i, given = self.k, self.stage, covectors.swapaxes(0, 1)
        powers = _powers(y, 2 * k - 2 if self.psi is not None else 2 * k - 3)
        heavy = given if self.weights is None else given * (y.shape[1] * self.weights)[:, None]
        means = mean_of_product(heavy[:, :, None], powers[:, None, : k - 1])  # <l, y^j>, (r, c, k - 1)
        lost = means @ self.products[i]
        if self.psi is not None:
            self.psi += (lost @ powers).swapaxes(0, 1)
        slopes = np.concatenate([lost, self.velocity[i, :, None]], axis=1)[:, :, 1:] * np.arange(1, 2 * k - 2)
        sums = slopes @ powers[:, : 2 * k - 3]
        out: FloatArray = given * sums[:, -1:]
        out += sums[:, :-1]
        return out.swapaxes(0, 1)


def _powers(y: FloatArray, count: int) -> FloatArray:
    """1, y, .., y^(count - 1), (r, count, n)."""
    powers = np.empty((count, *y.shape))
    powers[0], powers[1] = 1, y
    for j in range(2, count):
        np.multiply(powers[j // 2], powers[j - j // 2], out=powers[j])
    return powers.swapaxes(0, 1)


def _means_of_products(covectors: FloatArray, p: Callable[[slice], FloatArray], weights: Weights) -> FloatArray:
    """<l, p_j>, (r, c, k), each row by itself, in blocks."""
    share: Any = 1 / covectors.shape[2]
    total: Any = 0.0
    for part in parts(covectors.shape[2]):
        heavy = covectors[:, :, part] * (share if weights is None else weights[:, part])
        total = total + heavy.swapaxes(0, 1) @ np.moveaxis(p(part), 0, 2)
    return np.asarray(total)
