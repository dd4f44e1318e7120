"""`symdecouple check`: the answer is in the exit code, the evidence in the output, and no input ends in a traceback."""

import io
import json
import subprocess
import sys
import time
from dataclasses import replace
from unittest import mock

import pytest

import symdecouple as sd
from symdecouple.calculus import certificates
from symdecouple.cli import main
from symdecouple.cli.check import Verification, exit_code
from symdecouple.cli.exit_codes import ExitCode
from symdecouple.errors import BudgetExceeded
from symdecouple.language.budget import Budget
from symdecouple.verdict import Check, Status, Verdict
from tests.cli.conftest import Told

PROVED = ["mean(x)", "mean(x^2)", "mean(x^3)"]
REFUTED = [*PROVED, "mean(x^4)"]
PAIR = ["mean(x)", "mean(x^3)"]
DEPENDENT = ["mean(x)", "2*mean(x) + 1"]

HOSTILE = [
    "__import__('os').system('true')", "mean(x).__class__", "[x for x in (1,)]", "lambda: 0", "mean(x^10^10)",
    "9**9**9**9", "mean(gamma(10^9)*x)", "(" * 500 + "x" + ")" * 500, "mean(x)" * 5000, "x" * 20000,
    "mean(x) if 1 else 2", "f'{x}'", "mean(x); mean(x)", "mean(x", "mean(\0x)", "mean(x)\nmean(x)", "",
    "   ", "1/0", "mean(1/0*x)", "x", "7", "mean(x1)", "mean(abs(x))", "mean(nan*x)", "mean(oo*x)",
    "e" * 40 + "(x)", "%s%n", "\x1b[2J", "mean(x)==1", "mean(𝒙)",
]


@pytest.mark.parametrize(("formulas", "code", "said"), [
    (PROVED, 0, "PROVED for every N"), (REFUTED, 1, "REFUTED for every N >= 5"), (DEPENDENT, 1, "C1: REFUTED"),
    (["mean(filter(h)(x)^2)", "mean(x)"], 0, "PROVED for every N"),
    ([f"mean(taps({taps}, 1, half_sample)(x)^2)" for taps in ("(1, 2, 1)", "(1, 0, -1)")], 2, "UNDECIDED"),
])
def test_the_exit_code_is_the_answer(formulas: list[str], code: int, said: str, told: Told) -> None:
    out, err = told("check", *formulas, code=code)
    assert said in out
    assert err == ""
    assert ("certificates: verified, " in out) == (code != 2 or "C1: PROVED" in out)


def verdict(c2: Status, c1: Status | None) -> Verdict:
    def one(question: str, status: Status, inner: Verdict | None) -> Verdict:
        exact = status in (Status.PROVED, Status.REFUTED)
        return Verdict(question, status, (), certificate=mock.Mock() if exact else None, independence=inner)

    return one("C2", c2, None if c1 is None else one("C1", c1, None))


@pytest.mark.parametrize(("c2", "c1", "code"), [
    ("PROVED", "PROVED", ExitCode.PROVED), ("PROVED", "UNDECIDED", ExitCode.UNDECIDED),
    ("PROVED", "REFUTED", ExitCode.REFUTED), ("REFUTED", "PROVED", ExitCode.REFUTED),
    ("REFUTED", "UNDECIDED", ExitCode.REFUTED), ("UNDECIDED", "PROVED", ExitCode.UNDECIDED),
    ("UNDECIDED", "REFUTED", ExitCode.REFUTED), ("UNDECIDED", "UNDECIDED", ExitCode.UNDECIDED),
])
def test_both_conditions_count(c2: str, c1: str, code: ExitCode) -> None:
    assert exit_code(verdict(Status[c2], Status[c1])) is code


@pytest.mark.parametrize("formula", HOSTILE)
def test_bad_input_is_code_3_at_once(formula: str, capsys: pytest.CaptureFixture[str]) -> None:
    start = time.perf_counter()
    assert main(["check", formula]) == 3
    assert time.perf_counter() - start < 2
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    assert "\x1b" not in err
    assert len(err) < 1500


