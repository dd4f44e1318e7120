r"""Differential 1-forms in coordinates, and the fields that they annihilate.

.. math:: \omega = \sum_k a_k(q)\, dq_k, \qquad \langle \omega, v \rangle = \sum_k a_k v_k, \qquad
    \ker\{\omega_1, \dots, \omega_m\} = \{v : \langle \omega_i, v \rangle = 0\}

At generic points m independent forms in n coordinates have a kernel of rank n - m, spanned by one field for each
coordinate that is free: its own component 1, those of the other free coordinates 0, the rest solved for. Fields are
multiplied by a common denominator, which changes none of their directions. Whether each form is closed says nothing
about the kernel: y dx - x dy is not, and its kernel, one field in the plane, is involutive.

A relation that forms have at some points only (x dy - y dx vanishes at 0) or at some values of parameters only is no
relation here: all is generic.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sympy import Add, Expr, Mul, Symbol, latex

from symdecouple.calculus.coefficients import CoefficientField
from symdecouple.calculus.field import VectorField, is_matrix, rows_of
from symdecouple.calculus.span import Snapshot, modular_pivots
from symdecouple.errors import InvalidInput, UnsupportedExpression
from symdecouple.language.binding import bind
from symdecouple.language.budget import Budget

__all__ = ["OneForm", "annihilates", "kernel", "without_zero_forms"]

SEED = 4711
TERMS = 200
"""Of a field, up to which common factors are looked for."""


class OneForm:
    """A differential 1-form, sum_k a_k dq_k.

    Parameters
    ----------
    components : sequence of Expr
        One a_k for each coordinate.
    coordinates : sequence of Symbol
    allow_nonsmooth : iterable of str
        As in `Feature`.

    Raises
    ------
    InvalidInput
        If components and coordinates do not match in number, a coordinate occurs twice, or all components are zero.

    Examples
    --------
    >>> from sympy import symbols
    >>> x, y = symbols("x y")
    >>> print(OneForm([y, -x], [x, y]))
    y*dx - x*dy
    """

    __slots__ = ("allow_nonsmooth", "components", "coordinates")
    components: tuple[Expr, ...]
    coordinates: tuple[Symbol, ...]
    allow_nonsmooth: frozenset[str]

    def __init__(self, components: Any, coordinates: Iterable[Symbol] | None = None, *,
                 allow_nonsmooth: Iterable[str] = ()) -> None:
        if coordinates is None or (is_matrix(components) and 1 not in getattr(components, "shape", ())):
            raise InvalidInput(f"a 1-form has components and coordinates, OneForm(components, coordinates), and "
                               f"OneForm.rows(matrix, coordinates) takes the rows of a matrix; got {components!r}"
                               + (" without coordinates" if coordinates is None else ""))
        coordinates = tuple(coordinates)
        if isinstance(components, (list, tuple)) and len(components) != len(coordinates):
            raise InvalidInput(f"a 1-form in the coordinates {coordinates} has a component for each of them, got "
                               f"{len(components)}: {components}")
        field = VectorField(components, coordinates, allow_nonsmooth=allow_nonsmooth)  # refuses what is no expression
        if all(c == 0 for c in field.components):
            raise InvalidInput(f"the zero form in {field.coordinates} annihilates every field, and constrains nothing: "
                               "leave it out")
        for name in self.__slots__:
            object.__setattr__(self, name, getattr(field, name))

    @classmethod
    def rows(cls, matrix: Any, coordinates: Iterable[Symbol]) -> tuple[OneForm, ...]:
        """Return the rows of a matrix as forms, such as those of A(q) in the constraints A(q) q' = 0.

        Parameters
        ----------
        matrix : Matrix, array_like of Expr, (M, N)
        coordinates : sequence of Symbol, (N,)

        Examples
        --------
        >>> from sympy import Matrix, symbols
        >>> x, y, z = symbols("x y z")
        >>> [str(form) for form in OneForm.rows(Matrix([[1, 0, y], [0, 1, x]]), [x, y, z])]
        ['dx + y*dz', 'dy + x*dz']
        """
        symbols = tuple(coordinates)
        return tuple(cls(row, symbols) for row in rows_of(matrix))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a OneForm is immutable; build a new one instead of setting {name}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.components, self.coordinates, self.allow_nonsmooth)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OneForm) and (self.components, self.coordinates) == (
            other.components, other.coordinates)

    def __hash__(self) -> int:
        return hash(("OneForm", self.components, self.coordinates))

    @property
    def dual(self) -> VectorField:
        """The field with the same components: forms are independent where these fields are."""
        return VectorField(self.components, self.coordinates, allow_nonsmooth=self.allow_nonsmooth)

    @property
    def parameters(self) -> frozenset[Any]:
        """Everything in the components that is no coordinate."""
        return self.dual.parameters

    def bind(self, values: Any) -> OneForm:
        """Return the form with parameters replaced; a form that vanishes at these values is refused."""
        return OneForm([bind(a, values) for a in self.components], self.coordinates,
                       allow_nonsmooth=self.allow_nonsmooth)

    def on(self, field: VectorField) -> Expr:
        """Return the value of the form on a field of the same coordinates, not simplified.

        Examples
        --------
        >>> from sympy import symbols
        >>> x, y = symbols("x y")
        >>> OneForm([y, -x], [x, y]).on(VectorField([x, y], [x, y]))
        0
        """
        if field.coordinates != self.coordinates:
            raise InvalidInput(f"the form is in {self.coordinates}, the field in {field.coordinates or 'the sample'}")
        return Add(*(Mul(a, v) for a, v in zip(self.components, field.components, strict=True)))

    def __repr__(self) -> str:
        return f"OneForm({self.components}, {self.coordinates})"

    def __str__(self) -> str:
        return self._sum(str, "{}*", "({})*")

    def latex(self) -> str:
        """Return the form as LaTeX, without the dollar signs."""
        return self._sum(latex, r"{}\, ", r"\left({}\right) ")

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.latex()}$"

    def _sum(self, written: Callable[[Expr], str], plain: str, bracketed: str) -> str:
        text = ""
        for a, q in zip(self.components, self.coordinates, strict=True):
            if a != 0:
                minus = a.could_extract_minus_sign()
                size = -a if minus else a
                factor = "" if size == 1 else (bracketed if size.is_Add else plain).format(written(size))
                text += f" {'-' if minus else '+'} {factor}d{'' if written is str else ' '}{written(q)}"
        return "-" + text[3:] if text.startswith(" - ") else text[3:]


def kernel(forms: Sequence[OneForm], budget: Budget) -> tuple[VectorField, ...]:
    """Return a basis of the fields that all forms annihilate at generic points; empty where there are none but 0.

    Raises
    ------
    InvalidInput
        If the forms are in different coordinates, or one of them is identically zero.
    """
    coordinates = _one_space(forms)
    coefficients = CoefficientField([*(a for form in forms for a in form.components), *coordinates])
    rows = [{q: coefficients.encode(a) for q, a in zip(coordinates, form.components, strict=True)} for form in forms]
    for form, row in zip(forms, rows, strict=True):
        if all(a == 0 for a in row.values()):
            raise InvalidInput(f"the form {form} is identically zero, and constrains nothing: leave it out")
    rows = [_without_denominators(row, coefficients) for row in rows]
    snapshot = Snapshot(coefficients, random.Random(SEED))
    chosen, places = modular_pivots(snapshot.columns(rows, coordinates))
    pivots = [coordinates[k] for k in places]
    matrix = [[rows[i][q] for q in pivots] for i in chosen]
    allowed = frozenset[str]().union(*(form.allow_nonsmooth for form in forms))
    found = []
    for free in coordinates:
        if free in pivots:
            continue
        budget.check("the kernel of forms")
        column = dict(zip(pivots, _solved(matrix, [rows[i][free] for i in chosen], coefficients), strict=True))
        column[free] = _determinant(matrix, coefficients)
        if sum(len(c.numer) for c in column.values()) <= TERMS:
            _, numerators = coefficients.common(list(column.values()))
            column = {q: coefficients.field(n) for q, n in zip(column, numerators, strict=True)}
        found.append(VectorField([coefficients.decode(column[q]) if q in column else 0 for q in coordinates],
                                 coordinates, allow_nonsmooth=allowed))
    if not annihilates([form for k, form in enumerate(forms) if k not in chosen], found):
        raise UnsupportedExpression(f"the forms {', '.join(map(str, forms))} are dependent in a way that was not seen")
    return tuple(found)


def _without_denominators(row: dict[Symbol, Any], coefficients: CoefficientField) -> dict[Symbol, Any]:
    """Return a multiple of a form: its kernel is the same."""
    _, numerators = coefficients.common(list(row.values()))
    return {q: coefficients.field(n) for q, n in zip(row, numerators, strict=True)}


def _solved(matrix: list[list[Any]], last: list[Any], coefficients: CoefficientField) -> list[Any]:
    """Return minus the determinant times the solution of matrix y = last, by minors: nothing is divided (Cramer)."""
    out = []
    for j in range(len(matrix)):
        replaced = [[*row[:j], c, *row[j + 1 :]] for row, c in zip(matrix, last, strict=True)]
        out.append(-_determinant(replaced, coefficients))
    return out


def _determinant(matrix: list[list[Any]], coefficients: CoefficientField) -> Any:
    if not matrix:
        return coefficients.field.one
    first, *rest = matrix
    return coefficients.combined(
        (c if j % 2 == 0 else -c, _determinant([[*row[:j], *row[j + 1 :]] for row in rest], coefficients))
        for j, c in enumerate(first) if c != 0)


def annihilates(forms: Sequence[OneForm], fields: Sequence[VectorField]) -> bool:
    """True iff every form is identically zero on every field."""
    values = [form.on(field) for form in forms for field in fields]
    coefficients = CoefficientField(values)
    return all(map(coefficients.vanishes, values))


def without_zero_forms(forms: Iterable[OneForm], values: Any) -> tuple[OneForm, ...]:
    """Return the forms with parameters bound; those that vanish at these values are left out."""
    out = []
    for form in forms:
        components = [bind(a, values) for a in form.components]
        coefficients = CoefficientField(components)
        if not all(map(coefficients.vanishes, components)):
            out.append(OneForm(components, form.coordinates, allow_nonsmooth=form.allow_nonsmooth))
    return tuple(out)


def _restore(components: Any, coordinates: Any, allowed: Any) -> OneForm:
    return OneForm(components, coordinates, allow_nonsmooth=allowed)


def _one_space(forms: Sequence[OneForm]) -> tuple[Symbol, ...]:
    spaces = {form.coordinates for form in forms}
    if len(spaces) > 1:
        raise InvalidInput("the forms live in different spaces, "
                           + " and ".join(sorted(map(str, spaces))) + ": give all of them in the same coordinates")
    return spaces.pop()
