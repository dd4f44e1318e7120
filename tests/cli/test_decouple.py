"""`symdecouple decouple`: every kind of file is read as it was written, and no value is missing without a reason."""

import csv
import io
import json
import math
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from symdecouple.cli import main
from symdecouple.cli.cells import read_cell
from symdecouple.cli.report import align, figures
from symdecouple.cli.samples import arrange
from symdecouple.cli.text_file import read_grid
from symdecouple.errors import InvalidInput
from tests.cli.conftest import Told

STATISTICS = ["mean", "variance", "skewness", "kurtosis", "orthokurtosis"]
Answer = Callable[..., dict]


@pytest.fixture
def answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Answer:
    """What `decouple --json` says about a file with this content, with its exit code."""

    def ask(text: str | bytes, *options: str, name: str = "data.csv") -> dict:
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        code = main(["decouple", str(tmp_path / name), "--json", *options])
        return json.loads(capsys.readouterr().out) | {"code": code}

    return ask


def npy(array: object) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def vectors(text: str, axis: str = "auto", columns: str | None = None, **how: object) -> list[list[float]]:
    return [list(v) for v in arrange(read_grid(text, **how), axis, columns).vectors]


# Text: what separates, what names, what is missing.


@pytest.mark.parametrize("text", [
    "1,2,3\n4,5,6.5\n", "1;2;3\n4;5;6.5\n", "1;2;3\n4;5;6,5\n", "1\t2\t3\n4\t5\t6.5", "1 2   3\n  4\t5 6.5  \n",
    "1|2|3\r\n4|5|6.5\r\n", "\n# comment, with, commas\n\n  # 9;9\n1,2,3\n\n4,5,6.5\n", '"1","2","3"\n"4","5","6.5"',
    "1, 2, 3\n4, 5, +6.5e0\n", "1,2,3,\n4,5,6.5,\n", "1\t2\t3\n4\t5\t6,5", "1,2,3\r4,5,6.5\r", "a,1,2,3\nb,4,5,6.5",
    "1,2,3,low\n4,5,6.5,high", "#N/A,1,2,3\nb,4,5,6.5",
])
def test_one_table_in_many_dresses(text: str) -> None:
    assert vectors(text) == [[1, 2, 3], [4, 5, 6.5]]


def test_header_names_the_columns(answer: Answer) -> None:
    found = answer("\ufeffheight;who;weight\r\n1,5;Ann;2\r\n1,75;Bob;3,5\r\n1,8;Eve;9\r\n")
    assert (found["axis"], found["left_out"], found["code"]) == ("columns", ["who"], 0)
    assert [(s["label"], s["mean"]) for s in found["samples"]] == [
        ("height", pytest.approx(5.05 / 3)), ("weight", pytest.approx(14.5 / 3))]


def test_which_samples_is_a_choice() -> None:
    text = "a,b\n1,2\n3,4\n5,6\n"
    assert vectors(text) == [[1, 3, 5], [2, 4, 6]]
    assert vectors(text, "rows") == [[1, 2], [3, 4], [5, 6]]
    assert vectors(text, columns="b") == vectors(text, columns="2") == [[2, 4, 6]]
    assert vectors(text, "rows", columns="b, a") == [[2, 1], [4, 3], [6, 5]]
    assert vectors("1\n2\n3\n") == [[1, 2, 3]]
    assert vectors("units\ndays,km\n1,2\n3,4", header_lines=2) == [[1, 3], [2, 4]]
    assert arrange(read_grid("units\ndays,km\n1,2\n3,4", header_lines=2)).labels == ("days", "km")


def test_labels() -> None:
    assert arrange(read_grid('"c, d",1,2\n"say ""hi""",3')).labels == ("c, d", 'say "hi"')
    assert arrange(read_grid("a b\nr1 1 2\nr2 3 4")).labels == ("a", "b")  # as R writes it
    assert arrange(read_grid("a,,b\n1,2,3\n")).labels == ("a", "column 2", "b")
    assert arrange(read_grid("1,2\n3,4")).labels == ("row 1", "row 2")


def test_ragged_rows_have_their_own_lengths(answer: Answer) -> None:
    found = answer("a,1,2,9\nb,1,2\nc,5\n")
    assert [s["n"] for s in found["samples"]] == [3, 2, 1]
    assert found["samples"][0]["orthokurtosis"] == pytest.approx(1.5)
    assert found["samples"][1]["orthokurtosis"] == pytest.approx(1)
    assert (found["samples"][2]["mean"], found["samples"][2]["variance"]) == (5, 0)
    assert found["code"] == 4


