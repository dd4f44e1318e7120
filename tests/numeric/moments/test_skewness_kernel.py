"""What the compiled flow of the skewness hands back to NumPy, and when it is asked.

That its answers are those of NumPy, alone and on threads, is a law of kernels.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from symdecouple.numeric.moments import skewness_kernel
from symdecouple.numeric.moments.power_sums import unit_and_lift
from symdecouple.numeric.moments.skewness_flow import impose_skewness
from symdecouple.numeric.moments.skewness_kernel import KERNELS, compiled_impose_skewness, compiled_orthokurtosis_rows
from symdecouple.numeric.moments.skewness_root import orthokurtosis_rows
from symdecouple.numeric.samples.batch import RowValues, SampleMatrix
from symdecouple.stats import orthokurtosis
from tests.numeric.moments.test_skewness_flow import EPS


@pytest.fixture
def compiled() -> None:
    pytest.importorskip("numba")
    if not KERNELS.are_warm():
        skewness_kernel.warm()  # leaves the mark: no other process compiles again, and no later run


def test_the_scales_are_those_of_numpy() -> None:
    ends = [(0, 5e-324), (-1.7e308, 1.7e308), (1e308, 1.7e308), (-3, 1), (1, 1 + 2**-52), (0, 1), (-(2.0**1000), 0)]
    low, high = np.array(ends, dtype=np.float64).T
    scales = [np.ldexp(1.0, exponent) for exponent in unit_and_lift(SampleMatrix(np.empty((len(ends), 0)), low, high))]
    assert [skewness_kernel._unit_and_lift(*pair) for pair in ends] == list(zip(*scales, strict=True))


def test_rows_that_are_not_ordinary_are_left_to_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the very functions that are compiled, without numba."""
    left: list[float] = []

    def noted(matrix: SampleMatrix) -> RowValues:
        left.extend(matrix.values[:, 0].tolist())
        return orthokurtosis_rows(matrix)

    monkeypatch.setattr(skewness_kernel, "_kernels", lambda: (skewness_kernel.kurtosis_rows, skewness_kernel.flow_rows))
    monkeypatch.setattr(skewness_kernel, "PASSES", 1)
    monkeypatch.setattr(skewness_kernel, "orthokurtosis_rows", noted)
    rows = np.random.default_rng(9).exponential(size=(6, 20))
    rows[2] = [-1, 1, *[0] * 18]  # not skewed: the series of the sample itself is final
    rows[3] = 7
    rows[4, :10] = 0  # half of the values are the minimum: no skewness of zero, though one pass comes near
    with np.errstate(all="ignore"):
        found = compiled_orthokurtosis_rows(SampleMatrix.of(rows))
    assert left == rows[[0, 1, 3, 4, 5], 0].tolist() and set(found.refusals) == {3, 4}
    expected = orthokurtosis_rows(SampleMatrix.of(rows))
    assert found.values == pytest.approx(expected.values, rel=1e-14, nan_ok=True)
    assert found.refusals == expected.refusals
    before_rounding = np.full(6, 1), np.full(6, 10)  # ties counted there decide
    counted = SampleMatrix(rows, rows.min(axis=1), rows.max(axis=1), before_rounding)
    assert {outcome.reason for outcome in compiled_orthokurtosis_rows(counted).refusals.values()} == {"limit only"}
    there = impose_skewness(rows[:2], 0.75).values  # at home already: standardized and no more
    assert np.array_equal(compiled_impose_skewness(there, 0.75).values, impose_skewness(there, 0.75).values)


@pytest.mark.usefixtures("compiled")
def test_read_only_samples_are_not_compiled_for_anew() -> None:
    rows, targets = np.random.default_rng(2).exponential(size=(6, 40)), np.linspace(-1, 1, 6)
    rows[1] = 2.0
    expected = compiled_impose_skewness(rows, targets)
    compiled_orthokurtosis_rows(SampleMatrix.of(rows))
    for array in (rows, targets):
        array.flags.writeable = False
    assert np.array_equal(compiled_impose_skewness(rows, targets).values, expected.values, equal_nan=True)
    found = compiled_impose_skewness(rows, targets, with_slope=False)
    assert np.array_equal(found.values, expected.values, equal_nan=True) and found.refusals == expected.refusals
    assert [len(kernel.twin.signatures) for kernel in skewness_kernel._kernels()] == [1, 1]  # type: ignore[attr-defined]


def test_which_one_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(KERNELS), "are_wanted", lambda self, n_elements: n_elements >= 1000)
    assert skewness_kernel.orthokurtosis_kernel(999) is orthokurtosis_rows
    assert skewness_kernel.orthokurtosis_kernel(1000) is compiled_orthokurtosis_rows
    assert skewness_kernel.skewness_imposer(999) is impose_skewness
    assert skewness_kernel.skewness_imposer(1000) is compiled_impose_skewness
    seen: list[int] = []
    monkeypatch.setattr(type(KERNELS), "are_wanted", lambda self, n_elements: bool(seen.append(n_elements)))
    orthokurtosis(np.arange(12.0).reshape(3, 4), axis=1)
    assert seen == [12]


@pytest.mark.usefixtures("compiled")
def test_warming_leaves_the_mark_and_large_input_is_then_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))  # of the mark; numba has read its own already
    assert not KERNELS.are_warm()
    skewness_kernel.warm()
    assert KERNELS.are_warm() and skewness_kernel.orthokurtosis_kernel(10**6) is compiled_orthokurtosis_rows


@pytest.mark.usefixtures("compiled")
def test_order_and_ties_are_kept() -> None:
    x = 1 + np.arange(4000) * EPS
    x = np.concatenate([x, [0.0, 0.5, 3.0], x[::7]])
    for target in (0.0, 20.0, -20.0):
        z = compiled_impose_skewness(x[None], target).values[0]
        order = np.argsort(x, kind="stable")
        assert (np.diff(z[order]) >= 0).all() and (np.diff(z[order])[np.diff(x[order]) == 0] == 0).all()


@pytest.mark.usefixtures("compiled")
def test_very_long_rows_of_single_precision_are_left_to_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skewness_kernel, "_WIDENED", 100)
    matrix = SampleMatrix.of(np.random.default_rng(8).exponential(size=(30, 500)).astype(np.float32))
    assert np.array_equal(compiled_orthokurtosis_rows(matrix).values, orthokurtosis_rows(matrix).values)
