r"""Expressions of averages as functions of arrays: one text, evaluated in float64 or with mpmath numbers.

An expression such as ``x*Mean(x**2) - Mean(x)`` is split into its averages, innermost first, and what remains. Each
average is a function of one number followed by a sum over the last axis; nothing is ever written out over N. In high
precision the same functions run on object arrays of mpmath numbers, inside the caller's precision context.

Averages are taken as they were declared: ``Mean((x - Mean(x))**4)`` is computed by two passes, as a careful user would.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray
from sympy import Dummy, Expr, Symbol, lambdify

from symdecouple.errors import InvalidInput, UnsupportedExpression
from symdecouple.language.filters import Filtered
from symdecouple.language.mean import Mean
from symdecouple.language.sample import Sample

__all__ = ["Compiled", "as_multiprecision", "elementwise"]

Array = NDArray[Any]

_FUNCTIONS = ("exp log sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf gamma loggamma "
              "sec csc cot sech csch coth").split()


class Compiled:
    """Expressions in one sample, with averages, compiled once.

    Parameters
    ----------
    exprs : sequence of Expr
    sample : Sample
        The free sample of the expressions; expressions without it give one value a sample vector.
    arguments : sequence of Symbol
        Further numbers that are passed at each call (a flow parameter, say).
    """

    def __init__(self, exprs: Sequence[Expr], sample: Sample, arguments: Sequence[Symbol] = ()) -> None:
        free = set().union(*(e.free_symbols for e in exprs)) - {sample, *arguments}
        if free:
            names = ", ".join(sorted(map(str, free)))
            raise InvalidInput(f"{names} must be bound to numbers first: features.bind({{...}})")
        if any(e.has(Filtered) for e in exprs):
            raise UnsupportedExpression("filtered features are not compiled to arrays here")
        self._x = Dummy("x")
        self._arguments = [Dummy(str(a)) for a in arguments]
        self._rename = {sample: self._x, **dict(zip(arguments, self._arguments, strict=True))}
        self._steps: list[tuple[Dummy, Expr]] = []
        self._known: dict[Expr, Dummy] = {}
        self._sample = sample
        self._outputs = [self._split(e) for e in exprs]
        self._compiled: dict[bool, tuple[list[Callable[..., Any]], list[Callable[..., Any]]]] = {}

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
        steps, outputs = self._functions(values.dtype == object)
        known: list[Any] = []
        for step in steps:
            body = np.broadcast_to(step(values, *arguments, *known), values.shape)
            known.append(body.sum(axis=-1, keepdims=True) / values.shape[-1])
        out = []
        for expr, output in zip(self._outputs, outputs, strict=True):
            shape = values.shape if expr.has(self._x) else (*values.shape[:-1], 1)
            out.append(np.broadcast_to(output(values, *arguments, *known), shape))
        return out

    def _split(self, expr: Expr) -> Expr:
        if isinstance(expr, Mean):
            if expr not in self._known:
                body = self._split(expr.opened(self._sample))
                self._known[expr] = Dummy(f"mean{len(self._steps)}")
                self._steps.append((self._known[expr], body))
            return self._known[expr]
        if expr in self._rename:
            return self._rename[expr]
        if not expr.args:
            return expr
        return expr.func(*(self._split(arg) for arg in expr.args))

    def _functions(self, multiprecision: bool) -> tuple[list[Callable[..., Any]], list[Callable[..., Any]]]:
        if multiprecision not in self._compiled:
            modules: Any = [elementwise(), "mpmath"] if multiprecision else ["numpy", "scipy"]
            symbols = [self._x, *self._arguments]
            steps = []
            for dummy, body in self._steps:
                steps.append(lambdify(list(symbols), body, modules=modules, cse=True))
                symbols.append(dummy)
            outputs = [lambdify(list(symbols), e, modules=modules, cse=True) for e in self._outputs]
            self._compiled[multiprecision] = steps, outputs
        return self._compiled[multiprecision]


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
