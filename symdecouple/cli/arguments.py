"""The arguments of every command. Standard library only."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NoReturn

from symdecouple.cli import help_texts
from symdecouple.cli.argument_types import (
    delimiter,
    digits,
    header_lines,
    level,
    order,
    sample_size,
    seconds,
    seed,
    thousands,
)
from symdecouple.errors import InvalidInput

__all__ = ["COMMANDS", "UsageError", "check_output", "read_arguments"]

STYLES = ("text", "latex", "code")

_EVERYWHERE = "x=real"
_NEGATIVE = re.compile(r"-\.?[0-9]")


class UsageError(InvalidInput):
    """The arguments do not fit the command."""


class _Parser(argparse.ArgumentParser):
    """Raises where argparse would print and exit: the code 2 is taken by "undecided"."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}\n{self.prog} --help shows what is taken")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Where the help cannot be written, argparse would not say so."""
        (file or sys.stdout).write(message)


def read_arguments(argv: Sequence[str]) -> argparse.Namespace:
    """Read the arguments after the program's name; `command` is None where none is named.

    Raises
    ------
    UsageError
        If they do not fit.
    SystemExit
        After ``--help`` was printed.
    """
    if argv and argv[0] in COMMANDS:
        name = argv[0]
        description, epilog, add_arguments = COMMANDS[name]
        parser = _Parser(prog=f"symdecouple {name}", description=description, epilog=epilog, allow_abbrev=False,
                         formatter_class=argparse.RawDescriptionHelpFormatter)
        add_arguments(parser)
        rest = list(map(_shielded, _with_default_style(argv[1:]) if name == "decouple" else argv[1:]))
        found = parser.parse_intermixed_args(rest, argparse.Namespace(command=name, version=False))
        if name == "decouple":
            _complete(found)
        return found
    parser = _Parser(prog="symdecouple", usage="symdecouple COMMAND ...", description=help_texts.ABOUT,
                     epilog=help_texts.EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter,
                     allow_abbrev=False)
    parser.add_argument("--version", action="store_true", help="show the version and exit")
    parser.add_argument("unknown", nargs="*", help=argparse.SUPPRESS)
    other, options = parser.parse_known_args(argv)
    if other.unknown:
        parser.error(f"there is no command {other.unknown[0][:40]!r}; the commands are {', '.join(COMMANDS)}")
    if options:
        parser.error(f"unknown option {options[0][:40]}; options come after the command")
    if not other.version:
        parser.error(f"no command was given; the commands are {', '.join(COMMANDS)}")
    return argparse.Namespace(command=None, version=True)


def _shielded(argument: str) -> str:
    """A formula and a number may begin with a minus; a space before it tells them from an option."""
    is_formula = argument.startswith("-") and "(" in argument.partition("=")[0]
    return f" {argument}" if is_formula or _NEGATIVE.match(argument) else argument


def _with_default_style(argv: Sequence[str]) -> list[str]:
    """--formulas takes one of its styles, and nothing else: what follows may be FILE."""
    return ["--formulas=text" if argument == "--formulas" and follower not in STYLES else argument
            for argument, follower in pairwise([*argv, ""])]


def _complete(found: argparse.Namespace) -> None:
    """Tell FILE from the last formula, and what is computed in which way; refuse what does not belong together."""
    if found.file is None and found.features and "(" not in found.features[-1]:
        found.file = found.features.pop()  # every formula has a parenthesis
    if found.features and found.moments:
        raise UsageError("--moments and --features are two feature sets: name one")
    if found.match is not None:
        _check_match(found)
    asked = found.dps is not None or found.path != "auto" or found.reference.lower() not in ("gaussian", "white")
    found.is_standard = not (asked or found.features or found.domain != _EVERYWHERE)
    found.wants_plan = bool(asked or found.features or found.normalize or found.explain or found.formulas)
    if found.match is not None:
        found.wants_plan = bool(found.features)
    if found.wants_plan and not (found.features or found.moments):
        found.moments = 4
    if found.file is None and not (found.explain or found.formulas):
        raise UsageError("a FILE is needed, or - for standard input; --explain and --formulas do without")
    if found.file is None and (found.normalize or found.dps is not None):
        raise UsageError(f"{'--normalize' if found.normalize else '--dps'} is about numbers: name a FILE")
    if found.groups is not None and (found.axis == "rows" or found.normalize or found.match is not None):
        other = "--normalize" if found.normalize else "--axis rows" if found.axis == "rows" else "--match"
        raise UsageError(f"--groups is about columns, and prints a line a group: it goes without {other}")
    if found.level is not None and not (found.normalize or found.formulas):
        raise UsageError("--level belongs to --normalize or --formulas")
    if (found.at or found.allow_nonsmooth) and not found.features:
        raise UsageError("--at and --allow-nonsmooth belong to the formulas of --features")
    if found.domain != _EVERYWHERE and not (found.features or found.moments):
        raise UsageError("--domain belongs to --features or --moments")


def _check_match(found: argparse.Namespace) -> None:
    for option, is_there in (("--moments", found.moments), ("--normalize", found.normalize), ("--dps", found.dps),
                             ("--level", found.level), ("--explain", found.explain), ("--formulas", found.formulas)):
        if is_there:
            why = "the number of its values tells the orders" if option == "--moments" else "it writes moved samples"
            raise UsageError(f"--match goes without {option}: {why}")
    if not found.features and (found.path != "auto" or found.reference.lower() not in ("gaussian", "white")):
        raise UsageError("--match without --features is about moments, which need no --path and no --reference")


def check_output(found: argparse.Namespace, kind: str | None) -> None:
    """Refuse what cannot stand in one output of ``decouple``: a table, "csv" or "json".

    Raises
    ------
    UsageError
    """
    if kind == "json":
        return
    has_report = bool(found.explain or found.formulas)
    if has_report and (kind == "csv" or found.normalize):
        raise UsageError("--explain and --formulas have no place among numbers in CSV: take --json, or leave FILE out")
    if found.formulas == "code" and (found.explain or found.file is not None):
        raise UsageError("the code of --formulas code stands alone: leave out FILE and --explain, or take --json")
    if (found.normalize or found.match is not None) and kind == "table":
        what = "normalized" if found.normalize else "matched"
        raise UsageError(f"{what} samples are written as CSV or JSON, not as a table")


def _add_check(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("formulas", nargs="+", metavar="FORMULA", help="a feature; - reads standard input")
    _add_decision(add)
    output = _add_output(parser, "the verdict, its certificate and the checks", "the features and the verdict")
    output.add_argument("--document", action="store_true", help="print the theorem and its proof as a LaTeX document")
    checks = parser.add_mutually_exclusive_group()
    checks.add_argument("--verify", dest="verify", action="store_const", const="show", default="brief",
                        help="show every check of the certificate's verification")
    checks.add_argument("--no-verify", dest="verify", action="store_const", const="skip",
                        help="do not verify the certificate")


def _add_decision(add: Callable[..., object]) -> None:
    add("-n", "--n-samples", type=sample_size, metavar="N", help="decide for samples of N values only")
    _add_declaration(add)
    add("--budget", type=seconds, default=30.0, metavar="SECONDS",
        help="give up deciding after so long (default 30); the same again for verifying")


def _add_declaration(add: Callable[..., object]) -> None:
    add("--domain", metavar="x=WHERE", default=_EVERYWHERE,
        help="where samples lie: x=real (default), x=positive, x=negative, x=(0, 1)")
    add("--at", action="append", default=[], metavar="a=VALUE",
        help="give a parameter a value before anything is decided; may be repeated")
    add("--allow-nonsmooth", default="", metavar="NAMES",
        help="accept functions with kinks, such as Abs,Max: the answer holds away from the kinks")


def _add_decouple(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", nargs="?", help="a text table or an NPY array; - reads standard input")
    add = parser.add_argument_group("what is computed").add_argument
    add("--moments", type=order, metavar="M", help="decoupled moments of orders 1 to M, M up to 12")
    add("--features", nargs="+", action="extend", default=[], metavar="FORMULA",
        help="decouple these features, in this order; FILE may come last")
    add("--reference", default="gaussian", metavar="VALUES",
        help="what features are brought to: gaussian (default), their values for normal samples, or exact numbers such "
        "as 0,1,0,3; the last feature needs none")
    add("--path", choices=["auto", "broad", "relaxed", "parallel", "narrow"], default="auto",
        help="how levels are reached: closed forms where there are, else the narrow path (auto, the default); flows of "
        "the modified features (broad), of the original ones (relaxed), concatenated (parallel); projected gradients "
        "(narrow)")
    add("--dps", type=digits, metavar="N", help="compute and print N decimal digits; JSON has them as text")
    _add_declaration(add)
    add("--budget", type=seconds, default=30.0, metavar="SECONDS",
        help="give up each verdict after so long (default 30)")
    add = parser.add_argument_group("what is printed").add_argument
    add("--explain", action="store_true",
        help="the plan level by level, what was chosen and why, with the verdicts it rests on and the scenario")
    add("--formulas", nargs="?", const="text", choices=STYLES, metavar="STYLE",
        help="the normalizers in closed form: text (default), latex, or code, a NumPy module that runs alone")
    add("--normalize", action="store_true", help="the samples with their features at the reference, as CSV or JSON")
    add("--match", metavar="VALUES",
        help="the samples moved until their own mean, variance, skewness, kurtosis, ... (or the --features) have these "
        "exact numbers, such as 0,1,0,3; keep leaves one as it is; CSV or JSON")
    add("--level", type=level, metavar="K",
        help="bring features 1 to K to the reference (default: all before the last); which level's formula or code")
    add("--format", choices=["table", "csv", "json"], help="default: by the name of --output, otherwise table")
    add("--json", dest="format", action="store_const", const="json", help="the same as --format json")
    add("--output", "-o", metavar="FILE", help="write there instead of standard output")
    reading = _add_reading(parser)
    reading("--nan-policy", choices=["propagate", "omit", "raise"], default="propagate",
        help="missing values: refuse the sample (propagate, the default), compute without (omit), or stop (raise)")


def _add_reading(parser: argparse.ArgumentParser) -> Callable[..., object]:
    """The options about files of numbers."""
    add = parser.add_argument_group("how FILE is read").add_argument
    add("--axis", choices=["auto", "rows", "columns"], default="auto", help="what the samples are (default auto)")
    add("--columns", metavar="A,B,...", help="use these columns only, by name or number from 1")
    add("--groups", metavar="COLUMN",
        help="lines that have the same entry in this column are one sample, in each of the other columns")
    add("--delimiter", default="auto", type=delimiter, metavar="CHAR",
        help="what separates fields: a character, tab, space or auto (default)")
    add("--decimal", choices=["auto", ".", ","], default="auto", metavar="SIGN",
        help="the decimal sign: a point, a comma or auto (default)")
    add("--thousands", default="", type=thousands, metavar="SIGN",
        help="what separates groups of three digits: a comma, a point, an apostrophe, space; default nothing")
    add("--skip-header", default="auto", type=header_lines, metavar="LINES",
        help="lines before the data, blank ones and comments counted, the last of which names the columns; auto "
        "(default) finds one line of names, and units under it")
    add("--comment", metavar="TEXT", help='leave out every line that begins so, or with "" none; default: # or %%, '
        "before the data only")
    add("--encoding", default="auto", metavar="NAME", help="of text; auto (default) is UTF-8, or UTF-16 with its mark")
    return add


def _add_transfer(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("source", metavar="SOURCE", help="what is changed")
    add("target", metavar="TARGET", help="whose features it takes over")
    add("--output", "-o", metavar="OUT", required=True, help="where the result goes: .png, .tif, .tiff or .npy")
    add("--preview", metavar="FILE", help="draw source, target and result beside each other into a .png, .pdf, .svg "
        "or .jpg (needs Matplotlib)")
    add("--cube", metavar="FILE", help="write the map of colours as a table of 33 (or 65) nodes a side, .cube, for "
        "other programs; with moments alone")
    add("--features", default="moments:2,energies", metavar="LIST",
        help="moments:K, energies, or both in either order (default moments:2,energies)")
    add("--colour", choices=["auto", "grey", "channels", "opponent"], default="auto",
        help="transfer in each channel (channels), in the sum and two differences of three (opponent), or of the grey "
        "values alone, pixels keeping their colour differences (grey); auto (default): channels where both have them")
    add("--reference", default="gaussian", metavar="VALUES",
        help="what both are normalized to on the way: gaussian, the features of white noise (default, as in Python); "
        "target, those of TARGET, so that the result has these undecoupled too; or exact numbers separated by commas")
    add("--perturb", choices=["ramp", "spectral", "both"],
        help="try what is refused once more with a perturbation that rounding to levels hides: distinct values (ramp), "
        "active frequencies (spectral), or both")
    add("--budget", type=seconds, default=30.0, metavar="SECONDS",
        help="give up each verdict after so long (default 30)")
    add("--json", action="store_true", help="print what was reached as JSON")


def _add_explore(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("formulas", nargs="+", metavar="FORMULA", help="a feature, up to 12 of them; - reads standard input")
    add("--data", dest="file", metavar="FILE", help="rank the orders by what they leave of orthogonality at the "
        "samples of a text table or NPY array, which are of one length")
    add("--reference", default="gaussian", metavar="VALUES",
        help="what features are brought to: gaussian (default) or exact numbers such as 0,1,0,3, one a formula")
    _add_declaration(add)
    add("--budget", type=seconds, default=120.0, metavar="SECONDS",
        help="stop asking after so long (default 120), half of it for measuring where there is FILE")
    add("--patience", type=seconds, default=5.0, metavar="SECONDS",
        help="give up each verdict after so long (default 5)")
    _add_output(parser, "everything that was decided, with certificates,", "the tables")
    _add_reading(parser)
    parser.set_defaults(dps=None)


def _add_explain(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("formulas", nargs="+", metavar="FORMULA|FILE",
        help="features, which are decided first, or the file of one verdict, as check --json prints it; - reads "
        "standard input, of either kind")
    _add_decision(add)
    add("--json", action="store_true", help="print the words and the verdict as JSON")


def _add_reproduce(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("name", nargs="?", metavar="NAME", help="which table or figure; without a name they are listed")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", dest="full", action="store_false", default=False,
                      help="a small version of the same kind, in seconds (default)")
    size.add_argument("--full", dest="full", action="store_true", help="in the size of the source: up to an hour")
    add("--data", metavar="DIR", help="the folder with the pictures of the Brodatz album, D1.png to D112.png")
    add("-o", "--output", metavar="DIR",
        help="write the table there, as CSV, JSON and Markdown, and the picture; what is computed on the way is kept "
        "in DIR/parts, and an interrupted run goes on from there")
    add("--seed", type=seed, default=0, metavar="N", help="of all random numbers (default 0)")
    add("--json", action="store_true", help="print the result as JSON")


def _add_output(parser: argparse.ArgumentParser, as_json: str, as_latex: str) -> Any:
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help=f"print {as_json} as JSON")
    output.add_argument("--latex", action="store_true", help=f"print {as_latex} as LaTeX")
    return output


COMMANDS: dict[str, tuple[str, str, Callable[[argparse.ArgumentParser], None]]] = {
    "check": (help_texts.CHECK, help_texts.CHECK_MORE, _add_check),
    "explore": (help_texts.EXPLORE, help_texts.EXPLORE_MORE, _add_explore),
    "explain": (help_texts.EXPLAIN, help_texts.EXPLAIN_MORE, _add_explain),
    "decouple": (help_texts.DECOUPLE, help_texts.DECOUPLE_MORE, _add_decouple),
    "transfer": (help_texts.TRANSFER, help_texts.TRANSFER_MORE, _add_transfer),
    "reproduce": (help_texts.REPRODUCE, help_texts.REPRODUCE_MORE, _add_reproduce),
    "demo": (help_texts.DEMO, "", lambda _: None),
    "compile": (help_texts.COMPILE, "", lambda _: None),
}
"""Each command's description, what follows its options in the help, and its options."""
