r"""The levels of a plan of moments for a law: shift, scale, and the Moebius map to the wanted skewness.

Exact numbers where they are proved: moments of the table of laws and of finitely many atoms, and the root itself where
its pole is a place at which they are known,

.. math:: \mathrm{E}\,(z^3) = c_3, \qquad z = -\frac1{x - p} \text{ standardized, or } x \text{ itself.}

Everything else is computed to the digits that are asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import mpmath
import sympy as sp
from mpmath import mpf
from sympy import Expr, Float, nan, oo

from symdecouple.analysis.population.law import Law
from symdecouple.analysis.population.leaf import Leaf, Limit
from symdecouple.analysis.population.quadrature import Quadrature, number_of
from symdecouple.analysis.population.settling import told_of_samples
from symdecouple.errors import NoClosedForm, Outcome

__all__ = ["AtSkewness", "Moments", "at_skewness", "is_symmetric", "moments_of"]

Number = Any

_FINE = Outcome(True)
_HALVES = sp.Rational(3, 2)
_SMALL = 1000  # denominators of poles that are tried exactly


class Moments(NamedTuple):
    """Mean, standard deviation and skewness of a law: exact, or `Float`; infinite or nan with the outcome."""

    values: tuple[Expr, Expr, Expr]
    outcomes: tuple[Outcome, Outcome, Outcome]


class AtSkewness(NamedTuple):
    """A law on its leaf at a skewness.

    Attributes
    ----------
    kurtosis : Expr
        Its standardized fourth moment; nan where it is refused.
    outcome : Outcome
    pole : Expr or None
        Of the Moebius map, in units of the law; ``oo`` where it is affine.
    time : number or None
        t of the leaf.
    limits : pair of Limit, or None
    notes : tuple of str
    """

    kurtosis: Expr
    outcome: Outcome
    pole: Expr | None = None
    time: Number = None
    limits: tuple[Limit, Limit] | None = None
    notes: tuple[str, ...] = ()


def moments_of(leaf: Leaf) -> Moments:
    """Return mean, standard deviation and skewness of the law as it is."""
    law, quadrature = leaf.law, leaf.quadrature
    order, found = leaf.highest_order(), [nan, nan, nan]
    known = order
    exact = [law.exact_moments(k) if k <= order else None for k in (1, 2, 3)]
    if order >= 1:
        raw = [] if None not in exact[: min(order, 3)] else _raw_moments(leaf, min(order, 3))
        known = len(raw) or order
        one, two, three = [*raw, mpf(0), mpf(0), mpf(0)][:3]
        variance = two - one**2
        found[0] = exact[0][0] if exact[0] else _computed(leaf.centre + one, quadrature, quadrature.spread)
        if known >= 2:
            found[1] = sp.sqrt(_variance(exact[1]) if exact[1] else _computed(variance, quadrature, mpf(0), 5))
            if known >= 3 and found[1] != 0:
                found[2] = sp.simplify(_third(exact[2]) / _variance(exact[2]) ** _HALVES) if exact[2] else _computed(
                    (three - 3 * one * two + 2 * one**3) / variance ** mpf(1.5), quadrature)
    outcomes = [_FINE if v is not nan else _why_not(k, order, known) for k, v in enumerate(found, 1)]
    place, scale = law.loc + law.scale * found[0], law.scale * found[1]
    if order < 2 and mpmath.isinf(leaf.ends[0]) != mpmath.isinf(leaf.ends[1]):
        found[1], scale = oo, oo
        if order < 1:
            place = oo if mpmath.isinf(leaf.ends[1]) else -oo
    elif order == 1:
        scale = oo
    return Moments((_short(place, quadrature.dps), _short(scale, quadrature.dps + 5), found[2]),
                   (outcomes[0], outcomes[1], outcomes[2]))


def _why_not(k: int, order: int, known: int) -> Outcome:
    if k > order:
        return Outcome(False, "no moment", f"E|x|^{k} is infinite")
    if k > known:
        return Outcome(False, "not settled", f"E|x|^{k} is finite, and lies too far out to be computed")
    return Outcome(False, "zero variance", "one place carries all of the mass")


def _powers(centre: Number, most: int, x: Number) -> list[Number]:
    return [(x - centre) ** k for k in range(1, most + 1)]


def _raw_moments(leaf: Leaf, order: int) -> list[Number]:
    """The first moments about the centre, as far as they are found."""
    for most in range(order, 0, -1):
        try:
            return leaf.quadrature.expect(partial(_powers, leaf.centre, most))
        except NoClosedForm:
            if not leaf.law.is_exact or most == 1:
                raise
    return []


def _short(value: Expr, digits: int) -> Expr:
    return value.evalf(digits) if value.has(Float) else sp.simplify(value) if value.is_finite else value


def _computed(value: Number, quadrature: Quadrature, unit: Number = 1, more: int = 0) -> Expr:
    """A number to the digits that are known; 0 where it is below the last one of `unit`."""
    if abs(value) < mpf(10) ** -quadrature.dps * unit:
        return Float(0)
    return Float(mpmath.nstr(value, quadrature.dps + 5 + more), quadrature.dps + more)


# --- level 3 ------------------------------------------------------------------------------------------------------


def at_skewness(leaf: Leaf, target: Expr) -> AtSkewness:
    """Bring a law to a skewness along its leaf, or say why it is not there."""
    law, quadrature = leaf.law, leaf.quadrature
    if law.support_size < 3:
        return _few_values(law, target)
    goal = number_of(target, quadrature.work)
    if all(map(mpmath.isinf, leaf.ends)):
        return _itself(leaf, target, goal, "both tails are unbounded, so that the leaf is the law itself (t = 0)")
    limits = leaf.limit(False), leaf.limit(True)
    for limit, sign in zip(limits, (1, -1), strict=True):
        room = sign * (goal - limit.value)
        if limit.is_reached and abs(room) <= mpf(10) ** (3 - quadrature.dps):
            return _itself(leaf, target, goal, "the law itself is the end of its leaf")._replace(limits=limits)
        is_exact = limit.exact is not None and law.is_exact
        if sign * (target - limit.exact) <= 0 if is_exact else room <= mpf(10) ** (2 - quadrature.dps):
            return _refused(leaf, goal, limits)
    if (kurtosis := _exact_kurtosis(law, oo, target)) is not None:
        return AtSkewness(kurtosis, _FINE, oo, mpf(0), limits)
    place = leaf.root(goal, quadrature.dps)
    if place is None:
        raise NoClosedForm(f"skewness {target} lies on the leaf of {law.name}, with its pole nearer to an end of the "
                           f"hull than {quadrature.dps} digits tell; ask for more, dps=")
    time = leaf.time(place)
    pole = leaf.centre + 1 / time if time else mpmath.inf
    for candidate in _candidates(pole, quadrature.dps, leaf.centre):
        exact = _exact_kurtosis(law, candidate, target)
        if exact is not None:
            pole_of_law = oo if candidate == oo else sp.simplify(law.loc + law.scale * candidate)
            return AtSkewness(exact, _FINE, pole_of_law, time, limits)
    shape = leaf.shape(time)
    is_affine = abs(pole - leaf.centre) > mpf(10) ** quadrature.dps * quadrature.spread
    return AtSkewness(_computed(shape.kurtosis, quadrature), _FINE, oo if is_affine else (
        law.loc + law.scale * _computed(pole, quadrature, quadrature.spread)).evalf(quadrature.dps),
        mpf(0) if is_affine else time, limits)


def _few_values(law: Law, target: Expr) -> AtSkewness:
    if law.support_size < 2:
        return AtSkewness(nan, Outcome(False, "zero variance", "one place carries all of the mass"))
    share = law.atoms[1][1]
    skewness = sp.simplify((1 - 2 * share) / sp.sqrt(share * (1 - share)))
    if sp.simplify(skewness - target) == 0:
        return AtSkewness(sp.simplify(1 + skewness**2), _FINE, oo, mpf(0))
    return AtSkewness(nan, Outcome(False, "two-valued", "critical point of the skewness: a law on two places has the "
                                   f"skewness {skewness.evalf(6)} wherever they are, and {target} is wanted; three "
                                   "places are needed"))


def _refused(leaf: Leaf, goal: Number, limits: tuple[Limit, Limit]) -> AtSkewness:
    low, high = (mpmath.nstr(limit.value, 6) for limit in limits)
    side = 0 if goal <= limits[0].value else 1
    closed = ("(", "[")[limits[0].is_reached], (")", "]")[limits[1].is_reached]
    words = (f"the skewness stays in {closed[0]}{low}, {high}{closed[1]} on the leaf, and {_told(goal)} is wanted "
             f"({limits[side].reason})")
    notes = _settling_notes(leaf, goal) if limits[side].is_reached else ()
    outcome = Outcome(False, "skewness out of reach", "; ".join([words, *notes]))
    return AtSkewness(nan, outcome, limits=limits, notes=notes)


def _told(goal: Number) -> str:
    return f"{float(goal):.6g}"


def _itself(leaf: Leaf, target: Expr, goal: Number, why: str) -> AtSkewness:
    """The law itself where it is all of its leaf, or the end of it that is wanted."""
    law, quadrature = leaf.law, leaf.quadrature
    order = leaf.highest_order()
    if order < 3:
        notes = _settling_notes(leaf, goal)
        return AtSkewness(nan, Outcome(False, "no third moment", "; ".join(
            [f"{why}, and its third moment is infinite", *notes])), notes=notes)
    raw = law.exact_moments(3)
    if raw is None:
        shape = leaf.itself()
        skewness = shape.skewness
        is_there = abs(skewness - goal) <= mpf(10) ** (4 - quadrature.dps)
        if is_there and goal == 0 and is_symmetric(leaf) is None:
            return AtSkewness(nan, Outcome(False, "not decided", f"{why}: its skewness is "
                                           f"{mpmath.nstr(skewness, 3)}, and that it is 0 exactly is not known, "
                                           "as it is not symmetric"))
        kurtosis = _computed(shape.kurtosis, quadrature) if order >= 4 else nan
    else:
        skewness = number_of(sp.simplify(_third(raw) / _variance(raw) ** _HALVES), quadrature.work)
        is_there = _exact_kurtosis(law, oo, target, 3) is not None
        kurtosis = (_exact_kurtosis(law, oo, target) if order >= 4 else None) or nan
    if not is_there:
        notes = _settling_notes(leaf, goal)
        return AtSkewness(nan, Outcome(False, "skewness out of reach", "; ".join(
            [f"{why}, and its skewness is {mpmath.nstr(skewness, 6)}, not {_told(goal)}", *notes])), notes=notes)
    if order < 4:
        return AtSkewness(oo, Outcome(False, "no fourth moment", f"{why}, and its fourth moment is infinite"), oo,
                          mpf(0))
    return AtSkewness(kurtosis, _FINE, oo, mpf(0))


def _settling_notes(leaf: Leaf, goal: Number) -> tuple[str, ...]:
    law = leaf.law
    scale = float(law.scale.evalf())
    return told_of_samples(leaf.floats_to(), float(goal), float(law.loc.evalf()) + scale * float(leaf.centre), scale,
                           leaf.mass_beyond)


def is_symmetric(leaf: Leaf) -> Number | None:
    """Return the point of symmetry of a law with a mean, by its density at a few hundred places; None without one."""
    mean, quadrature = leaf.mean(), leaf.quadrature
    low, high = leaf.ends
    near, places = mpf(10) ** (2 - quadrature.dps), quadrature.atoms
    unit = quadrature.spread
    if mpmath.isinf(low) != mpmath.isinf(high) or (mpmath.isfinite(low) and abs(low + high - 2 * mean) > near * unit):
        return None
    if any(abs(a + b - 2 * mean) > near * unit or abs(p - q) > near
           for (a, p), (b, q) in zip(places, reversed(places), strict=True)):
        return None
    density = quadrature.density
    top = density(mean + unit / 7)
    for j in range(1, 300):
        u = unit * mpf(j) * 17 / 1000
        right, left = density(mean + u), density(mean - u)
        if abs(right - left) > near * (right + left + top):
            return None
    return mean


# --- exact --------------------------------------------------------------------------------------------------------


def _candidates(pole: Number, digits: int, centre: Number) -> Sequence[Expr]:
    """Poles near which the root is: infinity, and fractions with small denominators."""
    if mpmath.isinf(pole) or abs(pole) > mpf(10) ** (digits * 0.6) * (1 + abs(centre)):
        return (oo,)
    near = Fraction(int(mpmath.nint(pole * 10**15)), 10**15).limit_denominator(_SMALL)
    if abs(pole - mpf(near.numerator) / near.denominator) < mpf(10) ** (-digits * 0.6) * (1 + abs(pole)):
        return (sp.Rational(near.numerator, near.denominator),)
    return ()


def _exact_kurtosis(law: Law, pole: Expr, target: Expr, order: int = 4) -> Expr | None:
    """The kurtosis of the law moved with this pole, if its skewness is exactly the target; else None."""
    raw = law.exact_moments(order, None if pole == oo else pole)
    if raw is None:
        return None
    variance, third = _variance(raw), _third(raw) * (1 if pole == oo else -1)
    if sp.simplify(third - target * variance**_HALVES) != 0:
        return None
    if order < 4:
        return nan
    return sp.simplify((raw[3] - 4 * raw[0] * raw[2] + 6 * raw[0] ** 2 * raw[1] - 3 * raw[0] ** 4) / variance**2)


def _variance(raw: Sequence[Expr]) -> Expr:
    return sp.simplify(raw[1] - raw[0] ** 2)


def _third(raw: Sequence[Expr]) -> Expr:
    return sp.simplify(raw[2] - 3 * raw[0] * raw[1] + 2 * raw[0] ** 3)
