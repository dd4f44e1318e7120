"""Theorem C by counting, the series step against the exact flow, the search on samples built to defeat it."""

from __future__ import annotations

import numpy as np
import pytest

from symdecouple.numeric.kernels.compile import is_available
from symdecouple.numeric.moments import skewness_kernel
from symdecouple.numeric.moments.power_sums import BLOCK
from symdecouple.numeric.moments.skewness_root import orthokurtosis_rows
from symdecouple.numeric.moments.skewness_series import propose_pole, solve_series
from symdecouple.numeric.moments.ties import count_ties
from symdecouple.numeric.samples.batch import SampleMatrix
from tests.stats import oracle


def orthokurtosis(sample: object) -> float:
    """The kernel itself, with every floating-point error but underflow raised."""
    with np.errstate(all="raise", under="ignore"):
        answer = orthokurtosis_rows(SampleMatrix.of(np.asarray(sample, dtype=np.float64)[None]))
    assert not answer.refusals
    return float(answer.values[0])


def refusal(sample: list[float]) -> str:
    answer = orthokurtosis_rows(SampleMatrix.of(np.asarray([sample], dtype=np.float64)))
    assert np.isnan(answer.values[0])
    return str(answer.refusals[0])


@pytest.mark.parametrize("sample", [[0, 1], [3, 3, 5, 5], [1e8, 1e8 + 1e-8] * 7, [0.1, 0.3] * 50])
def test_two_values_in_equal_numbers_have_exactly_one(sample: list[float]) -> None:
    assert orthokurtosis(sample) == 1.0


def test_ties_decide_not_the_sign_of_a_rounded_skewness() -> None:
    """One tie fewer than half: the root exists, however near the limit; at half it does not, however near a root."""
    noise = 1e-13
    assert orthokurtosis([0, 0, 0, 1, 1, 1 + noise, 1 + 2 * noise]) == pytest.approx(
        float(oracle.orthokurtosis([0, 0, 0, 1, 1, 1 + noise, 1 + 2 * noise])), rel=1e-13
    )
    assert "limit only" in refusal([0, 0, 0, 1, 1 + noise, 1 - noise])


def test_ties_of_single_precision_are_counted_in_the_input() -> None:
    values = np.array([[0.1, 0.1, 0.1, 0.2, 0.3, 0.4]], dtype=np.float32)
    at_low, at_high = count_ties(SampleMatrix.of(values))
    assert (at_low[0], at_high[0]) == (3, 1)


@pytest.mark.parametrize("sample", [[0, 1, 5], [-1e300, 0, 1e-300], [1, 1 + 2**-52, 2**52], [0, 5e-324, 1e280]])
def test_three_values_have_three_halves(sample: list[float]) -> None:
    assert orthokurtosis(sample) == pytest.approx(1.5, rel=1e-14)


