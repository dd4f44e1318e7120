r"""The monomials whose combinations are tried as first integrals.

.. math:: \prod_k g_k^{n_k}, \quad \sum_k |n_k| \le d, \qquad \text{and} \qquad q\,\mu

The g_k are coordinates, functions and roots that occur, and elements that were adjoined; negative powers are those of
functions that stay zero where they are, of roots and of exponentials. The others are each coordinate times each
monomial of a component: a potential has the degree of the force and one more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sympy import exp

from symdecouple.flows.linear_relations import Functions

__all__ = ["exponents", "from_components", "laurent", "without_what_is_absent"]

Exponents = dict[int, int]

BLOCKS = 6
"""Products of exponentials that stand for their factors."""


def exponents(functions: Functions, degree: int, places: Sequence[int] | None = None) -> Iterator[Exponents]:
    """Yield the monomials up to a degree in what moves, or in some of it, by degree."""
    for total in range(1, degree + 1):
        yield from _powers(functions.moving if places is None else places, total, functions.highest)


def laurent(functions: Functions, degree: int, below: Sequence[int],
            above: Sequence[int] | None = None) -> Iterator[Exponents]:
    """Yield monomials up to a degree, then those divided by powers of what stays zero where it is."""
    yield from exponents(functions, degree, above)
    for total in range(1, degree + 1):
        for count in range(total):
            for top in _powers(functions.moving if above is None else above, count, functions.highest):
                for under in _powers(below, total - count, {}):
                    if not set(top) & set(under):
                        yield {**top, **{k: -n for k, n in under.items()}}


def from_components(functions: Functions) -> list[Exponents]:
    """Return each coordinate times each monomial of a component, and times each coordinate."""
    places = [functions.generators.index(q) for q in functions.frame.coordinates if q not in functions.resting]
    found: list[Exponents] = []
    for monomial in (*_monomials(functions), *({k: 1} for k in places)):
        for k in places:
            product = {**monomial, k: monomial.get(k, 0) + 1}
            product = {j: n for j, n in product.items() if n and j in functions.moving}
            if product and product not in found and all(
                    n <= functions.highest.get(j, n) for j, n in product.items()):
                found.append(product)
    return found


def without_what_is_absent(functions: Functions) -> list[int]:
    """Return what moves and occurs in the fields; exponentials by the few products in which they occur, if so."""
    present = [k for k in functions.moving if k in functions.present]
    powers = [k for k in present if functions.expressions[k].func is exp]
    blocks: list[Exponents] = []
    for monomial in _monomials(functions):
        block = {k: n for k, n in monomial.items() if k in powers}
        if block and block not in blocks:
            blocks.append(block)
    if not powers or not 0 < len(blocks) <= BLOCKS:
        return present
    field = functions.coefficients.field
    places = []
    for block in blocks:
        element = field.one
        for k, n in block.items():
            element *= field.gens[k] ** n
        places.append(functions.adjoin(element))
    return [*(k for k in present if k not in powers), *places]


def _monomials(functions: Functions) -> Iterator[Exponents]:
    """Yield the monomials of components whose denominators have one term."""
    frame = functions.frame
    for form, scale in zip(frame.forms, frame.factors, strict=True):
        for component in form.values():
            element: Any = component * scale
            if len(element.denom) != 1:
                continue
            below = next(element.denom.itermonoms())
            for monomial in element.numer.itermonoms():
                yield {k: n - m for k, (n, m) in enumerate(zip(monomial, below, strict=True)) if n != m}


def _powers(places: Sequence[int], total: int, highest: dict[int, int]) -> Iterator[Exponents]:
    if total == 0:
        yield {}
    elif places:
        first, *rest = places
        for n in range(min(total, highest.get(first, total)), -1, -1):
            for powers in _powers(rest, total - n, highest):
                yield {first: n, **powers} if n else powers
