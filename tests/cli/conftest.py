"""What a command says."""

from collections.abc import Callable
from typing import Any

import pytest

from symdecouple.cli import main

Told = Callable[..., Any]


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Told:
    """Run a command, which must end with this exit code, and return what it has printed since the last: out, err."""

    def run(*arguments: str, code: int = 0) -> Any:
        assert main([*arguments]) == code
        return capsys.readouterr()

    return run
