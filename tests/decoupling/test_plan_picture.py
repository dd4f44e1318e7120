"""The diagram of a plan: its levels, what brings the sample there, verdicts, and what is read."""

from typing import Any

import pytest

import symdecouple as sd
from symdecouple import Mean, x
from symdecouple.decoupling.plan_picture import LevelRow, draw_diagram
from symdecouple.families import raw_moments, second_order_moments, tils

pytest.importorskip("matplotlib").use("Agg")
from matplotlib import pyplot  # noqa: E402 - after the choice of what draws


@pytest.fixture(autouse=True)
def _closed() -> Any:
    yield
    pyplot.close("all")


def texts(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.texts if text.get_text()]


def test_moments() -> None:
    shown = texts(sd.decouple(raw_moments(5)).diagram())
    for wanted in ("sample x", "level 1: mean = 0", "level 4: Mean(x**4) = 3", "orthokurtosis", "decoupled_5",
                   "explicit formula   (features 1 to 2 involutive: PROVED)",
                   "closed form, one root   (features 1 to 3 involutive: PROVED)",
                   "narrow path   (features 1 to 4 involutive: REFUTED)"):
        assert wanted in shown
    assert "decoupled_6" not in shown and not any(text.startswith("level 5") for text in shown)


def test_energies_and_long_names() -> None:
    shown = texts(sd.decouple(sd.FeatureSet([Mean(x), *second_order_moments(tils())])).diagram())
    assert "convex problem in the spectrum   (features 1 to 3 involutive: PROVED)" in shown
    assert "level 9: hm = 1" in shown
    names = ["place", "a very long name of a feature, longer than its box"]
    named = texts(sd.decouple(sd.FeatureSet([Mean(x), Mean(x**2)], names=names)).diagram())
    assert "a very long name of a featu..." in named


def test_long_plans_show_the_first_levels_and_the_last() -> None:
    rows = [LevelRow(k, f"f{k} = 0" if k else "", "parallel", None, (f"g{k}", f"h{k}")) for k in range(0, 32, 2)]
    shown = texts(draw_diagram(rows))
    assert "... 3 more levels ..." in shown and "g30, h30" in shown and "g24, h24" not in shown
    assert shown.count("closed form, one root each") == 12


def test_axes_that_were_given() -> None:
    _, ax = pyplot.subplots()
    plan = sd.decouple([Mean(x)])
    assert plan.diagram(ax) is ax and texts(ax)[:2] == ["sample x", "mean"]
    with pytest.raises(sd.InvalidInput, match="one of Matplotlib's Axes"):
        plan.diagram("ax")
