"""The scatter of features as declared and decoupled: what is drawn are the numbers of the plan and of SciPy."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

import symdecouple as sd
from symdecouple.analysis import draw_scatter

pytest.importorskip("matplotlib").use("Agg")

PLAN = sd.decouple(sd.families.standardized_moments(4))
ROWS = np.random.default_rng(0).gamma(2.0, size=(40, 30))


@pytest.fixture(autouse=True)
def _closed() -> Any:
    yield
    from matplotlib import pyplot

    pyplot.close("all")


def test_points_are_the_features_and_ellipses_have_their_covariance() -> None:
    left, right = draw_scatter(PLAN, {"first": ROWS, "second": ROWS + ROWS**2})
    shape = stats.skew(ROWS, axis=1), stats.kurtosis(ROWS, axis=1, fisher=False)
    assert np.allclose(left.collections[0].get_offsets(), np.stack(shape, axis=1), rtol=1e-10)
    assert np.allclose(right.collections[1].get_offsets(), PLAN.transform(ROWS + ROWS**2)[:, 2:], rtol=1e-12)
    ring = np.array(left.lines[0].get_data()) - np.mean(shape, axis=1)[:, None]
    distance = np.sqrt(np.einsum("in,ij,jn->n", ring, np.linalg.inv(np.cov(np.array(shape))), ring))
    assert np.allclose(distance, 2, rtol=1e-8)
    assert [text.get_text() for text in left.get_legend().get_texts()] == ["first", "second"]
    assert (left.get_xlabel(), left.get_ylabel(), right.get_ylabel()) == ("skewness", "kurtosis", "orthokurtosis")


def test_the_title_tells_the_correlation() -> None:
    left, _ = draw_scatter(PLAN, ROWS, features=(1, 2))
    value = stats.pearsonr(ROWS.mean(axis=1), ROWS.var(axis=1)).statistic
    assert left.get_title(loc="left") == f"as declared: correlation {value:.2f}" and left.get_legend() is None


def test_names_that_were_given_are_shown() -> None:
    features = sd.FeatureSet([sd.Mean(sd.x), sd.Mean(sd.x**2), sd.Mean(sd.x**5 + 7 * sd.x**4 + sd.x**3)],
                             names=["place", "power", "a very long name of a feature, given"])
    left, right = draw_scatter(sd.decouple(features), ROWS, features=(2, 3))
    assert (left.get_xlabel(), left.get_ylabel()) == features.names[1:]
    assert right.get_xlabel() == "power"


def test_axes_that_were_given_are_drawn_in_and_refused_samples_counted() -> None:
    from matplotlib.figure import Figure

    axes = Figure().subplots(1, 2)
    rows = np.vstack([ROWS, np.ones((1, 30)), np.repeat([0.0, 1.0], [25, 5])[None]])
    assert draw_scatter(PLAN, rows, axes) == tuple(axes)
    assert len(axes[0].collections[0].get_offsets()) == 40 and axes[1].texts[-1].get_text() == "2 refused"
    two = draw_scatter(PLAN, ROWS[:2], axes)[0].get_title(loc="left")
    assert two == "as declared: no correlation to tell"


@pytest.mark.parametrize(("options", "told"), [
    ({"features": (1,)}, "two different numbers from 1 to 4"),
    ({"features": (3, 3)}, "two different numbers"),
    ({"features": (0, 1)}, "two different numbers"),
    ({"features": (True, 2)}, "two different numbers"),
    ({"features": "34"}, "two different numbers"),
    ({"radius": 0}, "a number above 0"),
    ({"ax": object()}, "a sequence of 2 of Matplotlib's Axes"),
    ({"samples": {}}, "without classes"),
    ({"samples": np.ones((3, 8))}, "all 3 samples are refused"),
    ({"samples": {"a": ROWS, "b": np.ones((2, 8))}}, "class b: all 2 samples are refused"),
    ({"samples": np.empty((0, 8))}, "there are no samples"),
    ({"plan": "mean"}, "a plan is expected"),
    ({"plan": sd.decouple(sd.families.raw_moments(1))}, "a scatter is of two"),
])
def test_what_has_no_picture_is_refused(options: dict[str, Any], told: str) -> None:
    with pytest.raises(sd.InvalidInput, match=told):
        draw_scatter(**{"plan": PLAN, "samples": ROWS, **options})
