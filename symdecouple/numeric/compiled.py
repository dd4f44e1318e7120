r"""Expressions of averages as functions of arrays: one text, evaluated in float64 or with mpmath numbers.

An expression such as ``x*Mean(x**2) - Mean(x)`` is split into its averages, innermost first, and what remains. Each
average is a function of one number followed by a sum over the last axis; nothing is ever written out over N. In high
precision the same functions run on object arrays of mpmath numbers, inside the caller's precision context.

Averages are taken as they were declared: ``Mean((x - Mean(x))**4)`` is computed by two passes, as a careful user would.

Derivatives run through the same graph, forwards and backwards. With s_i = Mean(phi_i) the averages in their order,

.. math::

    D_u s_i = \mathrm{Mean}\Bigl(\partial_x\varphi_i\, u + \sum_{j<i} \partial_{s_j}\varphi_i\, D_u s_j\Bigr)

for a field u that is given by its N numbers; the pullback is the transpose of that for <u, v> = Mean(u v).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray
from sympy import DiracDelta, Dummy, Expr, Function, Pow, S, Symbol, cosh, lambdify, sinh, tanh

from symdecouple.calculus.gradient import gradient
from symdecouple.errors import InvalidInput, UnsupportedExpression
from symdecouple.language.feature import FeatureSet
from symdecouple.language.filters import Filtered
from symdecouple.language.mean import Mean
from symdecouple.language.sample import Sample

__all__ = ["Compiled", "CompiledFeatures", "as_multiprecision", "average", "elementwise"]

Array = NDArray[Any]

_FUNCTIONS = ("exp log sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf gamma loggamma "
              "sec csc cot sech csch coth sign").split()

_TIMES = Function("times")
_MULTIPLIED = 64  # powers up to here are products: pow() costs forty times as much as one


class Compiled:
    """Expressions in one sample, with averages, compiled once.

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
        free = set().union(*(e.free_symbols for e in exprs)) - {sample, *arguments}
        if free:
            names = ", ".join(sorted(map(str, free)))
            raise InvalidInput(f"{names} must be bound to numbers first: features.bind({{...}})")
        if any(e.has(Filtered) for e in exprs):
            raise UnsupportedExpression("filtered features are not compiled to arrays here")
        self._x = Dummy("x", real=True)
        self._arguments = [Dummy(str(a), real=True) for a in arguments]
        self._rename = {sample: self._x, **dict(zip(arguments, self._arguments, strict=True))}
        self._steps: list[tuple[Dummy, Expr]] = []
        self._known: dict[Expr, Dummy] = {}
        self._sample = sample
        self._outputs = [self._split(e) for e in exprs]
        self.pointwise = tuple(e.has(self._x) for e in self._outputs)
        self._compiled: dict[bool, tuple[list[Callable[..., Any]], list[Callable[..., Any]]]] = {}
        self._differentiated: dict[bool, tuple[list[_Partials], list[_Partials]]] = {}

    def __len__(self) -> int:
        return len(self._outputs)

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
            (..., N) where the sample is free, else (..., 1).
        """
        _, outputs = self._functions(values.dtype == object)
        known = self._averages(values, arguments)
        return [_spread(output(values, *arguments, *known), shape, values.dtype == object)
                for output, shape in zip(outputs, self._shapes(values), strict=True)]

    def derivative(self, values: Array, direction: Array, *arguments: Any) -> list[Array]:
        """Return the derivatives D_u along a field u, of the shapes that the expressions have.

        Parameters
        ----------
        values : array (..., N)
        direction : array (..., N)
            The numbers of u; further leading axes are further fields at the same sample vectors.
        *arguments : arrays (..., 1) or scalars
            Held constant.
        """
        steps, outputs = self._partials(values.dtype == object)
        known = self._averages(values, arguments)
        along: list[Any] = []
        for step in steps:
            along.append(average(step.along(direction, along, (values, *arguments, *known)), direction.shape))
        found = (output.along(direction, along, (values, *arguments, *known)) for output in outputs)
        return [_spread(d, shape) for d, shape in zip(found, self._shapes(direction), strict=True)]

    def pullback(self, values: Array, weights: Sequence[Any], *arguments: Any) -> Array:
        r"""Return the field p with Mean(p u) = sum of <w_i, D_u e_i> for every field u.

        Here <w, d> is Mean(w d) for expressions with the free sample, and w d for those without it: the pullback of 1
        through a feature f is its gradient field v_f = N grad f.

        Parameters
        ----------
        values : array (..., N)
        weights : sequence of arrays
            One for each expression, (..., N) or (..., 1) as the expression; further leading axes as in `derivative`.
        *arguments : arrays (..., 1) or scalars

        Returns
        -------
        array (..., N)
        """
        steps, outputs = self._partials(values.dtype == object)
        inputs = (values, *arguments, *self._averages(values, arguments))
        lead = np.broadcast_shapes(values.shape[:-1], *(np.shape(w)[:-1] for w in weights))
        shape = (*lead, values.shape[-1])
        field: Array = np.zeros(shape[-1:], dtype=values.dtype)
        collected: list[Any] = [0] * len(steps)
        for output, weight, pointwise in zip(outputs, weights, self.pointwise, strict=True):
            here, inner = output.back(weight, inputs)
            field = field + here
            for j, part in inner:
                collected[j] = collected[j] + (average(part, shape) if pointwise else part)
        for i in reversed(range(len(steps))):
            here, inner = steps[i].back(collected[i], inputs)
            field = field + here
            for j, part in inner:
                collected[j] = collected[j] + average(part, shape)
        return _spread(field, shape)

    def _averages(self, values: Array, arguments: Sequence[Any]) -> list[Any]:
        known: list[Any] = []
        for step in self._functions(values.dtype == object)[0]:
            known.append(average(step(values, *arguments, *known), values.shape))
        return known

    def _shapes(self, values: Array) -> list[tuple[int, ...]]:
        return [values.shape if pointwise else (*values.shape[:-1], 1) for pointwise in self.pointwise]

    def _split(self, expr: Expr) -> Expr:
        if isinstance(expr, Mean):
            if expr not in self._known:
                body = self._split(expr.opened(self._sample))
                self._known[expr] = Dummy(f"mean{len(self._steps)}", real=True)
                self._steps.append((self._known[expr], body))
            return self._known[expr]
        if expr in self._rename:
            return self._rename[expr]
        if not expr.args:
            return expr
        return expr.func(*(self._split(arg) for arg in expr.args))

    def _functions(self, multiprecision: bool) -> tuple[list[Callable[..., Any]], list[Callable[..., Any]]]:
        if multiprecision not in self._compiled:
            symbols = self._symbols()
            steps = [_function(symbols[: len(symbols) - len(self._steps) + i], body, multiprecision)
                     for i, (_, body) in enumerate(self._steps)]
            self._compiled[multiprecision] = steps, [_function(symbols, e, multiprecision) for e in self._outputs]
        return self._compiled[multiprecision]

    def _partials(self, multiprecision: bool) -> tuple[list[_Partials], list[_Partials]]:
        if multiprecision not in self._differentiated:
            symbols, means = self._symbols(), [dummy for dummy, _ in self._steps]
            first = len(symbols) - len(means)
            self._differentiated[multiprecision] = (
                [_Partials(body, self._x, means[:i], symbols[: first + i], multiprecision)
                 for i, (_, body) in enumerate(self._steps)],
                [_Partials(e, self._x, means, symbols, multiprecision) for e in self._outputs],
            )
        return self._differentiated[multiprecision]

    def _symbols(self) -> list[Dummy]:
        return [self._x, *self._arguments, *(dummy for dummy, _ in self._steps)]


class CompiledFeatures:
    """The values, gradient fields and second derivatives of a feature set, on arrays.

    Parameters
    ----------
    features : FeatureSet
        Of averages, with all parameters bound.

    Notes
    -----
    Sample vectors with a number outside the open interval of the sample have NaN for everything.

    Examples
    --------
    >>> from symdecouple.language.sample import x
    >>> features = CompiledFeatures(FeatureSet([Mean(x), Mean(x**2)]))
    >>> rows = np.array([[1.0, 2.0, 6.0]])
    >>> features.values(rows).tolist()
    [[3.0, 13.666666666666666]]
    >>> features.gradients(rows).tolist()
    [[[1.0, 1.0, 1.0], [2.0, 4.0, 12.0]]]
    """

    def __init__(self, features: FeatureSet) -> None:
        if features.coordinates:
            raise UnsupportedExpression("functions of explicit coordinates are not compiled to arrays here")
        self.names = tuple(map(str, features))
        self._sample = features.sample
        self._values = Compiled([f.expr for f in features], self._sample)
        self._fields = [gradient(f).in_sample(self._sample).expr for f in features]
        self._gradients: dict[int, Compiled] = {}
        self._low, self._high = (float(end) for end in self._sample.interval)
        self._is_everywhere = np.isinf([self._low, self._high]).all()

    def __len__(self) -> int:
        return len(self.names)

    def values(self, rows: Array) -> Array:
        """Return the features of sample vectors (..., N), of shape (..., M)."""
        return self._inside(rows, np.concatenate(self._values(rows), axis=-1), 1)

    def gradients(self, rows: Array, count: int | None = None) -> Array:
        """Return v = N grad f of the first `count` features (default all), of shape (..., count, N)."""
        fields = self._compiled(len(self) if count is None else count)(rows)
        stacked = np.empty((len(fields), *rows.shape), dtype=rows.dtype)  # each field in one piece of memory
        for place, field in zip(stacked, fields, strict=True):
            place[...] = field
        return self._inside(rows, stacked.swapaxes(0, 1) if rows.ndim == 2 else np.moveaxis(stacked, 0, -2), 2)

    def curvature(self, rows: Array, weights: Array) -> Array:
        r"""Return :math:`\sum_j D_{w_j} v_j`, N times the Hessian of f_j applied to w_j, summed over leading features.

        Parameters
        ----------
        rows : array (..., N)
        weights : array (..., count, N)
            Further leading axes as in `Compiled.derivative`.

        Returns
        -------
        array (..., N)
        """
        compiled = self._compiled(weights.shape[-2])
        # A Hessian is symmetric: the pullback of the weights is the derivative along them, summed in one sweep.
        parts = [weights[..., j, :] for j in range(len(compiled))]
        return compiled.pullback(rows, [part if pointwise else average(part, part.shape)
                                        for part, pointwise in zip(parts, compiled.pointwise, strict=True)])

    def _compiled(self, count: int) -> Compiled:
        if count not in self._gradients:
            self._gradients[count] = Compiled(self._fields[:count], self._sample)
        return self._gradients[count]

    def _inside(self, rows: Array, found: Array, n_axes: int) -> Array:
        if self._is_everywhere:
            return found
        inside = ((rows > self._low) & (rows < self._high)).all(axis=-1)
        return np.where(inside.reshape(*inside.shape, *[1] * n_axes), found, np.nan)


class _Partials:
    """The derivatives of one expression by the sample and by the averages in it, those that do not vanish."""

    def __init__(self, expr: Expr, x: Dummy, means: list[Dummy], symbols: list[Dummy], multiprecision: bool) -> None:
        by_mean = {j: expr.diff(mean) for j, mean in enumerate(means) if expr.has(mean)}
        slope = expr.diff(x)
        self._has_slope = slope != 0
        self._means = [j for j, partial in by_mean.items() if partial != 0]
        partials = [_away_from_kinks(p) for p in (slope, *(by_mean[j] for j in self._means))]
        self._function = _function(symbols, [_without_overflow(p) for p in partials], multiprecision)
        self._count = len(symbols)

    def along(self, direction: Array, along: list[Any], inputs: tuple[Any, ...]) -> Any:
        """Return D_u of the expression; `along` are those of the averages."""
        slope, *partials = self._at(inputs)
        total: Any = slope * direction if self._has_slope else 0
        for j, partial in zip(self._means, partials, strict=True):
            total = total + partial * along[j]
        return total

    def back(self, weight: Any, inputs: tuple[Any, ...]) -> tuple[Any, list[tuple[int, Any]]]:
        """Return the weight times the slope, and (j, weight times the derivative by average j)."""
        slope, *partials = self._at(inputs)
        return (weight * slope if self._has_slope else 0,
                [(j, weight * partial) for j, partial in zip(self._means, partials, strict=True)])

    def _at(self, inputs: tuple[Any, ...]) -> list[Any]:
        found: list[Any] = self._function(*inputs[: self._count])
        return found


def _function(symbols: Sequence[Dummy], expr: Any, multiprecision: bool) -> Callable[..., Any]:
    """Compile one expression, or a list of them that share their parts."""
    if multiprecision:
        modules: Any = [elementwise(), "mpmath"]
    else:
        modules = [{"times": np.multiply}, "numpy", "scipy"]
        expr = [_as_products(e) for e in expr] if isinstance(expr, list) else _as_products(expr)
    function: Callable[..., Any] = lambdify(list(symbols), expr, modules=modules, cse=True)
    return function


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


def _without_overflow(expr: Expr) -> Expr:
    """Write sinh/cosh as tanh, where that is shorter: their quotient is undefined from 711 on."""
    other = expr.replace(sinh, lambda a: tanh(a) * cosh(a))
    return other if other.count_ops() < expr.count_ops() else expr


def _away_from_kinks(expr: Expr) -> Expr:
    return expr.replace(DiracDelta, lambda *_: S.Zero)


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
    return {name: np.frompyfunc(getattr(mpmath, name), 1, 1) for name in _FUNCTIONS}


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
        if isinstance(value, (mpmath.mpf, float)):
            return +mpmath.mpf(value)
        if isinstance(value, Expr):
            return mpmath.mpf(value._to_mpmath(mpmath.mp.prec + 15))
        if hasattr(value, "numerator") and hasattr(value, "denominator") and not isinstance(value, np.floating):
            return mpmath.mpf(int(value.numerator)) / int(value.denominator)
        return mpmath.mpf(value.item() if isinstance(value, np.generic) else value)
    except (TypeError, ValueError, AttributeError) as error:
        raise InvalidInput(f"expected real numbers, got {value!r}") from error
