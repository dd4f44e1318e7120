"""What refusals of moments say: no sample of N values, or not with these ties; and that they cost little."""

from __future__ import annotations

import numpy as np
import pytest

from symdecouple.numeric.moments import tied_range
from symdecouple.numeric.moments.moment_path import follow
from symdecouple.numeric.moments.out_of_reach import _counted, _is_inside, groups_of, needed, why_out_of_reach
from symdecouple.stats import decoupled_moments

GAUSSIAN = (1.0, 0.0, 1.0, 0.0, 3.0, 0.0, 15.0, 0.0, 105.0)


def said(sample: list[float], order: int, weights: list[float] | None = None) -> str:
    _, outcomes = decoupled_moments(sample, order=order, weights=weights, on_refusal="return")
    assert not outcomes[0].ok
    return outcomes[0].detail


@pytest.mark.parametrize(("n_samples", "order", "least"), [(5, 5, 7), (21, 7, 22)])
def test_what_no_sample_of_so_many_values_has(n_samples: int, order: int, least: int) -> None:
    text = said(np.random.default_rng(0).normal(size=n_samples).tolist(), order)
    assert f"no sample of {n_samples} values has it" in text and f"N >= {least} is needed" in text


def test_at_an_end_it_is_a_limit() -> None:
    assert "it is a limit for samples of 6 values" in said([1.0, 2, 3, 4, 5, 7], 5)


def test_what_these_ties_do_not_allow() -> None:
    text = said([0.0, 1, 2, 4, 5, 9, 9, 9], 5)
    assert "not with these ties" in text and "(1, 1.77143), without ties it is in (1, 4)" in text
    assert "perturb" in text and "no sample" not in text


def test_weights_are_shares_and_no_number_of_samples() -> None:
    text = said([0.0, 1, 2, 4, 5, 9], 5, [1, 1, 1, 1, 1, 3])
    assert "not with these ties: 6 distinct values, 0.375 of the weight on one of them at most" in text
    assert "(1, 1.77143)" in text and "without ties" not in text


def test_too_few_values_say_how_many_are_needed() -> None:
    assert said([1.0, 2, 3], 5).endswith("no sample of 3 values has it: N >= 7 is needed")


def test_what_is_inside_has_no_reason() -> None:
    assert why_out_of_reach(np.array([1.0, 0, 1, 0, 2.9]), 2.0, np.ones(6), 6) is None
    assert why_out_of_reach(np.array([1.0, 0, 1, 0, np.nan]), 2.0, np.ones(6), 6) is None


def test_even_and_odd_numbers_differ_at_the_lower_end() -> None:
    assert needed((1, 0, 1, 0, 1.2), 5).startswith("N = 4 would do")
    assert needed((1, 0, 1, 0, 3, 900.0), 5) == "more than 256 values are needed, or another target"


def test_a_target_so_near_to_an_end_that_rounding_decides_is_left_to_the_path() -> None:
    """A narrow cell: the moments are those of a sample, its own sixth moment is inside, however narrow the range."""
    counts = np.array([1, 1, 1, 4, 4, 3, 1])
    values = np.sort(np.random.default_rng(3).normal(size=7) ** 3)
    x = np.repeat(values, counts)
    z = (x - x.mean()) / x.std()
    held = np.array([np.mean(z**j) for j in range(6)])
    assert not follow(z[None], 6, np.mean(z**6), held=held[1:]).refusals


def test_many_refused_rows_are_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    reach = tied_range.reach
    monkeypatch.setattr(tied_range, "reach", lambda *a: calls.append(a) or reach(*a))
    tied_range.reach_of_any.cache_clear()
    rows = np.random.default_rng(0).normal(size=(150, 11))
    _, outcomes = decoupled_moments(rows, order=7, axis=1, on_refusal="return")
    assert all(outcome.reason == "moment not attainable" for outcome in outcomes)
    assert len(calls) <= 3 + 40  # levels 4 to 6, and the search for the least N


def test_groups_are_counted_in_order() -> None:
    assert groups_of(np.array([5.0, 1, 5, 2, 5])).tolist() == [1, 1, 3]
    assert groups_of(np.array([5.0, 1, 5, 2]), np.array([1.0, 0.5, 2, 0])).tolist() == [0.5, 3]


@pytest.mark.parametrize("held", [(1.0, 0, 1, 0), (1.0, 0, 1, 0, 3), (1.0, 0, 1, 0.3, 2.5, 1.0)])
@pytest.mark.parametrize("most", [1, 4])
def test_what_is_seen_to_be_inside_at_once_is_inside(held: tuple[float, ...], most: int) -> None:
    groups = np.random.default_rng(most).integers(1, most + 1, 90).astype(np.float64)
    whole = _counted(np.array([*held, 0.0]), groups)
    assert whole is not None
    shares = np.array([-0.5, 0, 1e-6, 0.002, 0.01, 0.1, 0.3, 0.6, 0.9, 0.99, 1, 1.5])
    targets = whole.low + shares * (whole.high - whole.low)
    seen = [_is_inside(np.array([*held, target]), groups) for target in targets]
    assert any(seen) and not any(is_seen and whole.side(target) for is_seen, target in zip(seen, targets, strict=True))
    assert not _is_inside(np.array([*held, targets[5]]), np.ones(64))  # few groups are counted themselves
