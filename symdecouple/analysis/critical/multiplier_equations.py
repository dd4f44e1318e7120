r"""The equations of critical points in coordinates, with multipliers for the features that are held.

.. math:: G(x, \lambda) = \Bigl(\nabla f_k - \sum_{j<k} \lambda_j \nabla f_j,\; f_1 - r_1,\; \dots\Bigr) = 0

Gradients are exact. Second derivatives are complex steps of them, grad f(x + i h e_n) / h without the real part, which
has no cancellation and is exact to rounding for analytic features.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sympy import Dummy, Expr, lambdify

from symdecouple.calculus.gradient import gradient
from symdecouple.language.feature_set import FeatureSet

__all__ = ["MultiplierEquations"]

_TINY_STEP = 1e-100
FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class MultiplierEquations:
    """The last feature of a set, those before at their references, in N coordinates."""

    features: FeatureSet
    references: tuple[Expr, ...]
    n_samples: int

    @cached_property
    def wanted(self) -> FloatArray:
        """The references in floats."""
        return np.array([float(r) for r in self.references])

    @cached_property
    def compiled(self) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """Values and gradients of all features at one sample, real or complex."""
        explicit = self.features if self.features.coordinates else self.features.at(n_samples=self.n_samples)
        symbols = [Dummy() for _ in explicit.coordinates]
        rule = dict(zip(explicit.coordinates, symbols, strict=True))
        values = [f.expr.xreplace(rule) for f in explicit]
        slopes = [[e.xreplace(rule) for e in gradient(f).components] for f in explicit]
        return lambdify(symbols, values, "numpy", cse=True), lambdify(symbols, slopes, "numpy", cse=True)

    @cached_property
    def steepness(self) -> float:
        """The size of gradients at a sample of size one, which a gradient that should be zero is measured by."""
        found = np.abs(self.gradients(1 + 0.5 * np.sin(np.arange(1, self.n_samples + 1))))
        return float(found.max()) if np.isfinite(found).all() and found.any() else 1.0

    def values(self, x: FloatArray) -> FloatArray:
        """Return the features at a sample."""
        return np.array(self.compiled[0](*x), dtype=float)

    def gradients(self, x: NDArray[Any]) -> NDArray[Any]:
        """Return the gradients at a sample, (K, N), or at the columns of a matrix, (K, N, R)."""
        out = np.empty((len(self.features), *x.shape), dtype=x.dtype)
        for k, row in enumerate(self.compiled[1](*x)):
            for n, component in enumerate(row):
                out[k, n] = component
        return out

    def equations(self, z: FloatArray) -> FloatArray:
        """Return G at a sample with its multipliers, (N + k - 1,)."""
        x, multipliers = z[:self.n_samples], z[self.n_samples:]
        slopes = self.gradients(x)
        return np.concatenate([slopes[-1] - multipliers @ slopes[:-1], self.values(x)[:-1] - self.wanted])

    def jacobian(self, z: FloatArray) -> FloatArray:
        """Return the derivative of G."""
        x, multipliers = z[:self.n_samples], z[self.n_samples:]
        slopes, size = self.gradients(x)[:-1], len(z)
        out = np.zeros((size, size))
        out[:self.n_samples, :self.n_samples] = self.hessian(x, multipliers)
        out[:self.n_samples, self.n_samples:] = -slopes.T
        out[self.n_samples:, :self.n_samples] = slopes
        return out

    def hessian(self, x: FloatArray, multipliers: FloatArray) -> FloatArray:
        """Return the second derivative of f_k - sum lambda_j f_j."""
        weights = np.append(-multipliers, 1.0)
        turned = self.gradients(x[:, None] + 1j * _TINY_STEP * np.eye(self.n_samples)).imag / _TINY_STEP
        hessian = np.tensordot(weights, turned, axes=1)
        return np.asarray((hessian + hessian.T) / 2)

    def multipliers(self, slopes: FloatArray) -> FloatArray:
        """Return those that fit the gradients best."""
        if not np.isfinite(slopes).all():
            return np.zeros(len(slopes) - 1)
        return np.asarray(np.linalg.lstsq(slopes[:-1].T, slopes[-1], rcond=None)[0])

    def residual(self, x: FloatArray) -> float:
        """Return how far a sample is from critical, relative to gradients and references."""
        slopes = self.gradients(x)
        if not np.isfinite(slopes).all():
            return np.inf
        rest = slopes[-1] - self.multipliers(slopes) @ slopes[:-1]
        off = np.abs(self.values(x)[:-1] - self.wanted).max(initial=0.0)
        size = max(1.0, float(np.abs(self.wanted).max(initial=0.0)))
        return float(max(np.abs(rest).max() / max(np.abs(slopes).max(), self.steepness), off / size))
