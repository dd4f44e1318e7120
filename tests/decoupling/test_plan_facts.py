"""What a plan tells of itself: explanations, names, reports of residuals, and its diagram."""

from typing import Any

import mpmath
import pytest
from sympy import cos, exp, sin

from symdecouple import Feature, FeatureSet, Group, InvalidInput, Mean, coordinates, decouple, x
from symdecouple.decoupling.explanation import Explanation
from symdecouple.decoupling.plan_picture import LevelRow, draw_diagram
from symdecouple.families import autocorrelation, raw_moments, second_order_moments, standardized_moments, tils
from symdecouple.language.statistics import kurtosis, skewness, variance

FOUR = decouple(raw_moments(4))


@pytest.fixture(scope="module")
def moments() -> Explanation:
    return FOUR.explain()


def test_latex_and_html(moments: Explanation) -> None:
    assert moments.latex().count(r"\text{level") == 4
    assert r"\sqrt{- \overline{x}^{2} + \overline{x^{2}}}" in moments.latex()
    table = moments._repr_html_()
    assert table.count("<tr>") == 5 and table.count("$") % 2 == 0
    assert "&lt;" not in table.split("<table")[0] and "<script" not in table


def test_groups_and_paths() -> None:
    circle = decouple([Group(Mean(x), Mean(sin(x)), Mean(cos(x))), Mean(x**2)]).explain()
    assert circle.notes[0].level == 3 and circle.notes[0].method == "parallel"
    assert "Mean(x) = 0, Mean(sin(x)) = 0, Mean(cos(x)) = exp(-1/2)" in circle.notes[0].title
    narrow = decouple([Mean(x), variance()], path="narrow").explain()
    assert {note.method for note in narrow.notes} == {"narrow path"} and "was asked for" in str(narrow)
    relaxed = decouple([Mean(x), variance(), kurtosis()], path="relaxed").explain()
    assert relaxed.notes[-1].method == "none" and "there is no way" in str(relaxed)


# --- names ----------------------------------------------------------------------------------------------------------

KNOWN = ("mean", "variance", "skewness", "orthokurtosis")
x1, x2 = coordinates(2)
NAMED = FeatureSet([Mean(x), Mean(x**2)], names=["level", "power"])


@pytest.mark.parametrize("features, options, names", [
    (raw_moments(5), {}, (*KNOWN, "decoupled_5")),
    (standardized_moments(6), {}, (*KNOWN, "decoupled_5", "decoupled_6")),
    ([Mean(x), variance(), Mean(x**3), kurtosis()], {}, KNOWN),
    ([Mean(x), Mean(x**2), Mean(x**4)], {}, ("mean", "variance", "decoupled_3")),
    ([Mean(x**2), Mean(x)], {}, ("Mean(x**2)", "decoupled_2")),
    ([Mean(x), Mean(exp(x))], {}, ("mean", "decoupled_2")),
    (raw_moments(3), {"reference": [1, 2, 4]}, ("mean", "decoupled_2", "decoupled_3")),  # about 1: no variance
    (raw_moments(3), {"reference": [0, 2]}, ("mean", "variance", "decoupled_3")),
    ([Group(Mean(x), Mean(x**2)), Mean(x**3)], {}, ("Mean(x)", "decoupled_2", "decoupled_3")),
    ([Feature(x1 + x2), Feature(x1**2 + x2**2)], {}, ("x1 + x2", "decoupled_2")),
    (NAMED, {}, ("level", "power")), ([*NAMED, skewness()], {}, ("level", "power", "skewness")),
    ([Mean(x), Feature(Mean(x**2), name="mean")], {}, ("mean", "decoupled_2")),
    ([Mean(x), *second_order_moments(tils(1))], {}, ("mean", "l", "m", "h")),
    (autocorrelation([0, 2]), {}, ("lag_0", "lag_2")),
], ids=lambda v: str(v)[:40])
def test_names_are_true(features: Any, options: dict[str, Any], names: tuple[str, ...]) -> None:
    plan = decouple(features, **options)
    assert plan.names == names and len(set(names)) == len(names)
    found = plan.get_feature_names_out(["a", "b"])
    assert found.dtype == object and found.tolist() == list(names)