def test_missing_values_follow_the_policy(answer: Answer) -> None:
    text = "1,2,,9\n1,2,NA,null\n,,,\n1,2,3,4\n"
    first, second, third, fourth = answer(text)["samples"]
    assert [s["missing"] for s in (first, second, third, fourth)] == [1, 2, 4, 0]
    assert all(first[name] is None and "1 of 4" in first["refused"][name] for name in STATISTICS)
    assert fourth["refused"] == {}
    first, second, third, _ = answer(text, "--nan-policy", "omit")["samples"]
    assert (first["n"], first["mean"], second["n"]) == (3, 4, 2)
    assert third["refused"]["mean"].startswith("no values")
    assert "row 1" in answer(text, "--nan-policy", "raise")["error"]


def test_every_null_has_its_reason(answer: Answer) -> None:
    found = answer("0,0,0,1,2\n7,7,7,7,7\n1,2,inf,3,4\n1e200,-1e200,3e200,5,9\n1e-300,2e-300,9e-300,0,0\n0.1,0.1,0.1\n")
    tied, constant, infinite, huge, tiny, rounded = found["samples"]
    assert tied["refused"]["orthokurtosis"].startswith("no zero-skew point")
    assert set(constant["refused"]) == {"skewness", "kurtosis", "orthokurtosis"}
    assert (rounded["mean"], rounded["variance"]) == (0.1, 0)
    assert set(infinite["refused"]) == set(STATISTICS)
    for sample in (huge, tiny):
        assert set(sample["refused"]) == {"variance"}
        assert sample["refused"]["variance"].startswith("out of range")
    for sample in found["samples"]:
        assert {name for name in STATISTICS if sample[name] is None} == set(sample["refused"])


def test_integers_past_2_53_are_exact(answer: Answer) -> None:
    values = [2**60 + 1, 2**60 + 2, 2**60 + 9, 2**60 + 4]
    exact = sum((Fraction(v) - Fraction(sum(values), 4)) ** 2 for v in values) / 4
    for content, name in ((",".join(map(str, values)), "big.csv"), (npy(np.array(values)), "big.npy"),
                          (npy(np.array(values, dtype=np.uint64)), "unsigned.npy")):
        (sample,) = answer(content, name=name)["samples"]
        assert sample["variance"] == float(exact)
        assert sample["mean"] == sum(values) / 4
        (small,) = answer("1,2,9,4")["samples"]
        assert sample["orthokurtosis"] == pytest.approx(small["orthokurtosis"], rel=1e-14)


@pytest.mark.parametrize(("text", "said"), [
    ("", "no data"), ("# only\n\n", "no data"), ("x y\n", "no number"), ("a,b\n1,2\n3,x\n", "line 3, b: 'x'"),
    ("a,b\n1,2\n\n3\n", "line 4"), ('1,2\n"3,4\n', "quotes"), ("1,1e4001\n", "1e4001"), ("1,1e-99999\n", "4000 digits"),
    ("1,2\n3," + "9" * 5000, "line 2"), ("1;2,5\n1.5;2\n", "--decimal"), ("1,5 2,5\n3,5 4,5\n", "'5 2'"),
    ("1_000,2\n2,3", "'1_000'"), ("1,2\n٣,3", "'٣'"), ("1,2\0", "zero bytes"), ("1\0,\0002\0", "--encoding utf-16-le"),
    ("a\n1/3\n2/3\n5", "'1/3'"), ("a\n10%\n20\n50", "'10%'"), ("a,b\n1,\u22122\n3,4", "'\u22122'"),
    ("a,b\n<0.1,$5\n3,4\n5,6", "'<0.1'"),
    ("1;1.234.567\n2;2.345.678", "one number"), ("0x10,1\n1,2", "'0x10'"), ('"' + "a" * 200_000, "quotes"),
])
def test_what_cannot_be_read_is_told(text: str, said: str, answer: Answer) -> None:
    found = answer(text)
    assert found["code"] == 3
    assert said in found["error"]
    assert len(found["error"]) < 600


@pytest.mark.parametrize(("columns", "said"), [
    ("c", "the columns are a, b, t"), ("t", "holds text (line 2: 'u')"), ("a,1", "twice"), ("", "empty"),
    ("9", "no column"),
])
def test_columns_that_do_not_exist(columns: str, said: str, answer: Answer) -> None:
    assert said in answer("a,b,t\n1,2,u\n3,4,v\n", "--columns", columns)["error"]


