"""Which pair the next step takes, and how long it is: against all choices, counted by hand."""

from __future__ import annotations

from itertools import product
from math import ceil

import numpy as np
import pytest
from symdecouple.numeric.paths.bank_steps import HEAVY, plan_of
from symdecouple.numeric.paths.step_pairs import PAIRS

ORDERS, COSTS = PAIRS[1], PAIRS[2]
RTOL = 5e-9


def longest(pair: int, pace: float, allowed: float) -> float:
    """The error grows by the order; pairs of lower order reach as far as theirs takes them at 0.9 of one radius."""
    share = 1.0 if pair == HEAVY else 0.9 * RTOL ** (1 / ORDERS[pair] - 1 / ORDERS[HEAVY])
    return float(0.95 * pace * allowed ** (1 / ORDERS[HEAVY]) * share)


def points_of(left: float, pace: float, allowed: float) -> int:
    """The fewest: k steps of any pair, or k heavy ones and one of another pair."""
    reach = [longest(pair, pace, allowed) for pair in range(3)]
    found = [COSTS[pair] * max(1, ceil(left / reach[pair])) for pair in range(3)]
    found += [COSTS[HEAVY] * k + COSTS[pair] for k, pair in product(range(200), range(3))
              if left <= k * reach[HEAVY] + reach[pair]]
    return int(min(found))


@pytest.mark.parametrize("allowed", [1.0, 2.5])
def test_the_plan_asks_for_the_fewest_points(allowed: float) -> None:
    """Followed to its end, from displacements of a hundredth of a step to twenty of them."""
    for left in np.geomspace(0.001, 2.0, 240):
        rest, points, pace = float(left), 0, 0.1
        while rest > 0:
            pair, part = plan_of(rest, pace, allowed, RTOL, ORDERS, COSTS)
            assert 0.0 < part <= 1.0 and part * rest <= longest(pair, pace, allowed) * (1 + 1e-12)
            rest = rest * (1 - part) if part < 1.0 else 0.0
            rest = 0.0 if rest < 1e-12 * left else rest
            points += int(COSTS[pair])
        assert points == points_of(float(left), pace, allowed)


def test_a_light_step_ends_what_heavy_ones_left() -> None:
    pair, part = plan_of(0.21, 0.1, 1.0, RTOL, ORDERS, COSTS)  # two of 0.095, and the lightest takes 0.02 at most
    assert pair == HEAVY and 0.08 < part * 0.21 < 0.095
    pair, part = plan_of(0.21 - 2 * part * 0.21, 0.1, 1.0, RTOL, ORDERS, COSTS)
    assert pair == 0 and part == 1.0


def test_a_pace_that_is_none_makes_no_step() -> None:
    with np.errstate(divide="ignore", invalid="ignore"):  # as where it is compiled
        assert plan_of(0.1, np.float64(0.0), 1.0, RTOL, ORDERS, COSTS) == (HEAVY, 0.0)
