"""Tables as spreadsheets and programs write them: read right, or one line that names the option."""

import gzip
import io
import itertools
import json
import math
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from symdecouple.cli import main
from symdecouple.cli.cells import read_cell
from symdecouple.cli.report import figures, shape_figures
from symdecouple.cli.samples import Samples, arrange
from symdecouple.cli.text_file import read_grid
from symdecouple.errors import InvalidInput
from tests.cli.conftest import Told

NAN = math.nan


def read(text: str, axis: str = "auto", **how: object) -> Samples:
    return arrange(read_grid(text, **how), axis)


def table(text: str, **how: object) -> dict[str, list[float]]:
    found = read(text, **how)
    return {label: list(vector) for label, vector in zip(found.labels, found.vectors, strict=True)}


def same(found: dict[str, list[float]], expected: dict[str, list[float]]) -> bool:
    return list(found) == list(expected) and all(
        np.array_equal(found[name], expected[name], equal_nan=True) for name in found)


# --- figures ----------------------------------------------------------------------------------------------------------


def test_what_is_printed_is_the_number() -> None:
    """Every pair of sizes, alone and beside others, is read back within a part in a thousand; zero has no sign."""
    sizes = [m * 10.0**k for k in range(-4, 6) for m in (1, 1.2345678, 5.0005, 9.99996)] + [1e6]
    for pair in itertools.product(sizes, [*sizes, *(-s for s in sizes)]):
        for shown_by in (figures, shape_figures):
            for value, shown in zip((*pair, 0.0, -0.0), shown_by([*pair, 0.0, -0.0]), strict=True):
                assert abs(float(shown) - value) <= 1e-3 * abs(value)
                assert value or not shown.startswith("-")
    assert figures([0.1, 200000.25, -0.0]) == ["0.1", "200000", "0"]


def test_a_small_column_beside_a_large_one(tmp_path: Path, told: Told) -> None:
    (tmp_path / "a.csv").write_text("a,b\n0,0.2\n1000,0.9\n2000,0.1\n")
    words = [line.split() for line in told("decouple", str(tmp_path / "a.csv")).out.splitlines()]
    (mean, variance), = [[float(v) for v in line[2:4]] for line in words if line[:1] == ["b"]]
    assert (mean, variance) == (pytest.approx(0.4, rel=1e-3), pytest.approx(0.38 / 3, rel=1e-3))


# --- missing values, comments -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("token", (
    "#N/A #NV #DIV/0! #WERT! #VALUE! #REF! #NAME? #NULL! #NUM! #BEZUG! #ZAHL! #VALEUR! #NOM? #NOMBRE! #NUL! #¡DIV/0! "
    "#¡VALOR! #¿NOMBRE? #¡NULO! #N/D #RIF! #NOME? #VALORE! #NÚM! #N/B #DEEL/0! #WAARDE! #NAAM? #VERW! #GETAL! #LEEG! "
    "#SAKNAS! #VÄRDEFEL! #DIVISION/0! #I/T #VÆRDI! #NAVN? #PUUTTUU! #JAKO/0! #N/D! #DZIEL/0! #ARG! #ADR! #NAZWA? "
    "#LICZBA! #HODNOTA! #DĚLENÍ_NULOU! #SZÁM! #HIÁNYZIK #ÉRTÉK! #Н/Д #ДЕЛ/0! #ЗНАЧ! #ССЫЛКА! #ИМЯ? #ЧИСЛО! #YOK "
    "#SAYI/0! #DEĞER! #AD? #SPILL! #CALC! #ÜBERLAUF! #GETTING_DATA #ERROR! ##### Err:502 #n/a #div/0! <NA> -nan "
    "1.#IND -1.#QNAN -nan(ind) NaN NULL").split())
def test_errors_of_spreadsheets_are_missing_values(token: str) -> None:
    found = read(f"v,w\n1,10\n{token},2000\n3,30\n9,41\n")
    assert same(dict(zip(found.labels, map(list, found.vectors), strict=True)),
                {"v": [1, NAN, 3, 9], "w": [10, 2000, 30, 41]})
    assert (f"missing: {token} in line 3, an error of the spreadsheet" in found.notes) == (token[0] in "#E")
    assert read(f"{token},1,2\nb,3,4").labels == (token, "b")  # as a label it is text


