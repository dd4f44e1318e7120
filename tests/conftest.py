"""How the tests run: examples of hypothesis, one process for each file, and the short run on old dependencies."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)  # the same examples on every run
settings.load_profile("ci" if os.environ.get("CI") else "local")

# Thousands of small sets of features in one process: a twelfth of the time goes to looking for cycles among expressions
# that have none, and to what fell out of SymPy's cache of 1000 entries. Its size is read when SymPy is first imported.
os.environ.setdefault("SYMPY_CACHE_SIZE", "20000")
gc.set_threshold(100_000, 20, 20)

ALL_CASES = Path(__file__).parent / "numeric"  # where versions of NumPy and SciPy change digits, not only names
MULTIPRECISION = ALL_CASES / "precision"  # what is computed in mpmath, whose digits they do not change


@pytest.fixture
def pyplot() -> Iterator[Any]:
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--first-cases",
        action="store_true",
        help="outside of tests/numeric, run the first case of a test that has several: every call is made, "
        "and what other versions of dependencies miss or name otherwise is found (`make floors`)",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("first_cases"):
        return
    seen: set[tuple[Path, str]] = set()
    kept: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item in items:
        test = item.path, getattr(item, "originalname", item.name)
        numbers = ALL_CASES in item.path.parents and MULTIPRECISION not in item.path.parents
        has_all = numbers or item.get_closest_marker("slow") is not None
        (left if test in seen and not has_all else kept).append(item)
        if not has_all:
            seen.add(test)
    config.hook.pytest_deselected(items=left)
    items[:] = kept


def pytest_collection_finish() -> None:
    """The tests themselves stay to the end: leave them out of every search for garbage."""
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Send the tests of a file to one process (`pytest -n 2`): plans, verdicts and kernels are made once there.

    In the order of their names, where short files come last; by the number of tests, the last would be few long ones.
    """
    from xdist.scheduler import LoadFileScheduling

    config.option.loadscopereorder = False
    return LoadFileScheduling(config, log) if config.getoption("dist") == "load" else None
