"""Ties by counts and by weights: the same decisions for whole numbers, exact ones at an end."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

from symdecouple.numeric.moments.attainable import skewness_interval
from symdecouple.numeric.moments.ties import Ties, is_flat_at_two, ties_of, why_unreachable
from symdecouple.numeric.samples.batch import SampleMatrix

rows = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), min_size=2, max_size=9).filter(
    lambda pairs: sum(w > 0 for _, w in pairs) > 1
)


def weighed(values: object, weights: object) -> Ties:
    row, heavy = (np.array(part, dtype=np.float64)[None] for part in (values, weights))
    return ties_of(SampleMatrix.weighted(row, heavy))


@given(rows, st.sampled_from([0.0, 0.5, -0.5, 1.5, -2.0, "low", "high"]), st.integers(-1000, 900))
def test_whole_weights_decide_as_counts_do(pairs: list[tuple[int, int]], wanted: float | str, power: int) -> None:
    """Targets at an end of the interval among them, whatever the unit of the weights."""
    values, weights = (np.array(part) for part in zip(*pairs, strict=True))
    matrix = SampleMatrix.of(np.repeat(values, weights).astype(float)[None])
    by_count = ties_of(matrix)
    target = 0.0 if isinstance(wanted, str) else wanted
    if isinstance(wanted, str) and matrix.low[0] < matrix.high[0]:
        ends = skewness_interval(int(by_count.at_low[0]), int(by_count.at_high[0]), by_count.total)
        target = ends[wanted == "high"]
    by_weight = weighed(values, np.ldexp(weights.astype(float), power))
    found, expected = (ties.unreachable(np.array([target])) for ties in (by_weight, by_count))
    assert {i: o.reason for i, o in found.items()} == {i: o.reason for i, o in expected.items()}
    assert by_weight.two_valued.tolist() == by_count.two_valued.tolist()
    assert by_weight.balanced().tolist() == by_count.balanced().tolist()


weights = st.lists(st.floats(2.0**-60, 1), min_size=2, max_size=6)


@given(weights, weights, st.sampled_from([0.0, 1.0, -1.0]))
def test_sums_of_weights_are_compared_exactly(at_low: list[float], above: list[float], shift: float) -> None:
    """One more weight brings the end to half of the total as nearly as float64 can, then a bit past it."""
    low = sum(map(Fraction, at_low), Fraction(0))
    rest = sum(map(Fraction, above[1:]), Fraction(0))
    missing = float(low - rest)
    if missing <= 2.0**-61:
        return
    above = [float(np.nextafter(missing, np.inf * shift)) if shift else missing, *above[1:]]
    values = [0.0] * len(at_low) + list(map(float, range(1, len(above) + 1)))
    reasons = weighed(values, at_low + above).unreachable(np.zeros(1))
    total = low + sum(map(Fraction, above), Fraction(0))
    most = max(low, Fraction(above[-1]))
    if len(above) > 1:
        expected = "" if 2 * most < total else "limit only" if 2 * most == total else "no zero-skew point"
        assert (reasons[0].reason if reasons else "") == expected


@pytest.mark.parametrize(("heavy", "is_balanced"), [(0.5, True), (0.5 + 2.0**-53, False)])
def test_balance_is_exact(heavy: float, is_balanced: bool) -> None:
    assert weighed([0, 1], [0.5, heavy]).balanced().tolist() == [is_balanced]
    assert weighed([0, 1], [0.5, heavy]).unreachable(np.zeros(1))[0].reason == "two-valued"


def test_ends_marked_before_rounding_count_where_the_floats_are_equal() -> None:
    values, heavy = np.array([[0.0, 0.5, 1.0, 1.0]]), np.array([[1.0, 1.0, 1.0, 1.5]])
    low, high = np.array([[True, False, False, False]]), np.array([[False, False, False, True]])
    assert not ties_of(SampleMatrix.weighted(values, heavy, (low, high))).unreachable(np.zeros(1))
    assert ties_of(SampleMatrix.weighted(values, heavy)).unreachable(np.zeros(1))[0].reason == "no zero-skew point"


@pytest.mark.parametrize(
    ("target", "reason", "said"),
    [
        (1.5, "limit only", "choose a target strictly inside"),
        (1.6, "skewness out of reach", "maximum with 0.2 of the weight; not with these ties: with less weight on"),
        (-2.0, "skewness out of reach", "minimum with 0.3 of the weight"),
    ],
)
def test_targets_at_and_beyond_an_end(target: float, reason: str, said: str) -> None:
    """(1 - 2/5)/sqrt(4/25) = 3/2 for a fifth of the weight at the maximum."""
    (outcome,) = weighed([0, 1, 2], [3, 5, 2]).unreachable(np.array([target])).values()
    assert outcome.reason == reason and said in outcome.detail


@pytest.mark.parametrize(("at_low", "at_high", "n_samples", "target", "said"), [
    (1, 1, 5, 1.6, "no sample of 5 values has it, N >= 6 is needed"),  # 4/sqrt(5) is 1.789
    (2, 1, 5, -3.0, "no sample of 5 values has it, N >= 12 is needed"),  # 9/sqrt(10) is 2.85, 10/sqrt(11) 3.015
    (1, 1, 5, 1e200, "more than inf values are needed"),
    (1, 2, 5, 1.2, "not with these ties: with fewer values tied at the maximum more can be reached"),
    (3, 1, 5, 0.0, "not with these ties: fewer than half of the values may be tied at an end"),
])
def test_what_no_sample_has_is_told_from_what_ties_do_not_allow(at_low: int, at_high: int, n_samples: int,
                                                                target: float, said: str) -> None:
    outcome = why_unreachable(at_low, at_high, n_samples, target)
    assert outcome is not None and said in outcome.detail


@pytest.mark.parametrize("kind", [float, mpmath.mpf])
def test_a_saddle_of_the_skewness_is_two_values_and_one_number_at_each(kind: Any) -> None:
    def flat(row: list[float], covector: list[float]) -> bool:
        some = [np.array([kind(v) for v in each], dtype=object if kind is mpmath.mpf else float)
                for each in (row, covector)]
        return is_flat_at_two(*some, mpmath.eps if kind is mpmath.mpf else 2.0**-52)

    assert flat([1, 4, 4, 1], [2, 5, 5, 2]) and flat([1, 4, 4, 1], [0, 0, 0, 0])
    assert flat([1, 4, 4 - 2**-49, 1 + 2**-50], [2, 5 + 2**-40, 5, 2])
    assert not flat([1, 4, 4 - 2**-20, 1], [2, 5, 5, 2])  # three values
    assert not flat([1, 4, 4, 1], [2, 5, 5.001, 2]) and not flat([1, 4, 4, 1], [2, 5, 5, 2.001])
    assert not flat([3, 3, 3], [1, 1, 1])
