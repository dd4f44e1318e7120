"""When compiled kernels are used: by size and by what lies on the disk, never by loading numba to find out."""

from __future__ import annotations

import importlib
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from numpy import where

from symdecouple.numeric.kernels import compile as jit
from symdecouple.numeric.kernels.compile import Kernels, is_available
from tests.processes import printed

SOURCES = ("symdecouple.numeric.kernels.compile", "symdecouple.errors")
KERNELS = Kernels("symdecouple.numeric.some_kernel", SOURCES, seconds=1e-7)


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "not there yet"))
    monkeypatch.setattr(jit, "is_available", lambda: True)
    monkeypatch.setattr(jit, "_loads", lambda: True)
    return tmp_path / "not there yet"


@pytest.mark.usefixtures("empty_cache")
def test_cold_kernels_are_for_the_very_large_only() -> None:
    assert not KERNELS.are_warm()
    assert not KERNELS.are_wanted(1000) and not KERNELS.are_wanted(10**7)
    assert KERNELS.are_wanted(6 * 10**7)  # six seconds of NumPy


def test_warm_kernels_are_used_above_a_hundred_thousand(empty_cache: Path) -> None:
    KERNELS.note_warm()
    assert KERNELS.are_warm() and KERNELS.are_wanted(10**5) and not KERNELS.are_wanted(10**5 - 1)
    (mark,) = empty_cache.iterdir()
    mark.unlink()
    assert not KERNELS.are_warm()


@pytest.mark.usefixtures("empty_cache")
def test_kernels_that_have_been_used_serve_any_number_of_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless another of the set would have to be compiled."""
    used, unused = SimpleNamespace(is_loaded=True), SimpleNamespace(is_loaded=False)
    monkeypatch.setitem(jit._BUILT, KERNELS.name, (unused, unused))
    assert not KERNELS.are_wanted(10)
    monkeypatch.setitem(jit._BUILT, KERNELS.name, (used, used))
    assert KERNELS.are_wanted(10)
    monkeypatch.setitem(jit._BUILT, KERNELS.name, (used, unused))
    assert not KERNELS.are_wanted(10)
    KERNELS.note_warm()
    assert KERNELS.are_wanted(10)


@pytest.mark.usefixtures("empty_cache")
def test_other_sources_are_another_cache() -> None:
    KERNELS.note_warm()
    assert not Kernels(KERNELS.name, (*KERNELS.sources, "symdecouple.verdict"), 1e-7).are_warm()
    assert not Kernels("symdecouple.numeric.other", KERNELS.sources, 1e-7).are_warm()


def test_where_nothing_can_be_written_nothing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    monkeypatch.setattr(jit, "is_available", lambda: True)
    KERNELS.note_warm()
    assert not KERNELS.are_warm()


def test_without_numba_nothing_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert not is_available() and not KERNELS.are_wanted(10**12) and not KERNELS.are_warm()
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "0")
    monkeypatch.setitem(sys.modules, "numba", None)  # as if it could not be imported
    assert not is_available() and not KERNELS.are_wanted(10**12)


def test_an_old_cache_is_forgotten_and_that_of_others_is_not(tmp_path: Path) -> None:
    here, elsewhere = jit._python(), "py27"
    old = f"some_kernel.solve-7.{here}.nbi"
    others = [f"some_kernel.solve-7.{here}.1.nbc", f"some_kernel.solve-7.{elsewhere}.nbi", f"other.solve-7.{here}.nbi"]
    for name in (old, *others):
        (tmp_path / name).touch()
    jit._forget(SimpleNamespace(stats=SimpleNamespace(cache_path=str(tmp_path)), py_func=SimpleNamespace(
        __module__="symdecouple.some_kernel")))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(others)


def test_marks_of_older_sources_go_and_those_of_other_sets_and_pythons_do_not(empty_cache: Path) -> None:
    KERNELS.note_warm()
    (mark,) = (path.name for path in empty_cache.iterdir())
    older = mark.replace(jit._fingerprint(KERNELS.sources), "0" * 16)
    others = [mark.replace("some_kernel", "some_kernel_more"), mark.replace(jit._python(), "py27")]
    for name in (older, *others):
        (empty_cache / name).touch()
    KERNELS._forget_marks()
    assert len({mark, older, *others}) == 4
    assert sorted(path.name for path in empty_cache.iterdir()) == sorted(others)


def test_sources_that_go_back_to_an_earlier_text_are_compiled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """numba looks at the file of the entry alone, and that never changes here; each text has been warm before."""
    pytest.importorskip("numba")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kept"))
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path / "kept"))
    monkeypatch.setattr(jit, "_PACKAGE", "turning")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(tmp_path)
    package = tmp_path / "turning"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "entry.py").write_text("from turning.part import times\ndef entry(x):\n    return times(x) + 1\n")
    kernels = Kernels("turning.entry", ("turning.entry", "turning.part"), seconds=1e-7)

    def answer(factor: int) -> tuple[float, int]:
        (package / "part.py").write_text(f"def times(x):\n    return {factor} * x\n")
        for name in ("turning", "turning.entry", "turning.part"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        jit._fingerprint.cache_clear()
        (twin,) = kernels.build(importlib.import_module("turning.entry").entry)
        found = twin(1.0)
        kernels.note_warm()
        return found, sum(twin.twin.stats.cache_hits.values())

    assert [answer(factor) for factor in (2, 2, 3, 2, 2)] == [(3, 0), (3, 1), (4, 0), (3, 0), (3, 1)]


FLIPPED = """
import sys
from pathlib import Path
from tests.numeric.kernels.test_compile import chosen, jit
jit._PACKAGE = "tests"
kernels = jit.Kernels("symdecouple.numeric.some_kernel", ("tests.numeric.kernels.test_compile",), seconds=1e-7)
(twin,) = kernels.build(chosen)
print(twin(2.0), twin.is_new, sum(twin.twin.stats.cache_hits.values()))
if sys.argv[1:]:
    kernels.note_warm()
