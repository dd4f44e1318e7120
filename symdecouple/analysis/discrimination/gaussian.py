r"""Classes as Gaussian clouds in the space of features: how often they are confused, and their ellipses.

With means m_c, covariances C_c and equal chances, Bayes' rule takes the class of the largest density p_c and errs with

.. math:: P_e = 1 - \frac1K \int \max_c p_c(f)\,df, \qquad d_{ab}^2 = (m_a - m_b)^T \bar C^{-1} (m_a - m_b)

Only the relative place and shape of the clouds matter: no affine map of the features changes P_e. The ellipse of radius
r is where the Mahalanobis distance from m_c is r.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput
from symdecouple.shown import Shown

__all__ = ["GaussianClasses"]

FloatArray: TypeAlias = NDArray[np.float64]

_POINTS = 2**17  # of a low-discrepancy sequence, mirrored: an error probability of 0.1 is known to some 1e-4
_FLAT = 1e-10  # of the eigenvalues of a correlation matrix: below, features are functions of each other


@dataclass(frozen=True, slots=True, repr=False)
class GaussianClasses(Shown):
    """Gaussian classes with equal chances.

    Attributes
    ----------
    title : str
    features : tuple of str
    labels : tuple of str
    means : array (K, M)
    covariances : array (K, M, M)
    """

    title: str
    features: tuple[str, ...]
    labels: tuple[str, ...]
    means: FloatArray
    covariances: FloatArray

    def __post_init__(self) -> None:
        for label, mean, covariance in zip(self.labels, self.means, self.covariances, strict=True):
            if not (np.isfinite(mean).all() and np.isfinite(covariance).all()):
                raise InvalidInput(f"{self.title} of class {label} have no finite mean and covariance; leave out "
                                   "features that some samples do not have, features=[...]")
            size = np.sqrt(np.diag(covariance))
            if not (size > 0).all():
                raise InvalidInput(f"{self.features[int(np.argmin(size))]} does not vary in class {label}; leave it "
                                   "out, features=[...]")
            values, vectors = np.linalg.eigh(covariance / np.outer(size, size))
            if values[0] < _FLAT:
                pair = sorted(np.argsort(-np.abs(vectors[:, 0]))[:2].tolist())
                names = " and ".join(self.features[k] for k in pair)
                raise InvalidInput(f"the covariance of {self.title} of class {label} is singular (smallest eigenvalue "
                                   f"of the correlations {values[0]:.1e}): {names} are functions of each "
                                   "other there, or vectors are fewer than features; leave one out, features=[...]")

    @property
    def deviations(self) -> FloatArray:
        """Standard deviations of the features, (K, M)."""
        return np.sqrt(np.diagonal(self.covariances, axis1=1, axis2=2))

    @property
    def correlations(self) -> FloatArray:
        """Correlations of the features, (K, M, M)."""
        size = self.deviations
        found: FloatArray = self.covariances / (size[:, :, None] * size[:, None, :])
        return found

    @property
    def error(self) -> float:
        """The probability that Bayes' rule takes the wrong class, to some 1e-4."""
        return self.error_of(range(len(self.labels)))

    def error_of(self, classes: Any) -> float:
        """Return the probability of error among some classes, by their numbers from 0."""
        chosen = list(classes)
        if len(chosen) < 2:
            return 0.0
        normal = _normal_points(self.means.shape[1])
        roots = [np.linalg.cholesky(self.covariances[c]) for c in chosen]
        wrong = 0.0
        for c, root in zip(chosen, roots, strict=True):
            points = self.means[c] + normal @ root.T
            levels = np.array([_log_density(points - self.means[d], other)
                               for d, other in zip(chosen, roots, strict=True)])
            wrong += float((levels.argmax(axis=0) != chosen.index(c)).mean())
        return wrong / len(chosen)

    def distance(self, a: int, b: int) -> float:
        """Return the Mahalanobis distance of two means in the average of both covariances."""
        difference = self.means[a] - self.means[b]
        pooled = (self.covariances[a] + self.covariances[b]) / 2
        return float(np.sqrt(difference @ np.linalg.solve(pooled, difference)))

    def ellipse(self, label: int, radius: float = 2.0, pair: tuple[int, int] = (0, 1), points: int = 181) -> FloatArray:
        """Return points at this Mahalanobis distance from a mean, (points, 2), in the plane of two features."""
        if not radius > 0:
            raise InvalidInput(f"a Mahalanobis radius is positive, got {radius!r}")
        chosen = list(pair)
        root = np.linalg.cholesky(self.covariances[label][np.ix_(chosen, chosen)])
        angle = np.linspace(0, 2 * np.pi, points)
        circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        return np.asarray(self.means[label][chosen] + radius * circle @ root.T)

    def __str__(self) -> str:
        lines = [f"{self.title}: error {100 * self.error:.2f} %"]
        rows = zip(self.labels, self.means, self.deviations, self.correlations, strict=True)
        for label, mean, size, correlation in rows:
            each = zip(self.features, mean, size, strict=True)
            shown = ", ".join(f"{name} {m:.4g} +- {s:.2g}" for name, m, s in each)
            below = correlation[np.tril_indices(len(size), -1)]
            lines.append(f"  {label}: {shown}; correlations {', '.join(f'{c:.3f}' for c in below)}")
        return "\n".join(lines)


def _normal_points(dimension: int) -> FloatArray:
    """Standard normal numbers from a Sobol sequence, each with its mirror image."""
    from scipy.special import ndtri
    from scipy.stats import qmc

    uniform = qmc.Sobol(dimension, scramble=True, rng=1).random(_POINTS) if _takes_rng() else qmc.Sobol(
        dimension, scramble=True, seed=1).random(_POINTS)
    half = ndtri(uniform)
    return np.concatenate([half, -half])


def _takes_rng() -> bool:
    from inspect import signature

    from scipy.stats import qmc

    return "rng" in signature(qmc.Sobol.__init__).parameters


def _log_density(offsets: FloatArray, root: FloatArray) -> FloatArray:
    from scipy.linalg import solve_triangular

    white = solve_triangular(root, offsets.T, lower=True)
    found: FloatArray = -(white**2).sum(axis=0) / 2 - np.log(np.diag(root)).sum()
    return found
