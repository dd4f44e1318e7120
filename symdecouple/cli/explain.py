"""``symdecouple explain``: a verdict in words, of formulas that are decided first, or of a file that is verified."""

from __future__ import annotations

import argparse
import json
import sys

from symdecouple.analysis.explained import explain
from symdecouple.calculus.certificates import MAX_TEXT, verdict_from_json
from symdecouple.cli.check import decided, exit_code, formulas_in, verify
from symdecouple.cli.exit_codes import ExitCode
from symdecouple.cli.report import printable
from symdecouple.cli.sample_file import read_bytes
from symdecouple.cli.streams import read_input_text
from symdecouple.cli.waiting import told_to_wait
from symdecouple.errors import InvalidInput, SymdecoupleError
from symdecouple.verdict import Status, Verdict

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> int:
    """Decide or read, verify, and print the words; the exit code is the answer."""
    given, text = arguments.formulas, ""
    if len(given) == 1 and given[0].strip() == "-":
        text = read_input_text(MAX_TEXT)
        given = [] if text.lstrip().startswith("{") else formulas_in(text)
    elif len(given) == 1 and "(" not in given[0]:
        given, text = [], _text_of(given[0])
    source = "standard input" if arguments.formulas[0].strip() == "-" else printable(arguments.formulas[0])
    verdict = decided(given, arguments)[1] if given else _read(text, source, arguments.budget)
    words = explain(verdict)
    print(json.dumps(words.to_dict(), indent=2) if arguments.json else words)
    if verdict.question == "C2":
        return exit_code(verdict)
    codes = {Status.PROVED: ExitCode.PROVED, Status.REFUTED: ExitCode.REFUTED}
    return codes.get(verdict.status, ExitCode.UNDECIDED)


def _text_of(name: str) -> str:
    try:
        return read_bytes(name, MAX_TEXT).decode("utf-8-sig")
    except UnicodeError:
        raise InvalidInput(f"{printable(name)}: this is no text; verdicts are JSON in UTF-8") from None
    except InvalidInput as error:
        raise InvalidInput(f"{printable(name)}: {error}; a formula has a parenthesis, such as mean(x)") from None


def _read(text: str, source: str, budget: float) -> Verdict:
    """The verdict in a text, which is believed once its certificate is verified."""
    try:
        verdict = verdict_from_json(text)
    except SymdecoupleError as error:
        raise InvalidInput(f"{source}: {error}") from None
    with told_to_wait("verifying the certificate"):
        verification = verify(verdict, budget)
    if verification is not None and verification.ran_out:
        print("symdecouple: the certificate was not verified in time; --budget gives it more", file=sys.stderr)
    elif verification is not None and verification.failed:
        failed = "".join(f"\n  {check}" for check in verification.failed)
        raise InvalidInput(f"{source}: the verdict is not to be believed, its certificate does not verify:{failed}")
    return verdict
