"""A transform that was interrupted goes on where it stopped, and nothing else is taken from its file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symdecouple import InvalidInput, decouple
from symdecouple.decoupling import running
from symdecouple.families.moments import raw_moments

SAMPLES = np.random.default_rng(0).gamma(2.0, size=(7, 12))
SAMPLES[1] = 5.0  # refused
SAMPLES[4, 3] = np.nan  # refused before it is asked


@pytest.fixture(autouse=True)
def small_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "_CHUNK", 24)  # two samples


def interrupted(plan: Any, file: Path, after: int, samples: np.ndarray = SAMPLES) -> None:
    def stop(done: int, all_of_them: int) -> None:
        if done >= after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        plan.transform(samples, checkpoint=file, progress=stop, on_refusal="return")


def test_goes_on_where_it_stopped(tmp_path: Path) -> None:
    plan, file = decouple(raw_moments(4)), tmp_path / "half.npz"
    expected, outcomes = plan.transform(SAMPLES, on_refusal="return")
    interrupted(plan, file, after=4)
    told: list[tuple[int, int]] = []
    again = decouple(raw_moments(4))
    found, others = again.transform(SAMPLES, checkpoint=file, on_refusal="return", progress=lambda *n: told.append(n))
    np.testing.assert_array_equal(found, expected)
    assert others == outcomes and [o.ok for o in others] == [True, False, True, True, False, True, True]
    assert told == [(6, 6)]  # four were there, two of those to do were left
    told.clear()
    np.testing.assert_array_equal(again.transform(SAMPLES, checkpoint=file, on_refusal="return",
                                                  progress=lambda *n: told.append(n))[0], expected)
    assert not told and [p.name for p in tmp_path.iterdir()] == ["half.npz"]


def test_single_precision_goes_on_as_well(tmp_path: Path) -> None:
    plan, samples = decouple(raw_moments(4)), SAMPLES.astype(np.float32)
    expected = plan.transform(samples, on_refusal="return")[0]

    for _ in range(2):
        interrupted(plan, tmp_path / "c", 0, samples)
    found = plan.transform(samples, checkpoint=tmp_path / "c", on_refusal="return")[0]
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, expected)


def test_a_first_portion_without_answers_is_kept(tmp_path: Path) -> None:
    plan, samples = decouple(raw_moments(4)), np.full((3, 12), np.nan)
    first = plan.transform(samples, checkpoint=tmp_path / "c", on_refusal="return")
    second = plan.transform(samples, checkpoint=tmp_path / "c", on_refusal="return")
    assert np.isnan(first[0]).all() and first[0].shape == (3, 4) and first[1] == second[1]
    np.testing.assert_array_equal(first[0], second[0])


def test_what_was_perturbed_is_told_again(tmp_path: Path) -> None:
    plan = decouple(raw_moments(4), perturb="ramp")
    ties = np.array([[0, 0, 0, 0, 0, 1, 2, 4]] * 3)
    first = plan.transform(ties, checkpoint=tmp_path / "c", on_refusal="return")
    second = plan.transform(ties, checkpoint=tmp_path / "c", on_refusal="return")
    np.testing.assert_array_equal(first[0], second[0])
    assert first[1] == second[1] and first[1][0].ok and first[1][0].detail


@pytest.mark.parametrize("other", ["samples", "features", "reference", "path", "perturbation"])
def test_the_file_of_something_else_is_refused(tmp_path: Path, other: str) -> None:
    plan, file = decouple(raw_moments(4)), tmp_path / "c.npz"
    interrupted(plan, file, after=2)
    samples = SAMPLES + (1e-12 if other == "samples" else 0)
    plans = {"features": lambda: decouple(raw_moments(3)), "reference": lambda: decouple(raw_moments(4), [0, 2, 0]),
             "path": lambda: decouple(raw_moments(4), path="narrow"),
             "perturbation": lambda: decouple(raw_moments(4), perturb="ramp")}
    with pytest.raises(InvalidInput, match="another plan or of other samples"):
        plans.get(other, lambda: plan)().transform(samples, checkpoint=file)


def test_no_checkpoint(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("my notes")
    with pytest.raises(InvalidInput, match="is no checkpoint"):
        decouple(raw_moments(3)).transform(SAMPLES, checkpoint=file)
    assert file.read_text() == "my notes"
    with pytest.raises(InvalidInput, match="leave dps out"):
        decouple(raw_moments(3)).transform(SAMPLES, checkpoint=tmp_path / "c", dps=20)
