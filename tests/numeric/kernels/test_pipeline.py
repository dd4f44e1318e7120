"""What goes through the short pipeline gives the numbers of Python and of numba's own, and leaves no trace."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from symdecouple.numeric.kernels import compile as jit
from symdecouple.numeric.kernels.compile import Kernels
from symdecouple.numeric.samples.batch import FloatArray

numba = pytest.importorskip("numba")
VALUES = np.array([0.5, -1.25, 3.0, -0.75, 2.0, 8.5, -4.0])


@pytest.fixture(autouse=True)
def functions_of_this_file_are_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(jit, "_PACKAGE", __name__.partition(".")[0])
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))  # nothing is on the disk: all is compiled
    was_enabled = gc.isenabled()
    yield
    (gc.enable if was_enabled else gc.disable)()


def entry(rows: FloatArray, count: int, out: FloatArray) -> None:
    """Calls in calls, scratch, views, both kinds of index, tuples, branches that change a type's origin."""
    scratch = np.empty((2, rows.shape[1]))
    for r in range(len(rows)):
        low, high = ends(rows[r])
        for i in range(rows.shape[1]):
            scratch[0, i] = (rows[r, i] - low) / (high - low)
            scratch[1, i] = scratch[0, -1 - i] if i <= r else 1.0
        out[r, 0] = power_sum(scratch[0], count)
        out[r, 1] = power_sum(scratch[1, 1:], max(count, 1)) + out[r - 1, -1]
        out[r, 2] = np.nan if count < 0 else float(count) + np.sqrt(high)


def ends(row: FloatArray) -> tuple[float, float]:
    low = high = row[0]
    for x in row[1:]:
        low, high = min(low, x), max(high, x)
    return low, high


def power_sum(row: FloatArray, count: int) -> float:
    total = 0.0
    for i in range(len(row)):
        power = 1.0
        for _ in range(count):
            power *= row[i]
        total += power
    return total


def broken(x: float) -> float:
    return ends(x)[0]  # type: ignore[arg-type]


def twin_of(function: object, fast: frozenset[str] = frozenset()) -> tuple[object, dict[object, object]]:
    made: dict[object, object] = {}
    return jit._twin(function, fast, made, is_entry=True), made


@pytest.mark.parametrize("fast", [frozenset(), frozenset({"power_sum"}), frozenset({"ends", "power_sum"})])
def test_the_numbers_are_those_of_python(fast: frozenset[str]) -> None:
    rows = np.stack([VALUES, VALUES[::-1] ** 2, VALUES - 100])
    twin, _ = twin_of(entry, fast)
    for count in (0, 3, -1):
        expected, found = np.zeros((3, 3)), np.zeros((3, 3))
        with np.errstate(invalid="ignore"):
            entry(rows, count, expected)
        twin(rows, count, found)  # type: ignore[operator]
        np.testing.assert_allclose(found, expected, rtol=1e-15, atol=0)


def test_a_function_that_others_call_can_be_an_entry_as_well_as_a_part() -> None:
    made: dict[object, object] = {}
    part = jit._twin(power_sum, frozenset(), made)
    alone = jit._twin(power_sum, frozenset(), {}, is_entry=True)
    assert alone(VALUES, 2) == float(np.sum(VALUES**2)) and made[power_sum] is part


def test_a_plain_function_compiled_between_ours_keeps_its_own_rules() -> None:
    """Division by zero raises in numba's own model, and in ours it gives infinity."""
    twin, _ = twin_of(quotient)
    assert twin(1.0, 0.0) == np.inf  # type: ignore[operator]
    with pytest.raises(ZeroDivisionError):
        numba.njit(quotient)(1.0, 0.0)
    again, _ = twin_of(quotient)
    assert again(-1.0, 0.0) == -np.inf  # type: ignore[operator]


def quotient(x: float, y: float) -> float:
    return x / y


@pytest.mark.parametrize("is_enabled", [True, False])
def test_the_garbage_collector_is_left_as_it_was(is_enabled: bool) -> None:
    (gc.enable if is_enabled else gc.disable)()
    twin, _ = twin_of(power_sum)
    twin(VALUES, 2)  # type: ignore[operator]
    assert gc.isenabled() == is_enabled
    twin, _ = twin_of(broken)
    with pytest.raises(numba.TypingError):
        twin(1.0)  # type: ignore[operator]
    assert gc.isenabled() == is_enabled


def test_other_steps_of_compilation_are_another_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = Kernels("symdecouple.numeric.some_kernel", ("symdecouple.errors",), seconds=1e-7)
    seen = []
    find = jit.importlib.util.find_spec
    monkeypatch.setattr(jit.importlib.util, "find_spec", lambda name: seen.append(name) or find(name))
    jit._fingerprint.cache_clear()
    kernels._mark()
    assert {"symdecouple.errors", "symdecouple.numeric.kernels.pipeline"} <= set(seen)


def test_a_newer_numba_compiles_in_its_own_way(monkeypatch: pytest.MonkeyPatch) -> None:
    from numba.core.compiler import Compiler

    from symdecouple.numeric.kernels import pipeline

    pipeline.pipelines.cache_clear()
    try:
        with monkeypatch.context() as patch:
            patch.setattr(pipeline, "_TRIED", (0, 59))
            assert pipeline.pipelines() == (Compiler, Compiler)
            twin, _ = twin_of(entry)
            found, expected = np.zeros((1, 3)), np.zeros((1, 3))
            entry(VALUES[None], 2, expected)
            twin(VALUES[None], 2, found)  # type: ignore[operator]
            np.testing.assert_allclose(found, expected, rtol=1e-15, atol=0)
    finally:
        pipeline.pipelines.cache_clear()


@pytest.mark.parametrize(
    ("features", "asked"),
    [({"avx512f": True, "avx512vbmi2": True}, 1), ({"avx512f": True, "avx512vbmi2": False}, 0), ({"avx2": True}, 0)],
)
def test_the_widest_vectors_are_asked_for_where_they_are_free(
    features: dict[str, bool], asked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from symdecouple.numeric.kernels import pipeline

    monkeypatch.setattr("llvmlite.binding.get_host_cpu_features", lambda: features)
    pipeline.pipelines.cache_clear()
    try:
        twin, _ = twin_of(entry, frozenset({"power_sum"}))
        found, expected = np.zeros((1, 3)), np.zeros((1, 3))
        entry(VALUES[None], 2, expected)
        twin(VALUES[None], 2, found)  # type: ignore[operator]
        np.testing.assert_allclose(found, expected, rtol=1e-15, atol=0)
        (text,) = twin.inspect_llvm().values()  # type: ignore[attr-defined]
        assert ('"prefer-vector-width"="512"' in text) == bool(asked)
    finally:
        pipeline.pipelines.cache_clear()
