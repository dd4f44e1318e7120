"""One row at a time along its narrow path: the same ends as in a batch, the same refusals, moments that hold."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from symdecouple.numeric.moments import walk as moment_walk
from symdecouple.numeric.moments.moment_path import follow
from symdecouple.numeric.moments.pullback import pullback
from symdecouple.numeric.moments.skewness_flow import impose_skewness
from symdecouple.numeric.moments.stages import StagedStep
from symdecouple.numeric.moments.walk import walk
from symdecouple.numeric.paths.integrate import End
from tests.numeric import moment_oracle

HELD = [0.0, 1.0, 0.0, 3.0, 0.0]
LAWS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "crowded": lambda rng, n: rng.gamma(0.2, size=n),
    "two clusters": lambda rng, n: np.arange(n) % 2 + 0.03 * rng.normal(size=n),
    "ties": lambda rng, n: np.where(np.arange(n) % 3 == 0, 0.0, rng.normal(size=n)),
}


def level_3(law: str, n: int) -> np.ndarray:
    return impose_skewness(LAWS[law](np.random.default_rng(n), n)[None], 0.0).values


@pytest.mark.parametrize("k", [4, 5, 6])
@pytest.mark.parametrize("law", LAWS)
def test_alone_as_in_a_batch(law: str, k: int) -> None:
    z = level_3(law, 200)
    for level in range(4, k):
        z = follow(z, level, HELD[level - 1] if level < 6 else 15.0, held=HELD[: level - 1]).values
    target = 3.0 if k == 4 else 0.0 if k == 5 else 0.9 * np.mean(z**6) + 1.5
    one, other = (follow(z, k, target, held=HELD[: k - 1], one_by_one=alone) for alone in (True, False))
    assert {i: o.reason for i, o in one.refusals.items()} == {i: o.reason for i, o in other.refusals.items()} == {}
    assert one.values == pytest.approx(other.values, abs=3e-10)
    assert one.growth == pytest.approx(other.growth, rel=0.3) and one.residual[0] <= 2e-14


@pytest.mark.parametrize("n", [9, 12])
def test_against_many_digits(n: int) -> None:
    x = np.random.default_rng(n).gamma(2.0, size=n)
    z = impose_skewness(x[None], 0.0).values
    there = follow(z, 4, 3.0, held=HELD[:3], one_by_one=True)
    exact = moment_oracle.decoupled(x.tolist(), 5, digits=12, dps=30)[1]
    assert np.mean(there.values**5) == pytest.approx(float(exact), rel=1e-10, abs=1e-10)


def test_weights_count_as_repetitions() -> None:
    rng = np.random.default_rng(1)
    values, counts = rng.normal(size=60), rng.integers(1, 6, 60)
    x = np.repeat(values, counts)
    z = impose_skewness(x[None], 0.0).values
    first = np.append(0, np.cumsum(counts)[:-1])
    alone = follow(z[:, first], 4, 3.0, held=HELD[:3], weights=counts[None] / counts.sum(), one_by_one=True)
    repeated = follow(z, 4, 3.0, held=HELD[:3], one_by_one=True)
    assert alone.values[0] == pytest.approx(repeated.values[0, first], abs=1e-11)


def test_a_path_that_ends_says_where() -> None:
    """38 % of the values at the minimum: order 5 ends at four atoms, whose moments are found by Newton's method."""
    rng = np.random.default_rng(2)
    x = np.where(rng.uniform(size=400) < 0.38, 0.0, 1 + np.abs(rng.normal(size=400)))
    z = follow(impose_skewness(x[None], 0.0).values, 4, 3.0, held=HELD[:3]).values
    one, other = (follow(z, 5, 0.0, held=HELD[:4], one_by_one=alone) for alone in (True, False))
    assert one.refusals[0].reason == other.refusals[0].reason == "moment not attainable"
    assert one.attained == pytest.approx(other.attained, rel=1e-9)


def test_what_has_no_velocity_stalls() -> None:
    """Three values are a critical point of the fourth moment, with a norm of zero."""
    z = np.repeat([-1.5**0.5, 0.0, 1.5**0.5], 4)
    with np.errstate(all="ignore"):
        there = walk(z, 4, np.array([1.0, 0, 1, 0, 1.6]), 0.1, None, 1e-11, lambda y: None, 0.0)
    assert there.ending in (End.STALLED, End.EXHAUSTED) and there.reached < 1e-20


@pytest.mark.parametrize("law", LAWS)
def test_steps_that_are_kept_lead_back(law: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of a batch do; with all their points, with some, and where these are made again."""
    z, covectors = level_3(law, 200), np.random.default_rng(2).normal(size=(2, 1, 200))
    batch = follow(z, 4, 3.0, held=HELD[:3], store=True, one_by_one=False, rtol=1e-13)
    exact, found = pullback(batch, covectors), []
    for steps in (0, 2, 10**6):
        monkeypatch.setattr(moment_walk, "_ROOM", 12 * 200 * steps)
        one = follow(z, 4, 3.0, held=HELD[:3], store=True, one_by_one=True, rtol=1e-13)
        kept = [isinstance(step, StagedStep) for step in one.path.tape]
        assert len(kept) == one.path.steps[0] and sum(kept) == min(steps, len(kept))
        found.append(pullback(one, covectors))
        assert found[-1] == pytest.approx(exact, abs=1e-9 * np.abs(exact).max())
        assert found[-1] == pytest.approx(found[0], abs=1e-11 * np.abs(exact).max())
    assert follow(z, 4, 3.0, held=HELD[:3], one_by_one=True).path.tape == ()
