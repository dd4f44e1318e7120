r"""Functions of explicit coordinates on arrays: values, gradients and Hessians applied to fields.

A sample vector of n numbers is the point (x1, ..., xn); each coordinate is one argument of the compiled formulas, for
all rows at once. Gradients are scaled like those of averages, v = n grad f, so that both kinds move along the same
equations.

*Derivatives along directions* of expressions that share parts, without writing the derivatives out:

.. math:: p_i = e_i(x, p_1, \ldots, p_{i-1}), \qquad
    \dot p_i = \sum_s \frac{\partial e_i}{\partial s}\,\dot s, \quad s \in \{x, p_1, \ldots, p_{i-1}\}

The shared parts p_i are found first; each is differentiated alone, in the symbols that stand in it (tangents in forward
accumulation: A. Griewank and A. Walther, Evaluating Derivatives, SIAM 2008, section 3.1). The size of the result is
that of the expressions times the number of directions, where formulas in x alone grow with every product and quotient.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

import mpmath
import numpy as np
from sympy import Add, Dummy, Expr, Symbol, cse, numbered_symbols

from symdecouple.errors import InvalidInput
from symdecouple.language.feature import Feature
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.sample import Coordinate
from symdecouple.numeric.features.expressions import Array, Compiled, function_of, slope_of
from symdecouple.numeric.features.features import CompiledFeatures

__all__ = ["CompiledCoordinates", "CoordinateFunction", "compiled_feature", "compiled_features", "tangents"]

Parts: TypeAlias = list[tuple[Symbol, Expr]]


class CoordinateFunction:
    """Expressions of coordinates, compiled once.

    Parameters
    ----------
    exprs : sequence of Expr
    coordinates : sequence of Coordinate
        All n of them.
    fields : sequence of Dummy
        Further arguments: the numbers of fields, coordinate after coordinate.
    parts : sequence of (Symbol, Expr), optional
        What the expressions share, in order, where it has names already.

    Examples
    --------
    >>> from symdecouple.language.sample import coordinates
    >>> x1, x2 = coordinates(2)
    >>> CoordinateFunction([x1**2 + x2**2, x1*x2], (x1, x2))(np.array([[3.0, 4.0], [0.0, 1.0]])).tolist()
    [[25.0, 12.0], [1.0, 0.0]]
    """

    def __init__(self, exprs: Sequence[Expr], coordinates: Sequence[Coordinate], fields: Sequence[Dummy] = (),
                 parts: Sequence[tuple[Symbol, Expr]] | None = None) -> None:
        named, bodies = zip(*parts, strict=True) if parts else ((), ())
        if free := set().union(*(e.free_symbols for e in (*exprs, *bodies))) - {*coordinates, *fields, *named}:
            raise InvalidInput(f"{', '.join(sorted(map(str, free)))} must be bound to numbers first: "
                               "features.bind({...})")
        self._size = len(coordinates)
        symbols = {c: Dummy(c.name, real=True) for c in coordinates}
        self._symbols = [*symbols.values(), *fields]
        self._exprs = [e.xreplace(symbols) for e in exprs]
        self._parts = None if parts is None else [(name, part.xreplace(symbols)) for name, part in parts]
        self._compiled: dict[bool, Callable[..., Any]] = {}

    def __call__(self, rows: Array, fields: Array | None = None) -> Array:
        """Return the values at points (..., n), of shape (..., number of expressions).

        Parameters
        ----------
        rows : array (..., n)
            float64, or object arrays of mpmath numbers.
        fields : array (..., number of further arguments), optional
            Further leading axes are further fields at the same points.

        Raises
        ------
        InvalidInput
            If the points have another number of coordinates.
        """
        if rows.shape[-1] != self._size:
            raise InvalidInput(f"the features are functions of {self._size} coordinates, the samples have "
                               f"{rows.shape[-1]} numbers")
        precise = rows.dtype == object
        if precise not in self._compiled:
            self._compiled[precise] = function_of(self._symbols, self._exprs, precise, self._parts)
        shape = rows.shape[:-1] if fields is None else fields.shape[:-1]
        try:
            with np.errstate(all="ignore"):  # what is not finite is NaN, and refused by who asked
                found = self._compiled[precise](*_columns(rows), *(() if fields is None else _columns(fields)))
        except (ZeroDivisionError, ValueError):  # of mpmath, for all points
            if fields is not None:
                raise
            return np.full((len(self._exprs),), mpmath.nan) if rows.ndim == 1 else np.stack([self(row) for row in rows])
        out = np.empty((*shape, len(self._exprs)), dtype=rows.dtype)
        for i, column in enumerate(found):
            out[..., i] = mpmath.mpf(column) if precise and isinstance(column, int) else column
        return out


def _columns(rows: Array) -> Array:
    """Return the coordinates one after the other, each in one piece of memory: a row has the same bits in any batch."""
    return np.ascontiguousarray(np.moveaxis(rows, -1, 0))


class CompiledCoordinates:
    """The values, gradients and second derivatives of functions of coordinates, on arrays; a kind of `Features`.

    Parameters
    ----------
    features : FeatureSet
        Of functions of coordinates, with all parameters bound.

    Notes
    -----
    A feature is NaN where it is not defined. Gradients are written out, n expressions for each feature; their
    derivatives along fields are those of the parts that they share (see `tangents`), when they are asked for first.

    Examples
    --------
    >>> from symdecouple.language.sample import coordinates
    >>> x1, x2 = coordinates(2)
    >>> features = CompiledCoordinates(FeatureSet([x1**2 + x2**2, x1*x2]))
    >>> features.gradients(np.array([[3.0, 4.0]])).tolist()  # twice (2 x1, 2 x2) and (x2, x1)
    [[[12.0, 16.0], [8.0, 6.0]]]
    >>> features.curvature(np.array([[3.0, 4.0]]), np.array([[[1.0, 0.0], [0.0, 1.0]]])).tolist()  # (4, 0) + (2, 0)
    [[6.0, 0.0]]
    """

    def __init__(self, features: FeatureSet) -> None:
        self.names = tuple(map(str, features))
        self._coordinates, self._exprs = features.coordinates, [f.expr for f in features]
        self._values = CoordinateFunction(self._exprs, self._coordinates)
        self._written: dict[Expr, list[Expr]] = {}
        self._gradients: dict[int, CoordinateFunction] = {}
        self._curvatures: dict[int, CoordinateFunction] = {}

    def __len__(self) -> int:
        return len(self.names)

    def values(self, rows: Array) -> Array:
        """Return the features of points (..., n), of shape (..., M)."""
        return self._values(rows)

    def gradients(self, rows: Array, count: int | None = None) -> Array:
        """Return v = n grad f of the first `count` features (default all), of shape (..., count, n)."""
        count, n = len(self) if count is None else count, len(self._coordinates)
        if count not in self._gradients:
            slopes = [slope for e in self._exprs[:count] for slope in self._slopes(e)]
            self._gradients[count] = CoordinateFunction(slopes, self._coordinates)
        return n * self._gradients[count](rows).reshape(*rows.shape[:-1], count, n)

    def curvature(self, rows: Array, weights: Array) -> Array:
        """Return the sum over j of n Hess f_j w_j, (..., n), for weights (..., count, n).

        Further leading axes of the weights are further fields at the same points.
        """
        count, n = weights.shape[-2:]
        if count not in self._curvatures:
            fields = [Dummy(f"w{i}", real=True) for i in range(count * n)]
            slopes = [self._slopes(e) for e in self._exprs[:count]]
            parts, rates = tangents(slopes, [dict(zip(self._coordinates, fields[j * n : (j + 1) * n], strict=True))
                                             for j in range(count)])
            self._curvatures[count] = CoordinateFunction([Add(*along) for along in zip(*rates, strict=True)],
                                                         self._coordinates, fields, parts)
        moved: Array = n * self._curvatures[count](rows, weights.reshape(*weights.shape[:-2], count * n))
        return moved

    def _slopes(self, expr: Expr) -> list[Expr]:
        if expr not in self._written:
            self._written[expr] = [slope_of(expr, c) for c in self._coordinates]
        return self._written[expr]


def compiled_features(features: FeatureSet) -> CompiledCoordinates | CompiledFeatures:
    """Return a set of features with expressions, of averages or of coordinates, on arrays."""
    return CompiledCoordinates(features) if features.coordinates else CompiledFeatures(features)


def compiled_feature(feature: Feature) -> tuple[Callable[[Array], list[Array]], Callable[[Array], list[Array]]]:
    """Return one feature with an expression, (..., 1), and its field v = N grad f, (..., N), each alone in a list."""
    if not feature.coordinates:
        return Compiled([feature.expr], feature.sample), Compiled([feature.gradient.expr], feature.sample)
    compiled = CompiledCoordinates(FeatureSet([feature]))
    return lambda rows: [compiled.values(rows)], lambda rows: [compiled.gradients(rows)[..., 0, :]]


# --- derivatives along directions ---


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
