"""The short run on old dependencies leaves out further cases of a test, and nothing else."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.conftest import pytest_collection_modifyitems

HERE = Path(__file__).parent


def item(path: str, test: str, case: str = "", slow: bool = False) -> Any:
    return SimpleNamespace(path=HERE / path, name=f"{test}[{case}]", originalname=test,
                           get_closest_marker=lambda name: name if slow else None)


def run(items: list[Any], first_cases: bool) -> tuple[list[str], list[str]]:
    left: list[Any] = []

    def deselect(items: list[Any]) -> None:
        left.extend(items)

    config: Any = SimpleNamespace(getoption=lambda name: first_cases, hook=SimpleNamespace(pytest_deselected=deselect))
    pytest_collection_modifyitems(config, items)
    return [i.name for i in items], [i.name for i in left]


def collected() -> list[Any]:
    return [item("stats/test_a.py", "one", "slow", slow=True), item("stats/test_a.py", "one", "1"),
            item("stats/test_a.py", "one", "2"), item("stats/test_b.py", "one", "3"),
            item("numeric/test_a.py", "two", "1"), item("numeric/test_a.py", "two", "2"),
            item("numeric/precision/test_b.py", "two", "4"), item("numeric/precision/test_b.py", "two", "5"),
            SimpleNamespace(path=HERE, name="a doctest", get_closest_marker=lambda name: None)]


def test_the_first_case_that_is_not_slow_stays_and_all_of_numbers() -> None:
    kept, left = run(collected(), first_cases=True)
    assert kept == ["one[slow]", "one[1]", "one[3]", "two[1]", "two[2]", "two[4]", "a doctest"]  # -m leaves slow out
    assert left == ["one[2]", "two[5]"]


def test_all_cases_stay_where_it_is_not_asked_for() -> None:
    items = collected()
    assert run(items, first_cases=False) == ([i.name for i in collected()], [])
