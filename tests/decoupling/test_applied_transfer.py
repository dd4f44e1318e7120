"""The map of a transfer on other values: against flows integrated by SciPy, filters, and the transfer of the source."""

import pickle
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import symdecouple as sd
from symdecouple import Mean, x
from symdecouple.decoupling.lookup_table import LookupTable
from symdecouple.families import raw_moments, second_order_moments, standardized_moments, tils
from symdecouple.numeric.moments.value_map import ValueMap

RNG = np.random.default_rng(0)
SOURCE, TARGET = RNG.gamma(4.0, size=60), 1 + 3 * RNG.gamma(3.0, size=80)
PICTURE = RNG.integers(20, 200, (12, 10, 3)).astype(np.uint8)


@cache
def plan_of(order: int) -> sd.Plan:
    return sd.decouple(standardized_moments(order))


@cache
def moments(order: int, match: Any = "decoupled") -> Any:
    return plan_of(order).transfer(SOURCE, TARGET, match=match)


@pytest.mark.parametrize("match", ["decoupled", "own"])
@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_the_source_goes_where_the_transfer_took_it(order: int, match: Any) -> None:
    done = moments(order, match)
    there = done.apply(SOURCE.reshape(6, 10))
    assert there.shape == (6, 10) and np.abs(there.ravel() - done.values).max() < 1e-8 * done.values.std()
    between = done.apply(np.linspace(SOURCE.min(), SOURCE.max(), 400))
    assert (np.diff(between) > 0).all()


def test_three_moments_are_one_moebius_map() -> None:
    """A Moebius map keeps cross ratios, those of values outside of the sample too."""
    done, values = moments(3), np.array([SOURCE.min() - 1, 2.0, 5.0, SOURCE.max() + 1])

    def cross(v: np.ndarray) -> float:
        return float((v[2] - v[0]) * (v[3] - v[1]) / ((v[2] - v[1]) * (v[3] - v[0])))

    assert cross(done.apply(values)) == pytest.approx(cross(values), rel=1e-11)


def test_a_value_follows_the_flow_of_the_fourth_moment() -> None:
    """SciPy's own method, with the cubic orthogonal to 1, z, z^2 from a QR decomposition."""
    z = np.random.default_rng(1).normal(size=30)
    z = (z - z.mean()) / z.std()
    goal = (1.0, 0.0, 1.0, float(np.mean(z**3)), 0.8 * float(np.mean(z**4)))
    others = np.array([z.min() - 0.1, -0.7, 0.1234, z.max() + 0.1])

    def velocity(s: float, y: np.ndarray) -> np.ndarray:
        sample = y[:30]
        coefficients = np.linalg.lstsq(np.vander(sample, 3), sample**3)[0]
        cubic = y**3 - np.vander(y, 3) @ coefficients
        speed: np.ndarray = (goal[4] - np.mean(z**4)) * cubic / (4 * np.mean(cubic[:30] ** 2))
        return speed

    path = solve_ivp(velocity, (0, 1), np.concatenate([z, others]), method="DOP853", rtol=1e-12, atol=1e-13)
    made, is_over = ValueMap.of_sample(z, (goal,), 0.0, 1.0)(others)
    np.testing.assert_allclose(made, path.y[30:, -1], atol=1e-9)
    assert not is_over.any()


def test_values_behind_the_end_of_the_map() -> None:
    done, values = moments(3), np.array([[5.0, 1e6], [-1e6, np.nan]])
    with pytest.warns(sd.RefusalWarning, match="1 of 4 values are NaN or infinite"):
        done.apply(values)
    with pytest.warns(sd.RefusalWarning, match=r"1 of 2 values, from 1000000, are where the map has ended"):
        there = done.apply(values[0])
    assert there[0] == done.apply([5.0])[0] and np.isnan(there[1])
    assert done.apply(values[0], beyond="hold")[1] == np.inf
    with pytest.raises(sd.Refused, match="beyond the map"):
        done.apply(values[0], on_refusal="raise")
    _, (outcome,) = moments(5).apply([-1e3, 5.0, 1e3], on_refusal="return")
    assert not outcome.ok and "from 1000" in outcome.detail
    limits = moments(5).apply([-1e3, -1e4], beyond="hold")
    assert limits[0] == limits[1]


@pytest.mark.parametrize(("values", "shape"), [([], (0,)), (5, ()), (np.ones(2, np.float32), (2,)), ([[2]], (1, 1))])
def test_shapes_and_kinds(values: Any, shape: tuple[int, ...]) -> None:
    there = moments(4).apply(values)
    assert there.shape == shape and there.dtype == (np.float32 if np.asarray(values).dtype == np.float32 else float)