@pytest.mark.parametrize("formula", ["mean(x^10^10)", "mean(abs(x))", "__import__('os')"])
def test_errors_are_json_too(formula: str, told: Told) -> None:
    out, err = told("check", "mean(x)", formula, "--json", code=3)
    assert err == ""
    answer = json.loads(out)
    assert answer["exit_code"] == 3
    assert answer["error"].startswith("formula 2: ")


@pytest.mark.parametrize("argv", [
    [], ["check"], ["check", "mean(x)", "--nonsense"], ["chekc", "mean(x)"], ["check", "mean(x)", "-n", "two"],
    ["check", "mean(x)", "-n", "1"], ["check", "mean(x)", "-n", "10000000"], ["check", "mean(x)", "--budget", "nan"],
    ["check", "mean(x)", "--budget", "-1"], ["check", "mean(x)", "--budget", "1e300"], ["--nonsense"],
    ["check", "mean(x)", "--verify", "--no-verify"], ["check", "mean(x)", "--domain", "x=(1, 0)"],
    ["check", "mean(x)", "--domain", "x=imaginary"], ["check", "mean(x)", "--at", "a=1"],
    ["check", "mean(x)", "--at", "a"], ["check", "mean(a*x)", "--at", "a=__import__('os')"],
    ["check", "mean(x)", "mean(x)"], ["check", "mean(x)", "--allow-nonsmooth", "Nothing"],
    ["check", "mean(x)", "--at", "=1"],
    ["explore"], ["explore", "mean(x)", "mean(x)"], ["explore", "mean(x", "mean(x^2)"], ["explore", "x"],
    ["explore", *PAIR, "--budget", "0"], ["explore", *PAIR, "--patience", "-1"], ["explore", *PAIR, "--data", "/no/f"],
    ["explore", *PAIR, "--reference", "0,1,2"], ["explore", *PAIR, "--reference", "red"],
    ["explore", *PAIR, "--latex", "--verify"], ["explore", *(f"mean(x^{k})" for k in range(1, 14))],
    ["explore", "mean(x)", "mean((x - 1) + 1)"], ["explore", "__import__('os')"],
    ["explain"], ["explain", "no.json"], ["explain", "/"], ["explain", "mean(x", "mean(x^2)"], ["explain", "x + 1"],
])
def test_usage_errors_are_code_3(argv: list[str], told: Told) -> None:
    out, err = told(*argv, code=3)
    assert out == ""
    assert err.startswith("symdecouple: ")
    assert "Traceback" not in err


def test_json_is_a_verdict_that_verifies_elsewhere(told: Told) -> None:
    out = told("check", *REFUTED, "--json", code=1).out
    answer = json.loads(out)
    assert answer["status"] == "REFUTED"
    assert answer["verification"]["passed"] is True
    assert all(check["passed"] for check in answer["verification"]["checks"])
    again = sd.verdict_from_json(out)
    assert again.failing_pair == (3, 4)
    assert again.certificate.verify()


def test_options_may_stand_between_formulas(told: Told) -> None:
    out = told("check", "mean(x)", "--no-verify", "mean(x^2)", "-n", "5", "mean(x^3)").out
    assert "PROVED for N = 5" in out
    assert "Mean(x**3)" in out
    assert "certificates" not in out


def test_a_formula_may_begin_with_a_minus(told: Told) -> None:
    assert "-Mean(x)" in told("check", "-mean(x)", "-n*mean(x^2)").out


def test_verify_shows_every_check(told: Told) -> None:
    lines = [line for line in told("check", *PROVED, "--verify").out.splitlines() if line.startswith("    ok ")]
    assert len(lines) > 10
    assert {line.split()[1] for line in lines} == {"C1,", "C2,"}


def test_a_document_is_printed(told: Told) -> None:
    out = told("check", "mean(x)", "mean(x^3)", "--document", code=1).out
    assert out.startswith(r"\documentclass") and out.endswith("\\end{document}\n") and "not involutive" in out
    assert main(["check", "mean(x)", "--document", "--json"]) == 3


