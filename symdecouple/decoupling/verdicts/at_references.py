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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sympy import Expr, oo

from symdecouple.calculus.elementary import Irrational, OutsideDomain, World
from symdecouple.calculus.jets import Point
from symdecouple.calculus.sample_values import ValuesAt
from symdecouple.calculus.span import independent_rows, upper_bound
from symdecouple.flows.steps import TIME, composed
from symdecouple.language.feature import Feature
from symdecouple.language.sample import Sample

__all__ = ["ModifiedField", "check_motion", "modified_fields", "sample_at"]

Array = NDArray[Any]

DIGITS = 30  # of the enclosure of a motion of rational numbers
ROUNDS = 8  # of Newton's method: it doubles the digits, of which a start has six


class ModifiedField(NamedTuple):
    """N grad of a modified feature, and its bracket with that of another one, up to a combination of gradients."""

    vector: Array
    among: Callable[[int, int], Array]
    number: int

    def bracket(self, other: ModifiedField) -> Array:
        """Return the bracket, for a feature that comes after this one."""
        return self.among(self.number - 1, other.number - 1)


def modified_fields(features: Sequence[Feature], starts: Sequence[int], at: ValuesAt, back: Expr | None = None
                    ) -> dict[int, ModifiedField]:
    """Return the fields of features, counted from 1, each taken at a level, at a sample that is at all of these.

    With `back` the fields are those at the sample that this motion along the first generator leads to, each entry over
    the derivative of the way back: features of the first group change there, and others are what they are. Gradients
    before a level, over that derivative, are in no span there, so that these brackets have no part left out.
    """
    size, basis, known, stretch = at.size, list[Array](), list(features), None
    if back is not None:
        sample = features[0].sample
        known += [Feature(composed(f.expr, back, sample), allow_nonsmooth=f.allow_nonsmooth)
                  for f, start in zip(features, starts, strict=True) if start == 0]
        stretch = _array(at.everywhere(back.diff(sample) ** -2))

    nothing = _array([at.world.number(Fraction(0))] * (size + len(known)))
    for f in known:
        if f.allow_nonsmooth:
            at.turned(f, list(nothing[:size]))  # no sample at a kink, where there are no second derivatives

    def along(u: Array, level: int) -> Array:
        """Return the part of a vector along the first of the basis, as a row."""
        return sum((e * ((u @ e[:size]) / (e[:size] @ e[:size])) for e in basis[:level]), nothing)

    def apart(n: int, level: int) -> Array:
        """Return gradient n, and behind it 1 in its own place, less its part along the first of the basis."""
        own = _array([*at.field(known[n]), *(at.world.number(Fraction(n == k)) for k in range(len(known)))])
        return own - along(own[:size], level)

    for k in range(max(starts)):
        basis.append(apart(k, k))
        if at.world.is_zero(basis[k][:size] @ basis[k][:size]):
            raise OutsideDomain
    rows = [apart(k if stretch is None or level else len(features) + k, level) for k, level in enumerate(starts)]

    def derivative(row: Array, u: Array) -> Array:
        """Return the derivative along a vector of the combination of gradients behind a row."""
        return sum((_array(at.turned(f, list(u))) * c for f, c in zip(known, row[size:], strict=True) if c != 0), u * 0)

    def turned(i: int, j: int) -> Array:
        """Return (D v_j) v_i; up to gradients before the level, which are in the span where the sample is not moved."""
        u, w = rows[i][:size] if stretch is None else rows[i][:size] * stretch, rows[j][:size]
        part = along(u, starts[j])
        ahead = u - part[:size]
        turn = derivative(rows[j], ahead)
        known_part: Array = u * 0  # N grad of f_j is orthogonal to these wherever the sample is
        for e in [] if stretch is None else basis[: starts[j]]:
            known_part += e[:size] * ((e[:size] @ turn + w @ derivative(e, ahead)) / (e[:size] @ e[:size]))
        out: Array = turn - derivative(part, w) - known_part
        return out

    def bracket(i: int, j: int) -> Array:
        if stretch is None and i < starts[j]:
            return -2 * derivative(rows[i], rows[j][:size])
        return turned(i, j) - turned(j, i)

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
    _check_inside(image, at, sample)
    return moved(image)


def check_motion(motion: Expr, time: Fraction, at: ValuesAt, sample: Sample) -> ValuesAt:
    """Return what encloses a motion in `TIME` at all times from 0 on; `OutsideDomain` where it may leave the domain."""
    world = World(DIGITS) if at.world.iv is None else at.world
    numbers = [Fraction(v) if isinstance(v, int) else v for v in at.everywhere(sample)]
    point = Point(numbers, {TIME: world.number(time) * world.iv.mpf([0, 1])}, world)
    moved = [point.jet(motion, sample, n).value for n in range(len(numbers))]
    if not all(v.delta.b < world.iv.inf for v in moved):
        raise OutsideDomain
    _check_inside(moved, ValuesAt(numbers, at.shape, world), sample)
    return ValuesAt(moved, at.shape, world)


def _check_inside(values: Iterable[Any], at: ValuesAt, sample: Sample) -> None:
    low, high = (None if abs(end) == oo else at.value(end) for end in sample.interval)
    if any((low is not None and not v.a > low.b) or (high is not None and not v.b < high.a) for v in values):
        raise OutsideDomain


def _array(values: Iterable[Any]) -> Array:
    found = [Fraction(v) if isinstance(v, int) else v for v in values]
    out = np.empty(len(found), dtype=object)
    out[:] = found
    return out
