"""skewness, kurtosis and orthokurtosis: reference values, laws, odd input, refusals, neighbours."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from symdecouple.errors import RefusalWarning
from symdecouple.stats import kurtosis, orthokurtosis, skewness
from tests.stats import oracle

TABLE = json.loads((Path(__file__).parents[1] / "data" / "orthokurtosis.json").read_text(encoding="utf-8"))

integers = st.lists(st.integers(-1000, 1000), min_size=3, max_size=20)


def is_solvable(sample: list[int] | list[float]) -> bool:
    """Theorem C, told again: three values, and fewer than half of them tied at either end."""
    return len(set(sample)) > 2 and 2 * max(sample.count(min(sample)), sample.count(max(sample))) < len(sample)


# --- values -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", TABLE["orthokurtosis"], ids=lambda case: str(case["sample"]))
def test_the_reference_table(case: dict[str, str]) -> None:
    assert orthokurtosis(case["sample"]) == pytest.approx(float(case["orthokurtosis"]), rel=1e-13)
    assert kurtosis(case["sample"]) == pytest.approx(float(case["kurtosis"]), rel=1e-13)
    assert skewness(case["sample"]) == pytest.approx(float(case["skewness"]), rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("case", TABLE["undefined"], ids=lambda case: str(case["sample"]))
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


def test_integers_whose_range_no_integer_holds() -> None:
    assert orthokurtosis(np.array([-(2**63), 2**63 - 1, 5], dtype=np.int64)) == pytest.approx(1.5, rel=1e-13)


# --- refusals ---------------------------------------------------------------------------------------------------


def test_the_warning_is_single_and_points_at_the_caller() -> None:
    rows = [SAMPLE, [0] * 6, [0, 0, 0, 0, 1, 2], [0, 0, 1, 1, 1, 1], [0, 1, np.inf, 2, 3, 4]]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        orthokurtosis(rows, axis=1)
    (warning,) = caught
    assert warning.category is RefusalWarning and warning.filename == __file__
    assert str(warning.message).startswith("orthokurtosis: 4 of 5 samples refused, at 1, 2, 3, 4, the first: zero var")
    _, outcomes = orthokurtosis(rows, axis=1, on_refusal="return")
    assert [o.reason for o in outcomes] == ["", "zero variance", "no zero-skew point", "two-valued", "infinite value"]


def test_no_heavy_import() -> None:
    heavy = ("sympy", "scipy", "numba", "mpmath")
    code = ("import sys, symdecouple.stats as s; s.decoupled_moments([1, 2, 3, 4, 7, 9, 11.0]); s.log_shape([1, 2, 9]);"
            f"s.circular_shape([0., 1., 2.]); print([m for m in {heavy} if m in sys.modules])")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
