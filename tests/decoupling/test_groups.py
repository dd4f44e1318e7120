"""Groups of features that are normalized together (Algorithm 4): one level, in any order inside."""

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from symdecouple import FeatureSet, Filter, FilterBank, Group, Mean, check_gradient, decouple, x
from symdecouple.errors import InvalidInput, NoClosedForm, SymdecoupleError
from symdecouple.families.filter_moments import filter_moments

BANK = FilterBank([[1, 1, 1], [-1, 0, 1], [-1, 2, -1]], names="lmh")
L, M, H = (Mean(h(x) ** 2) for h in BANK)
WIDE = Mean(Filter([1, 2, 4, 0, 3])(x) ** 2)  # independent of the three
SIGNAL = np.random.default_rng(5).gamma(2.0, size=24)
STEPS = (1, 3, 4, 9, 10)
MEAN, VARIANCE = Fraction(27, 5), 12.24
ORDERS = list(permutations(range(3)))[1::2]  # each feature comes first once


def grouped(*inner, before=(), after=(), **options):
    return decouple(FeatureSet([*before, Group(*inner), *after]), **options)


FAMILIES: dict[str, tuple[Any, Any, Callable[[Any], list[Any]], list[int], float]] = {
    "energies": ([L, M, H], WIDE, lambda y: [np.mean(h.apply(y) ** 2) for h in BANK], [3, 2, 6], 1e-11),
    "moments": ([Mean(x**k) for k in (1, 2, 3)], Mean(x**4), lambda y: [np.mean(y**k) for k in (1, 2, 3)], [0, 1, 0],
                1e-10)}


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("name", FAMILIES)
def test_any_order_gives_the_normalization_of_single_levels(name: str, order: tuple[int, ...]) -> None:
    inner, after, own, reference, near = FAMILIES[name]
    single, plan = decouple([*inner, after]), grouped(*(inner[i] for i in order), after=[after])
    reached, values = plan.normalize(SIGNAL), plan.transform(SIGNAL)
    np.testing.assert_allclose(own(reached), reference, rtol=0, atol=near)
    np.testing.assert_allclose(reached, single.normalize(SIGNAL), rtol=0, atol=10 * near)
    np.testing.assert_allclose(values[:3], np.array(own(SIGNAL))[list(order)], rtol=1e-12)  # not decoupled inside
    np.testing.assert_allclose(values[3], single.transform(SIGNAL)[3], rtol=1e-9)
    np.testing.assert_allclose(plan.denormalize(reached, values), SIGNAL, rtol=0, atol=1e-10)


@pytest.mark.parametrize("path", ["auto", "narrow"])
def test_the_feature_after_a_group_is_that_after_single_levels(path: str) -> None:
    single = decouple([L, M, H, WIDE], path=path)
    group = grouped(L, M, H, after=[WIDE], path=path)
    np.testing.assert_allclose(group.transform(SIGNAL)[3], single.transform(SIGNAL)[3], rtol=1e-8)
    np.testing.assert_allclose(group.gradients(SIGNAL)[3], single.gradients(SIGNAL)[3], rtol=0, atol=1e-7)


def test_columns_of_a_group_are_not_mutually_decoupled_but_from_the_others() -> None:
    plan = decouple(FeatureSet([L, Group(M, H), WIDE]))
    gradients = plan.gradients(SIGNAL)
    units = gradients / np.linalg.norm(gradients, axis=1, keepdims=True)
    cosines = units @ units.T
    assert abs(cosines[1, 2]) > 0.01
    np.testing.assert_allclose(cosines[0, 1:], 0, atol=1e-12)
    single = decouple([L, M, H, WIDE])
    for column, (features, j) in enumerate([([L, M], 1), ([L, H], 1)], 1):
        np.testing.assert_allclose(plan.transform(SIGNAL)[column], decouple(features).transform(SIGNAL)[j], rtol=1e-11)
    values = cache(lambda bits: plan.transform(np.frombuffer(bits)))  # the same displaced signals for each column
    for j in range(4):
        assert check_gradient(lambda y, j=j: values(y.tobytes())[j], SIGNAL, gradients[j]).agrees
    np.testing.assert_allclose(plan.transform(SIGNAL)[3], single.transform(SIGNAL)[3], rtol=1e-10)


