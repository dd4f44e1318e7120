"""One row alone takes a shorter way through Gram-Schmidt, to the same bits."""

from __future__ import annotations

import numpy as np
import pytest
from symdecouple.numeric.paths.projection_frame import Frame, last_of


def gradients(n: int, count: int) -> np.ndarray:
    """Independent, nearly dependent, dependent, of zeros, and not finite."""
    found = np.random.default_rng(n).normal(size=(5, count, n))
    if count > 2:
        found[1, 2] = found[1, 0] + 1e-9 * found[1, 2]
        found[2, 2] = 3 * found[2, 0] - found[2, 1]
    found[3, count // 2] = 0
    found[4, -1, 0] = np.nan
    return found


@pytest.mark.parametrize("n", [3, 24, 65, 5000])
@pytest.mark.parametrize("count", [1, 3, 6])
def test_a_row_alone_has_the_same_frame(n: int, count: int) -> None:
    rows = gradients(n, count)
    with np.errstate(invalid="ignore"):
        together, last = Frame.of(rows), last_of(rows)
        for r in range(len(rows)):
            alone, one = Frame.of(rows[r : r + 1]), last_of(rows[r : r + 1])
            np.testing.assert_array_equal(alone.basis[:, 0], together.basis[:, r])
            np.testing.assert_array_equal(alone.triangle[0], together.triangle[r])
            np.testing.assert_array_equal(alone.sound[0], together.sound[r])
            for own, every in zip(one, last, strict=True):
                np.testing.assert_array_equal(own[0], every[r])
    assert together.sound[0].sum() == min(count, n)
    assert not together.sound[3, count // 2] and not together.sound[4, -1]


def test_a_row_alone_is_not_changed() -> None:
    rows = gradients(24, 3)[:1]
    kept = rows.copy()
    Frame.of(rows)
    last_of(rows)
    np.testing.assert_array_equal(rows, kept)
