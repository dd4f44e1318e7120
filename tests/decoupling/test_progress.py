"""What is told of long calls: portions by the clock, bars, and interruptions."""

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from symdecouple import InvalidInput, decouple
from symdecouple.decoupling import progress
from symdecouple.decoupling.progress import Portioned, reported
from symdecouple.families.moments import raw_moments

PLAN = decouple(raw_moments(5))
SAMPLES = np.random.default_rng(0).gamma(2.0, size=(70, 9))


class Clock:
    """A clock that the test moves."""

    now = 0.0

    def perf_counter(self) -> float:
        return self.now

    process_time = perf_counter


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    yield clock


@pytest.mark.parametrize("count, seconds, most", [(1000, 0.01, 45), (30, 0.5, 2), (100_000, 1e-5, 45_000), (3, 2.0, 1)])
def test_portions_take_a_third_of_a_second(clock: Clock, count: int, seconds: float, most: int) -> None:
    heard: list[tuple[float, int]] = []
    paced, done = Portioned(lambda n, total: heard.append((clock.now, n)), count, False), 0
    sizes = []
    for part in paced.cut(np.arange(count)):
        assert part.tolist() == list(range(done, done + len(part)))  # in order, none left out
        clock.now += seconds * len(part)
        done += len(part)
        sizes.append(len(part))
        paced.tell(done, done == count)
    assert done == count and sizes[0] == 1 and max(sizes) <= most and heard[-1][1] == count
    whole = seconds * count
    if whole > 3:
        gaps = np.diff([0.0, *(at for at, _ in heard)])
        assert gaps.max() <= max(2 * seconds, 1.8) and len(heard) >= (whole - 1.8) / max(0.9, 2 * seconds)
    else:
        assert len(heard) <= 4  # it is over before one wonders


def test_rows_that_cost_little_beside_a_call_go_together(clock: Clock) -> None:
    sizes = []
    for part in Portioned(lambda *_: None, 1000, False).cut(np.arange(1000)):
        clock.now += 0.25 + 1e-4 * len(part)
        sizes.append(len(part))
    assert sum(sizes) == 1000 and len(sizes) <= 11


def test_nobody_waits_for_what_is_told_to_nobody() -> None:
    assert [len(part) for part in Portioned(None, 50, False).cut(np.arange(50))] == [50]


def test_answers_are_the_same_bits_and_the_end_is_told() -> None:
    heard: list[tuple[int, int]] = []
    found, outcomes = PLAN.transform(SAMPLES, on_refusal="return", progress=lambda *n: heard.append(n))
    expected, others = PLAN.transform(SAMPLES, on_refusal="return")
    np.testing.assert_array_equal(found, expected)
    assert outcomes == others and heard[-1] == (70, 70) and sorted(set(heard)) == heard


def test_samples_that_are_asked_are_counted() -> None:
    told: list[tuple[int, int]] = []
    samples = np.random.default_rng(0).normal(size=(3, 2**17))
    samples[1, 5] = np.nan
    PLAN.transform(samples, progress=lambda done, total: told.append((done, total)))
    assert told == [(2, 2)]
    told.clear()
    PLAN.normalize([[1, 2, 4], [1, 3, 4]], 2, dps=20, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]


def test_masked_rows_are_counted_together() -> None:
    heard: list[tuple[int, int]] = []
    rows = np.ma.masked_array(SAMPLES[:6], np.eye(6, 9) * (np.arange(6) < 3)[:, None])
    PLAN.transform(rows, on_refusal="return", progress=lambda *n: heard.append(n))
    assert heard[-1] == (6, 6) and (3, 6) in heard


def test_a_plan_is_made_in_steps() -> None:
    heard: list[tuple[int, int]] = []
    decouple(raw_moments(3), progress=lambda *n: heard.append(n))
    assert heard == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize("wrong", [5, "bar", [], 1.5, 1, 0])
def test_other_things_are_no_progress(wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="True, for a bar"):
        PLAN.transform(SAMPLES[:1], progress=wrong)


def test_a_line_without_tqdm(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    PLAN.transform(SAMPLES, on_refusal="return", progress=True)
    out, err = capsys.readouterr()
    assert not out and err.endswith("transform: 70 of 70 samples, Ctrl-C stops\n")
    PLAN.transform(SAMPLES[:1], on_refusal="return", progress=False)
    PLAN.transform(np.full((2, 9), np.nan), progress=True)  # nothing to do, nothing to tell
    assert capsys.readouterr() == ("", "")


def test_a_bar_of_tqdm_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    bars: list[Any] = []

    class Bar:
        def __init__(self, **settings: Any) -> None:
            self.settings, self.n, self.is_closed = settings, 0, False
            bars.append(self)

        def update(self, more: int) -> None:
            self.n += more

        def close(self) -> None:
            self.is_closed = True

    module = ModuleType("tqdm.auto")
    module.tqdm = Bar  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)
    with pytest.raises(KeyboardInterrupt), reported(True, "transform") as tell:
        assert tell is not None
        tell(3, 10)
        tell(7, 10)
        raise KeyboardInterrupt
    (bar,) = bars
    assert (bar.settings["total"], bar.n, bar.is_closed) == (10, 7, True)
