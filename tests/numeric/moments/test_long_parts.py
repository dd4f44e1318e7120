"""Long samples in parts: the moments of the samples themselves, by arrays and by loops."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symdecouple.numeric.moments import (
    long_jit,
    long_series,
    moment_path_kernel,
)
from symdecouple.numeric.moments.course import correct
from symdecouple.numeric.moments.hankel import power_means
from symdecouple.numeric.moments.levels import climb, decoupled_rows, gaussian_moments
from symdecouple.numeric.moments.long_jit import Compiled, CompiledRow, compiled_located
from symdecouple.numeric.moments.long_means import ByNumPy
from symdecouple.numeric.moments.long_parts import _corrected, _sums_at_levels, climb_in_parts, long_row
from symdecouple.numeric.moments.long_series import Climb, _crowds, by_panels
from symdecouple.numeric.moments.moment_path import follow
from symdecouple.numeric.moments.skewness_row import FlowedRow, flowed_row, located
from symdecouple.numeric.samples.batch import Panel

TABLE = json.loads((Path(__file__).parents[2] / "data" / "orthokurtosis.json").read_text(encoding="utf-8"))
GOAL = (1.0, *gaussian_moments(5))
LAWS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "exponential": lambda rng, n: -rng.exponential(size=n),
    "uniform": lambda rng, n: rng.uniform(size=n),
    "lognormal": lambda rng, n: np.exp(0.7 * rng.normal(size=n)),
}


@pytest.fixture(params=["NumPy", "compiled"])
def tools(request: Any) -> tuple[Any, ...]:
    if request.param == "NumPy":
        return ByNumPy(), located, FlowedRow
    pytest.importorskip("numba")
    for module in (moment_path_kernel, long_jit):
        if not module.KERNELS.are_warm():
            module.warm()
    return Compiled(), compiled_located, CompiledRow


def moments_of(x: np.ndarray, order: int, tools: Any) -> np.ndarray:
    answer = long_row(Panel.of(x), 0, order, (1.0, *gaussian_moments(order - 1)), *tools)
    assert answer is not None and answer[1] is None
    return answer[0]


@pytest.mark.parametrize("law", LAWS)
def test_moments_are_those_of_the_entries_on_their_own_paths(law: str, tools: Any) -> None:
    x = LAWS[law](np.random.default_rng(3), 6000)[None]
    exact = climb(x, 6, GOAL, fewest_nodes=None, follower=lambda *a, **k: follow(*a, **{**k, "rtol": 1e-13}))
    found = moments_of(x, 6, tools)
    assert found[0] == pytest.approx(exact.moments[4, 0], rel=1e-13)
    assert found == pytest.approx(exact.moments[4:, 0], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("case", TABLE["decoupled_moments"], ids=lambda case: f"N={len(case['sample'])}")
def test_repeated_samples_have_the_moments_of_the_reference_table(case: dict[str, Any], tools: Any) -> None:
    """Every value as often as every other: few distinct ones, and the same law."""
    x = np.tile(np.array(case["sample"], dtype=float), 300)
    found = moments_of(x[None], 6, tools)
    assert found == pytest.approx([float(case[f"order{k}"]) for k in (4, 5, 6)], rel=1e-10)


def test_order_4_takes_no_nodes_and_order_9_as_many_levels(tools: Any) -> None:
    x = np.random.default_rng(4).normal(size=(1, 8000))
    goal = (1.0, *gaussian_moments(8))
    exact = climb(x, 9, goal, fewest_nodes=None).moments[4:, 0]
    high, low = (moments_of(x, order, tools) for order in (9, 4))
    assert high == pytest.approx(exact, rel=1e-8, abs=1e-8) and low == pytest.approx(exact[:1], rel=1e-13)


HARD = {
    "Cauchy": lambda rng, n: rng.standard_cauchy(n),
    "gamma .25": lambda rng, n: -rng.gamma(0.25, size=n),
    "two clusters": lambda rng, n: np.arange(n) % 2 + 0.1 * rng.normal(size=n),
    "beta .1": lambda rng, n: rng.beta(0.1, 0.1, size=n),
}


@pytest.mark.parametrize("law", HARD)
def test_samples_that_crowd_or_reach_far_take_panels(law: str, tools: Any) -> None:
    x = HARD[law](np.random.default_rng(7), 4000)[None]
    exact = climb(x, 6, GOAL, fewest_nodes=None, follower=lambda *a, **k: follow(*a, **{**k, "rtol": 1e-13}))
    row = flowed_row(Panel.of(x), 0, 0.0, *tools[1:])
    assert isinstance(row, FlowedRow)
    panels = by_panels(row, Climb(4, np.array(GOAL), tools[0]))
    assert panels is not None and len(panels[0]) > 10
    sums = _sums_at_levels(row, *panels[:2], tools[0])
    found = [_corrected(h, np.array(GOAL[: k + 1])) for k, h in enumerate(sums, 4)]
    assert found == pytest.approx(exact.moments[5:, 0], rel=1e-9, abs=1e-9)
    answer = climb_in_parts(row, 6, GOAL, tools[0])
    assert answer is not None and answer[1] is None
    assert answer[0] == pytest.approx(exact.moments[4:, 0], rel=1e-9, abs=1e-9)


def test_panels_are_short_where_entries_crowd() -> None:
    some = np.sort(np.append(np.linspace(0, 1, 2001), 0.3 + 1e-6 * np.random.default_rng(8).random(2000)))
    edges = _crowds(some, np.array([0.0, 1]))
    count = np.diff(np.searchsorted(some, edges))
    assert count.max() <= 4001 // 12 and count.sum() >= 4000
    here = np.searchsorted(edges, 0.3 + 5e-7)
    assert edges[here] - edges[here - 1] < 2e-6 and np.diff(edges).max() > 1 / 16


def test_what_nodes_do_not_tell_is_left(tools: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(5).exponential(size=(1, 5000))
    row = flowed_row(Panel.of(x), 0, 0.0)
    assert isinstance(row, FlowedRow)
    assert climb_in_parts(row, 6, GOAL, tools[0]) is not None
    monkeypatch.setattr(long_series, "_COARSE", 1e-300)
    assert climb_in_parts(row, 6, GOAL, tools[0]) is None


@pytest.mark.parametrize("k", [4, 5])
def test_a_correction_by_sums_alone_is_that_of_the_entries(k: int) -> None:
    """Samples a little off their moments, and what Newton's step in the entries makes of the next moment."""
    y = np.random.default_rng(k).exponential(size=(1, 500)) - 1
    exact = power_means(y, 2 * k)[:, 0]
    goal = exact[: k + 1].copy()
    goal[1:] += 1e-9 * np.array([1, -2, 3, -1, 2])[:k]
    expected = np.mean(correct(y, goal[:, None]) ** (k + 1))
    assert _corrected(exact, goal) == pytest.approx(expected, rel=1e-13) != pytest.approx(exact[k + 1], rel=1e-11)
    goal[1] += 1e-6
    assert _corrected(exact, goal) is None
    assert _corrected(power_means(np.array([[-1.0, 0, 1]]), 2 * k)[:, 0], goal) is None


