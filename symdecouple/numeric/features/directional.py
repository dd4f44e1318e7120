r"""Derivatives along directions of expressions that share parts, without writing the derivatives out.

.. math:: p_i = e_i(x, p_1, \ldots, p_{i-1}), \qquad
    \dot p_i = \sum_s \frac{\partial e_i}{\partial s}\,\dot s, \quad s \in \{x, p_1, \ldots, p_{i-1}\}

The shared parts p_i are found first; each is differentiated alone, in the symbols that stand in it (tangents in forward
accumulation: A. Griewank and A. Walther, Evaluating Derivatives, SIAM 2008, section 3.1). The size of the result is
that of the expressions times the number of directions, where formulas in x alone grow with every product and quotient.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TypeAlias

from sympy import Add, Dummy, Expr, Symbol, cse, numbered_symbols

from symdecouple.numeric.features.expressions import slope_of

__all__ = ["Parts", "tangents"]

Parts: TypeAlias = list[tuple[Symbol, Expr]]


def tangents(exprs: Sequence[Sequence[Expr]], directions: Sequence[Mapping[Symbol, Expr]]
             ) -> tuple[Parts, list[list[Expr]]]:
    """Return the derivative of each group of expressions along its own direction, in terms of parts.

    Parameters
    ----------
    exprs : sequence of sequences of Expr
        Groups of expressions.
    directions : sequence of mappings
        One for each group: the rates at which symbols change; other symbols are constant.

    Returns
    -------
    parts : list of (Symbol, Expr)
        In order: each in terms of the symbols and of parts before it.
    rates : list of lists of Expr
        The derivatives, in terms of the symbols and of the parts.

    Notes
    -----
    Exact where every part is differentiable; at a point where one is not, such as a shared root at 0, the derivative
    is not finite although that of the expression may be.

    Examples
    --------
    >>> from sympy import exp, symbols
    >>> x, y, u = symbols("x y u")
    >>> parts, ((rate,),) = tangents([[exp(x*y)]], [{x: u}])
    >>> for name, part in reversed(parts):
    ...     rate = rate.xreplace({name: part})
    >>> rate
    u*y*exp(x*y)
    """
    parts, reduced = cse([e for group in exprs for e in group], symbols=numbered_symbols("p", cls=Dummy))
    program, left = list(parts), iter(reduced)

    @cache
    def slope(part: Expr, symbol: Symbol) -> Expr:
        """Of a part, named once for all directions."""
        found = slope_of(part, symbol)
        if found.args:
            program.append((Dummy("d", real=True), found))
        return program[-1][0] if found.args else found

    def along(part: Expr, changing: Mapping[Symbol, Expr]) -> Expr:
        inside = sorted((s for s in part.free_symbols if s in changing), key=lambda s: s.sort_key())
        return Add(*(slope(part, s) * changing[s] for s in inside))

    rates = []
    for group, direction in zip(exprs, directions, strict=True):
        found, changing = [next(left) for _ in group], dict(direction)
        for name, part in _needed(parts, found):
            rate = along(part, changing)
            if rate != 0:
                changing[name] = Dummy("r", real=True)
                program.append((changing[name], rate))
        rates.append([along(e, changing) for e in found])
    return program, rates


def _needed(parts: Parts, exprs: Sequence[Expr]) -> Iterator[tuple[Symbol, Expr]]:
    """Yield the parts that stand in these expressions, directly or in other parts, in order."""
    used = set().union(*(e.free_symbols for e in exprs))
    for name, part in reversed(parts):
        if name in used:
            used |= part.free_symbols
    return ((name, part) for name, part in parts if name in used)
