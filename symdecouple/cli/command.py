"""The way in and the way out: arguments to a command, errors to messages and exit codes. Never a traceback."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise

from symdecouple.cli.arguments import read_arguments
from symdecouple.cli.exit_codes import ExitCode
from symdecouple.cli.streams import abandon_output, say, streams_made_whole
from symdecouple.errors import BudgetExceeded, SymdecoupleError

__all__ = ["main"]

_MODULES = {"compile": "compile_kernels"}  # others are called like the command


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command ``symdecouple`` and return its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments after the program's name; default those of the process.

    Returns
    -------
    int
        One of `ExitCode`. Results go to standard output, messages to standard error; with ``--json`` errors are JSON
        on standard output too. Nothing is raised, except with ``python -X dev``, which lets unforeseen errors through.

    Examples
    --------
    >>> main(["check", "mean(x)", "variance()"])
    involutive span (C2, Frobenius): PROVED for every N
      1  Mean(x)
      2  -Mean(x)**2 + Mean(x**2)
      why: all brackets of the gradients vanish
      [v1, v2] = 0
      C1: PROVED, a 2-minor of the gradients is not zero
      certificates: verified, ... checks in ... s
    0
    """
    given = list(sys.argv[1:] if argv is None else argv)
    with streams_made_whole():
        try:
            code = _answered(given)
            sys.stdout.flush()
        except BrokenPipeError:
            abandon_output()
            return ExitCode.BROKEN_PIPE
        except OSError as error:
            abandon_output()
            what = "standard output" if error.filename is None else error.filename
            say(f"symdecouple: {what} cannot be written ({error.strerror or error})")
            return ExitCode.BAD_INPUT
        except KeyboardInterrupt:
            say("symdecouple: interrupted")
            return ExitCode.INTERRUPTED
        return int(code)


def _answered(argv: list[str]) -> int:
    """Run the command; turn what it raises into a message and a code."""
    as_json = "--json" in argv or "--format=json" in argv or ("--format", "json") in pairwise(argv)
    try:
        return _run(read_arguments(argv))
    except SystemExit as done:  # --help
        return int(done.code or 0)
    except BudgetExceeded as error:
        return _failed(error, ExitCode.UNDECIDED, as_json)
    except SymdecoupleError as error:
        return _failed(error, ExitCode.BAD_INPUT, as_json)
    except OSError:
        raise
    except Exception as error:  # the last door: whatever it is, the shell gets a code and the user a sentence
        if sys.flags.dev_mode:
            raise
        return _failed(error, ExitCode.INTERNAL, as_json)


def _run(arguments: argparse.Namespace) -> int:
    if arguments.version:
        return _version()
    module = import_module(f"symdecouple.cli.{_MODULES.get(arguments.command, arguments.command)}")
    return int(module.run(arguments))


def _version() -> int:
    from importlib.metadata import PackageNotFoundError, version

    try:
        print(f"symdecouple {version('symdecouple')}")
    except PackageNotFoundError:
        print("symdecouple (not installed: used from its source)")
    return ExitCode.OK


def _failed(error: Exception, code: ExitCode, as_json: bool) -> int:
    message = str(error)
    if code is ExitCode.INTERNAL:
        message = (f"internal error, {type(error).__name__}: {message or 'no message'}\n"
                   "Please report it, with the command and what `python -X dev -m symdecouple ...` shows")
    if as_json:
        print(json.dumps({"error": message, "kind": type(error).__name__, "exit_code": int(code)}, indent=2))
    else:
        say(f"symdecouple: {message}")
    return code

