"""Boxes around values: what they claim holds for solutions that are known exactly, and nothing else is accepted."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from symdecouple.analysis.critical.value_boxes import ValueBox, polished, solved_between


def example(rng: random.Random, count: int) -> tuple[tuple[int, ...], list[Fraction], list[tuple[Fraction, Fraction]]]:
    ties = tuple(rng.randint(1, 5) for _ in range(count))
    values = sorted(Fraction(v, 7) for v in rng.sample(range(-15, 16), count))
    targets = [sum((n * v**j for n, v in zip(ties, values, strict=True)), Fraction(0)) / sum(ties)
               for j in range(1, count + 1)]
    return ties, values, [(c, c) for c in targets]


@pytest.mark.parametrize("seed", range(12))
def test_known_rational_solutions_are_enclosed(seed: int) -> None:
    rng = random.Random(seed)
    ties, values, targets = example(rng, 2 + seed % 4)
    box = polished(ties, [float(v) + rng.uniform(-1e-3, 1e-3) for v in values], targets)
    assert box is not None and box.radius < Fraction(1, 10**40)
    assert all(abs(v - w) <= box.radius for v, w in zip(values, box.values, strict=True))
    for order in (1, 3, 6):
        low, high = box.moment(order)
        exact = sum((n * v**order for n, v in zip(ties, values, strict=True)), Fraction(0)) / sum(ties)
        assert low <= exact <= high and high - low < Fraction(1, 10**30)


@pytest.mark.parametrize("seed", range(6))
def test_boxes_without_the_solution_are_not_accepted(seed: int) -> None:
    rng = random.Random(seed)
    ties, values, targets = example(rng, 2 + seed % 3)
    box = polished(ties, [float(v) for v in values], targets)
    assert box is not None and box.is_proved(targets)
    moved = tuple(v + 3 * box.radius for v in box.values)
    assert not replace(box, values=moved).is_proved(targets)
    assert not replace(box, radius=Fraction(0)).is_proved(targets)
    assert not replace(box, radius=Fraction(10)).is_proved(targets)
    assert not replace(box, values=tuple(reversed(box.values))).is_proved(targets)
    assert not box.is_proved([(c + Fraction(1, 100), d + Fraction(1, 100)) for c, d in targets])
    wide = [(c - Fraction(1, 10**6), d + Fraction(1, 10**6)) for c, d in targets]
    assert not box.is_proved(wide)  # the solution of other targets in these intervals lies outside


def test_an_interval_of_targets_needs_a_wider_box() -> None:
    """sqrt(1/2 +- 1e-20) for symmetric values: the box covers what any target inside has."""
    spread = Fraction(1, 10**20)
    targets = [(Fraction(0), Fraction(0)), (Fraction(1, 2) - spread, Fraction(1, 2) + spread)]
    box = polished((1, 1), [-0.7, 0.7], targets)
    assert box is not None and box.radius > spread / 2
    for target in (Fraction(1, 2) - spread, Fraction(1, 2) + spread):
        low, high = box.values[1] - box.radius, box.values[1] + box.radius
        assert low**2 < target < high**2


def test_newton_stays_between_the_ends() -> None:
    """Three values with weights 1, 2, 1, from the walls (3, 1) and (1, 3): -sqrt 2, 0, sqrt 2."""
    low, high = np.array([-1, -1, 3]) / np.sqrt(3), np.array([-3, 1, 1]) / np.sqrt(3)
    found = solved_between((1, 2, 1), low, high, [0.0, 1.0, 0.0])
    assert found is not None and np.allclose(found, [-np.sqrt(2), 0, np.sqrt(2)], atol=1e-12)
    assert ValueBox((1, 1), (Fraction(-1), Fraction(1)), Fraction(1, 2)).moment(2) == (Fraction(-1, 4), Fraction(9, 4))
