"""The orthokurtosis of long rows of narrow integers: that of the same numbers in float64, and as seldom refused."""

from __future__ import annotations

import numpy as np
import pytest

from symdecouple.numeric.moments.long_orthokurtosis import by_few_values
from symdecouple.numeric.moments.skewness_root import orthokurtosis_rows
from symdecouple.numeric.samples.batch import Panel, RowValues

N = 2**14
LAWS = {
    "symmetrical": lambda rng: rng.normal(0, 20, N),
    "skewed": lambda rng: rng.exponential(15, N) - 100,
    "with an outlier": lambda rng: np.append(rng.integers(0, 3, N - 1), 127),
}


@pytest.mark.parametrize("law", LAWS)
def test_it_is_that_of_the_entries(law: str) -> None:
    row = np.clip(np.round(LAWS[law](np.random.default_rng(0))), -128, 127).astype(np.int8)[None]
    expected = orthokurtosis_rows(Panel.of(row.astype(np.float64))).values
    assert by_few_values(never)(Panel.of(row)).values == pytest.approx(expected, rel=1e-14)


def test_refusals_are_those_of_the_entries() -> None:
    rows = np.zeros((6, N), dtype=np.uint8)
    rows[1, ::2] = 255  # equal numbers
    rows[2, ::3] = 7  # two values
    rows[3, : N // 2 - 1] = 9
    rows[3, -1] = 255  # half of the entries tied
    rows[4, : N // 4] = [3]
    rows[4, -1] = 255  # more than half
    rows[5] = np.arange(N) % 251
    expected = orthokurtosis_rows(Panel.of(rows.astype(np.float64)))
    found = by_few_values(never)(Panel.of(rows))
    assert found.refusals == expected.refusals and set(expected.refusals) == {0, 2, 3, 4}
    assert found.values == pytest.approx(expected.values, rel=1e-14, nan_ok=True)


def test_rows_of_many_values_are_left() -> None:
    rng = np.random.default_rng(1)
    rows = np.stack([rng.integers(-900, 900, N), rng.integers(-3, 4, N)]).astype(np.int16)
    handed = []

    def usual(panel: Panel) -> RowValues:
        handed.append(panel.values.copy())
        return orthokurtosis_rows(panel)

    found = by_few_values(usual)(Panel.of(rows))
    assert len(handed) == 1 and np.array_equal(handed[0], rows[:1])
    assert found.values == pytest.approx(orthokurtosis_rows(Panel.of(rows.astype(np.float64))).values, rel=1e-14)


def never(panel: Panel) -> RowValues:
    raise AssertionError("rows of few values")
