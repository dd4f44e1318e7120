"""Orthogonal polynomials of samples: against exact rational Gram-Schmidt, with weights, in bad shape."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from symdecouple.numeric.moments import hankel
from symdecouple.numeric.moments.hankel import orthogonal_basis, power_means, stieltjes

ORDERS = [1, 2, 3, 4, 5, 6, 9]


def standardized(rows: np.ndarray) -> np.ndarray:
    return (rows - rows.mean(axis=1, keepdims=True)) / rows.std(axis=1, keepdims=True)


def exact_polynomials(row: np.ndarray, k: int) -> list[list[Fraction]]:
    """p_0..p_(k-1) on the floats as they are, by Gram-Schmidt in rational arithmetic."""
    y = [Fraction(float(v)) for v in row]
    found: list[list[Fraction]] = []
    for power in range(k):
        p = [v**power for v in y]
        for q in found:
            c = sum(a * b for a, b in zip(p, q, strict=True)) / sum(b * b for b in q)
            p = [a - c * b for a, b in zip(p, q, strict=True)]
        found.append(p)
    return found


@pytest.mark.parametrize("k", ORDERS)
@pytest.mark.parametrize("law", ["normal", "gamma"])
def test_against_rational_arithmetic(k: int, law: str) -> None:
    rng = np.random.default_rng(k)
    shape = (2, 30 if k <= 6 else 100)
    y = standardized(rng.normal(size=shape) if law == "normal" else rng.gamma(0.5, size=shape))
    basis, direction = stieltjes(y, k, None)
    ours = list(basis.polynomials(y))
    for r in range(2):
        exact = exact_polynomials(y[r], k)
        lost = np.mean(y[r] ** (2 * k - 2)) / np.mean([float(v) ** 2 for v in exact[-1]])
        # The Hankel matrix squares the condition number, as normal equations do; Stieltjes' procedure does not.
        tolerance = 4 * k * np.finfo(float).eps * (lost if lost < 1e5 else np.sqrt(lost))
        for j in range(k):
            expected = np.array([float(v) for v in exact[j]])
            size = np.sqrt(np.mean(expected**2))
            assert ours[j][r] == pytest.approx(expected, abs=tolerance * size)
            assert basis.norm[j, r] == pytest.approx(size**2, rel=tolerance)
        assert direction[r] == pytest.approx(expected, abs=tolerance * size)


@pytest.mark.parametrize("width", [1e-2, 1e-4, 1e-7])
def test_two_clusters_keep_the_digits_that_the_sample_has(width: float) -> None:
    """p_2 and p_3 are of the size of the width: what is rounded at 1 is 1e-16/width of them; Hankel keeps eleven."""
    rng = np.random.default_rng(3)
    y = standardized(np.arange(20)[None] % 2 + width * rng.random((1, 20)))
    basis, direction = stieltjes(y, 4, None)
    expected = np.array([float(v) for v in exact_polynomials(y[0], 4)[3]])
    size = np.sqrt(np.mean(expected**2))
    assert direction[0] == pytest.approx(expected, abs=max(20 * 2.0**-52 / width, 1e-11) * size)
    assert basis.norm[-1, 0] == pytest.approx(size**2, rel=max(50 * 2.0**-52 / width, 1e-11))


@pytest.mark.parametrize("n", [200, 20_000])
def test_a_row_is_the_same_beside_any_other(n: int) -> None:
    rng = np.random.default_rng(4)
    y = standardized(rng.normal(size=(5, n)))
    mixed = np.concatenate([y, standardized(np.arange(n)[None] % 2 + 1e-6 * rng.random((1, n)))])
    assert np.array_equal(stieltjes(mixed, 6, None)[1][2], stieltjes(y[2:3], 6, None)[1][0])


def test_fewer_values_than_degrees_have_no_direction() -> None:
    y = np.array([[-1.0, 1, -1, 1], [-(1.5**0.5), 0, 0, 1.5**0.5]])
    assert np.all(~(stieltjes(y, 4, None)[0].norm[-1] > 1e-28))


def test_derivatives_in_the_basis() -> None:
    y = standardized(np.random.default_rng(6).gamma(2.0, size=(2, 40)))
    basis, _ = orthogonal_basis(y, 6)
    of, p, h = basis.derivatives(), list(basis.polynomials(y)), 1e-5
    ahead, behind = list(basis.polynomials(y + h)), list(basis.polynomials(y - h))
    for j in range(6):
        slope = sum(of[j, i][:, None] * p[i] for i in range(6))
        assert slope == pytest.approx((ahead[j] - behind[j]) / (2 * h), rel=1e-8, abs=1e-6)
    assert hankel.steepness(y, 6)[0] == pytest.approx(slope, rel=1e-12, abs=1e-12)


def test_coefficients_are_those_of_the_polynomials() -> None:
    y = standardized(np.random.default_rng(7).gamma(2.0, size=(2, 40)))
    basis, direction = stieltjes(y, 6, None)
    found = np.einsum("jir,irn->jrn", basis.coefficients(), [y**i for i in range(6)])
    assert found == pytest.approx(np.array([*basis.polynomials(y)]), rel=1e-9, abs=1e-9)
    assert direction == pytest.approx(found[-1], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("k", [3, 5])
def test_weights_stand_for_equal_entries(k: int) -> None:
    values, counts = np.array([-2.0, -1, 0, 0.5, 1, 3]), np.array([1, 5, 7, 2, 4, 3])
    full, weights = np.repeat(values, counts)[None], (counts / counts.sum())[None]
    whole, direction = stieltjes(full, k, None)
    basis, few = stieltjes(values[None], k, weights)
    assert np.repeat(few[0], counts) == pytest.approx(direction[0], rel=1e-12, abs=1e-12)
    assert basis.norm == pytest.approx(whole.norm, rel=1e-12)
    assert power_means(values[None], 8, weights) == pytest.approx(power_means(full, 8), rel=1e-13)


def test_power_means_of_long_rows() -> None:
    y = np.random.default_rng(7).integers(-8, 9, size=(2, 50_000)).astype(float)
    assert np.array_equal(power_means(y, 5), np.array([np.mean(y**j, axis=1) for j in range(6)]))
    assert hankel.mean_of_product(y, y) == pytest.approx(np.mean(y**2, axis=1), rel=1e-15)
