r"""The narrow path of one sample vector to any number of digits, with an estimate of its error.

The equation is that of `numeric.narrow_path`. Every step is extrapolated from modified midpoint rules of 2, 4, 6, ...
substeps (Gragg, Bulirsch, Stoer; E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd
ed. (1993), sec. II.9), whose error has even powers of the step only: each further rule removes one of them. The number
of rules grows with the digits asked for, the step is chosen so that all but the last two are used. A Gauss-Newton
correction to full precision follows every step.

Extrapolation adds up numbers of both signs, and the equations of the projection lose digits where gradients are nearly
dependent: guard digits pay for both, as many as the weights have, and 10 and a fifth of all digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import mpmath
import numpy as np

from symdecouple.errors import InvalidInput, Outcome
from symdecouple.language.feature import FeatureSet
from symdecouple.numeric.compiled import Array, CompiledFeatures, as_multiprecision

__all__ = ["PreciseImposed", "follow_mp"]

_MAX_STEPS = 2000
_MOST_CORRECTIONS = 12
_SAFETY, _SHRINK, _GROW = 0.8, 0.15, 4.0


@dataclass(frozen=True, slots=True)
class PreciseImposed:
    """A sample vector with feature k at its target, to many digits.

    Attributes
    ----------
    values : object array (N,)
        mpmath numbers; where the outcome is a refusal, the last point that was reached.
    reached : mpf
        The value of feature k there.
    residual : mpf
        Largest distance of the first k features from where they should be, relative as in `narrow_path`.
    error : mpf
        Sum of the estimated errors of all steps, relative to the standard deviation of the sample. Errors made early
        may grow or shrink along the path; compare with more digits where that matters.
    steps, evaluations : int
        Steps, rejected ones included, and how often the gradients were computed.
    outcome : Outcome
    """

    values: Array
    reached: Any
    residual: Any
    error: Any
    steps: int
    evaluations: int
    outcome: Outcome = field(default_factory=lambda: Outcome(True))


def follow_mp(features: Any, x: Any, k: int, target: Any, dps: int = 30) -> PreciseImposed:
    """Bring feature k of a sample vector to its target, features 1 to k-1 staying, to `dps` digits.

    Parameters
    ----------
    features : FeatureSet, list of features, or CompiledFeatures
    x : array_like (N,)
        Numbers of any kind; exact ones (int, Fraction, Rational) are taken exactly.
    k : int
        From 1 to M.
    target : number
    dps : int
        Decimal digits.

    Returns
    -------
    PreciseImposed
        Rounded to `dps` digits.

    Examples
    --------
    >>> from symdecouple.language.mean import Mean
    >>> from symdecouple.language.sample import x
    >>> moved = follow_mp([Mean(x), Mean(x**2)], [-1, 0, 1], 2, 1, dps=40)  # sqrt(3/2) times the sample
    >>> print(mpmath.nstr(moved.values[2], 40))
    1.224744871391589049098642037352945695983
    """
    compiled = features if hasattr(features, "gradients") else CompiledFeatures(
        features if isinstance(features, FeatureSet) else FeatureSet(features))
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= len(compiled):
        raise InvalidInput(f"k={k!r} was given, a feature from 1 to {len(compiled)} is expected")
    if isinstance(dps, bool) or not isinstance(dps, int) or dps < 1:
        raise InvalidInput(f"dps={dps!r} was given, a positive number of decimal digits is expected")
    rules = 4 + (dps + 1) // 2
    with mpmath.workdps(dps + 10 + dps // 5 + _digits_lost(rules)):
        row = as_multiprecision(x)
        if row.ndim != 1 or not len(row):
            raise InvalidInput(f"one sample vector (N,) is expected, got an array of shape {row.shape}")
        found = _Path(compiled, k, row, as_multiprecision([target])[0], rules, mpmath.mpf(10) ** -(dps + 2)).run()
    with mpmath.workdps(dps):
        values = np.frompyfunc(lambda v: +v, 1, 1)(found.values)
        return PreciseImposed(values, +found.reached, +found.residual, +found.error, found.steps, found.evaluations,
                              found.outcome)


class _Failed(Exception):
    """A feature is not a finite real number, or the projected gradient vanishes."""


class _Span:
    """Gradients v_1, ..., v_k and the factors L D L' of their products <v_i, v_j>; `sound` are those that add to it."""

    def __init__(self, gradients: Array) -> None:
        self.gradients, n = gradients, gradients.shape[1]
        self.lower: list[list[Any]] = []
        self.diagonal: list[Any] = []
        self.sound: list[bool] = []
        threshold = mpmath.ldexp(1, -int(mpmath.mp.prec * 5 / 6))
        for j, v in enumerate(gradients):
            products = [mpmath.fdot(u, v) / n for u in gradients[: j + 1]]
            row: list[Any] = []
            for i in range(j):
                rest = products[i] - sum(self.lower[i][m] * row[m] * self.diagonal[m] for m in range(i))
                row.append(rest / self.diagonal[i] if self.sound[i] else mpmath.mpf(0))
            left = products[j] - sum(c * c * d for c, d in zip(row, self.diagonal, strict=True))
            self.lower.append(row)
            self.sound.append(left > threshold * products[j])
            self.diagonal.append(left if self.sound[j] else mpmath.mpf(0))

    def step(self, values: Any) -> Array:
        """Return the shortest field w with <v_j, w> = values_j, dependent gradients left out."""
        z: list[Any] = []
        for row, value in zip(self.lower, values, strict=True):
            z.append(value - sum(c * known for c, known in zip(row, z, strict=True)))
            z[-1] = z[-1] if self.sound[len(z) - 1] else mpmath.mpf(0)
        a = [value / d if d else mpmath.mpf(0) for value, d in zip(z, self.diagonal, strict=True)]
        for j in reversed(range(len(a))):
            for i in range(j):
                a[i] -= self.lower[j][i] * a[j]
        return np.array([mpmath.fdot(a, column) for column in self.gradients.T], dtype=object)