@pytest.mark.parametrize(("values", "counts"), [
    ([0.0, 1], [2000, 2000]), ([0.0, 1], [2000, 1999]), ([-1.0, 0, 1], [500, 3000, 500]),
    ([0.0, 1, 3], [2100, 900, 900]), ([0.0, 1, 2, 3, 7], [2000, 500, 500, 500, 500]),
    ([-2.0, -1, 0, 1, 2], [1500, 9, 9, 9, 1500]), ([0.0, 1, 2, 3, 4, 9], [1400, 700, 700, 400, 500, 300]),
])
def test_few_values_are_refused_as_the_entries_are(values: list[float], counts: list[int], tools: Any) -> None:
    """Order 4 of two balanced values is 1, at a critical point; other refusals come with what there is below."""
    x = np.repeat(values, counts)[None]
    plain = decoupled_rows(Panel.of(x), 6, GOAL[1:])
    answer = long_row(Panel.of(x), 0, 6, GOAL, *tools)
    assert answer is not None and answer[1] is not None
    assert answer[1].reason == plain.refusals[0].reason
    assert answer[0] == pytest.approx(plain.values[0, 3:], rel=1e-9, abs=1e-9, nan_ok=True)


def test_rows_that_are_left_are_answered_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """38 % zeros: refused by name at level 5, after the values below; half of the entries tied: no level 3."""
    monkeypatch.setattr("symdecouple.numeric.moments.levels.LONG", 500)
    rng = np.random.default_rng(6)
    x = 1 + np.abs(rng.normal(size=(3, 800)))
    x[0, rng.uniform(size=800) < 0.38] = 0
    x[1, :400] = 0
    found = decoupled_rows(Panel.of(x), 6, GOAL[1:])
    monkeypatch.undo()
    short = decoupled_rows(Panel.of(x), 6, GOAL[1:])
    assert {i: o.reason for i, o in found.refusals.items()} == {i: o.reason for i, o in short.refusals.items()}
    assert found.refusals[0].reason == "moment not attainable" and found.refusals[1].reason == "limit only"
    assert found.values == pytest.approx(short.values, rel=1e-9, abs=1e-9, nan_ok=True)