@pytest.mark.parametrize(("text", "how", "expected", "note"), [
    ("#2,1,2\nb,3,4", {}, {"#2": [1, 2], "b": [3, 4]}, ""),
    ("id,v\n#1,10\n#2,20", {}, {"v": [10, 20]}, ""),
    ("a,1,2\n#2,3,4\n# 3,5,6", {}, {"a": [1, 2], "#2": [3, 4], "# 3": [5, 6]}, ""),
    ("x,y\n#1,2\n3,4\n5,6", {}, {"x": [3, 5], "y": [4, 6]}, "left out: the comment in line 2"),
    ("# one\n\n  # two\na,b\n# three\n1,2", {}, {"a": [1], "b": [2]}, "left out: 3 comment lines, the first is line 1"),
    ("a,b\n1,2\n% note\n3,4", {"comment": "%"}, {"a": [1, 3], "b": [2, 4]}, "left out: the comment in line 3"),
    ("a,b\n1,2\n// x\n3,4\n#N/A,5", {"comment": "//"}, {"a": [1, 3, NAN], "b": [2, 4, 5]}, "missing: #N/A in line 5"),
    ("#a,b\n1,2", {"comment": ""}, {"#a": [1], "b": [2]}, ""),
    ("a,b\n#N/A,1\n2,#REF!\n3,#REF!", {}, {"a": [NAN, 2, 3], "b": [1, NAN, NAN]},
     "missing: #N/A in line 2, and 2 more errors"),
    ("x;y\r\n#¡DIV/0!;1,5\r\n2,5;3\r\n", {}, {"x": [NAN, 2.5], "y": [1.5, 3]}, "missing: #¡DIV/0! in line 2"),
    ('a,b\n"x\n#y",1\nz,2', {}, {"b": [1, 2]}, ""),
    ("\ufeff1\t2\r3\t4\r\x1a", {}, {"row 1": [1, 2], "row 2": [3, 4]}, ""),
])
def test_comments_end_where_data_begin(text: str, how: dict[str, str], expected: dict[str, list[float]], note: str
                                       ) -> None:
    assert same(table(text, **how), expected)
    notes = read(text, **how).notes
    assert any(note in said for said in notes) if note else notes == ()


def test_what_was_left_out_is_told_in_every_format(tmp_path: Path, told: Told,
                                                   capsys: pytest.CaptureFixture[str]) -> None:
    data, note = tmp_path / "a.csv", "missing: #NV in line 3, an error of the spreadsheet"
    data.write_text("v,w\n1,10\n#NV,2000\n3,30\n9,41\n")
    found = json.loads(told("decouple", str(data), "--json", code=4).out)
    assert found["notes"] == [note] and found["samples"][1]["mean"] == 520.25
    assert (found["samples"][0]["missing"], found["samples"][0]["mean"]) == (1, None)
    for kind, stream in (("table", "out"), ("csv", "err")):
        assert main(["decouple", str(data), "--format", kind]) == 4
        assert note in getattr(capsys.readouterr(), stream)


