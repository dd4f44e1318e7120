r"""Vector fields on the space of sample vectors.

A field in the sample, v(x), moves each sample by the same rule: its n-th component is v(x_n), with coefficients that
may be averages. A field in coordinates lists its components. Gradients of averages are stored as v = N grad f, so that
they do not depend on N; the inner product is <u, v> = Mean(u v) and grad f . grad g = <v_f, v_g>/N.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sympy import Expr, MatrixBase, Symbol, latex

from symdecouple.errors import InvalidInput
from symdecouple.language.binding import bind, on_grid, parameters_of, spread
from symdecouple.language.feature import check_smooth
from symdecouple.language.mean import Mean, exact
from symdecouple.language.sample import Coordinate, Sample, x

__all__ = ["VectorField", "is_matrix", "matrix_remedy", "one_sample", "rows_of"]


class VectorField:
    """A vector field, in the sample or in explicit coordinates.

    Parameters
    ----------
    field : Expr, or sequence of Expr
        One expression in the sample; or, with `coordinates`, one component per coordinate.
    coordinates : sequence of Symbol, optional
        The coordinates of a field given by components.
    allow_nonsmooth : iterable of str
        As in `Feature`.
    gradient_of : Any
        The feature it is the gradient field of, shown when it prints.

    Raises
    ------
    InvalidInput
        If components and coordinates do not match in number, or a coordinate occurs twice.

    Examples
    --------
    >>> from symdecouple.language.sample import x, coordinates
    >>> VectorField(x**2)
    VectorField(x**2)
    >>> x1, x2 = coordinates(2)
    >>> VectorField([x1, -x2], [x1, x2])
    VectorField((x1, -x2), (x1, x2))
    """

    __slots__ = ("allow_nonsmooth", "components", "coordinates", "gradient_of")
    components: tuple[Expr, ...]
    coordinates: tuple[Symbol, ...]
    allow_nonsmooth: frozenset[str]
    gradient_of: Any

    def __init__(self, field: Any, coordinates: Iterable[Symbol] | None = None, *,
                 allow_nonsmooth: Iterable[str] = (), gradient_of: Any = None) -> None:
        if is_matrix(field) and (coordinates is None or 1 not in np.shape(field)):
            raise InvalidInput(f"{matrix_remedy(field)}, VectorField(components, coordinates)")
        if coordinates is None and isinstance(field, (list, tuple)):
            raise InvalidInput(f"{len(field)} components need their coordinates: VectorField(components, coordinates)")
        components = tuple(exact(c, "VectorField") for c in ([field] if coordinates is None else field))
        symbols = () if coordinates is None else tuple(coordinates)
        _check(components, symbols)
        for component in components:
            check_smooth(component, allow_nonsmooth)
        for name, value in (("components", components), ("coordinates", symbols), ("gradient_of", gradient_of),
                            ("allow_nonsmooth", frozenset(allow_nonsmooth))):
            object.__setattr__(self, name, value)

    @classmethod
    def columns(cls, matrix: Any, coordinates: Iterable[Symbol], *,
                allow_nonsmooth: Iterable[str] = ()) -> tuple[VectorField, ...]:
        """Return the columns of a matrix as fields, one row for each coordinate.

        Parameters
        ----------
        matrix : Matrix, array_like of Expr, (N, M)
            A SymPy matrix, a NumPy array, or a list of rows.
        coordinates : sequence of Symbol, (N,)
        allow_nonsmooth : iterable of str
            As in `Feature`.

        Raises
        ------
        InvalidInput
            If the rows are not as many as the coordinates, or differ in length.

        Examples
        --------
        >>> from sympy import Matrix, symbols
        >>> p, theta = symbols("p theta")
        >>> VectorField.columns(Matrix([[1, 0], [theta, p]]), [p, theta])
        (VectorField((1, theta), (p, theta)), VectorField((0, p), (p, theta)))
        """
        symbols = tuple(coordinates)
        rows = rows_of(matrix)
        if len(rows) != len(symbols) or len({len(row) for row in rows}) != 1 or not rows[0]:
            raise InvalidInput(f"a matrix of fields has a row for each of the coordinates {symbols}, and columns of "
                               f"one length; got rows of lengths {[len(row) for row in rows]}")
        return tuple(cls(list(column), symbols, allow_nonsmooth=allow_nonsmooth) for column in zip(*rows, strict=True))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a VectorField is immutable; build a new one instead of setting {name}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.components, self.coordinates, self.allow_nonsmooth, self.gradient_of)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VectorField) and (self.components, self.coordinates) == (
            other.components, other.coordinates)

    def __hash__(self) -> int:
        return hash((self.components, self.coordinates))

    @property
    def kind(self) -> str:
        """"mean" (a field in the sample, any sample size) or "coordinates"."""
        return "coordinates" if self.coordinates else "mean"

    @property
    def expr(self) -> Expr:
        """The field as one expression in the sample."""
        if self.coordinates:
            raise InvalidInput(f"{self} has {len(self.components)} components, not one expression in the sample")
        return self.components[0]

    @property
    def sample(self) -> Sample:
        """The generic sample, with its domain."""
        found = [*self.expr.atoms(Sample), *(mean.sample for mean in self.expr.atoms(Mean))]
        return found[0] if found else x

    @property
    def parameters(self) -> frozenset[Any]:
        """Everything that must be bound before numbers."""
        return frozenset().union(*(parameters_of(c) for c in self.components)) - set(self.coordinates)

    def in_sample(self, sample: Sample) -> VectorField:
        """Return the same field written in another sample of the same domain."""
        if self.coordinates or not self.expr.atoms(Sample) - {sample}:
            return self
        return VectorField(self.expr.xreplace({self.sample: sample}), allow_nonsmooth=self.allow_nonsmooth,
                           gradient_of=self.gradient_of)

    def bind(self, values: Any) -> VectorField:
        """Return the field with parameters, filters and undefined functions replaced."""
        return VectorField([bind(c, values) for c in self.components] if self.coordinates else bind(self.expr, values),
                           self.coordinates or None, allow_nonsmooth=self.allow_nonsmooth)

    def at(self, *, n_samples: int | tuple[int, ...]) -> VectorField:
        """Return the field in explicit coordinates, component v(x_n) for each n; on a grid of samples in C order.

        Examples
        --------
        >>> from symdecouple.language.sample import x
        >>> VectorField(x - Mean(x)).at(n_samples=2)
        VectorField((x1/2 - x2/2, -x1/2 + x2/2), (x1, x2))
        """
        points, shape = on_grid(n_samples)
        if self.coordinates:
            if len(self.coordinates) != len(points):
                raise InvalidInput(f"{self} has {len(self.coordinates)} coordinates, not {n_samples}")
            return self
        symbol = self.sample
        return VectorField([spread(self.expr, points, symbol, k, shape) for k in range(len(points))],
                           points, allow_nonsmooth=self.allow_nonsmooth)

    def __repr__(self) -> str:
        if self.coordinates:
            return f"VectorField({self.components}, {self.coordinates})"
        return f"VectorField({self.expr})"

    @property
    def body(self) -> str:
        """The components as text, whatever it is the gradient of."""
        return str(self.components) if self.coordinates else str(self.expr)

    def __str__(self) -> str:
        if self.gradient_of is None:
            return self.body
        return f"grad f = {self.body}" if self.coordinates else f"N grad f = {self.body}"

    def latex(self) -> str:
        """Return the field as LaTeX, without the dollar signs."""
        parts = list(map(latex, self.components))
        head = "" if self.gradient_of is None else (r"\nabla f = " if self.coordinates else r"N\,\nabla f = ")
        return head + (rf"\left({', '.join(parts)}\right)" if self.coordinates else parts[0])

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.latex()}$"


def is_matrix(value: Any) -> bool:
    """True for a SymPy matrix and for arrays with two axes."""
    return isinstance(value, MatrixBase) or len(getattr(value, "shape", ())) == 2


def matrix_remedy(value: Any) -> str:
    """Say what to do with a matrix in the place of fields; the caller adds the second remedy."""
    return (f"a {' x '.join(map(str, np.shape(value)))} matrix does not say what its coordinates are, nor whether rows "
            "or columns are fields: VectorField.columns(matrix, coordinates) takes the columns, OneForm.rows(matrix, "
            "coordinates) the rows as 1-forms; or give components")


def one_sample(items: Iterable[Any]) -> Sample:
    """Return the sample that features and fields of the mean kind are functions of; refuse different domains."""
    found = {s for item in items for s in (*item.expr.atoms(Sample), *(m.sample for m in item.expr.atoms(Mean)))}
    if len({s.interval for s in found}) > 1:
        raise InvalidInput("the fields are over samples of different domains: "
                           + ", ".join(sorted(f"{s.name} in {s.interval}" for s in found)))
    return min(found, key=str) if found else x


def rows_of(matrix: Any) -> list[list[Any]]:
    """Return the rows of a Matrix, an array or a list of rows."""
    if isinstance(matrix, MatrixBase) or hasattr(matrix, "tolist"):
        matrix = matrix.tolist()
    if not isinstance(matrix, (list, tuple)) or not all(isinstance(row, (list, tuple)) for row in matrix):
        raise InvalidInput(f"a matrix is a Matrix, an array with two axes or a list of rows, got {matrix!r}")
    return [list(row) for row in matrix]


def _check(components: tuple[Expr, ...], symbols: tuple[Symbol, ...]) -> None:
    if symbols:
        if len(components) != len(symbols) or len(set(symbols)) != len(symbols):
            raise InvalidInput(f"field has {len(components)} components, coordinates are {symbols}; "
                               "give one component for each of distinct coordinates")
        if any(c.atoms(Sample) or c.atoms(Mean) for c in components):
            raise InvalidInput("a field in coordinates has no averages and no generic sample; use .at(n_samples=N)")
        return
    if components[0].atoms(Coordinate):
        raise InvalidInput(f"{components[0]} contains coordinates: give all components, "
                           "VectorField(components, coordinates)")
    if len(components[0].atoms(Sample)) > 1:
        raise InvalidInput(f"a field is a function of one sample, got {components[0]}")


def _restore(components: Any, coordinates: Any, allowed: Any, gradient_of: Any) -> VectorField:
    return VectorField(components if coordinates else components[0], coordinates or None, allow_nonsmooth=allowed,
                       gradient_of=gradient_of)
