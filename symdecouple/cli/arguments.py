"""The arguments of every command, and the help that is worth reading. Standard library only."""

from __future__ import annotations

import argparse
import math
import re
import threading
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NoReturn

from symdecouple.errors import InvalidInput

__all__ = ["COMMANDS", "UsageError", "check_output", "read_arguments"]

MAX_SAMPLES = 10_000
MAX_ORDER = 12
MAX_DIGITS = 1_000
STYLES = ("text", "latex", "code")

_EVERYWHERE = "x=real"
_NEGATIVE = re.compile(r"-\.?[0-9]")

_ABOUT = """\
Decoupling of global features of samples: exact verdicts and accurate numbers.

commands:
  check FORMULA...   decide whether features can be decoupled, with a certificate
  decouple FILE      orthokurtosis, decoupled moments or your own features of a file,
                     the plan behind them, and its formulas as text, LaTeX or code
  transfer SOURCE TARGET -o OUT
                     a picture with the moments and band energies of another one
  demo               a guided tour on Michelson's speed of light, in seconds
  compile            compile the kernels for large arrays, once (needs numba)

  symdecouple COMMAND --help    tells more about one of them"""

_EXAMPLES = """\
examples:
  symdecouple demo
  symdecouple check "mean(x)" "variance()" "kurtosis()"
  symdecouple decouple measurements.csv
  symdecouple decouple measurements.csv --moments 6
  symdecouple decouple --features "mean(x)" "mean(x^2)" "mean(x^3)" --explain

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
kurtosis 3. What has no value is never NaN: it is left empty, and the reason told.

--moments and --features print decoupled features instead, each decoupled from
those before it, and open the plan: --explain, --formulas, --normalize, --dps."""

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

decoupled features: feature k is taken at the sample whose features 1 to k - 1 were
brought to the reference values. Formulas are those of symdecouple check --help.
With --dps decimals are read exactly: 0.1 is 1/10. Options about the plan alone
mean --moments 4. --explain and --formulas need no FILE.

examples:
  symdecouple decouple measurements.csv
  symdecouple decouple runs.csv --axis rows --nan-policy omit
  symdecouple decouple table.csv --columns height,weight --format csv
  symdecouple decouple images.npy --json --output shape.json
  symdecouple decouple runs.csv --moments 6
  symdecouple decouple runs.csv --features "mean(x)" "mean(x^2)" "mean(x^4)" --dps 30
  symdecouple decouple runs.csv --moments 4 --normalize --level 3 -o normalized.csv
  symdecouple decouple --features "mean(x)" "mean(exp(x))" --explain
  symdecouple decouple --moments 3 --formulas code > normalizer.py

exit codes: 0 every value computed, 4 some were refused, 3 bad input"""

_TRANSFER = """\
Write SOURCE with the decoupled features of TARGET: its moments, the energies of
its bands of frequencies, or both. What SOURCE is otherwise is kept: normalized,
SOURCE and the result are one picture. The sizes of the two may differ."""

_TRANSFER_MORE = """\
files:
  SOURCE, TARGET  PNG, TIFF or JPEG (with Pillow), or an NPY array: a signal (N,),
                  an image (height, width) or colours (height, width, channels)
  OUT             PNG or TIFF, with the bits of SOURCE: rounded, and limited to the
                  range, which is told; or NPY, float64 as it was computed
Transparency is refused. Levels are not changed, but those of TARGET are scaled
where it has another number of bits than SOURCE.

features: moments:K are those up to order K; energies are those of nine filters of
3 x 3 pixels (signals: three of 3 samples). Each is decoupled from those before it.
A moment above the second beside energies takes minutes; put the energies first.

examples:
  symdecouple transfer blurred.png sharp.png -o sharpened.png
  symdecouple transfer wall.png grass.png -o new.png --features energies
  symdecouple transfer a.png b.png -o c.tif --features moments:4 --colour opponent
  symdecouple transfer a.npy b.npy -o c.npy --json > transfer.json

