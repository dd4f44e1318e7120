"""``symdecouple demo``: features declared, their verdicts with certificates, and decoupled values of real data.

Everything shown is computed while the tour runs. The data are Michelson's measurements of the speed of light, 1879,
shipped with their source in ``data/``.
"""

from __future__ import annotations

import argparse
import time
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from symdecouple.calculus.frobenius import check_frobenius
from symdecouple.cli.check import verify
from symdecouple.cli.exit_codes import ExitCode
from symdecouple.cli.report import align, figures, shape_figures
from symdecouple.cli.sample_rows import SampleRow
from symdecouple.cli.samples import Samples, arrange
from symdecouple.cli.shape_rows import STATISTICS, shape_rows
from symdecouple.cli.text_file import read_grid
from symdecouple.language.feature_set import FeatureSet
from symdecouple.stats import kurtosis, orthokurtosis, skewness
from symdecouple.verdict import Status

__all__ = ["michelson", "run"]

FloatArray = NDArray[np.float64]

_MOMENTS = ("mean(x)", "mean(x^2)", "mean(x^3)", "mean(x^4)")
_SHAPE = ("mean(x)", "variance()", "kurtosis()")
_STEP = 1e-5  # change of skewness, either way, over which the slopes of the last table are taken


def run(_: argparse.Namespace) -> int:
    """Print the tour; INTERNAL if anything came out otherwise than mathematics says."""
    print("Features of a sample are decoupled where their gradients are orthogonal. Can these be?\n")
    right = _verdict(_MOMENTS, Status.REFUTED)
    right &= _verdict(_SHAPE, Status.PROVED)
    samples = michelson()
    rows = shape_rows(samples)
    print("Michelson's speed of light, 1879: five experiments of 20 runs, km/s above 299000.")
    print("Orthokurtosis is the kurtosis left when the skewness is taken out along its own flow.\n")
    print(_table(rows, np.stack(samples.vectors)))
    print("\nslope: by how much the kurtosis (K) and the orthokurtosis (O) move per unit of skewness,\n"
          "along its gradient. The orthokurtosis is decoupled: it does not move.\n")
    print("Next: symdecouple decouple YOUR.csv      symdecouple check --help\n"
          "      in Python: import symdecouple as sd; sd.stats.orthokurtosis(a, axis=1)")
    return ExitCode.OK if right and not any(row.refused for row in rows) else ExitCode.INTERNAL


def michelson() -> Samples:
    """The shipped data: the five experiments, in order."""
    text = resources.files("symdecouple.cli").joinpath("data", "michelson.csv").read_text(encoding="utf-8")
    read = arrange(read_grid(text), axis="rows")
    labels = tuple(map(str, range(1, len(read.labels) + 1)))
    return Samples(read.axis, labels, read.vectors, read.described)


def _verdict(formulas: tuple[str, ...], expected: Status) -> bool:
    """Decide, verify and print one set; True iff the answer is the known one and its certificate holds."""
    print("$ symdecouple check " + " ".join(f'"{formula}"' for formula in formulas))
    start = time.perf_counter()
    verdict = check_frobenius(FeatureSet.parse(*formulas))
    seconds = time.perf_counter() - start
    verification = verify(verdict)
    print(verdict)
    print(f"  decided in {seconds:.2f} s; certificates: {verification}\n")
    return verdict.status is expected and verification is not None and not verification.failed


def _table(rows: tuple[SampleRow, ...], runs: FloatArray) -> str:
    columns = [["expt.", *(row.label for row in rows)]]
    columns += [[name, *figures([row.values.get(name) for row in rows])] for name in STATISTICS[:2]]
    columns += [[name, *shape_figures([row.values.get(name) for row in rows])] for name in STATISTICS[2:]]
    for head, slopes in zip(("slope K", "slope O"), skewness_slopes(runs), strict=True):
        columns.append([head, *shape_figures(slopes.tolist())])
    return align(columns)


def skewness_slopes(runs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Change of kurtosis and orthokurtosis with skewness, along the gradient of the skewness, by central differences.

    For a standardized sample z with skewness a the gradient of the skewness is (3/N)(z^2 - a z - 1).
    """
    z = (runs - runs.mean(axis=1, keepdims=True)) / runs.std(axis=1, keepdims=True)
    gradient = 3 / z.shape[1] * (z**2 - (z**3).mean(axis=1, keepdims=True) * z - 1)
    step = _STEP * gradient / (gradient**2).sum(axis=1, keepdims=True)
    change = skewness(z + step, axis=1) - skewness(z - step, axis=1)
    return tuple((f(z + step, axis=1) - f(z - step, axis=1)) / change for f in (kurtosis, orthokurtosis))
