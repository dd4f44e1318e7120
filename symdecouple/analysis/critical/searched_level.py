r"""Critical points by search: Newton's method on the multiplier equations, from many starts, with deflation.

.. math:: G(x, \lambda) = \Bigl(\nabla f_k - \sum_{j<k} \lambda_j \nabla f_j,\; f_1 - r_1,\; \dots\Bigr) = 0 .

Solutions that are known are removed from the equations: G is multiplied by prod (1 + 1/|x - x*|^2), which keeps all
other zeros (Farrell, Birkisson, Funke 2015). The Hessian of the multiplier function on the tangent space of the
reference manifold tells what each solution is; where it has a kernel the point is degenerate, and is not classified; of
such points with the same value and ties one is returned. That all are found is never proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space
from sympy import Expr, Float, Rational

from symdecouple.analysis.critical.chebyshev import averaged_functions
from symdecouple.analysis.critical.interval_newton import CriticalBox, critical_box
from symdecouple.analysis.critical.local_extrema import RADIUS, LocalExtremum
from symdecouple.analysis.critical.multiplier_equations import MultiplierEquations
from symdecouple.analysis.critical.point import CriticalPoint
from symdecouple.analysis.critical.tie_patterns import Kind
from symdecouple.calculus.subject import Subject
from symdecouple.errors import BudgetExceeded, UnsupportedExpression
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.kinks import has_kinks
from symdecouple.verdict import Status, Verdict

__all__ = ["SearchedLevel", "searched_level"]

STARTS = 200
PATIENCE = 25
"""Starts in a row that find nothing new, after which the search ends."""
MOST_SAMPLES = 40
RESIDUAL = 1e-9
APART = 1e-5
FLAT = 1e-6
"""Relative to the Hessian there or nearby: a smaller eigenvalue counts as one that is zero."""
NEAR = 1e-2
"""How far beside a point, relative to it: where the Hessian vanishes, only its neighbours tell what is small."""
ROUNDING = 1e-14
"""Relative, of gradients."""
LINEAR = 0.3
"""Steps of which each is more than so much of the one before do not converge quadratically."""

_STEPS = 50
FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class SearchedLevel:
    """The last feature of any set, those before at their references, in N coordinates."""

    features: FeatureSet
    references: tuple[Expr, ...]
    n_samples: int

    @cached_property
    def system(self) -> MultiplierEquations:
        return MultiplierEquations(self.features, self.references, self.n_samples)

    @cached_property
    def is_symmetric(self) -> bool:
        """Whether the order of the samples does not matter: averages without filters."""
        return self.features.kind == "mean" and self.features.filter_ndim is None

    @cached_property
    def interval(self) -> tuple[float, float]:
        """Where all numbers of a sample lie."""
        low, high = self.features.sample.interval if self.features.kind == "mean" else (-np.inf, np.inf)
        return float(low), float(high)

    @cached_property
    def found(self) -> tuple[tuple[CriticalPoint, float], ...]:
        """Every critical point that was found, with its residual."""
        known: list[FloatArray] = []
        found: list[tuple[CriticalPoint, float]] = []
        rng, idle = np.random.default_rng(self.n_samples), 0
        with np.errstate(all="ignore"):
            for start in range(STARTS):
                x, is_multiple = self._solved(self._start(rng, start), known)
                if x is not None:
                    known.append(x)
                    point = self._point(x, is_multiple)
                    if not _is_of_known_family(point[0], found):
                        found.append(point)
                        idle = 0
                        continue
                idle += 1
                if idle > PATIENCE:
                    break
        found.sort(key=lambda pair: float(pair[0].value))
        values = [float(point.value) for point, _ in found]
        return tuple((_globally(point, values), residual) for point, residual in found)

    def points(self) -> Iterator[CriticalPoint]:
        """Yield the critical points that were found."""
        return (point for point, _ in self.found)

    def verdicts(self) -> tuple[Verdict, Verdict, Verdict]:
        """Return what a search tells: nothing is proved."""
        texts, why = tuple(map(str, self.features)), "a search from many starts: others may exist"
        worst = max((residual for _, residual in self.found), default=0.0)
        first = Verdict("all critical points", Status.NUMERICAL, texts, self.n_samples, holds=True, residual=worst,
                        tolerance=RESIDUAL, reason=why)
        if not self.found:
            first = Verdict("all critical points", Status.UNDECIDED, texts, self.n_samples,
                            reason="a search from many starts found none")
        b1, b2 = (Verdict(q, Status.UNDECIDED, texts, self.n_samples, reason=why, evidence=self._evidence(q))
                  for q in ("B1", "B2"))
        refuted = self._refuted()
        return first, b1 if refuted is None else refuted, b2

    def _refuted(self) -> Verdict | None:
        """Return a refutation of B1, where an extremum is local only and both samples can be proved to exist."""
        points = [p for p, _ in self.found]
        for local in points if self.is_symmetric else ():
            if local.is_global is not False:
                continue
            best = (min if local.kind == "minimum" else max)(points, key=lambda p: float(p.value))
            boxes = [box for p in (local, best) if (box := self._proved(p)) is not None]
            if len(boxes) == 2:
                claim = LocalExtremum(Subject(self.features.features), self.references, self.n_samples, *boxes)
                if claim.verify():
                    return Verdict("B1", Status.REFUTED, tuple(map(str, self.features)), self.n_samples, claim)
        return None

    def _proved(self, point: CriticalPoint) -> CriticalBox | None:
        system = next(averaged_functions(self.features), None)
        if system is None:
            return None
        values = np.array([float(v) for v in point.values])
        t = np.log(values) if system.is_logarithmic else values
        found = critical_box(system, self.references, point.ties, t, RADIUS)
        return None if found is None else found[0]

    def _evidence(self, question: str) -> tuple[str, ...]:
        if question == "B1":
            local = [p for p, _ in self.found if p.is_global is False]
            return tuple(f"a {p.kind} that is local only, in floats: {float(p.value):.10g}" for p in local)
        flat = sum(p.kind == "degenerate" for p, _ in self.found)
        return (f"{flat} degenerate points",) if flat else ()

    def _start(self, rng: np.random.Generator, start: int) -> FloatArray:
        low, high = self.interval
        # all numbers of a critical sample of averages are zeros of one function: every other start has few values
        places = np.arange(self.n_samples)
        if self.is_symmetric and start % 2:
            places = rng.integers(1 + rng.integers(min(4, self.n_samples)), size=self.n_samples)
        x = rng.normal(scale=0.5 + start % 4, size=self.n_samples)[places]
        if np.isfinite(low) and np.isfinite(high):
            return low + (high - low) * rng.random(self.n_samples)[places]
        return low + np.abs(x) if np.isfinite(low) else high - np.abs(x) if np.isfinite(high) else x

    def _solved(self, x: FloatArray, known: Sequence[FloatArray]) -> tuple[FloatArray | None, bool]:
        """Return a solution that is not known yet, from this start, and whether it is a multiple zero.

        None where Newton's method finds none. At multiple zeros its last steps shrink by halves or thirds.
        """
        slopes = self.system.gradients(x)
        z, steps = np.append(x, self.system.multipliers(slopes)), [0.0]
        for _ in range(_STEPS):
            equations = self.system.equations(z)
            if not np.isfinite(equations).all():
                return None, False
            factor, slope = self._deflation(z, known)
            step = _least(self.system.jacobian(z), equations)
            if step is None:
                return None, False
            # Newton's step of factor * G, by the rank-one update of its Jacobian
            along = slope @ step / factor
            z = z - step / (1 + along) * min(1.0, 2.0 / (1e-300 + float(np.abs(step / (1 + along)).max())))
            steps.append(float(np.abs(step).max()))
            if steps[-1] < 1e-12 * max(1.0, float(np.abs(z).max())):
                break
        x = np.sort(z[:self.n_samples]) if self.is_symmetric else z[:self.n_samples]
        is_inside = self.interval[0] < x.min() and x.max() < self.interval[1]
        if self.system.residual(x) > RESIDUAL or not is_inside or any(
                np.abs(x - other).max() < APART * max(1.0, float(np.abs(x).max())) for other in known):
            return None, False
        return x, all(after > LINEAR * before for before, after in pairwise(steps[-4:]))

    def _deflation(self, z: FloatArray, known: Sequence[FloatArray]) -> tuple[float, FloatArray]:
        """Return prod (1 + 1/|x - x*|^2), known samples in the order of x, and its gradient."""
        x, factor, slope = z[:self.n_samples], 1.0, np.zeros(len(z))
        order = np.argsort(np.argsort(x)) if self.is_symmetric else np.arange(self.n_samples)
        for other in known:
            away = x - other[order]
            square = float(away @ away) + 1e-30
            slope[:self.n_samples] -= 2 * away / square**2 / (1 + 1 / square)
            factor *= 1 + 1 / square
        return factor, slope * factor

    def _point(self, x: FloatArray, is_multiple: bool) -> tuple[CriticalPoint, float]:
        slopes = self.system.gradients(x)
        multipliers = self.system.multipliers(slopes)
        regular = np.linalg.matrix_rank(slopes[:-1], tol=1e-8 * np.abs(slopes).max()) == len(slopes) - 1
        tangent = null_space(slopes[:-1], rcond=1e-8) if len(slopes) > 1 else np.eye(self.n_samples)
        eigenvalues = np.linalg.eigvalsh(tangent.T @ self.system.hessian(x, multipliers) @ tangent)
        away = NEAR * (np.abs(x).max() or 1.0) * np.cos(np.arange(self.n_samples))
        here, beside = (self.system.hessian(y, multipliers) for y in (x, x + away))
        size = max(np.abs(eigenvalues).max(initial=0.0), np.abs(beside).max())
        # gradients are rounded, so the place is known up to rounding/e, and an eigenvalue e up to bend * rounding/e
        bend = np.abs(beside - here).max() / np.abs(away).max()
        flat = max(FLAT * size, float(np.sqrt(bend * ROUNDING * np.abs(slopes).max())))
        kind, index = _kind(eigenvalues, flat) if regular and not is_multiple else ("degenerate", None)
        residual, value = self.system.residual(x), float(self.system.values(x)[-1])
        value = 0.0 if abs(value) < max(residual, 1e-14) else value
        shares, values = self._grouped(x)
        return CriticalPoint(Float(value), kind, index, values, shares, self.n_samples, None, bool(regular),
                             residual * max(1.0, abs(value))), residual

    def _grouped(self, x: FloatArray) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
        """Return shares and distinct values of a sample whose order does not matter; else every number by itself."""
        groups: list[list[float]] = []
        for v in x.tolist():
            if self.is_symmetric and groups and abs(v - groups[-1][-1]) < APART * max(1.0, float(np.abs(x).max())):
                groups[-1].append(v)
            else:
                groups.append([v])
        means, tiny = [float(np.mean(g)) for g in groups], 1e-13 * float(np.abs(x).max())
        return (tuple(Rational(len(g), self.n_samples) for g in groups),
                tuple(Float(v if abs(v) > tiny else 0.0) for v in means))


def searched_level(features: FeatureSet, references: Sequence[Expr | None], n_samples: int) -> SearchedLevel:
    """Return the level whose last feature is that of the set.

    Raises
    ------
    BudgetExceeded
        For more samples than are searched.
    UnsupportedExpression
        For functions with kinks, whose extremes may be where they have no gradient, and for black boxes.
    """
    if any(has_kinks(f.expr) for f in features):
        raise UnsupportedExpression("extremes of functions with kinks may be at the kinks, where no gradient finds "
                                    "them; write the features without abs, sign, Max and the like")
    if n_samples > MOST_SAMPLES:
        raise BudgetExceeded(f"critical points of such features are searched in up to {MOST_SAMPLES} coordinates, got "
                             f"{n_samples}")
    return SearchedLevel(features, tuple(v for v in references if v is not None), n_samples)


def _least(matrix: FloatArray, vector: FloatArray) -> FloatArray | None:
    try:
        step = np.linalg.solve(matrix, vector)
        if np.abs(step).max() < 1e8:
            return np.asarray(step)
    except np.linalg.LinAlgError:
        pass
    try:  # singular, or nearly: at degenerate points
        return np.asarray(np.linalg.lstsq(matrix, vector, rcond=1e-13)[0])
    except np.linalg.LinAlgError:
        return None


def _kind(eigenvalues: FloatArray, flat: float) -> tuple[Kind, int | None]:
    if not len(eigenvalues):
        return "isolated", 0
    if np.abs(eigenvalues).min() <= flat:
        return "degenerate", None
    index = int((eigenvalues < 0).sum())
    return "minimum" if index == 0 else "maximum" if index == len(eigenvalues) else "saddle", index


def _is_of_known_family(point: CriticalPoint, found: Sequence[tuple[CriticalPoint, float]]) -> bool:
    """True for a degenerate point with the value and the shares of one that is known: they are not isolated."""
    return point.kind == "degenerate" and any(
        other.kind == "degenerate" and other.shares == point.shares
        and abs(other.value - point.value) <= 1e-7 * max(1.0, abs(point.value)) for other, _ in found)


def _globally(point: CriticalPoint, values: Sequence[float]) -> CriticalPoint:
    if point.kind not in ("minimum", "maximum"):
        return point
    best = min(values) if point.kind == "minimum" else max(values)
    return replace(point, is_global=abs(float(point.value) - best) <= 1e-8 * max(1.0, abs(best)))
