"""What objects show of themselves: at most five lines, and HTML and LaTeX that hold whatever text is in them."""

import re
from typing import Any

import numpy as np
import pytest

import symdecouple as sd
from symdecouple import Mean, decouple, x
from symdecouple.analysis import Density, critical_points, explore, orthogonality
from symdecouple.families import exact_triple, raw_moments, recognize, second_order_moments, tils
from symdecouple.shown import Card, Maths, Shown

PLAN = decouple(raw_moments(5))
SAMPLE = np.random.default_rng(0).gamma(2.0, size=12)
HELD: dict[str, Any] = {
    "plan": lambda: PLAN, "features": lambda: PLAN.features, "feature": lambda: PLAN.features[1],
    "verdict": lambda: sd.check_frobenius(raw_moments(3)), "outcome": lambda: sd.Outcome(False, "a & b", "x_1 < 2"),
    "transferred": lambda: decouple(raw_moments(3)).transfer(SAMPLE, SAMPLE**2),
    "attainable": lambda: PLAN.attainable(n_samples=12), "report": lambda: decouple(raw_moments(2)).report(SAMPLE),
    "explanation": lambda: decouple(raw_moments(2)).explain(), "bank": tils, "triple": lambda: exact_triple(x),
    "exploration": lambda: explore(raw_moments(2)), "recognition": lambda: recognize(raw_moments(3)),
    "critical points": lambda: critical_points(decouple(raw_moments(3)), level=2, n_samples=4),
    "orthogonality": lambda: orthogonality(decouple(raw_moments(3)), SAMPLE),
    "closure": lambda: sd.involutive_closure(raw_moments(3)), "normalizer": lambda: PLAN.normalizer(2),
    "implicit": lambda: PLAN.normalizer(3), "group": lambda: sd.Group(Mean(x), Mean(x**2)),
    "reference": lambda: sd.Reference.of(range(10**4)), "density": lambda: Density(2 * x, (0, 1), atoms={2: 0.5}),
    "involution": lambda: sd.check_frobenius(raw_moments(3)).certificate,
    "witness": lambda: sd.check_frobenius(raw_moments(4)).witness,
    "refutation": lambda: sd.check_frobenius(raw_moments(5)).certificate,
    "dependence": lambda: sd.check_independence([Mean(x), 2 * Mean(x)]).certificate,
    "chain": lambda: explore(raw_moments(2)).longest[0], "set": lambda: explore(raw_moments(2)).sets[0],
    "perturbation": lambda: sd.Perturbation("ramp"), "scenario": lambda: decouple(raw_moments(2)).scenario,
}


@pytest.mark.parametrize("name", HELD)
def test_what_a_user_holds_shows_itself(name: str) -> None:
    held = HELD[name]()
    html, tex = held._repr_html_(), held._repr_latex_()
    assert len(re.findall("<td[ >]", html)) == html.count("</td>") and not re.search(r"<(?!/?[a-z])|&(?!\w+;|#)", html)
    assert tex.startswith("$") and tex.endswith("$") and tex.count("{") == tex.count("}")
    assert len(repr(held).splitlines()) <= 5 and max(map(len, repr(held).splitlines())) <= 100


def test_a_plan_in_five_lines() -> None:
    assert repr(PLAN) == (
        'Plan of 5 features, path "auto"\n'
        "  features   Mean(x), Mean(x**2), Mean(x**3), Mean(x**4), Mean(x**5)\n"
        "  decoupled  mean, variance, skewness, orthokurtosis, decoupled_5\n"
        "  reference  0, 1, 0, 3, 0\n"
        "  more       plan.explain(), plan.scenario, plan.verdicts")
    bands = repr(decouple([Mean(x), *second_order_moments(tils())])).splitlines()
    assert bands[1] == "  features   Mean(x), ll, lm, lh, ml, mm, mh, hl, hm, hh"
    assert r"\text{decoupled\_5}" in PLAN._repr_latex_() and r"\overline{x^{3}}" in PLAN._repr_html_()


def test_long_things_are_cut() -> None:
    card = Card("many", [("numbers", "1, " * 99)], ("", "number"), [(str(k), Maths("k", "k_1")) for k in range(99)])
    assert max(map(len, card.text().splitlines())) == 100 and "... 99 rows" in card.html() and "99 rows" in card.latex()

    class Long(Shown):
        def __str__(self) -> str:
            return "\n".join("abcdefg")

    assert repr(Long()) == "a\nb\nc\nd\n  ... print shows 7 lines"
    assert Long()._repr_html_() == "<pre>a\nb\nc\nd\ne\nf\ng</pre>"
