"""Budgets: an exact question ends in time, says so, and leaves nothing running."""

from __future__ import annotations

import math
import time
from typing import Any

import pytest

from symdecouple.calculus.budget import PRODUCT_LIMIT, Budget
from symdecouple.calculus.frobenius import check_frobenius
from symdecouple.errors import BudgetExceeded, InvalidInput
from symdecouple.language.mean import Mean
from symdecouple.language.sample import x
from symdecouple.language.statistics import kurtosis, skewness, variance
from symdecouple.verdict import Status


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
    with budget.watch("anything"):
        pass


def test_products_out_of_bounds_are_refused() -> None:
    Budget().check_product(1000, PRODUCT_LIMIT // 1000, "a product")
    with pytest.raises(BudgetExceeded, match="a product needs"):
        Budget().check_product(PRODUCT_LIMIT, 2, "a product")


def test_a_block_that_never_looks_is_interrupted() -> None:
    start = time.monotonic()
    with pytest.raises(BudgetExceeded, match="spinning took more"), Budget(0.2).watch("spinning"):
        while True:
            pass
    assert time.monotonic() - start < 5


def test_a_block_in_time_is_left_alone_and_errors_pass() -> None:
    with Budget(0.05).watch("quick"):
        pass
    time.sleep(0.1)
    with pytest.raises(ZeroDivisionError), Budget(5).watch("failing"):
        _ = 1 / 0
    with pytest.raises(BudgetExceeded, match="inner reason"), Budget(5).watch("outer"):
        raise BudgetExceeded("inner reason")


def test_a_decision_past_its_budget_is_undecided_in_time() -> None:
    features = [Mean(x), variance(), skewness(), kurtosis() * skewness() ** 2 + Mean(x**5) ** 3 / variance() ** 2]
    start = time.monotonic()
    verdict = check_frobenius(features, budget=0.01)
    assert verdict.status is Status.UNDECIDED and "budget of 0.01 s" in verdict.reason and verdict.certificate is None
    assert time.monotonic() - start < 10