# --- names, units -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "how", "expected", "note"), [
    ("1999,2000,2001\n.5,.7,.1\n.2,.3,.4", {}, {"1999": [.5, .2], "2000": [.7, .3], "2001": [.1, .4]}, "taken for nam"),
    ("country,1999,2000\nFR,.1,.2\nDE,.3,.4", {}, {"1999": [.1, .3], "2000": [.2, .4]}, "--skip-header 0"),
    ("1999,2000\n1,2\n3,4", {"header_lines": 0}, {"row 1": [1999, 2000], "row 2": [1, 2], "row 3": [3, 4]}, ""),
    ("1999,2000\n1850,2010", {}, {"row 1": [1999, 2000], "row 2": [1850, 2010]}, "--skip-header 1 takes it for names"),
    ("1999,2000\n1850,2010", {"header_lines": 1}, {"1999": [1850], "2000": [2010]}, ""),
    ("name,code,1960,1961,1962\nA,AA,5,2000,7\nB,BB,6,,8", {}, {"1960": [5, 6], "1961": [2000, NAN], "1962": [7, 8]},
     "taken for names, name, code, 1960"),
    ("2000,2001,2002\n2010,2011,2012", {}, {"row 1": [2000, 2001, 2002], "row 2": [2010, 2011, 2012]},
     "--skip-header 1"),
    ("#,x\n1,5\n2,6", {}, {"#": [1, 2], "x": [5, 6]}, "taken for names"),
    ("# \n1\n2", {}, {"column 1": [1, 2]}, "left"),
    (",1999,2000\n0,5,6\n1,7,8", {}, {"1999": [5, 7], "2000": [6, 8]}, "taken for names"),
    ("year,v\n1990,2\n1991,3", {}, {"year": [1990, 1991], "v": [2, 3]}, ""),
    (",10,20\na,1,2\nb,3,4", {}, {"10": [1, 3], "20": [2, 4]}, "taken for names, 10, 20"),  # a pivot table
    (",a,b\n0,5,6\n1,7,8", {}, {"a": [5, 7], "b": [6, 8]}, ""),  # pandas counts the rows
    ('"","a"\n"1",5\n"2",7', {}, {"a": [5, 7]}, ""),  # so does R
    ("# a b\n1 2\n3 4", {}, {"a": [1, 3], "b": [2, 4]}, "the comment in line 1 is taken for names"),
    ("# a b\n1,2\n3,4", {}, {"a": [1, 3], "b": [2, 4]}, "taken for names"),
    ("# a,b\n1,2", {"header_lines": 0}, {"row 1": [1, 2]}, "left out"),
    ("# made by me\n1,2\n3,4", {}, {"row 1": [1, 2], "row 2": [3, 4]}, "left out: the comment"),
    ("sep=;\na;b\n1,5;2\n", {}, {"a": [1.5], "b": [2]}, ""),
    ("\ufeffsep=,\r\na,b\r\n1,2\r\n", {}, {"a": [1], "b": [2]}, ""),
    ('"sep=;"\n1;2\n', {}, {"row 1": [1, 2]}, ""), ("sep=\t\na\tb\n1\t2", {}, {"a": [1], "b": [2]}, ""),
    ("a,b\nm,s\n1,2\n3,4", {}, {"a": [1, 3], "b": [2, 4]}, "line 2 is taken for units, and left out: m, s"),
    ("a,b\n10^3 m,1/s\n1,2", {}, {"a": [1], "b": [2]}, "left out: 10^3 m, 1/s"),
    ("id;v\n;[km/h]\nA;1,5\nB;2", {}, {"v": [1.5, 2]}, "taken for units"), ("id,v\nA,\nB,2", {}, {"v": [NAN, 2]}, ""),
    ("# c\n\na,b\n1,2", {"header_lines": 3}, {"a": [1], "b": [2]}, "2 lines before the names left out"),
    ("x\n\n1,2\n3,4", {"header_lines": 2}, {"row 1": [1, 2], "row 2": [3, 4]}, "2 lines before the data left out"),
    ("Report\n1,2\n3,4", {"header_lines": 1}, {"row 1": [1, 2], "row 2": [3, 4]}, ""),
    ("# a b\n1 2", {"header_lines": 1}, {"a": [1], "b": [2]}, ""),
    ("# 1 2\n3 4", {"header_lines": 1}, {"row 1": [3, 4]}, ""), ("# x\n\n3,4", {"header_lines": 2}, {"row 1": [3, 4]},
                                                                "2 lines before the data"),
    ("1,5;2,5\n3,5;4", {}, {"row 1": [1.5, 2.5],
                                                                                       "row 2": [3.5, 4]}, ""),
])
def test_names_and_units(text: str, how: dict[str, object], expected: dict[str, list[float]], note: str) -> None:
    assert same(table(text, **how), expected), table(text, **how)
    notes = read(text, **how).notes
    assert any(note in said for said in notes) if note else notes == ()


# --- thousands, digits ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "sign", "expected"), [
    ('a,b\n"1,234",2\n"2,500,000.5",3', ",", {"a": [1234, 2500000.5], "b": [2, 3]}),
    ("a;b\n1.234,5;2\n2.000,25;3", ".", {"a": [1234.5, 2000.25], "b": [2, 3]}),
    ("1,234;2,345\n1;2", ",", {"row 1": [1234, 2345], "row 2": [1, 2]}), ("1\u202f234;5", " ", {"row 1": [1234, 5]}),
    ("1 234;-5 678", " ", {"row 1": [1234, -5678]}), ("1’234\t5", "'", {"row 1": [1234, 5]}),
    ("12,34,567;1", ",", {"row 1": [1234567, 1]}), ("1_000,2", "_", {"row 1": [1000, 2]}),
    ("a\n1,234\n5,678,901", ",", {"a": [1234, 5678901]}), ("1.234;2,5", ".", {"row 1": [1234, 2.5]}),
])
def test_thousands(text: str, sign: str, expected: dict[str, list[float]]) -> None:
    assert same(table(text, thousands=sign), expected)


