"""Stages that paths of the moments keep, and the way back through them by products of matrices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from symdecouple.numeric.moments import moment_path
from symdecouple.numeric.moments.moment_path import Followed, follow
from symdecouple.numeric.moments.pullback import Backward
from symdecouple.numeric.moments.skewness_flow import impose_skewness
from symdecouple.numeric.moments.stages import Recorder, StagedStep, some_rows
from symdecouple.numeric.moments.step_adjoint import step_back_together
from symdecouple.numeric.paths.integrate import NODES, STAGES, Step, pull_back


def path_of(law: str, shape: tuple[int, int], k: int = 4, target: float = 3.0) -> Followed:
    x = getattr(np.random.default_rng(shape[1]), law)(size=shape)
    z = impose_skewness(x, 0.0).values
    if k == 5:
        z = follow(z, 4, 3.0).values
    return follow(z, k, target, store=True)


@pytest.mark.parametrize(("law", "k", "target"), [("normal", 4, 3.0), ("exponential", 4, 3.0), ("exponential", 5, 0.0)])
def test_the_stages_that_are_kept_are_those_of_the_pair(law: str, k: int, target: float) -> None:
    """Y_i = y + h sum a_ij V(Y_j), for every step that was accepted; some rows take more steps than others."""
    followed = path_of(law, (7, 60), k, target)
    course = followed.course
    assert len({*followed.path.steps.tolist()}) > 1 or law == "normal"
    assert sum(len(step.which) for step in followed.path.tape) == followed.path.steps.sum() > 0
    for step in followed.path.tape:
        assert isinstance(step, StagedStep)
        points = [step.values, *step.later]
        slopes = [course.slope(y, step.begin, step.which) for y in points]
        for row, y in zip(STAGES[1:], step.later, strict=True):
            expected = step.values + step.size[:, None] * sum(a * slopes[j] for j, a in row.items())
            assert y == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize(("law", "k", "target"), [("normal", 4, 3.0), ("exponential", 4, 3.0), ("exponential", 5, 0.0)])
def test_by_powers_or_by_the_recurrence(law: str, k: int, target: float, count: int) -> None:
    """The sums of `adjoint` by Stieltjes' polynomials, with stages made again, give the same."""
    followed = path_of(law, (5, 150), k, target)
    covectors = np.random.default_rng(1).normal(size=(count, 5, 150))
    for step in followed.path.tape:
        other = Backward(followed.course, np.zeros((count, 5)))
        plain = Step(step.which, step.begin, step.size, step.values)
        expected = pull_back((plain,), followed.course.slope, other.pull, covectors)[:, step.which]
        for kind in (step, plain):
            found = covectors[:, step.which].copy()
            share, done = step_back_together(kind, k, followed.course.distance[step.which], found)
            assert done.all()
            assert found == pytest.approx(expected, abs=1e-11 * np.abs(expected).max())
            assert share == pytest.approx(other.by_distance[:, step.which], rel=1e-9, abs=1e-11 * np.abs(share).max())


def test_rows_never_meet() -> None:
    followed = path_of("exponential", (9, 50))
    step = next(step for step in followed.path.tape if len(step.which) == 9)
    covectors = np.random.default_rng(2).normal(size=(2, 9, 50))
    distance = followed.course.distance
    together = covectors.copy()
    step_back_together(step, 4, distance, together)
    alone = np.ascontiguousarray(covectors[:, 3:4])
    step_back_together(some_rows(step, np.array([3])), 4, distance[3:4], alone)
    assert np.array_equal(alone[:, 0], together[:, 3])


def test_crowded_rows_are_left_as_they_were() -> None:
    """Forty values in two clusters, 1e-4 wide: fourteen digits are lost in the Hankel matrix of order 4."""
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(2, 40))
    rows[1] = np.resize([-1.0, 1.0], 40) + 1e-4 * rng.normal(size=40)
    step = Step(np.arange(2), np.zeros(2), np.full(2, 0.01), rows)
    given = rng.normal(size=(1, 2, 40))
    covectors = given.copy()
    share, done = step_back_together(step, 4, np.full(2, 0.1), covectors)
    assert done.tolist() == [True, False]
    assert np.array_equal(covectors[:, 1], given[:, 1]) and share[0, 1] == 0
    assert not np.array_equal(covectors[:, 0], given[:, 0]) and share[0, 0] != 0


def test_long_samples_keep_no_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moment_path, "LONGEST", 40)
    assert not any(isinstance(step, StagedStep) for step in path_of("exponential", (2, 41)).path.tape)
    assert all(isinstance(step, StagedStep) for step in path_of("exponential", (2, 40)).path.tape)


def test_what_was_noted_elsewhere_is_not_taken_for_stages() -> None:
    """A step whose places on the path are others than those that were noted goes without."""
    step = path_of("exponential", (2, 30)).path.tape[0]
    assert isinstance(step, StagedStep)
    plain, recorder = Step(step.which, step.begin, step.size, step.values), Recorder()
    for y in step.later:
        recorder.asked(y, step.begin, step.which)
    recorder.accepted(step.values, step.which)
    assert recorder.staged([plain]) == (plain,)
    assert recorder.staged([plain, plain]) == (plain, plain)


def test_a_step_that_fails_after_all_is_not_kept() -> None:
    recorder = Recorder()
    for node in NODES[1:]:
        recorder.asked(np.arange(6.0).reshape(2, 3), np.full(2, 0.5 * node), np.array([0, 4]))
    recorder.accepted(np.full((1, 3), np.nan), np.array([0]))
    assert recorder.kept == []
    recorder.accepted(np.array([[np.nan, 0, 0], [1, 2, 3.0]]), np.array([0, 4]))
    (step,) = recorder.staged([Step(np.array([4]), np.zeros(1), np.array([0.5]), np.ones((1, 3)))])
    assert isinstance(step, StagedStep) and all(y.tolist() == [[3.0, 4, 5]] for y in step.later)
    assert replace(step, which=np.array([1])).later == step.later
