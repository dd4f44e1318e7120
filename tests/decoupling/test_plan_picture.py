"""The diagram of a plan: its levels, what brings the sample there, verdicts, and what is read."""

from typing import Any

import pytest

import symdecouple as sd
from symdecouple import Mean, x
from symdecouple.families import second_order_moments, standardized_moments, tils

pytest.importorskip("matplotlib").use("Agg")
from matplotlib import pyplot  # noqa: E402 - after the choice of what draws


@pytest.fixture(autouse=True)
def _closed() -> Any:
    yield
    pyplot.close("all")


def texts(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.texts if text.get_text()]


def test_moments() -> None:
    shown = texts(sd.decouple(standardized_moments(5)).diagram())
    for wanted in ("sample x", "level 1: mean = 0", "level 4: kurtosis = 3", "orthokurtosis", "decoupled_5",
                   "explicit formula   (features 1 to 2 involutive: PROVED)",
                   "closed form, one root   (features 1 to 3 involutive: PROVED)",
                   "narrow path   (features 1 to 4 involutive: REFUTED)"):
        assert wanted in shown
    assert "decoupled_6" not in shown and not any(text.startswith("level 5") for text in shown)


def test_energies_groups_long_names_and_long_plans() -> None:
    shown = texts(sd.decouple(sd.FeatureSet([Mean(x), *second_order_moments(tils())])).diagram())
    assert "convex problem in the spectrum   (features 1 to 3 involutive: PROVED)" in shown
    assert "level 9: hm = 1" in shown
    grouped = sd.decouple(sd.FeatureSet([Mean(x), sd.Group(Mean(x**2), Mean(x**3)), Mean(x**4)]))
    assert any(text.startswith("level 3: Mean(x**2) = 1, ") for text in texts(grouped.diagram()))
    names = ["place", "a very long name of a feature, longer than its box"]
    named = texts(sd.decouple(sd.FeatureSet([Mean(x), Mean(x**2)], names=names)).diagram())
    assert "a very long name of a featu..." in named
    long = sd.decouple([Mean(x**k) for k in range(1, 17)], path="narrow").diagram()
    assert "... 3 more levels ..." in texts(long) and "decoupled_16" in texts(long)


def test_axes_that_were_given() -> None:
    _, ax = pyplot.subplots()
    plan = sd.decouple([Mean(x)])
    assert plan.diagram(ax) is ax and texts(ax)[:2] == ["sample x", "mean"]
    with pytest.raises(sd.InvalidInput, match="one of Matplotlib's Axes"):
        plan.diagram("ax")
