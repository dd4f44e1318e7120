"""One very long sample through a plan of moments: the room it takes, and that its numbers are the usual ones."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from sympy import exp

from symdecouple import decouple
from symdecouple.families.moments import raw_moments
from symdecouple.language.mean import Mean
from symdecouple.language.sample import x as X
from symdecouple.numeric.kernels import compile as jit
from symdecouple.numeric.moments import (
    long_jit,
    long_parts,
    moment_path_kernel,
    skewness_flow_jit,
    skewness_root_jit,
)
from tests.traced import peak

N = 2**18
PLAN = decouple(raw_moments(6), [3, 13, 63, 380, 2300, 16000])
OTHERS = decouple([Mean(X), Mean(exp(-X / 4096))], [3000, 0.5])
SAMPLES = {
    "gamma": lambda rng, n: rng.gamma(3.0, size=n),
    "Laplace": lambda rng, n: 1e3 + rng.laplace(size=n),
    "of 256 values": lambda rng, n: np.floor(np.clip(rng.gamma(4, 20, size=n), 0, 255)),
}


@pytest.fixture(params=["NumPy", "compiled"], autouse=True)
def _way(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "compiled":
        pytest.importorskip("numba")
        for module in (skewness_root_jit, skewness_flow_jit, moment_path_kernel, long_jit):
            if not module.KERNELS.are_warm():
                module.warm()
    monkeypatch.setattr(jit.Kernels, "are_wanted", lambda self, n_elements: request.param == "compiled")


@pytest.mark.parametrize("name", ["Laplace", "of 256 values"])
def test_room_beside_one_long_sample(name: str) -> None:
    """Samples at a level: the answer, the level before it, a slope or a part."""
    x = SAMPLES[name](np.random.default_rng(1), N)
    values, normal = PLAN.transform(x), PLAN.normalize(x)
    assert peak(lambda: PLAN.transform(x)) < 1.5 * x.nbytes
    assert peak(lambda: PLAN.normalize(x)) < 4 * x.nbytes
    assert peak(lambda: PLAN.denormalize(normal, values)) < 4 * x.nbytes
    back = PLAN.denormalize(normal, values)
    assert np.abs(back - x).max() <= 1e-9 * x.std()


@pytest.mark.parametrize("name", SAMPLES)
def test_numbers_are_those_of_samples_that_are_not_long(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = SAMPLES[name](np.random.default_rng(2), 2**14)
    values, normal = PLAN.transform(x), PLAN.normalize(x)
    back = PLAN.denormalize(normal, values)
    monkeypatch.setattr(long_parts, "LONG", 2**14)
    monkeypatch.setattr("symdecouple.numeric.moments.levels.LONG", 2**14)
    np.testing.assert_allclose(PLAN.transform(x), values, rtol=1e-9)
    np.testing.assert_allclose(PLAN.normalize(x), normal, rtol=0, atol=2e-12 * normal.std())
    np.testing.assert_allclose(PLAN.denormalize(normal, values), back, rtol=0, atol=1e-9 * x.std())


@pytest.mark.parametrize("kind", ["int8", pytest.param("int32", marks=pytest.mark.slow), "float32"])
def test_narrow_samples_are_read_where_they_lie(kind: str) -> None:
    """Features and gradients are those of the same numbers in float64; these are never made for the row."""
    rng, n = np.random.default_rng(4), 2**19
    x = (np.clip(rng.laplace(size=n), -12, 12) * {"int8": 9, "int32": 2**24, "float32": 1}[kind]).astype(kind)
    wide, single = x.astype(np.float64), kind == "float32"
    values, gradients = PLAN.transform(x), PLAN.gradients(x)
    assert values.dtype == gradients.dtype == (np.float32 if single else np.float64)
    np.testing.assert_allclose(values, PLAN.transform(wide), rtol=1e-6 if single else 1e-12)
    exact = PLAN.gradients(wide)
    largest = np.abs(exact).max(axis=1, keepdims=True)
    assert (np.abs(gradients - exact) <= (2.0**-22 if single else 1e-10) * largest).all()
    assert peak(lambda: PLAN.transform(x)) < max(1.5 * x.nbytes, 3e6)
    assert peak(lambda: PLAN.gradients(x)) < gradients.nbytes + max(1.5 * x.nbytes, 4.5e6)


@pytest.mark.parametrize("kind", ["uint16", "float32"])
def test_narrow_samples_move_as_wide_ones(kind: str) -> None:
    """Beside a constant one, to no level too, and through a plan of other features than moments."""
    rng, n = np.random.default_rng(5), 2**17 + 1
    x = np.round(3000 + np.clip(rng.laplace(0, 200, (2, n)), -2500, 2500)).astype(kind)
    x[1] = 7
    wide = x.astype(np.float64)
    digits = {"rtol": 1e-5, "atol": 1e-5} if kind == "float32" else {"rtol": 1e-11, "atol": 1e-11}
    levels = [partial(PLAN.normalize, level=level) for level in (0, 1, 5)]
    for ask in (PLAN.transform, OTHERS.transform, *levels):
        (found, outcomes), (expected, reasons) = ask(x, on_refusal="return"), ask(wide, on_refusal="return")
        assert [one.reason for one in outcomes] == [one.reason for one in reasons]
        assert outcomes[0].ok
        np.testing.assert_allclose(found, expected, **digits)
