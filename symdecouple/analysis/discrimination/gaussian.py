r"""Classes as Gaussian clouds in the space of features: how often they are confused, and their ellipses.

With means m_c, covariances C_c and chances q_c, Bayes' rule takes the class of the largest q_c p_c and errs with

.. math:: P_e = 1 - \int \max_c q_c\,p_c(f)\,df, \qquad d_{ab}^2 = (m_a - m_b)^T \bar C^{-1} (m_a - m_b)

Only the relative place and shape of the clouds matter: no affine map of the features changes P_e. Along each ray from
m_c two classes are as likely at the roots of a quadratic, so that the radius, of the chi distribution, is integrated in
closed form. One feature needs no more, two a mean over the angle, three or more a mean over points of a sphere. The
ellipse of radius r is where the Mahalanobis distance from m_c is r: it holds 1 - exp(-r^2/2) of a cloud in the plane.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput
from symdecouple.shown import Shown

__all__ = ["GaussianClasses"]

FloatArray: TypeAlias = NDArray[np.float64]

_ANGLES = 2**12  # of two features: the mean over the angle is known to about 1e-6
_POINTS = 2**15  # on the sphere of three features or more, mirrored: to about 1e-4
_BLOCK = 2**20  # comparisons at a time
_FLAT = 1e-10  # of the eigenvalues of a correlation matrix: below, features are functions of each other
_SAME = 1e-12  # classes as near as this are one: rounding would decide between them


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GaussianClasses(Shown):
    """Gaussian classes, with equal chances unless others are given.

    Attributes
    ----------
    title : str
    features : tuple of str
    labels : tuple of str
    means : array (K, M)
    covariances : array (K, M, M)
    chances : array (K,), optional
        Of each class; they are divided by their sum.

    Raises
    ------
    InvalidInput
        If shapes do not fit, or a covariance is singular.

    Examples
    --------
    Two values of variance 1 at the distance 2: the error is Phi(-1).

    >>> two = GaussianClasses("one feature", ("f",), ("a", "b"), np.array([[0.0], [2.0]]), np.ones((2, 1, 1)))
    >>> round(two.error, 6), round(two.distance(0, 1), 6)
    (0.158655, 2.0)
    """

    title: str
    features: tuple[str, ...]
    labels: tuple[str, ...]
    means: FloatArray
    covariances: FloatArray
    chances: Any = None

    def __post_init__(self) -> None:
        count, size = len(self.labels), len(self.features)
        chances = np.ones(count) if self.chances is None else self.chances
        for name, given, shape in (("means", self.means, (count, size)), ("chances", chances, (count,)),
                                   ("covariances", self.covariances, (count, size, size))):
            object.__setattr__(self, name, _real(name, given, shape))
        if not (np.isfinite(self.chances).all() and (self.chances > 0).all()):
            raise InvalidInput(f"chances of classes are positive numbers, got {self.chances.tolist()}")
        object.__setattr__(self, "chances", self.chances / self.chances.sum())
        for label, mean, covariance in zip(self.labels, self.means, self.covariances, strict=True):
            self._check(label, mean, covariance)

    def _check(self, label: str, mean: FloatArray, covariance: FloatArray) -> None:
        if not (np.isfinite(mean).all() and np.isfinite(covariance).all()):
            raise InvalidInput(f"{self.title} of class {label} have no finite mean and covariance; leave out features "
                               "that some samples do not have, features=[...]")
        size = np.sqrt(np.diag(covariance))
        if not (size > 0).all():
            raise InvalidInput(f"{self.features[int(np.argmin(size))]} does not vary in class {label}; leave it out, "
                               "features=[...]")
        correlation = covariance / size / size[:, None]
        if np.abs(correlation - correlation.T).max() > _FLAT:
            raise InvalidInput(f"the covariance of {self.title} of class {label} is not symmetric")
        values, vectors = np.linalg.eigh(correlation)
        if values[0] < _FLAT:
            pair = sorted(np.argsort(-np.abs(vectors[:, 0]))[:2].tolist())
            names = " and ".join(self.features[k] for k in pair)
            raise InvalidInput(f"the covariance of {self.title} of class {label} is singular (smallest eigenvalue of "
                               f"the correlations {values[0]:.1e}): {names} are functions of each other there, or "
                               "vectors are fewer than features; leave one out, features=[...]")

    @property
    def deviations(self) -> FloatArray:
        """Standard deviations of the features, (K, M)."""
        return np.sqrt(np.diagonal(self.covariances, axis1=1, axis2=2))

    @property
    def correlations(self) -> FloatArray:
        """Correlations of the features, (K, M, M)."""
        size = self.deviations
        found: FloatArray = self.covariances / size[:, :, None] / size[:, None, :]
        return found

    @property
    def error(self) -> float:
        """The probability that Bayes' rule takes the wrong class."""
        return self.error_of(range(len(self.labels)))

    def error_of(self, classes: Iterable[int | str]) -> float:
        """Return the probability of error among some classes, by their labels or their numbers from 0.

        Exact of one feature; to about 1e-6 of two, 1e-4 of more.
        """
        chosen = [self._number(c) for c in ([classes] if isinstance(classes, int | str) else classes)]
        if len(set(chosen)) != len(chosen):
            raise InvalidInput(f"different classes are expected, got the numbers {chosen}")
        chances = self.chances[chosen] / self.chances[chosen].sum()
        directions = _directions(self.means.shape[1])
        return float(sum(q * self._wrong(c, [d for d in chosen if d != c], directions)
                         for q, c in zip(chances, chosen, strict=True))) if len(chosen) > 1 else 0.0

    def _wrong(self, own: int, others: Sequence[int], directions: FloatArray) -> float:
        """How often a member of a class is taken for one of the others.

        At m + r L u another class is less likely where a + 2 b r + c r^2 > 0.
        """
        roots = [_cholesky(self.covariances[c]) for c in (own, *others)]
        sizes = [np.log(np.diag(root)).sum() for root in roots]
        a, b, c = (np.empty((len(others), *shape)) for shape in ((1,), directions.shape[:1], directions.shape[:1]))
        for i, other in enumerate(others):
            offset = np.linalg.solve(roots[i + 1], self.means[own] - self.means[other])
            mapped = np.linalg.solve(roots[i + 1], roots[0]) @ directions.T
            a[i] = offset @ offset + 2 * (sizes[i + 1] - sizes[0] + np.log(self.chances[own] / self.chances[other]))
            b[i], c[i] = offset @ mapped, (mapped**2).sum(axis=0) - 1
            if max(np.abs(each[i]).max() for each in (a, b, c)) < _SAME:  # of equal classes the first one is taken
                a[i], b[i], c[i] = 1.0 if own < other else -1.0, 0.0, 0.0
        parts = max(1, c.size * 2 * len(others) // _BLOCK)
        pieces = zip(np.array_split(b, parts, axis=1), np.array_split(c, parts, axis=1), strict=True)
        return float(sum(_outside(a, *piece, self.means.shape[1]).sum() for piece in pieces)) / len(directions)

    def distance(self, a: int | str, b: int | str) -> float:
        """Return the Mahalanobis distance of two means in the average of both covariances."""
        a, b = self._number(a), self._number(b)
        root = _cholesky(self.covariances[a] / 2 + self.covariances[b] / 2)
        return float(np.linalg.norm(np.linalg.solve(root, self.means[a] - self.means[b])))

    def ellipse(self, label: int | str, radius: float = 2.0, pair: tuple[int, int] = (0, 1), points: int = 181
                ) -> FloatArray:
        """Return points at this Mahalanobis distance from a mean, (points, 2), in the plane of two features."""
        number, size = self._number(label), len(self.features)
        if not (isinstance(radius, int | float | np.number) and 0 < radius < np.inf):
            raise InvalidInput(f"a Mahalanobis radius is positive, got {radius!r}")
        chosen = [k for k in pair if isinstance(k, int | np.integer) and 0 <= k < size]
        if len(set(chosen)) != 2 or len(tuple(pair)) != 2:
            raise InvalidInput(f"an ellipse is drawn in the plane of two of {size} features; pair={pair!r}")
        if isinstance(points, bool) or not isinstance(points, int) or points < 1:
            raise InvalidInput(f"points are a number from 1, got {points!r}")
        root = _cholesky(self.covariances[number][np.ix_(chosen, chosen)])
        angle = np.linspace(0, 2 * np.pi, points)
        circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        return np.asarray(self.means[number][chosen] + radius * circle @ root.T)

    def _number(self, given: int | str) -> int:
        if isinstance(given, str) and given in self.labels:
            return self.labels.index(given)
        if isinstance(given, int | np.integer) and 0 <= given < len(self.labels):
            return index(given)
        raise InvalidInput(f"a class is one of {', '.join(self.labels)}, or its number from 0, got {given!r}")

    def __str__(self) -> str:
        lines = [f"{self.title}: error {100 * self.error:.2f} %"]
        rows = zip(self.labels, self.means, self.deviations, self.correlations, strict=True)
        for label, mean, size, correlation in rows:
            each = zip(self.features, mean, size, strict=True)
            shown = ", ".join(f"{name} {m:.4g} +- {s:.2g}" for name, m, s in each)
            below = ", ".join(f"{c:.3f}" for c in correlation[np.tril_indices(len(size), -1)])
            lines.append(f"  {label}: {shown}" + (f"; correlations {below}" if below else ""))
        return "\n".join(lines)

    __repr__ = __str__


def _real(name: str, given: Any, shape: tuple[int, ...]) -> FloatArray:
    try:
        array = np.asarray(given)
    except ValueError:  # lists of different lengths
        array = np.empty(0)
    if array.shape != shape or array.dtype.kind not in "iuf":
        raise InvalidInput(f"{name} are real numbers of the shape {shape}, got the shape {array.shape} of "
                           f"{array.dtype.name}")
    return array.astype(float)


def _cholesky(covariance: FloatArray) -> FloatArray:
    """Of the correlations, which no unit of a feature takes out of reach."""
    size = np.sqrt(np.diag(covariance))
    return np.asarray(size[:, None] * np.linalg.cholesky(covariance / size / size[:, None]))


def _directions(dimension: int) -> FloatArray:
    """Points of the unit sphere whose mean is that over the sphere."""
    if dimension == 1:
        return np.array([[1.0], [-1.0]])
    if dimension == 2:
        angle = 2 * np.pi * (np.arange(_ANGLES) + 0.5) / _ANGLES
        return np.stack([np.cos(angle), np.sin(angle)], axis=1)
    from scipy.special import ndtri
    from scipy.stats import qmc

    normal = ndtri(qmc.Sobol(dimension, scramble=False).random(_POINTS) + 0.5 / _POINTS)
    half = normal / np.linalg.norm(normal, axis=1, keepdims=True)
    return np.concatenate([half, -half])


def _outside(a: FloatArray, b: FloatArray, c: FloatArray, dimension: int) -> FloatArray:
    """The chi probability of the radii at which a + 2 b r + c r^2 < 0 for one class or more, along each ray."""
    from scipy.special import gammaincc

    with np.errstate(all="ignore"):
        far = -(b + np.copysign(np.sqrt(b * b - a * c), b))  # no difference of near numbers
        roots = np.concatenate([far / c, a / far])
    edges = np.sort(np.where((roots > 0) & np.isfinite(roots), roots, 0.0), axis=0)  # nan: a ray without root
    edges = np.concatenate([np.zeros_like(edges[:1]), edges])
    inner = np.concatenate([(edges[:-1] + edges[1:]) / 2, edges[-1:] + 1])
    is_wrong = np.zeros(inner.shape, dtype=bool)
    for one, two, three in zip(a, b, c, strict=True):
        is_wrong |= one + (2 * two + three * inner) * inner < 0
    beyond = gammaincc(dimension / 2, edges**2 / 2)
    measure = beyond - np.concatenate([beyond[1:], np.zeros_like(beyond[:1])])
    found: FloatArray = (measure * is_wrong).sum(axis=0)
    return found
