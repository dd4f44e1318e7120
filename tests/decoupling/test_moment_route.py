"""Levels of moments over many rows at once: against long double, in blocks, compiled or not, some rows refused."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from sympy import exp, log, tanh

from symdecouple import Mean, Plan, decouple, x
from symdecouple.decoupling.routes.moments import MomentRoute
from symdecouple.families.moments import raw_moments, standardized_moments
from symdecouple.numeric.moments.skewness_kernel import KERNELS
from symdecouple.stats import orthokurtosis

PLAIN = decouple(raw_moments(4))
SHIFTED = decouple(raw_moments(4), [3, 13, 63])  # mean 3, variance 4, and Mean(x^3) = 27 + 3*3*4 + 8 G: G = 0


@pytest.fixture(params=["numpy", "compiled"])
def kind(request: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "compiled":
        pytest.importorskip("numba")
    monkeypatch.setattr(type(KERNELS), "are_wanted", lambda self, n_elements: request.param == "compiled")
    return str(request.param)


SHAPES = [(3, 5), (700, 31), (5, 9000), (2, 40000)]  # many rows a block, one, and a row longer than a block


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.usefixtures("kind")
def test_the_first_levels_to_the_last_digit(shape: tuple[int, int]) -> None:
    rows = 1e6 + np.random.default_rng(shape[1]).exponential(size=shape)
    wide = rows.astype(np.longdouble) - 1_000_000  # exact; then the mean keeps its digits
    wide -= wide.mean(axis=1, keepdims=True)
    z = wide / wide.std(axis=1, keepdims=True)
    largest = float(abs(z).max())
    assert abs(PLAIN.normalize(rows, 1) - wide).max() <= 1e-15 * float(abs(wide).max())
    assert abs(PLAIN.normalize(rows, 2) - z).max() <= 1e-15 * (1 + largest)
    assert abs(SHIFTED.normalize(rows, 2) - (3 + 2 * z)).max() <= 2e-15 * (2 + 2 * largest)


def test_a_level_beyond_float64_is_refused() -> None:
    """The mean of 1.7e308 three times and -1.7e308 is 0.85e308: the last is -2.55e308 from it."""
    found, outcomes = PLAIN.normalize([[1.7e308, 1.7e308, 1.7e308, -1.7e308], [1, 2, 3, 6]], 1, on_refusal="return")
    assert [one.reason for one in outcomes] == ["out of range", ""]
    assert np.isnan(found[0]).all() and np.array_equal(found[1], [-2, -1, 0, 3])


@pytest.mark.usefixtures("kind")
def test_an_ordinary_sample_passes_few_files() -> None:
    """Whoever follows six numbers through a plan of four moments reads fourteen files, and ten for one statistic."""
    plan, sample = decouple(raw_moments(4)), [1.0, 2, 3, 5, 8, 13]
    for ask, most in ((plan.transform, 14), (orthokurtosis, 10)):
        ask(sample)
        seen, before = set[str](), sys.getprofile()

        def note(frame: FrameType, event: str, _: object, seen: set[str] = seen) -> None:
            if "symdecouple" in frame.f_globals.get("__name__", ""):
                seen.add(frame.f_code.co_filename)

        sys.setprofile(note)
        try:
            ask(sample)
        finally:
            sys.setprofile(before)
        ours = {name for name in seen if Path(name).is_file()}  # beside functions made of expressions
        assert 5 < len(ours) <= most, sorted(ours)


# --- values and gradients all at once: against levels entry by entry, and what is refused ---

N = 60
VARIANCE = Mean(x**2) - Mean(x) ** 2
PLANS: dict[str, Callable[[], Plan]] = {
    "raw": lambda: decouple(raw_moments(6), [3, 13, 63, 380, 2300, 16000]),
    "standardized": lambda: decouple(standardized_moments(6), [3, 4, 0.3, 3.2, 1.9, 20]),
    "curved": lambda: decouple([Mean(x), log(VARIANCE), Mean(x**3), Mean(x**4), exp(Mean(x**5))], [0, 0, 0, 3, 1]),
    "with another": lambda: decouple([Mean(x), Mean(x**2), Mean(x**3), Mean(x**4), Mean(tanh(x))]),
    "two": lambda: decouple(raw_moments(2)),
}


def batch() -> np.ndarray:
    rng = np.random.default_rng(1)
    return np.stack([rng.gamma(3.0, size=N), 1 - 0.3 * rng.normal(size=N)])


def entry_by_entry(ask: Callable[..., Any], rows: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> Any:
    with monkeypatch.context() as patch:
        for name in ("values", "gradients"):
            patch.setattr(MomentRoute, name, lambda self, rows, targets, is_fine=False: None)
        return ask(rows, on_refusal="return")


@pytest.mark.parametrize("name", PLANS)
def test_all_at_once_is_what_levels_give_entry_by_entry(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, rows = PLANS[name](), batch()
    values, outcomes = entry_by_entry(plan.transform, rows, monkeypatch)
    assert all(outcome.ok for outcome in outcomes)
    np.testing.assert_allclose(plan.transform(rows), values, rtol=1e-9, atol=1e-9)
    exact, _ = entry_by_entry(plan.gradients, rows, monkeypatch)
    size = np.abs(exact).max(axis=2, keepdims=True)
    assert np.abs(plan.gradients(rows) / size - exact / size).max() <= 1e-9


def test_levels_that_a_row_has_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variance; half of the entries tied at the minimum; 38 % zeros, which have no level 5."""
    plan, rng = decouple(raw_moments(6)), np.random.default_rng(2)
    rows = np.concatenate([batch(), batch()])
    rows[0], rows[1, : N // 2] = 3.0, -9.0
    rows[2] = np.where(rng.uniform(size=N) < 0.38, 0, 1 + np.abs(rng.normal(size=N)))
    for ask in (plan.transform, plan.gradients):
        exact, before = entry_by_entry(ask, rows, monkeypatch)
        found, after = ask(rows, on_refusal="return")
        assert [outcome.reason for outcome in after] == [outcome.reason for outcome in before]
        assert [outcome.ok for outcome in after] == [False, False, False, True]
        assert np.array_equal(np.isnan(found), np.isnan(exact))
        size = np.nan_to_num(np.abs(exact)).max(axis=-1, keepdims=True)
        assert (np.nan_to_num(np.abs(found - exact)) <= 1e-9 * size).all()


@pytest.mark.parametrize(("row", "reason", "kept"), [
    ([3.0, 3, 3, 3], "zero variance", 2),
    ([0.0, 0, 0, 1], "two-valued", 3),
    ([0, 1e-17, 1, 2], "beyond float64", 3),
    ([3, 1e9, 2e9, 3.001, 1e9, 3.002, 1e9 + 1e-6, 3], "beyond float64", 3),
], ids=str)
def test_rows_without_a_gradient(row: list[float], reason: str, kept: int) -> None:
    found, outcomes = decouple(raw_moments(4)).gradients(row, on_refusal="return")
    assert outcomes[0].reason == reason
    assert np.isfinite(found[:kept]).all() and np.isnan(found[kept:]).all()


def test_near_ties_that_are_resolved() -> None:
    """By differences of 1e-30 in 80 digits."""
    found = decouple(raw_moments(4)).gradients([0, 1e-9, 1, 1 + 1e-9, 5])[3]
    assert found[:4] == pytest.approx([-1.77443e-08, 1.77443e-08, 3.52226e-10, -3.52226e-10], rel=1e-5)


def test_three_values_are_a_critical_point_of_the_fourth_moment() -> None:
    found = decouple(raw_moments(4)).gradients([[1.0, 2, 40], [1.0, 2, 2]], on_refusal="return")[0]
    assert abs(found[0, 3]).max() <= 1e-14
