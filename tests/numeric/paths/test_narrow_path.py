"""The narrow path against closed forms: where it leads, what it keeps, and what cannot be had."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from sympy import log

from symdecouple import InvalidInput, Mean, kurtosis, skewness, variance, x
from symdecouple.numeric.paths.narrow_path import NarrowPath
from tests.numeric.paths.nested import EVEN_FIRST, MIXED, POWERS, drawn, levels_of, positive

LOGS = [Mean(log(positive)), Mean(log(positive) ** 2), Mean(log(positive) ** 3), Mean(positive)]
SETS: list[tuple[str, list[Any], list[float]]] = [
    ("powers", POWERS, [0, 1, 0, 3, 0]),
    ("mixed", MIXED, [0, 1, 0.3745, 0]),
    ("even first", EVEN_FIRST, [0, 1, 3, 0]),
    ("standardized", [Mean(x), variance(), skewness(), kurtosis()], [0, 1, 0, 3]),
    ("logs", LOGS, [0.1, 0.3, 0.1]),
]
by_name = pytest.mark.parametrize(("features", "targets"), [row[1:] for row in SETS], ids=[row[0] for row in SETS])


# --- where it leads ---


def test_the_first_levels_in_closed_form() -> None:
    rows = drawn(POWERS)
    centred = rows - rows.mean(axis=1, keepdims=True)
    one, two, three = levels_of(NarrowPath(POWERS), rows, [0, 1, 0])
    np.testing.assert_allclose(one.values, centred, atol=1e-15)
    np.testing.assert_allclose(two.values, centred / centred.std(axis=1, keepdims=True), atol=1e-13)
    # The third moment moves along x**2, whose flow is Moebius: cross ratios stay.
    for before, after in zip(rows, three.values, strict=True):
        assert cross_ratios(after) == pytest.approx(cross_ratios(before), rel=1e-10)
        assert abs(np.mean(after**3)) < 1e-14


def cross_ratios(row: np.ndarray) -> np.ndarray:
    a, b, c = row[:3]
    rest = row[3:]
    return (rest - a) * (b - c) / ((rest - c) * (b - a))


@by_name
def test_features_are_imposed_and_those_before_kept(features: list[Any], targets: list[float]) -> None:
    path = NarrowPath(features)
    rows = drawn(features)
    before = path.features.values(rows)
    for k, target in enumerate(targets, 1):  # at any state, not only behind the levels below
        away = before[:, k - 1] + 0.05 * np.abs(before[:, k - 1]) * np.sign(target - before[:, k - 1])
        moved = path.follow(rows, k, away)
        after = path.features.values(moved.values)
        assert not moved.refusals
        np.testing.assert_allclose(after[:, : k - 1], before[:, : k - 1], rtol=1e-13, atol=1e-14)
        np.testing.assert_allclose(after[:, k - 1], away, rtol=1e-13, atol=1e-14)
        np.testing.assert_allclose(moved.reached, away, rtol=1e-13, atol=1e-14)
        assert (moved.residual < 1e-14).all() and (moved.steps > 0).all()


def test_at_the_target_not_a_bit_changes() -> None:
    rows = np.array([[-1.0, 0.0, 1.0], [1.0, 2.0, 6.0]])
    moved = NarrowPath(POWERS).follow(rows, 3, [0.0, 225 / 3])
    assert (moved.values == rows).all() and (moved.steps == 0).all() and not moved.refusals


def test_tied_samples_stay_tied() -> None:
    rows = np.repeat(drawn(POWERS, n=12), 2, axis=1)
    moved = levels_of(NarrowPath(POWERS), rows, [0, 1, 0, 3])[-1].values
    assert (moved[:, ::2] == moved[:, 1::2]).all()


@pytest.mark.parametrize("unit", [1e-8, 1e6, *(
    pytest.param(far, marks=pytest.mark.slow) for far in (1e-40, 1e30))])
def test_samples_of_any_unit(unit: float) -> None:
    rows = drawn(POWERS, n_rows=2)
    expected = levels_of(NarrowPath(POWERS), rows, [0, 1, 0])[-1]
    found = levels_of(NarrowPath(POWERS), unit * rows, [0, 1, 0])[-1]
    assert not found.refusals
    np.testing.assert_allclose(found.values, expected.values, atol=1e-9)


@pytest.mark.parametrize("unit", [1e-6, 1e5])
def test_fourth_moment_alone_in_closed_form_from_afar(unit: float) -> None:
    """dx/dt = x^3 adds a constant to 1/x^2."""
    rows = unit * drawn(POWERS)
    moved = NarrowPath([Mean(x**4)], rtol=1e-13).follow(rows, 1, 3.0)
    assert not moved.refusals
    for row, found in zip(rows, moved.values, strict=True):
        base = 1 / row**2 - 1 / np.max(row**2)
        size = brentq(lambda u, base=base: np.log(np.mean((base + np.exp(u)) ** -2.0) / 3), -10, 10, xtol=1e-15)
        expected = np.sign(row) / np.sqrt(base + np.exp(size))
        large = np.abs(expected) > 0.1
        np.testing.assert_allclose(found[large], expected[large], rtol=3e-10)


def test_features_that_are_held_are_put_right() -> None:
    rows = 1e18 * drawn(POWERS, n_rows=1)
    path = NarrowPath(POWERS)
    centred = path.follow(rows, 1, 0.0).values
    assert np.abs(centred.mean(axis=1)).max() > 3  # rounding
    held = path.follow(centred, 2, 1.0, held=[0.0])
    assert not held.refusals and np.abs(held.values.mean(axis=1)).max() < 1e-15
    assert path.follow(centred, 2, 1.0).refusals  # the second moment is at least the squared mean


def test_smaller_tolerances_come_nearer_to_the_exact_end() -> None:
    rows = np.random.default_rng(2).gamma(0.5, size=(20, 16))
    best = levels_of(NarrowPath(POWERS, rtol=1e-14), rows, [0, 1, 0, 3])[-1]
    errors = [np.abs(levels_of(NarrowPath(POWERS, rtol=rtol), rows, [0, 1, 0, 3])[-1].values - best.values).max()
              for rtol in (1e-5, 1e-8, 1e-11)]
    assert errors[0] > 10 * errors[1] > 100 * errors[2] and errors[2] < 1e-9


# --- rows never meet ---


def test_dependent_gradients_count_once() -> None:
    rows = np.random.default_rng(8).normal(size=(2, 300))
    features = [*MIXED, Mean(x**3), Mean(x**3) ** 3, Mean(x**4)]
    path = NarrowPath(features)
    value = path.features.values(rows)
    moved = path.follow(rows, 7, value[:, 6] + 0.1)
    once = NarrowPath([*MIXED, Mean(x**3), Mean(x**4)]).follow(rows, 6, value[:, 6] + 0.1)
    assert not moved.refusals
    np.testing.assert_allclose(moved.values, once.values, atol=1e-11)
    refused = path.follow(rows, 6, value[:, 5] + 0.1)
    assert [refused.refusals[r].reason for r in range(2)] == ["critical point"] * 2


def test_targets_are_one_for_all_or_one_each() -> None:
    path, rows = NarrowPath(POWERS), drawn(POWERS)
    one = path.follow(rows, 2, 2.0)
    each = path.follow(rows, 2, np.full(len(rows), 2.0))
    assert (one.values == each.values).all()
    moved = path.follow(rows, 2, np.arange(1.0, 6.0))
    np.testing.assert_allclose((moved.values**2).mean(axis=1), np.arange(1.0, 6.0), rtol=1e-14)
    assert path.follow(np.zeros((0, 4)), 2, 1.0).values.shape == (0, 4)


# --- what cannot be had ---

REFUSED = [
    ("no zero-skew point", POWERS, [0, 0, 0, 1, 2], [0, 1, 0], "not attainable", 1 / np.sqrt(6), 1e-6),
    ("kurtosis above N/2", POWERS, [1, 2, 3, 4, 10], [0, 1, 0, 3], "not attainable", 2.5, 1e-6),
    ("kurtosis below N/(N-1)", POWERS, [1, 2, 3, 4, 10], [0, 1, 0, 0.5], "not attainable", 1.25, 1e-6),
    ("in the limit only", POWERS, [0, 0, 1, 2], [0, 1, 0], "not attainable", 0.0, 1e-6),
    ("a negative second moment", POWERS, [1, 2, 6], [0, -1], "not attainable", 0.0, 1e-6),
    ("two values", POWERS, [0, 0, 0, 0, 1], [0, 1, 0], "critical point", 1.5, 1e-12),
    ("one value", POWERS, [7, 7, 7], [0, 1], "critical point", 0.0, 0.0),
    ("a minimum", [variance(), Mean(x)], [5, 5, 5], [1.0], "critical point", 0.0, 0.0),
    ("the same feature twice", [Mean(x**2), Mean(x**2) ** 2], [1, 2, 4], [7, 50.0], "critical point", 49.0, 1e-12),
    ("below the domain", [Mean(positive)], [1, 2, 3], [-1.0], "not attainable", 1.0, 1e-6),
    ("outside of the domain", [Mean(positive)], [-1, 2, 3], [1.0], "not finite", np.nan, 0),
    ("log of a negative number", [Mean(log(x))], [-1, 2, 3], [1.0], "not finite", np.nan, 0),
    ("division by zero", [skewness()], [5, 5, 5], [1.0], "not finite", np.nan, 0),
    ("no sample", POWERS, [np.nan, 1, 2], [0.0], "not finite", np.nan, 0),
    ("no target", POWERS, [0, 1, 2], [np.nan], "not finite", 1.0, 1e-15),
]

SLOW = ("kurtosis below N/(N-1)", "in the limit only")  # as the kurtosis above N/2


@pytest.mark.parametrize(("features", "row", "targets", "reason", "reached", "within"), [
    pytest.param(*r[1:], id=r[0], marks=[pytest.mark.slow] if r[0] in SLOW else []) for r in REFUSED])
def test_refusals(features: list[Any], row: list[float], targets: list[float], reason: str, reached: float,
                  within: float) -> None:
    good = np.linspace(1, 2, len(row)) ** 3
    level = levels_of(NarrowPath(features), np.array([row, good], dtype=float), targets)[-1]
    assert level.refusals[0].reason == reason and not level.refusals[0].ok
    assert np.isnan(level.values[0]).all()
    assert level.reached[0] == pytest.approx(reached, abs=within, nan_ok=True)
    if reason in ("not attainable", "critical point"):
        assert f"{targets[-1]:.6g} was asked for" in level.refusals[0].detail


def test_a_budget_of_steps() -> None:
    rows = np.random.default_rng(5).gamma(0.3, size=(1, 30))
    moved = NarrowPath(POWERS, max_steps=5).follow(rows, 2, 100 * np.mean(rows**2))
    assert moved.refusals[0].reason == "no convergence" and "raise max_steps" in moved.refusals[0].detail
    assert np.mean(rows**2) < moved.reached[0] < 100 * np.mean(rows**2)
    assert not NarrowPath(POWERS).follow(rows, 2, 100 * np.mean(rows**2)).refusals


def test_nothing_is_warned_of_and_the_input_stays() -> None:
    rows = np.array([[0.0, 0, 0, 1, 2], [np.inf, 1, 2, 3, 4]])
    given = rows.copy()
    with np.errstate(all="raise"):
        levels_of(NarrowPath(POWERS), rows, [0, 1, 0])
    np.testing.assert_array_equal(rows, given)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda p: p.follow([1.0, 2.0], 1, 0.0), "shape"),
        (lambda p: p.follow([[1.0, 2.0]], 0, 0.0), "from 1 to 6"),
        (lambda p: p.follow([[1.0, 2.0]], 7, 0.0), "from 1 to 6"),
        (lambda p: p.follow([[1.0, 2.0]], True, 0.0), "from 1 to 6"),
        (lambda p: p.follow([[1.0, 2.0]], 1, [0.0, 1.0]), r"one target each and 0 held values, got the shapes \(2,\)"),
        (lambda p: p.follow([[1.0, 2.0]], 2, 1.0, held=[0.0, 1.0]), "1 held values"),
        (lambda _: NarrowPath([Mean(x), Mean(x)]), "the same"),
    ],
)
def test_wrong_calls(call: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        call(NarrowPath(POWERS))


# --- gradients that depend on each other ---


def test_nearly_dependent_gradients_are_separated() -> None:
    near = Mean(x**2 + 1e-6 * x**3)
    rows = drawn(POWERS)
    path = NarrowPath([Mean(x**2), near])
    value = path.features.values(rows)
    moved = path.follow(rows, 2, value[:, 1] + 1e-7)
    exact = NarrowPath([Mean(x**2), Mean(x**3)]).follow(rows, 2, (rows**3).mean(axis=1) + 0.1)
    np.testing.assert_allclose(moved.values, exact.values, atol=1e-8)
