"""`symdecouple explore` and `symdecouple explain`: answers in words, codes for scripts, never a traceback."""

import io
import json
import time
from pathlib import Path

import numpy as np
import pytest

import symdecouple as sd
from symdecouple.cli import explore as command
from symdecouple.cli.waiting import counted_from, told_to_wait
from tests.cli.conftest import Told

PAIR = ["mean(x)", "mean(x^3)"]
PATIENT = ["--budget", "600", "--patience", "60"]


def test_what_is_decided_is_printed(told: Told) -> None:
    out, err = told("explore", *PAIR, *PATIENT)
    assert "1 2       PROVED  REFUTED for every N >= 3  2 (2)" in out
    assert "longest exact orders: 2 features" in out
    assert err == ""


def test_json_has_certificates_and_latex_tables(told: Told) -> None:
    data = json.loads(told("explore", *PAIR, "--json", *PATIENT).out)
    assert [one["C2"] for one in data["sets"]] == ["PROVED", "PROVED", "REFUTED"]
    assert sd.verdict_from_json(json.dumps(data["sets"][2]["verdict"])).verify()
    assert r"\begin{tabular}" in told("explore", *PAIR, "--latex", *PATIENT).out


def test_a_spent_budget_is_code_4(told: Told) -> None:
    assert "the budget was spent" in told("explore", "mean(x)", "mean(x^8)", "--budget", "0.004", code=4).out


def test_orders_are_ranked_at_the_samples_of_a_file(tmp_path: Path, told: Told) -> None:
    rows = np.random.default_rng(2).normal(size=(3, 9))
    data = tmp_path / "rows.csv"
    data.write_text("\n".join(",".join(map(str, row)) for row in rows) + "\n" + ",".join(["1", "", *"1234567"]) + "\n")
    out, err = told("explore", "mean(x)", "mean(x^2)", "--data", str(data), "--axis", "rows", *PATIENT)
    assert "0 to rounding" in out
    assert "1 samples with missing values are left out" in err


@pytest.mark.parametrize(("arguments", "name", "text"), [
    *((("explore", *PAIR, "--axis", "rows", "--data"), "rows.csv", text)
      for text in ("1,2,3\n4,5\n", ",\n,\n", "a,b\nc,d\n", "")),
    *((("explain",), "verdict.json", text)
      for text in ("", "{}", "[1]", "{", '{"format": "symdecouple.verdict"}', "mean(x)", "\x00\x01"))])
def test_files_that_do_not_fit_are_code_3(arguments: tuple[str, ...], name: str, text: str, tmp_path: Path,
                                          told: Told) -> None:
    (tmp_path / name).write_text(text)
    assert f"{name}: " in told(*arguments, str(tmp_path / name), code=3).err


def test_an_interruption_prints_what_was_decided(monkeypatch: pytest.MonkeyPatch, told: Told) -> None:
    real = command.explore

    def interrupted(*args: object, **settings: object) -> object:
        def stop(done: int, total: int) -> None:
            raise KeyboardInterrupt

        return real(*args, **(settings | {"progress": stop}))

    monkeypatch.setattr(command, "explore", interrupted)
    out, err = told("explore", *PAIR, *PATIENT, code=130)
    assert "1 2       PROVED  REFUTED" in out
    assert "interrupted" in err


def test_progress_is_one_line_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr("symdecouple.cli.waiting._PATIENCE", 0.01)
    monkeypatch.setattr("symdecouple.waiting._EVERY", 0.0)
    with told_to_wait("deciding", "orders") as tell:
        assert tell is not None
        tell(1, 3)  # too early
        deadline = time.monotonic() + 10
        while not terminal.getvalue() and time.monotonic() < deadline:
            time.sleep(0.005)
        assert terminal.getvalue() == "\rsymdecouple: deciding, Ctrl-C stops"
        one = counted_from(tell, 1, 3)
        assert one is not None
        one(1, 1)
    assert "\rsymdecouple: deciding: 2 of 3 orders, Ctrl-C stops" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r") and "\n" not in terminal.getvalue()
    monkeypatch.setattr("sys.stderr", io.StringIO())
    with told_to_wait("deciding", "orders") as tell:
        assert tell is None and counted_from(tell, 1, 3) is None


# --- explain ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("formulas", "code", "said"), [
    (["mean(x)", "mean(x^2)", "mean(x^3)"], 0, "Theorem A"), (PAIR, 1, "Theorem A"),
    (["mean(x)", "variance()", "kurtosis()"], 0, "Theorem D"), (["mean(x)", "2*mean(x) + 1"], 1, "dependent"),
    ([f"mean(taps({taps}, 1, half_sample)(x)^2)" for taps in ("(1, 2, 1)", "(1, 0, -1)")], 2, "not no"),
])
def test_formulas_are_decided_and_explained(formulas: list[str], code: int, said: str, told: Told) -> None:
    assert said in told("explain", *formulas, code=code).out


def test_a_saved_verdict_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: Told) -> None:
    text = told("check", *PAIR, "--json", code=1).out
    saved = tmp_path / "verdict.json"
    saved.write_text(text)
    words = told("explain", str(saved), code=1).out
    assert "refuted for every N >= 3" in words
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert told("explain", "-", code=1).out == words
    assert json.loads(told("explain", str(saved), "--json", code=1).out)["theorem"] == "Theorem A"


def test_a_verdict_that_was_tampered_with_is_not_believed(tmp_path: Path, told: Told) -> None:
    data = sd.check_frobenius(sd.FeatureSet.parse(*PAIR)).to_dict()
    data["n0"] = data["certificate"]["n0"] = 2
    saved = tmp_path / "verdict.json"
    saved.write_text(json.dumps(data))
    out, err = told("explain", str(saved), code=3)
    assert out == ""
    assert "not to be believed" in err


def test_formulas_of_standard_input_are_explained(monkeypatch: pytest.MonkeyPatch, told: Told) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("# two\nmean(x)\nmean(x^2)\n"))
    assert "2  Mean(x**2)" in told("explain", "-").out
