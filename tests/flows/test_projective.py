"""The fields whose flow is projective: which they are, their invariant, and the times at which points are reached."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp
from sympy import Integer, Rational, Symbol, cos, cosh, exp, oo, pi, sin, sinh, sqrt

from symdecouple.flows.projective import Projective, decide_sign
from symdecouple.language.sample import Sample

u = Sample("u")
a, b, c, k = (Symbol(name, real=True) for name in "abck")


@pytest.mark.parametrize(("w", "kind", "delta_squared"), [
    (Integer(0), "linear", 0), (a + b * u, "linear", b**2 / 4), (u**2, "line", 0), (a * u**2 + b * u + c, "line",
     b**2 / 4 - a * c), (exp(k * u), "logarithm", 0), (sinh(u) ** 2, "logarithm", 0), (cosh(k * u), "logarithm",
     -(k**2) / 4), (sin(u) * cos(u), "circle", Rational(1, 4)), (a + b * cos(u), "circle", (b**2 - a**2) / 4),
], ids=str)
def test_projective_fields_are_recognized(w: Any, kind: str, delta_squared: Any) -> None:
    motion = Projective.of(w, u)
    assert motion is not None and motion.kind == kind and sp.expand(motion.delta_squared - delta_squared) == 0


@pytest.mark.parametrize("w", [u**3, 1 / u, exp(u) + exp(2 * u), sin(u) + sin(2 * u), u + exp(u), sp.tanh(u)], ids=str)
def test_others_are_not(w: Any) -> None:
    assert Projective.of(w, u) is None


@pytest.mark.parametrize("w", [
    2 - u, u**2, u**2 - 2, u**2 + 1, exp(u) + 1, sinh(u), sin(u), sin(u) + 2], ids=str)
def test_an_end_is_reached_at_the_end_of_the_lifetime(w: Any) -> None:
    motion = Projective.of(w, u)
    assert motion is not None
    start, low, high = Rational(1, 2), Rational(1, 4), Rational(3, 4)
    first, last = motion.lifetime(start, low, high)
    ends = {round(float(motion.solution(start, sp.N(t, 40))), 12) for t in (first, last)}
    assert first < 0 < last and ends == {0.25, 0.75}


def test_far_ends_on_a_circle_take_full_turns() -> None:
    motion = Projective.of(sin(u) + 2, u)
    assert motion is not None
    _, last = motion.lifetime(Integer(0), -oo, 6 * pi)
    assert sp.N(last - 3 * 2 * pi / sqrt(3), 30) == pytest.approx(0, abs=1e-25)
    _, last = motion.lifetime(Integer(0), -oo, Integer(20))
    assert float(motion.solution(Integer(0), sp.N(last, 40))) == pytest.approx(20, rel=1e-14)


def test_no_time_leads_past_an_equilibrium() -> None:
    for w, end in ((1 + cos(u), 20), (sin(u), 20), (sin(u), 4), (2 - 3 * u, 1), (u**2 - 1, 2)):
        motion = Projective.of(w, u)
        assert motion is not None and motion.lifetime(Rational(1, 2), -Integer(end), Integer(end))[1] == oo


def test_signs_of_exact_numbers() -> None:
    assert [decide_sign(v) for v in (sqrt(2) - Rational(14142, 10000), -pi, oo, -oo)] == [1, -1, 1, -1]
    assert decide_sign(sqrt(2) * sqrt(3) - sqrt(6)) == 0
