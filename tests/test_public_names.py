"""The public names: all importable, the stub says the same, and a bare import is light."""

import ast
from importlib import import_module, metadata
from pathlib import Path

import pytest

import symdecouple
from tests.processes import printed

NAMES = sorted(symdecouple._MODULE_OF)
SUBMODULES = sorted(symdecouple._SUBMODULES)
HEAVY = ["numpy", "scipy", "sympy", "mpmath", "numba", "sklearn", "matplotlib", "pandas", "xarray", "dask"]
STATISTICS = ("sd.stats.decoupled_moments([1, 2, 4], 3); sd.stats.skewness([1, 2, 5, 1, 2, 7], groups=list('aaabbb')); "
              "sd.stats.rolling([1, 2, 5], 2, order=2)")
MICHELSON = str(Path(symdecouple.__file__).parent / "cli" / "data" / "michelson.csv")


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
    assert set(symdecouple.sklearn.__all__) <= set(dir(symdecouple.sklearn))


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


@pytest.mark.parametrize(("statement", "loaded"), [
    ("", []), ("import symdecouple.errors, symdecouple.verdict", []), ("sd.stats.skewness", ["numpy"]),
    ("sd.sklearn.__all__", []), (STATISTICS, ["numpy"]),
    *((f"from symdecouple.cli import main\nassert main({argv}) == {code}", loaded) for argv, code, loaded in (
        (["--help"], 0, []), (["check", "--help"], 0, []), (["decouple", "no such file"], 3, ["numpy"]),
        (["decouple", MICHELSON], 0, ["numpy"]), (["decouple", MICHELSON, "--moments", "6"], 0, ["numpy"])))])
def test_what_is_not_needed_is_not_loaded(statement: str, loaded: list[str]) -> None:
    program = f"import sys\nimport symdecouple as sd\n{statement}\nprint('loaded', *{{*{HEAVY}}} & {{*sys.modules}})"
    assert set(printed(program, timeout=120).splitlines()[-1].split()[1:]) <= set(loaded)
