"""Features that are no moments, along the narrow path: samples come back, and what was imposed holds."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from sympy import cosh, log, tanh

from symdecouple.decoupling.plan import Plan, decouple
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.filters import Filter
from symdecouple.language.mean import Mean
from symdecouple.language.sample import x
from symdecouple.numeric.paths.narrow_path_adjoint import check_gradient

GENERIC = [Mean(x), Mean(x**2), Mean(log(cosh(x))), Mean(tanh(x))]
SHARP = Filter([-1, 3, -1])
KINDS = ("normal", "exponential")


@pytest.fixture(scope="module")
def plan() -> Plan:
    return decouple(GENERIC, path="narrow")


def data(kind: str, n: int) -> Any:
    return getattr(np.random.default_rng(n), kind)(size=(4, n))


def features(rows: Any) -> Any:
    return np.stack([rows.mean(axis=1), (rows**2).mean(axis=1), np.log(np.cosh(rows)).mean(axis=1),
                     np.tanh(rows).mean(axis=1)], axis=1)


def test_the_references_are_those_of_a_gaussian(plan: Plan) -> None:
    with mpmath.workdps(30):
        expected = mpmath.quad(lambda z: mpmath.log(mpmath.cosh(z)) * mpmath.npdf(z), mpmath.linspace(-30, 30, 13))
        assert abs(mpmath.mpf(str(plan.reference[2])) - expected) < mpmath.mpf(10) ** -25
    assert (plan.reference[0], plan.reference[1], plan.reference[3]) == (0, 1, 0)


@pytest.mark.parametrize("level", [3, 4])
@pytest.mark.parametrize("n", [16, 100])
@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_comes_back(plan: Plan, kind: str, n: int, level: int) -> None:
    rows = data(kind, n)
    values, ends = plan.transform(rows), plan.normalize(rows, level)
    references = np.array([0, 1, float(plan.reference[2] or 0), 0])
    np.testing.assert_allclose(features(ends)[:, :level], np.tile(references[:level], (4, 1)), atol=1e-14)
    assert np.abs(ends - rows).max() > 0.2
    np.testing.assert_allclose(plan.denormalize(ends, values, level), rows, rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_levels_are_shift_and_scale(plan: Plan, kind: str) -> None:
    rows = data(kind, 16)
    z = (rows - rows.mean(axis=1, keepdims=True)) / rows.std(axis=1, keepdims=True)
    np.testing.assert_allclose(plan.normalize(rows, 2), z, rtol=0, atol=1e-11)
    expected = np.stack([rows.mean(axis=1), rows.var(axis=1), np.log(np.cosh(z)).mean(axis=1)], axis=1)
    np.testing.assert_allclose(plan.transform(rows)[:, :3], expected, rtol=1e-11)


def test_gradients_by_their_differences(plan: Plan) -> None:
    row = data("exponential", 16)[0]
    gradient = plan.gradients(row)
    judged = check_gradient(lambda y: float(plan.transform(y)[3]), row, gradient[3], n_directions=1)
    assert judged.error < 1e-11 and judged.order > 1.9
    unit = gradient / np.linalg.norm(gradient, axis=1, keepdims=True)
    assert np.abs(unit[:3] @ unit[:3].T - np.eye(3)).max() < 1e-9  # mean, variance and any third feature (Theorem D)


def test_closed_forms_lead_to_the_same_place(plan: Plan) -> None:
    """Formulas at first, and the narrow path from the feature on whose flow has none."""
    rows = data("normal", 16)
    mixed = decouple(GENERIC)
    notes = mixed.explain().notes
    assert [note.method for note in notes][2:] == ["narrow path", "narrow path"]
    assert "no closed form was found" in notes[3].reason
    np.testing.assert_allclose(mixed.transform(rows), plan.transform(rows), rtol=0, atol=1e-11)


# --- filtered features ---


@pytest.fixture(scope="module")
def filtered() -> Plan:
    return decouple([Mean(x), Mean(SHARP(x) ** 2), Mean(SHARP(x) ** 4), Mean(x**4)], [0, 11, 363, 3], path="narrow")


@pytest.mark.parametrize("kind", KINDS)
def test_filtered_samples_come_back(filtered: Plan, kind: str) -> None:
    rows = data(kind, 64)
    values, ends = filtered.transform(rows), filtered.normalize(rows, 4)
    sharp = 3 * ends - np.roll(ends, 1, axis=1) - np.roll(ends, -1, axis=1)
    found = np.stack([ends.mean(axis=1), (sharp**2).mean(axis=1), (sharp**4).mean(axis=1), (ends**4).mean(axis=1)],
                     axis=1)
    np.testing.assert_allclose(found, np.tile([0, 11, 363, 3], (4, 1)), rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(filtered.denormalize(ends, values, 4), rows, rtol=0, atol=1e-10)


def test_a_filter_energy_is_imposed_in_the_spectrum() -> None:
    """The normalization of an energy multiplies the spectrum by exp(a |H|^2): solved here by a scalar root."""
    from scipy.optimize import brentq

    row = data("normal", 64)[:1]
    (end,) = decouple([Mean(SHARP(x) ** 2)], [20], path="narrow").normalize(row, 1)
    power = (3 - 2 * np.cos(2 * np.pi * np.arange(64) / 64)) ** 2
    spectrum = np.fft.fft(row[0])

    def energy(a: float) -> float:
        return float((power * np.exp(2 * a * power) * np.abs(spectrum) ** 2).sum()) / 64**2

    a = brentq(lambda a: energy(a) - 20, -1, 1, xtol=1e-15, rtol=1e-15)
    np.testing.assert_allclose(end, np.fft.ifft(spectrum * np.exp(a * power)).real, rtol=0, atol=1e-11)


def test_filtered_gradients(filtered: Plan) -> None:
    row = data("normal", 8)[0]
    gradient = filtered.gradients(row)
    judged = check_gradient(lambda y: float(filtered.transform(y)[3]), row, gradient[3], n_directions=1)
    assert judged.error < 1e-11 and judged.order > 1.9


@pytest.mark.slow
def test_filtered_digits() -> None:
    row = data("normal", 8)[0]
    energy = decouple(FeatureSet([Mean(SHARP(x) ** 2), Mean(SHARP(x) ** 4)]), [11], path="narrow")
    np.testing.assert_allclose(energy.transform(row), energy.transform(row, dps=15).astype(float), rtol=1e-11)
