"""What a command says, and what a transfer between two pictures writes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from symdecouple.cli import main

Told = Callable[..., Any]
Transferred = Callable[..., Any]


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Told:
    """Run a command, which must end with this exit code, and return what it has printed since the last: out, err."""

    def run(*arguments: str, code: int = 0) -> Any:
        assert main([*arguments]) == code
        return capsys.readouterr()

    return run


@pytest.fixture
def transferred(tmp_path: Path, told: Told) -> Transferred:
    """Transfer between two files or arrays, saved first; return what is written, None where nothing is, and printed."""
    from tests.cli.pictures import loaded, saved

    def run(source: Any, target: Any, *options: str, names: tuple[str, str] = ("a.png", "b.png"), to: str = "done.npy",
            code: int = 0) -> tuple[Any, Any]:
        files = [given if isinstance(given, str) else saved(tmp_path / name, given)
                 for given, name in zip((source, target), names, strict=True)]
        said = told("transfer", *files, "-o", str(tmp_path / to), *options, code=code)
        return (loaded(tmp_path / to) if (tmp_path / to).exists() else None), said

    return run
