"""The narrow path of the moments: what it keeps, and every way it can fail."""

from __future__ import annotations

import numpy as np
import pytest

from symdecouple.errors import InvalidInput
from symdecouple.numeric.moments.hankel import residuals
from symdecouple.numeric.moments.moment_path import GROWN, REDONE, RESIDUAL, follow
from symdecouple.numeric.moments.skewness_flow import impose_skewness
from tests.numeric import moment_oracle
from tests.stats.oracle import TABLE

GAUSSIAN = [0.0, 1, 0, 3, 0, 15]


def at_level_3(rows: object) -> np.ndarray:
    return impose_skewness(np.atleast_2d(np.asarray(rows, dtype=np.float64)), 0.0).values


def moments(rows: np.ndarray, k: int) -> np.ndarray:
    return np.array([np.mean(rows**j, axis=1) for j in range(1, k + 1)]).T


def test_the_oracle_agrees_with_the_reference_table() -> None:
    case = TABLE["decoupled_moments"][0]
    found = moment_oracle.decoupled(case["sample"], 6, digits=18, dps=40)
    assert [float(v) for v in found] == pytest.approx([float(case[f"order{k}"]) for k in (4, 5, 6)], rel=1e-15)


# --- what a path keeps ---


@pytest.mark.parametrize("n_samples", [7, 64, 2000])
@pytest.mark.parametrize("k", [4, 5])
def test_all_moments_are_where_they_belong(n_samples: int, k: int) -> None:
    z = at_level_3(np.random.default_rng(1).exponential(size=(3, n_samples)))
    if k == 5:
        z = follow(z, 4, 3.0, held=GAUSSIAN[:3]).values
    there = follow(z, k, GAUSSIAN[k - 1], held=GAUSSIAN[: k - 1])
    kept = [i for i in range(3) if i not in there.refusals]
    assert kept
    size = moments(np.abs(there.values[kept]), k)
    assert np.all(np.abs(moments(there.values[kept], k) - GAUSSIAN[:k]) <= RESIDUAL * size)
    assert np.all(there.residual[kept] <= RESIDUAL)


def test_on_the_manifold_nothing_moves_by_a_bit() -> None:
    z = at_level_3(np.random.default_rng(3).normal(size=(4, 60)))
    there = follow(z, 4, 3.0, held=GAUSSIAN[:3])
    again = follow(there.values, 4, 3.0, held=GAUSSIAN[:3])
    assert np.array_equal(again.values, there.values) and not again.path.steps.any()


def test_ties_stay_ties_and_the_order_stays() -> None:
    x = np.random.default_rng(4).integers(0, 12, size=(3, 80)).astype(float) ** 2
    there = follow(at_level_3(x), 4, 3.0, held=GAUSSIAN[:3]).values
    for row, moved in zip(x, there, strict=True):
        order = np.argsort(row, kind="stable")
        steps, gaps = np.diff(row[order]), np.diff(moved[order])
        assert np.all(gaps[steps == 0] == 0) and np.all(gaps[steps > 0] > 0)


def test_turned_samples_move_alike() -> None:
    """To the last bit."""
    z = at_level_3(np.random.default_rng(7).gamma(1.0, size=(3, 30)))
    plain, turned = (follow(some, 4, 3.0, held=GAUSSIAN[:3]).values for some in (z, -z))
    assert np.array_equal(turned, -plain)


def test_weights_move_the_distinct_values_alone() -> None:
    values, counts = np.array([-3.0, -1, 0, 0.5, 1, 2, 4]), np.array([2, 5, 9, 6, 4, 3, 1])
    full = at_level_3(np.repeat(values, counts))
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    few = follow(full[:, first], 4, 2.0, held=GAUSSIAN[:3], weights=(counts / counts.sum())[None])
    there = follow(full, 4, 2.0, held=GAUSSIAN[:3])
    assert np.repeat(few.values[0], counts) == pytest.approx(there.values[0], abs=1e-10)
    assert few.attained[0] == pytest.approx(2.0, rel=1e-13)


def test_the_skewness_can_be_moved_too() -> None:
    """Level 3 along the path, against the closed form of the skew flow."""
    x = np.random.default_rng(6).gamma(2.0, size=(2, 50))
    z = (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)
    assert follow(z, 3, 0.0, held=GAUSSIAN[:2]).values == pytest.approx(at_level_3(x), abs=1e-9)


# --- what cannot be had ---