def test_a_group_beyond_the_energies_takes_the_narrow_path() -> None:
    moments = filter_moments(FilterBank([[-1, 0, 1], [-1, 2, -1]]), [2, 3])
    plan = decouple(FeatureSet([moments[0], moments[1], Group(moments[2], moments[3]), Mean(x**4)]))
    single = decouple([*moments, Mean(x**4)])
    a, b = plan.transform(SIGNAL), single.transform(SIGNAL)
    np.testing.assert_allclose(a[[0, 1, 2, 4]], b[[0, 1, 2, 4]], rtol=1e-6)
    third, fourth = (Mean(h(x) ** 3) for h in FilterBank([[-1, 0, 1], [-1, 2, -1]]))
    assert abs(a[3] - b[3]) > 1e-6  # the fourth at the level of the third
    swapped = decouple(FeatureSet([moments[0], moments[1], Group(fourth, third), Mean(x**4)])).transform(SIGNAL)
    np.testing.assert_allclose(swapped[[0, 1, 2, 3]], a[[0, 1, 3, 2]], rtol=1e-9)


@pytest.mark.parametrize("method", ["normalize", "denormalize", "normalizer"])
def test_no_level_ends_inside_a_group(method: str) -> None:
    plan = decouple(FeatureSet([L, Group(M, H), WIDE]))
    calls = {"normalize": [(SIGNAL, 2)], "denormalize": [(SIGNAL, np.ones(4), 2), (SIGNAL, np.ones(2))],
             "normalizer": [(2,)]}
    for arguments in calls[method]:
        with pytest.raises(InvalidInput, match=r"level 2 is inside a group of features.*levels are 1, 3, 4"):
            getattr(plan, method)(*arguments)


def test_a_group_that_is_out_of_reach_is_refused_by_name() -> None:
    plan = decouple(FeatureSet([Group(L, M), H]))
    values, (outcome,) = plan.transform(np.full(12, 3.0), on_refusal="return")
    assert not outcome.ok and outcome.reason
    assert np.isfinite(values[:2]).all() and np.isnan(values[2])


def test_a_single_feature_is_no_group() -> None:
    with pytest.raises(SymdecoupleError):
        Group()
    with pytest.raises(NoClosedForm):
        decouple(FeatureSet([Group(Mean(x), Mean(x**3)), Mean(x**2)]), path="parallel").transform(SIGNAL)


@pytest.mark.parametrize("base", [2**53, 2**60, 10**25])
@pytest.mark.parametrize("kind", [int, Fraction, np.int64])
def test_groups_are_taken_about_the_mean_before_them(base: int, kind: Callable[[int], Any]) -> None:
    """Exact central moments; at level 3 those of the references, with the cross ratios of the steps (Theorem B)."""
    if kind is np.int64 and base > 2**62:
        return
    plan = decouple(FeatureSet([Mean(x), Group(Mean(x**2), Mean(x**3))]), [0, 1, Fraction(3, 10)])
    sample = [kind(base + k) for k in STEPS]
    third = float(sum((k - MEAN) ** 3 for k in STEPS) / 5)
    np.testing.assert_allclose(plan.transform(sample), [float(base + MEAN), VARIANCE, third], rtol=1e-14)
    for level in (1, None):  # the default: the last one before the group
        np.testing.assert_allclose(plan.normalize(sample, level), [float(k - MEAN) for k in STEPS], rtol=1e-15,
                                   atol=1e-15)
    z = plan.normalize(sample, 3)
    np.testing.assert_allclose([np.mean(z**k) for k in (1, 2, 3)], [0, 1, 0.3], atol=1e-13)
    ratios = [(a - c) * (b - d) / ((a - d) * (b - c)) for a, b, c, d in (STEPS[:4], z[:4], STEPS[1:], z[1:])]
    np.testing.assert_allclose(ratios[1::2], ratios[::2], rtol=1e-12)


@pytest.mark.parametrize("base", [2**53, 2**60, 10**25])
def test_a_group_after_two_moments_sees_exact_differences(base: int) -> None:
    """Mean and variance in fractions, from the third on the central moments of the standardized sample."""
    plan = decouple(FeatureSet([Mean(x), Mean(x**2), Group(Mean(x**3), Mean(x**4))]), [0, 1, 0, 3])
    third, fourth = (float(sum((k - MEAN) ** order for k in STEPS) / 5) / VARIANCE ** (order / 2) for order in (3, 4))
    sample = [base + k for k in STEPS]
    np.testing.assert_allclose(plan.transform(sample), [float(base + MEAN), VARIANCE, third, fourth], rtol=1e-14)
    np.testing.assert_allclose(plan.normalize(sample), [float(k - MEAN) / VARIANCE**0.5 for k in STEPS], rtol=1e-14)