exit codes: 0 written, 4 refused and nothing written, 3 bad input"""

_COMPILE = """\
Compile the kernels that large arrays use where numba is installed, and keep them
on the disk: a quarter of a minute, once. Nothing else depends on it."""

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
        rest = list(map(_shielded, _with_default_style(argv[1:]) if name == "decouple" else argv[1:]))
        found = parser.parse_intermixed_args(rest, argparse.Namespace(command=name, version=False))
        if name == "decouple":
            _complete(found)
        return found
    parser = _Parser(prog="symdecouple", usage="symdecouple COMMAND ...", description=_ABOUT, epilog=_EXAMPLES,
                     formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
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
    asked = found.dps is not None or found.path != "auto" or found.reference.lower() not in ("gaussian", "white")
    found.is_standard = not (asked or found.features or found.domain != _EVERYWHERE)
    found.wants_plan = bool(asked or found.features or found.normalize or found.explain or found.formulas)
    if found.wants_plan and not (found.features or found.moments):
        found.moments = 4
    if found.file is None and not (found.explain or found.formulas):
        raise UsageError("a FILE is needed, or - for standard input; --explain and --formulas do without")
    if found.file is None and (found.normalize or found.dps is not None):
        raise UsageError(f"{'--normalize' if found.normalize else '--dps'} is about numbers: name a FILE")
    if found.level is not None and not (found.normalize or found.formulas):
        raise UsageError("--level belongs to --normalize or --formulas")
    if (found.at or found.allow_nonsmooth) and not found.features:
        raise UsageError("--at and --allow-nonsmooth belong to the formulas of --features")
    if found.domain != _EVERYWHERE and not (found.features or found.moments):
        raise UsageError("--domain belongs to --features or --moments")


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
    if found.normalize and kind == "table":
        raise UsageError("normalized samples are written as CSV or JSON, not as a table")


def _add_check(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("formulas", nargs="+", metavar="FORMULA", help="a feature; - reads standard input")
    add("-n", "--n-samples", type=_sample_size, metavar="N", help="decide for samples of N values only")
    _add_declaration(add)
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
    add("--moments", type=_order, metavar="M", help="decoupled moments of orders 1 to M, M up to 12")
    add("--features", nargs="+", action="extend", default=[], metavar="FORMULA",
        help="decouple these features, in this order; FILE may come last")
    add("--reference", default="gaussian", metavar="VALUES",
        help="what features are brought to: gaussian (default), their values for normal samples, or exact numbers such "
        "as 0,1,0,3; the last feature needs none")
    add("--path", choices=["auto", "broad", "relaxed", "parallel", "narrow"], default="auto",
        help="how levels are reached: closed forms where there are, else the narrow path (auto, the default); flows of "
        "the modified features (broad), of the original ones (relaxed), concatenated (parallel); projected gradients "
        "(narrow)")
    add("--dps", type=_digits, metavar="N", help="compute and print N decimal digits; JSON has them as text")
    _add_declaration(add)
    add("--budget", type=_seconds, default=30.0, metavar="SECONDS",
        help="give up each verdict after so long (default 30)")
    add = parser.add_argument_group("what is printed").add_argument
    add("--explain", action="store_true",
        help="the plan level by level, what was chosen and why, with the verdicts it rests on and the scenario")
    add("--formulas", nargs="?", const="text", choices=STYLES, metavar="STYLE",
        help="the normalizers in closed form: text (default), latex, or code, a NumPy module that runs alone")
    add("--normalize", action="store_true", help="the samples with their features at the reference, as CSV or JSON")
    add("--level", type=_level, metavar="K",
        help="bring features 1 to K to the reference (default: all before the last); which level's formula or code")
    add("--format", choices=["table", "csv", "json"], help="default: by the name of --output, otherwise table")
    add("--json", dest="format", action="store_const", const="json", help="the same as --format json")
    add("--output", "-o", metavar="FILE", help="write there instead of standard output")
    add = parser.add_argument_group("how FILE is read").add_argument
    add("--axis", choices=["auto", "rows", "columns"], default="auto", help="what the samples are (default auto)")
    add("--columns", metavar="A,B,...", help="use these columns only, by name or number from 1")
    add("--nan-policy", choices=["propagate", "omit", "raise"], default="propagate",
        help="missing values: refuse the sample (propagate, the default), compute without (omit), or stop (raise)")
    add("--delimiter", default="auto", type=_delimiter, metavar="CHAR",
        help="what separates fields: a character, tab, space or auto (default)")
    add("--decimal", choices=["auto", ".", ","], default="auto", metavar="SIGN",
        help="the decimal sign: a point, a comma or auto (default)")
    add("--skip-header", default="auto", type=_header_lines, metavar="LINES",
        help="lines before the data, the last of which names the columns; auto (default) finds one line of names")
    add("--encoding", default="auto", metavar="NAME", help="of text; auto (default) is UTF-8, or UTF-16 with its mark")


def _add_transfer(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("source", metavar="SOURCE", help="what is changed")
    add("target", metavar="TARGET", help="whose features it takes over")
    add("--output", "-o", metavar="OUT", required=True, help="where the result goes: .png, .tif, .tiff or .npy")
    add("--features", default="moments:2,energies", metavar="LIST",
        help="moments:K, energies, or both in either order (default moments:2,energies)")
    add("--colour", choices=["auto", "grey", "channels", "opponent"], default="auto",
        help="transfer in each channel (channels), in the sum and two differences of three (opponent), or of the grey "
        "values alone, pixels keeping their colour differences (grey); auto (default): channels where both have them")
    add("--reference", default="target", metavar="VALUES",
        help="what both are normalized to on the way: target, the features of TARGET (default), so that the result has "
        "these undecoupled too; gaussian, those of white noise; or exact numbers separated by commas")
    add("--perturb", choices=["ramp", "spectral", "both"],
        help="try what is refused once more with a perturbation that rounding to levels hides: distinct values (ramp), "
        "active frequencies (spectral), or both")
    add("--budget", type=_seconds, default=30.0, metavar="SECONDS",
        help="give up each verdict after so long (default 30)")
    add("--json", action="store_true", help="print what was reached as JSON")


def _add_nothing(parser: argparse.ArgumentParser) -> None:
    """For commands without arguments."""


COMMANDS: dict[str, tuple[str, str, Callable[[argparse.ArgumentParser], None]]] = {
    "check": (_CHECK, _CHECK_MORE, _add_check),
    "decouple": (_DECOUPLE, _DECOUPLE_MORE, _add_decouple),
    "transfer": (_TRANSFER, _TRANSFER_MORE, _add_transfer),
    "demo": (_DEMO, "", _add_nothing),
    "compile": (_COMPILE, "", _add_nothing),
}
"""Each command's description, what follows its options in the help, and its options."""


def _sample_size(text: str) -> int:
    return _whole(text, 2, MAX_SAMPLES)


def _whole(text: str, low: int, high: int) -> int:
    if not text.strip().isdecimal() or len(text) > 9 or not low <= int(text) <= high:
        raise argparse.ArgumentTypeError(f"a whole number from {low} to {high} is needed, got {text[:40]!r}")
    return int(text)


def _order(text: str) -> int:
    return _whole(text, 1, MAX_ORDER)


def _digits(text: str) -> int:
    return _whole(text, 1, MAX_DIGITS)


def _level(text: str) -> int:
    return _whole(text, 0, MAX_SAMPLES)


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
