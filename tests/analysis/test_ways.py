"""Flow lines, features on the way and spectra: what is drawn against formulas of its own."""

import sys
from typing import Any

import numpy as np
import pytest
from scipy import signal, stats

import symdecouple as sd
from symdecouple import Mean, x
from symdecouple.analysis import draw_flow_lines, draw_path, draw_spectrum, flow_lines
from symdecouple.analysis.critical import sphere
from symdecouple.families import second_order_moments, standardized_moments, tils

pytest.importorskip("matplotlib").use("Agg")
from matplotlib import pyplot  # noqa: E402 - after the choice of what draws

PLAN = sd.decouple(standardized_moments(4))
RNG = np.random.default_rng(0)
SHIFTS = sd.decouple([Mean(x * sd.shift(k)(x)) for k in range(3)], [1.0, 0.2, 0.1])


@pytest.fixture(autouse=True)
def _closed() -> Any:
    yield
    pyplot.close("all")


def test_lines_on_the_sphere_keep_the_orthokurtosis(monkeypatch: pytest.MonkeyPatch) -> None:
    """Along the flow of the skewness a Moebius map moves the sample, and its orthokurtosis stays."""
    for module in (sphere, flow_lines):
        monkeypatch.setattr(module, "meshes", lambda: np.meshgrid(np.linspace(0, 6.28, 31), np.linspace(0, np.pi, 21)))
    rows = np.random.default_rng(3).normal(size=(8, 4))
    ax = draw_flow_lines(PLAN, rows)
    lines = [np.array(line.get_data_3d()).T for line in ax.lines if line.get_linestyle() == "-"]
    assert len(lines) == 8
    basis = np.array([[1, 1, -1, -1], [1, -1, 1, -1], [1, -1, -1, 1]]) / 2
    seen = 0
    for line, row in zip(lines, rows, strict=True):
        samples = line[np.isfinite(line).all(axis=1)] @ basis
        seen += len(samples)
        np.testing.assert_allclose(sd.stats.orthokurtosis(samples, axis=1), sd.stats.orthokurtosis(row), rtol=1e-6)
    assert seen > 50 and "8 samples of 4 numbers" in ax.get_title()


