r"""Exact linear algebra: ranks, minors and membership in a span, without ever eliminating blindly.

Over a field of rational functions the generic rank is first bounded from below at a random point modulo a prime (a
nonzero minor there is a nonzero minor), in milliseconds. Only what that point says is in the span is then solved
for, on the pivot rows, and the solution is proved by verifying the identity on all rows.

Over numbers (rationals, or intervals whose zero test is "may be zero") elimination finds a nonzero minor if there is
one that can be certified.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from sympy import Expr
from sympy.polys.fields import FracElement

from symdecouple.calculus.coefficients import CoefficientField
from symdecouple.calculus.elementary import World
from symdecouple.errors import UnsupportedExpression
from symdecouple.language.budget import Budget, check

__all__ = ["Snapshot", "determinant", "independent_rows", "solve", "upper_bound"]

PRIME = 18446733749312668799
"""A safe prime, 3 mod 4: odd roots are unique, and square roots of squares can be chosen to be squares again. All
numbers up to 46 are squares modulo it, so that their roots, sqrt(2) in exp(sqrt(2)*x), are there too; so are the nested
roots in cosines of parts of pi, for it is -1 modulo 64, 27, 25, 7, 11, 13 and 17."""


class Snapshot:
    """The coefficients at one random point modulo a prime; roots are chosen consistently there.

    Generators that are `fixed`, by their places, have given values.
    """

    def __init__(self, coefficients: CoefficientField, rng: random.Random,
                 fixed: Mapping[int, int] | None = None) -> None:
        self.coefficients = coefficients
        given = fixed or {}
        for _ in range(200):
            check()
            self.values = [given.get(k, rng.randrange(1, PRIME)) for k in range(len(coefficients.generators))]
            if self._choose_roots():
                return
        roots = ", ".join(f"({radicand})**(1/{q})" for radicand, q in coefficients.roots.values())
        raise UnsupportedExpression(f"no point was found at which these roots can be chosen consistently: {roots}")

    def at(self, element: FracElement) -> int:
        """Return the value of an element; ZeroDivisionError where its denominator vanishes."""
        return self._poly(element.numer) * pow(self._poly(element.denom), -1, PRIME) % PRIME

    def columns(self, forms: Sequence[dict[Expr, FracElement]], basis: Sequence[Expr]) -> list[list[int]]:
        """Return one column of coefficients per form."""
        return [[self.at(form[psi]) if psi in form else 0 for psi in basis] for form in forms]

    def _poly(self, polynomial: Any) -> int:
        total = 0
        for monomial, c in polynomial.iterterms():
            term = int(c.numerator) * pow(int(c.denominator), -1, PRIME)
            for value, power in zip(self.values, monomial, strict=False):
                if power:
                    term = term * pow(value, power, PRIME) % PRIME
            total += term
        return total % PRIME

    def _choose_roots(self) -> bool:
        for index, q, radicand in self.coefficients.relations:
            try:
                value = self.at(radicand)
            except ValueError:
                return False
            odd = q
            while odd % 2 == 0:
                if pow(value, (PRIME - 1) // 2, PRIME) != 1:
                    return False
                value, odd = pow(value, (PRIME + 1) // 4, PRIME), odd // 2
            self.values[index] = pow(value, pow(odd, -1, PRIME - 1), PRIME) if odd > 1 else value
        return True


def modular_pivots(columns: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """Return the pivot columns (each independent of those before it) and as many independent rows, mod the prime."""
    work = [list(column) for column in columns]
    chosen: list[int] = []
    rows: list[int] = []
    for k in range(len(work)):
        check()
        for done, row in zip(chosen, rows, strict=True):
            factor = work[k][row] * pow(work[done][row], -1, PRIME) % PRIME
            if factor:
                work[k] = [(a - factor * b) % PRIME for a, b in zip(work[k], work[done], strict=True)]
        row_found = next((r for r, value in enumerate(work[k]) if value), None)
        if row_found is not None:
            chosen.append(k)
            rows.append(row_found)
    return chosen, rows


def solve(columns: Sequence[dict[Expr, FracElement]], target: dict[Expr, FracElement], rows: Sequence[Expr],
          coefficients: CoefficientField, budget: Budget) -> list[FracElement] | None:
    """Return weights with sum_k weights[k] columns[k] = target on the given rows; None if these rows are singular."""
    zero = coefficients.field.zero
    matrix = [[*(column.get(row, zero) for column in columns), target.get(row, zero)] for row in rows]
    size = len(columns)
    for k in range(size):
        candidates = [r for r in range(k, size) if matrix[r][k] != 0]
        if not candidates:
            return None
        pivot = min(candidates, key=lambda r: len(matrix[r][k].numer) + len(matrix[r][k].denom))
        matrix[k], matrix[pivot] = matrix[pivot], matrix[k]
        for r in range(size):
            if r != k and matrix[r][k] != 0:
                factor = matrix[r][k] / matrix[k][k]
                for c in range(k, size + 1):
                    if matrix[k][c] != 0:
                        budget.check("solving a linear system")
                        matrix[r][c] = coefficients.reduced(matrix[r][c] - factor * matrix[k][c])
    return [coefficients.reduced(matrix[k][size] / matrix[k][k]) for k in range(size)]


def independent_rows(columns: Sequence[Sequence[Any]], world: World) -> list[int] | None:
    """Return rows on which the columns have a minor that is certainly not zero; None if none was found."""
    work = [list(column) for column in columns]
    rows: list[int] = []
    for k in range(len(work)):
        check()
        for done, row in enumerate(rows):
            check()
            factor = work[k][row] / work[done][row]
            work[k] = [a - factor * b for a, b in zip(work[k], work[done], strict=True)]
        free = [r for r in range(len(work[k])) if r not in rows and not world.is_zero(work[k][r])]
        if not free:
            return None
        rows.append(max(free, key=lambda r: upper_bound(work[k][r])))
    return sorted(rows)


def determinant(matrix: Sequence[Sequence[Any]], world: World) -> Any:
    """Return the determinant by elimination: exact for rationals, an enclosure for intervals."""
    work = [list(row) for row in matrix]
    size = len(work)
    total = world.number(Fraction(1))
    for k in range(size):
        check()
        pivot = max(range(k, size), key=lambda r: upper_bound(work[r][k]))
        if world.is_zero(work[pivot][k]):
            return work[pivot][k] * 0 if world.iv is None else world.iv.mpf([-world.iv.inf, world.iv.inf])
        if pivot != k:
            work[k], work[pivot], total = work[pivot], work[k], -total
        total = total * work[k][k]
        for r in range(k + 1, size):
            check()
            factor = work[r][k] / work[k][k]
            work[r] = [a - factor * b for a, b in zip(work[r], work[k], strict=True)]
    return total


def upper_bound(value: Any) -> Any:
    """Return the absolute value of a number, the largest one of an interval."""
    return abs(value) if not hasattr(value, "mid") else abs(value).b
