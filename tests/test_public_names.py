"""The public names: all importable, the stub says the same, and a bare import is light."""

import ast
import json
import subprocess
import sys
from importlib import import_module, metadata
from pathlib import Path

import pytest

import symdecouple

NAMES = sorted(symdecouple._MODULE_OF)
SUBMODULES = sorted(symdecouple._SUBMODULES)
HEAVY = ["numpy", "scipy", "sympy", "mpmath", "numba", "sklearn", "matplotlib"]


def heavy_modules_after(statement: str) -> list[str]:
    """Which of `HEAVY` a fresh interpreter has loaded after the statement."""
    program = f"{statement}\nimport json, sys\nprint(json.dumps([m for m in {HEAVY} if m in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", NAMES)
def test_name_is_the_object_of_its_module(name: str) -> None:
    module = import_module(f"symdecouple.{symdecouple._MODULE_OF[name]}")
    assert getattr(symdecouple, name) is getattr(module, name)


@pytest.mark.parametrize("name", SUBMODULES)
def test_submodule_is_an_attribute(name: str) -> None:
    assert getattr(symdecouple, name) is import_module(f"symdecouple.{name}")


def test_version_is_that_of_the_distribution() -> None:
    assert symdecouple.__version__ == metadata.version("symdecouple")


def test_dir_lists_the_lazy_names() -> None:
    assert {*NAMES, *SUBMODULES, "__version__"} <= set(dir(symdecouple))


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        _ = symdecouple.no_such_name


def test_stub_says_the_same() -> None:
    tree = ast.parse(Path(symdecouple.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    froms = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    stub = {alias.asname: node.module for node in froms for alias in node.names}
    assert stub == symdecouple._MODULE_OF | dict.fromkeys(SUBMODULES)
    (assigned,) = (ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign))
    assert sorted(assigned) == sorted(symdecouple.__all__)


def test_bare_import_is_light() -> None:
    assert heavy_modules_after("import symdecouple") == []


def test_stats_load_without_sympy_and_scipy() -> None:
    assert set(heavy_modules_after("import symdecouple.stats")) <= {"numpy"}
