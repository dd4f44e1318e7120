"""The search from zero against closed forms, and where the weights span many orders of magnitude."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from symdecouple.numeric.energies import tilting
from symdecouple.numeric.energies.eigenvalues import Columns
from symdecouple.numeric.energies.tilting import Problems, sums, tilt


def problems(bank: np.ndarray, shares: np.ndarray, targets: np.ndarray, log_scale: float = 0.0,
             wanted: np.ndarray | None = None) -> Problems:
    count = len(shares)
    return Problems(Columns(bank, (bank.shape[1],)), shares, np.arange(count),
                    np.ones((count, len(bank)), dtype=np.bool_) if wanted is None else wanted.astype(np.bool_),
                    np.tile(targets, (count, 1)), np.full(count, log_scale))


@pytest.mark.parametrize("log_scale", [0.0, 300.0])
def test_frequencies_apart(log_scale: float) -> None:
    """Where each feature has a frequency of its own, exp(a) is the quotient of target and weight."""
    shares = np.array([[1e-30, 0.3, 0.7 - 1e-30], [0.5, 1e-12, 0.5]])
    targets = np.array([1.0, 1e-3, 0.4])
    found = tilt(problems(np.eye(3), shares, targets, log_scale), 40)
    assert found.converged.all()
    np.testing.assert_allclose(found.parameters, np.log(targets) + log_scale - np.log(shares), rtol=1e-13)


def test_features_that_are_not_wanted_stay() -> None:
    """With a_1 given, w = (1, 1) and (0, 1): p_1 e^a1 stays, p_2 e^(a1 + a2) is the target of the second."""
    shares, given = np.array([[0.25, 0.75]]), np.array([[1.5, 9.0]])
    some = problems(np.array([[1.0, 1.0], [0.0, 1.0]]), shares, np.array([0.0, 2.0]), wanted=np.array([[0, 1]]))
    found = tilt(some, 40, given)
    assert found.converged.all()
    np.testing.assert_allclose(found.parameters, [[1.5, np.log(2 / 0.75) - 1.5]], rtol=1e-13)


@pytest.mark.parametrize("seed", range(6))
def test_weights_over_fifty_orders_of_magnitude(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Signed features in general position and targets that some weights have; silent frequencies do not count."""
    rng = np.random.default_rng(seed)
    bank = rng.normal(size=(5, 9))
    shares = np.exp(rng.uniform(-115, 0, size=(1, 9)))
    shares[0, 4] = 0
    weights = np.exp(2 * rng.normal(size=9)) * (shares[0] > 0)
    looked_at = list[int]()
    monkeypatch.setattr(tilting, "sums", lambda *given: looked_at.append(1) or sums(*given))
    found = tilt(problems(bank, shares, bank @ weights), 150)
    assert found.converged.all()
    reached = shares[0] * np.exp(found.parameters[0] @ bank)
    np.testing.assert_allclose(bank @ reached, bank @ weights, atol=1e-11 * (np.abs(bank) @ weights).max())
    assert len(looked_at) < 200


def test_no_solution_is_said() -> None:
    found = tilt(problems(np.array([[1.0, 2.0]]), np.array([[0.5, 0.5]]), np.array([-1.0])), 400)
    assert not found.converged.any()


FAR = [(25, -200.0), (3, -200.0), (11, -50.0), (7, 200.0)]


def far_apart(seed: int, log_scale: float) -> tuple[Problems, np.ndarray, np.ndarray]:
    """One feature that is felt over fifteen orders of magnitude, to be brought to e^log_scale of what it is."""
    rng = np.random.default_rng(seed)
    bank = np.exp(-rng.uniform(0, 35, size=(1, 40)))
    shares = rng.random((1, 40))
    return problems(bank, shares, bank @ shares[0], log_scale), bank[0], shares[0]


@pytest.mark.parametrize(("seed", "log_scale"), FAR)
def test_far_units_end_where_rounding_ends_them(monkeypatch: pytest.MonkeyPatch, seed: int, log_scale: float) -> None:
    """Frequencies that have lost all power are told apart by ever so long steps, which change no sum: those of mpmath.
    """
    some, bank, shares = far_apart(seed, log_scale)
    looked_at = list[int]()
    monkeypatch.setattr(tilting, "sums", lambda *given: looked_at.append(1) or sums(*given))
    found = tilt(some, 400)
    assert found.converged[0] and len(looked_at) < 150
    with mpmath.workdps(60):
        w, p = ([mpmath.mpf(float(v)) for v in each] for each in (bank, shares))
        goal = mpmath.fsum(map(mpmath.fmul, w, p)) * mpmath.exp(mpmath.mpf(log_scale))
        low, high = mpmath.mpf(-1e18), mpmath.mpf(400)
        for _ in range(260):
            middle = (low + high) / 2
            total = mpmath.fsum(p[k] * w[k] * mpmath.exp(middle * w[k]) for k in range(40))
            low, high = (middle, high) if total < goal else (low, middle)
        wanted = [float(p[k] * w[k] * mpmath.exp(low * w[k]) / goal) for k in range(40)]
        reached = [float(p[k] * w[k] * mpmath.exp(mpmath.mpf(found.parameters[0, 0]) * w[k]) / goal) for k in range(40)]
    assert np.abs(np.array(reached) - wanted).max() < 1e-10


def wide_apart(seed: int) -> Problems:
    """Four features and twelve frequencies, whose weights and factors span many orders of magnitude."""
    rng = np.random.default_rng(seed)
    bank = rng.random((4, 12)) ** 4
    shares = np.exp(10 * rng.normal(size=12))
    shares /= shares.sum()
    targets = bank @ (shares * np.exp(10 * rng.normal(size=4) @ bank))
    largest = float(targets.max())
    return problems(bank, shares[None], targets / largest, np.log(largest))


WIDE = [104, 557, 733, 1342]  # of 1500, those on which a search by logarithms of sums goes to and fro for ever


@pytest.mark.parametrize("seed", WIDE)
def test_weights_that_are_far_apart_are_found_soon(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    looked_at = list[int]()
    monkeypatch.setattr(tilting, "sums", lambda *given: looked_at.append(1) or sums(*given))
    found = tilt(wide_apart(seed), 400)
    assert found.converged[0] and found.residual[0] < 1e-13 and len(looked_at) < 100