@pytest.mark.parametrize("row", [[1, 2, 3, 9], [9, 1, 2, 3], [-5, 0, 1, 1.5], [0, 1, -4, 0.5]])
def test_a_line_on_the_sphere_is_in_front_wherever_it_is(row: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (sphere, flow_lines):
        monkeypatch.setattr(module, "meshes", lambda: np.meshgrid(np.linspace(0, 6.28, 31), np.linspace(0, np.pi, 21)))
    ax = draw_flow_lines(PLAN, [row])
    (line,) = [np.array(line.get_data_3d()).T for line in ax.lines if line.get_linestyle() == "-"]
    assert np.isfinite(line).all()
    assert line.mean(axis=0) @ sphere.place(np.deg2rad(ax.azim), np.deg2rad(90 - ax.elev)) > 0.7
    assert ax.get_title().endswith(": 1 sample of 4 numbers")


def test_lines_in_the_plane_end_at_variance_one_and_skewness_zero() -> None:
    rows = RNG.normal(size=(3, 3)) + 7
    ax = draw_flow_lines(PLAN, rows)
    plane = np.array([[1, -1, 0], [1, 1, -2]]) / np.sqrt([[2], [6]])
    ends = [np.array(line.get_data()).T @ plane for line in ax.lines if len(line.get_xdata()) > 1]
    assert len(ends) == 3
    for way, row in zip(ends, rows, strict=True):
        np.testing.assert_allclose(way[0], row - row.mean(), atol=1e-12)
        np.testing.assert_allclose([way[-1].var(), stats.skew(way[-1])], [1, 0], atol=1e-9)
    assert ax.get_xlabel() and ax.images[0].get_extent()[0] < 0
    given = pyplot.figure().add_subplot()
    assert draw_flow_lines(PLAN, rows[:1], given, level=2) is given


def test_features_on_the_way_come_to_their_references() -> None:
    row = RNG.gamma(2.0, size=15)
    above, below = draw_path(PLAN, row)
    shown = {text.get_text() for text in above.get_legend().get_texts()}
    assert f"skewness: {stats.skew(row):.3g} to 0" in shown and f"variance: {row.var():.3g} to 1" in shown
    curves = [np.array(line.get_ydata()) for line in below.lines if len(line.get_xdata()) > 2]
    assert len(curves) == 15 and [curve[0] for curve in curves] == pytest.approx(sorted(row))
    assert all(np.diff([curve[k] for curve in curves]).min() > 0 for k in range(len(curves[0])))
    skewness = next(line for line in above.lines if str(line.get_label()).startswith("skewness"))
    np.testing.assert_allclose(np.diff(skewness.get_ydata()[-25:]), -1 / 24, atol=1e-9)  # evenly to its reference


@pytest.mark.parametrize(("draw", "samples", "options", "told"), [
    (draw_flow_lines, np.ones((2, 5)), {}, "three numbers, a plane, or four"),
    (draw_flow_lines, np.ones((2, 4)), {}, "none of 2 samples has level 3"),
    (draw_flow_lines, [[1, 2, 4.0]], {"level": 1}, "level 2 or more"),
    (draw_flow_lines, [[1, 2, 4.0]], {"level": 9}, "level is 0 to 4"),
    (draw_flow_lines, [[1, 2, np.nan]], {}, "finite numbers"),
    (draw_flow_lines, [[1, 2, 4.0, 9.0]], {"ax": pyplot.figure().add_subplot()}, "three-dimensional Axes"),
    (draw_path, np.ones((2, 5)), {}, "the way of one sample"),
    (draw_path, np.ones(5), {}, "the sample has no level 3, zero variance"),
    (draw_path, np.arange(5.0), {"ax": [1]}, "a sequence of 2"),
    (draw_path, [], {}, "samples of finite numbers"),
    (draw_path, ["a"], {}, "holds text"),
    (draw_path, [1j, 2], {}, "complex numbers"),
])
def test_what_has_no_way(draw: Any, samples: Any, options: dict[str, Any], told: str) -> None:
    with pytest.raises(sd.InvalidInput, match=told):
        draw(PLAN, samples, **options)


def test_a_spectrum_is_that_of_scipy_and_bars_are_the_features() -> None:
    row = np.cumsum(RNG.normal(size=64))
    spectrum, bands, bars = draw_spectrum(SHIFTS, row)
    frequency, density = signal.periodogram(row, detrend=False)
    np.testing.assert_allclose(spectrum.lines[0].get_xdata(), frequency[1:])
    np.testing.assert_allclose(spectrum.lines[0].get_ydata()[:-1], density[1:-1] / 64 / 2, rtol=1e-9)
    np.testing.assert_allclose(bands.lines[1].get_ydata(), np.cos(2 * np.pi * frequency[1:]), atol=1e-12)
    heights = [patch.get_height() for patch in bars.patches]
    np.testing.assert_allclose(heights[:3], [np.mean(row * np.roll(row, k)) for k in range(3)])
    np.testing.assert_allclose(heights[3:], [1, 0.2, 0.1], rtol=1e-9)


def test_rings_of_an_image_hold_its_power_and_names_stand_below_bars() -> None:
    plan = sd.decouple(sd.FeatureSet([Mean(x), *second_order_moments(tils())]))
    image, other = RNG.normal(size=(2, 16, 12))
    axes = draw_spectrum(plan, image, other, name="another")
    power = np.abs(np.fft.fft2(image)) ** 2 / image.size**2
    assert power.mean() / 3 < np.mean(axes[0].lines[0].get_ydata()) < 3 * power.mean()
    assert [t.get_text() for t in axes[2].get_xticklabels()][:3] == ["mean", "ll", "lm"]
    assert [t.get_text() for t in axes[0].get_legend().get_texts()] == ["sample", "another"]
    assert len(axes[1].lines) == 9


@pytest.mark.parametrize(("plan", "sample", "told"), [
    (PLAN, np.arange(9.0), "energies of filters"),
    (SHIFTS, np.zeros((3, 3)), "one signal of finite numbers"),
    (SHIFTS, ["a", "b"], "holds text"),
    (SHIFTS, np.ma.masked_equal([1.0, 2, 3], 2), "masked values"),
    (SHIFTS, np.zeros(9), "the sample is refused"),
    ("plan", np.arange(9.0), "a plan is expected"),
])
def test_what_has_no_spectrum(plan: Any, sample: Any, told: str) -> None:
    with pytest.raises(sd.InvalidInput, match=told):
        draw_spectrum(plan, sample)


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    rows, found = RNG.normal(size=(8, 4)), sd.analysis.orthogonality(PLAN, RNG.normal(size=(2, 9)))
    done = PLAN.transfer(np.arange(9.0) ** 2, np.arange(7.0) ** 3)
    calls: list[Any] = [
        (draw_flow_lines, PLAN, rows), (draw_path, PLAN, rows[:, 0] ** 2), (draw_spectrum, SHIFTS, rows[:, 0]),
        (sd.analysis.draw_scatter, PLAN, RNG.normal(size=(5, 9))), (sd.analysis.draw_spheres, PLAN), (done.plot,),
         (found.plot_map,), (found.plot_pairs,)]
    for draw, *given in calls:
        with pytest.raises(ImportError, match=r'pip install "symdecouple\[plot\]"'):
            draw(*given)
