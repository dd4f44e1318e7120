r"""Expressions of averages as functions of arrays: one text, evaluated in float64 or with mpmath numbers.

An expression such as ``x*Mean(x**2) - Mean(x)`` is split into its averages and filtered parts, innermost first, and
what remains. Each of these steps is a function of one number, followed by a sum over the last axis or by a filter along
it; nothing is ever written out over N. In high precision the same functions run on object arrays of mpmath numbers,
inside the caller's precision context.

Averages are taken as they were declared: ``Mean((x - Mean(x))**4)`` is computed by two passes, as a careful user would.

Derivatives run backwards through the same graph. With s_i = Mean(phi_i) the averages in their order,

.. math::

    D_u s_i = \mathrm{Mean}\Bigl(\partial_x\varphi_i\, u + \sum_{j<i} \partial_{s_j}\varphi_i\, D_u s_j\Bigr)

for a field u that is given by its N numbers; a filtered part h(e) has D_u h(e) = h(D_u e). The pullback is the
transpose of that for <u, v> = Mean(u v): weights go through the adjoint filters.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray
from sympy import DiracDelta, Dummy, Expr, Function, Pow, Rational, S, Symbol, cosh, lambdify, sinh, tanh

from symdecouple.errors import InvalidInput
from symdecouple.language.filtered import DcGain, Filtered, Response, Unit
from symdecouple.language.filters import Filter
from symdecouple.language.mean import Mean
from symdecouple.language.precision import BOUNDED
from symdecouple.language.sample import Sample
from symdecouple.numeric.features.filtering import filtered
from symdecouple.numeric.samples.intake import exact

__all__ = ["Compiled", "as_multiprecision", "average", "elementwise", "function_of", "slope_of", "without_overflow"]

Array = NDArray[Any]

_FUNCTIONS = ("exp log sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc erfi erfinv "
              "gamma loggamma sec csc cot sech csch coth sign airyai airybi "
              "zeta factorial atan2 polygamma beta besselj bessely besseli besselk").split()
_OF_TWO = _FUNCTIONS[_FUNCTIONS.index("atan2") :]

_TIMES = Function("times")
_MULTIPLIED = 64  # powers up to here are products: pow() costs forty times as much as one


class Compiled:
    """Expressions in one sample, with averages and filters, compiled once.

    Parameters
    ----------
    exprs : sequence of Expr
    sample : Sample
        The free sample of the expressions; expressions without it give one value a sample vector.
    arguments : sequence of Symbol
        Further numbers that are passed at each call (a flow parameter, say).

    Attributes
    ----------
    pointwise : tuple of bool
        Which expressions have the sample free.
    """

    def __init__(self, exprs: Sequence[Expr], sample: Sample, arguments: Sequence[Symbol] = ()) -> None:
        free = {s for e in exprs for s in e.free_symbols if not isinstance(s, Response)} - {sample, *arguments}
        taps = {s for e in exprs for h in e.atoms(Filter) for s in h.free_symbols if not isinstance(s, Response)}
        if free | taps:
            names = ", ".join(sorted(map(str, free | taps)))
            raise InvalidInput(f"{names} must be bound to numbers first: features.bind({{...}})")
        self._x = Dummy("x", real=True)
        self._arguments = [Dummy(str(a), real=True) for a in arguments]
        self._rename = {sample: self._x, **dict(zip(arguments, self._arguments, strict=True))}
        self._steps: list[_Step] = []
        self._known: dict[Expr, Dummy] = {}
        self._sample = sample
        self._grid: tuple[int, ...] | None = None
        self._outputs = [self._split(e) for e in exprs]
        vectors = [self._x, *(step.symbol for step in self._steps if step.filter is not None)]
        self.pointwise = tuple(e.has(*vectors) for e in self._outputs)
        self._compiled: dict[tuple[bool, bool], tuple[list[Any], list[Any]]] = {}

    def __len__(self) -> int:
        return len(self._outputs)

    def on(self, grid: tuple[int, ...] | None) -> Compiled:
        """Return the same for samples that lie on a grid, as filters of several dimensions need it; nothing is copied.

        Parameters
        ----------
        grid : tuple of int
            The N numbers of a sample vector, in C order; the default is (N,).
        """
        other = copy.copy(self)
        other._grid = grid
        return other

    def __call__(self, values: Array, *arguments: Any) -> list[Array]:
        """Evaluate at sample vectors.

        Parameters
        ----------
        values : array (..., N)
            float64, or object arrays of mpmath numbers.
        *arguments : arrays (..., 1) or scalars

        Returns
        -------
        list of arrays
            (..., N) where the sample is free, else (..., 1); NaN at sample vectors of mpmath numbers where one divides
            by zero.
        """
        _, outputs = self._functions(values.dtype == object)
        try:
            known = self._intermediate(values, arguments)
            return [_spread(output(values, *arguments, *known), shape, values.dtype == object)
                    for output, shape in zip(outputs, self._shapes(values), strict=True)]
        except (ZeroDivisionError, ValueError) as error:  # of mpmath, for all of them
            if isinstance(error, InvalidInput):
                raise
            if values.ndim == 1:
                return [np.full(shape, mpmath.nan, dtype=values.dtype) for shape in self._shapes(values)]
            each = zip(values, *(np.broadcast_to(a, (*values.shape[:-1], 1)) for a in arguments), strict=True)
            return [np.stack(found) for found in zip(*(self(*row) for row in each), strict=True)]

    def pullback(self, values: Array, weights: Sequence[Any], *arguments: Any) -> Array:
        r"""Return the field p with Mean(p u) = sum of <w_i, D_u e_i> for every field u.

        Here <w, d> is Mean(w d) for expressions with the free sample, and w d for those without it: the pullback of 1
        through a feature f is its gradient field v_f = N grad f.

        Parameters
        ----------
        values : array (..., N)
        weights : sequence of arrays
            One for each expression, (..., N) or (..., 1) as the expression; further leading axes are further weights at
            the same sample vectors.
        *arguments : arrays (..., 1) or scalars

        Returns
        -------
        array (..., N)
        """
        steps, outputs = self._functions(values.dtype == object, are_partials=True)
        inputs = (values, *arguments, *self._intermediate(values, arguments))
        lead = np.broadcast_shapes(values.shape[:-1], *(np.shape(w)[:-1] for w in weights))
        shape = (*lead, values.shape[-1])
        field: Array = np.zeros(shape[-1:], dtype=values.dtype)
        collected: list[Any] = [0] * len(steps)
        for output, weight, pointwise in zip(outputs, weights, self.pointwise, strict=True):
            here, inner = output.back(weight, inputs)
            field = field + here
            for j, part in inner:
                collected[j] = collected[j] + (self._steps[j].collected(part, shape) if pointwise else part)
        for i in reversed(range(len(steps))):
            weight = self._steps[i].weight(collected[i], shape, self._grid)
            here, inner = steps[i].back(weight, inputs)
            field = field + here
            for j, part in inner:
                collected[j] = collected[j] + self._steps[j].collected(part, shape)
        return _spread(field, shape)

    def _intermediate(self, values: Array, arguments: Sequence[Any]) -> list[Any]:
        known: list[Any] = []
        precise = values.dtype == object
        for step, function in zip(self._steps, self._functions(precise)[0], strict=True):
            known.append(step.of(function(values, *arguments, *known), values.shape, self._grid, precise))
        return known

    def _shapes(self, values: Array) -> list[tuple[int, ...]]:
        return [values.shape if pointwise else (*values.shape[:-1], 1) for pointwise in self.pointwise]

    def _split(self, expr: Expr) -> Expr:
        if isinstance(expr, Mean):
            if expr not in self._known:
                body = self._split(expr.opened(self._sample))
                self._known[expr] = self._step(body)
            return self._known[expr]
        if isinstance(expr, Filtered):
            if expr not in self._known:
                self._known[expr] = self._step(self._split(expr.argument), expr.filter)
            return self._known[expr]
        if isinstance(expr, DcGain):
            return Rational(float(np.asarray(expr.args[0].args[0].values).flat[0].real))
        if isinstance(expr, Unit):
            return S.One
        if expr in self._rename:
            return self._rename[expr]
        if not expr.args:
            return expr
        return expr.func(*(self._split(arg) for arg in expr.args))

    def _step(self, body: Expr, h: Filter | None = None) -> Dummy:
        symbol = Dummy(f"step{len(self._steps)}", real=True)
        self._steps.append(_Step(symbol, body, h))
        return symbol

    def _functions(self, multiprecision: bool, are_partials: bool = False) -> tuple[list[Any], list[Any]]:
        """Return the functions of the steps and of the outputs, or their derivatives, compiled when first asked for."""
        if (multiprecision, are_partials) not in self._compiled:
            first, steps = [self._x, *self._arguments], [step.symbol for step in self._steps]

            def made(body: Expr, before: list[Dummy]) -> Any:
                if are_partials:
                    return _Partials(body, self._x, before, [*first, *before], multiprecision)
                return function_of([*first, *before], body, multiprecision)

            self._compiled[multiprecision, are_partials] = (
                [made(step.body, steps[:i]) for i, step in enumerate(self._steps)],
                [made(e, steps) for e in self._outputs])
        return self._compiled[multiprecision, are_partials]


@dataclass(frozen=True, slots=True)
class _Step:
    """The average of a body, one number a sample vector, or the filtered body, a vector."""

    symbol: Dummy
    body: Expr
    filter: Filter | None

    def of(self, found: Any, shape: tuple[int, ...], grid: tuple[int, ...] | None, precise: bool) -> Any:
        """Return the step from the numbers of its body."""
        if self.filter is None:
            return average(found, shape)
        return filtered(self.filter, _spread(found, shape, precise), grid)

    def collected(self, part: Any, shape: tuple[int, ...]) -> Any:
        """Return what a weight at every sample says of the step."""
        return average(part, shape) if self.filter is None else part

    def weight(self, collected: Any, shape: tuple[int, ...], grid: tuple[int, ...] | None) -> Any:
        """Return the weights of the body."""
        if self.filter is None or isinstance(collected, int):
            return collected
        return filtered(self.filter.adjoint, _spread(collected, shape), grid)


class _Partials:
    """The derivatives of one expression by the sample and by the steps in it, those that do not vanish."""

    def __init__(self, expr: Expr, x: Dummy, steps: list[Dummy], symbols: list[Dummy], multiprecision: bool) -> None:
        by_step = {j: slope_of(expr, step) for j, step in enumerate(steps) if expr.has(step)}
        slope = slope_of(expr, x)
        self._has_slope = slope != 0
        self._steps = [j for j, partial in by_step.items() if partial != 0]
        self._function = function_of(symbols, [slope, *(by_step[j] for j in self._steps)], multiprecision)
        self._count = len(symbols)

    def back(self, weight: Any, inputs: tuple[Any, ...]) -> tuple[Any, list[tuple[int, Any]]]:
        """Return the weight times the slope, and (j, weight times the derivative by step j)."""
        slope, *partials = self._function(*inputs[: self._count])
        return (weight * slope if self._has_slope else 0,
                [(j, weight * partial) for j, partial in zip(self._steps, partials, strict=True)])


def function_of(symbols: Sequence[Dummy], expr: Any, multiprecision: bool,
                parts: Sequence[tuple[Symbol, Expr]] | None = None) -> Callable[..., Any]:
    """Compile one expression, or a list of them that share their parts, elementwise on arrays of either kind.

    Parts that were named before (see `tangents`) are computed in their order; without them they are found.
    """
    if multiprecision:
        modules: Any = [elementwise(), "mpmath"]
    else:
        modules = [{"times": np.multiply, "gammaln": _log_gamma, "lambertw": _lambert}, "numpy", "scipy"]
        expr = [_as_products(e) for e in expr] if isinstance(expr, list) else _as_products(expr)
        parts = None if parts is None else [(name, _as_products(part)) for name, part in parts]
    shared: Any = True if parts is None else lambda reduced: (parts, reduced)
    function: Callable[..., Any] = lambdify(list(symbols), expr, modules=modules, cse=shared)
    return function


def _log_gamma(values: Any) -> Any:
    """NaN for negative numbers, where SciPy's gammaln is that of abs(gamma)."""
    from scipy.special import loggamma

    return loggamma(values)


