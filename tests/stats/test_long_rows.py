"""One very long sample: what it takes beside itself, and that its moments are those of its law's shorter samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdecouple.numeric.kernels import compile as jit
from symdecouple.numeric.moments import (
    long_jit,
    moment_path_kernel,
    skewness_root_jit,
)
from symdecouple.stats import decoupled_moments, kurtosis, orthokurtosis, skewness, standardized_moments
from tests.traced import peak

N = 2**19
SAMPLES = {
    "normal": lambda rng: rng.normal(size=N),
    "exponential": lambda rng: rng.exponential(size=N),
    "Laplace": lambda rng: rng.laplace(size=N),
    "of 256 values": lambda rng: np.floor(np.clip(rng.gamma(4, 20, size=N), 0, 255)),
    "single precision": lambda rng: rng.normal(size=N).astype(np.float32),
}


@pytest.fixture(params=["NumPy", "compiled"])
def way(request: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "NumPy":
        monkeypatch.setattr(jit.Kernels, "are_wanted", lambda self, n_elements: False)
        return "NumPy"
    pytest.importorskip("numba")
    for module in (skewness_root_jit, moment_path_kernel, long_jit):
        if not module.KERNELS.are_warm():
            module.warm()
    few = np.random.default_rng(0).exponential(size=2**17)
    decoupled_moments(few)  # loads numba
    orthokurtosis(few)
    return "compiled"


@pytest.mark.parametrize("name", SAMPLES)
def test_room_beside_one_long_sample(name: str, way: str) -> None:
    """1.5 times the sample is allowed; a few tenths are taken."""
    sample = SAMPLES[name](np.random.default_rng(1))
    functions: list[Callable[[np.ndarray], Any]] = [decoupled_moments, standardized_moments, kurtosis, skewness]
    if name != "single precision" or way == "NumPy":
        functions.append(orthokurtosis)
    for function in functions:
        assert peak(lambda function=function: function(sample)) < 1.5 * sample.nbytes, function


INTEGERS = {
    "int8": lambda rng: np.round(rng.normal(0, 15, N)),
    "uint8": lambda rng: np.round(np.clip(rng.exponential(20, N), 0, 255)),
    "int16": lambda rng: np.round(np.clip(rng.exponential(2000, N), 0, 32767)),
    "int32": lambda rng: np.round(rng.normal(0, 2**26, N)),
    "uint32": lambda rng: 2**32 - 1 - np.round(rng.exponential(2**26, N)),
}


@pytest.mark.parametrize("kind", INTEGERS)
def test_integers_are_read_where_they_lie(kind: str, way: str) -> None:
    """As float64 they would take 4 MiB; what a row of any length takes is less than 3."""
    wide = INTEGERS[kind](np.random.default_rng(4))
    row = wide.astype(kind)
    functions: list[Callable[[np.ndarray], Any]] = [decoupled_moments, standardized_moments, kurtosis, skewness]
    if kind not in ("int32", "uint32") or way == "NumPy":  # the compiled orthokurtosis widens up to 2**20 numbers
        functions.append(orthokurtosis)
    for function in functions:
        assert peak(lambda function=function: function(row)) < max(1.5 * row.nbytes, 3e6), function
    for function in (*functions, orthokurtosis):
        assert function(row) == pytest.approx(function(wide), rel=1e-9, abs=1e-9), function
    assert orthokurtosis(row) == pytest.approx(orthokurtosis(wide), rel=1e-13)


@pytest.mark.parametrize("kind", ["int8", "uint16", "int32", "float32"])
def test_narrow_rows_are_refused_for_the_same(kind: str, way: str) -> None:
    n = 2**18
    rows = np.zeros((4, n))
    rows[1, ::2] = 1
    rows[2, : n // 4] = 3
    rows[2, -1] = 100
    rows[3] = np.arange(n) % 101
    for function in (orthokurtosis, decoupled_moments):
        values, outcomes = function(rows.astype(kind), axis=1, on_refusal="return")
        expected, reasons = function(rows, axis=1, on_refusal="return")
        assert outcomes == reasons and not outcomes[0].ok and not outcomes[2].ok
        assert values == pytest.approx(expected, rel=1e-6 if kind == "float32" else 1e-12, nan_ok=True)


@pytest.mark.parametrize("name", ["normal", "of 256 values", "single precision"])
def test_orders_up_to_four_are_the_named_statistics(name: str, way: str) -> None:
    sample = SAMPLES[name](np.random.default_rng(2)).astype(np.float64)
    values = decoupled_moments(sample)
    assert values[:3] == pytest.approx([sample.mean(), sample.var(), float(skewness(sample))], rel=1e-12, abs=1e-12)
    assert values[3] == pytest.approx(float(orthokurtosis(sample)), rel=1e-13)
    if name == "single precision":
        narrow = decoupled_moments(sample.astype(np.float32))
        assert narrow.dtype == np.float32 and narrow == pytest.approx(values, rel=1e-6, abs=1e-7)


def test_neighbours_do_not_matter(way: str) -> None:
    batch = np.random.default_rng(3).normal(size=(3, 2**17))
    together = decoupled_moments(batch, axis=1)
    alone = decoupled_moments(batch[1])
    assert np.array_equal(together[1], alone)
