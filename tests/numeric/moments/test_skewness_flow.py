"""Samples moved to any skewness: against mpmath, against their own way back, and on samples built to defeat Newton."""

from __future__ import annotations

from collections.abc import Callable

import mpmath as mp
import numpy as np
import pytest

from symdecouple.errors import InvalidInput
from symdecouple.numeric.moments import skewness_kernel
from symdecouple.numeric.moments.attainable import skewness_interval
from symdecouple.numeric.moments.skewness_flow import Skewed, impose_skewness
from symdecouple.numeric.moments.skewness_kernel import compiled_impose_skewness
from symdecouple.numeric.moments.skewness_root import orthokurtosis_rows
from symdecouple.numeric.samples.batch import SampleMatrix
from tests.stats import oracle

EPS = float(np.finfo(np.float64).eps)


def impose(rows: object, targets: object) -> Skewed:
    """Every floating-point error but underflow raises."""
    with np.errstate(all="raise", under="ignore"):
        return impose_skewness(rows, targets)  # type: ignore[arg-type]


def between(row: np.ndarray, part: float) -> float:
    """A target at this part of the open interval of the row."""
    _, counts = np.unique(row, return_counts=True)
    low, high = skewness_interval(int(counts[0]), int(counts[-1]), len(row))
    return low + part * (high - low)


def standardized(row: np.ndarray) -> np.ndarray:
    """Long double: an oracle for what needs no flow."""
    wide = row.astype(np.longdouble)
    wide -= wide.mean()
    return wide / np.sqrt((wide * wide).mean())


def skewness(row: np.ndarray) -> float:
    return float((standardized(row) ** 3).mean())


SAMPLES = {
    "lognormal-5": np.exp(5 * np.random.default_rng(0).normal(size=12)),
    "lognormal-10": np.exp(10 * np.random.default_rng(1).normal(size=7)),
    "cauchy": np.random.default_rng(2).standard_cauchy(size=40),
    "gamma-.02": np.random.default_rng(3).gamma(0.02, size=9),
    "outlier": np.array([0.0, 1, 4, 250]),
    "offset": 1e8 + np.random.default_rng(4).exponential(size=10),
    "integers": np.array([3.0, 1, 1, 2, 7, 7, 7, 4]),
    "clusters": np.array([0, 0, 0, 1, 1 + 1e-6, 1 + 2e-6, 1 + 5e-6]),
}


def by_kernel(rows: object, targets: object) -> Skewed:
    """Run by Python it says where numbers overflow."""
    with np.errstate(all="ignore"):
        return compiled_impose_skewness(rows, targets)  # type: ignore[arg-type]