def test_encodings(answer: Answer) -> None:
    text = "größe,b\n1,2\n3,4\n"
    for encoding, options in (("utf-8", ()), ("utf-8-sig", ()), ("utf-16", ()), ("cp1252", ("--encoding", "cp1252"))):
        assert answer(text.encode(encoding), *options)["samples"][0]["label"] == "größe"
    assert "--encoding" in answer(text.encode("cp1252"))["error"]
    assert "no encoding" in answer(text, "--encoding", "nope")["error"]


# Arrays.


def test_arrays_of_any_dimension(answer: Answer) -> None:
    a = np.random.default_rng(5).normal(size=(2, 3, 40))
    found = answer(npy(a), name="a.npy")
    assert [s["label"] for s in found["samples"]][:4] == ["row 1, 1", "row 1, 2", "row 1, 3", "row 2, 1"]
    assert np.allclose([s["mean"] for s in found["samples"]], a.mean(axis=2).ravel(), rtol=1e-14)
    by_column = answer(npy(a[0]), "--axis", "columns", name="a.npy")["samples"]
    assert [s["mean"] for s in by_column] == pytest.approx(list(a[0].mean(axis=0)))
    (one,) = answer(npy(a[0, 0]), name="one.npy")["samples"]
    assert one["mean"] == found["samples"][0]["mean"]
    (single,) = answer(npy(np.asfortranarray(a[0, 0].astype(">f4"))), name="single.npy")["samples"]
    assert single["kurtosis"] == pytest.approx(one["kurtosis"], rel=1e-5)


def oversized() -> bytes:
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (100000000000000,), }".ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header


@pytest.mark.parametrize(("content", "said"), [
    (npy(np.array([True, False])), "booleans"), (npy(np.array([1j, 2])), "complex"), (npy(np.array(["a"])), "text"),
    (npy(np.array([1, None], dtype=object)), "never loaded"), (npy(np.zeros((0, 3))), "empty"),
    (npy(np.zeros((3, 0))), "empty"), (npy(np.float64(3)), "single number"), (npy(np.zeros(3, "m8[s]")), "time spans"),
    (npy(np.zeros(3, [("a", "f8")])), "records"), (npy(np.zeros(100))[:300], "damaged"), (b"\x93NUMPY", "damaged"),
    (b"\x93NUMPY\x01\x00\x10\x00" + b"{" + b"(" * 15, "damaged"), (oversized(), "damaged"), (b"hello", "no NPY file"),
    (npy(np.zeros(3)) * 2, "more after"), (b"PK\x03\x04....", "ZIP"),
])
def test_arrays_that_hold_no_samples(content: bytes, said: str, answer: Answer) -> None:
    name = "a.npz" if said == "ZIP" else "a.npy"
    found = answer(content, name=name)
    assert found["code"] == 3
    assert said in found["error"]


# Output.


TABLE = "a,1,2,3,10\nb,0,0,0,1,2\nc,5,5\n"


def test_the_three_formats_say_the_same(tmp_path: Path, told: Told, answer: Answer) -> None:
    samples = answer(TABLE)["samples"]
    path = str(tmp_path / "data.csv")
    out, err = told("decouple", path, "--format", "csv", code=4)
    assert "3 samples, the rows" in err
    rows = list(csv.DictReader(io.StringIO(out)))
    for sample, row in zip(samples, rows, strict=True):
        assert (row["label"], int(row["n"])) == (sample["label"], sample["n"])
        assert [float(row[name]) if row[name] else None for name in STATISTICS] == [sample[name] for name in STATISTICS]
        assert bool(row["note"]) == bool(sample["refused"])
    lines = told("decouple", path, code=4).out.splitlines()
    assert lines[0].endswith("data.csv: 3 samples, the rows (--axis columns takes the columns)")
    for sample, line in zip(samples, lines[4:7], strict=True):
        label, n, *values = line.split()
        assert (label, int(n)) == (sample["label"], sample["n"])
        for name, value in zip(STATISTICS, values, strict=True):
            assert value == "-" if sample[name] is None else float(value) == pytest.approx(sample[name], abs=6e-5)
    assert "  - no orthokurtosis for b: no zero-skew point" in "\n".join(lines)
    assert "nan" not in "\n".join(lines).lower()


