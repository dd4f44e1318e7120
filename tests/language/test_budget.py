"""Budgets: an exact question ends in time, says so, and leaves nothing running."""

from __future__ import annotations

import math
import threading
import time
from typing import Any

import pytest

from symdecouple import BudgetExceeded, InvalidInput, Mean, Status, check_frobenius, kurtosis, skewness, variance, x
from symdecouple.language.budget import Budget, check


@pytest.mark.parametrize("seconds", [0, -1, True, "3", None, float("nan")])
def test_a_budget_is_a_positive_number(seconds: Any) -> None:
    with pytest.raises(InvalidInput, match="positive number of seconds"):
        Budget(seconds)


def test_a_spent_budget_names_the_step_and_the_remedy() -> None:
    budget = Budget(1e-9)
    time.sleep(0.001)
    with pytest.raises(BudgetExceeded, match=r"counting took more than the budget of 1e-09 s; give budget="):
        budget.check("counting")
    assert budget.remaining > 0


def test_no_limit() -> None:
    budget = Budget(math.inf)
    budget.check("anything")
    with budget.running("anything"):
        check()


def test_without_a_running_clock_nothing_is_checked() -> None:
    check()


def test_loops_see_the_clock_that_is_running() -> None:
    start = time.monotonic()
    with pytest.raises(BudgetExceeded, match=r"spinning took more than the budget of 0\.1 s"), Budget(0.1).running(
            "spinning"):
        while True:
            check()
    assert time.monotonic() - start < 5
    check()


@pytest.mark.parametrize(("outer", "inner", "said"), [(0.05, 60, "outer took more than the budget of 0.05 s"),
                                                      (60, 0.05, "inner took more than the budget of 0.05 s")])
def test_of_two_clocks_the_earlier_deadline_counts(outer: float, inner: float, said: str) -> None:
    late = Budget(inner)  # made outside: it knows nothing of the other
    with pytest.raises(BudgetExceeded, match=said), Budget(outer).running("outer"), late.running("inner"):
        while True:
            check()


def test_a_budget_made_inside_a_block_ends_with_it() -> None:
    with Budget(0.5).running("outer"):
        assert Budget(60).remaining <= 0.5 and Budget(math.inf).remaining <= 0.5
        assert Budget(0.1).remaining <= 0.1
    assert Budget(60).remaining > 50


def test_a_block_in_time_is_left_alone_and_errors_pass() -> None:
    with Budget(0.05).running("quick"):
        pass
    time.sleep(0.1)
    check()
    with pytest.raises(ZeroDivisionError), Budget(5).running("failing"):
        _ = 1 / 0
    with pytest.raises(BudgetExceeded, match="inner reason"), Budget(5).running("outer"):
        raise BudgetExceeded("inner reason")


def test_other_threads_have_clocks_of_their_own() -> None:
    seen: list[float] = []
    with Budget(0.5).running("here"):
        thread = threading.Thread(target=lambda: seen.append(Budget(60).remaining))
        thread.start()
        thread.join()
    assert seen[0] > 50


def test_a_decision_past_its_budget_is_undecided_in_time() -> None:
    features = [Mean(x), variance(), skewness(), kurtosis() * skewness() ** 2 + Mean(x**5) ** 3 / variance() ** 2]
    start = time.monotonic()
    verdict = check_frobenius(features, budget=0.01)
    assert verdict.status is Status.UNDECIDED and "budget of 0.01 s" in verdict.reason and verdict.certificate is None
    assert time.monotonic() - start < 10
