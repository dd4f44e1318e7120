"""Alarms: they come through, also where one is lost, and leave nothing behind."""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from symdecouple.calculus.alarm import REPEAT, Interrupted, alarm


def spin(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def ringers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "symdecouple alarm"]


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    before = sys.unraisablehook
    yield
    assert not ringers()
    assert sys.unraisablehook is before


def test_a_block_is_interrupted() -> None:
    start = time.monotonic()
    with pytest.raises(Interrupted), alarm(0.05):
        spin(60)
    assert time.monotonic() - start < 30


def test_a_block_in_time_is_left_alone() -> None:
    with alarm(0.05):
        pass
    spin(0.1)


def test_an_alarm_lost_in_a_callback_of_the_collector_comes_again() -> None:
    tries: list[str] = []

    def slow(phase: str, info: dict[str, int]) -> None:
        if phase == "start" and len(tries) < 2:
            tries.append(phase)
            spin(4 * REPEAT)

    gc.callbacks.append(slow)
    try:
        with pytest.raises(Interrupted), alarm(REPEAT):
            while True:
                gc.collect(0)
                spin(REPEAT / 50)
    finally:
        gc.callbacks.remove(slow)
    assert tries


def test_an_alarm_that_is_swallowed_comes_again() -> None:
    swallowed = 0
    with pytest.raises(Interrupted), alarm(0.01):
        while True:
            try:
                spin(60)
            except Exception:
                swallowed += 1
                if swallowed == 3:
                    raise


def test_other_lost_exceptions_are_still_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing:
        def __del__(self) -> None:
            raise ArithmeticError("in a destructor")

    told: list[Any] = []
    with monkeypatch.context() as patch:
        patch.setattr(sys, "unraisablehook", lambda event: told.append(event.exc_type))
        with pytest.raises(Interrupted), alarm(0.01):
            try:
                spin(60)
            finally:
                Failing()
    assert told == [ArithmeticError]


@pytest.mark.parametrize("inner", [0.01, 60.0])
def test_alarms_inside_alarms(inner: float) -> None:
    start = time.monotonic()
    with pytest.raises(Interrupted), alarm(0.2):
        if inner < 1:
            with pytest.raises(Interrupted), alarm(inner):
                spin(60)
            assert time.monotonic() - start < 10
            spin(60)
        with alarm(inner):
            spin(60)
    assert time.monotonic() - start < 30


def test_many_short_alarms() -> None:
    """Where the end of the block and the alarm meet, one of the two comes first."""
    n_interrupted = 0
    for i in range(200):
        try:
            with alarm(0.001):
                spin(0.0009 + (i % 20) * 1e-5)
        except Interrupted:
            n_interrupted += 1
        assert not ringers()
    spin(2 * REPEAT)
    assert n_interrupted < 200