class _Path:
    """One vector on its way."""

    def __init__(self, features: CompiledFeatures, k: int, start: Array, target: Any, rules: int, tol: Any) -> None:
        self.features, self.k, self.start, self.target = features, k, start, target
        self.rules, self.tol = rules, tol
        self.smallest = mpmath.sqrt(tol) / 10**5  # near an extreme the sample is half as well determined as the feature
        self.evaluations = 0

    def run(self) -> PreciseImposed:
        try:
            self.begin = self.values(self.start)
            span = _Span(self.gradients(self.start))
        except _Failed:
            return self._refused(self.start, "not finite", "a feature is not finite at this sample", 0, 0)
        distance = self.target - self.begin[-1]
        visible = mpmath.fdot(abs(span.gradients[-1]), abs(self.start)) / len(self.start)
        if abs(distance) <= 2 * mpmath.eps * (abs(self.target) + visible):
            return self._answer(self.start, mpmath.mpf(0), 0)
        if not span.sound[-1]:
            return self._refused(self.start, "critical point", f"feature {self.k} does not move from here at fixed "
                                 "values of the features before it; perturb the sample", 0, 0)
        y, s, error, steps = self.start, mpmath.mpf(0), mpmath.mpf(0), 0
        scale = _spread(y)
        h = min(mpmath.mpf(1), scale / 2 / _size(self.slope(y)))
        while s < 1:
            h = 1 - s if s + h * 1.05 >= 1 else h
            if steps == _MAX_STEPS or h < self.smallest:
                reason = "not attainable" if h < self.smallest else "no convergence"
                return self._refused(y, reason, "", error, steps)
            steps += 1
            step, factor = self._stepped(y, s, h, self.tol * scale)
            if step is not None:
                y, s, error = step[0], mpmath.mpf(1) if s + h == 1 else s + h, error + step[1] / scale
            h = h * factor
        return self._answer(self._finished(y), error, steps)

    def _stepped(self, y: Array, s: Any, h: Any, allowed: Any) -> tuple[tuple[Array, Any] | None, Any]:
        """Return the next point with its error, None where the step is too long, and a factor for the next one."""
        try:
            first = self.slope(y)
            row: list[Array] = []
            last = mpmath.inf
            for j in range(1, self.rules + 1):
                new = [_midpoint(self.slope, y, first, h, 2 * j)]
                for i, older in enumerate(row, 1):
                    new.append(new[-1] + (new[-1] - older) / (mpmath.mpf(j) ** 2 / (j - i) ** 2 - 1))
                if row:
                    last = _size(new[-1] - row[-1])
                    if last <= allowed:
                        spare = self.rules - 2 - j
                        moved = self._corrected(new[-1], s + h)
                        return (moved, last), min(_GROW, mpmath.mpf(1.25) ** spare) if spare else mpmath.mpf(1)
                row = new
        except (_Failed, ZeroDivisionError):
            return None, mpmath.mpf(_SHRINK)
        factor = _SAFETY * (allowed / last) ** (mpmath.mpf(1) / (2 * self.rules - 1))
        return None, min(max(factor, mpmath.mpf(_SHRINK)), mpmath.mpf("0.7"))

    def slope(self, y: Array) -> Array:
        """Return dy/ds."""
        span = _Span(self.gradients(y))
        if not span.sound[-1]:
            raise _Failed
        return span.step([mpmath.mpf(0)] * (self.k - 1) + [self.target - self.begin[-1]])

    def _corrected(self, y: Array, s: Any) -> Array:
        corrected: Array = y + _Span(self.gradients(y)).step(self._wanted(s) - self.values(y))
        return corrected

    def _finished(self, y: Array) -> Array:
        """Correct as long as that helps."""
        gap = self._gap(y)
        for _ in range(_MOST_CORRECTIONS):
            try:
                trial = self._corrected(y, mpmath.mpf(1))
                new = self._gap(trial)
            except (_Failed, ZeroDivisionError):
                break
            if not new < gap:
                break
            y, gap = trial, new
        return y

    def _wanted(self, s: Any) -> Array:
        wanted = self.begin.copy()
        wanted[-1] = self.target if s == 1 else wanted[-1] + s * (self.target - wanted[-1])
        return wanted

    def _gap(self, y: Array) -> Any:
        gaps = [(abs(a - b), abs(b)) for a, b in zip(self.values(y), self._wanted(mpmath.mpf(1)), strict=True)]
        slopes = [_size(v) for v in self.gradients(y)]
        spread = _spread(y)
        return max(gap and gap / (size + slope * spread) for (gap, size), slope in zip(gaps, slopes, strict=True))

    def values(self, y: Array) -> Array:
        return _finite(lambda: self.features.values(y[None])[0, : self.k])

    def gradients(self, y: Array) -> Array:
        self.evaluations += 1
        return _finite(lambda: self.features.gradients(y[None], self.k)[0])

    def _answer(self, y: Array, error: Any, steps: int) -> PreciseImposed:
        return PreciseImposed(y, self.values(y)[-1], self._gap(y), error, steps, self.evaluations)

    def _refused(self, y: Array, reason: str, detail: str, error: Any, steps: int) -> PreciseImposed:
        reached = mpmath.nan if reason == "not finite" else self.values(y)[-1]
        gap = mpmath.nan if reason == "not finite" else self._gap(y)
        detail = detail or (f"{self.features.names[self.k - 1]} came to {mpmath.nstr(reached, 8)}, "
                            f"{mpmath.nstr(self.target, 8)} was asked for")
        return PreciseImposed(y, reached, gap, mpmath.mpf(error), steps, self.evaluations,
                              Outcome(False, reason, detail))


