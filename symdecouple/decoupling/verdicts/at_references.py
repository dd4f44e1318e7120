r"""Modified features at a sample that is at its references: gradients and brackets by linear algebra, on any path.

There N_k is the identity, and near it N_k moves samples along the leaf of features 1..k, which their gradients span. So
the second-order jet of f o N_k follows from those of the features, whatever path leads along the leaf. The gradient is
that of f less its projection on those before the level. Write it as a combination w_i of the gradients v_1, ..., v_i
with constants; then, up to a combination of gradients,

.. math:: [v_{\hat f_i}, v_{\hat f_j}] \equiv -2\, (D w_i)\, v_{\hat f_j}, \qquad
    [v_{\hat f_i}, v_{\hat f_j}] \equiv (D w_j)\, v_{\hat f_i} - (D w_i)\, v_{\hat f_j} \ \text{in one group},

where f_i comes before the level of f_j (P6 of the page on paths). A minor with all gradients is that of the bracket.

A rational sample that is at its references is taken as it is. Of another one as many numbers are moved as there are
references: an interval Newton step proves that what it encloses brings the sample there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sympy import Expr, oo

from symdecouple.calculus.elementary import Irrational, OutsideDomain
from symdecouple.calculus.jets import Point
from symdecouple.calculus.sample_values import ValuesAt
from symdecouple.calculus.span import independent_rows, upper_bound
from symdecouple.language.feature import Feature
from symdecouple.language.sample import Sample

__all__ = ["ModifiedField", "modified_fields", "sample_at"]

Array = NDArray[Any]

ROUNDS = 8  # of Newton's method: it doubles the digits, of which a start has six


class ModifiedField(NamedTuple):
    """N grad of a modified feature, and its bracket with that of another one, up to a combination of gradients."""

    vector: Array
    among: Callable[[int, int], Array]
    number: int

    def bracket(self, other: ModifiedField) -> Array:
        """Return the bracket, for a feature that comes after this one."""
        return self.among(self.number - 1, other.number - 1)


def modified_fields(features: Sequence[Feature], starts: Sequence[int], at: ValuesAt) -> dict[int, ModifiedField]:
    """Return the fields of features, counted from 1, each taken at a level, at a sample that is at all of these."""
    size, basis = at.size, list[Array]()

    def apart(k: int, level: int) -> Array:
        """Return gradient k, and behind it 1 in its own place, less its parts along the first of the basis."""
        own = _array([*at.field(features[k]), *(at.world.number(Fraction(n == k)) for n in range(len(features)))])
        for e in basis[:level]:
            square = e[:size] @ e[:size]
            if at.world.is_zero(square):
                raise OutsideDomain
            own = own - e * ((own[:size] @ e[:size]) / square)
        return own

    for k in range(max(starts)):
        basis.append(apart(k, k))
    rows = [apart(k, level) for k, level in enumerate(starts)]

    @cache
    def turned(n: int, j: int) -> Array:
        return _array(at.turned(features[n], list(rows[j][:size])))

    def derivative(i: int, j: int) -> Array:
        """Return (D w_i) v_j: w_i is the combination of gradients behind row i."""
        return sum((turned(n, j) * rows[i][size + n] for n in range(starts[i])), turned(i, j))

    def bracket(i: int, j: int) -> Array:
        return -2 * derivative(i, j) if i < starts[j] else derivative(j, i) - derivative(i, j)

    return {k: ModifiedField(row[:size], bracket, k) for k, row in enumerate(rows, 1)}


def sample_at(held: Sequence[Feature], values: Sequence[Expr], point: Point, sample: Sample) -> ValuesAt:
    """Return a sample that certainly has features at their references: the point over the rationals, else enclosed.

    Some numbers are moved from those of the point, one for each reference: where the gradients have the largest minor.
    `Irrational` where a rational sample is not at the references, or none is enclosed; `OutsideDomain` where gradients
    may be dependent, or what is enclosed is not in the domain.

    >>> from sympy import S
    >>> from symdecouple.calculus.elementary import World
    >>> from symdecouple.language.mean import Mean
    >>> from symdecouple.language.sample import x
    >>> beside = Point([Fraction(1), Fraction(7, 4)], {}, World(20))
    >>> moved = sample_at([Feature(Mean(x**2))], [S(2)], beside, x).everywhere(x)[1]
    >>> f"{float(moved.mid):.12f}", moved.delta.b < 1e-19
    ('1.732050807569', True)
    """
    world, numbers = point.world, [jet.value for jet in point.jets]

    def moved(places: Sequence[Any]) -> ValuesAt:
        put = dict(zip(rows, places, strict=True))
        return ValuesAt([put.get(n, v) for n, v in enumerate(numbers)], point.shape, world)

    def step(gaps: Sequence[Any], at: ValuesAt) -> list[Any]:
        slopes = [[field[r] / len(numbers) for r in rows] for field in map(at.field, held)]
        try:
            return list(world.iv.lu_solve(world.iv.matrix(slopes), world.iv.matrix(gaps)))
        except ZeroDivisionError:
            raise OutsideDomain from None

    def gaps_at(at: ValuesAt) -> list[Any]:
        return [at.value(f.expr) - at.value(v) for f, v in zip(held, values, strict=True)]

    at = ValuesAt(numbers, point.shape, world)
    if world.iv is None or not held:
        if any(gap != 0 for gap in gaps_at(at)):
            raise Irrational
        return at
    if (found := independent_rows([at.field(f) for f in held], world)) is None:
        raise OutsideDomain
    rows = found
    centre, size = [numbers[r].mid for r in rows], world.iv.inf
    for _ in range(ROUNDS):
        at, least = moved(centre), size
        steps = step(gaps_at(at), at)
        centre, size = [(c - s).mid for c, s in zip(centre, steps, strict=True)], max(map(upper_bound, steps))
        if not size < least / 2:  # all digits are there
            break
    if not size < world.iv.inf:
        raise Irrational
    box = [c + world.iv.mpf([-4, 4]) * size for c in centre]
    image = [c - s for c, s in zip(centre, step(gaps_at(moved(centre)), moved(box)), strict=True)]
    if not all(b.a <= i.a and i.b <= b.b for b, i in zip(box, image, strict=True)):
        raise Irrational
    low, high = (None if abs(end) == oo else at.value(end) for end in sample.interval)
    if any((low is not None and not i.a > low.b) or (high is not None and not i.b < high.a) for i in image):
        raise OutsideDomain
    return moved(image)


def _array(values: Iterable[Any]) -> Array:
    found = [Fraction(v) if isinstance(v, int) else v for v in values]
    out = np.empty(len(found), dtype=object)
    out[:] = found
    return out
