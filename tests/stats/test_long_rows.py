"""One very long sample: what it takes beside itself, and that narrow types give what float64 gives."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from symdecouple.numeric.kernels import compile as jit
from symdecouple.numeric.moments import moment_path_kernel
from symdecouple.stats import (
    circular_shape,
    decoupled_moments,
    estimate_moments,
    kurtosis,
    log_shape,
    match,
    orthokurtosis,
    skewness,
    standardized_moments,
)
from tests.traced import peak

N = 2**18
FUNCTIONS: list[Callable[..., Any]] = [
    skewness, kurtosis, orthokurtosis, standardized_moments, partial(decoupled_moments, order=4),
]


@pytest.fixture(params=["NumPy", "compiled"])
def way(request: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "compiled":
        pytest.importorskip("numba")
        if not moment_path_kernel.KERNELS.are_warm():
            moment_path_kernel.warm()
        monkeypatch.setattr(jit.Kernels, "are_wanted", lambda self, n_elements: True)
        decoupled_moments(np.random.default_rng(0).exponential(size=2000))  # loads numba
    else:
        monkeypatch.setattr(jit.Kernels, "are_wanted", lambda self, n_elements: False)
    return str(request.param)


@pytest.mark.parametrize("name", ["exponential", "of 256 values"])
def test_room_beside_one_long_sample(name: str, way: str) -> None:
    rng = np.random.default_rng(1)
    sample = rng.exponential(size=N) if name == "exponential" else np.floor(np.clip(rng.gamma(4, 20, size=N), 0, 255))
    for function in FUNCTIONS if way == "NumPy" else [*FUNCTIONS, decoupled_moments]:
        assert peak(lambda function=function: function(sample)) < 3 * sample.nbytes + 2**20, function


ROADS: dict[str, tuple[Callable[..., Any], float]] = {  # and the samples that they take
    "estimates": (estimate_moments, 6), "logarithms": (log_shape, 5.2), "angles": (circular_shape, 9.5),
    "matched": (partial(match, skewness=0.3, kurtosis=4.0), 4.2),
    "matched with weights": (
        partial(match, skewness=0.3, kurtosis=4.0, weights=np.random.default_rng(5).uniform(0.5, 2, N)), 7.5),
    "weighted": (partial(decoupled_moments, weights=np.random.default_rng(5).uniform(0.5, 2, N)), 3.2),
    "squares": (lambda x: decoupled_moments(np.square(np.square(x), out=SQUARES)), 1.7)}
SQUARES = np.empty(N)


@pytest.mark.parametrize("name", ROADS)
def test_other_functions_of_one_long_sample(name: str) -> None:
    function, samples = ROADS[name]
    sample = np.random.default_rng(1).exponential(size=N)
    given = sample.copy()
    function(sample)  # numba is loaded now
    assert peak(lambda: function(sample)) < samples * sample.nbytes
    assert (sample == given).all()


@pytest.mark.parametrize("kind", ["int8", "uint16", "int32", "float32"])
def test_narrow_rows_are_answered_and_refused_as_wide_ones(kind: str, way: str) -> None:
    rows = np.zeros((5, N))
    rows[1, ::2] = 1
    rows[2, : N // 4] = 3
    rows[2, -1] = 100
    rows[3] = np.arange(N) % 101
    rows[4] = np.round(np.random.default_rng(4).exponential(10, N)) % 127
    for function in FUNCTIONS:
        values, outcomes = function(rows.astype(kind), axis=1, on_refusal="return")
        expected, reasons = function(rows, axis=1, on_refusal="return")
        assert outcomes == reasons and not outcomes[0].ok
        assert values == pytest.approx(expected, rel=1e-6 if kind == "float32" else 1e-12, nan_ok=True), function


@pytest.mark.usefixtures("way")
def test_orders_up_to_four_are_the_named_statistics() -> None:
    sample = np.random.default_rng(2).normal(size=N)
    values = decoupled_moments(sample, order=4)
    assert values[:3] == pytest.approx([sample.mean(), sample.var(), float(skewness(sample))], rel=1e-12, abs=1e-12)
    assert values[3] == pytest.approx(float(orthokurtosis(sample)), rel=1e-13)
