"""Each kernel, compiled and run by Python, gives what NumPy gives without it, and refuses with the same words."""

from __future__ import annotations

import numpy as np
import pytest

from symdecouple.numeric.kernels.compile import is_available
from symdecouple.versions import kernel_modules
from tests.laws.kernels import CASES, Case, answers, bound_of

compiled = pytest.param("compiled", marks=pytest.mark.skipif(not is_available(), reason="numba is an extra"))
ways = pytest.mark.parametrize("way", [
    pytest.param("interpreted", marks=pytest.mark.slow), compiled])  # the same text, which nobody runs by Python


@ways
def test_every_kernel_is_tried(way: str) -> None:
    calls = answers(way).calls
    assert {module.KERNELS.name for module in kernel_modules().values()} == {name for name, _ in calls}
    assert not [kernel for kernel, count in calls.items() if count == 0]
    assert not answers("numpy").calls


@pytest.mark.parametrize("way", [compiled])  # interpreted nobody has it: there products hang on the place of a row
def test_a_row_alone_is_the_row_among_threads_and_single_precision_is_widened(way: str) -> None:
    assert not answers(way).apart


@ways
@pytest.mark.parametrize("case", CASES, ids=" - ".join)
def test_numbers_and_refusals_are_those_of_numpy(case: Case, way: str) -> None:
    for (found, told), (expected, wanted) in zip(answers(way).found[case], answers("numpy").found[case], strict=True):
        assert told == wanted
        assert np.array_equal(np.isnan(found), np.isnan(expected))
        scale = np.maximum(1, np.abs(expected))
        if case.asked == "gradients":
            scale = np.nanmax(np.abs(expected), axis=1, keepdims=True, initial=0) + np.zeros_like(expected)
        error = np.nan_to_num(np.abs(found - expected))
        assert (error <= bound_of(case, expected) * np.nan_to_num(scale)).all(), np.nanmax(error / scale)
