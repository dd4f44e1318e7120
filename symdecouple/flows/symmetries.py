r"""Scalings and translations that map a distribution to itself, and the Darboux polynomials that come with them.

.. math:: W = \sum_k (\alpha_k q_k + \beta_k)\,\partial_k, \quad [W, v_i] \in \mathrm{span}(v_1, \dots, v_r)
    \;\Rightarrow\; D_i p = \lambda_i\, p, \qquad p = \det(v_1, \dots, v_r, W_1, \dots, W_{n-r})

if the v_i are involutive and the W_j commute with each other up to combinations of all of these (Lie). So 1/p is a
multiplier, and the quotient of two such determinants is an integral. Equations that are homogeneous, in some weights
of the variables, or that do not contain a variable have such W; they are the relations with constant weights between
2n fields modulo the span, found at random points modulo a prime.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from sympy.polys.domains import PolynomialRing
from sympy.polys.matrices import DomainMatrix

from symdecouple.flows.linear_relations import Functions, cleared, echelon, null_space, rationals
from symdecouple.language.budget import check

__all__ = ["determinants"]

DIMENSIONS = 6
"""Coordinates up to which determinants are expanded."""
MANY = 6
"""Sets of fields whose determinant is taken."""


def determinants(functions: Functions) -> Iterator[Any]:
    """Yield determinants of the fields with scalings and translations that map their span to itself."""
    coordinates, size = functions.frame.coordinates, functions.frame.size
    forms, coefficients = functions.frame.forms, functions.coefficients
    missing = len(coordinates) - size
    if missing <= 0 or len(coordinates) > DIMENSIONS or any(
            not c.denom.is_ground for form in forms for c in form.values()):
        return
    ring, count = coefficients.field.ring, 0
    given = [[form[q].numer if q in form else ring.zero for q in coordinates] for form in forms]
    for chosen in combinations(_symmetries(functions), missing):
        check()
        matrix = DomainMatrix([*given, *chosen], (len(coordinates),) * 2, PolynomialRing(ring))
        value = coefficients.reduced(coefficients.field(matrix.det()))
        if value != 0:
            yield value
            count += 1
        if count == MANY:
            return


def _symmetries(functions: Functions) -> list[list[Any]]:
    """Return the components of fields W as polynomials."""
    frame, coefficients = functions.frame, functions.coefficients
    field, ring = coefficients.field, coefficients.field.ring
    places = [functions.generators.index(q) for q in frame.coordinates]
    n = len(places)
    candidates = [[field.one if j == k else field.zero for j in range(n)] for k in range(n)]
    candidates += [[field.gens[places[k]] if j == k else field.zero for j in range(n)] for k in range(n)]
    brackets = [[_bracket(functions, w, i) for w in candidates] for i in range(frame.size)]
    rows: list[list[int]] = []
    for m in range(len(candidates) + 4):
        check()
        point = functions.point(m).snapshot
        pivots = echelon([[point.at(form[q]) if q in form else 0 for q in frame.coordinates] for form in frame.forms])
        for row in brackets:
            reduced = [cleared([point.at(c) if c != 0 else 0 for c in w], pivots) for w in row]
            rows += [list(column) for column in zip(*reduced, strict=True)]
    found = []
    for vector in null_space(rows, len(candidates)):
        weights = rationals(vector)
        if weights is not None:
            w = [sum((field.domain.convert(c) * candidates[k][j] for k, c in weights.items()), field.zero)
                 for j in range(n)]
            found.append([c.numer * ring.domain.one / c.denom.LC for c in w])
    return found


def _bracket(functions: Functions, w: list[Any], i: int) -> list[Any]:
    """Return the components of [W, v_i]."""
    frame, coefficients = functions.frame, functions.coefficients
    along = dict(zip(frame.coordinates, w, strict=True))
    out = []
    for q, own in zip(frame.coordinates, w, strict=True):
        moved = coefficients.differential(frame.forms[i][q], along) if q in frame.forms[i] else coefficients.field.zero
        out.append(moved - functions.rate(i, own))
    return out
