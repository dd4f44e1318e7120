"""Laws of numbers, asked of every function in the table of `rows`."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from tests.laws.rows import FUNCTIONS, Array, Function, drawn

each = pytest.mark.parametrize("name", FUNCTIONS)


def those(has: Callable[[Function], object]) -> Any:
    return pytest.mark.parametrize("name", [name for name, function in FUNCTIONS.items() if has(function)])


def reasons(outcomes: Any) -> list[str]:
    return [outcome.reason for outcome in outcomes]


def mixed(function: Function, n: int) -> Array:
    """Rows of all laws that it answers, and rows that it refuses."""
    rows = [drawn(law, 2, n) for law in function.laws]
    bad = np.stack([np.full(n, 7.0), np.where(np.arange(n) == 1, np.inf, 1.0 * np.arange(n))])
    return np.concatenate([rows[0], bad, *rows[1:]])


def near(found: Array, expected: Any, bound: float) -> None:
    expected = np.asarray(expected, dtype=float)
    assert (np.isnan(found) == np.isnan(expected)).all(), (found, expected)
    error = np.abs(found - expected) / np.maximum(1, np.abs(expected))
    assert np.nanmax(error, initial=0) <= bound, (np.nanmax(error), bound)


def moved(function: Function, values: Array, offset: float) -> Array:
    assert function.moved is not None
    found = values.copy()
    found[:, list(function.moved)] += offset
    return found


@each
def test_values_are_those_of_an_oracle(name: str) -> None:
    function = FUNCTIONS[name]
    rows = np.concatenate([drawn(law, 1, function.sizes[0], 1) for law in function.laws])
    values, outcomes = function.answer(rows)
    for value, outcome, row in zip(values, outcomes, rows, strict=True):
        assert outcome.ok, outcome
        near(value, [float(v) for v in function.oracle(row)], function.bound)


@each
def test_a_row_alone_is_the_row_in_a_batch(name: str) -> None:
    """To the last bit, and with the same outcome; in any place, and where rows do not lie one after the other."""
    function = FUNCTIONS[name]
    for n in function.sizes:
        rows = mixed(function, n)
        values, outcomes = function.answer(rows)
        for i, row in enumerate(rows):
            (alone,), (outcome,) = function.answer(row[None].copy())
            assert np.array_equal(alone, values[i], equal_nan=True) and outcome == outcomes[i]
        turned, _ = function.answer(np.asfortranarray(rows[::-1]))
        assert np.array_equal(turned[::-1], values, equal_nan=True)


@each
def test_a_refused_row_refuses_itself_alone(name: str) -> None:
    function = FUNCTIONS[name]
    rows = mixed(function, function.sizes[-1])
    values, outcomes = function.answer(rows)
    refused = np.array([not outcome.ok for outcome in outcomes])
    assert refused.any() and not refused.all()
    kept, others = function.answer(rows[~refused])
    assert np.array_equal(kept, values[~refused]) and all(outcome.ok for outcome in others)
    assert np.isfinite(kept).all() and np.isnan(values[refused]).any(axis=1).all()


@those(lambda function: function.sizes[0] > function.turned)
def test_the_order_of_the_entries_is_not_felt(name: str) -> None:
    function = FUNCTIONS[name]
    rng = np.random.default_rng(2)
    for size in function.sizes[:2]:
        rows = np.concatenate([drawn(law, 1, size) for law in function.laws])
        order, n = rng.permutation(size), size
        if function.turned:
            n -= n % function.turned
            rows, order = rows[:, :n], np.roll(np.arange(n), n // 2 // function.turned * function.turned)
        assert (order != np.arange(n)).any()
        near(function.answer(rows[:, order])[0], function.answer(rows)[0], function.bound)


@those(lambda function: function.degrees)
def test_a_unit_is_a_factor(name: str) -> None:
    """A power of two loses nothing, so that every digit stays."""
    function = FUNCTIONS[name]
    rows = np.concatenate([drawn(law, 1, function.middle) for law in function.laws])
    values, _ = function.answer(rows)
    assert function.degrees is not None
    for power in function.units:
        found, outcomes = function.answer(np.ldexp(rows, power))
        assert all(outcome.ok for outcome in outcomes)
        near(np.ldexp(found, -power * np.array(function.degrees)), values, function.bound)


@those(lambda function: function.moved is not None)
def test_an_offset_moves_the_mean_alone(name: str) -> None:
    function = FUNCTIONS[name]
    rows = np.round(2**16 * np.concatenate([drawn(law, 1, function.middle) for law in function.laws]))
    values, _ = function.answer(rows)
    for offset in function.offsets:
        found, outcomes = function.answer(rows + offset)
        assert all(outcome.ok for outcome in outcomes)
        near(found, moved(function, values, offset), function.bound)


FAR = [(2.0**k, sign * 2.0**j) for k, sign, j in ((6, 1, 27), (6, -1, 50), (12, 1, 36))]


@those(lambda function: function.moved is not None)
def test_far_from_zero_an_answer_is_right_or_there_is_none(name: str) -> None:
    """Entries are integers, and lose nothing."""
    function = FUNCTIONS[name]
    for unit, offset in FAR:
        rows = np.round(2 * unit * np.concatenate([drawn(law, 1, function.sizes[0]) for law in function.laws]))
        (values, whole), (found, outcomes) = function.answer(rows), function.answer(rows + offset)
        assert all(outcome.ok for outcome in whole)
        kept = [i for i, outcome in enumerate(outcomes) if outcome.ok]
        assert np.isnan(np.delete(found, kept, axis=0)).any(axis=1).all()
        near(found[kept], moved(function, values[kept], offset), function.bound)


@each
def test_single_precision_is_widened_first(name: str) -> None:
    function = FUNCTIONS[name]
    rows = mixed(function, function.middle).astype(np.float32)
    found, outcomes = function.answer(rows)
    expected, others = function.answer(rows.astype(float))
    assert np.array_equal(found, expected.astype(found.dtype), equal_nan=True)
    assert reasons(outcomes) == reasons(others)


@each
def test_threads_change_no_bit(name: str) -> None:
    function = FUNCTIONS[name]
    rows = mixed(function, function.middle)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: function.answer(rows), range(6)))
    values, outcomes = function.answer(rows)
    for other, told in found:
        assert np.array_equal(other, values, equal_nan=True) and list(told) == list(outcomes)