# --- reports --------------------------------------------------------------------------------------------------------


def test_residuals_are_those_of_the_normalized_samples() -> None:
    points = [1.0, 2, 3, 5, 8, 13]
    report = FOUR.report(points)
    floats = FOUR.normalize(points)
    with mpmath.workdps(40):
        exact = [mpmath.mpf(v) for v in floats]
        for k, row in enumerate(report.rows, 1):
            wanted = abs(sum(v**k for v in exact) / 6 - (k == 2)) / (2 if k == 2 else 1)
            assert abs(row.residuals()[0] - wanted) < mpmath.mpf(10) ** -25
            assert row.residuals()[1] < mpmath.mpf(10) ** -29
        assert report.distance < 1e-15
    text = str(report)
    assert "level 3" in text and "Mean(x**3)" in text and "residual at 30 digits" in text
    assert report._repr_html_().count("<tr>") == 4
    assert mpmath.mpf(10) ** -31 < report.error < mpmath.mpf(10) ** -29 and "of 30 digits is known to 2.0e-31" in text


def test_a_refused_sample_has_no_residuals_but_a_reason() -> None:
    report = FOUR.report([0, 0, 0, 1, 2])
    assert report.distance is None and report.error is None and [o.ok for o in report.outcomes] == [False, False]
    assert report.rows[0].residuals() == (None, None)
    assert "skewness stays in" in str(report) and "refused" in report._repr_html_()


# --- the diagram ----------------------------------------------------------------------------------------------------


def texts(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.texts if text.get_text()]


@pytest.mark.usefixtures("pyplot")
def test_a_diagram_of_moments() -> None:
    shown = texts(decouple(raw_moments(5)).diagram())
    for wanted in ("sample x", "level 1: mean = 0", "level 4: Mean(x**4) = 3", "orthokurtosis", "decoupled_5",
                   "explicit formula   (features 1 to 2 involutive: PROVED)",
                   "closed form, one root   (features 1 to 3 involutive: PROVED)",
                   "narrow path   (features 1 to 4 involutive: REFUTED)"):
        assert wanted in shown
    assert "decoupled_6" not in shown and not any(text.startswith("level 5") for text in shown)


@pytest.mark.usefixtures("pyplot")
def test_a_diagram_of_energies_and_of_long_names() -> None:
    shown = texts(decouple(FeatureSet([Mean(x), *second_order_moments(tils())])).diagram())
    assert "convex problem in the spectrum   (features 1 to 3 involutive: PROVED)" in shown
    assert "level 9: hm = 1" in shown
    names = ["place", "a very long name of a feature, longer than its box"]
    named = texts(decouple(FeatureSet([Mean(x), Mean(x**2)], names=names)).diagram())
    assert "a very long name of a featu..." in named


@pytest.mark.usefixtures("pyplot")
def test_diagrams_of_long_plans_show_the_first_levels_and_the_last() -> None:
    rows = [LevelRow(k, f"f{k} = 0" if k else "", "parallel", None, (f"g{k}", f"h{k}")) for k in range(0, 32, 2)]
    shown = texts(draw_diagram(rows))
    assert "... 3 more levels ..." in shown and "g30, h30" in shown and "g24, h24" not in shown
    assert shown.count("closed form, one root each") == 12


def test_axes_that_were_given(pyplot: Any) -> None:
    _, ax = pyplot.subplots()
    plan = decouple([Mean(x)])
    assert plan.diagram(ax) is ax and texts(ax)[:2] == ["sample x", "mean"]
    with pytest.raises(InvalidInput, match="one of Matplotlib's Axes"):
        plan.diagram("ax")
