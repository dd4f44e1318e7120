r"""Gradients at one given sample, a vector or an image, exactly: rational numbers, or intervals.

The field of a gradient is evaluated as an array, filters by convolution with exact taps; work and memory are O(N) for
each operation of the field. The derivative of a feature along one direction is a second route, forward through the
feature itself:

.. math:: N\, D_u f(x) = \sum_n v_f(x_n)\, u_n
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from math import prod
from numbers import Rational as RationalNumber
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sympy import Expr, Pow, Rational, Symbol, exp, log, polygamma
from sympy.core.function import AppliedUndef

from symdecouple.calculus.elementary import RULES, Irrational, OutsideDomain, World, exact_root, positive, raised
from symdecouple.calculus.gamma_functions import polygamma_name
from symdecouple.calculus.gradient import gradient
from symdecouple.calculus.jets import Point, field_at
from symdecouple.calculus.subject import Subject
from symdecouple.errors import InvalidInput, UnsupportedExpression
from symdecouple.language.budget import check
from symdecouple.language.convolution import Kernel, convolve
from symdecouple.language.feature import Feature
from symdecouple.language.filtered import Filtered, Unit
from symdecouple.language.filters import Filter
from symdecouple.language.kinks import in_sides, in_signs
from symdecouple.language.mean import Mean
from symdecouple.language.sample import BoundSample, Sample
from symdecouple.language.taps import entries, origin_of, shape_of

__all__ = ["ValuesAt", "exact_sample", "fields_at"]

Array = NDArray[Any]
MAX_EXPONENT = 5000  # a decimal beyond is no measurement, and its digits would fill the memory
WRITTEN_OUT = 64
"""Samples up to which functions with kinks are evaluated by jets, which go through all pairs of samples."""


def exact_sample(sample: Any) -> tuple[tuple[Fraction, ...], tuple[int, ...]]:
    """Return a sample as exact numbers in C order, and its shape; floats are the decimals that they print as.

    Raises
    ------
    InvalidInput
        For what is no array of finite real numbers.

    Examples
    --------
    >>> exact_sample([[0, 0.1], [Fraction(1, 3), 2]])[0]
    (Fraction(0, 1), Fraction(1, 10), Fraction(1, 3), Fraction(2, 1))
    """
    if isinstance(sample, np.ma.MaskedArray) and np.ma.is_masked(sample):
        raise InvalidInput("the sample at= is masked in places: C1 at a sample looks at all of its entries")
    try:
        nested = _nested(sample)
        array = nested if isinstance(nested, np.ndarray) else np.array(nested, dtype=object)
    except ValueError as error:
        raise InvalidInput(f"the sample at= is a vector or a grid of numbers, its rows differ in length: {error}"
                           ) from error
    if array.ndim == 0 or array.size < 2:
        raise InvalidInput(f"the sample at= is a vector or a grid of at least 2 numbers, got shape {array.shape}")
    return tuple(map(_fraction, array.ravel().tolist() if array.dtype.kind in "iu" else array.flat)), array.shape


def _nested(sample: Any) -> Any:
    """Return lists as they are, for NumPy would round what is in them, and whatever else as an array."""
    listed = isinstance(sample, (list, tuple)) and not any(isinstance(row, np.ndarray) for row in sample)
    return sample if listed else np.asarray(sample)


def _fraction(value: Any) -> Fraction:
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        if isinstance(value, (float, np.floating)):
            return Fraction(str(value))
        if isinstance(value, Rational):
            return Fraction(int(value.p), int(value.q))
        if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) > MAX_EXPONENT:
            raise OverflowError
        if isinstance(value, (RationalNumber, Decimal, np.integer)):
            return Fraction(int(value)) if isinstance(value, np.integer) else Fraction(value)
        if isinstance(value, Expr) and value.is_Float:
            return Fraction(str(value))
    except (ValueError, OverflowError, TypeError) as error:
        raise InvalidInput(f"a sample consists of finite rational or decimal numbers, got {value!r}") from error
    raise InvalidInput(f"a sample consists of finite rational or decimal numbers, got {type(value).__name__} {value!r}")


def fields_at(subject: Subject, sample: Sequence[Fraction], shape: tuple[int, ...],
              world: World) -> tuple[list[list[Any]], ValuesAt | None]:
    """Return the components of all fields at a sample, and what evaluated them; None where jets did.

    Raises
    ------
    Irrational
        If a value is not rational, or an interval is too wide.
    OutsideDomain, ZeroDivisionError
        If a field has no value there.
    UnsupportedExpression
        For parameters and filters without taps.
    """
    at = ValuesAt(sample, shape, world, subject.coordinates)
    try:
        return [at.field(item) for item in subject.items], at
    except UnsupportedExpression:
        if len(sample) > WRITTEN_OUT or subject.parameters or subject.filters:
            raise
    point = Point(sample, {}, world, subject.coordinates, shape)
    return [field_at(item, point)[0] for item in subject.items], None


class ValuesAt:
    """Expressions at one sample: arrays of its shape for functions of the sample, numbers for constants.

    Parameters
    ----------
    sample : sequence of Fraction, (N,)
    shape : tuple of int
    world : World
    coordinates : sequence of Symbol, optional
    """

    def __init__(self, sample: Sequence[Fraction], shape: tuple[int, ...], world: World,
                 coordinates: Sequence[Symbol] = ()) -> None:
        if prod(shape) != len(sample):
            raise InvalidInput(f"{len(sample)} samples are no grid of shape {shape}")
        self.world, self.shape, self.size = world, shape, len(sample)
        self._sample = self._array(map(self._number, sample))
        self._direction: Array | None = None
        self._places = {symbol: k for k, symbol in enumerate(coordinates)}
        self._values: dict[Expr, Any] = {}
        self._slopes: dict[Expr, Any] = {}

    def field(self, item: Any) -> list[Any]:
        """Return the components of a field, N times the gradient for averages, in C order."""
        field = gradient(item) if isinstance(item, Feature) else item
        if field.coordinates:
            return [self.value(component) for component in field.components]
        return self.everywhere(field.expr)

    def everywhere(self, expr: Expr, where: Sequence[bool] | None = None) -> list[Any]:
        """Return the values of a function of the sample at each of its numbers, in C order; 0 where it is not asked."""
        if where is not None:
            at = ValuesAt([], (0,), self.world)
            at.size = sum(where)
            at.shape, at._sample = (at.size,), self._sample[np.array(where)]
            at._values = {mean: self.value(mean) for mean in expr.atoms(Mean)}
            found = iter(at.everywhere(expr))
            return [next(found) if asked else self._number(Fraction(0)) for asked in where]
        return self._spread(self.value(expr))

    def turned(self, feature: Feature, direction: Sequence[Any]) -> list[Any]:
        """Return the derivative of the gradient field of averages along a direction, in numbers of the world."""
        self._direction, self._slopes = self._array(direction), {}
        return self._spread(self.slope(feature.gradient.expr))

    def _spread(self, value: Any) -> list[Any]:
        return list(value.flat) if isinstance(value, np.ndarray) else [value] * self.size

    def along(self, feature: Feature, direction: Sequence[int]) -> Any:
        """Return the sum of the field's components times a direction of whole numbers, forward through the feature."""
        turned = self._array(map(self._number, map(Fraction, direction)))
        if self._direction is None or any(a != b for a, b in zip(self._direction.flat, turned.flat, strict=True)):
            self._direction, self._slopes = turned, {}
        slope = self.slope(in_signs(in_sides(feature.expr)))
        return slope if feature.coordinates else slope * self.size

    def value(self, expr: Expr) -> Any:
        """Return the value of an expression."""
        check()
        if expr not in self._values:
            self._values[expr] = self._value(expr)
        return self._values[expr]

    def slope(self, expr: Expr) -> Any:
        """Return the derivative of an expression along the direction."""
        if expr not in self._slopes:
            self._slopes[expr] = self._slope(expr)
        return self._slopes[expr]

    def _value(self, expr: Expr) -> Any:
        if expr.is_Rational:
            return self._number(Fraction(int(expr.p), int(expr.q)))
        if isinstance(expr, (Sample, BoundSample)):
            return self._sample
        if expr in self._places:
            return self._sample.flat[self._places[expr]]
        if isinstance(expr, Mean):
            return self._average(self.value(expr.body))
        if isinstance(expr, Filtered):
            return self._filtered(expr.filter, self.value(expr.argument))
        if isinstance(expr, Unit):
            return self._number(Fraction(1))
        if expr.is_Add:
            return _folded(_plus, map(self.value, expr.args))
        if expr.is_Mul:
            return _folded(_times, map(self.value, expr.args))
        if expr.is_Pow and expr.exp.is_Rational:
            return _each(self._power(int(expr.exp.p), int(expr.exp.q)), self.value(expr.base))
        if expr.is_number and not expr.args:
            return self.world.function(str(expr))(None)
        if (known := _function_of_one(expr)) is not None:
            return _each(self._known(known[0]), self.value(known[1]))
        if expr.is_Pow:
            return self.value(_exp_log(expr))
        raise UnsupportedExpression(f"{expr} cannot be evaluated at a sample; bind it first, features.bind({{...}})")

    def _slope(self, expr: Expr) -> Any:
        if isinstance(expr, (Sample, BoundSample)):
            return self._direction
        if expr in self._places and self._direction is not None:
            return self._direction.flat[self._places[expr]]
        if not expr.args or isinstance(expr, Unit):
            return self._number(Fraction(0))
        if isinstance(expr, Mean):
            return self._average(self.slope(expr.body))
        if isinstance(expr, Filtered):
            return self._filtered(expr.filter, self.slope(expr.argument))
        if expr.is_Add:
            return _folded(_plus, map(self.slope, expr.args))
        if expr.is_Mul:
            terms = []
            for k, factor in enumerate(expr.args):
                others = [self.value(other) for n, other in enumerate(expr.args) if n != k]
                terms.append(_folded(_times, [self.slope(factor), *others]))
            return _folded(_plus, terms)
        if expr.is_Pow and expr.exp.is_Rational:
            outer = _times(self.value(expr.exp), self.value(Pow(expr.base, expr.exp - 1)))
            return _times(outer, self.slope(expr.base))
        if (known := _function_of_one(expr)) is not None and known[0] in RULES:
            rule = RULES[known[0]]
            one, function = self.world.number(Fraction(1)), self.world.function
            outer = _each(lambda v: rule(self._plain(v), function, one)[1], self.value(known[1]))
            return _times(outer, self.slope(known[1]))
        if expr.is_Pow:
            return self.slope(_exp_log(expr))
        raise UnsupportedExpression(f"{expr} has no derivative here")

    def _average(self, values: Any) -> Any:
        if not isinstance(values, np.ndarray):
            return values
        return _times(_folded(_plus, values.flat), self._number(Fraction(1, self.size)))

    def _filtered(self, h: Filter, values: Any) -> Any:
        if h.is_symbolic or h.dc.free_symbols:
            raise UnsupportedExpression(f"the filter {h} cannot be evaluated at a sample: it has no exact taps; bind "
                                        f"it, features.bind({{...}})")
        taps = h.args[0]
        numbers = self._array([self.value(tap) for _, tap in entries(taps)], shape_of(taps))
        if not isinstance(values, np.ndarray):
            values = self._array([values] * self.size)
        kernel = Kernel(numbers, origin_of(h.args[1], shape_of(taps)), h.boundary, h.transposed)
        return convolve(values, kernel, tuple(range(len(self.shape))))

    def _power(self, p: int, q: int) -> Callable[[Any], Any]:
        def power(v: Any) -> Any:
            v = self._root(v, q) if q > 1 else v
            if p >= 0:
                return raised(v, p)
            if self.world.iv is None:
                return Fraction(1) / raised(v, -p)
            if self.world.is_zero(v):
                raise OutsideDomain
            return 1 / raised(v, -p)

        return power

    def _root(self, v: Any, q: int) -> Any:
        if self.world.iv is None:
            return exact_root(Fraction(v), q)
        return self.world.function("sqrt")(v) if q == 2 else self.world.iv.exp(self.world.iv.log(positive(v)) / q)

    def _known(self, name: str) -> Callable[[Any], Any]:
        function = self.world.function(name)

        def known(v: Any) -> Any:
            out = function(self._plain(v))
            if out is None:
                raise Irrational
            return out

        return known

    def _plain(self, v: Any) -> Any:
        return Fraction(v) if self.world.iv is None else v

    def _number(self, value: Fraction) -> Any:
        """Return a number of the world; whole numbers as such, which are quicker than fractions."""
        if self.world.iv is None:
            return value.numerator if value.denominator == 1 else value
        return self.world.number(value)

    def _array(self, values: Iterable[Any], shape: tuple[int, ...] | None = None) -> Array:
        out = np.empty(prod(self.shape if shape is None else shape), dtype=object)
        for k, v in enumerate(values):
            out[k] = v
        return out.reshape(self.shape if shape is None else shape)


