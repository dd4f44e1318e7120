"""Feature sets with filters given by frequency responses: what is bound, values, gradients, plans, by transforms."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from symdecouple import FeatureSet, Filter, FilterBank, InvalidInput, Mean, decouple, x
from symdecouple.families.quadratic import second_order_moments

RNG = np.random.default_rng(3)
GRIDS = ((10,), (3, 4))
RESPONSES = {grid: [np.fft.fftn(RNG.normal(size=grid)) for _ in range(2)] for grid in GRIDS}


def features_on(grid: tuple[int, ...]) -> FeatureSet:
    h, g = (Filter.from_response(values, name) for values, name in zip(RESPONSES[grid], "hg", strict=True))
    return FeatureSet([Mean(x), Mean(h(x) ** 2), Mean(g(x) ** 3), Mean(g.adjoint(x) * h(x**2)),
                       Mean(h(x - Mean(x) + 2) ** 3), Mean(h(g(x)) * x)])


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_nothing_is_left_to_bind_and_names_can_be(grid: tuple[int, ...]) -> None:
    features = features_on(grid)
    assert features.parameters == frozenset() and all(f.parameters == frozenset() for f in features)
    assert features.filter_ndim == len(grid) and not features.bind({}).parameters
    assert pickle.loads(pickle.dumps(features)) == features != features.bind({"h": Filter("k", ndim=len(grid))})
    taps = np.arange(1, 10).reshape(3, 3) if len(grid) == 2 else [1, 2, 3]
    bound = features.bind({"h": taps, "g": taps})
    assert bound[1] == FeatureSet([Mean(Filter(taps)(x) ** 2)])[0]
    assert features_on(grid) == features  # the same values under the same names, however often they are declared
    with pytest.raises(InvalidInput, match="no exact taps"):
        features.at(n_samples=grid)


def test_names_with_other_values_do_not_stand_together() -> None:
    one, other = (Filter.from_response([1, k, 2, k], "h") for k in (0, 1))
    assert one != other and Mean(one(x) ** 2) != Mean(other(x) ** 2)


# Bands that do not overlap: each energy moves its own frequencies only

BANDS = np.array([[0, 1, 0.5, 0, 0, 0, 0, 0.5, 1], [0, 0, 0, 1, 2, 2, 1, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0, 0]], float)


def test_energies_of_bands_apart_are_decoupled_already() -> None:
    rows = np.random.default_rng(6).normal(size=(4, 9))
    power = abs(np.fft.fft(rows) / 9) ** 2
    energies = power @ (BANDS**2).T
    plan = decouple(second_order_moments(FilterBank.from_responses(BANDS)), [2, 0.5, 1])
    np.testing.assert_allclose(plan.transform(rows), energies, rtol=1e-12)
    there = abs(np.fft.fft(plan.normalize(rows)) / 9) ** 2 @ (BANDS**2).T
    np.testing.assert_allclose(there[:, :2], np.tile([2, 0.5], (4, 1)), rtol=1e-12)
    np.testing.assert_allclose(there[:, 2], energies[:, 2], rtol=1e-12)
    gradients = 2 * np.fft.ifft(np.fft.fft(rows)[:, None] * BANDS**2).real / 9
    np.testing.assert_allclose(plan.gradients(rows), gradients, rtol=1e-11, atol=1e-13)


def test_a_plan_has_the_size_of_its_responses() -> None:
    plan = decouple(second_order_moments(FilterBank.from_responses(BANDS)), [2, 0.5, 1])
    with pytest.raises(InvalidInput, match="9 frequencies"):
        plan.transform(np.ones((2, 8)))
