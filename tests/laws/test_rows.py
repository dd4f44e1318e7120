"""Laws of numbers, asked of every function in the table of `rows`."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from tests.laws.rows import FUNCTIONS, HARD, Array, Function, drawn
from tests.numeric.differences import extrapolated

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


@pytest.mark.parametrize("law", HARD)
@those(lambda function: function.hard)
def test_values_of_hard_rows(name: str, law: str) -> None:
    """All of them have an answer, but those whose ties leave no way to zero skewness (Theorem C)."""
    function = FUNCTIONS[name]
    rows = drawn(law, 2, function.sizes[0], 6)
    for value, outcome, row in zip(*function.answer(rows), rows, strict=True):
        ties = max(np.count_nonzero(row == row.min()), np.count_nonzero(row == row.max()))
        if outcome.ok:
            near(value, [float(v) for v in function.oracle(row)], function.hard or 0)
        else:
            assert 2 * ties >= len(row), outcome


@each
def test_a_row_alone_is_the_row_in_a_batch(name: str) -> None:
    """To the last bit, and with the same outcome; in any place, and where rows do not lie one after the other."""
    function = FUNCTIONS[name]
    for n in function.sizes:
        rows = mixed(function, n)[1:]
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


def right_or_refused(function: Function, near_zero: Array, far: Array, offset: float) -> None:
    """Far from zero; about it all rows have an answer."""
    (values, whole), (found, outcomes) = function.answer(near_zero), function.answer(far)
    assert all(outcome.ok for outcome in whole)
    kept = [i for i, outcome in enumerate(outcomes) if outcome.ok]
    assert np.isnan(np.delete(found, kept, axis=0)).any(axis=1).all()
    near(found[kept], moved(function, values[kept], offset), function.bound)


@those(lambda function: function.moved is not None)
def test_integers_far_from_zero_have_a_right_answer_or_none(name: str) -> None:
    """Entries are integers, and lose nothing."""
    function = FUNCTIONS[name]
    for unit, offset in FAR:
        rows = np.round(2 * unit * np.concatenate([drawn(law, 1, function.sizes[0]) for law in function.laws]))
        right_or_refused(function, rows, rows + offset, offset)


@pytest.mark.parametrize("offset", [1e8, pytest.param(-1e12, marks=pytest.mark.slow)])
@those(lambda function: function.moved is not None)
def test_far_from_zero_an_answer_is_right_or_there_is_none(name: str, offset: float) -> None:
    """The offset is taken out again without loss: numbers of one binade have exact differences."""
    function = FUNCTIONS[name]
    far = np.concatenate([drawn(law, 4, function.sizes[0]) for law in function.laws]) + offset
    right_or_refused(function, far - offset, far, offset)


@each
def test_single_precision_is_widened_first(name: str) -> None:
    function = FUNCTIONS[name]
    rows = mixed(function, function.middle).astype(np.float32)
    found, outcomes = function.answer(rows)
    expected, others = function.answer(rows.astype(float))
    assert np.array_equal(found, expected.astype(found.dtype), equal_nan=True)
    assert reasons(outcomes) == reasons(others)


@each
def test_threads_in_threads_change_no_bit(name: str) -> None:
    function = FUNCTIONS[name]
    rows = mixed(function, function.middle)

    def inner(_: int) -> list[tuple[Array, Any]]:
        with ThreadPoolExecutor(2) as threads:
            return list(threads.map(lambda _: function.answer(rows), range(2)))

    with ThreadPoolExecutor(3) as threads:
        found = list(threads.map(inner, range(3)))
    values, outcomes = function.answer(rows)
    for other, told in (one for some in found for one in some):
        assert np.array_equal(other, values, equal_nan=True) and list(told) == list(outcomes)


# --- plans: the sample comes back, and gradients ----------------------------------------------------------------------

plans = those(lambda function: function.plan)


def plan_and_rows(name: str, n_rows: int = 1) -> tuple[Function, Any, Array]:
    function = FUNCTIONS[name]
    assert function.plan is not None
    rows = [drawn(law, n_rows, function.sizes[0], 3) for law in function.laws]
    return function, function.plan(), np.concatenate(rows)


@plans
def test_a_sample_comes_back(name: str) -> None:
    function, plan, rows = plan_and_rows(name, 2)
    ends, outcomes = plan.normalize(rows, on_refusal="return")
    back, others = plan.denormalize(ends, plan.transform(rows), on_refusal="return")
    assert all(outcome.ok for outcome in (*outcomes, *others))
    assert np.abs(ends - rows).max() > 1e-3
    near(back, rows, 10 * function.bound)


@those(lambda function: function.fields)
def test_gradients_are_orthogonal_to_those_before(name: str) -> None:
    function, plan, rows = plan_and_rows(name, 2)
    assert function.fields is not None
    for row, gradients in zip(rows, plan.gradients(rows), strict=True):
        fields = function.fields(row - row.mean() if function.moved else row)
        for k, gradient in enumerate(gradients[:4]):
            basis = np.linalg.qr(fields[:k].T)[0]
            assert np.linalg.norm(basis.T @ gradient) < 1e-12 * np.linalg.norm(gradient)


@plans
def test_gradients_are_those_of_differences(name: str) -> None:
    function, plan, rows = plan_and_rows(name)
    rng = np.random.default_rng(4)
    for row, gradients in zip(rows, plan.gradients(rows), strict=True):
        direction = rng.normal(size=len(row))
        direction *= 0.02 * row.std() / np.abs(direction).max()
        (expected,) = extrapolated(lambda some: function.answer(some)[0], row[None], direction, 1 / 16, 4)
        size = np.linalg.norm(gradients, axis=1) * np.linalg.norm(direction)
        assert (np.abs(gradients @ direction - expected) < 1e-9 * size).all()


UNITS = ((1.0, 2.0**20), (1.0, -(2.0**50)), (2.0**200, 0.0), (2.0**-100, 2.0**20), (2.0**660, 0.0), (2.0**-660, 0.0))


@those(lambda function: function.plan and function.degrees and function.moved)
def test_levels_and_gradients_feel_no_offset_and_a_unit_as_a_factor(name: str) -> None:
    """Entries are integers, which lose nothing, those of 64 bits too; what a unit takes beyond float64 is refused."""
    function, plan, rows = plan_and_rows(name)
    assert function.degrees is not None
    rows = np.round(2**16 * rows)
    ends, slopes, degrees = plan.normalize(rows), plan.gradients(rows), np.array(function.degrees)
    sizes, far = np.abs(slopes).max(axis=2, keepdims=True), rows.astype(np.int64) + 2**60
    near(plan.normalize(far), ends, 10 * function.bound)
    near(plan.transform(far)[:, 1:], plan.transform(rows)[:, 1:], function.bound)
    for unit, offset in UNITS:
        felt = np.abs(np.log2(unit) * degrees) < 1000
        values, outcomes = plan.transform(unit * (rows + offset), on_refusal="return")
        assert reasons(outcomes) == ["" if felt.all() else "out of range"] * len(rows)
        assert np.array_equal(np.isfinite(values), np.tile(felt, (len(rows), 1)))
        near(plan.normalize(unit * (rows + offset)), ends, 10 * function.bound)
        found, _ = plan.gradients(unit * (rows + offset), on_refusal="return")
        away = np.abs(np.ldexp(found, int(np.log2(unit)) * (1 - degrees)[:, None]) - slopes) / sizes
        assert away[:, felt].max() < 10 * function.bound