@pytest.mark.parametrize(
    "sample",
    [
        *(case["sample"] for case in oracle.TABLE["orthokurtosis"]),
        [0, 1e-300, 2e-300, 3e-300, 1],
        [0, 1e-200, 3e-200, 1, 1e100, 1e103],
        [1, 1 + 2**-52, 1 + 3 * 2**-52, 1 + 4 * 2**-52, 1e16],
        [0, 1e-15, 1, 1 + 2**-50],
        [-1.7e308, 1.7e308, 1e308, 0, 1],
        [0, 5e-324, 15e-324, 50e-324, 55e-324],
        [-1, *[0, 1e-12, 2e-12, 5e-12] * 3, 1, 1],
        [*[0] * 49, 1, *[2e6] * 50, 3e6],
        [0, 1e-9, 3e-9, 1, 1 + 1e-3, 1 + 3e-3],
        [*range(0, 256, 3)],
    ],
    ids=lambda sample: f"{len(sample)}-from-{sample[0]:g}-{sample[1]:g}-to-{sample[-1]:g}",
)
def test_clusters_built_to_defeat_the_search(sample: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    """By NumPy, compiled, and by the same functions as plain Python."""
    expected = pytest.approx(float(oracle.orthokurtosis(sample, 30)), rel=1e-14)
    assert orthokurtosis(sample) == expected
    rows = SampleMatrix.of(np.array([sample], dtype=np.float64))
    if is_available():
        assert skewness_kernel.compiled_orthokurtosis_rows(rows).values[0] == expected
    monkeypatch.setattr(skewness_kernel, "_kernels", lambda: (skewness_kernel.kurtosis_rows, None))
    with np.errstate(all="ignore"):
        assert skewness_kernel.compiled_orthokurtosis_rows(rows).values[0] == expected


def test_random_clusters_across_sixty_decades() -> None:
    rng = np.random.default_rng(20)
    for _ in range(12):
        n_samples, n_clusters = rng.integers(3, 14), rng.integers(2, 6)
        centres = rng.choice([-1, 1], n_clusters) * 10.0 ** rng.uniform(-30, 30, n_clusters)
        widths = 10.0 ** rng.uniform(-15, -1, n_clusters)
        member = rng.integers(0, n_clusters, n_samples)
        sample = centres[member] * (1 + widths[member] * rng.normal(size=n_samples))
        answer = orthokurtosis_rows(SampleMatrix.of(sample[None]))
        if not answer.refusals:
            assert answer.values[0] == pytest.approx(float(oracle.orthokurtosis(sample, 20)), rel=1e-14), sample


def test_what_float64_cannot_separate_is_refused_by_name() -> None:
    """Subnormal gaps beside 1.7e308: the root exists, its pole does not fit beside the sample."""
    answer = orthokurtosis_rows(SampleMatrix.of(np.array([[0, 5e-324, 1e-323, 1.5e-323, 1.7e308]])))
    assert answer.refusals[0].reason == "beyond float64"


def flowed_kurtosis(sample: np.ndarray, s: float) -> tuple[float, float]:
    x = (sample - sample.mean()) / sample.std()
    z = x / (1 - s * x)
    z = (z - z.mean()) / z.std()
    return float(np.mean(z**3)), float(np.mean(z**4))


@pytest.mark.parametrize("seed", range(5))
def test_an_accepted_step_lands_on_zero_skewness_of_the_exact_flow(seed: int) -> None:
    sample = np.random.default_rng(seed).normal(size=20000)
    sample -= 0.0002 * np.random.default_rng(seed + 1).uniform() * sample**2
    sample = np.concatenate([sample, -sample + 1e-4])
    x = (sample - sample.mean()) / sample.std()
    a = np.array([[np.mean(x**k)] for k in range(9)])
    time, found, accepted, _ = solve_series(a, np.array([np.abs(x).max()]), np.zeros(1))
    assert accepted[0]
    skewness, kurtosis = flowed_kurtosis(sample, float(time[0]))
    assert abs(skewness) < 1e-12 and kurtosis == pytest.approx(found[0], rel=1e-13)


@pytest.mark.parametrize("target", [0.0, 1.5, -3.0])
def test_a_step_that_is_not_final_says_so_and_comes_nearer(target: float) -> None:
    g = np.random.default_rng(0).exponential(size=1000) ** 2
    g -= g.min()

    def distance(pole: float) -> tuple[np.ndarray, float, float, float]:
        u = g / (g + pole)
        x = (u - u.mean()) / u.std()
        a = np.array([np.mean(x**k) for k in range(9)])
        return a, u.mean(), u.std(), abs(a[3] - target)

    pole = 20 * np.median(g)
    a, mean, deviation, before = distance(pole)
    with np.errstate(all="ignore"):  # both sides of every choice are computed
        proposed, is_good, accepted, _ = propose_pole(a, mean, deviation, g.max(), pole, target)
    assert is_good and not accepted and 0 < proposed < np.inf
    assert distance(float(proposed))[-1] < before / 3


def test_long_rows_are_searched_block_by_block() -> None:
    row = np.random.default_rng(5).exponential(size=BLOCK + 1000)
    head = orthokurtosis(row)
    x = row - row.mean()
    low, high = 1 / x.min(), 1 / x.max()
    for _ in range(100):
        t = (low + high) / 2
        skewness, kurtosis = flowed_kurtosis(x / (1 - t * x), 0.0)
        low, high = (t, high) if skewness < 0 else (low, t)
    assert head == pytest.approx(kurtosis, rel=1e-12)