def _lambert(values: Any) -> Any:
    """NaN below -1/e, where SciPy's values are complex."""
    from scipy.special import lambertw

    found = lambertw(values)
    return np.where(found.imag == 0, found.real, np.nan)


def _as_products(expr: Expr) -> Expr:
    """Write integer powers as products of shared factors."""
    if not expr.args:
        return expr
    args = [_as_products(arg) for arg in expr.args]
    if isinstance(expr, Pow) and expr.exp.is_Integer and 2 < abs(expr.exp) <= _MULTIPLIED:
        product = _power(args[0], abs(int(expr.exp)))
        return product if expr.exp > 0 else 1 / product
    return expr.func(*args)


def _power(base: Expr, exponent: int) -> Expr:
    if exponent <= 2:
        return base**exponent
    return _TIMES(_power(base, exponent // 2), _power(base, exponent - exponent // 2))


def without_overflow(expr: Expr) -> Expr:
    """Return it with tanh for sinh/cosh, where that is shorter: their quotient is undefined from 711 on."""
    other = expr.replace(sinh, lambda a: tanh(a) * cosh(a))
    return other if other.count_ops() < expr.count_ops() else expr


def slope_of(expr: Expr, symbol: Symbol) -> Expr:
    """Return the derivative, away from kinks, written so that it does not overflow before its value does."""
    return without_overflow(expr.diff(symbol).replace(DiracDelta, lambda *_: S.Zero))


def average(values: Any, shape: tuple[int, ...]) -> Array:
    """Return the average over the last axis, kept with length one, of what is broadcast to this shape."""
    total: Array = _spread(values, shape).sum(axis=-1, keepdims=True) / shape[-1]
    return total


def _spread(values: Any, shape: tuple[int, ...], precise: bool = False) -> Array:
    if precise and isinstance(values, int):
        values = mpmath.mpf(values)  # quotients of integers would be floats
    return values if getattr(values, "shape", None) == shape else np.broadcast_to(values, shape)


def elementwise() -> Mapping[str, Any]:
    """Return mpmath's elementary functions, acting elementwise on object arrays."""
    functions = {name: getattr(mpmath, name) for name in _FUNCTIONS} | BOUNDED
    functions |= {"log": _log, "LambertW": mpmath.lambertw}
    return {name: np.frompyfunc(function, 1 + (name in _OF_TWO), 1) for name, function in functions.items()}


def _log(value: Any) -> Any:
    """Raise for 0, as a quotient does: of minus infinity a function may have a number again."""
    return mpmath.log(value) if value else 1 / value


def as_multiprecision(values: Any) -> Array:
    """Return numbers of any exact or floating kind as an object array of mpmath numbers at the current precision.

    Raises
    ------
    InvalidInput
        If one is not a real number.
    """
    array = np.asarray(values, dtype=object)
    return np.asarray(np.frompyfunc(_mpf, 1, 1)(array), dtype=object) if array.size else array


def _mpf(value: Any) -> Any:
    try:
        if isinstance(value, Decimal | np.longdouble):
            value = exact(value)
        if isinstance(value, (mpmath.mpf, float)):
            return +mpmath.mpf(value)
        if isinstance(value, Expr):
            return mpmath.mpf(value._to_mpmath(mpmath.mp.prec + 15))
        if hasattr(value, "numerator") and hasattr(value, "denominator") and not isinstance(value, np.floating):
            return mpmath.mpf(int(value.numerator)) / int(value.denominator)
        return mpmath.mpf(value.item() if isinstance(value, np.generic) else value)
    except (TypeError, ValueError, AttributeError) as error:
        raise InvalidInput(f"expected real numbers, got {value!r}") from error
