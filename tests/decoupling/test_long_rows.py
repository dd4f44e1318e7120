"""One very long sample through a plan of moments: the room it takes, and that its type does not matter."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from sympy import exp

from symdecouple import decouple
from symdecouple.families.moments import raw_moments
from symdecouple.language.mean import Mean
from symdecouple.language.sample import x as X
from tests.traced import peak

N = 2**17 + 1
PLAN = decouple(raw_moments(4), [3, 13, 63, 380])
OTHERS = decouple([Mean(X), Mean(exp(-X / 4096))], [3000, 0.5])


def test_room_beside_one_long_sample() -> None:
    """Samples at a level: the answer, the level before it, a slope or a part."""
    x = 1e3 + np.random.default_rng(1).laplace(size=N)
    values, normal = PLAN.transform(x), PLAN.normalize(x)
    assert peak(lambda: PLAN.transform(x)) < 3 * x.nbytes + 2**20
    assert peak(lambda: PLAN.normalize(x)) < 4 * x.nbytes
    back = PLAN.denormalize(normal, values)
    assert np.abs(back - x).max() <= 1e-9 * x.std()


@pytest.mark.parametrize("kind", ["uint16", "float32"])
def test_narrow_samples_move_as_wide_ones(kind: str) -> None:
    """Beside a constant one, to no level too, and through a plan of other features than moments."""
    rng = np.random.default_rng(5)
    x = np.round(3000 + np.clip(rng.laplace(0, 200, (2, N)), -2500, 2500)).astype(kind)
    x[1] = 7
    wide = x.astype(np.float64)
    digits = {"rtol": 1e-5, "atol": 1e-5} if kind == "float32" else {"rtol": 1e-11, "atol": 1e-11}
    levels = [partial(PLAN.normalize, level=level) for level in (0, 1, 3)]
    for ask in (PLAN.transform, OTHERS.transform, PLAN.gradients, *levels):
        (found, outcomes), (expected, reasons) = ask(x, on_refusal="return"), ask(wide, on_refusal="return")
        assert [one.reason for one in outcomes] == [one.reason for one in reasons]
        assert outcomes[0].ok
        np.testing.assert_allclose(found, expected, **digits)