def test_thousands_that_may_be_decimals_are_told() -> None:
    assert "1,234 is read as 1.234; --thousands comma reads it as 1234" in read("1,234;2,345").notes
    assert read("1,2345;2,345").notes == ()


@pytest.mark.parametrize(("text", "exact"), [
    ("1.00000000000000000001", True), ("0.12345678901234567891", True), ("-.123456789012345678901e-5", True),
    ("0.1000000000000000055511151231257827", False), ("1.000000000000000056e-01", False), ("0.1", False),
    ("1.50000000000000000000000", False), ("123456789012345678.5", True), ("9007199254740992.0000000", False),
    ("1e400", True), ("-3.5E-400", True), ("1e-4000", True), ("0e9", False), ("9" * 400, False), ("0e-400", False),
])
def test_digits_beyond_float64_are_kept(text: str, exact: bool) -> None:
    value = read_cell(text)
    assert isinstance(value, Fraction) == exact
    assert isinstance(value, int) == (len(text) == 400)
    assert Fraction(value) == (Fraction(text) if exact or len(text) == 400 else Fraction(float(text)))


def test_a_row_of_long_decimals_is_exact_throughout() -> None:
    """Beside 0.1 + 1e-20 stands 1/10, not the float64 near it."""
    (row,) = read("0.10000000000000000001,0.1,2").vectors
    assert list(row) == [Fraction("0.10000000000000000001"), Fraction(1, 10), 2]
    values = [Fraction(1) + Fraction(k, 10**20) for k in (1, 2, 9, 4)]
    small = read("1,2,9,4").vectors[0]
    (row,) = read(",".join(f"1.0000000000000000000{k}" for k in (1, 2, 9, 4))).vectors
    assert list(row) == values and [v - 1 for v in row] == [Fraction(int(v), 10**20) for v in small]


def test_text_beyond_float64(tmp_path: Path, told: Told) -> None:
    """What has no unit is computed; with digits asked for, all is; nothing becomes infinite or zero."""
    for unit in ("e400", "e-400"):
        path = tmp_path / "a.csv"
        path.write_text("".join(f"{k}{unit}\n" for k in (1, 2, 9, 4)))
        (sample,) = json.loads(told("decouple", str(path), "--json", code=4).out)["samples"]
        assert set(sample["refused"]) == {"mean", "variance"}
        assert (sample["kurtosis"], sample["skewness"]) == (pytest.approx(2), pytest.approx(22.5 / 9.5**1.5))
        (sample,) = json.loads(told("decouple", str(path), "--json", "--dps", "20").out)["samples"]
        assert Fraction(sample["mean"]) == Fraction(f"4{unit}")
        assert "beyond float64" in told("explore", "mean(x)", "--data", str(path), code=3).err


