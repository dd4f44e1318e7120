"""The arguments of every command, and the help that is worth reading. Standard library only."""

from __future__ import annotations

import argparse
import math
import threading
from collections.abc import Callable, Sequence
from typing import NoReturn

from symdecouple.errors import InvalidInput

__all__ = ["COMMANDS", "UsageError", "read_arguments"]

MAX_SAMPLES = 10_000

_ABOUT = """\
Decoupling of global features of samples: exact verdicts and accurate numbers.

commands:
  check FORMULA...   decide whether features can be decoupled, with a certificate
  decouple FILE      mean, variance, skewness, kurtosis and orthokurtosis of a file
  demo               a guided tour on Michelson's speed of light, in seconds

  symdecouple COMMAND --help    tells more about one of them"""

_EXAMPLES = """\
examples:
  symdecouple demo
  symdecouple check "mean(x)" "variance()" "kurtosis()"
  symdecouple decouple measurements.csv

exit codes: 0 proved or done, 1 refuted, 2 undecided, 3 bad input, 4 some values
refused, 70 internal error, 130 interrupted"""

_CHECK = """\
Decide two conditions, exactly, for every sample size at once (or for one, -n):
  C1  the gradients of the features are linearly independent
  C2  they span an involutive distribution (Frobenius)
Both together let the features be decoupled one after the other. Each answer
carries a certificate, which is verified by another route before it is printed."""

_CHECK_MORE = """\
formulas:
  mean(...) averages over the sample x:  mean(x), mean(x^2) - mean(x)^2
  ready-made:    variance(), std(), skewness(), kurtosis(), central(3)
  functions:     exp log sqrt sin cos tanh ...   neighbours: mean(x*shift(1)(x))
  filters:       mean(taps((-1, 0, 1))(x)^2), mean(filter(h)(x)^2)
  other names are parameters; with -n 3 the coordinates are x1, x2, x3
  - reads formulas from standard input, one a line

examples:
  symdecouple check "mean(x)" "mean(x^2)" "mean(x^3)"
  symdecouple check "mean(x)" "mean(x^2 + a*x^3)" --at a=0
  symdecouple check "mean(log(x))" "mean(log(x)^2)" --domain x=positive
  symdecouple check "x1*x2" "x1 + x2^2" -n 2
  symdecouple check "mean(x)" "variance()" --json > verdict.json

exit codes: 0 C1 and C2 proved, 1 at least one refuted, 2 undecided, 3 bad input,
70 the certificate failed its verification (please report it), 130 interrupted"""

_DECOUPLE = """\
Print one line a sample: N, mean, variance, skewness, kurtosis, and beside it the
orthokurtosis, the kurtosis that is left when the skewness is taken out along its
own flow. Moments are those of the population (1/N); a normal distribution has
kurtosis 3. What has no value is never NaN: it is left empty, and the reason told."""

_DECOUPLE_MORE = """\
files:
  text  separated by commas, semicolons, tabs or spaces; # starts a comment line;
        quotes, UTF-8 and UTF-16, and decimal commas are understood; an empty
        field, NA, NaN, null or None is a missing value
  NPY   one array of real numbers, as numpy.save writes it; 1-D is one sample
  -     standard input, of either kind

which samples (--axis auto): the columns where a header line names them, or where
every line holds one number; otherwise the rows. For NPY the last axis (rows).
Rows may differ in length. A first column of text labels the rows; other columns
of text are left out, and named.

examples:
  symdecouple decouple measurements.csv
  symdecouple decouple runs.csv --axis rows --nan-policy omit
  symdecouple decouple table.csv --columns height,weight --format csv
  symdecouple decouple images.npy --json --output shape.json

exit codes: 0 every value computed, 4 some were refused, 3 bad input"""


_DEMO = """\
A guided tour on Michelson's measurements of the speed of light, 1879: features
declared, their verdicts with certificates, and decoupled values. Everything it
shows is computed while you wait."""


class UsageError(InvalidInput):
    """The arguments do not fit the command."""


