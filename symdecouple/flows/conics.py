r"""Angles and logarithms that come with squares: arctangents, inverse sines, logarithms over quadratic extensions.

.. math:: p = \alpha v^2 + \beta v + \gamma, \quad A = 2\alpha v + \beta, \quad c B^2 = 4\alpha\gamma - \beta^2
    \;\Rightarrow\; D\Big(\tfrac1{\sqrt c}\arctan\frac{\sqrt c\, B}A\Big) = \frac{A\,DB - B\,DA}{4\alpha p}

where c is free of what moves. Over the complex numbers (over the reals where c < 0) these are logarithms of the two
factors A +- sqrt(-c) B of 4 alpha p. The same holds for

* a root t, t^2 = alpha v^2 + beta v + gamma with alpha = a s^2: B = s t and c = -4 a, as in arcsin and arsinh;
* p = a + b cos y + d sin y: A = a (b cos y + d sin y) + b^2 + d^2, B = b sin y - d cos y, c = a^2 - b^2 - d^2, where
  A^2 + c B^2 = (b^2 + d^2) p^2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from sympy.polys.polyerrors import BasePolynomialError

from symdecouple.flows.linear_relations import Functions, Term
from symdecouple.language.budget import check

__all__ = ["angles_of"]

TERMS = 60
"""Of a discriminant that is split into a square and the rest."""


class Conic(NamedTuple):
    """A^2 + c B^2, as elements of a coefficient field."""

    A: Any
    B: Any
    c: Any


def angles_of(functions: Functions, polynomials: Iterable[Any]) -> list[Term]:
    """Return the angles that come with polynomials, and with the square roots that occur."""
    conics: list[Conic] = []
    for p in polynomials:
        if p.denom.is_ground:
            conics += (conic for conic in _of_polynomial(functions, p) if conic not in conics)
    conics += _of_roots(functions)
    return [functions.angle(A, c * B, c) if B.numer.is_ground else functions.angle(B, A, c) for A, B, c in conics]


def _of_polynomial(functions: Functions, p: Any) -> Iterator[Conic]:
    field = functions.coefficients.field
    for v in functions.moving:
        check()
        if p.numer.degree(v) == 2:
            alpha, beta, discriminant = _quadratic(functions, p, v)
            split = _split(functions, -discriminant)
            if split is not None:
                c, B = split
                yield Conic(2 * alpha * field.gens[v] + beta, B, c)
    yield from _of_waves(functions, p)


def _of_roots(functions: Functions) -> Iterator[Conic]:
    coefficients = functions.coefficients
    field = coefficients.field
    for index, q, radicand in coefficients.relations:
        if q != 2 or functions.generators[index] not in coefficients.roots or not radicand.denom.is_ground:
            continue
        for v in functions.moving:
            if radicand.numer.degree(v) == 2:
                alpha, beta, _ = _quadratic(functions, radicand, v)
                split = _split(functions, alpha)
                if split is not None:
                    a, s = split
                    yield Conic(2 * alpha * field.gens[v] + beta, s * field.gens[index], -4 * a)


def _of_waves(functions: Functions, p: Any) -> Iterator[Conic]:
    coefficients = functions.coefficients
    gens, index = coefficients.field.gens, functions.generators.index
    for sine, cosine in coefficients.waves:
        s, c = index(sine), index(cosine)
        parts: dict[tuple[int, int], Any] = {}
        for monomial, weight in p.numer.iterterms():
            rest = tuple(0 if k in (s, c) else power for k, power in enumerate(monomial))
            key = (monomial[s], monomial[c])
            parts[key] = parts.get(key, coefficients.field.zero) + coefficients.field(
                coefficients.field.ring.from_dict({rest: weight}))
        if set(parts) <= {(0, 0), (1, 0), (0, 1)} and len(parts) > 1 and all(
                _is_still(functions, part.numer) for part in parts.values()):
            a, d, b = (parts.get(key, coefficients.field.zero) for key in ((0, 0), (1, 0), (0, 1)))
            if (weight := a**2 - b**2 - d**2) != 0:
                yield Conic(a * (b * gens[c] + d * gens[s]) + b**2 + d**2, b * gens[s] - d * gens[c], weight)


def _quadratic(functions: Functions, p: Any, v: int) -> tuple[Any, Any, Any]:
    """Return alpha, beta and the discriminant of a polynomial of degree 2 in a generator."""
    field = functions.coefficients.field
    parts = [field.ring.zero, field.ring.zero, field.ring.zero]
    for monomial, c in p.numer.iterterms():
        rest = (*monomial[:v], 0, *monomial[v + 1 :])
        parts[monomial[v]] += field.ring.from_dict({rest: c})
    gamma, beta, alpha = map(field, parts)
    return alpha, beta, functions.coefficients.reduced(beta**2 - 4 * alpha * gamma)


def _split(functions: Functions, element: Any) -> tuple[Any, Any] | None:
    """Return (c, B) with element = c B^2, c free of what moves and of squares; None where there are none."""
    field, numer = functions.coefficients.field, element.numer
    if numer == 0 or not element.denom.is_ground or len(numer) > TERMS:
        return None
    try:
        content, factors = numer.sqf_list()
    except (BasePolynomialError, NotImplementedError):
        return None
    c, B = field.one * content / element.denom.LC, field.one
    for base, power in factors:
        if power % 2:
            if not _is_still(functions, base):
                return None
            c *= field(base)
        B *= field(base) ** (power // 2)
    return c, B


def _is_still(functions: Functions, polynomial: Any) -> bool:
    moving = set(functions.moving)
    return not any(power and k in moving for monomial in polynomial.itermonoms() for k, power in enumerate(monomial))