@pytest.mark.parametrize("name", ["a.csv", "a.npy", "-"])
def test_files_compressed_with_gzip(name: str, tmp_path: Path, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = io.BytesIO()
    np.save(plain, np.array([1.0, 2, 9, 4]))
    data = plain.getvalue() if name == "a.npy" else b"v\n1\n2\n9\n4\n"
    path = str(tmp_path / f"{name}.gz") if name != "-" else "-"
    for content, code in ((gzip.compress(data), 0), (gzip.compress(data)[:-9], 3), (b"\x1f\x8bhello", 3),
                          (gzip.compress(gzip.compress(data)), 0)):
        if name == "-":
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        else:
            Path(path).write_bytes(content)
        found = json.loads(told("decouple", path, "--json", code=code).out)
        assert found["samples"][0]["mean"] == 4 if code == 0 else "damaged or not complete" in found["error"]


def test_long_doubles_beyond_float64(tmp_path: Path, told: Told, capsys: pytest.CaptureFixture[str]) -> None:
    if np.finfo(np.longdouble).maxexp <= 1024:
        pytest.skip("long doubles are doubles here")
    for name, unit in (("large", "1e400"), ("small", "1e-4900")):
        np.save(tmp_path / "a.npy", np.array([1, 2, 9, 4], np.longdouble) * np.longdouble(unit))
        assert main(["decouple", str(tmp_path / "a.npy"), "--json"]) == 4, name
        (sample,) = json.loads(capsys.readouterr().out)["samples"]
        assert sample["refused"]["mean"].startswith("out of range")
        assert (sample["kurtosis"], sample["skewness"]) == (pytest.approx(2), pytest.approx(22.5 / 9.5**1.5))
        assert main(["decouple", str(tmp_path / "a.npy"), "--json", "--features", "mean(x)", "variance()",
                     "skewness()"]) == 4, name
        (sample,) = json.loads(capsys.readouterr().out)["samples"]
        assert set(sample["refused"]) == {"mean(x)", "variance()"}  # neither infinite nor zero
        assert sample["skewness()"] == pytest.approx(22.5 / 9.5**1.5)
    np.save(tmp_path / "a.npy", np.array([1, 2, np.inf], np.longdouble))
    assert "infinite value" in told("decouple", str(tmp_path / "a.npy"), code=4).out


# --- groups -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "how", "expected", "left_out", "note"), [
    ("g,v\na,1\nb,2\na,3\nb,7\na,8", {"groups": "g"}, {"a": [1, 3, 8], "b": [2, 7]}, (), ""),
    ("v,g,w\n1,x,2\n3,x,4\n5,y,", {"groups": "g"}, {"x: v": [1, 3], "x: w": [2, 4], "y: v": [5], "y: w": [NAN]}, (),
     ""),
    ("v,g,w\n1,x,2\n3,x,4\n5,y,6", {"groups": "2", "columns": "w"}, {"x": [2, 4], "y": [6]}, (), ""),
    ("g,v,t\n1,5,u\n2,6,u\n1,7,u", {"groups": "g"}, {"1": [5, 7], "2": [6]}, ("t",), ""),
    ("g;v\n;1,5\nb;2,5\n#N/A;3\nb;4", {"groups": "g"}, {"b": [2.5, 4]}, (), "left out: 2 lines without an entry in g"),
    ("g,v\na,1", {"groups": "h"}, "there is no column 'h'; the columns are g, v", (), ""),
    ("g,v\na,1", {"groups": "v"}, "no column of numbers beside it", (), ""),
    ("g,v\n,1\n,2", {"groups": "g"}, "no line has an entry", (), ""),
    ("g,v\n1,1\n2,2", {"groups": "g", "columns": "v,g"}, "cannot be among --columns", (), ""),
])
def test_groups(text: str, how: dict[str, str], expected: dict[str, list[float]] | str, left_out: tuple[str, ...],
                note: str) -> None:
    if isinstance(expected, str):
        with pytest.raises(InvalidInput, match=expected):
            arrange(read_grid(text), **how)
        return
    found = arrange(read_grid(text), **how)
    assert same(dict(zip(found.labels, map(list, found.vectors), strict=True)), expected)
    assert (found.left_out, found.notes) == (left_out, (note,) if note else ())


def test_one_line_a_group(tmp_path: Path, told: Told) -> None:
    values = np.random.default_rng(3).normal(size=60)
    groups = np.array(["north", "south", "east"])[np.arange(60) * 7 % 11 % 3]
    data = tmp_path / "a.csv"
    data.write_text("area,v\n" + "".join(f"{g},{v!r}\n" for g, v in zip(groups, values.tolist(), strict=True)))
    found = json.loads(told("decouple", str(data), "--groups", "area", "--json").out)
    assert found["groups"] == "area"
    assert {sample["label"]: sample["mean"] for sample in found["samples"]} == pytest.approx(
        {str(g): values[groups == g].mean() for g in dict.fromkeys(groups)})
    assert "3 samples, the groups of area" in told("decouple", str(data), "--groups", "area").out
    for more in (("--axis", "rows"), ("--normalize",)):
        assert main(["decouple", str(data), "--groups", "area", *more]) == 3
    np.save(tmp_path / "a.npy", values)
    assert main(["decouple", str(tmp_path / "a.npy"), "--groups", "area"]) == 3


