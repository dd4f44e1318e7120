"""What a plan tells of itself, in text, LaTeX and HTML."""

import pytest
from sympy import cos, sin

from symdecouple import Group, Mean, decouple, kurtosis, variance, x
from symdecouple.decoupling.explanation import Explanation
from symdecouple.families.moments import raw_moments


@pytest.fixture(scope="module")
def moments() -> Explanation:
    return decouple(raw_moments(4)).explain()


def test_every_level_and_why(moments: Explanation) -> None:
    assert [note.method for note in moments.notes] == ["explicit", "explicit", "implicit", "narrow path"]
    assert [note.level for note in moments.notes] == [1, 2, 3, 4]
    text = str(moments)
    assert "level 1: Mean(x) = 0, explicit: x -> x - Mean(x)" in text
    assert "level 3: Mean(x**3) = 0, implicit: x -> N2(y -> y/(-t*y + 1) of N2(x)), t such that Mean(x**3) = 0" in text
    assert "features 1 to 3 are proved involutive" in text
    assert "narrow path, because S_4" in text and "REFUTED" in text and "[v3, v4]" in text
    assert "not asked for yet" in text


def test_latex_and_html(moments: Explanation) -> None:
    assert moments.latex().count(r"\text{level") == 4
    assert r"\sqrt{- \overline{x}^{2} + \overline{x^{2}}}" in moments.latex()
    table = moments._repr_html_()
    assert table.count("<tr>") == 5 and table.count("$") % 2 == 0
    assert "&lt;" not in table.split("<table")[0] and "<script" not in table


def test_scenario_is_told_once_decided() -> None:
    plan = decouple(raw_moments(3))
    assert plan.scenario.lowest == 4
    print(plan.verdicts)
    assert "scenario 4" in str(plan.explain())


def test_groups_and_paths() -> None:
    circle = decouple([Group(Mean(x), Mean(sin(x)), Mean(cos(x))), Mean(x**2)]).explain()
    assert circle.notes[0].level == 3 and circle.notes[0].method == "parallel"
    assert "Mean(x) = 0, Mean(sin(x)) = 0, Mean(cos(x)) = exp(-1/2)" in circle.notes[0].title
    narrow = decouple([Mean(x), variance()], path="narrow").explain()
    assert {note.method for note in narrow.notes} == {"narrow path"} and "was asked for" in str(narrow)
    relaxed = decouple([Mean(x), variance(), kurtosis()], path="relaxed").explain()
    assert relaxed.notes[-1].method == "none" and "there is no way" in str(relaxed)
