"""`symdecouple decouple --match`: the statistics of what is written, computed by SciPy and NumPy."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from tests.cli.conftest import Told

TABLE = "a,b\n1,2\n2,7\n3,\n5,9\n8,1\n13,4\n21,3\n34,0\n"
A = np.array([1, 2, 3, 5, 8, 13, 21, 34.0])


@pytest.fixture
def told(tmp_path: Path, told: Told) -> Told:
    def run(*options: str, content: str = TABLE, code: int = 0) -> tuple[str, str]:
        (tmp_path / "data.csv").write_text(content)
        return told("decouple", str(tmp_path / "data.csv"), *options, code=code)

    return run


def shape(z: np.ndarray) -> list[float]:
    return [z.mean(), z.var(), stats.skew(z), stats.kurtosis(z, fisher=False)]


@pytest.mark.parametrize(("values", "expected"), [
    ("0,1,1,3", [0, 1, 1, 3]), ("keep, 2", [10.875, 2]), ("KEEP,keep,keep,3", [10.875, 115.359375, None, 3]),
    ("-1,1/4,.5", [-1, 0.25, 0.5]), ("1e3", [1000, 115.359375]),
])
def test_what_is_written_has_these_statistics(values: str, expected: list[float | None], told: Told) -> None:
    out, err = told("--match", values, "--columns", "a")
    found = np.loadtxt(io.StringIO(out), skiprows=1)
    own = shape(A)
    for value, wanted, before in zip(shape(found), expected, own, strict=False):
        assert value == pytest.approx(before if wanted is None else wanted, rel=1e-12, abs=1e-12)
    assert np.argsort(found).tolist() == list(range(8))
    distance = np.sqrt(np.mean((found - A) ** 2))
    assert f"a moved by {distance:.4g}, root mean square" in err


def test_missing_values_stay_where_they_were(told: Told) -> None:
    out, _ = told("--match", "0,1,0,2.5,0", "--nan-policy", "omit", "--json")
    data = json.loads(out)
    assert data["format"] == "symdecouple.match" and data["match"] == [0, 1, 0, 2.5, 0]
    first, second = data["samples"]
    assert second["values"][2] is None and second["refused"] is None and second["moved"] > 0
    for one in (first, second):
        z = np.array([v for v in one["values"] if v is not None])
        assert [*shape(z), stats.moment(z, 5)] == pytest.approx([0, 1, 0, 2.5, 0], abs=1e-11)


def test_refusals_tell_the_bound(told: Told) -> None:
    out, err = told("--match", "0,1,9", code=4)
    assert out.splitlines()[1] == "," and "skewness stays in (-2.26779, 2.26779)" in err
    assert "b is not matched: missing values (1 of 8" in err
    out, err = told("--match", "0,1", "--axis", "rows", code=4,
                    content="1,2,3\n9007199254740993,9007199254740995,9007199254740996\n1e400,2e400,5e400\n")
    rows = [line.split(",")[1:] for line in out.splitlines()]
    z = np.array([1, 3, 4.0]) - 8 / 3
    assert [float(v) for v in rows[1]] == pytest.approx(z / z.std(), abs=1e-12)
    assert rows[2] == ["", "", ""] and "row 3 is not matched: out of range" in err


def test_features_of_ones_own(told: Told) -> None:
    features = ("--features", "mean(x)", "mean(x^2)", "--columns", "a")
    out, _ = told("--match", "keep,200", *features)
    z = np.loadtxt(io.StringIO(out), skiprows=1)
    assert [z.mean(), np.mean(z**2)] == pytest.approx([10.875, 200])
    out, _ = told("--match", "0,2", "--json", *features)
    assert json.loads(out)["features"] == ["mean(x)", "mean(x^2)"]
    _, err = told("--match", "1,.5", *features, code=4)
    assert "a is not matched: level 2 not attainable" in err


@pytest.mark.parametrize(("options", "said"), [
    (["--match", "0,x"], "--match, number 2: a finite real number"), (["--match", ""], "nothing is asked for"),
    (["--match", "keep,keep"], "nothing is asked for"), (["--match", "0,,1"], "number 2"),
    (["--match", ",".join("0" * 13)], "up to 12 values"), (["--match", "inf"], "number 1"),
    (["--match", "0,1", "--moments", "2"], "tells the orders"), (["--match", "0", "--dps", "20"], "without --dps"),
    (["--match", "0", "--normalize"], "without --normalize"), (["--match", "0", "--level", "1"], "without --level"),
    (["--match", "0", "--explain"], "without --explain"), (["--match", "0", "--formulas"], "without --formulas"),
    (["--match", "0", "--path", "narrow"], "no --path"), (["--match", "0", "--reference", "1,2"], "no --reference"),
    (["--match", "0", "--groups", "a"], "without --match"), (["--match", "0", "--format", "table"], "CSV or JSON"),
    (["--match", "0,1,2", "--features", "mean(x)", "mean(x^2)"], "2 features take 2 values, got 3"),
])
def test_what_does_not_go_together(options: list[str], said: str, told: Told) -> None:
    out, err = told(*options, code=3)
    assert not out and said in err and err.count("\n") <= 4
