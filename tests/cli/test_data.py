"""The demonstration's data: Michelson's speed of light, whole and shipped."""

import zipfile
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).resolve().parents[2]


def michelson() -> np.ndarray:
    with resources.files("symdecouple").joinpath("cli/data/michelson.csv").open(encoding="utf-8") as lines:
        return np.loadtxt(lines, delimiter=",")


def test_five_experiments_of_twenty_runs() -> None:
    runs = michelson()
    assert runs.shape == (5, 20)
    assert (runs == runs.astype(int)).all()


def test_means_and_spread_are_the_published_ones() -> None:
    runs = michelson()
    assert runs.mean(axis=1).tolist() == [909, 856, 845, 820.5, 831.5]
    assert runs.mean() == 852.4
    assert runs.std(ddof=1) == pytest.approx(79.01, abs=0.005)
    assert (runs.min(), runs.max()) == (620, 1070)


def test_wheel_ships_the_data_its_source_and_the_type_marker(tmp_path: Path) -> None:
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(wheel) as archive:
        shipped = set(archive.namelist())
    data = {"symdecouple/cli/data/michelson.csv", "symdecouple/cli/data/SOURCE.md"}
    assert data | {"symdecouple/py.typed", "symdecouple/__init__.pyi"} <= shipped
