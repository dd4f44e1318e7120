r"""Functions of explicit coordinates on arrays: values, gradients and Hessians applied to fields.

A sample vector of n numbers is the point (x1, ..., xn); each coordinate is one argument of the compiled formulas, for
all rows at once. Gradients are scaled like those of averages, v = n grad f, so that both kinds move along the same
equations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import numpy as np
from sympy import Add, Dummy, Expr, Symbol

from symdecouple.errors import InvalidInput
from symdecouple.language.feature import Feature
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.sample import Coordinate
from symdecouple.numeric.features.directional import tangents
from symdecouple.numeric.features.expressions import Array, Compiled, function_of, slope_of
from symdecouple.numeric.features.features import CompiledFeatures

__all__ = ["CompiledCoordinates", "CoordinateFunction", "compiled_feature", "compiled_features"]


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
