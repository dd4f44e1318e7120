"""Influence functions of decoupled moments: differences by the weights, closed forms, and laws as oracles."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.polynomial import hermite_e
from scipy import stats

from symdecouple.numeric.moments import influence
from symdecouple.numeric.moments.influence import decoupled_influences, standardized_influences
from symdecouple.stats import decoupled_moments, match, standardized_moments
from tests.numeric.moments.test_moment_path_kernel import goal
from tests.stats.oracle import orthokurtosis

RNG = np.random.default_rng(5)
NORMAL = stats.norm.ppf((np.arange(400) + 0.5) / 400)
SAMPLES = {
    "near normal": RNG.standard_normal(60),
    "skewed": np.exp(0.7 * RNG.standard_normal(80)),
    "far away, tied": 1e5 + np.round(3 * RNG.standard_normal(90)),
}


def by_weights(function: object, x: np.ndarray, order: int, entries: np.ndarray) -> np.ndarray:
    """Central differences by the weight of some entries, (order, entries), in standard units."""
    step, n = 1e-4, len(x)
    weights = np.ones((2 * len(entries), n))
    rows = np.arange(len(entries))
    weights[rows, entries] += step
    weights[len(entries) + rows, entries] -= step
    values = function(np.broadcast_to(x, weights.shape), order, axis=1, weights=weights)  # type: ignore[operator]
    psi = n * (values[: len(entries)] - values[len(entries) :]).T / (2 * step)
    psi[0] /= x.std()
    psi[1] /= x.var()
    return np.asarray(psi)


@pytest.mark.parametrize("name", SAMPLES)
def test_differences_by_weights_agree(name: str) -> None:
    x, entries = SAMPLES[name], np.array([0, 17, 59])
    for function, found in ((decoupled_moments, decoupled_influences(x[None], 6, goal(6))),
                            (standardized_moments, standardized_influences(x[None], 6))):
        expected, size = by_weights(function, x, 6, entries), np.abs(found.psi[0]).max(axis=1)
        assert (np.abs(found.psi[0][:, entries] - expected).max(axis=1) < 1e-6 * size).all()
        assert found.values[0] == pytest.approx(function(x, 6), rel=1e-9, abs=1e-9)
        assert np.abs(found.psi[0].mean(axis=1)).max() < 1e-10 * size.max()


def test_the_orthokurtosis_has_a_closed_form_at_zero_skewness() -> None:
    """psi = y^4 - 2 k y^2 + k - (4 m_5/(k - 1)) (y^3/3 - y), of a symmetric sample, where y is z and m_5 is 0."""
    x = np.array([-5.0, -2, -1, 0, 1, 2, 5])
    z = x / x.std()
    kappa = (z**4).mean()
    found = decoupled_influences(x[None], 4, goal(4))
    assert found.psi[0, 3] == pytest.approx(z**4 - 2 * kappa * z**2 + kappa, abs=1e-12)


def test_normal_laws_have_hermite_polynomials() -> None:
    """Nodes of Gauss and Hermite with their weights have all moments that enter: at every level from the start."""
    nodes, weights = hermite_e.hermegauss(24)
    found = decoupled_influences(nodes[None], 8, goal(8), weights[None].astype(np.float64)).psi[0]
    for k in range(1, 9):
        hermite = hermite_e.hermeval(nodes, [0] * k + [1])
        error = np.abs(found[k - 1] - hermite) / np.abs(hermite).max()
        assert error.max() < 1e-9, k


def test_samples_that_are_at_a_level_are_no_exception() -> None:
    """Kurtosis 3 to rounding, where the path has no step, and next to it."""
    x = match(SAMPLES["near normal"], mean=0, variance=1, skewness=0, kurtosis=3).values
    at, near = decoupled_influences(np.stack([x, x + 1e-9 * RNG.standard_normal(60)]), 6, goal(6)).psi
    assert at == pytest.approx(near, abs=1e-6 * np.abs(near).max())


def test_weights_are_repetitions() -> None:
    x, weights = SAMPLES["skewed"], RNG.integers(1, 4, 80)
    one = decoupled_influences(x[None], 6, goal(6), 0.125 * weights[None])
    other = decoupled_influences(np.repeat(x, weights)[None], 6, goal(6))
    assert one.values == pytest.approx(other.values, rel=1e-9, abs=1e-9)
    assert np.repeat(one.psi[0], weights, axis=1) == pytest.approx(other.psi[0], rel=1e-7, abs=1e-7)


def test_long_samples_go_by_their_bins(monkeypatch: pytest.MonkeyPatch) -> None:
    """And give what their entries give."""
    rows = np.stack([NORMAL[RNG.integers(400, size=5000)] + 0.01 * RNG.standard_normal(5000),
                     RNG.gamma(4, size=5000)])
    by_bins = decoupled_influences(rows, 6, goal(6))
    monkeypatch.setattr(influence, "FROM_ENTRIES", 5001)
    by_entries = decoupled_influences(rows, 6, goal(6))
    assert by_bins.psi == pytest.approx(by_entries.psi, rel=1e-7, abs=1e-7)


def test_rows_without_a_level_are_nan_from_there_on_and_leave_others_alone() -> None:
    fine = SAMPLES["near normal"][:12]
    rows = np.stack([fine, np.full(12, 3.0), np.repeat([0.0, 1, 2, 3], [9, 1, 1, 1]), fine])
    found = decoupled_influences(rows, 5, goal(5))
    alone = decoupled_influences(fine[None], 5, goal(5))
    assert {i: o.reason for i, o in found.refusals.items()} == {1: "zero variance", 2: "no zero-skew point"}
    assert np.array_equal(found.psi[[0, 3]], np.repeat(alone.psi, 2, axis=0))
    assert np.isfinite(found.psi[2, :3]).all() and np.isnan(found.psi[2, 3:]).all()
    assert (found.psi[1, :2] == 0).all() and np.isnan(found.psi[1, 2:]).all()


@pytest.mark.parametrize("gap", [1e-2, 1e-4, 1e-6, 1e-8, 1e-9, 1e-12])
def test_two_of_four_values_near_each_other(gap: float) -> None:
    """1e-8 of the orthokurtosis, by the weight of one entry in 80 digits, or a refusal."""
    x, step = np.array([0, gap, 1, 2]), Fraction(1, 10**15)
    found = decoupled_influences(x[None], 4, (1, 0, 1, 0))
    if 0 in found.refusals:
        assert found.refusals[0].reason == "beyond float64" and np.isnan(found.psi[0, 3]).all() and gap < 1e-7
        return
    for i in range(4):
        up, down = (orthokurtosis(x.tolist(), dps=80, weights=[(1 - s) / 4 + s * (i == j) for j in range(4)])
                    for s in (step, -step))
        assert found.psi[0, 3, i] == pytest.approx(float((up - down) * 10**15 / 2), rel=0, abs=1e-8)