@pytest.mark.parametrize(("flow", "most"), [(impose, 1), (by_kernel, 2)], ids=["NumPy", "the kernel as Python"])
@pytest.mark.parametrize("part", [0.03, 0.5, 0.97])
@pytest.mark.parametrize("name", SAMPLES)
def test_against_forty_digits(
    name: str, part: float, flow: Callable[..., Skewed], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In any order, and turned around; a unit that is a power of two changes no bit."""
    monkeypatch.setattr(skewness_kernel, "_kernels", lambda: (None, skewness_kernel.flow_rows))
    sample = SAMPLES[name]
    target = between(sample, part)
    answer = flow(sample[None], target)
    for unit in (2.0**-600, 2.0**-40, 2.0**400):
        other = flow(sample[None] * unit, target)
        assert np.array_equal(other.values, answer.values) and np.array_equal(other.slope, answer.slope / unit)
    order = np.random.default_rng(0).permutation(len(sample))
    turned, mixed = flow(-sample[None], -target), flow(sample[None, order], target)
    z, slope = oracle.at_skewness(sample, target, dps=40)
    fourth = float(mp.fsum(v**4 for v in z)) / len(z)
    spread = 3 * (fourth - 1 - target**2)  # dG/ds: what a rounded skewness is divided by
    rounded = 2e-15 * np.mean([abs(float(v)) ** 3 for v in z])
    same = range(len(z))
    found = [(answer.values[0], answer.slope[0], same), (-turned.values[0], turned.slope[0], same),
             (mixed.values[0], mixed.slope[0], order)]
    for value, steep, i in (each for part in found for each in zip(*part, strict=True)):
        allowed = rounded * abs(float(z[i] ** 2 - target * z[i] - 1)) / spread + 2e-15 * (1 + abs(float(z[i])))
        assert abs(float(value - z[i])) <= most * allowed
        steepness = 2 * abs(float(z[i])) + abs(target)  # d log(dz/dx)/dG is (2 z - G)/(3 spread), and the scale's part
        assert float(steep / slope[i] - 1) == pytest.approx(0, abs=most * (rounded * steepness / spread + 2e-14))
    assert answer.residual[0] <= most * 2e-15 * (1 + abs(target))


@pytest.mark.parametrize("n_samples", [4, 9, 100, 1000])
@pytest.mark.parametrize("law", ["cauchy", "lognormal", "steep", "steepest", "gamma", "normal"])
def test_heavy_tails_meet_the_constraints(law: str, n_samples: int) -> None:
    rng = np.random.default_rng(n_samples)
    rows = {
        "cauchy": rng.standard_cauchy((6, n_samples)),
        "lognormal": np.exp(rng.normal(size=(6, n_samples))),
        "steep": np.exp(5 * rng.normal(size=(6, n_samples))),
        "steepest": np.exp(10 * rng.normal(size=(6, n_samples))),
        "gamma": rng.gamma(0.02, size=(6, n_samples)),
        "normal": rng.normal(size=(6, n_samples)),
    }[law]
    ortho = orthokurtosis_rows(SampleMatrix.of(rows))
    for target in (0.0, 1.0, -1.0, 0.9 * (n_samples - 2) / np.sqrt(n_samples - 1)):
        answer = impose(rows, target)
        z = answer.values.astype(np.longdouble)
        assert not answer.refusals and np.isfinite(answer.slope).all() and (answer.slope >= 0).all()
        assert abs(z.mean(axis=1)).max() < 1e-15 and abs((z**2).mean(axis=1) - 1).max() < 4e-15
        off, rounded = abs((z**3).mean(axis=1) - target), 4e-15 * (abs(z) ** 3).mean(axis=1)
        assert (off <= rounded).all()
        assert (abs(answer.residual - off / (1 + abs(target))) <= rounded / (1 + abs(target))).all()
        if target == 0:
            kurtosis = (z**4).mean(axis=1).astype(float)
            assert kurtosis == pytest.approx(ortho.values, rel=1e-13)


def test_the_slope_is_the_derivative_at_a_fixed_map() -> None:
    """Three points of the sample fix the map; its derivative is then known everywhere."""
    x = np.random.default_rng(6).exponential(size=20)
    answer = impose(x[None], -0.5)
    z, slope = answer.values[0], answer.slope[0]
    with mp.workdps(50):
        p = [mp.mpf(float(v)) for v in x]
        q = [mp.mpf(float(v)) for v in z]
        i, j, k = 0, 7, 13  # (a x + b) - z (c x + 1) = 0 at three points
        a, b, c = mp.lu_solve(
            mp.matrix([[p[n], 1, -q[n] * p[n]] for n in (i, j, k)]), mp.matrix([q[n] for n in (i, j, k)])
        )
        for n in range(20):
            assert float((a * p[n] + b) / (c * p[n] + 1) - q[n]) == pytest.approx(0, abs=1e-13)
            assert float((a - b * c) / (c * p[n] + 1) ** 2) == pytest.approx(slope[n], rel=1e-11)


@pytest.mark.parametrize("n_samples", [5, 50, 1000])
@pytest.mark.parametrize("law", ["cauchy", "lognormal", "normal"])
def test_the_way_there_and_back(law: str, n_samples: int) -> None:
    """Largest error eps g/w: as much of the sample as z holds."""
    rng = np.random.default_rng(n_samples)
    for _ in range(5):
        x = {
            "cauchy": rng.standard_cauchy(n_samples),
            "lognormal": np.exp(rng.normal(size=n_samples)),
            "normal": rng.normal(size=n_samples),
        }[law]
        old = standardized(x)
        there = impose(x[None], 0.0)
        back = impose(there.values, float((old**3).mean()))
        assert not back.refusals
        largest = float(abs(old).max())
        assert abs(back.values[0] - old).max() <= 1e-12 * largest


@pytest.mark.parametrize("scale", [1e-150, 1e150, 5e-324 * 2**30, 1e300])
def test_units_at_the_ends_of_float64(scale: float) -> None:
    x = np.array([3.0, -1, 4, 1.5, -9, 2, 6])
    plain, scaled = impose(x[None], 1.25), impose(x[None] * scale, 1.25)
    assert scaled.values == pytest.approx(plain.values, abs=1e-8 if scale < 1e-300 else 1e-14)
    if scale > 1e-300:
        assert scaled.slope * scale == pytest.approx(plain.slope, rel=1e-13)


def test_order_and_ties_are_kept() -> None:
    rng = np.random.default_rng(9)
    rows = np.concatenate([rng.binomial(30, 0.3, (20, 50)) * 1.0, np.round(np.exp(2 * rng.normal(size=(20, 50))), 1)])
    for target in (-1.0, 0.3, 2.0):
        answer = impose(rows, target)
        kept = [i for i in range(40) if i not in answer.refusals]
        assert len(kept) > 30
        for i in kept:
            order = np.argsort(rows[i])
            x, z = rows[i][order], answer.values[i][order]
            assert np.array_equal(np.diff(x) > 0, np.diff(z) > 0)


def test_order_is_kept_where_rounding_would_turn_it() -> None:
    """Neighbouring floats: quotients of neighbours are rounded out of order now and then."""
    x = 1 + np.arange(4000) * EPS
    x = np.concatenate([x, [0.0, 0.5, 3.0]])
    for target in (0.0, 20.0, -20.0):
        z = impose(x[None], target).values[0]
        assert (np.diff(z[np.argsort(x)]) >= 0).all()


@pytest.mark.parametrize("part", [0.05, 0.5, 0.95, 0.9999])
def test_once_there_a_sample_stays(part: float) -> None:
    rng = np.random.default_rng(10)
    rows = np.concatenate([rng.standard_cauchy((20, 60)), np.exp(5 * rng.normal(size=(20, 60)))])
    target = between(rows[0], part)
    once = impose(rows, target).values
    twice = impose(once, target)
    assert abs(twice.values - once).max() <= 1e-14
    at_home = impose(rows, [skewness(row) for row in rows])
    expected = np.array([standardized(row) for row in rows], dtype=np.float64)
    assert at_home.values == pytest.approx(expected, rel=1e-14, abs=1e-15)


@pytest.mark.parametrize(
    ("sample", "target", "said"),
    [
        ([7, 7, 7], 0.0, "zero variance"),
        ([0, 0, 0, -1, -2], 0.0, "no zero-skew point (skewness stays in (-1.5, -0.408248), maximum tied 3 of 5 times"),
        ([0, 0, -1, -2], 0.0, "limit only (limit only: maximum tied N/2 times, skewness stays in (-1.1547, 0)"),
        ([0, 0, 0, 0, 1], 0.0, "two-valued"),
        ([0, 0, 0, 0, 1], 1.4, "two-valued (critical point of the skewness: two values, 4 and 1 times, have skew"),
        ([0, 0, 0, 0, 1], -1.5, "two-valued"),
        ([0, 0, 0, 1, 2], 0.0, "no zero-skew point (skewness stays in (0.408248, 1.5), minimum tied 3 of 5 times"),
        ([0, 0, 0, 1, 2], 0.4, "skewness out of reach (skewness stays in (0.408248, 1.5), 0.4 was wanted, minimum"),
        ([0, 1, 2, 3, 5], 1.6, "skewness out of reach (skewness stays in (-1.5, 1.5), 1.6 was wanted, maximum tied 1"),
        ([0, 1, 2, 3, 5], 1.5, "limit only (limit only: skewness stays in (-1.5, 1.5), 1.5 was wanted"),
        ([0, 1, 2, 3, 5], -1.5, "limit only"),
        ([0, 0, 1, 2], 0.0, "limit only (limit only: minimum tied N/2 times, skewness stays in (0, 1.1547)"),
        ([np.nan, 0, 1], 0.0, "nan in the input"),
        ([np.inf, 0, 1], 0.0, "infinite value"),
        ([1.0], 0.0, "one sample"),
        ([0, 5e-324, 1e-323, 1.5e-323, 1.7e308], 0.0, "beyond float64"),
    ],
)
def test_refusals_say_what_is_attainable(sample: list[float], target: float, said: str) -> None:
    answer = impose_skewness([sample], target)
    assert f"refused: {said}" in str(answer.refusals[0])
    if target == 0 and np.isfinite(sample).all() and len(sample) > 1:
        assert orthokurtosis_rows(SampleMatrix.of(np.array([sample], dtype=float))).refusals == answer.refusals
    assert np.isnan(answer.values).all() and np.isnan(answer.slope).all() and np.isnan(answer.residual[0])


def test_a_refused_row_leaves_the_others_alone() -> None:
    rows = np.array([[0.0, 0, 0, 1, 2], [0, 1, 2, 3, 5], [1, 1, 1, 1, 1], [0, 0, 0, 0, 1]])
    answer = impose(rows, [0.0, 0.0, 0.0, 1.5])
    assert sorted(answer.refusals) == [0, 2]
    assert np.array_equal(answer.values[1], impose(rows[1:2], 0.0).values[0])
    assert answer.values[3] == pytest.approx([-0.5] * 4 + [2.0], rel=1e-15)
    assert answer.slope[3] == pytest.approx([2.5] * 5, rel=1e-15)


@pytest.mark.parametrize("distance", [1e-3, 1e-8, 1e-13])
def test_targets_beside_the_end_are_reached(distance: float) -> None:
    """One tie fewer than half, and a target next to the limit: counting decides, not a margin."""
    x = np.array([0.0, 0, 0, 1, 2, 4, 9])
    low, high = skewness_interval(3, 1, 7)
    for target in (low + distance, high - distance):
        answer = impose(x[None], target)
        assert not answer.refusals and answer.residual[0] < 2e-15


def test_requests_that_make_no_sense() -> None:
    with pytest.raises(InvalidInput, match=r"shape \(R, N\)"):
        impose_skewness([1.0, 2, 3], 0.0)
    with pytest.raises(InvalidInput, match="target for all or for each"):
        impose_skewness([[1.0, 2, 3]] * 3, [0.0, 1.0])
    with pytest.raises(InvalidInput, match="finite"):
        impose_skewness([[1.0, 2, 3]], np.nan)
    assert impose_skewness(np.empty((0, 3)), 0.0).values.shape == (0, 3)
