"""Boundaries as maps of indices: against NumPy's padding, and the matrices they make."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import ndimage

from symdecouple import Filter, InvalidInput
from symdecouple.language.boundaries import BOUNDARIES, checked_boundary, continued, grid, operator_rows

PADS = {"circular": "wrap", "zero": "constant", "half-sample": "symmetric", "whole-sample": "reflect"}
MODES = {"circular": "wrap", "zero": "constant", "half-sample": "reflect", "whole-sample": "mirror"}


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("size", [2, 3, 7])
def test_the_continued_vector_is_numpys_padding(boundary: str, size: int) -> None:
    """Three times as far as the vector is long: mirrors reflect again and again."""
    values, far = np.arange(10, 10 + size), 3 * size + 1
    source = continued(np.arange(-far, size + far), size, boundary)
    expected = np.pad(values, far, mode=PADS[boundary])  # type: ignore[call-overload]
    np.testing.assert_array_equal(np.where(source < 0, 0, values[source]), expected)


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_one_sample_is_repeated_or_followed_by_zeros(boundary: str) -> None:
    source = continued(np.arange(-2, 3), 1, boundary)
    assert source.tolist() == ([-1, -1, 0, -1, -1] if boundary == "zero" else [0] * 5)


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("shape", [(6,), (3, 4), (2, 3, 2)], ids=str)
def test_columns_are_the_images_of_unit_vectors(boundary: str, shape: tuple[int, ...]) -> None:
    """scipy.ndimage filters the unit vectors; kernels of 3 taps an axis, no symmetry."""
    kernel = np.random.default_rng(7).integers(1, 9, (3,) * len(shape))
    lags = {tuple(int(j) - 1 for j in place): int(tap) for place, tap in np.ndenumerate(kernel)}
    rows = operator_rows(lags, shape, boundary)
    turned = operator_rows(lags, shape, boundary, transposed=True)
    count = int(np.prod(shape))
    for column in range(count):
        unit = np.zeros(count, dtype=int)
        unit[column] = 1
        image = ndimage.convolve(unit.reshape(shape), kernel, mode=MODES[boundary]).ravel()
        assert [row.get(column, 0) for row in rows] == image.tolist()
        assert [turned[column].get(k, 0) for k in range(count)] == image.tolist()


@pytest.mark.parametrize(
    ("first", "second", "boundary", "commute"),
    [
        ([-1, 2, -1], [1, 0, -1], "circular", True), ([-1, 2, -1], [1, 0, -1], "zero", False),
        ([-1, 2, -1], [1, 2, 1], "zero", True), ([-1, 2, -1], [1, 5, 3, 5, 1], "half-sample", True),
        ([-1, 2, -1], [1, 5, 3, 5, 1], "zero", False), ([-1, 2, -1], [1, 0, -1], "half-sample", False),
    ],
    ids=str,
)
def test_which_operators_commute(first: list[int], second: list[int], boundary: str, commute: bool) -> None:
    """Convolutions on a circle always do; symmetric kernels under the half-sample mirror; symmetric 3 taps on zeros."""
    a, b = (Filter(taps, boundary=boundary).matrix(6) for taps in (first, second))
    assert (a * b == b * a) is commute


def test_the_squares_of_whole_sample_mirrors_do_not_commute() -> None:
    """Energies see A'A: those of symmetric kernels commute under the half-sample mirror, not under the other one."""
    for boundary, commute in (("half-sample", True), ("whole-sample", False)):
        a, b = (Filter(taps, boundary=boundary).matrix(6) for taps in ([-1, 2, -1], [1, 2, 1]))
        a, b = a.T * a, b.T * b
        assert (a * b == b * a) is commute


@pytest.mark.parametrize("wrong", ["reflect", "Zero", None, 0, ""])
def test_other_boundaries_are_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="one of circular, zero, half-sample, whole-sample"):
        checked_boundary(wrong)


@pytest.mark.parametrize("wrong", [0, -1, 2.0, True, (), (4, 0), (3, True), "6", None])
def test_what_is_no_grid_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="number of samples or the shape of a grid"):
        grid(wrong)


def test_a_matrix_that_would_fill_the_memory_is_refused() -> None:
    with pytest.raises(InvalidInput, match="too many entries"):
        operator_rows({(0,): 1, (1,): 1}, (10**7,), "zero")