"""


@pytest.mark.parametrize("damage", ["a byte", "nothing left", "the index", "a folder", "and the mark"])
def test_files_that_are_not_what_they_were_are_never_loaded(damage: str, tmp_path: Path) -> None:
    """Machine code with a wrong byte is loaded by LLVM, or ends Python; where no file can be written, none is. What is
    made anew is watched as what was there before."""
    pytest.importorskip("numba")
    told = partial(printed, FLIPPED, warnings="error::RuntimeWarning", NUMBA_CACHE_DIR=str(tmp_path))
    assert told("mark") == "6.0 False 0" and told() == "6.0 False 1"
    (file,) = tmp_path.rglob("*.nbi" if damage == "the index" else "*.nbc")
    if damage == "a folder":
        file.unlink()
        file.mkdir()
        assert told() == told() == "6.0 True 0"
        return
    for _ in range(2):
        kept = file.read_bytes()
        file.write_bytes(b"" if damage == "nothing left" else kept[:100] + bytes([kept[100] ^ 255]) + kept[101:])
        if damage == "and the mark":
            (mark,) = tmp_path.glob("*.warm")
            mark.write_bytes(mark.read_bytes()[:9])
        assert told() == "6.0 True 0"
        assert told() == "6.0 False 1"


FULL = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
from tests.numeric.kernels.test_compile import jit
renew, tries = jit.CompiledFunction._renew, []
jit.CompiledFunction._renew = lambda self, error: (tries.append(error), renew(self, error))[1]
"""


def test_a_full_disk_takes_no_second_try(tmp_path: Path) -> None:
    """Compiled with a cache, then without one, and right."""
    pytest.importorskip("numba")
    pytest.importorskip("resource")
    told = partial(printed, warnings="error::RuntimeWarning", NUMBA_CACHE_DIR=str(tmp_path))
    assert told(FULL + FLIPPED + "print(len(tries))", "mark").split() == ["6.0", "True", "0", "1"]
    assert told(FLIPPED).startswith("6.0")