@pytest.mark.parametrize(
    ("sample", "k", "target", "reason", "said"),
    [
        ([-3, -2, -1, 1, 2, 3], 4, 3.0, "moment not attainable", "in (1, 3), whatever the ties; N >= 7 is needed"),
        ([-2, -1, 0, 1, 2], 4, 1.2, "moment not attainable", "in (1.25, 2.5), whatever the ties; N = 4"),
        ([-2, -1, 0, 1, 2, 3, -3], 4, 0.9, "moment not attainable", "whatever the sample, it exceeds 1"),
        ([-1, -1, 1, 1], 4, 3.0, "two-valued", "2 distinct values are a critical point of moment 4: it stays at 1"),
        ([-1, 0, 0, 1] * 3, 4, 3.0, "too few distinct values", "at least 4 distinct values are needed"),
    ],
)
def test_known_beforehand(sample: list[float], k: int, target: float, reason: str, said: str) -> None:
    there = follow(at_level_3(sample), k, target, held=GAUSSIAN[: k - 1])
    assert there.refusals[0].reason == reason and said in there.refusals[0].detail
    assert np.isnan(there.values).all() and not there.path.steps.any()


def test_a_target_behind_the_last_point_is_refused_with_the_value_that_was_reached() -> None:
    """N = 8 at no skewness: three atoms -2, 0 (six times), 2 are the limit, with the fourth moment 4 = N/2."""
    z = at_level_3([0, 1, 3, 4, 6, 8, 9, 12])
    assert follow(z, 4, 4 - 1e-6, held=GAUSSIAN[:3]).attained[0] == pytest.approx(4 - 1e-6, rel=1e-12)
    assert follow(z, 4, 4 + 1e-6, held=GAUSSIAN[:3]).refusals[0].reason == "moment not attainable"


def test_crowds_that_rounding_has_blurred_are_refused() -> None:
    """Two clusters of width 1e-10 are told apart to six digits only; of width 1e-5, to eleven."""
    rng = np.random.default_rng(8)
    wide, narrow = (at_level_3(np.arange(24) % 2 + width * rng.random(24)) for width in (1e-5, 1e-10))
    there = follow(wide, 4, 3.0, held=GAUSSIAN[:3])
    order = np.argsort(wide[0])
    apart = np.max(np.diff(there.values[0, order]) / np.diff(wide[0, order]))
    assert not there.refusals and apart > 1e4 and apart <= there.growth[0] <= 100 * apart
    assert follow(narrow, 4, 3.0, held=GAUSSIAN[:3]).refusals[0].reason == "beyond float64"


@pytest.mark.parametrize(("shape", "growth", "error"), [(0.2, 100, REDONE * GROWN / 10), (0.1, 1000, 1e-11)])
def test_paths_that_pull_values_apart_take_smaller_steps(shape: float, growth: float, error: float) -> None:
    """Half of the values of gamma(.1) crowd at the minimum: nothing near a critical point, yet errors grow.

    Steps are made for an error of GROWN, grown; where it is estimated beyond REDONE of that, for a quarter of it. The
    estimate of order 5 and 3 is ten times the error of order 8, at least.
    """
    grown = at_level_3(np.random.default_rng(0).gamma(shape, size=(1, 300)))
    there = follow(grown, 4, 3.0, held=GAUSSIAN[:3])
    sharp = follow(grown, 4, 3.0, held=GAUSSIAN[:3], rtol=1e-14)
    assert there.growth[0] > growth and there.values == pytest.approx(sharp.values, abs=error)
    if there.growth[0] > 1000:
        kept = [follow(grown, 4, 3.0, held=GAUSSIAN[:3], store=True, rtol=rtol) for rtol in (1e-11, 1e-14)]
        assert np.array_equal(kept[0].values, kept[1].values)


def test_paths_that_pull_values_apart_too_far_are_refused() -> None:
    torn = at_level_3(np.random.default_rng(5).gamma(0.03, size=(6, 40)))
    found = follow(torn, 4, 3.0, held=GAUSSIAN[:3])
    assert "beyond float64" in {o.reason for o in found.refusals.values()}


def test_errors_that_grew_before_count_and_no_path_is_followed_again_in_vain() -> None:
    z = at_level_3(np.random.default_rng(0).gamma(0.1, size=(2, 300)))
    fine, found = (follow(z, 4, 3.0, held=GAUSSIAN[:3], grown=np.array([1.0, most])) for most in (1.0, 2.0**20))
    assert not fine.refusals and list(found.refusals) == [1] and found.refusals[1].reason == "beyond float64"
    assert np.array_equal(found.values[0], fine.values[0]) and 3 * found.path.steps[1] < 2 * fine.path.steps[1]


@pytest.mark.parametrize("k", [1, 2])
def test_mean_and_variance_have_formulas(k: int) -> None:
    with pytest.raises(InvalidInput, match="at least 3 is expected"):
        follow(np.ones((1, 4)), k, 0.0, held=GAUSSIAN[: k - 1])


def test_residuals_are_relative_to_the_absolute_moment() -> None:
    z = np.array([[-2.0, 0, 1, 1]])
    goal = np.array([[1.0, 0.5, 1.5, -1.5, 4.5]]).T
    assert residuals(z, goal)[0] == pytest.approx(0.5 / np.sqrt(1.5), rel=1e-15)
