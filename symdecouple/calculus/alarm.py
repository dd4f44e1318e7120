"""Interrupting a block of Python from outside, also inside library calls that never look at a clock."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from symdecouple.errors import BudgetExceeded

__all__ = ["Interrupted", "alarm"]

REPEAT = 0.05  # seconds from one try to the next
TRIES = 200
_set_exception = ctypes.pythonapi.PyThreadState_SetAsyncExc


class Interrupted(BudgetExceeded):
    """What an alarm raises, without arguments; who sets the alarm says what took too long."""


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raise `Interrupted` in this thread after so many seconds, unless the block ends first.

    It takes effect between two Python instructions, so only a single long step of compiled code could outlast it. Where
    it falls into a callback from which nothing can be raised (of the garbage collector, of a weak reference), or into
    code that swallows every exception, it is lost: then it is raised again, for ten seconds or until the block ends.
    """
    thread, lock, ended = ctypes.c_ulong(threading.get_ident()), threading.Lock(), threading.Event()
    is_over = False

    def ring() -> None:
        if ended.wait(min(seconds, threading.TIMEOUT_MAX)):
            return
        with _lost_in_silence():
            for _ in range(TRIES):
                with lock:
                    if is_over:
                        return
                    _set_exception(thread, ctypes.py_object(Interrupted))
                if ended.wait(REPEAT):
                    return

    ringer = threading.Thread(target=ring, daemon=True, name="symdecouple alarm")
    try:
        ringer.start()
        yield
    finally:
        is_over = True  # the first instruction here: nothing can come between
        try:
            with lock:  # one that is being raised comes now, or never
                _set_exception(thread, ctypes.py_object())
        except Interrupted:
            pass
        ended.set()
        if ringer.is_alive():
            ringer.join()


@contextmanager
def _lost_in_silence() -> Iterator[None]:
    """Python reports exceptions that it cannot raise: not ours, which come again."""
    usual = sys.unraisablehook

    def report(event: Any, usual: Callable[[Any], object] = usual) -> None:
        if event.exc_type is not Interrupted:
            usual(event)

    sys.unraisablehook = report
    try:
        yield
    finally:
        if sys.unraisablehook is report:  # otherwise another has been put around it
            sys.unraisablehook = usual