def _each(function: Callable[[Any], Any], values: Any) -> Any:
    if not isinstance(values, np.ndarray):
        return function(values)
    known: dict[Any, Any] = {}
    out = np.empty(values.size, dtype=object)
    for k, v in enumerate(values.flat):
        check()
        key = v if isinstance(v, (int, Fraction)) else v._mpi_
        if key not in known:
            known[key] = function(v)
        out[k] = known[key]
    return out.reshape(values.shape)


def _plus(a: Any, b: Any) -> Any:
    return b + a if isinstance(b, np.ndarray) else a + b


def _times(a: Any, b: Any) -> Any:
    return b * a if isinstance(b, np.ndarray) else a * b


def _folded(combine: Callable[[Any, Any], Any], values: Iterable[Any]) -> Any:
    iterator = iter(values)
    total = next(iterator)
    for value in iterator:
        total = combine(total, value)
    return total


def _function_of_one(expr: Expr) -> tuple[str, Expr] | None:
    """Return the name and the argument of a known function of one argument, a polygamma function of one order too."""
    if isinstance(expr, polygamma) and expr.args[0].is_Integer:
        return polygamma_name(int(expr.args[0])), expr.args[1]
    if len(expr.args) == 1 and not isinstance(expr, (AppliedUndef, Symbol)):
        return expr.func.__name__, expr.args[0]
    return None


def _exp_log(expr: Expr) -> Expr:
    return exp(log(expr.base) * expr.exp, evaluate=False)
