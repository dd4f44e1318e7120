r"""The linear operators in words, at one sample size: exact matrices, for boundaries where filters need not commute.

An operator is the number of a sparse matrix in a table, scaled to coprime whole numbers: equal matrices are equal
operators, whatever filters they come from, and [K x, L x] = (LK - KL) x vanishes iff the matrices commute. A constant
goes to a constant where all rows have one sum; otherwise K(1) is a function of the place, a letter like others.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm, prod

from sympy import Expr, Rational, S

from symdecouple.calculus.compositions import Noncommuting
from symdecouple.calculus.operators import ONE, Base, Operator, Word, is_innermost
from symdecouple.errors import UnsupportedExpression
from symdecouple.language.filters import Filter
from symdecouple.language.sample import Sample

__all__ = ["MatrixOperators"]

Rows = tuple[tuple[tuple[int, Fraction], ...], ...]


class MatrixOperators(Noncommuting):
    """Filters with taps as matrices, for one number of samples or one grid.

    Parameters
    ----------
    shape : tuple of int

    Examples
    --------
    >>> operators = MatrixOperators((6,))
    >>> left, right = (Filter([-1, 2, -1], boundary="zero"), Filter([1, 2, 1], boundary="zero"))
    >>> (k,), (l,) = operators.of(left), operators.of(right)
    >>> operators.image(k, ((l, ()),)) == operators.image(l, ((k, ()),))
    True
    """

    identity: Operator = (0,)

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape, self.size = shape, prod(shape)
        self._rows: list[Rows] = []
        self._paths: list[tuple[tuple[Filter, ...], Fraction]] = []
        self._number: dict[Rows, int] = {}
        self._products: dict[tuple[int, int], tuple[int, Fraction]] = {}
        self._entered(tuple(((n, Fraction(1)),) for n in range(self.size)), ())

    def of(self, h: Filter) -> dict[Operator, Expr]:
        if h.is_symbolic:
            raise UnsupportedExpression(f"the filter {h} has no taps yet, and at this boundary kernels need not "
                                        f"commute: bind it, features.bind({{{h}: [-1, 2, -1]}})")
        rows = []
        for row in h.rows(self.shape):
            if not all(tap.is_Rational for tap in row.values()):
                raise UnsupportedExpression(f"the taps of {h} are not all rational numbers: bind their parameters")
            rows.append(tuple((n, Fraction(int(row[n].p), int(row[n].q))) for n in sorted(row)))
        number, factor = self._entered(tuple(rows), (h,))
        return {(number,): _rational(factor)}

    def adjoint(self, operator: Operator) -> Operator:
        columns: list[list[tuple[int, Fraction]]] = [[] for _ in range(self.size)]
        for n, row in enumerate(self._rows[operator[0]]):
            for k, entry in row:
                columns[k].append((n, entry))
        path, scale = self._paths[operator[0]]
        return (self._entered(tuple(map(tuple, columns)), tuple(h.adjoint for h in reversed(path)), scale)[0],)

    def letter(self, operator: Operator, base: Base) -> tuple[Word, Expr]:
        if not any(self._rows[operator[0]]):
            return (), S.Zero
        if base == ONE and (gain := self._gain(operator)) is not None:
            return (), gain
        if operator == self.identity and not is_innermost(base):
            return base, S.One
        return ((operator, base),), S.One

    def image(self, operator: Operator, word: Word) -> tuple[Word, Expr]:
        if len(word) != 1:
            return self.letter(operator, word or ONE)
        (inner, base), = word
        product, factor = self._product(operator[0], inner[0])
        image, rest = self.letter((product,), base)
        return image, rest * _rational(factor)

    def expression(self, operator: Operator, argument: Expr) -> Expr:
        path, scale = self._paths[operator[0]]
        for h in reversed(path):
            argument = h(argument)
        return argument * _rational(1 / scale)

    def one(self, operator: Operator, sample: Sample) -> Expr:
        path, scale = self._paths[operator[0]]
        argument = S.One
        for h in reversed(path):
            argument = h(argument, sample)
        return argument * _rational(1 / scale)

    def _gain(self, operator: Operator) -> Expr | None:
        """Return what a constant is multiplied by; None where it becomes a function of the place."""
        sums = {sum((entry for _, entry in row), Fraction(0)) for row in self._rows[operator[0]]}
        return _rational(sums.pop()) if len(sums) == 1 else None

    def _product(self, left: int, right: int) -> tuple[int, Fraction]:
        if (left, right) not in self._products:
            rows = []
            for row in self._rows[left]:
                total: dict[int, Fraction] = {}
                for k, entry in row:
                    for n, other in self._rows[right][k]:
                        total[n] = total.get(n, Fraction(0)) + entry * other
                rows.append(tuple((n, total[n]) for n in sorted(total) if total[n] != 0))
            (one, a), (two, b) = self._paths[left], self._paths[right]
            self._products[left, right] = self._entered(tuple(rows), one + two, a * b)
        return self._products[left, right]

    def _entered(self, rows: Rows, path: tuple[Filter, ...], scale: Fraction = Fraction(1)) -> tuple[int, Fraction]:
        """Return the number of a matrix in the table and the positive factor that was taken out.

        The matrix is what the path of filters gives, divided by the scale.
        """
        content = _content([entry for row in rows for _, entry in row])
        scaled = rows if content == 1 else tuple(tuple((n, entry / content) for n, entry in row) for row in rows)
        if scaled not in self._number:
            self._number[scaled] = len(self._rows)
            self._rows.append(scaled)
            self._paths.append((path, scale * content))
        return self._number[scaled], content


def _content(entries: list[Fraction]) -> Fraction:
    """Return the number by which to divide to have coprime whole numbers; 1 where there are none."""
    if not entries:
        return Fraction(1)
    return Fraction(gcd(*(e.numerator for e in entries)), lcm(*(e.denominator for e in entries)))


def _rational(value: Fraction) -> Rational:
    return Rational(value.numerator, value.denominator)
