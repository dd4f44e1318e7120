"""Very long rows at the levels of moments: what the route gives at once, against levels entry by entry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdecouple import decouple
from symdecouple.decoupling.moment_route import MomentRoute
from symdecouple.decoupling.plan import Plan
from symdecouple.families.moments import raw_moments, standardized_moments
from symdecouple.language.mean import Mean
from symdecouple.language.sample import x
from symdecouple.numeric.kernels import compile as jit
from symdecouple.numeric.moments import (
    long_jit,
    long_parts,
    moment_path_kernel,
)

N = 5000
PLANS: dict[str, Callable[[], Plan]] = {
    "raw": lambda: decouple(raw_moments(6)),
    "standardized": lambda: decouple(standardized_moments(6), [3, 4, 0.3, 3.2, 1.9, 20]),
    "mixed": lambda: decouple([2 * Mean(x) + 1, Mean(x**2), Mean(x**3), Mean(x**4) - Mean(x) ** 2, Mean(x**5)]),
}


@pytest.fixture(params=["NumPy", "compiled"])
def _way(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "compiled":
        pytest.importorskip("numba")
        for module in (moment_path_kernel, long_jit):
            if not module.KERNELS.are_warm():
                module.warm()
    monkeypatch.setattr(jit.Kernels, "are_wanted", lambda self, n_elements: request.param == "compiled")


@pytest.fixture
def _long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_parts, "LONG", N)
    monkeypatch.setattr("symdecouple.numeric.moments.levels.LONG", N)


def route_of(plan: Plan, n: int = N) -> MomentRoute:
    route = plan.choice.nesting(len(plan.features) - 1, False, (n,)).closed
    assert isinstance(route, MomentRoute)
    return route


def references(plan: Plan) -> list[float | None]:
    return [None if value is None else float(value) for value in plan.reference]


def batch() -> np.ndarray:
    rng = np.random.default_rng(1)
    return np.stack([rng.gamma(3.0, size=N), 7 - 1e-3 * rng.normal(size=N), np.floor(rng.gamma(4, 20, size=N))])


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.usefixtures("_way")
def test_decoupled_features_are_those_at_the_levels(name: str, request: Any) -> None:
    plan, rows = PLANS[name](), batch()
    exact, outcomes = plan.transform(rows, on_refusal="return")
    assert all(outcome.ok for outcome in outcomes)
    request.getfixturevalue("_long")
    found = route_of(plan).decoupled(rows, references(plan))
    assert found is not None and not found.refusals
    np.testing.assert_allclose(found.values, exact, rtol=1e-9, atol=1e-9)


@pytest.mark.usefixtures("_way")
def test_refusals_are_those_at_the_levels(request: Any) -> None:
    """No variance; half of the entries tied at the minimum; 38 % zeros, which have no level 5."""
    plan, rows, rng = PLANS["raw"](), batch(), np.random.default_rng(2)
    rows[0], rows[1, : N // 2] = 3.0, 1.0
    rows[2] = np.where(rng.uniform(size=N) < 0.38, 0, 1 + np.abs(rng.normal(size=N)))
    exact, outcomes = plan.transform(rows, on_refusal="return")
    request.getfixturevalue("_long")
    found = route_of(plan).decoupled(rows, references(plan))
    assert found is not None
    assert [found.refusals[i].reason for i in range(3)] == [outcome.reason for outcome in outcomes]
    np.testing.assert_allclose(found.values, exact, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.usefixtures("_way")
def test_levels_are_reached_in_one_motion(name: str, request: Any) -> None:
    plan, rows = PLANS[name](), batch()
    k = len(plan.features) - 1
    exact, before = plan.normalize(rows, k), plan.normalize(rows, 3)
    request.getfixturevalue("_long")
    found = route_of(plan).advanced(before, 4, k, references(plan))
    assert found is not None and not found.refusals and (found.residual <= 2e-14).all()
    unit = exact.std(axis=1, keepdims=True)
    np.testing.assert_allclose(found.values / unit, exact / unit, rtol=0, atol=1e-12)
    assert np.array_equal(before, plan.normalize(rows, 3))


@pytest.mark.usefixtures("_long")
def test_a_row_has_targets_of_its_own() -> None:
    plan, rows = PLANS["raw"](), batch()
    before = plan.normalize(rows, 3)
    fourth = np.array([2.5, 2.8, 3.1])
    found = route_of(plan).advanced(before, 4, 4, [0.0, 1.0, 0.0, fourth])
    assert found is not None
    for k, wanted in ((1, 0), (2, 1), (3, 0), (4, fourth)):
        assert np.mean(found.values**k, axis=1) == pytest.approx(wanted, rel=1e-13, abs=1e-13)
    with pytest.raises(NotImplementedError, match="not kept"):
        found.pullback(before)


def test_gradients_at_level_3_find_their_slope_again(request: Any) -> None:
    plan, rows = decouple(raw_moments(4), [3, 13, 63]), batch()[:1]
    exact = plan.gradients(rows)
    request.getfixturevalue("_long")
    np.testing.assert_array_equal(plan.gradients(rows), exact)


@pytest.mark.usefixtures("_long")
def test_what_is_left_to_the_usual_way() -> None:
    plan, rows = PLANS["raw"](), batch()
    route = route_of(plan)
    assert route.decoupled(rows[:, : N - 1], references(plan)) is None
    assert route.advanced(rows[:, : N - 1], 4, 5, references(plan)) is None
    assert route.advanced(rows, 3, 5, references(plan)) is None
    assert route.decoupled(rows, [0, 1, None, 3, None, 15]) is None
    assert route.decoupled(rows, [0, -1, 0, 3, 0, 15]) is None
    zeros = plan.normalize(np.where(np.arange(N) < 0.38 * N, 0, rows[:1]), 3)
    assert route.advanced(zeros, 4, 5, references(plan)) is None
