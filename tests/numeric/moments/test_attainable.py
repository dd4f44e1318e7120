"""Limits of shape statistics, in exact arithmetic and by search; dead ends of paths, by hand and as they stall."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from symdecouple.numeric.moments import moment_path
from symdecouple.numeric.moments.attainable import beyond_end, saturated_skewness, skewness_interval
from symdecouple.numeric.moments.moment_path import follow
from symdecouple.numeric.moments.out_of_reach import end_before, groups_of
from symdecouple.numeric.paths.integrate import End
from tests.numeric.moments.test_moment_path import at_level_3
from tests.stats import oracle

HELD = (0.0, 1.0, 0.0, 3.0)


@pytest.mark.parametrize(("ties", "n_samples"), [(1, 2), (1, 5), (4, 5), (3, 7), (999, 1000), (1, 1000)])
def test_two_values_have_the_saturated_skewness(ties: int, n_samples: int) -> None:
    exact = oracle.moments([0] * (n_samples - ties) + [1] * ties, 3)[2]
    assert saturated_skewness(ties, n_samples) == pytest.approx(exact, rel=1e-15, abs=0)


def test_the_ends_are_approached_and_never_passed() -> None:
    """x/(1 - t x) next to either pole, by the formula itself."""
    x = np.array([0.0, 0, 0, 1, 2, 5, 5])
    x -= x.mean()
    low, high = skewness_interval(3, 2, 7)
    reached = []
    for t in np.linspace(1 / x.min(), 1 / x.max(), 4001)[1:-1]:
        z = x / (1 - t * x)
        z -= z.mean()
        reached.append(np.mean(z**3) / np.mean(z**2) ** 1.5)
    assert low < min(reached) < low + 1e-4 and high - 1e-4 < max(reached) < high


@pytest.mark.parametrize(("ties", "n_samples"), [(1, 5), (4, 5), (1, 4), (3, 10), (7, 1000), (2, 4), (1, 3)])
def test_ends_are_told_apart_from_their_neighbours(ties: int, n_samples: int) -> None:
    """The rounded end by integer square root: 200 binary digits of it."""
    numerator, square = n_samples - 2 * ties, ties * (n_samples - ties)
    root = Fraction(math.isqrt(square << 400), 1 << 200)
    end = float(numerator / root)
    assert beyond_end(end, ties, n_samples) == 0
    assert beyond_end(math.nextafter(end, math.inf), ties, n_samples) == 1
    assert beyond_end(math.nextafter(end, -math.inf), ties, n_samples) == -1
    assert beyond_end(end - 1, ties, n_samples) == -1 and beyond_end(end + 1, ties, n_samples) == 1
    assert beyond_end(-math.inf, ties, n_samples) == -1 and beyond_end(math.inf, ties, n_samples) == 1


# --- where a path ends ---


def tied_at_the_minimum(n_samples: int, n_tied: int, seed: int = 0) -> np.ndarray:
    x = np.random.default_rng(seed).exponential(size=n_samples)
    x[:n_tied] = 0
    return x


def three_atoms(low: float, high: float) -> float:
    """Fourth moment of atoms with these masses at the ends, mean 0, variance 1, no skewness, by mpmath."""
    masses = [mpmath.mpf(low), 1 - mpmath.mpf(low) - mpmath.mpf(high), mpmath.mpf(high)]

    def moment(at: tuple[mpmath.mpf, ...], j: int) -> mpmath.mpf:
        return sum(w * a**j for w, a in zip(masses, at, strict=True))

    at = mpmath.findroot(lambda *a: [moment(a, 1), moment(a, 2) - 1, moment(a, 3)], (-1.2, 0.3, 3.0))
    assert at[0] < at[1] < at[2]
    return float(moment(tuple(at), 4))


@pytest.mark.parametrize(("z", "highest"), [
    (np.array([-3, -3, -3, -1, 0, 0.2, 1.5, 3, 3, 3.0]), 1 / 0.6),  # atoms -a, 0, a of masses w, 1 - 2w, w: 1/(2w)
    (tied_at_the_minimum(50, 21), three_atoms(21 / 50, 1 / 50)),
])
def test_heavy_ties_end_at_three_atoms(z: np.ndarray, highest: float) -> None:
    z = at_level_3(z)
    _, first, counts = np.unique(z[0], return_index=True, return_counts=True)
    goal = np.array([1, 0, 1, 0, 3.0])
    assert end_before(goal, groups_of(z[0])) == pytest.approx(highest, rel=1e-12)
    weights = np.append(counts, 0)[None] / len(z[0])  # an entry without weight does not count
    for there in (follow(z, 4, 3.0, held=HELD[:3]),
                  follow(z[:, [*first, 0]], 4, 3.0, held=HELD[:3], weights=weights)):
        assert there.attained[0] == pytest.approx(highest, rel=1e-12) and there.path.ending[0] == End.OVER


@pytest.mark.parametrize("seed", range(3))
def test_below_the_summit_every_value_is_reached_and_above_none(seed: int) -> None:
    highest = three_atoms(12 / 30, 1 / 30)
    z = at_level_3(tied_at_the_minimum(30, 12, seed))
    below = highest * (1 - 1e-5)
    assert follow(z, 4, below, held=HELD[:3]).attained[0] == pytest.approx(below, rel=1e-12)
    there = follow(z, 4, highest * (1 + 1e-5), held=HELD[:3])
    assert there.refusals[0].reason == "moment not attainable" and there.path.ending[0] == End.OVER
    assert there.attained[0] == pytest.approx(highest, rel=1e-12)
    assert f"it comes to {highest:.10g} and no farther" in there.refusals[0].detail and np.isnan(there.values).all()


@pytest.mark.parametrize("turned", [1, -1])
def test_the_fifth_moment_is_given_up_on_the_way_at_the_value_it_would_stall_at(
    turned: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = np.stack([turned * tied_at_the_minimum(60, tied, seed) for seed, tied in enumerate((19, 17))])
    z = follow(at_level_3(rows), 4, 3.0, held=HELD[:3]).values
    early = follow(z, 5, 0.0, held=HELD)
    assert (early.path.ending == End.OVER).all()
    monkeypatch.setattr(moment_path, "end_before", lambda *_: None)
    late = follow(z, 5, 0.0, held=HELD)
    assert (late.path.ending == End.STALLED).all()
    assert early.refusals == late.refusals and {o.reason for o in early.refusals.values()} == {"moment not attainable"}
    assert early.attained == pytest.approx(late.attained, rel=1e-9)
    assert np.all(early.path.steps + early.path.failed < 0.7 * (late.path.steps + late.path.failed))


def test_a_target_before_the_last_point_is_reached() -> None:
    z = follow(at_level_3(tied_at_the_minimum(60, 19)), 4, 3.0, held=HELD[:3]).values
    first, last = np.mean(z**5), follow(z, 5, 0.0, held=HELD).attained[0]
    for share in (0.9, 0.999, 1 - 1e-6):
        target = first + share * (last - first)
        assert follow(z, 5, target, held=HELD).attained[0] == pytest.approx(target, rel=1e-11)


def test_ties_decide_and_not_how_near_values_are() -> None:
    """The middle may crowd on the way up, the ends may not: unless they are one value, they come apart."""
    z = np.array([-1.5, -1.5, -0.1, -0.05, 0, 0.05, 0.1, 1.5, 1.5])
    rising, falling = np.array([1.0, 0, 1, 0, 3]), np.array([1.0, 0, 1, 0, 1.2])
    assert end_before(rising, groups_of(z)) == pytest.approx(2.25) and end_before(falling, groups_of(z)) is None
    split = z + np.array([-1e-9, 1e-9, 0, 0, 0, 0, 0, 0, 0])
    assert end_before(rising, groups_of(split)) is None
    assert end_before(rising, np.array([5.0, 5])) == pytest.approx(1)  # two values stay at 1
    assert end_before(rising, np.ones(1)) is None and end_before(np.array([1.0, 0, 1, np.nan, 3]), np.ones(9)) is None
