r"""The whole leaf of a sample under a triple: all its Moebius images in y = phi(x), by three numbers (Theorem B3).

Let phi rise from I onto J, and [p, q] be the interval of the y_n. The maps g of the leaf, det > 0 and
g([p, q]) inside J, are told by where they take p and q, and by a stretch between them:

.. math:: g(y) = \alpha\,(1 - u) + \beta\,u, \quad u = \frac{\lambda\,(y - p)}{(q - y) + \lambda\,(y - p)}, \qquad
    \alpha < \beta \text{ in } J,\ \lambda > 0

Every triple alpha, beta, log(lambda) is a point of the leaf, and each point has one. In dimension 2 lambda is 1. How
it is searched for the values of features is in `normalizer_templates.on_triple_leaf`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import sympy as sp
from sympy import Expr, oo

from symdecouple.calculus.bracket import lie_bracket
from symdecouple.calculus.field import VectorField
from symdecouple.calculus.frobenius import check_frobenius
from symdecouple.errors import SymdecoupleError
from symdecouple.flows.coordinate import coordinate_of
from symdecouple.language.budget import Budget
from symdecouple.language.closed_forms import solutions
from symdecouple.language.sample import Sample

__all__ = ["Leaf", "Y", "leaf_of", "where_reached"]

Y = Sample("y")
PATIENCE = 10.0  # seconds


@dataclass(frozen=True, slots=True)
class Leaf:
    """A rising coordinate without poles on the interval of the samples, with its inverse.

    Attributes
    ----------
    phi, back : Expr
        phi in the sample, and its inverse in `Y`.
    low, high : Expr
        The ends of J.
    dimension : int
        2 or 3.
    """

    phi: Expr
    back: Expr
    low: Expr
    high: Expr
    dimension: int


@lru_cache(maxsize=64)
def leaf_of(generators: Sequence[Expr], sample: Sample) -> Leaf | None:
    """Return the leaf of two or three independent functions of the sample; None where it is not known in closed form.

    Examples
    --------
    >>> from sympy import sqrt
    >>> from symdecouple.language.sample import sample
    >>> x = sample("x", positive=True)
    >>> leaf = leaf_of((sqrt(x), x, x*sqrt(x)), x)
    >>> leaf.phi, leaf.back, leaf.low, leaf.high
    (sqrt(x), y**2, 0, oo)
    """
    if len(generators) not in (2, 3):
        return None
    try:
        with Budget(PATIENCE).running("the leaf of a triple"):
            verdict = check_frobenius([VectorField(u) for u in generators], budget=PATIENCE)
            found = None if verdict.structure is None else coordinate_of(generators, verdict.structure, sample)
            return None if found is None or found.poles else _leaf(found.phi, sample, len(generators))
    except SymdecoupleError:
        return None


def _leaf(phi: Expr, sample: Sample, dimension: int) -> Leaf | None:
    low, high = sample.interval
    middle = low + 1 if high == oo and low != -oo else high - 1 if low == -oo and high != oo else (
        sp.Integer(0) if low == -oo else (low + high) / 2)
    slope = phi.diff(sample).subs(sample, middle)
    if phi.free_symbols != {sample} or not (slope.is_positive or slope.is_negative):
        return None
    phi = phi if slope.is_positive else -phi
    y = phi.subs(sample, middle)
    for back in solutions(phi - Y, sample):
        if sp.Abs(sp.N(back.subs(Y, y) - middle, 30)) < sp.Rational(1, 10**20):
            ends = sp.limit(phi, sample, low, "+"), sp.limit(phi, sample, high, "-")
            return Leaf(phi, back, *ends, dimension) if all(e.is_extended_real for e in ends) else None
    return None


def where_reached(fields: Sequence[VectorField], sample: Sample) -> str:
    """Say which sample vectors all flows together bring to the values of features."""
    text = "sample vectors on which concatenated flows reach the values. "
    if all(lie_bracket(u, v).expr == 0 for j, u in enumerate(fields) for v in fields[:j]):
        return text + "The generators commute, so that concatenated flows reach every point of the leaf"
    if (leaf := leaf_of(tuple(f.expr for f in fields), sample)) is not None:
        maps = "Moebius" if leaf.dimension == 3 else "increasing affine"
        return (f"sample vectors of which an image takes the values: the leaf is that of the {maps} images of "
                f"{leaf.phi} in ({leaf.low}, {leaf.high}), all of which are searched (Theorem B). Not proved: which "
                "values are attained, and that they are attained once")
    return text + ("Not guaranteed: the generators do not commute, and concatenated flows may miss points of the leaf "
                   "(scale and Riccati flow alone do, on samples that are not centred); the search is Newton's method "
                   "from t = 0")