def test_figures_share_their_decimals() -> None:
    assert figures([909.0, 820.5, None]) == ["909.0", "820.5", "-"]
    assert figures([1e9, 1.0]) == ["1e+09", "1"]
    assert figures([]) == []
    assert align([["a", "bb"], ["1", "22"]]) == "a    1\nbb  22"


def test_output_goes_to_a_file_in_the_format_of_its_name(tmp_path: Path, told: Told) -> None:
    data = tmp_path / "data.csv"
    data.write_text("1,2,3,10\n")
    for name, read in (("o.json", json.loads), ("o.csv", lambda text: list(csv.reader(io.StringIO(text))))):
        assert told("decouple", str(data), "-o", str(tmp_path / name)).out == ""
        assert read((tmp_path / name).read_text())
    assert main(["decouple", str(data), "-o", str(tmp_path / "no" / "where")]) == 3
    assert main(["decouple", str(tmp_path)]) == 3
    assert "Traceback" not in told("decouple", str(tmp_path / "missing.csv"), code=3).err


def test_a_label_cannot_steer_the_terminal(tmp_path: Path, told: Told) -> None:
    (tmp_path / "data.csv").write_text("\x1b[31mred,1,2,4\nb,1,2,3\n")
    assert "\x1b" not in told("decouple", str(tmp_path / "data.csv")).out


def test_standard_input_and_broken_pipe() -> None:
    command = [sys.executable, "-m", "symdecouple", "decouple", "-", "--format", "csv"]
    done = subprocess.run(command, check=True, input=npy(np.array([1.0, 2, 40])), capture_output=True, timeout=120)
    assert b"all,3," in done.stdout
    many = npy(np.random.default_rng(1).normal(size=(3000, 5)))
    with subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-1) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdout.close()
        process.stdin.write(many)
        process.stdin.close()
        assert b"Error" not in process.stderr.read()
        assert process.wait(timeout=120) == 141


# Numbers written are numbers read.

NUMBERS = st.one_of(st.floats(allow_nan=False), st.integers(-(10**40), 10**40), st.just(math.nan))


@settings(max_examples=80)
@example(rows=[[math.nan, math.nan]], delimiter="\t", quoting=csv.QUOTE_MINIMAL, end="\n", labels=False, empty=True)
@example(rows=[[0.0, 0.0], [math.nan, math.nan]], delimiter="\t", quoting=csv.QUOTE_MINIMAL, end="\n", labels=False,
         empty=True)
@given(rows=st.lists(st.lists(NUMBERS, min_size=2, max_size=6), min_size=1, max_size=5),
       delimiter=st.sampled_from(",;\t|"), quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
       end=st.sampled_from(["\n", "\r\n"]), labels=st.booleans(), empty=st.booleans())
def test_numbers_written_are_numbers_read(rows: list[list[float]], delimiter: str, quoting: int, end: str, labels: bool,
                                          empty: bool) -> None:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator=end)
    for k, row in enumerate(rows):
        cells = ["" if empty and value != value else repr(value) for value in row]
        writer.writerow([f"label {k}", *cells] if labels else cells)
    if all(value != value for row in rows for value in row):
        is_blank = not out.getvalue().strip()  # a line of tabs is
        with pytest.raises(InvalidInput, match="no data" if is_blank else "no number"):
            vectors(out.getvalue(), "rows")
        return
    found = vectors(out.getvalue(), "rows", delimiter=delimiter, header_lines=0)
    lines = out.getvalue().split(end)
    rows = [row for row, line in zip(rows, lines, strict=False) if line.strip()]  # tabs alone are a blank line: no row
    shortened = empty and all(row[-1] != row[-1] for row in rows)  # a last column without any entry is no column
    expected = [row[:-1] for row in rows] if shortened else rows
    assert [[None if v != v else Fraction(v) if abs(v) != math.inf else v for v in row] for row in found] == [
        [None if v != v else Fraction(v) if abs(v) != math.inf else v for v in row] for row in expected]


@settings(max_examples=120)
@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        samples = arrange(read_grid(text))
    except InvalidInput:
        return
    assert len(samples.labels) == len(samples.vectors)


@given(st.text(alphabet="0123456789.,;eE+-naif_ ", max_size=12))
def test_a_cell_never_means_more_than_float_does(text: str) -> None:
    try:
        cell = read_cell(text)
    except InvalidInput:
        return
    if not isinstance(cell, str) and cell == cell:
        assert float(text) == cell
