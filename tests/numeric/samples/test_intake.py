"""What counts as a number, and that its digits survive."""

from __future__ import annotations

from collections import UserList, deque
from decimal import Decimal
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy

from symdecouple.errors import InvalidInput
from symdecouple.numeric.samples import vectors, weights
from symdecouple.numeric.samples.intake import centre_exactly, exact, take_numbers
from symdecouple.numeric.samples.vectors import shifted_rows
from symdecouple.stats import decoupled_moments, orthokurtosis
from tests.stats import oracle


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, Fraction(3)),
        (10**200 + 1, Fraction(10**200 + 1)),
        (np.int64(-4), Fraction(-4)),
        (0.1, Fraction(0.1)),
        (np.float32(0.1), Fraction(float(np.float32(0.1)))),
        (np.longdouble("0.5"), Fraction(1, 2)),
        (Fraction(1, 3), Fraction(1, 3)),
        (Decimal("0.1"), Fraction(1, 10)),
        (mpmath.mpf("-0.375"), Fraction(-3, 8)),
        (sympy.Rational(2, 7), Fraction(2, 7)),
        (sympy.Integer(5), Fraction(5)),
        (sympy.Float("0.25"), Fraction(1, 4)),
    ],
    ids=repr,
)
def test_numbers_of_any_library_keep_their_exact_value(value: object, expected: Fraction) -> None:
    assert exact(value) == expected


def test_irrational_numbers_come_with_sixty_digits() -> None:
    value = exact(sympy.sqrt(2))
    assert isinstance(value, Fraction) and abs(value**2 - 2) < Fraction(1, 10**58)


@pytest.mark.parametrize(
    "value", [float("nan"), Decimal("NaN"), Decimal("sNaN"), mpmath.mpf("nan"), sympy.nan, np.float64("nan")], ids=repr
)
def test_nan_of_any_library(value: object) -> None:
    assert np.isnan(exact(value))  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [float("-inf"), Decimal("Infinity"), mpmath.mpf("inf"), sympy.oo], ids=repr)
def test_infinity_of_any_library(value: object) -> None:
    assert np.isinf(exact(value))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value",
    [True, np.bool_(False), "3", b"3", 1j, None, sympy.Symbol("a"), sympy.I, sympy.true, sympy.zoo, mpmath.mpc(1, 2),
     [1, 2], np.ma.masked, object(), float, Fraction],
    ids=lambda v: repr(v).partition(" at 0x")[0],
)  # fmt: skip
def test_what_is_no_number_is_named(value: object) -> None:
    with pytest.raises(InvalidInput, match="real numbers are expected"):
        exact(value)


@pytest.mark.parametrize("value", [Decimal("1e999999999"), mpmath.mpf(2) ** 10**9], ids=["Decimal", "mpf"])
def test_an_exponent_that_would_fill_the_memory(value: object) -> None:
    with pytest.raises(InvalidInput, match="exponent"):
        exact(value)