class _Parser(argparse.ArgumentParser):
    """Raises where argparse would print and exit: the code 2 is taken by "undecided"."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}\n{self.prog} --help shows what is taken")


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
        rest = [_shielded(argument) for argument in argv[1:]] if name == "check" else argv[1:]
        return parser.parse_intermixed_args(rest, argparse.Namespace(command=name, version=False))
    parser = _Parser(prog="symdecouple", usage="symdecouple COMMAND ...", description=_ABOUT, epilog=_EXAMPLES,
                     formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("--version", action="store_true", help="show the version and exit")
    parser.add_argument("unknown", nargs="*", help=argparse.SUPPRESS)
    found, options = parser.parse_known_args(argv)
    if found.unknown:
        parser.error(f"there is no command {found.unknown[0][:40]!r}; the commands are {', '.join(COMMANDS)}")
    if options:
        parser.error(f"unknown option {options[0][:40]}; options come after the command")
    if not found.version:
        parser.error(f"no command was given; the commands are {', '.join(COMMANDS)}")
    return argparse.Namespace(command=None, version=True)


def _shielded(argument: str) -> str:
    """A formula may begin with a minus; a space before it tells it from an option."""
    return f" {argument}" if argument.startswith("-") and "(" in argument.partition("=")[0] else argument


def _add_check(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("formulas", nargs="+", metavar="FORMULA", help="a feature; - reads standard input")
    add("-n", "--n-samples", type=_sample_size, metavar="N", help="decide for samples of N values only")
    add("--domain", metavar="x=WHERE", default="x=real",
        help="where samples lie: x=real (default), x=positive, x=negative, x=(0, 1)")
    add("--at", action="append", default=[], metavar="a=VALUE",
        help="give a parameter a value before deciding; may be repeated")
    add("--allow-nonsmooth", default="", metavar="NAMES",
        help="accept functions with kinks, such as Abs,Max: the answer holds away from the kinks")
    add("--budget", type=_seconds, default=30.0, metavar="SECONDS",
        help="give up deciding after so long (default 30); the same again for verifying")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print the verdict, its certificate and the checks as JSON")
    output.add_argument("--latex", action="store_true", help="print the features and the verdict as LaTeX")
    checks = parser.add_mutually_exclusive_group()
    checks.add_argument("--verify", dest="verify", action="store_const", const="show", default="brief",
                        help="show every check of the certificate's verification")
    checks.add_argument("--no-verify", dest="verify", action="store_const", const="skip",
                        help="do not verify the certificate")


def _add_decouple(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("file", metavar="FILE", help="a text table or an NPY array; - reads standard input")
    add("--axis", choices=["auto", "rows", "columns"], default="auto", help="what the samples are (default auto)")
    add("--columns", metavar="A,B,...", help="use these columns only, by name or number from 1")
    add("--nan-policy", choices=["propagate", "omit", "raise"], default="propagate",
        help="missing values: refuse the sample (propagate, the default), compute without (omit), or stop (raise)")
    add("--format", choices=["table", "csv", "json"], help="default: by the name of --output, otherwise table")
    add("--json", dest="format", action="store_const", const="json", help="the same as --format json")
    add("--output", "-o", metavar="FILE", help="write there instead of standard output")
    add("--delimiter", default="auto", type=_delimiter, metavar="CHAR",
        help="what separates fields: a character, tab, space or auto (default)")
    add("--decimal", choices=["auto", ".", ","], default="auto", metavar="SIGN",
        help="the decimal sign: a point, a comma or auto (default)")
    add("--skip-header", default="auto", type=_header_lines, metavar="LINES",
        help="lines before the data, the last of which names the columns; auto (default) finds one line of names")
    add("--encoding", default="auto", metavar="NAME", help="of text; auto (default) is UTF-8, or UTF-16 with its mark")


def _add_demo(parser: argparse.ArgumentParser) -> None:
    """The tour takes no arguments."""


COMMANDS: dict[str, tuple[str, str, Callable[[argparse.ArgumentParser], None]]] = {
    "check": (_CHECK, _CHECK_MORE, _add_check),
    "decouple": (_DECOUPLE, _DECOUPLE_MORE, _add_decouple),
    "demo": (_DEMO, "", _add_demo),
}
"""Each command's description, what follows its options in the help, and its options."""


def _sample_size(text: str) -> int:
    if not text.strip().isdecimal() or len(text) > 9 or not 2 <= int(text) <= MAX_SAMPLES:
        raise argparse.ArgumentTypeError(f"a whole number from 2 to {MAX_SAMPLES} is needed, got {text[:40]!r}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= threading.TIMEOUT_MAX:
        raise argparse.ArgumentTypeError(f"a positive number of seconds is needed, got {text[:40]!r}")
    return seconds


def _delimiter(text: str) -> str:
    named = {"auto": "auto", "tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";"}
    character = named.get(text.lower(), text)
    if character != "auto" and (len(character) != 1 or character.isalnum() or character in "\"'.+-#\n\r"):
        raise argparse.ArgumentTypeError(f"one character such as , ; | is needed, or tab or space, got {text[:40]!r}")
    return character


def _header_lines(text: str) -> int | None:
    """None for auto."""
    if text.strip().lower() == "auto":
        return None
    if not text.strip().isdecimal() or len(text) > 6:
        raise argparse.ArgumentTypeError(f"a number of lines is needed, or auto, got {text[:40]!r}")
    return int(text)
