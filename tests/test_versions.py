"""`show_versions`: what is there, what is not, and nothing about who asks."""

import getpass
import importlib.metadata
import io
import platform
import socket
from pathlib import Path

import numpy as np
import pytest

import symdecouple as sd
from symdecouple import versions


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    sd.show_versions()
    out, err = capsys.readouterr()
    assert not err
    return {line.split("  ")[0]: line.partition("  ")[2].strip() for line in out.splitlines()}


def test_versions_are_those_of_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys)
    assert found["numpy"] == np.__version__ == importlib.metadata.version("numpy")
    assert found["python"].startswith(platform.python_version())
    assert {"symdecouple", "scipy", "sympy", "mpmath", "numba", "pillow", "dask", "features", "kernels"} <= set(found)


def test_what_is_not_there_is_said_with_its_extra(monkeypatch: pytest.MonkeyPatch,
                                                  capsys: pytest.CaptureFixture[str]) -> None:
    def lacking(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", lacking)
    monkeypatch.setattr("symdecouple.numeric.kernels.compile.is_available", lambda: False)
    monkeypatch.setattr(np, "show_config", lambda mode: {})
    found = told(capsys)
    assert found["numba"] == "not installed (extra fast)" and found["tqdm"] == "not installed"
    assert found["numpy"] == "missing" and found["symdecouple"].startswith("not installed")
    assert found["features"] == "unknown" and found["kernels"] == "NumPy alone, numba does not load"


def test_a_stream_takes_it_and_no_name_of_anybody_is_in_it() -> None:
    out = io.StringIO()
    sd.show_versions(out)
    words = out.getvalue().replace("=", " ").split()
    assert not {str(Path.home()), getpass.getuser(), socket.gethostname()} & set(words) and out.getvalue().isascii()
    assert all(len(line) < 400 for line in out.getvalue().splitlines()) and len(versions.kernel_modules()) == 4
