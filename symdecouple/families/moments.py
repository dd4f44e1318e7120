r"""Marginal moments: the raw and the standardized set, and the recognition of any set that is one of moments.

A feature set is *of moments* if feature k is a function of the first k raw moments that can be solved for the k-th:
raw, central and standardized moments, the standard deviation, the logarithm of the variance, and mixtures of them. All
such sets have the same nested spans 1, x, x^2, ... and the same normalizations; they differ in what their values are
called. Common coordinates are the mean m, the standard deviation s and the standardized moments,

.. math:: c_j = \mathrm{Mean}(z^j), \qquad x = m + s z, \quad \mathrm{Mean}(z) = 0, \quad \mathrm{Mean}(z^2) = 1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from itertools import takewhile
from math import nan
from typing import Any

from sympy import Dummy, Expr, Poly, Rational, S, Symbol, diff, factor, lambdify, sqrt
from sympy.polys.polyerrors import PolynomialError

from symdecouple.errors import BudgetExceeded, InvalidInput
from symdecouple.flows.steps import composed
from symdecouple.language.budget import Budget
from symdecouple.language.canonical import close, statistics_of
from symdecouple.language.closed_forms import simplify, solutions
from symdecouple.language.feature import Feature
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.gate import cancel
from symdecouple.language.mean import Mean
from symdecouple.language.precision import at_digits
from symdecouple.language.sample import Sample, x as generic
from symdecouple.language.statistics import variance

__all__ = ["MomentCoordinates", "raw_moments", "recognize_moments", "standardized_moments"]

RECOGNITION = 5.0  # seconds for one feature; moments take hundredths

_ORDERS = 20
_DIGITS = 30  # of a number before it is rounded to float64


def raw_moments(order: int, sample: Sample = generic) -> FeatureSet:
    """Return the raw moments Mean(x), ..., Mean(x^order).

    Examples
    --------
    >>> raw_moments(3)
    FeatureSet([Mean(x), Mean(x**2), Mean(x**3)])
    """
    _check(order)
    return FeatureSet([Mean(sample**k) for k in range(1, order + 1)])


def standardized_moments(order: int, sample: Sample = generic) -> FeatureSet:
    r"""Return mean, variance and the standardized moments Mean((x - m)^k)/s^k up to an order."""
    _check(order)
    centred, spread = sample - Mean(sample), variance(sample)
    first = [Mean(sample), spread][:order]
    return FeatureSet([*first, *(Mean(centred**k) / spread ** (S(k) / 2) for k in range(3, order + 1))])


def _check(order: int) -> None:
    if isinstance(order, bool) or not isinstance(order, int) or not 1 <= order <= _ORDERS:
        raise InvalidInput(f"the order of moments is a whole number from 1 to {_ORDERS}, got {order!r}")


@dataclass(frozen=True, slots=True)
class MomentCoordinates:
    """How the values of a set of moments and the coordinates (m, s, c_3, c_4, ...) are computed from each other.

    Attributes
    ----------
    symbols : tuple of Symbol
        m, s, c_3, ...
    values : tuple of Symbol
        v_1, v_2, ...
    forward : tuple of Expr
        Feature k in m, s, ..., c_k.
    inverse : tuple of Expr
        Coordinate k in v_k and the coordinates before.
    known : dict
        From references in float64 to their coordinates, which were computed before they were rounded.
    """

    symbols: tuple[Symbol, ...]
    values: tuple[Symbol, ...]
    forward: tuple[Expr, ...]
    inverse: tuple[Expr, ...]
    known: Mapping[tuple[float, ...], list[float]] = field(default_factory=dict, compare=False)

    def __len__(self) -> int:
        return len(self.inverse)

    def coordinates(self, values: Sequence[Any]) -> list[Any]:
        """Return (m, s, c_3, ...) of feature values: exact numbers, floats, arrays or mpmath numbers.

        Values that no sample has (a variance below 0) come out as NaN, complex or with s <= 0, as their kind does.
        """
        if self.known and all(type(v) is float for v in values) and (known := self.known.get(tuple(values))):
            return list(known)
        found: list[Any] = []
        for k, value in enumerate(values):
            if isinstance(value, Expr):
                found.append(self.inverse[k].xreplace({self.values[k]: value, **dict(zip(self.symbols, found,
                                                                                      strict=False))}))
            else:
                solved = _function(self.inverse[k], (self.values[k], *self.symbols[:k]), _module(value))
                try:
                    found.append(solved(value, *found))
                except ZeroDivisionError:  # of mpmath: no variance
                    found.append(nan)
        return found

    def of_references(self, references: Sequence[Expr | None]) -> MomentCoordinates:
        """The same, which takes references in float64 as they were before they were rounded.

        A variance of 1 at a mean of 1e9 is lost in a second moment of float64.
        """
        given = [v for v in takewhile(lambda v: v is not None, references[: len(self)]) if v is not None]
        with at_digits(_DIGITS):
            floats = [float(v.evalf(_DIGITS)) for v in given]
            point = [float(c.evalf(_DIGITS)) if c.is_real else nan for c in self.coordinates(given)]
        return replace(self, known={tuple(floats[:k]): point[:k] for k in range(1, len(point) + 1)})

    def features(self, point: Sequence[Any]) -> list[Any]:
        """Return the feature values of coordinates that are mpmath numbers or floats."""
        return [_function(forward, self.symbols[: k + 1], _module(point[0]))(*point[: k + 1])
                for k, forward in enumerate(self.forward[: len(point)])]

    def first_at(self, mean: Fraction, digits: int) -> tuple[Expr, Expr]:
        """Return the first feature of a sample with this exact mean, and its derivative by the mean."""
        (m, *_), (f, *_) = self.symbols, self.forward
        with at_digits(digits):
            value, slope = (e.xreplace({m: Rational(mean.numerator, mean.denominator)}).evalf(digits)
                            for e in (f, _derivative(f, m)))
            return value, slope


_derivative = lru_cache(maxsize=256)(diff)


def _module(value: Any) -> str:
    return "mpmath" if type(value).__module__.startswith("mpmath") else "numpy"


@lru_cache(maxsize=256)
def _function(expr: Expr, arguments: tuple[Symbol, ...], module: str) -> Any:
    dummies = [Dummy() for _ in arguments]
    return lambdify(dummies, expr.xreplace(dict(zip(arguments, dummies, strict=True))), module)


def recognize_moments(features: FeatureSet, least: int = 2) -> MomentCoordinates | None:
    """Return the coordinates of a set of moments, of as many leading features as are, and in no group; None if fewer
    than `least` are.

    Examples
    --------
    >>> found = recognize_moments(raw_moments(3))
    >>> found.inverse
    (v1, sqrt(-m**2 + v2), (-m**3 - 3*m*s**2 + v3)/s**3)
    >>> recognize_moments(FeatureSet([Mean(generic), Mean(generic**3)])) is None
    True
    """
    found = _recognized(features)
    return found if found is not None and len(found) >= least else None


@lru_cache(maxsize=64)
def _recognized(features: FeatureSet) -> MomentCoordinates | None:
    if features.coordinates:
        return None
    single = sum(1 for _ in takewhile(lambda group: len(group) == 1, features.groups))
    m, s = Symbol("m", real=True), Symbol("s", positive=True)
    symbols = [m, s, *(Symbol(f"c{k}", real=True) for k in range(3, len(features) + 1))]
    values = [Symbol(f"v{k}", real=True) for k in range(1, len(features) + 1)]
    forward: list[Expr] = []
    inverse: list[Expr] = []
    for k, feature in enumerate(features.symbolic[:single]):
        found = _in_coordinates(feature, features.sample, symbols[: k + 1])
        solved = None if found is None else _solved(found, symbols[k], values[k])
        if found is None or solved is None:
            break
        forward.append(found)
        inverse.append(solved)
    count = len(inverse)
    return None if not count else MomentCoordinates(tuple(symbols[:count]), tuple(values[:count]), tuple(forward),
                                                    tuple(inverse))


def _in_coordinates(feature: Feature, sample: Sample, symbols: Sequence[Symbol]) -> Expr | None:
    """Write f(m + s z) in the standardized moments of z; None if it has other statistics or none of the last."""
    m, s = symbols[0], symbols[1] if len(symbols) > 1 else S.One
    try:
        with Budget(RECOGNITION).running("the recognition of moments"):
            expr = close(composed(feature.expr, m + s * sample, sample), sample)
    except BudgetExceeded:
        return None
    rule: dict[Expr, Expr] = {}
    for statistic in statistics_of(expr):
        base, power = statistic.psi.as_base_exp()
        if base != sample or not power.is_Integer or not 1 <= power <= len(symbols):
            return None
        rule[statistic] = S.Zero if power == 1 else S.One if power == 2 else symbols[int(power) - 1]
    found = _short(expr.xreplace(rule))
    return found if found.has(symbols[-1]) else None


def _solved(expr: Expr, unknown: Symbol, value: Symbol) -> Expr | None:
    """Solve for the last coordinate where the solution is one: affine, or one invertible function of it."""
    with suppress(PolynomialError):
        polynomial = Poly(expr - value, unknown)
        if polynomial.degree() == 1:
            return _short(-polynomial.coeff_monomial(1) / polynomial.LC())
        if polynomial.degree() == 2 and unknown.is_positive and polynomial.coeff_monomial(unknown) == 0:
            return sqrt(_short(-polynomial.coeff_monomial(1) / polynomial.LC()))
    slope = factor(diff(expr, unknown))
    if not (slope.is_nonnegative or slope.is_nonpositive):
        return None
    found = [each for each in solutions(expr - value, unknown) if _short(each.xreplace({value: expr})) == unknown]
    return _short(found[0]) if len(found) == 1 else None


def _short(expr: Expr) -> Expr:
    return cancel(expr) if expr.is_rational_function() else simplify(expr)
