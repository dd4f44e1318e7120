"""skewness, kurtosis and orthokurtosis: reference values, laws, odd input, refusals, neighbours."""

from __future__ import annotations

import warnings
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import assume, given, strategies as st

from symdecouple.stats import kurtosis, orthokurtosis, skewness
from tests.processes import printed
from tests.stats import oracle

STATISTICS = [skewness, kurtosis, orthokurtosis]

integers = st.lists(st.integers(-1000, 1000), min_size=3, max_size=20)
floats = st.lists(st.floats(-1e6, 1e6).map(lambda v: round(v, 3)), min_size=3, max_size=20)


def is_solvable(sample: list[int] | list[float]) -> bool:
    """Theorem C, told again: three values, and fewer than half of them tied at either end."""
    return len(set(sample)) > 2 and 2 * max(sample.count(min(sample)), sample.count(max(sample))) < len(sample)


# --- values -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", oracle.TABLE["orthokurtosis"], ids=lambda case: str(case["sample"]))
def test_the_reference_table(case: dict[str, str]) -> None:
    assert orthokurtosis(case["sample"]) == pytest.approx(float(case["orthokurtosis"]), rel=1e-13)
    assert kurtosis(case["sample"]) == pytest.approx(float(case["kurtosis"]), rel=1e-13)
    assert skewness(case["sample"]) == pytest.approx(float(case["skewness"]), rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("case", oracle.TABLE["undefined"], ids=lambda case: str(case["sample"]))
def test_the_undefined_samples_of_the_table(case: dict[str, str]) -> None:
    value, (outcome,) = orthokurtosis(case["sample"], on_refusal="return")
    assert np.isnan(value) and not outcome.ok
    for part in case["why"].replace("...", "").split(": "):
        assert part.replace("no zero-skew point", "zero-skew") in str(outcome)


def hard_set() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(12)
    n = 60
    return {
        "lognormal of sigma 5": np.exp(5 * rng.normal(size=n)),
        "Cauchy cubed": rng.standard_cauchy(n) ** 3,
        "offset 1e8": 1e8 + rng.exponential(size=n),
        "offset 1e12": 1e12 + rng.exponential(size=n),
        "near two-valued, unequal": (rng.random(n) < 0.3) + 1e-12 * rng.random(n),
        "near two-valued, balanced": np.arange(n) % 2 + 1e-12 * rng.random(n),
        "bytes": np.arange(256.0),
        "gamma .125": rng.gamma(0.125, size=n),
        "outlier": np.append(rng.normal(size=n), 1e10),
        "negative outlier": np.append(rng.normal(size=n), -1e10),
        "normal": rng.normal(size=n),
        **{f"Cauchy, N = {k}": rng.standard_cauchy(k) for k in range(3, 9)},
    }


@pytest.mark.parametrize("name", hard_set())
def test_hard_samples_agree_with_the_oracle(name: str) -> None:
    sample = hard_set()[name]
    expected = oracle.orthokurtosis(sample.tolist(), 20)
    assert abs(float(orthokurtosis(sample) / expected - 1)) < 1e-14
    assert abs(float(orthokurtosis(-sample) / expected - 1)) < 1e-14


def test_the_orthokurtosis_of_a_symmetric_sample_is_its_kurtosis() -> None:
    half = np.random.default_rng(4).normal(size=50)
    sample = np.concatenate([half, -half])
    assert orthokurtosis(sample) == pytest.approx(kurtosis(sample), rel=1e-14)


@given(floats)
def test_the_orthokurtosis_stays_in_its_range(sample: list[float]) -> None:
    assume(is_solvable(sample))
    n = len(sample)
    lowest = 1 if n % 2 == 0 else n / (n - 1)
    assert lowest * (1 - 1e-14) <= orthokurtosis(sample) <= n / 2 * (1 + 1e-14)


# --- laws -------------------------------------------------------------------------------------------------------


@given(integers, st.integers(-50, 50), st.integers(1, 50), st.integers(-50, 50), st.sampled_from([-1, 1]))
def test_moebius_invariance(sample: list[int], a: int, c: int, beyond: int, sign: int) -> None:
    """Theorem B: x -> (a x + b)/(c x + d) of positive determinant, its pole outside [min, max], taken exactly."""
    assume(is_solvable(sample))
    pole = (min(sample) if beyond <= 0 else max(sample)) + beyond - (beyond <= 0)
    d = -c * pole
    b = Fraction(a * d - 1, c)  # determinant a d - b c = 1
    image = [Fraction(a * x + b) / (c * x + d) for x in sample]
    assert orthokurtosis([sign * v for v in image]) == pytest.approx(orthokurtosis(sample), rel=1e-13)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=12))