TIED = {
    "20 % at the minimum": lambda rng, n: np.where(rng.uniform(size=n) < 0.2, 0, 1 + np.abs(rng.normal(size=n))),
    "38 % at the minimum": lambda rng, n: np.where(rng.uniform(size=n) < 0.38, 0, 1 + np.abs(rng.normal(size=n))),
}


@pytest.mark.parametrize("law", TIED)
def test_nodes_tell_that_ties_stop_a_level(law: str, tools: Any) -> None:
    """The level, the reason, the values below, and in two digits the moment that the entries themselves come to."""
    x = TIED[law](np.random.default_rng(9), 2**14)[None]
    plain = climb(x, 6, GOAL, fewest_nodes=None)
    answer = long_row(Panel.of(x), 0, 6, GOAL, *tools)
    assert answer is not None and answer[1] is not None
    assert answer[1].reason == plain.refusals[0].reason == "moment not attainable"
    assert answer[1].detail.startswith("moment 5 ") and np.isnan(answer[0][2])
    assert answer[0][:2] == pytest.approx(plain.moments[4:6, 0], rel=1e-9)
    reached = plain.levels[-1][2].attained[0]
    assert float(answer[1].detail.split("near ")[1].split(",")[0]) == pytest.approx(reached, rel=0.05)


def test_a_stop_near_the_target_is_not_told_by_nodes(tools: Any) -> None:
    """The entries come to some moment 5; that much less is asked for: only they can tell."""
    x = TIED["20 % at the minimum"](np.random.default_rng(9), 2**13)[None]
    reached = climb(x, 6, GOAL, fewest_nodes=None).levels[-1][2].attained[0]
    assert long_row(Panel.of(x), 0, 6, (*GOAL[:5], reached - 1e-3), *tools) is None


@pytest.mark.parametrize("law", ["exponential", "lognormal", "two clusters", "beta .1"])
def test_what_entries_attain_is_never_refused_by_nodes(law: str, tools: Any) -> None:
    """Half of the way to the target and further on, with a tenth of the entries tied in the middle."""
    x = {**LAWS, **HARD}[law](np.random.default_rng(10), 4000)
    x[::10] = np.median(x)
    row = flowed_row(Panel.of(x[None]), 0, 0.0, *tools[1:])
    assert isinstance(row, FlowedRow)
    for fourth in (0.5 * (row.moment(4) + 3), 3.0):
        goal = (1.0, 0.0, 1.0, 0.0, fourth, 0.0)
        exact = climb(x[None], 6, goal, fewest_nodes=None)
        answer = climb_in_parts(row, 6, goal, tools[0])
        if not exact.refusals:
            assert answer is None or answer[1] is None
        elif answer is not None:
            assert answer[1] is not None and answer[1].reason == exact.refusals[0].reason
