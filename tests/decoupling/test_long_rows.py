"""One very long sample through a plan of moments: the room it takes, and that its numbers are the usual ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symdecouple import decouple
from symdecouple.families.moments import raw_moments
from symdecouple.numeric import jit
from symdecouple.numeric.long_rows import jit as moment_long_rows_jit, parts as moment_long_rows
from symdecouple.numeric.moebius import jit as moebius_jit
from symdecouple.numeric.moment_path import jit as moment_path_jit
from symdecouple.numeric.riccati import jit as riccati_jit
from tests.traced import peak

N = 2**18
PLAN = decouple(raw_moments(6), [3, 13, 63, 380, 2300, 16000])
SAMPLES = {
    "gamma": lambda rng, n: rng.gamma(3.0, size=n),
    "Laplace": lambda rng, n: 1e3 + rng.laplace(size=n),
    "of 256 values": lambda rng, n: np.floor(np.clip(rng.gamma(4, 20, size=n), 0, 255)),
}


@pytest.fixture(params=["NumPy", "compiled"], autouse=True)
def _way(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "compiled":
        pytest.importorskip("numba")
        for module in (moebius_jit, riccati_jit, moment_path_jit, moment_long_rows_jit):
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
    monkeypatch.setattr(moment_long_rows, "LONG", 2**14)
    monkeypatch.setattr("symdecouple.numeric.moment_levels.levels.LONG", 2**14)
    np.testing.assert_allclose(PLAN.transform(x), values, rtol=1e-9)
    np.testing.assert_allclose(PLAN.normalize(x), normal, rtol=0, atol=2e-12 * normal.std())
    np.testing.assert_allclose(PLAN.denormalize(normal, values), back, rtol=0, atol=1e-9 * x.std())