def scaled(x: float, positive: bool) -> float:
    return float(where(positive, chosen(x), -x))


def chosen(x: float) -> float:
    return 3 * x


def test_a_twin_calls_twins_and_leaves_the_function_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    monkeypatch.setattr(jit, "_PACKAGE", __name__.partition(".")[0])
    made: dict[object, object] = {}
    twin = jit._twin(scaled, frozenset(), made, is_entry=True)
    assert twin(2.0, True) == 6 and twin(2.0, False) == -2
    assert {scaled, chosen} <= set(made) and scaled.__globals__["chosen"] is chosen


def test_where_numba_finds_no_place_to_keep_it_the_kernel_works_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    caching = pytest.importorskip("numba.core.caching")
    monkeypatch.setattr(caching.CompileResultCacheImpl, "_locator_classes", [])
    twin = jit._twin(chosen, frozenset(), {}, is_entry=True)
    jit._forget(twin)
    assert twin.stats.cache_path is None and twin(2.0) == 6


INTERRUPTED = """
import sys
class Press:
    def find_spec(self, name, *_):
        if name == {name!r}:
            sys.meta_path.remove(self)
            raise KeyboardInterrupt
sys.meta_path.insert(0, Press())
import warnings
import numpy as np
from symdecouple import stats
from symdecouple.numeric.kernels import compile
warnings.simplefilter("error")
sample, heard = np.random.default_rng(0).normal(size=10**5), False
expected = stats.orthokurtosis(sample)
compile.Kernels.are_warm = lambda self: compile.is_available() and compile._loads()
try:
    stats.orthokurtosis(sample)
except KeyboardInterrupt:
    heard = True
print(heard, abs(stats.orthokurtosis(sample) / expected - 1) < 1e-12, compile._loads())
"""


@pytest.mark.parametrize("name", ["numba.core.decorators", "numba.core.rewrites.registry", *(
    pytest.param(name, marks=pytest.mark.slow) for name in ("numba.core.types.functions", "llvmlite.binding"))])
def test_after_an_interruption_while_numba_loads_numpy_answers(name: str, tmp_path: Path) -> None:
    pytest.importorskip("numba")
    assert printed(INTERRUPTED.format(name=name), NUMBA_CACHE_DIR=str(tmp_path)).startswith("True True")


def test_what_numba_does_not_compile_runs_as_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    monkeypatch.setattr(jit, "_PACKAGE", __name__.partition(".")[0])
    kernels = Kernels("symdecouple.numeric.some_kernel", (__name__, "symdecouple.errors"), seconds=1e-7)
    (beyond,) = kernels.build(not_for_numba)
    with pytest.warns(RuntimeWarning, match="numba does not compile not_for_numba"):
        assert beyond(2.0) == 4.0
    assert beyond(3.0) == 6.0
    with pytest.raises(TypeError):
        beyond("a", "b")


def not_for_numba(x: float) -> float:
    return float(str(2 * x))


def test_small_calls_do_not_load_numba() -> None:
    call = "from symdecouple.stats import orthokurtosis; orthokurtosis([1, 2, 4, 9])"
    assert printed(f"{call}; import sys; print('numba' in sys.modules)") == "False"


def test_what_kernels_are_made_from_is_said_and_is_there() -> None:
    """Else an edit of a module would go unnoticed, and what was compiled before it would go on answering."""
    pytest.importorskip("numba")
    from symdecouple.numeric.features import bank_kernel

    unsaid = Kernels("symdecouple.numeric.some_kernel", ("symdecouple.numeric.kernels.compile",), seconds=1e-7)
    with pytest.raises(RuntimeError, match=r"compiled from \['symdecouple.numeric.features.bank_kernel'\] too"):
        unsaid.build(bank_kernel.project)
    gone = Kernels("symdecouple.numeric.some_kernel", ("symdecouple.numeric.gone",), seconds=1e-7)
    with pytest.raises(ModuleNotFoundError, match=r"made from symdecouple\.numeric\.gone"):
        gone.are_warm()
