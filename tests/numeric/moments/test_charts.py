"""Nodes that stand in for long samples in NumPy: the same moments and gradients as the samples themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symdecouple.numeric.moments import charts, gradients as moment_adjoint
from symdecouple.numeric.moments.charts import climb_on_nodes
from symdecouple.numeric.moments.course import residuals
from symdecouple.numeric.moments.gradients import decoupled_gradients
from symdecouple.numeric.moments.levels import climb, gaussian_moments
from symdecouple.numeric.moments.moment_path import Followed, follow
from symdecouple.numeric.moments.skewness_flow import impose_skewness

GOAL = (1.0, *gaussian_moments(5))
LAWS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "exponential": lambda rng, shape: rng.exponential(size=shape),
    "uniform": lambda rng, shape: rng.uniform(size=shape),
    "laplace": lambda rng, shape: rng.laplace(size=shape),
}


def sharply(*args: Any, **options: Any) -> Followed:
    return follow(*args, **{**options, "rtol": 1e-13})


@pytest.mark.parametrize("n", [512, 4096])
@pytest.mark.parametrize("law", LAWS)
def test_moments_are_those_of_the_samples(law: str, n: int) -> None:
    x = LAWS[law](np.random.default_rng(n), (5, n))
    exact = climb(x, 6, GOAL, follower=sharply, fewest_nodes=None).moments
    found = climb(x, 6, GOAL)
    assert sum(int(part.good.sum()) for part in found.charted) >= 4
    assert found.moments[:, :] == pytest.approx(exact, rel=1e-9, abs=1e-9) and not found.refusals


@pytest.mark.parametrize("law", LAWS)
def test_gradients_are_those_of_the_samples(law: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = LAWS[law](np.random.default_rng(1), (4, 1500))
    found = decoupled_gradients(x, 6)
    monkeypatch.setattr(moment_adjoint, "climb", lambda *a, **k: climb(
        *a, **{**k, "fewest_nodes": None, "follower": sharply}))
    exact = decoupled_gradients(x, 6)
    size = np.abs(exact.gradients).max(axis=2, keepdims=True)
    assert found.gradients / size == pytest.approx(exact.gradients / size, abs=2e-9)
    assert found.values == pytest.approx(exact.values, rel=1e-9, abs=1e-9)


def test_what_is_held_is_there_to_rounding() -> None:
    """Samples that were moved by a series are corrected: moments 1 to 5 are the reference's, to 2e-14 of Mean|z|^j."""
    z = impose_skewness(np.random.default_rng(2).exponential(size=(3, 1000)), 0.0).values
    seen: list[np.ndarray] = []
    original = charts._settle

    def settle(entries: np.ndarray, goal: np.ndarray) -> Any:
        there = original(entries, goal)
        seen.append(residuals(entries[there], np.repeat(goal[:, None], there.sum(), axis=1)))
        return there

    charts._settle = settle
    try:
        charted, left = climb_on_nodes(z, 6, GOAL, follow, False)
    finally:
        charts._settle = original
    assert not len(left) and len(charted) >= 1
    assert len(seen) >= 2 and all(np.all(r <= 2e-14) for r in seen)


def test_nodes_that_are_too_few_are_doubled_and_short_samples_go_without() -> None:
    x = np.random.default_rng(3).laplace(size=(4, 4096))
    found = climb(x, 6, GOAL)
    assert [part.chart.nodes.shape[1] for part in found.charted][-1] >= 128
    arrived = np.concatenate([part.rows[part.good] for part in found.charted])
    assert sorted(arrived.tolist()) == [0, 1, 2, 3]
    assert climb(x[:, :150], 6, GOAL).charted == []
    assert climb(x, 4, GOAL).charted == []


def test_rows_that_need_care_are_left_to_the_path() -> None:
    """A third of the values tied at the minimum: the path ends, and is refused as it would be without nodes."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(3, 600))
    x[1] = np.where(rng.uniform(size=600) < 0.38, 0.0, np.abs(x[1]) + 1)
    found, plain = climb(x, 6, GOAL), climb(x, 6, GOAL, fewest_nodes=None)
    assert {i: o.reason for i, o in found.refusals.items()} == {i: o.reason for i, o in plain.refusals.items()}
    assert np.array_equal(np.isnan(found.moments), np.isnan(plain.moments))
    assert 1 not in np.concatenate([part.rows[part.good] for part in found.charted])


def test_rows_never_meet() -> None:
    x = np.random.default_rng(5).exponential(size=(6, 700))
    together, alone = decoupled_gradients(x, 6), decoupled_gradients(x[2:3], 6)
    assert np.array_equal(together.values[2], alone.values[0])
    assert np.array_equal(together.gradients[2], alone.gradients[0])


def test_gradients_ask_for_more_nodes_than_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a tolerance that no series meets, every row is differentiated along its own path."""
    asked: list[int | None] = []

    def noted(*args: Any, **options: Any) -> Any:
        asked.append(options.get("fewest_nodes", charts.FEWEST))
        return climb(*args, **options)

    x = np.random.default_rng(6).normal(size=(2, 900))
    expected = decoupled_gradients(x, 6)
    monkeypatch.setattr(moment_adjoint, "climb", noted)
    monkeypatch.setattr(moment_adjoint, "_RESOLVED", 0.0)
    found = decoupled_gradients(x, 6)
    assert asked[0] == 64 and len(asked) > 1
    assert found.gradients == pytest.approx(expected.gradients, rel=1e-8, abs=1e-10 * np.abs(expected.gradients).max())