# --- bad input: one line that helps -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "how", "said"), [
    ("a,b\n1,2\n# note\n3,4", {}, 'line 3, \'# note\': a comment among the data? --comment "#"'),
    ("a,1,2\n# b,c\nb,3,4", {}, '--comment "#"'), ("1,2\n#3,4", {}, '--comment "#"'),
    ("#1,10\n#2,20", {}, '--comment ""'), ("1,2\n3,4", {"header_lines": 1}, "line 1 holds numbers (1, 2)"),
    ("# c\n\na,b\n1,2\n3,4", {"header_lines": 4}, "--skip-header 3 takes it as data"),
    ("400,410,420\n.1,.2,.3", {"header_lines": 1}, "--skip-header 0"), ("1,2", {"header_lines": 5}, "no data"),
    ("Report 2020\n\na,b\n1,2\n3,4", {}, "--skip-header"), ('a,b\n"1,234",2', {}, "--thousands comma"),
    ("a;b\n1.234,5;2", {}, "--thousands point"), ("1 234;x\n1 000 000;2", {}, "--thousands space"),
    ("1;2", {"thousands": ",", "decimal": ","}, "--thousands and --decimal differ"),
    ("1,23;4", {"thousands": ","}, "one number or several"), ("a,b\nx,y\nz,w\nu,v\n1,2", {}, "line 2, a: 'x'"),
    ("5%,1\n6,2", {}, "'5%'"), ("$5,1\n6,2", {}, "'$5'"), ("0x1p3,1\n2,3", {}, "'0x1p3'"), ("１,1\n2,3", {}, "'１'"),
    ("1d5,1\n2,3", {}, "'1d5'"), ("1e9999,1", {}, "more than 4000 digits"), ("#NV,NV", {}, "no number"),
])
def test_what_cannot_be_read_names_the_way_out(text: str, how: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidInput) as error:
        read(text, **how)
    assert said in str(error.value) and "\n" not in str(error.value)


# --- streams and results ----------------------------------------------------------------------------------------------

COMMAND = f"{sys.executable} -m symdecouple"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize(("line", "code", "said"), [
    ("decouple a.csv > /dev/full", 3, "standard output cannot be written"), ("decouple a.csv >&-", 3, "it is closed"),
    ("decouple a.csv --json > /dev/full", 3, "standard output"), ("decouple - <&-", 3, "standard input is closed"),
    ("decouple a.csv -o /dev/full", 3, "--output /dev/full cannot be written"),
    ("decouple a.csv -o b.csv >&-", 0, "1 sample"), ("decouple missing.csv 2>&-", 3, ""),
    ("--help > /dev/full", 3, "standard output cannot"),
])
def test_closed_and_full_streams_are_bad_input(line: str, code: int, said: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1,2,3,9\n")
    here = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    done = subprocess.run(["/bin/sh", "-c", f"{COMMAND} {line}"], cwd=tmp_path, capture_output=True, text=True,
                          timeout=120, env=here, check=False)
    assert (done.returncode, said in done.stderr, "Traceback" in done.stderr) == (code, True, False), done.stderr
    assert code == 0 or done.stderr.count("\n") <= 1


def test_a_result_takes_its_place_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                        monkeypatch: pytest.MonkeyPatch) -> None:
    data, old, link = tmp_path / "a.csv", tmp_path / "old.json", tmp_path / "link.json"
    data.write_text("1,2,3,9\n")
    old.write_text("old")
    old.chmod(0o640)
    link.symlink_to(old.name)
    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", lambda handle: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        assert main(["decouple", str(data), "-o", str(link)]) == 3
    assert old.read_text() == "old" and "No space left" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "link.json", "old.json"]
    assert main(["decouple", str(data), "-o", str(link)]) == 0
    assert link.is_symlink() and json.loads(old.read_text())["samples"][0]["mean"] == 3.75
    assert old.stat().st_mode & 0o777 == 0o640
    (tmp_path / "same.csv").hardlink_to(data)
    for name in ("a.csv", "same.csv"):
        assert main(["decouple", str(data), "-o", str(tmp_path / name)]) == 3
    assert data.read_text() == "1,2,3,9\n"


def test_streams_that_python_was_given_closed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["--version"]) == 3
    monkeypatch.setattr(sys, "stdin", io.StringIO("1,2,3,9\n"))
    assert main(["decouple", "-", "-o", str(tmp_path / "o.json")]) == 0
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["decouple", "-", "-o", str(tmp_path / "o.json")]) == 3