@pytest.mark.parametrize(
    ("a", "said"),
    [
        ([True, False], "booleans"),
        ([True, 1.5, 2.0], "booleans"),
        ([[1, 2], [np.True_, 3]], "booleans"),
        (np.array([True, False]), "booleans"),
        ([np.array([True]), np.array([1.5])], "booleans"),
        (["1", "2"], "text"),
        (np.array(["a"]), "text"),
        ([b"1"], "bytes"),
        ([1 + 2j, 3], "complex"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "dates"),
        (np.array([1, 2], dtype="m8[s]"), "time spans"),
        (np.zeros(2, dtype=[("x", float)]), "records"),
        ([[1, 2], [3]], "rectangular"),
        ([np.ma.masked_array([1, 2], mask=[0, 1])], "masks"),
        (deque([True, 1.5]), "booleans"),
    ],
)
def test_arrays_of_no_numbers_are_named(a: object, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        take_numbers(a)


def test_lists_that_numpy_would_round_stay_exact() -> None:
    for a in ([2**63, 2**63 + 1, -1], [10**30 + 1, 0.5], [10**200, 10**200 + 3]):
        array = take_numbers(a).array
        assert array.dtype == object and [exact(v) for v in array] == [exact(v) for v in a]
    assert take_numbers([1, 2.5]).array.dtype == np.float64
    assert take_numbers([2**60, 2**60 + 1]).array.dtype == np.int64


def test_whole_numbers_of_numpy_beside_others_stay_exact() -> None:
    """NumPy takes int64 beside float, and beside uint64, for float64."""
    big = 2**60 + 1
    some: list[Any] = [
        [np.int64(big), 0.5], [np.int64(2**53 + 1), 0.5], [2**53 + 1, 0.5], [np.int64(big), np.float64(big)],
        [np.uint64(2**63 + 1), np.int64(-1)],
        [np.uint64(2**64 - 1), 3], [np.int64(-(2**63)), 0.25], [np.array(2**63 + 1, dtype=np.uint64), np.array(-4)],
        deque([big, 0.5]), UserList([big, Fraction(1, 3), 0.5])]
    for a in some:
        assert [exact(v) for v in take_numbers(a).array] == [exact(v.item() if np.ndim(v) == 0 and isinstance(
            v, np.ndarray) else v) for v in a]
    pairs = take_numbers([np.array([big, 5]), np.array([0.5, 1.5])]).array
    assert pairs.dtype == object and pairs[0, 0] == big
    assert take_numbers([np.int64(3), 2.5]).array.dtype == np.float64
    far = [*(np.int64(2**60 + k) for k in (1, 3, 4, 9)), 2.0**60]
    assert orthokurtosis(far) == pytest.approx(float(oracle.orthokurtosis([1, 3, 4, 9, 0])), rel=1e-14)


def test_centring_keeps_the_gaps() -> None:
    values = centre_exactly([10**200, 10**200, 10**200 + 1, 10**200 + 3, 10**200 + 3], [1] * 5)
    assert np.array_equal(values / -values[0], [-1, -1, 0, 2, 2])
    assert np.array_equal(centre_exactly([5, 5], [1, 1]), [0, 0])


def test_the_centre_is_where_half_of_the_weight_is_reached() -> None:
    """There values keep all their digits: 1/3 beside 0, though the range is 10**30."""
    values = [Fraction(0), Fraction(1, 3), Fraction(10**30), Fraction(2 * 10**30)]
    centred = centre_exactly(values, [1, 3, 1, 1])
    assert centred[1] == 0 and centred[0] < 0
    assert centre_exactly(values, [1, 1, 1, 1])[2] == 0


@pytest.mark.parametrize("kind", [np.int64, np.uint64])
@pytest.mark.parametrize("bits", [3, 50, 53, 54, 63, 64])
def test_integers_of_many_rows_are_shifted_as_one_by_one(kind: type, bits: int) -> None:
    draws = np.random.default_rng(bits).integers(0, 2**bits - 1, (7, 6), dtype=np.uint64, endpoint=True)
    rows = (draws + np.uint64(2**63 - 2**bits if bits < 63 else 0)).astype(kind)
    rows[0] = [np.iinfo(kind).min] + 5 * [np.iinfo(kind).max]
    found = shifted_rows(rows, True)
    for i, row in enumerate(rows.tolist()):
        middle = sorted(row)[3]
        assert found[i][0].tolist() == [float(v - middle) for v in row]
        assert found[i][1] == Fraction(sum(row), 6)


@pytest.mark.parametrize("kind", [np.int64, np.uint64])
@pytest.mark.parametrize("bits", [3, 40, 53, 54, 63, 64])
@pytest.mark.parametrize("masked", [False, True])
def test_moments_of_integers_are_rounded_once(kind: type, bits: int, masked: bool) -> None:
    draws = np.random.default_rng(bits).integers(0, 2**bits - 1, (7, 9), dtype=np.uint64, endpoint=True)
    rows = (draws + np.uint64(2**63 - 2**bits if bits < 63 else 0)).astype(kind)
    given = np.ma.array(rows, mask=np.arange(63).reshape(rows.shape) % 5 == 1) if masked else np.ma.array(rows)
    found = decoupled_moments(given, order=2, axis=1)
    for row, (mean, variance) in zip(given, found.tolist(), strict=True):
        assert [mean, variance] == oracle.moments(row.compressed().tolist(), 2)


def test_integers_near_the_largest_are_not_taken_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Fraction a number takes seconds for 3e5 of them."""
    monkeypatch.setattr(weights, "_exact_row", None)
    monkeypatch.setattr(vectors, "shifted_exactly", None)
    rows = np.random.default_rng(0).integers(0, 2**60, (2, 9)) + 2**60
    assert (orthokurtosis(rows, axis=1) > 1).all()
    assert vectors.shifted_rows(rows, rounded=True).keys() == {0, 1}
