"""``symdecouple explore``: which of some features, in which order, come out decoupled exactly."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.analysis.planner import explore
from symdecouple.cli.check import formulas_of
from symdecouple.cli.declaration import declared
from symdecouple.cli.exact_numbers import LAWS, named_or_numbers
from symdecouple.cli.exit_codes import ExitCode
from symdecouple.cli.report import printable
from symdecouple.cli.sample_file import read_samples, source_of
from symdecouple.cli.sample_rows import present
from symdecouple.cli.waiting import told_to_wait
from symdecouple.errors import InvalidInput

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> int:
    """Decide, measure where there are samples, and print; what is interrupted is printed as far as it came."""
    features = declared(formulas_of(arguments.formulas), arguments)
    reference = named_or_numbers(arguments.reference, LAWS, "0,1,0,3")
    samples = None if arguments.file is None else _samples(arguments)
    with told_to_wait("deciding", "sets and orders") as progress:
        found = explore(features, reference, samples=samples, budget=arguments.budget, patience=arguments.patience,
                        progress=progress)
    print(found.to_json() if arguments.json else found.latex() if arguments.latex else found)
    if found.interrupted:
        print("symdecouple: interrupted", file=sys.stderr)
        return ExitCode.INTERRUPTED
    return ExitCode.OK if found.complete else ExitCode.PARTIAL


def _samples(arguments: argparse.Namespace) -> Any:
    """The samples of the file as rows; those with missing values are left out."""
    try:
        samples = read_samples(arguments)
        for note in samples.notes:
            print(f"symdecouple: {source_of(arguments)}: {printable(note)}", file=sys.stderr)
        whole = [_floats(vector) for vector in samples.vectors if present(vector).all()]
        sizes = sorted({len(vector) for vector in whole})
        if not whole:
            raise InvalidInput("every sample has missing values")
        if len(sizes) > 1:
            raise InvalidInput(f"samples of one length are needed to compare orders, there are some of "
                               f"{', '.join(map(str, sizes[:4]))} values")
    except InvalidInput as error:
        raise InvalidInput(f"{source_of(arguments)}: {printable(str(error))}") from error
    if len(whole) < len(samples.vectors):
        print(f"symdecouple: {len(samples.vectors) - len(whole)} samples with missing values are left out",
              file=sys.stderr)
    return np.stack(whole)


def _floats(vector: NDArray[Any]) -> NDArray[np.float64]:
    try:
        found = vector.astype(np.float64)
        if np.array_equal(found == 0, vector == 0):
            return found
    except OverflowError:
        pass
    raise InvalidInput("some numbers are beyond float64; give the data in another unit")
