"""The compiled kernel against NumPy's: values, refusals, threads; and the search run as plain Python."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from symdecouple.numeric.moments import skewness_root_jit
from symdecouple.numeric.moments.skewness_loops import CHUNK, SHORT, median_of_some, unit_and_lift_of
from symdecouple.numeric.moments.skewness_root import Roots, find_roots, orthokurtosis_rows, unit_and_lift
from symdecouple.numeric.moments.skewness_root_jit import (
    KERNELS,
    TOGETHER,
    compiled_orthokurtosis_rows,
    orthokurtosis_kernel,
    solve_rows,
)
from symdecouple.numeric.samples.batch import FloatArray, IntArray, Panel, reduce_rows
from symdecouple.stats import orthokurtosis
from tests.numeric.drawn_rows import LAWS
from tests.stats import oracle

TABLE = json.loads((Path(__file__).parents[2] / "data" / "orthokurtosis.json").read_text(encoding="utf-8"))

HARD = [
    [0, 1e-300, 2e-300, 3e-300, 1],
    [1, 1 + 2**-52, 1 + 3 * 2**-52, 1 + 4 * 2**-52, 1e16],
    [-1.7e308, 1.7e308, 1e308, 0, 1],
    [0, 5e-324, 15e-324, 50e-324, 55e-324],
    [-1, *[0, 1e-12, 2e-12, 5e-12] * 3, 1, 1],
    [*[0] * 49, 1, *[2e6] * 50, 3e6],
    [0, 1e-9, 3e-9, 1, 1 + 1e-3, 1 + 3e-3],
    [*range(0, 256, 3)],
]


def as_plain_python(sample: object, patch: pytest.MonkeyPatch) -> float:
    """The very functions that are compiled, without numba."""
    patch.setattr(skewness_root_jit, "_compiled", lambda: solve_rows)
    with np.errstate(all="ignore"):
        return float(compiled_orthokurtosis_rows(Panel.of(np.array([sample], dtype=np.float64))).values[0])


@pytest.mark.parametrize("sample", HARD, ids=lambda sample: f"{len(sample)}-from-{sample[0]:g}-to-{sample[-1]:g}")
def test_the_functions_solve_what_was_built_to_defeat_them(
    sample: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert as_plain_python(sample, monkeypatch) == pytest.approx(float(oracle.orthokurtosis(sample, 30)), rel=1e-14)


@pytest.mark.parametrize("seed", range(3))
def test_the_functions_agree_with_numpy_without_numba(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    for sample in (rng.standard_cauchy(50), np.exp(5 * rng.normal(size=9)), rng.gamma(0.02, size=40)):
        expected = orthokurtosis_rows(Panel.of(sample[None])).values[0]
        assert as_plain_python(sample, monkeypatch) == pytest.approx(expected, rel=1e-14)


def test_the_scales_are_those_of_numpy() -> None:
    ends = [(0, 5e-324), (-1.7e308, 1.7e308), (1e308, 1.7e308), (-3, 1), (1, 1 + 2**-52), (0, 1), (-(2.0**1000), 0)]
    low, high = np.array(ends, dtype=np.float64).T
    scales = [np.ldexp(1.0, exponent) for exponent in unit_and_lift(Panel(np.empty((len(ends), 0)), low, high))]
    assert [unit_and_lift_of(*pair) for pair in ends] == list(zip(*scales, strict=True))


def test_the_median_is_that_of_sorting() -> None:
    rng = np.random.default_rng(0)
    for n_samples in (1, 2, 3, 10, 31, 200):
        row = rng.integers(0, 20, n_samples) * 1.0
        found = median_of_some(row, 2.0, 3.0, np.empty(n_samples))
        assert found == 2 * np.sort(row)[n_samples // 2] - 3


@pytest.fixture(scope="module")
def compiled() -> None:
    pytest.importorskip("numba")
    if not KERNELS.are_warm():
        skewness_root_jit.warm()  # leaves the mark: no other process compiles again, and no later run


SHAPES = [(400, 5), (200, 64), (100, SHORT), (100, SHORT + 1), (20, CHUNK), (10, CHUNK + 1), (2, 50000)]


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("law", LAWS)
def test_compiled_and_not_agree(law: str, shape: tuple[int, int]) -> None:
    rows = LAWS[law](np.random.default_rng(shape[1]), shape)
    rows[0] = 7
    rows[1, 1:] = 3
    expected, found = orthokurtosis_rows(Panel.of(rows)), compiled_orthokurtosis_rows(Panel.of(rows))
    assert found.refusals == expected.refusals and {0, 1} <= set(found.refusals)
    assert found.values == pytest.approx(expected.values, rel=1e-14, nan_ok=True)


@pytest.mark.usefixtures("compiled")
def test_compiled_values_are_those_of_the_reference_table_and_of_the_oracle() -> None:
    for sample, expected in [
        *((case["sample"], float(case["orthokurtosis"])) for case in TABLE["orthokurtosis"]),
        *((sample, float(oracle.orthokurtosis(sample, 30))) for sample in HARD),
    ]:
        values = compiled_orthokurtosis_rows(Panel.of(np.array([sample], dtype=np.float64))).values
        assert values[0] == pytest.approx(expected, rel=1e-14)


@pytest.mark.usefixtures("compiled")
def test_compiled_rows_never_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(7).lognormal(1, 2, size=(5000, 65))
    values = reduce_rows("together", rows, compiled_orthokurtosis_rows, axis=1)
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    assert np.array_equal(values, reduce_rows("one thread", rows, compiled_orthokurtosis_rows, axis=1))
    monkeypatch.setenv("NUMBA_NUM_THREADS", "3")
    monkeypatch.setattr(skewness_root_jit, "_n_threads", lambda: 3)
    assert np.array_equal(values, reduce_rows("three", rows, compiled_orthokurtosis_rows, axis=1))
    assert np.array_equal(values[::7], reduce_rows("some", rows[::7], compiled_orthokurtosis_rows, axis=1))
    assert np.array_equal(values, reduce_rows("down", rows.T, compiled_orthokurtosis_rows))


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("n_samples", [5, 64, SHORT + 1, TOGETHER // 3])
def test_a_row_is_the_same_alone_and_in_any_lane(n_samples: int) -> None:
    """Some rows take many passes, some one, some are refused: lanes are given up at different times."""
    rng = np.random.default_rng(n_samples)
    rows = np.exp(rng.uniform(0, 4, (150, 1)) * rng.normal(size=(150, n_samples)))
    rows[::11] = np.round(rows[::11])
    rows[5] = 7.0
    together = compiled_orthokurtosis_rows(Panel.of(rows))
    alone = [compiled_orthokurtosis_rows(Panel.of(row[None])) for row in rows]
    assert np.array_equal(together.values, [one.values[0] for one in alone], equal_nan=True)
    assert together.refusals == {i: one.refusals[0] for i, one in enumerate(alone) if one.refusals}
    order = rng.permutation(len(rows))
    shuffled = compiled_orthokurtosis_rows(Panel.of(rows[order])).values
    assert np.array_equal(shuffled, together.values[order], equal_nan=True)


def test_rows_that_are_not_settled_are_left_to_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[int] = []

    def noted(panel: Panel, which: IntArray, target: FloatArray) -> Roots:
        left.extend(which.tolist())
        return find_roots(panel, which, target)

    monkeypatch.setattr(skewness_root_jit, "PASSES", 1)
    monkeypatch.setattr(skewness_root_jit, "find_roots", noted)
    monkeypatch.setattr(skewness_root_jit, "_compiled", lambda: solve_rows)
    rows = np.random.default_rng(9).exponential(size=(5, 20))
    rows[2] = [-1, 1, *[0] * 18]  # not skewed: the series of the sample itself is final
    rows[3] = 7
    with np.errstate(all="ignore"):
        found = compiled_orthokurtosis_rows(Panel.of(rows))
    assert left == [0, 1, 4] and set(found.refusals) == {3}
    assert found.values == pytest.approx(orthokurtosis_rows(Panel.of(rows)).values, rel=1e-14, nan_ok=True)


@pytest.mark.usefixtures("compiled")
def test_single_precision_is_widened(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(8).exponential(size=(30, 500)).astype(np.float32)
    wide = compiled_orthokurtosis_rows(Panel.of(rows.astype(np.float64))).values
    assert np.array_equal(compiled_orthokurtosis_rows(Panel.of(rows)).values, wide)
    monkeypatch.setattr(skewness_root_jit, "_WIDENED", 100)  # very long rows are left to NumPy
    assert np.array_equal(compiled_orthokurtosis_rows(Panel.of(rows)).values, orthokurtosis_rows(Panel.of(rows)).values)


def test_which_kernel_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(KERNELS), "are_wanted", lambda self, n_elements: n_elements >= 1000)
    assert orthokurtosis_kernel(999) is orthokurtosis_rows
    assert orthokurtosis_kernel(1000) is compiled_orthokurtosis_rows
    seen: list[int] = []
    monkeypatch.setattr(type(KERNELS), "are_wanted", lambda self, n_elements: bool(seen.append(n_elements)))
    orthokurtosis(np.arange(12.0).reshape(3, 4), axis=1)
    assert seen == [12]


def test_everything_answers_without_numba() -> None:
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "import numpy as np\nfrom symdecouple.stats import orthokurtosis\n"
        "print(orthokurtosis(np.random.default_rng(0).normal(size=(2000, 60)), axis=1, on_refusal='raise').shape)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "(2000,)"


@pytest.mark.usefixtures("compiled")
def test_warming_leaves_the_mark_and_large_input_is_then_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))  # of the mark; numba has read its own already
    assert not KERNELS.are_warm() and orthokurtosis_kernel(10**6) is orthokurtosis_rows
    skewness_root_jit.warm()
    assert KERNELS.are_warm() and orthokurtosis_kernel(10**6) is compiled_orthokurtosis_rows
    assert orthokurtosis_kernel(1000) is orthokurtosis_rows
