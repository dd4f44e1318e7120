"""Ranges of moments by their ties: against certified enumeration, against optimization, and against paths."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sympy import Integer, Rational

from symdecouple.analysis.critical.moment_level import moment_range
from symdecouple.analysis.critical.pattern_solutions import Targets
from symdecouple.numeric.moments.attainable import skewness_range
from symdecouple.numeric.moments.moment_path import follow
from symdecouple.numeric.moments.tied_edges import Shares
from symdecouple.numeric.moments.tied_range import Reach, reach, reach_of_any, reach_of_counts, smallest_size

GAUSSIAN = (1.0, 0.0, 1.0, 0.0, 3.0, 0.0, 15.0, 0.0, 105.0)


def of_counts(counts: list[int], held: tuple[float, ...]) -> Reach:
    found = reach_of_counts(np.array(counts, dtype=float).tobytes(), held)
    assert found is not None
    return found


@pytest.mark.parametrize("n_samples", [5, 6, 7, 8, 9])
@pytest.mark.parametrize("held", [(0,), (Rational(1, 3),), (0, 2), (Rational(-1, 2), Rational(9, 5)), (0, 2, 0)])
def test_untied_ranges_are_those_of_the_certified_enumeration(n_samples: int, held: tuple[Rational, ...]) -> None:
    exact = moment_range(Targets((Integer(0), Integer(1), *map(Rational, held))), n_samples)
    found = reach_of_any(n_samples, (1.0, 0.0, 1.0, *map(float, held)))
    assert found is not None
    if exact is None:
        assert found.order < len(held) + 3
        return
    assert found.order == len(held) + 3
    (low, _), (_, high) = exact
    assert found.low == pytest.approx(float(low), rel=1e-10, abs=1e-10)
    assert found.high == pytest.approx(float(high), rel=1e-10, abs=1e-10)


def by_optimization(counts: list[int], held: tuple[float, ...], sign: int) -> float:
    """The extreme of the next moment over ordered values with these ties, from many starts."""
    shares, k, rng = np.array(counts) / sum(counts), len(held), np.random.default_rng(3)
    orders = np.arange(1, k)

    def gaps(z: np.ndarray) -> np.ndarray:
        return np.array([shares @ z**j for j in orders]) - np.array(held[1:])

    best = np.inf
    for _ in range(12):
        start = np.sort(rng.normal(size=len(counts)) * rng.uniform(0.5, 2))
        found = minimize(lambda z: -sign * (shares @ z**k), start, method="SLSQP",
                         constraints=[{"type": "eq", "fun": gaps}, {"type": "ineq", "fun": np.diff}],
                         options={"maxiter": 300, "ftol": 1e-13})
        if np.abs(gaps(found.x)).max() < 1e-8 and (np.diff(found.x) > -1e-8).all():
            best = min(best, found.fun)
    return -sign * best


@pytest.mark.parametrize(("counts", "held"), [
    ([1, 2, 1, 3, 1], (1, 0, 1, 0.2)),
    ([1, 1, 1, 1, 1, 3], (1, 0, 1, 0)),
    ([2, 1, 1, 1, 2], (1, 0, 1, 0, 1.6)),
    ([3, 1, 2, 1, 1, 2], (1, 0, 1, 0.3, 2)),
    ([1, 2, 1, 1, 2, 1, 1], (1, 0, 1, 0.1, 2.2, 0.4)),
])
def test_tied_ranges_are_those_of_optimization(counts: list[int], held: tuple[float, ...]) -> None:
    found = of_counts(counts, held)
    assert found.order == len(held)
    assert found.low == pytest.approx(by_optimization(counts, held, -1), abs=2e-6)
    assert found.high == pytest.approx(by_optimization(counts, held, 1), abs=2e-6)


def test_three_largest_of_eight_tied_have_a_kurtosis_below_62_35() -> None:
    assert of_counts([1, 1, 1, 1, 1, 3], (1, 0, 1, 0)).high == pytest.approx(62 / 35, rel=1e-13)


@pytest.mark.parametrize(("n_samples", "order", "highest"), [
    (21, 6, 14.686), (22, 6, 15.050), (89, 8, 104.858), (90, 8, 105.170)])
def test_gaussian_references_of_higher_orders(n_samples: int, order: int, highest: float) -> None:
    found = reach_of_any(n_samples, GAUSSIAN[:order])
    assert found is not None and found.order == order
    assert round(found.high, 3) == highest


@pytest.mark.parametrize("n_samples", range(4, 40))
def test_kurtosis_without_skewness_has_closed_ends(n_samples: int) -> None:
    found = reach_of_any(n_samples, GAUSSIAN[:4])
    assert found is not None
    assert found.low == pytest.approx(1 if n_samples % 2 == 0 else n_samples / (n_samples - 1), rel=1e-12)
    assert found.high == pytest.approx(n_samples / 2, rel=1e-12)


def test_the_smallest_numbers_of_samples_for_the_gaussian_law() -> None:
    assert [smallest_size(GAUSSIAN[:k + 1]) for k in (3, 4, 5, 6, 8)] == [3, 7, 7, 22, 90]


def test_the_smallest_number_is_found_by_going_through_all() -> None:
    inside = [n for n in range(4, 30) if (r := reach_of_any(n, GAUSSIAN[:6])) and r.order == 6 and r.side(15) == 0]
    assert inside == list(range(22, 30))


def test_the_smallest_number_for_a_target_near_the_lower_end_is_even() -> None:
    # kurtosis 1.1 without skewness: every even N from 4 on, of odd ones 13 and above (N/(N-1) < 1.1 from 11 on)
    inside = [n for n in range(4, 16) if (r := reach_of_any(n, (1, 0, 1, 0))) and r.side(1.1) == 0]
    assert inside == [4, 6, 8, 10, 12, 13, 14, 15]
    assert smallest_size((1.0, 0.0, 1.0, 0.0, 1.1)) == 4


def test_reflected_ties_have_reflected_ranges() -> None:
    there, back = of_counts([2, 1, 3, 1, 1], (1, 0, 1, 0.4, 2.1)), of_counts([1, 1, 3, 1, 2], (1, 0, 1, -0.4, 2.1))
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low), rel=1e-11)


def test_finer_ties_have_wider_ranges() -> None:
    coarse, fine = of_counts([2, 3, 2, 2], (1, 0, 1, 0)), of_counts([2, 1, 2, 1, 1, 2], (1, 0, 1, 0))
    assert fine.low <= coarse.low < coarse.high <= fine.high


@pytest.mark.parametrize(("counts", "held", "order"), [
    ([1, 4], (1, 0, 1), 3), ([3, 3], (1, 0, 1, 0), 4), ([1, 4], (1, 0, 1, 0), 3), ([1, 1, 1], (1, 0, 1, 0, 3), 4)])
def test_as_many_values_as_moments_leave_one_sample(counts: list[int], held: tuple[float, ...], order: int) -> None:
    found = of_counts(counts, held)
    assert found.order == order
    assert found.low == pytest.approx(found.high, rel=1e-12)


def test_a_held_moment_out_of_range_is_named() -> None:
    found = of_counts([1, 1, 1, 1, 1, 3], GAUSSIAN[:6])
    assert found.order == 4 and found.side(3.0) == 1


def drawn_ties(seed: int) -> tuple[int, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    k = int(rng.integers(4, 7))
    counts = rng.integers(1, 5, k + int(rng.integers(1, 5)))
    values = np.sort(rng.normal(size=len(counts)) ** (1 + 2 * (seed % 2)))
    x = np.repeat(values, counts)
    return k, counts, (x - x.mean()) / x.std()


@pytest.mark.parametrize(("seed", "share"), [*((seed, 0.02) for seed in range(3)), *(
    pytest.param(seed, 0.001, marks=pytest.mark.slow) for seed in range(3, 120))])
def test_paths_end_where_ties_are_counted_to_end(seed: int, share: float) -> None:
    """What lies inside is reached, what lies outside is not, from wherever a sample starts (Theorem J)."""
    k, counts, z = drawn_ties(seed)
    held = np.array([np.mean(z**j) for j in range(k)])
    found = of_counts(counts.tolist(), tuple(held))
    assert found.order == k and found.low < np.mean(z**k) < found.high
    near = max(share * (found.high - found.low), 1e-12 * found.high)  # the moments themselves are rounded
    for end, sign in ((found.low, -1), (found.high, 1)):
        inside = follow(z[None], k, end - sign * near, held=held[1:])
        assert not inside.refusals or inside.refusals[0].reason == "beyond float64"  # attained, but too crowded
        assert inside.attained[0] == pytest.approx(end - sign * near, rel=1e-9)
        beyond = follow(z[None], k, end + sign * near, held=held[1:])
        assert beyond.refusals[0].reason == "moment not attainable"


@pytest.mark.slow
def test_order_eight_needs_ninety_samples_all_sizes_looked_at() -> None:
    inside = [n for n in range(22, 100) if (r := reach_of_any(n, GAUSSIAN[:8])) and r.order == 8 and r.side(105) == 0]
    assert inside == list(range(90, 100))


def test_long_samples_cost_no_more() -> None:
    found = reach(Shares(10**7), (1.0, 0.0, 1.0, 0.0))
    assert found is not None and found.high == pytest.approx(5e6, rel=1e-9)


@pytest.mark.parametrize(("upper", "n_samples"), [(1, 3), (1, 8), (2, 7), (3, 8), (5, 6), (7, 40)])
def test_where_values_coincide_at_an_end_it_is_that_of_two_values(upper: int, n_samples: int) -> None:
    """Two values have the least kurtosis of any law beside their skewness, 1 + g^2; their higher moments by hand."""
    p = upper / n_samples
    z = np.array([-np.sqrt(p / (1 - p)), np.sqrt((1 - p) / p)])
    held = tuple(float((1 - p) * z[0] ** j + p * z[1] ** j) for j in range(5))
    if abs(held[3]) < skewness_range(n_samples)[1]:
        found = reach(Shares(n_samples), (1.0, 0.0, 1.0, held[3]))
        assert found is not None and found.low == pytest.approx(held[4], rel=1e-13)
    assert of_counts([n_samples - upper, upper], held[:4]).low == pytest.approx(held[4], rel=1e-13)


def test_long_samples_come_near_the_least_of_any_law_and_not_below() -> None:
    """The eighth moment beside Gaussian ones of lower order is at least 105 - 4!: the Hankel determinant is 0 there."""
    found = reach(Shares(10**6), GAUSSIAN[:8])
    assert found is not None and 81 < found.low < 81 + 1e-3
