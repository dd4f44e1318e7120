r"""Darboux polynomials: p with D_i p = lambda_i p along every field, lambda_i polynomials, their cofactors.

.. math:: \prod_j p_j^{n_j}\, e^{g} \ \text{is constant along the fields} \iff \sum_j n_j \lambda_{ij} + D_i g = 0

Where p vanishes it stays zero. Candidates are the generators, sums and differences of them, what divides a component
or a minor of the fields (the ranks are invariant, so often these are), and what a linear ansatz finds for a cofactor
that is known already.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, combinations_with_replacement
from typing import Any

from sympy.polys.domains import PolynomialRing
from sympy.polys.matrices import DomainMatrix

from symdecouple.errors import BudgetExceeded
from symdecouple.flows.linear_relations import Functions
from symdecouple.flows.symmetries import determinants
from symdecouple.language.budget import check
from symdecouple.language.gate import factor_list

__all__ = ["by_cofactors", "darboux_polynomials", "factors_of"]

MINORS = 12
LARGEST = 6
"""Rows of a minor that is expanded."""
FACTORED = 60
"""Terms of a polynomial that is factored."""
KEPT = 40
MANY = 8
"""Cofactors of known polynomials for which others are looked for."""
NUMBERS = ((1, 1), (-1, 1), (2, 1), (-2, 1), (1, 2), (-1, 2), (3, 1), (-3, 1))
"""Cofactors that are tried of one field: linear equations have them, and scaled ones small multiples."""


def darboux_polynomials(functions: Functions) -> list[Any]:
    """Return polynomials, as elements of the coefficient field, that are invariant along all fields."""
    found: list[Any] = []
    for candidate in _candidates(functions):
        check()
        if len(found) == KEPT:
            break
        if not any(candidate == other or candidate == -other for other in found) and is_darboux(functions, candidate):
            found.append(candidate)
    return found


def by_cofactors(functions: Functions, monomials: Sequence[Mapping[int, int]], known: Sequence[Any],
                 order: int = 1) -> list[Any]:
    """Return Darboux polynomials made of some monomials, with cofactors that are likely.

    Cofactors are small numbers, the divergence, rates of coordinates, and sums of so many cofactors of known ones.
    """
    found, tried = list(known), list[list[Any]]()
    sampled = functions.sampled(monomials)
    for cofactors in _cofactors(functions, known, order):
        if cofactors in tried:
            continue
        tried.append(cofactors)
        check()
        for candidate in functions.invariants(monomials, sampled, cofactors):
            for factor in factors_of(candidate, functions.coefficients.field):
                if factor not in found and -factor not in found and is_darboux(functions, factor):
                    found.append(factor)
    return found[len(known):]


def _cofactors(functions: Functions, known: Sequence[Any], order: int) -> Iterator[list[Any]]:
    field, frame = functions.coefficients.field, functions.frame
    if frame.size == 1:
        yield from ([field.one * field.domain(*number)] for number in NUMBERS)
    own = list[list[Any]]()
    for p in known[:MANY]:
        cofactors = [_quotient(functions, functions.rate(i, p), p) for i in range(frame.size)]
        if cofactors not in own:
            own.append(cofactors)
    yield from own
    if order == 1:
        return
    if frame.size == 1:
        yield [sum((functions.partial(q, c) for q, c in frame.forms[0].items()), field.zero)]
    for q in frame.coordinates:
        rates = [form.get(q, field.zero) for form in frame.forms]
        yield from ([factor * c for c in rates] for factor in (1, -1))
    for count in range(2, order + 1):
        for group in combinations_with_replacement(own, count):
            yield [sum(parts, field.zero) for parts in zip(*group, strict=True)]


def is_darboux(functions: Functions, element: Any) -> bool:
    """True iff the derivatives are polynomial multiples of the element, those of constants not counted."""
    rates = [functions.rate(i, element) for i in range(functions.frame.size)]
    if all(rate == 0 for rate in rates):
        return False
    return all(_is_constant(functions, _quotient(functions, rate, element).denom) for rate in rates)


def _quotient(functions: Functions, rate: Any, element: Any) -> Any:
    """Return a quotient in lowest terms, the denominator free of cosines and square roots: by their conjugates."""
    coefficients = functions.coefficients
    field, quotient = coefficients.field, rate / element
    for index, q, _ in coefficients.relations:
        bottom = quotient.denom
        if q == 2 and bottom.degree(index):
            turned = field.ring.from_dict({m: -c if m[index] % 2 else c for m, c in bottom.iterterms()})
            top = coefficients.reduced(field(quotient.numer * turned))
            quotient = top / coefficients.reduced(field(bottom * turned))
    return quotient


def _is_constant(functions: Functions, polynomial: Any) -> bool:
    used = [k for monomial in polynomial.itermonoms() for k, power in enumerate(monomial) if power]
    return not any(k in functions.moving for k in used)


def _candidates(functions: Functions) -> Iterator[Any]:
    elements, field = functions.elements, functions.coefficients.field
    moving = [elements[k] for k in functions.moving]
    yield from moving
    kinds: dict[Any, list[Any]] = {}
    waves = {sine.name for sine, _ in functions.coefficients.waves} | {c.name for _, c in functions.coefficients.waves}
    for k in functions.moving:
        kinds.setdefault((functions.expressions[k].func, functions.generators[k].name in waves), []).append(elements[k])
    for group in kinds.values():
        for a, b in combinations(group, 2):
            yield from (a + b, a - b)
    for (s, c), (t, d) in combinations(_waves(functions), 2):
        yield from (1 - c * d - s * t, 1 - c * d + s * t)
    for s, _ in _waves(functions):
        yield from (1 - s, 1 + s)
    for _, c in _waves(functions):
        yield from (1 - c, 1 + c)
    for polynomial in _components_and_minors(functions):
        yield from factors_of(field(polynomial), field)
    for element in determinants(functions):
        yield from factors_of(element, field)
    for a, b in combinations(moving, 2):
        yield a**2 + b**2


def _waves(functions: Functions) -> list[tuple[Any, Any]]:
    coefficients = functions.coefficients
    index = {g: functions.elements[k] for k, g in enumerate(functions.generators)}
    return [(index[s], index[c]) for s, c in coefficients.waves]


def _components_and_minors(functions: Functions) -> Iterator[Any]:
    forms, coordinates = functions.frame.forms, functions.frame.coordinates
    ring = functions.coefficients.field.ring
    for form in forms:
        yield from (c.numer for c in form.values() if c.denom.is_ground)
    size = len(forms)
    if not 2 <= size <= LARGEST or any(not c.denom.is_ground for form in forms for c in form.values()):
        return
    for count, rows in enumerate(combinations(coordinates, size)):
        if count == MINORS:
            return
        check()
        matrix = [[form[q].numer if q in form else ring.zero for q in rows] for form in forms]
        yield DomainMatrix(matrix, (size, size), PolynomialRing(ring)).det()


def factors_of(element: Any, field: Any) -> list[Any]:
    """Return the factors of the numerator of an element, none of a long one."""
    polynomial = element.numer
    if polynomial == 0 or polynomial.is_ground or len(polynomial) > FACTORED:
        return []
    try:
        factors = [base for base, _ in factor_list(polynomial.as_expr())[1]]
    except BudgetExceeded:
        return []
    return [field(field.ring.from_expr(base)) for base in factors]
