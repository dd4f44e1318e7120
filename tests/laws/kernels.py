"""Three ways to one number: the kernels compiled, the same functions run by Python, and NumPy without them.

Nothing here knows a kernel by its name. Public functions (`rows.FUNCTIONS`: statistics, plans, their gradients and
normalized samples) are asked in a process in which all kernels are wanted, or none, and every function that a set of
`Kernels` hands out is counted. In a process of its own, because what is built once in a process is kept.

    python -m tests.laws.kernels compiled
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from symdecouple.numeric.kernels import compile as jit
from tests.laws.rows import FUNCTIONS, HARD, Array, Function, drawn

__all__ = ["CASES", "Answers", "Case", "answers", "bound_of"]

ASKED = ("numbers", "gradients", "normalized")
WITH_KERNELS = ("orthokurtosis", "decoupled, 4", "decoupled, 6", "plan of four moments", "plan of six moments",
                "energies", "filter moments")
SECOND = {"energies": 6000, "filter moments": 16}  # lengths of rows: a kernel for long ones only; slow without


class Case(NamedTuple):
    """What is asked of a function of the table, on rows of a law: "drawn" for its own laws and rows that it refuses."""

    function: str
    asked: str
    law: str


class Answers(NamedTuple):
    """Numbers and outcomes of a case, and how often each function of a set of kernels was called in all cases."""

    found: dict[Case, list[tuple[Array, list[str]]]]
    calls: Counter[tuple[str, str]]


def cases() -> Iterator[Case]:
    for name in WITH_KERNELS:
        function = FUNCTIONS[name]
        for asked in ASKED if function.plan else ASKED[:1]:
            yield Case(name, asked, "drawn")
        for law in HARD if function.hard else ():
            yield Case(name, "numbers", law)


CASES = list(cases())


def rows_of(case: Case) -> list[Array]:
    """Rows of two lengths; an infinite one and one of equal values are among those of its own laws."""
    function = FUNCTIONS[case.function]
    if case.law != "drawn":
        return [drawn(case.law, 2, function.sizes[0], 6)]
    return [np.concatenate([*(drawn(law, 2, n, 8) for law in function.laws),
                            [np.full(n, 7.0), np.where(np.arange(n) == 1, np.inf, 1.0 * np.arange(n))]])
            for n in sorted({function.sizes[0], SECOND.get(case.function, function.middle)})]


def bound_of(case: Case, values: Array) -> Array:
    """How far two ways may differ, relative to the numbers and 1, or to the longest gradient.

    Some roundings of well-conditioned rows; moments above the fourth end an integration to the law's own bound.
    """
    bounds = np.full(values.shape[1], 1e-12)
    if case.asked == "numbers":
        bounds[4:] = FUNCTIONS[case.function].bound
    return bounds


def asked_of(case: Case, function: Function, rows: Array) -> tuple[Array, list[str]]:
    if case.asked == "numbers":
        values, outcomes = function.answer(rows)
    else:
        assert function.plan is not None
        plan = function.plan()
        ask = plan.gradients if case.asked == "gradients" else plan.normalize
        values, outcomes = ask(rows, on_refusal="return")
    return np.asarray(values).reshape(len(rows), -1), [str(outcome) for outcome in outcomes]


def choose(way: str, calls: Counter[tuple[str, str]]) -> None:
    """Have all kernels wanted in this process, or none."""
    wanted = way != "numpy"
    build = jit.Kernels.build

    def counted(self: jit.Kernels, *functions: Callable[..., Any], fast: Iterable[str] = ()) -> Any:
        made = build(self, *functions, fast=fast) if way == "compiled" else functions

        def counting(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
            calls[self.name, name] += 0

            def called(*arguments: Any) -> Any:
                calls[self.name, name] += 1
                return function(*arguments)

            return called

        return tuple(counting(one.__name__, twin) for one, twin in zip(functions, made, strict=True))

    jit.Kernels.build = counted  # type: ignore[method-assign]
    jit.Kernels.are_wanted = lambda *_: wanted  # type: ignore[method-assign]
    jit.Kernels.are_warm = lambda *_: wanted  # type: ignore[method-assign]
    jit.is_available = lambda: wanted


@cache
def answers(way: str) -> Answers:
    """All answers one way: "numpy", "interpreted" or "compiled"."""
    command = [sys.executable, "-m", "tests.laws.kernels", way]
    done = subprocess.run(command, capture_output=True, check=False, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr.decode()
    found, calls = pickle.loads(done.stdout)
    return Answers({Case(*case): answer for case, answer in found.items()}, calls)


def main(way: str) -> None:
    calls: Counter[tuple[str, str]] = Counter()
    choose(way, calls)
    with np.errstate(all="ignore"):
        found = {case: [asked_of(case, FUNCTIONS[case.function], rows) for rows in rows_of(case)] for case in CASES}
    sys.stdout.buffer.write(pickle.dumps(({tuple(case): got for case, got in found.items()}, calls)))


if __name__ == "__main__":
    main(sys.argv[1])
