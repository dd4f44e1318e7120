"""Pictures of angles and spheres: what their artists hold are the numbers, under the names of the features."""

from typing import Any

import numpy as np
import pytest

import symdecouple as sd
from symdecouple.analysis import draw_spheres, orthogonality, spheres
from symdecouple.analysis.critical import sphere
from symdecouple.families import standardized_moments

pytest.importorskip("matplotlib").use("Agg")
from matplotlib import pyplot  # noqa: E402 - after the choice of what draws

PLAN = sd.decouple(standardized_moments(4))
ROWS = np.random.default_rng(0).gamma(2.0, size=(30, 20))


@pytest.fixture(autouse=True)
def _closed() -> Any:
    yield
    pyplot.close("all")


@pytest.mark.parametrize("which", ["original", "decoupled", "cross"])
@pytest.mark.parametrize("measure", ["degrees", "cosine"])
def test_a_map_holds_mean_angles_of_gradients(which: Any, measure: Any) -> None:
    """Angles of the gradients of the plan and of central differences, by NumPy alone."""
    ax = orthogonality(PLAN, ROWS).plot_map(which=which, measure=measure)
    step = 1e-5 * np.eye(20)
    declared = (PLAN.own_values(ROWS[:, None] + step) - PLAN.own_values(ROWS[:, None] - step)).swapaxes(1, 2)
    decoupled = PLAN.gradients(ROWS)
    one, two = (decoupled, decoupled) if which == "decoupled" else (declared, declared)
    one = decoupled if which == "cross" else one
    units = [v / np.linalg.norm(v, axis=-1, keepdims=True) for v in (one, two)]
    cosines = np.clip(np.abs(units[0] @ units[1].swapaxes(1, 2)), 0, 1)
    wanted = cosines if measure == "cosine" else 90 - np.degrees(np.arccos(cosines))
    shown = ax.images[0].get_array()
    free = ~np.ma.getmaskarray(shown)
    assert free.sum() == (16 if which == "cross" else 12)
    np.testing.assert_allclose(np.asarray(shown)[free], wanted.mean(axis=0)[free], atol=2e-3)
    last = "kurtosis" if which == "original" else "orthokurtosis"
    assert [t.get_text() for t in ax.get_yticklabels()] == ["mean", "variance", "skewness", last]


def test_pairs_are_below_as_declared_and_above_decoupled() -> None:
    found = orthogonality(PLAN, ROWS)
    panels = found.plot_pairs()
    assert panels.shape == (4, 4)
    below, above = panels[3, 2], panels[2, 3]
    for panel, each in ((below, found.original), (above, found.decoupled)):
        middle = sum(p.get_height() * (p.get_x() + p.get_width() / 2) for p in panel.patches)
        assert sum(p.get_height() for p in panel.patches) == pytest.approx(1)
        assert middle == pytest.approx(each.signed_mean[3, 2], abs=2.5)
    assert {text.get_text() for text in panels[3, 3].texts} == {"kurtosis", "orthokurtosis"}
    assert found.select(3, 4).plot_pairs().shape == (2, 2)
    named = orthogonality(PLAN, ROWS, names=["a", "b", "c", "d"]).plot_pairs()
    assert [text.get_text() for text in named[3, 3].texts] == ["d"]


def test_long_names_are_in_lines_that_fit() -> None:
    broken = {
        "energy of the smooth band": "energy of the smooth\nband",
        "Mean(x*shift(1)(x)*shift(2)(x))": "Mean(x*shift(1)(x)*\nshift(2)(x))",
        "a" * 45: "a" * 20 + "\n" + "a" * 20 + "\n" + "a" * 5,
        " ".join(["more than three lines"] * 9): "more than three\nlines more than\nthree lines more..",
    }
    panels = orthogonality(PLAN, ROWS[:3], names=list(broken)).plot_pairs()
    panels[0, 0].figure.draw_without_rendering()
    for panel, lines in zip(panels.diagonal(), broken.values(), strict=True):
        (text,) = panel.texts
        assert text.get_text() == lines
        held, free = text.get_window_extent(), panel.get_window_extent()
        assert held.width < 1.2 * free.width and held.height < free.height  # the gap between panels is a fifth of one


def test_angles_in_axes_that_were_given() -> None:
    _, ax = pyplot.subplots()
    found = orthogonality(PLAN, ROWS[:3])
    assert found.plot_map(ax) is ax
    given = pyplot.figure().subplots(4, 4)
    assert found.plot_pairs(given)[1, 2] is given[1, 2]
    wrong: list[tuple[Any, dict[str, Any], str]] = [
        (found.plot_map, {"ax": "ax"}, "one of Matplotlib"), (found.plot_pairs, {"ax": ax}, "sequence of 16"),
        (found.plot_map, {"which": "both"}, "which='both'"), (found.plot_map, {"measure": 1}, "measure")]
    for draw, options, told in wrong:
        with pytest.raises(sd.InvalidInput, match=told):
            draw(**options)
    with pytest.warns(sd.RefusalWarning):
        nothing = orthogonality(PLAN, np.ones((2, 9)))
    for call in (nothing.plot_map, nothing.plot_pairs):
        with pytest.raises(sd.InvalidInput, match="all 2 samples were refused"):
            call()
    many = sd.decouple([sd.Mean(sd.x * sd.shift(k)(sd.x)) for k in range(9)])
    with pytest.raises(sd.InvalidInput, match=r"found\.select"):
        orthogonality(many, np.random.default_rng(1).normal(size=40)).plot_pairs()


def test_three_spheres(monkeypatch: pytest.MonkeyPatch) -> None:
    """Critical points of the skewness are (3, -1, -1, -1), its mirror, and (1, 1, -1, -1), in all orders."""
    grid = np.meshgrid(np.linspace(0.01, 6.293, 61), np.linspace(0, np.pi, 31))
    for module in (sphere, spheres):
        monkeypatch.setattr(module, "meshes", lambda: grid)
    axes = draw_spheres(PLAN)
    assert [ax.get_title() for ax in axes] == ["skewness", "kurtosis", "orthokurtosis"]
    marks = [sum(len(line.get_data_3d()[0]) for line in ax.lines if line.get_linestyle() == "None") for ax in axes]
    assert marks == [4 + 4 + 6, 8 + 6 + 12, 6 + 12]
    assert all(len([line for line in ax.lines if line.get_linestyle() == "-"]) >= 7 for ax in axes)
    assert len({line.get_color() if isinstance(line.get_color(), str) else tuple(line.get_color())
                for line in axes[2].lines if line.get_linestyle() == "-"}) == 8


@pytest.mark.parametrize(("plan", "ax", "told"), [
    (sd.decouple(standardized_moments(3)), None, "four or more"),
    ("plan", None, "a plan is expected"),
    (PLAN, [1, 2, 3], "a sequence of 3"),
])
def test_what_has_no_spheres(plan: Any, ax: Any, told: str) -> None:
    with pytest.raises(sd.InvalidInput, match=told):
        draw_spheres(plan, ax)


def test_flat_axes_take_no_spheres() -> None:
    with pytest.raises(sd.InvalidInput, match='projection="3d"'):
        draw_spheres(PLAN, pyplot.figure().subplots(1, 3))
