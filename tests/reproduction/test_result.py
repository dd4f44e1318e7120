"""What is printed beside what was found: text, CSV, JSON."""

import csv
import io
import json

from symdecouple.reproduction.result import Result, Row

FOUND = Result("angles", "angles of gradients", "a table", {"vectors": 4, "seed": 0}, (
    Row("|DO|, noise [degrees]", 31.13456, 32, 26.5, 26, "exact gradients"), Row("involutive", "no", "yes"),
    Row("tiny", 1.5e-15, 1.6e-5), Row("many", 123456.0)), ("Pairs are pooled.",), 1.5)


def test_text() -> None:
    assert str(FOUND).splitlines() == [
        "angles: angles of gradients", "  a table", "  vectors 4, seed 0; 2 s", "",
        "                        source         here",
        "|DO|, noise [degrees]  32 ± 26  31.1 ± 26.5  exact gradients",
        "involutive                 yes           no", "tiny                   1.6e-05      1.5e-15",
        "many                                 123456", "", "* Pairs are pooled."]
    assert repr(FOUND).splitlines()[0] == "angles: angles of gradients"
    assert "<td>32 ± 26</td><td>31.1 ± 26.5</td>" in FOUND._repr_html_()


def test_markdown() -> None:
    assert FOUND.to_markdown().splitlines() == [
        "Angles of gradients; vectors 4, seed 0; 2 s.", "", "| | source | here | |", "|---|---|---|---|",
        r"| \|DO\|, noise \[degrees\] | 32 ± 26 | 31.1 ± 26.5 | exact gradients |",
        "| involutive | yes | no |  |", "| tiny | 1.6e-05 | 1.5e-15 |  |", "| many |  | 123456 |  |", "",
        "* Pairs are pooled."]


def test_files() -> None:
    rows = list(csv.DictReader(io.StringIO(FOUND.to_csv())))
    assert float(rows[0]["ours"]) == 31.13456
    assert (rows[0]["printed"], rows[0]["printed_spread"], rows[3]["printed"]) == ("32", "26", "")
    found = json.loads(FOUND.to_json())
    assert found["rows"][1] == {"quantity": "involutive", "printed": "yes", "printed_spread": None, "ours": "no",
                                "ours_spread": None, "remark": ""}
    assert found["settings"] == {"vectors": 4, "seed": 0}
    assert FOUND.plot() is None
