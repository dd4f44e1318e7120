r"""Functions of windows of neighbouring samples: what they see, and whether they are one analytic function.

.. math:: (h(u))_n = \sum_k h_k\, u_{n-k}

A function at n of samples in a window [n + a, n + b] is met at many n, so that a root of a product meets itself:
sqrt(x_0 x_1) sqrt(x_1 x_2) = |x_1| sqrt(x_0 x_2). `is_one_function` therefore asks for more than smoothness: where a
root or a logarithm restricts the samples, those that it leaves are connected, being all or cut out by linear
inequalities. Filters are written as shifts first; what is a square in disguise is one then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count

from sympy import (
    Dummy,
    Expr,
    Function,
    Integer,
    Pow,
    asinh,
    atan,
    cos,
    cosh,
    cot,
    coth,
    csc,
    csch,
    erf,
    exp,
    gamma,
    log,
    polygamma,
    sec,
    sech,
    sin,
    sinh,
    tan,
    tanh,
)

from symdecouple.errors import UnsupportedExpression
from symdecouple.language.disguise import is_analytic
from symdecouple.language.filtered import Filtered
from symdecouple.language.lags import lagged
from symdecouple.language.mean import Mean
from symdecouple.language.sample import Sample

__all__ = ["Window", "hull", "is_one_function", "length", "window_of", "window_sum"]

Window = tuple[int, int] | None
"""The first and the last offset of the samples that a function sees; None for a constant."""

_EVERYWHERE = (exp, sin, cos, tan, cot, sec, csc, sinh, cosh, tanh, coth, sech, csch, asinh, atan, erf, gamma,
               polygamma)
"""Analytic at all numbers but poles, of which a complement stays connected where it is complex."""


def window_of(expr: Expr) -> Window:
    """Return the offsets of the samples that a function of windows sees, at most.

    Examples
    --------
    >>> from symdecouple.language.filters import Filter, shift
    >>> from symdecouple.language.sample import x
    >>> window_of(x * shift(2)(x)), window_of(Filter([1, 2, 3, 4], origin=0)(shift(2)(x)**2))
    ((-2, 0), (-5, -2))
    """
    if isinstance(expr, Sample):
        return (0, 0)
    if isinstance(expr, Mean):
        raise UnsupportedExpression(f"{expr} is no function of neighbouring samples")
    if isinstance(expr, Filtered):
        lags = list(expr.filter.lags)
        return window_sum(window_of(expr.argument), (-max(lags), -min(lags)))
    return hull(window_of(arg) for arg in expr.args if isinstance(arg, Expr))


def hull(windows: Iterable[Window]) -> Window:
    """Return the smallest window that contains all."""
    found = [w for w in windows if w is not None]
    return (min(w[0] for w in found), max(w[1] for w in found)) if found else None


def window_sum(left: Window, right: Window) -> Window:
    """Return what a function sees whose samples are functions themselves; a constant sees nothing more."""
    if left is None or right is None:
        return left or right
    return left[0] + right[0], left[1] + right[1]


def length(rows: Sequence[int], window: Window) -> int:
    """Return the number of neighbouring samples that some rows together may see."""
    low, high = window or (0, 0)
    return max(rows) - min(rows) + 1 + high - low if rows else 0


def is_one_function(bodies: Iterable[Expr], sample: Sample) -> bool:
    """True iff functions of windows are known to be analytic, at all places together, on connected samples.

    Examples
    --------
    >>> from sympy import sqrt
    >>> from symdecouple.language.filters import shift
    >>> from symdecouple.language.sample import x
    >>> is_one_function([sqrt(1 + (x - shift(1)(x))**2)], x), is_one_function([sqrt(x * shift(1)(x))], x)
    (True, False)
    """
    written = [_in_shifts(body, sample) for body in bodies]
    return is_analytic(written) and all(_is_harmless(node) for body in written for node in _nodes(body))


def _in_shifts(body: Expr, sample: Sample) -> Expr:
    """Return a body with a symbol for each shift of the sample."""
    names: dict[Expr, Dummy] = {}
    number = count()

    def named(node: Expr) -> Expr:
        if isinstance(node, (Sample, Filtered)):
            if node not in names:
                names[node] = Dummy(f"x{next(number)}", **sample._assumptions_orig)
            return names[node]
        return node.func(*map(named, node.args)) if node.args and node.has(Sample) else node

    return named(lagged(body, sample))


def _nodes(expr: Expr) -> Iterator[Expr]:
    yield expr
    for arg in expr.args:
        if isinstance(arg, Expr):
            yield from _nodes(arg)


def _is_harmless(node: Expr) -> bool:
    """True iff a node is defined at all numbers but poles, or on a convex set."""
    if isinstance(node, Pow) and not isinstance(node.exp, Integer) and not isinstance(node, exp):
        return bool(node.base.is_positive) or (node.exp.is_number and _is_linear(node.base))
    if isinstance(node, log):
        inner = node.args[0]
        if isinstance(inner, Pow) and isinstance(inner.exp, Integer):
            inner = inner.base
        return bool(inner.is_positive) or _is_linear(inner)
    if isinstance(node, Function) and not isinstance(node, _EVERYWHERE):
        return all(map(_is_linear, node.args))
    return True


def _is_linear(expr: Expr) -> bool:
    poly = expr.as_poly(*sorted(expr.free_symbols, key=str)) if expr.free_symbols else None
    return not expr.free_symbols or (poly is not None and poly.total_degree() <= 1)
