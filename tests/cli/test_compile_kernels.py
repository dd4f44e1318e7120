"""The command that warms the compiled kernels: what it says with numba, and without."""

import importlib.util
from types import SimpleNamespace

import pytest

from symdecouple.cli import compile_kernels
from symdecouple.cli.command import main
from symdecouple.numeric.kernels import compile as jit
from symdecouple.versions import kernel_modules
from tests.cli.conftest import Told


def kernels(are_warm: bool, calls: list[str]) -> SimpleNamespace:
    return SimpleNamespace(KERNELS=SimpleNamespace(are_warm=lambda: are_warm), warm=lambda: calls.append("warm"))


def test_what_is_cold_is_compiled_and_what_is_warm_is_left(monkeypatch: pytest.MonkeyPatch,
                                                           capsys: pytest.CaptureFixture[str]) -> None:
    calls: list[str] = []
    monkeypatch.setattr(jit, "is_available", lambda: True)
    modules = {"one": kernels(False, calls), "two": kernels(True, calls)}
    monkeypatch.setattr(compile_kernels, "kernel_modules", lambda: modules)
    assert main(["compile"]) == 0
    assert calls == ["warm"]
    out = capsys.readouterr().out
    assert "one: compiled in" in out and "two: compiled already" in out


def test_without_numba_it_says_what_would_help(monkeypatch: pytest.MonkeyPatch, told: Told) -> None:
    monkeypatch.setattr(jit, "is_available", lambda: False)
    assert 'pip install "symdecouple[fast]"' in told("compile").out


def test_it_takes_no_arguments(told: Told) -> None:
    assert "everything" in told("compile", "everything", code=3).err


@pytest.mark.parametrize("name", kernel_modules())
def test_kernels_say_modules_that_are_there_and_their_own_is_among_them(name: str) -> None:
    module = kernel_modules()[name]
    sources = module.KERNELS.sources
    assert all(importlib.util.find_spec(source) is not None for source in sources)
    assert {module.KERNELS.name, "symdecouple.numeric.kernels.compile"} <= set(sources)
