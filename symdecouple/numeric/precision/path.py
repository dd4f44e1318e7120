r"""The narrow path of one sample vector to any number of digits, with an estimate of its error.

The equation is that of `paths.narrow_path`. Every step is collocated (`precision.collocation`), at a number of points
that grows with the digits asked for. A Gauss-Newton correction to full precision follows every step.

The projection loses digits where gradients are nearly dependent: 10 guard digits and a fifth of all digits pay for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import mpmath
import numpy as np

from symdecouple.errors import InvalidInput, Outcome
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.precision import at_digits
from symdecouple.numeric.features.coordinates import compiled_features
from symdecouple.numeric.features.expressions import Array, as_multiprecision
from symdecouple.numeric.features.features import Features
from symdecouple.numeric.paths.narrow_path import Level
from symdecouple.numeric.paths.projection import last_direction
from symdecouple.numeric.precision.collocation import SHRINK, NoSlope, collocated, finite, points_for

__all__ = ["PreciseImposed", "Track", "follow_mp", "size", "spread", "working_digits"]

_MOST_STEPS = 2000  # a path that takes more leads nowhere
_AMISS = 16  # of what is allowed: a longer correction means that the step passed a singularity


class Track(NamedTuple):
    """The way of a sample vector: after every step (s, y) from s = 0 to s = 1, in all working digits; the start alone,
    where feature k was at its target."""

    level: Level
    dps: int
    points: tuple[tuple[Any, Array], ...]


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
        Sum of the estimated errors of all steps, each relative to the standard deviation of the sample at that step,
        and of what rounding the values to `dps` digits changed, which often is most of it. Errors made early may grow
        or shrink along the path; compare with more digits where that matters. Those of the start are not in it: a path
        that begins where another one ended takes on its error, and may make it larger.
    steps : int
        Rejected ones included.
    outcome : Outcome
    track : Track or None
        Where it was asked to be stored, and the target was reached.
    """

    values: Array
    reached: Any
    residual: Any
    error: Any
    steps: int
    outcome: Outcome = field(default_factory=lambda: Outcome(True))
    track: Track | None = None


