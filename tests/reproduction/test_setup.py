"""Parts are kept as soon as they are there, by what they are made of; interrupted runs go on."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symdecouple.decoupling.plan import decouple
from symdecouple.errors import InvalidInput
from symdecouple.families.moments import raw_moments
from symdecouple.reproduction.setup import Setup, random_numbers


def test_a_part_is_made_once(tmp_path: Path) -> None:
    calls = list[int]()

    def make(values: Any, power: int) -> dict[str, Any]:
        calls.append(power)
        return {"sum": (values**power).sum(), "words": ["a", "bc"]}

    values = np.arange(4.0)
    for _ in range(2):  # the second time as another process would
        setup = Setup(folder=tmp_path)
        found = setup.part("sums", make, values, 2)
        assert (float(found["sum"]), found["words"].tolist()) == (14.0, ["a", "bc"])
    assert calls == [2]
    Setup(folder=tmp_path).part("sums", make, values, 3)
    Setup(folder=tmp_path).part("sums", make, values.astype(np.float32), 2)
    Setup(folder=tmp_path).part("sums", make, values + 1, 2)
    assert calls == [2, 3, 2, 2]
    assert setup.seconds > 0  # of the run that made it


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 torn", None])
def test_a_torn_file_is_made_anew(tmp_path: Path, damage: bytes | None) -> None:
    Setup(folder=tmp_path).part("one", lambda: {"value": 1})
    [path] = (tmp_path / "parts").iterdir()
    path.write_bytes(path.read_bytes()[:40] if damage is None else damage)
    assert float(Setup(folder=tmp_path).part("one", lambda: {"value": 2})["value"]) == 2


def test_an_interruption_keeps_what_is_done(tmp_path: Path) -> None:
    def stops() -> dict[str, Any]:
        raise KeyboardInterrupt

    setup = Setup(folder=tmp_path)
    setup.part("first", lambda: {"value": 1})
    with pytest.raises(KeyboardInterrupt):
        setup.part("second", stops)
    again = Setup(folder=tmp_path)
    assert float(again.part("first", stops)["value"]) == 1
    assert not list((tmp_path / "parts").glob("*.tmp"))


def test_plans_and_files_are_told_apart(tmp_path: Path) -> None:
    plans = [decouple(raw_moments(2)), decouple(raw_moments(2), (0, 2)), decouple(raw_moments(3)),
             decouple(raw_moments(2), perturb="ramp")]
    for k, plan in enumerate(plans):
        assert float(Setup(folder=tmp_path).part("plan", lambda plan, k=k: {"value": k}, plan)["value"]) == k
    file = tmp_path / "a.txt"
    for text in ("one", "three"):
        file.write_text(text)
        found = Setup(folder=tmp_path).part("file", lambda path: {"value": len(path.read_text())}, file)
        assert int(found["value"]) == len(text)


def test_what_is_told() -> None:
    told = list[tuple[int, int]]()
    setup = Setup(tell=lambda done, total: told.append((done, total)))
    setup.expect(2)
    setup.part("a", dict)
    setup.part("b", dict)
    assert told == [(0, 2), (1, 2), (2, 2)]


def test_random_numbers_depend_on_their_key_alone() -> None:
    first, again, other, seeded = (random_numbers(*key).random() for key in (
        (0, "a", 1), (0, "a", 1), (0, "a", 2), (1, "a", 1)))
    assert first == again
    assert len({first, other, seeded}) == 3


def test_names_of_parts(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="letters, digits"):
        Setup(folder=tmp_path).part("../outside", dict)