def test_any_finite_sample_has_a_value_or_a_reason(sample: list[float]) -> None:
    """And counting ties in the input decides which, gaps beyond the reach of float64 apart."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value, (outcome,) = orthokurtosis(sample, on_refusal="return")
    assert outcome.ok == bool(np.isfinite(value))
    if outcome.reason != "beyond float64":
        low, high = sample.count(min(sample)), sample.count(max(sample))
        balanced = len(set(sample)) == 2 and low == high
        assert outcome.ok == (balanced or is_solvable(sample))
        assert not balanced or value == 1


# --- odd input --------------------------------------------------------------------------------------------------

SAMPLE = [1, 2, 3, 5, 8, 13]
EXPECTED = 1.71862957167935719965


@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", ">f8", ">i4", "g"])
def test_numbers_of_any_type(kind: str) -> None:
    assert orthokurtosis(np.array(SAMPLE, dtype=kind)) == pytest.approx(EXPECTED, rel=1e-13 if kind != "f4" else 1e-7)


def test_integers_past_the_reach_of_float64() -> None:
    for offset in (2**53, 2**60, 2**62):
        assert orthokurtosis(np.array(SAMPLE, dtype=np.int64) + offset) == pytest.approx(EXPECTED, rel=1e-13)
    assert orthokurtosis(np.array(SAMPLE, dtype=np.uint64) + np.uint64(2**64 - 20)) == pytest.approx(
        EXPECTED, rel=1e-13
    )
    assert orthokurtosis([10**200 + v for v in SAMPLE]) == pytest.approx(EXPECTED, rel=1e-13)
    assert orthokurtosis([10**200 * v for v in SAMPLE]) == pytest.approx(EXPECTED, rel=1e-13)
    extremes = np.array([-(2**63), 2**63 - 1, 5], dtype=np.int64)
    assert orthokurtosis(extremes) == pytest.approx(1.5, rel=1e-13)


@pytest.mark.parametrize("number", [Fraction, Decimal, mpmath.mpf, sympy.Integer, sympy.Float], ids=repr)
def test_exact_numbers_of_other_libraries(number: type) -> None:
    batch = np.array([[number(v) for v in SAMPLE], [number(2 * v) for v in SAMPLE]], dtype=object)
    assert orthokurtosis(batch, axis=1) == pytest.approx([EXPECTED, EXPECTED], rel=1e-13)


def test_exact_numbers_are_centred_before_they_are_rounded() -> None:
    with mpmath.workdps(60):
        sample = [mpmath.mpf(10) ** 40 + v for v in SAMPLE]
    assert orthokurtosis(sample) == pytest.approx(EXPECTED, rel=1e-13)
    assert orthokurtosis([sympy.sqrt(2) * v + sympy.Integer(10) ** 30 for v in SAMPLE]) == pytest.approx(
        EXPECTED, 1e-13
    )
    missing = [*map(Fraction, SAMPLE), float("nan")]
    assert orthokurtosis(missing, nan_policy="omit") == pytest.approx(EXPECTED, rel=1e-13)


# --- refusals ---------------------------------------------------------------------------------------------------


def test_no_heavy_import() -> None:
    heavy = ("sympy", "scipy", "numba", "mpmath")
    code = ("import sys, symdecouple.stats as s; s.decoupled_moments([1, 2, 3, 4, 7, 9, 11.0]); s.log_shape([1, 2, 9]);"
            f"s.circular_shape([0., 1., 2.]); print([m for m in {heavy} if m in sys.modules])")
    assert printed(code) == "[]"