def follow_mp(features: Any, x: Any, k: int, target: Any, dps: int = 30, *, store: bool = False) -> PreciseImposed:
    """Bring feature k of a sample vector to its target, features 1 to k-1 staying, to `dps` digits.

    Parameters
    ----------
    features : FeatureSet, list of features, or Features on object arrays
    x : array_like (N,)
        Numbers of any kind; exact ones (int, Fraction, Rational) are taken exactly.
    k : int
        From 1 to M.
    target : number
    dps : int
        Decimal digits.
    store : bool
        Keep the points of the path, for `adjoint.pullback_mp`.

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
    compiled = features if hasattr(features, "gradients") else compiled_features(
        features if isinstance(features, FeatureSet) else FeatureSet(features))
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= len(compiled):
        raise InvalidInput(f"k={k!r} was given, a feature from 1 to {len(compiled)} is expected")
    if isinstance(dps, bool) or not isinstance(dps, int) or dps < 1:
        raise InvalidInput(f"dps={dps!r} was given, a positive number of decimal digits is expected")
    with at_digits(working_digits(dps)):
        row = as_multiprecision(x)
        if row.ndim != 1 or not len(row):
            raise InvalidInput(f"one sample vector (N,) is expected, got an array of shape {row.shape}")
        found = _Path(compiled, k, row, as_multiprecision([target]), dps).run()
        with at_digits(dps):
            values = np.frompyfunc(lambda v: +v, 1, 1)(found.values)
        change = size(values - found.values) if found.outcome.ok else 0  # by rounding
        error = found.error + (change and change / spread(found.values))
    with at_digits(dps):
        return replace(found, values=values, reached=+found.reached, residual=+found.residual, error=+error,
                       track=found.track if store else None)


def working_digits(dps: int) -> int:
    """Return how many digits are computed with, to have `dps` of them in the end."""
    return dps + 10 + dps // 5


class _Path:
    """One vector on its way."""

    def __init__(self, features: Features, k: int, start: Array, target: Array, dps: int) -> None:
        self.features, self.k, self.start, self.target, self.dps = features, k, start, target, dps
        self.tol = mpmath.mpf(10) ** -(dps + 2)
        # Near an extreme the sample is half as well determined as the feature.
        self.smallest = mpmath.sqrt(self.tol) / 10**5

    def run(self) -> PreciseImposed:
        try:
            begin, gradients = self.values(self.start), self.gradients(self.start)
        except NoSlope:
            return self._refused(self.start, "not finite", "a feature is not finite at this sample", 0, 0)
        self.level = Level(self.features, self.k, None, self.start[None], begin[None], self.target)
        visible = mpmath.fdot(abs(gradients[-1]), abs(self.start)) / len(self.start)
        if abs(self.target[0] - begin[-1]) <= 2 * mpmath.eps * (abs(self.target[0]) + visible):
            return self._answer([(mpmath.mpf(0), self.start)], mpmath.mpf(0), 0)
        if not last_direction(gradients[None])[2][0]:
            return self._refused(self.start, "critical point", f"feature {self.k} does not move from here at fixed "
                                 "values of the features before it; perturb the sample: decouple(..., perturb=...)",
                                 0, 0)
        y, s, error, steps = self.start, mpmath.mpf(0), mpmath.mpf(0), 0
        points = [(s, y)]
        h = min(mpmath.mpf(1), spread(y) / 2 / size(self.slope(y[None, None])[0, 0]))
        self.smallest *= h  # the way may be ever so long beside the sample
        while s < 1:
            h = 1 - s if s + h * 1.05 >= 1 else h
            is_short = h < self.smallest * (1 - s)  # a way that ends in a small sample takes ever shorter steps
            if steps == _MOST_STEPS or is_short:
                reason = "not attainable" if is_short else "no convergence"
                lost = spread(y) * self.tol < mpmath.eps * size(y) or (1 - s) * self.tol < mpmath.eps
                if lost:  # the sample beside where it lies, or what is left of the way beside all of it
                    reason = f"beyond {mpmath.mp.dps} digits"
                return self._refused(y, reason, "", error, steps)
            steps += 1
            end, off, factor = self._stepped(y, s, h)
            if end is not None:
                y, s, error = end, mpmath.mpf(1) if s + h == 1 else s + h, error + off
                points.append((s, y))
            h = h * factor
        return self._answer(points, error, steps)

    def _stepped(self, y: Array, s: Any, h: Any) -> tuple[Array | None, Any, Any]:
        """Return the next point, None where the step is too long, its error, and a factor for the next one."""
        unit = spread(y)
        try:
            step = collocated(self.slope, y[None], h, points_for(self.dps), np.array([unit]), self.tol)
            if step.values is None:
                return None, step.error, step.factor
            reached, at, which = step.values, np.array([s + h]), np.zeros(1, dtype=np.intp)
            end = finite(lambda: self.level.corrected(reached, at, which)[0][0])
            is_near = size(end - step.values[0]) <= _AMISS * self.tol * unit and bool(len(self.values(end)))
        except (NoSlope, ZeroDivisionError):
            is_near = False
        return (end, step.error * self.tol, step.factor) if is_near else (None, mpmath.inf, mpmath.mpf(SHRINK))

    def slope(self, states: Array) -> Array:
        """Return dy/ds of many states (p, 1, N), of either kind; NaN where there is no direction."""
        which = np.zeros(len(states), dtype=np.intp)
        return self.level.slope(states[:, 0], np.zeros(len(states)), which)[:, None]

    def _gap(self, y: Array) -> Any:
        gaps = [(abs(a - b), abs(b)) for a, b in zip(self.values(y), self.level.goals()[0], strict=True)]
        slopes, unit = [size(v) for v in self.gradients(y)], spread(y)
        sizes = [value + slope * unit for (_, value), slope in zip(gaps, slopes, strict=True)]
        return max(gap and (gap / unit if unit else mpmath.inf) for (gap, _), unit in zip(gaps, sizes, strict=True))

    def values(self, y: Array) -> Array:
        """Return the first k features, (k,)."""
        return finite(lambda: self.features.values(y[None])[0, : self.k])

    def gradients(self, y: Array) -> Array:
        """Return their gradients, (k, N)."""
        return finite(lambda: self.features.gradients(y[None], self.k)[0])

    def _answer(self, points: list[tuple[Any, Array]], error: Any, steps: int) -> PreciseImposed:
        y = points[-1][1]
        track = Track(self.level, self.dps, tuple(points))
        return PreciseImposed(y, self.values(y)[-1], self._gap(y), error, steps, track=track)

    def _refused(self, y: Array, reason: str, detail: str, error: Any, steps: int) -> PreciseImposed:
        reached = mpmath.nan if reason == "not finite" else self.values(y)[-1]
        gap = mpmath.nan if reason == "not finite" else self._gap(y)
        detail = detail or (f"{self.features.names[self.k - 1]} came to {mpmath.nstr(reached, 8)}, "
                            f"{mpmath.nstr(self.target[0], 8)} was asked for")
        return PreciseImposed(y, reached, gap, mpmath.mpf(error), steps, Outcome(False, reason, detail))


def size(vector: Array) -> Any:
    """Return the root of the mean square."""
    return mpmath.sqrt(mpmath.fdot(vector, vector) / len(vector))


def spread(vector: Array) -> Any:
    """Return the standard deviation, or the size of a vector that is constant but for rounding."""
    mean = vector.sum() / len(vector)
    deviation = size(vector - mean)
    return deviation if deviation > mpmath.ldexp(mpmath.eps, 10) * abs(mean) else abs(mean)
