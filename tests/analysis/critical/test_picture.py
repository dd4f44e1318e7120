"""The picture of critical points: every point is drawn, on the sphere in all its orders."""

from __future__ import annotations

import numpy as np
import pytest

import symdecouple as sd
from symdecouple.analysis import critical_points
from symdecouple.families.moments import raw_moments

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402 - after the choice of what draws

PLAN = sd.decouple(raw_moments(5), path="narrow")


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def test_values_over_shares() -> None:
    found = critical_points(PLAN, level=4, n_samples=9)
    (axes,) = found.plot()
    drawn = sorted(tuple(map(float, pair)) for line in axes.lines for pair in zip(*line.get_data(), strict=True))
    assert drawn == sorted((float(p.shares[-1]), float(p.value)) for p in found)
    assert axes.get_ylabel() == "critical value of orthokurtosis"
    assert {text.get_text() for text in axes.get_legend().get_texts()} == {"minimum", "saddle", "maximum"}


@pytest.mark.parametrize(("level", "orders"), [(3, 4 + 6 + 4), (4, 6 + 12)])
def test_four_samples_are_on_a_sphere(level: int, orders: int) -> None:
    """In all orders, those on the back left out: the antipode of a front point is not drawn."""
    axes = critical_points(PLAN, level=level, n_samples=4).plot()
    assert axes[1].get_title().endswith({3: "skewness", 4: "kurtosis"}[level])
    marked = [np.array(line.get_data_3d()).T for line in axes[1].lines if line.get_linestyle() == "None"]
    places = np.concatenate(marked)
    assert len(places) == orders
    seen = places[np.isfinite(places).all(axis=1)]
    assert np.allclose(np.linalg.norm(seen, axis=1), 1.02) and orders / 3 < len(seen) <= 0.6 * orders


def test_features_have_their_names() -> None:
    named = sd.decouple(sd.FeatureSet(raw_moments(3), names=["place", "spread", "lean"]))
    assert critical_points(named, level=3).name == "lean"
    for plan, level, name in ((named, 3, "lean"), (PLAN, 5, "decoupled_5")):
        (axes,) = critical_points(plan, level=level, n_samples=7).plot()
        assert axes.get_ylabel() == f"critical value of {name}"


def test_an_axes_takes_the_values_alone() -> None:
    _, ax = pyplot.subplots()
    assert critical_points(PLAN, level=3, n_samples=4).plot(ax) == (ax,)


def test_what_has_no_picture() -> None:
    with pytest.raises(sd.InvalidInput, match="n_samples="):
        critical_points(PLAN, level=3).plot()
    with pytest.raises(sd.InvalidInput, match="no critical points"):
        critical_points(PLAN, level=1, n_samples=4).plot()