def _size(vector: Array) -> Any:
    return mpmath.sqrt(mpmath.fdot(vector, vector) / len(vector))


def _spread(vector: Array) -> Any:
    """Return the standard deviation, or the size of a constant vector."""
    return _size(vector - vector.sum() / len(vector)) or abs(vector[0])


def _midpoint(slope: Callable[[Array], Array], y: Array, first: Array, h: Any, count: int) -> Array:
    """Return y(h) by `count` substeps of the midpoint rule, begun with an Euler step; the error is even in h."""
    size = h / count
    before: Array = y
    here: Array = y + first * size  # an mpmath number times an array: the array must come first
    for _ in range(count - 1):
        before, here = here, before + slope(here) * (2 * size)
    return here


def _digits_lost(rules: int) -> int:
    """Return the digits that extrapolation costs: of the sum of its weights, all taken positive."""
    total = mpmath.mpf(0)
    for j in range(1, rules + 1):
        weight = mpmath.mpf(1)
        for i in range(1, rules + 1):
            if i != j:
                weight *= mpmath.mpf(j) ** 2 / abs(mpmath.mpf(j) ** 2 - i**2)
        total += weight
    return int(mpmath.ceil(mpmath.log10(total)))


def _finite(compute: Callable[[], Any]) -> Array:
    try:
        found = np.array(compute(), dtype=object)
    except (ZeroDivisionError, ValueError, OverflowError, TypeError) as error:
        raise _Failed from error
    if any(isinstance(v, mpmath.mpc) or not mpmath.isfinite(v) for v in found.flat):
        raise _Failed
    return found
