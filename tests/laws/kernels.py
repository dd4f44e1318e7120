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

from symdecouple.numeric.kernels import compile as jit, parallel
from symdecouple.versions import kernel_modules
from tests.laws.rows import FUNCTIONS, HARD, Array, Function, drawn

ASKED = ("numbers", "gradients", "normalized")
WITH_KERNELS = ("orthokurtosis", "decoupled, 4", "decoupled, 6", "plan of four moments", "plan of six moments",
                "another reference", "energies", "filter moments")
MOMENTS = WITH_KERNELS[:6]
# Lengths of the second rows: a kernel for long ones only; slow without; nodes instead of the entries.
SECOND = {"energies": 6000, "filter moments": 16, "decoupled, 6": 800, "orthokurtosis": 2000, "another reference": 600}


class Case(NamedTuple):
    """What is asked of a function of the table, on rows of a law: "drawn" for its own, or "odd"."""

    function: str
    asked: str
    law: str


class Answers(NamedTuple):
    """Numbers and outcomes of each case, what is not the same alone or in single precision, and calls of kernels."""

    found: dict[Case, list[tuple[Array, list[str]]]]
    apart: list[tuple[Case, str]]
    calls: Counter[tuple[str, str]]


def cases() -> Iterator[Case]:
    for name in WITH_KERNELS:
        function = FUNCTIONS[name]
        for asked in ASKED if function.plan else ASKED[:1]:
            yield Case(name, asked, "drawn")
            if name in MOMENTS and asked != "gradients":
                yield Case(name, asked, "odd")
        for law in HARD if function.hard else ():
            yield Case(name, "numbers", law)


CASES = list(cases())


def rows_of(case: Case) -> list[Array]:
    """Rows of two lengths; an infinite one and one of equal values are among those of its own laws."""
    function = FUNCTIONS[case.function]
    if case.law == "odd":
        return [odd(16), crowds(16)][: 2 if case.asked == "numbers" else 1]  # samples differ by rounding, grown
    if case.law != "drawn":
        return [drawn(case.law, 2, function.sizes[0], 6)]
    short, long = function.sizes[0], SECOND.get(case.function, function.middle)
    rows = [np.full(short, 7.0), np.where(np.arange(short) == 1, np.inf, 1.0 * np.arange(short))]
    return [np.concatenate([*(drawn(law, 2, short, 8) for law in function.laws), rows]),
            np.concatenate([drawn(law, 1, long, 8) for law in function.laws])]


def odd(n: int) -> Array:
    """Far from ordinary: few values, ties that leave no way or no end, crowds, an outlier, the ends of float64."""
    rng, rows = np.random.default_rng(n), np.random.default_rng(n).exponential(size=(11, n))
    rows[0] = np.resize([1.0, 2], n)
    rows[1] = np.resize([0.0, 0, 1], n)
    rows[2] = np.resize([0.0, 1, 5], n)
    rows[3, : n // 2] = 0
    rows[4, : 2 * n // 5] = 0
    rows[5] = np.arange(n) % 2 + 1e-11 * rng.random(n)
    rows[6, 0] = 1e12
    rows[7, :2] = -1.7e308, 1.7e308
    rows[8] *= 1e-200
    rows[9] = np.ldexp(np.round(64 * rows[9]), 900)
    return rows


def crowds(n: int) -> Array:
    """Errors grow 10^3 to 10^12 times; some rows are refused for that."""
    rng = np.random.default_rng(n)
    noise = rng.random((4, n))
    return np.concatenate([np.arange(n) % [[6], [5], [5], [3]] + [[1e-7], [1e-5], [1e-5], [1e-4]] * noise,
                           rng.gamma(0.1, size=(3, n))])


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
    build, are_warm = jit.Kernels.build, jit.Kernels.are_warm

    def counted(self: jit.Kernels, *functions: Callable[..., Any], fast: Iterable[str] = ()) -> Any:
        jit.Kernels.are_warm = are_warm  # type: ignore[method-assign]  # else what older sources left would answer
        made = build(self, *functions, fast=fast) if way == "compiled" else functions
        jit.Kernels.are_warm = lambda *_: wanted  # type: ignore[method-assign,assignment,misc]

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
    parallel._SHARE = 64  # so that rows are shared among threads
    parallel.cores = lambda: 3


@cache
def answers(way: str) -> Answers:
    """All answers one way: "numpy", "interpreted" or "compiled"."""
    command = [sys.executable, "-m", "tests.laws.kernels", way]
    done = subprocess.run(command, capture_output=True, check=False, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr.decode()
    found, apart, calls = pickle.loads(done.stdout)
    return Answers({Case(*case): answer for case, answer in found.items()}, apart, calls)


def differences(case: Case, rows: Array, found: tuple[Array, list[str]]) -> Iterator[tuple[Case, str]]:
    """Rows alone, where they are shared among threads together; and narrow ones, beside the same numbers widened."""
    function = FUNCTIONS[case.function]
    for i in (1, len(rows) - 1):
        alone, told = asked_of(case, function, rows[i : i + 1].copy())
        if told != found[1][i : i + 1] or not np.array_equal(alone[0], found[0][i], equal_nan=True):
            yield case, f"row {i} alone"
    if case.asked == "numbers" and case.law == "drawn":
        narrow = rows.astype(np.float32)
        single, wide = (asked_of(case, function, some) for some in (narrow, narrow.astype(float)))
        if single[1] != wide[1] or not np.array_equal(single[0], wide[0].astype(single[0].dtype), equal_nan=True):
            yield case, "single precision"


def main(way: str) -> None:
    calls: Counter[tuple[str, str]] = Counter()
    choose(way, calls)
    found, apart = {}, []
    with np.errstate(all="ignore"):
        for case in CASES:
            sets = rows_of(case)
            found[tuple(case)] = [asked_of(case, FUNCTIONS[case.function], rows) for rows in sets]
            if way == "compiled":  # the others are not asked
                apart += [(tuple(one), what) for rows, got in zip(sets, found[tuple(case)], strict=True)
                          for one, what in differences(case, rows, got)]
    for module in kernel_modules().values():
        if way == "compiled" and module.KERNELS.name in jit._BUILT:
            module.KERNELS.note_warm()  # all of it has been called
    sys.stdout.buffer.write(pickle.dumps((found, apart, calls)))


if __name__ == "__main__":
    main(sys.argv[1])