def test_latex_has_features_and_verdict(told: Told) -> None:
    features, answer = told("check", "mean(x)", "mean(x^2)", "--latex").out.splitlines()
    assert r"\overline{x^{2}}" in features
    assert r"[v_{1}, v_{2}] = 2\, v_{1}" in answer
    assert all(line.startswith("$") and line.endswith("$") for line in (features, answer))


def test_domain_parameter_values_and_kinks(told: Told) -> None:
    assert main(["check", "mean(log(x))", "mean(x^3)", "--domain", "x=positive"]) == 1
    assert main(["check", "mean(x)", "mean(x^2 + a*x^5)"]) == 1
    assert main(["check", "mean(x)", "mean(x^2 + a*x^5)", "--at", "a=0"]) == 0
    assert main(["check", "mean(Abs(x))", "--allow-nonsmooth", "abs"]) == 0
    assert main(["check", "mean(x)", "mean(filter(h)(x)^2)", "--at", "h=taps((1, 0, -1))(x)", "-n", "6"]) == 0
    assert "vacuous" in told("check", "x1 + x2", "x1*x2", "-n", "2").out


def test_formulas_from_standard_input(monkeypatch: pytest.MonkeyPatch, told: Told) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("# raw moments\nmean(x^2)\n\nmean(x^3)\n"))
    assert "  3  Mean(x**3)" in told("check", "mean(x)", "-").out
    monkeypatch.setattr(sys, "stdin", io.StringIO("# nothing\n"))
    assert "no formula" in told("check", "-", code=3).err


def test_a_false_certificate_is_an_internal_error(monkeypatch: pytest.MonkeyPatch, told: Told) -> None:
    audit = certificates.Involution.audit
    monkeypatch.setattr(certificates.Involution, "audit",
                        lambda self, budget: (*audit(self)[:-1], replace(audit(self)[-1], passed=False)))
    out, err = told("check", *PROVED, code=70)
    assert "NOT VERIFIED, 1 of " in out
    assert "not to be trusted" in err
    assert "FAIL C2, " in err


def test_a_verification_that_takes_too_long_leaves_it_undecided(monkeypatch: pytest.MonkeyPatch, told: Told) -> None:
    def audit(self: object, budget: float) -> tuple[Check, ...]:
        clock = Budget(budget)
        while True:
            clock.check("verifying")

    monkeypatch.setattr(certificates.Involution, "audit", audit)
    out, err = told("check", "mean(x)", "mean(x^2)", "--budget", "0.5", code=2)
    assert "not verified in time" in out
    assert "--budget" in err


def test_a_wrong_check_is_not_excused_by_a_late_one() -> None:
    late, wrong = Check("late", False, f"{BudgetExceeded.__name__}: ..."), Check("wrong", False)
    assert Verification((late,), 1.0).ran_out
    assert not Verification((late, wrong), 1.0).ran_out


def test_interrupt_and_unforeseen_errors(monkeypatch: pytest.MonkeyPatch, told: Told) -> None:
    for error, code, said in ((KeyboardInterrupt(), 130, "interrupted"), (RuntimeError("odd"), 70, "RuntimeError: odd"),
                              (BudgetExceeded("too large"), 2, "too large")):
        monkeypatch.setattr("symdecouple.cli.check.check_frobenius", mock.Mock(side_effect=error))
        assert said in told("check", "mean(x)", code=code).err


def test_help_has_examples_and_exit_codes(told: Told) -> None:
    for argv in (["--help"], ["check", "--help"], ["decouple", "-h"]):
        out = told(*argv).out
        assert "examples:\n  symdecouple " in out
        assert "exit codes:" in out
        assert max(map(len, out.splitlines())) <= 88
    assert told("--version").out.startswith("symdecouple ")


def test_as_a_process() -> None:
    command = [sys.executable, "-m", "symdecouple", "check"]
    done = subprocess.run([*command, *REFUTED], check=False, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (1, "")
    assert "[v3, v4] leaves the span" in done.stdout
    done = subprocess.run([*command, "mean(x"], check=False, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (3, "")