def test_a_filter_is_the_same_on_another_grid() -> None:
    """Gains of the first transfer, from its own spectra, on a signal that repeats the source twice."""
    plan = sd.decouple(sd.FeatureSet([Mean(x), *second_order_moments(tils())]))
    source, target = np.random.default_rng(2).normal(size=(2, 16, 16))
    done = plan.transfer(source, target + 2)
    np.testing.assert_allclose(done.apply(source), done.values, atol=1e-9)
    np.testing.assert_allclose(done.apply(np.tile(source, (2, 1))), np.tile(done.values, (2, 1)), atol=1e-9)
    other = np.random.default_rng(3).normal(size=(16, 16))
    gain = np.abs(np.fft.fft2(done.values)) / np.abs(np.fft.fft2(source))
    gain[0, 0] = 1
    wanted = np.fft.ifft2(np.fft.fft2(other) * gain).real + done.values.mean() - source.mean()
    np.testing.assert_allclose(done.apply(other), wanted, atol=1e-9)
    with pytest.raises(sd.InvalidInput, match="a transfer is a filter"):
        done.lookup_table()


def test_batches_and_channels_have_a_map_each() -> None:
    plan = plan_of(3)
    rows, targets = RNG.gamma(3.0, size=(2, 3, 20)), TARGET
    done = plan.transfer(rows, targets)
    np.testing.assert_allclose(done.apply(rows[..., :7]), done.values[..., :7], rtol=1e-10)
    across = plan.transfer(np.moveaxis(rows, -1, 0), targets, axis=0)
    np.testing.assert_allclose(across.apply(np.moveaxis(rows, -1, 0)[:5]), across.values[:5], rtol=1e-10)
    with pytest.raises(sd.InvalidInput, match=r"a batch of shape \(2, 3\) was transferred"):
        done.apply(rows[0])
    for colour in ("channels", "opponent"):
        one = plan.transfer(PICTURE, 255 - PICTURE[::-1] // 2, channel_axis=-1, colour=colour)
        np.testing.assert_allclose(one.apply(PICTURE[:3, :2]), one.values[:3, :2], atol=1e-9)
    again = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(again.apply(PICTURE), one.apply(PICTURE))


def test_what_was_no_map_is_refused() -> None:
    other = sd.decouple(sd.FeatureSet.parse("mean(x)", "mean(x^2)", "mean(exp(x/4))")).transfer(SOURCE, SOURCE**1.1)
    _, (outcome,) = other.apply(SOURCE, on_refusal="return")
    assert "where all features are moments" in outcome.detail
    perturbed = sd.decouple(standardized_moments(3), perturb="ramp")
    with pytest.warns(sd.PerturbedWarning):
        done = perturbed.transfer(np.repeat([1.0, 2.0, 4.0], [6, 3, 2]), TARGET)
    _, (outcome,) = done.apply([1.5], on_refusal="return")
    assert not outcome.ok and "perturbed" in outcome.detail
    refused, _ = plan_of(3).transfer(np.ones(5), TARGET, on_refusal="return")
    _, (outcome,) = refused.apply(SOURCE, on_refusal="return")
    assert "the transfer itself was refused" in outcome.detail


# --- tables of colours ---


def colours() -> Any:
    plan = plan_of(3)
    return plan.transfer(PICTURE, (PICTURE.astype(float) ** 1.1 / 2 + 30).round().astype(np.uint8), channel_axis=-1)


def test_a_cube_is_half_a_level_from_the_direct_result(tmp_path: Path) -> None:
    """The file is read back by the format's rules and interpolated by SciPy."""
    from scipy.interpolate import RegularGridInterpolator

    done, path = colours(), tmp_path / "look.cube"
    done.write_cube(path)
    lines = path.read_text().splitlines()
    numbers = [line for line in lines if re.match(r"[-\d]", line)]
    assert "LUT_3D_SIZE 33" in lines and len(numbers) == 33**3 and lines[0] == 'TITLE "symdecouple"'
    nodes = np.array([line.split() for line in numbers], dtype=float).reshape(33, 33, 33, 3).transpose(2, 1, 0, 3)
    read = RegularGridInterpolator((np.linspace(0, 1, 33),) * 3, nodes)
    levels = np.stack(np.meshgrid(*(np.arange(0, 256, 15),) * 3), axis=-1).reshape(-1, 3)
    tried = np.concatenate([levels, np.random.default_rng(1).integers(0, 256, (2000, 3))])
    direct = done.apply(tried[:, None].astype(float), beyond="hold")[:, 0].clip(0, 255)
    assert np.abs(255 * read(tried / 255).clip(0, 1) - direct).max() <= 0.5
    assert done.lookup_table().error <= 0.5


def test_one_curve_for_three_channels_and_white_of_each_type() -> None:
    done = plan_of(2).transfer(SOURCE / 20, TARGET / 40)
    table = done.lookup_table(5)
    assert table.white == 1 and table.nodes.shape == (5, 5, 5, 3)
    np.testing.assert_allclose(table([0.25, 0.5, 0.3]), done.apply([0.25, 0.5, 0.3]), atol=1e-12)
    assert colours().lookup_table().white == 255 and done.lookup_table(white=2).white == 2
    assert "33 x 33 x 33" in repr(colours().lookup_table())


def other(source: Any = None, **options: Any) -> Any:
    """A transfer of another sample, or of three."""
    return plan_of(2).transfer(RNG.normal(size=(3, 9)) if source is None else source, TARGET, **options)


@pytest.mark.parametrize(("call", "said"), [
    *((lambda size=size: colours().lookup_table(size), "2 to 129") for size in (1, True, 33.0)),
    *((lambda white=white: colours().lookup_table(white=white), "above 0") for white in (0, np.nan, "x")),
    (lambda: other(SOURCE * 10).lookup_table(), "the source goes up to .*, and white is 1 unless it is named: white"),
    (lambda: colours().write_cube("look.txt"), r"as \.cube"),
    (lambda: colours().write_cube("none/look.cube"), "cannot be written"),
    (lambda: other().lookup_table(), r"a batch of shape \(3,\) was transferred"),
    (lambda: other().plot(), "a batch of 3 samples"),
    (lambda: next(iter(other(np.ones(5), on_refusal="return"))).plot(), "the transfer was refused")])
def test_what_has_no_table_and_no_picture(call: Any, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                          ) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(sd.InvalidInput, match=said):
        call()
    assert not list(tmp_path.iterdir())


def test_a_map_too_steep_for_a_table() -> None:
    with pytest.raises(sd.Refused, match=r"a table of 9 nodes a side is .* levels .* too steep"):
        LookupTable.of(np.sqrt, 9, 1.0)
    with pytest.raises(sd.Refused, match=r"size=65 is 0\.0. off"):
        LookupTable.of(lambda v: 0.5 + 0.2 * np.sin(3 * v), 3, 1.0)


# --- the picture ---


@pytest.mark.usefixtures("pyplot")
@pytest.mark.parametrize("case", ["grey", "colour", "signal", "values", "volume"])
def test_source_target_and_result_beside_each_other(case: str) -> None:
    grey, options = PICTURE[..., 0], {"axis": None} if case in ("grey", "volume") else {}
    images = {"grey": (grey, grey[::-1] // 2 + 9), "colour": (PICTURE, 255 - PICTURE), "values": (SOURCE, TARGET),
              "volume": (PICTURE, 255 - PICTURE), "signal": (SOURCE, TARGET)}[case]
    features = [Mean(x), Mean(x**2), Mean(x * sd.shift(1)(x))] if case == "signal" else raw_moments(2)
    done = sd.decouple(features).transfer(*images, **({"channel_axis": -1} if case == "colour" else options))
    axes = done.plot()
    assert [ax.get_title() or ax.get_title(loc="left") for ax in axes] == ["source", "target", "result"]
    if case in ("grey", "colour"):
        for ax, shown in zip(axes, (*images, done.values), strict=True):
            np.testing.assert_allclose(ax.images[0].get_array(), np.clip(shown, 0, 255) / 255)
        outside = int(((done.values < 0) | (done.values > 255)).sum())
        assert axes[2].get_xlabel().startswith(f"{outside} of ") if outside else axes[2].get_xlabel() == ""
    elif case == "signal":
        np.testing.assert_array_equal(axes[2].lines[0].get_ydata(), done.values)
    else:
        assert sum(p.get_height() for p in axes[2].patches) == pytest.approx(1)
    with pytest.raises(sd.InvalidInput, match="a sequence of 3"):
        done.plot(axes[0])


@pytest.mark.usefixtures("pyplot")
@pytest.mark.parametrize(("source", "black", "white"), [
    (PICTURE / 255, 0, 1), (PICTURE + 0.01, 0, 255), (PICTURE - 0.01, 0, 255), (PICTURE * 256.0, 0, 65535),
    (PICTURE * 16.0, None, None),  # 12 bits: almost black from 0 to 65535
])
def test_black_and_white_of_numbers_without_a_type(source: Any, black: float | None, white: float | None) -> None:
    done = plan_of(2).transfer(source, source[::-1], channel_axis=-1)
    low, high = (source.min(), source.max()) if black is None or white is None else (black, white)
    np.testing.assert_allclose(done.plot()[0].images[0].get_array(), ((source - low) / (high - low)).clip(0, 1))
