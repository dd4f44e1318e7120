"""The compiled flow to a skewness against NumPy's, rows it leaves to NumPy, and the functions run as plain Python."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from symdecouple.numeric.kernels.compile import is_available
from symdecouple.numeric.moments import skewness_flow_jit
from symdecouple.numeric.moments.skewness_flow import Imposed, impose_skewness
from symdecouple.numeric.moments.skewness_flow_jit import (
    KERNELS,
    compiled_impose_skewness,
    compiled_place_and_scale,
    compiled_standardize,
    flow_rows,
    root_rows,
    skewness_imposer,
    standardize_rows,
)
from symdecouple.numeric.moments.skewness_loops import CHUNK
from symdecouple.numeric.moments.skewness_root import unit_and_lift
from symdecouple.numeric.samples.batch import Panel
from tests.numeric.drawn_rows import LAWS
from tests.numeric.moments.test_skewness_flow import EPS, SAMPLES, between, rounding
from tests.traced import peak

needs_numba = pytest.mark.skipif(not is_available(), reason="numba is not installed")
WAYS = [impose_skewness, pytest.param(compiled_impose_skewness, marks=needs_numba)]


def as_plain_python(rows: np.ndarray, target: float) -> Imposed:
    """The very functions that are compiled, without numba."""
    panel, which = Panel.of(rows), np.arange(len(rows))
    unit, lift = (np.ldexp(1.0, exponent) for exponent in unit_and_lift(panel))
    answer = Imposed(np.empty(rows.shape), np.empty(rows.shape), np.full(len(rows), np.nan))
    wanted, (scale, offset, pole) = np.full(len(rows), target), np.empty((3, len(rows)))
    with np.errstate(all="ignore"):
        results = answer.values, answer.slope, answer.residual
        root_rows(which, rows, unit, lift, panel.low, panel.high, wanted, scale, offset, pole)
        flow_rows(which, rows, unit, unit, wanted, scale, offset, pole, *results)
    return answer


def assert_agreement(found: Imposed, expected: Imposed, target: float) -> None:
    """Both are within `rounding` of the exact answer."""
    for i in np.flatnonzero(~np.isnan(expected.residual)):
        allowed, steepness = rounding(expected.values[i], target)
        assert (abs(found.values[i] - expected.values[i]) <= 2 * allowed).all()
        assert (abs(found.slope[i] - expected.slope[i]) <= 2 * steepness * expected.slope[i]).all()


@pytest.mark.parametrize("part", [0.03, 0.5, 0.9])
@pytest.mark.parametrize("name", SAMPLES)
def test_the_functions_agree_with_numpy_without_numba(name: str, part: float) -> None:
    sample = SAMPLES[name][None]
    target = between(sample[0], part)
    found, expected = as_plain_python(sample, target), impose_skewness(sample, target)
    if np.isnan(found.residual[0]):
        assert name == "clusters"  # Mean(q^2) is 1e-12: another step of the pole may be needed
    else:
        assert found.residual[0] <= 2e-15 * (1 + np.mean(abs(expected.values) ** 3))
        assert_agreement(found, expected, target)


def test_a_sample_that_may_be_at_home_is_left_to_numpy() -> None:
    z = impose_skewness(np.random.default_rng(0).exponential(size=(3, 30)), 0.75).values
    assert np.isnan(as_plain_python(z, 0.75).residual).all()
    assert not np.isnan(as_plain_python(z, 0.7500001).residual).any()


def test_a_standardized_row_without_numba() -> None:
    rows = 1e6 + np.array([[1.0, 2, 3, 6], [5, 5, 5, 5], [-3, 1, 1, 1]])
    z, slope, residual = np.empty((3, 4)), np.empty(3), np.empty(3)
    with np.errstate(all="ignore"):
        standardize_rows(np.arange(3), rows, np.array([0.125, 1.0, 0.25]), rows.min(axis=1), z, slope, residual)
    assert z[0] * np.sqrt(3.5) == pytest.approx([-2, -1, 0, 3], abs=1e-15)
    assert z[2] * np.sqrt(3) == pytest.approx([-3, 1, 1, 1], rel=1e-15)
    assert slope[[0, 2]] == pytest.approx([1 / np.sqrt(3.5), 1 / np.sqrt(3)], rel=1e-15)
    assert np.isnan(residual[1]) and (residual[[0, 2]] <= 2e-16).all()


@pytest.fixture(scope="module")
def compiled() -> None:
    pytest.importorskip("numba")
    if not KERNELS.are_warm():
        skewness_flow_jit.warm()  # leaves the mark: no other process compiles again, and no later run


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("shape", [(60, 5), (40, 64), (10, CHUNK + 1), (2, 20000)], ids=str)
@pytest.mark.parametrize("law", LAWS)
def test_compiled_and_not_agree(law: str, shape: tuple[int, int]) -> None:
    rows = LAWS[law](np.random.default_rng(shape[1]), shape)
    rows[0] = 7
    rows[1, 1:] = np.nan
    for target in (0.0, -0.4, 1.2):
        with np.errstate(all="raise", under="ignore"):
            found, expected = compiled_impose_skewness(rows, target), impose_skewness(rows, target)
        assert found.refusals == expected.refusals and {0, 1} <= set(found.refusals)
        assert np.array_equal(np.isnan(found.values), np.isnan(expected.values))
        assert_agreement(found, expected, target)
        size = 1 + np.mean(abs(expected.values) ** 3, axis=1)
        left = np.array([i for i in range(len(rows)) if i not in found.refusals], dtype=np.intp)
        z = found.values[left].astype(np.longdouble)
        rounded = EPS * max(18.0, np.sqrt(min(shape[1], CHUNK)))  # of a sum in one lane, whose roundings walk randomly
        assert abs(z.mean(axis=1)).max(initial=0) < 1e-15 and abs((z * z).mean(axis=1) - 1).max(initial=0) < rounded
        reached = abs((z**3).mean(axis=1) - target)
        assert (reached <= rounded * size[left]).all()
        said = abs(found.residual[left] - reached / (1 + abs(target)))
        assert (said <= rounded * size[left] / (1 + abs(target))).all()


@pytest.mark.usefixtures("compiled")
def test_order_and_ties_are_kept() -> None:
    x = 1 + np.arange(4000) * EPS
    x = np.concatenate([x, [0.0, 0.5, 3.0], x[::7]])
    for target in (0.0, 20.0, -20.0):
        z = compiled_impose_skewness(x[None], target).values[0]
        order = np.argsort(x, kind="stable")
        assert (np.diff(z[order]) >= 0).all() and (np.diff(z[order])[np.diff(x[order]) == 0] == 0).all()


@pytest.mark.usefixtures("compiled")
def test_rows_never_meet_and_a_unit_changes_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(8)
    rows, targets = np.exp(2 * rng.normal(size=(300, 301))), rng.uniform(-3, 10, 300)
    together = compiled_impose_skewness(rows, targets)
    monkeypatch.setattr("symdecouple.numeric.moments.skewness_root_jit._n_threads", lambda: 3)
    assert np.array_equal(compiled_impose_skewness(rows, targets).values, together.values)
    some = compiled_impose_skewness(rows[::7], targets[::7])
    assert np.array_equal(some.values, together.values[::7]) and np.array_equal(some.slope, together.slope[::7])
    for unit in (2.0**-300, 2.0**-20, 2.0**500):
        scaled = compiled_impose_skewness(rows * unit, targets)
        assert np.array_equal(scaled.values, together.values)
        assert np.array_equal(scaled.slope, together.slope / unit)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("scale", [1.0, 1e-150, 1e300, 5e-324 * 2**30])
def test_standardized_rows(scale: float) -> None:
    rows = np.random.default_rng(1).exponential(size=(7, 5000)) + 3
    wide = rows.astype(np.longdouble)
    deviation = wide.std(axis=1, keepdims=True)
    z, slope, residual = compiled_standardize(rows * scale)
    kept = 2e-15 if scale > 1e-300 else 1e-7  # what the subnormal samples themselves have kept
    assert abs(z - (wide - wide.mean(axis=1, keepdims=True)) / deviation).max() <= kept * 20
    assert residual.max() <= 1e-15
    if scale > 1e-300:
        assert slope * scale == pytest.approx((1 / deviation).astype(float), rel=1e-14)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize(("scale", "offset"), [(1.0, 0.0), (1.0, 1e6), (2.0**-500, 0.0), (2.0**500, 0.0)])
@pytest.mark.parametrize("n_samples", [2, 64, 5000])
def test_place_and_scale(n_samples: int, scale: float, offset: float) -> None:
    rows = np.random.default_rng(3).exponential(size=(5, n_samples)) + offset
    rows[2] = 3.0
    wide = rows.astype(np.longdouble)
    mean, variance, skewness = compiled_place_and_scale(Panel.of(rows * scale))
    centred = wide - wide.mean(axis=1, keepdims=True)
    assert mean / scale == pytest.approx(wide.mean(axis=1).astype(float), rel=1e-15)
    exact = np.mean(centred**2, axis=1)
    assert variance / scale / scale == pytest.approx(exact.astype(float), rel=1e-14)
    varying = [0, 1, 3, 4]
    third = np.mean(centred[varying] ** 3, axis=1) / exact[varying] ** 1.5
    assert skewness[varying] == pytest.approx(third.astype(float), rel=1e-13, abs=1e-14) and np.isnan(skewness[2])


@pytest.mark.usefixtures("compiled")
def test_ends_that_are_known_change_no_bit() -> None:
    rows = np.random.default_rng(4).exponential(size=(6, 40))
    rows[1] = 2.0
    found = compiled_impose_skewness(rows, 0.0, ends=(rows.min(axis=1), rows.max(axis=1)))
    expected = compiled_impose_skewness(rows, 0.0)
    assert np.array_equal(found.values, expected.values, equal_nan=True) and found.refusals == expected.refusals


@pytest.mark.usefixtures("compiled")
def test_read_only_samples_are_not_compiled_for_anew() -> None:
    rows, targets = np.random.default_rng(2).exponential(size=(6, 40)), np.linspace(-1, 1, 6)
    expected = compiled_impose_skewness(rows, targets)
    kinds = [len(kernel.signatures) for kernel in skewness_flow_jit._kernels()]  # type: ignore[attr-defined]
    for array in (rows, targets):
        array.flags.writeable = False
    assert np.array_equal(compiled_impose_skewness(rows, targets).values, expected.values)
    compiled_standardize(rows)
    compiled_place_and_scale(Panel.of(rows))
    assert kinds == [len(kernel.signatures) for kernel in skewness_flow_jit._kernels()] == [1] * 5  # type: ignore[attr-defined]


def test_which_one_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(KERNELS), "are_wanted", lambda self, n_elements: n_elements >= 1000)
    assert skewness_imposer(999) is impose_skewness and skewness_imposer(1000) is compiled_impose_skewness


@pytest.mark.usefixtures("compiled")
def test_warming_leaves_the_mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))  # of the mark; numba has read its own already
    assert not KERNELS.are_warm() and skewness_imposer(10**6) is impose_skewness
    skewness_flow_jit.warm()
    assert KERNELS.are_warm() and skewness_imposer(10**6) is compiled_impose_skewness


@pytest.mark.parametrize("impose", WAYS)
@pytest.mark.parametrize("n", [5, 300, 40_000])
def test_without_slopes_nothing_else_changes(impose: Callable[..., Imposed], n: int) -> None:
    rng = np.random.default_rng(8)
    rows = np.stack([rng.exponential(size=n), rng.normal(size=n), np.full(n, 2.0), rng.lognormal(0, 3, size=n)])
    rows[1] -= rng.exponential(size=n)  # turned
    for target in (0.0, 0.3):
        full, plain = impose(rows, target), impose(rows, target, with_slope=False)
        assert plain.slope.shape == (4, 0) and plain.refusals == full.refusals
        assert np.array_equal(plain.values, full.values, equal_nan=True)
        assert np.array_equal(plain.residual, full.residual, equal_nan=True)


@pytest.mark.parametrize("impose", WAYS)
def test_slopes_that_are_not_wanted_take_no_room(impose: Callable[..., Imposed]) -> None:
    rows = np.random.default_rng(9).exponential(size=(1, 2**18))
    impose(rows[:, :100], 0.0, with_slope=False)
    assert peak(lambda: impose(rows, 0.0, with_slope=False)) < 1.5 * rows.nbytes
