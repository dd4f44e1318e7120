"""The compiled ladder against NumPy's: values, refusals, what is handed back; and its functions as plain Python."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from symdecouple.numeric.moments import moment_path_jit, path_loops as moment_loops
from symdecouple.numeric.moments.course import residuals
from symdecouple.numeric.moments.hankel import orthogonal_basis, power_means
from symdecouple.numeric.moments.levels import climb, decoupled_rows, gaussian_moments
from symdecouple.numeric.moments.moment_path import RESIDUAL, follow
from symdecouple.numeric.moments.moment_path_jit import KERNELS, Climbed, climb_compiled
from symdecouple.numeric.moments.nodes import carry_rows
from symdecouple.numeric.moments.path_loops import settle_rows
from symdecouple.numeric.moments.skewness_flow import impose_skewness
from symdecouple.numeric.moments.steps import follow_rows
from symdecouple.numeric.samples.batch import Panel
from symdecouple.stats import decoupled_moments

TABLE = json.loads((Path(__file__).parents[2] / "data" / "orthokurtosis.json").read_text(encoding="utf-8"))


def goal(order: int) -> tuple[float, ...]:
    return (1.0, *gaussian_moments(order - 1))


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """The very functions that are compiled, without numba."""

    def quiet(function: Callable[..., None]) -> Callable[..., None]:
        def run(*arguments: object) -> None:
            with np.errstate(all="ignore"):
                function(*arguments)

        return run

    kernels = (quiet(settle_rows), quiet(follow_rows), quiet(carry_rows))
    monkeypatch.setattr(moment_path_jit, "_kernels", lambda: kernels)


def climb_plain(rows: np.ndarray, order: int) -> Climbed:
    return climb_compiled(rows, order, goal(order), impose=impose_skewness)


@pytest.fixture
def compiled() -> None:
    pytest.importorskip("numba")
    if not KERNELS.are_warm():
        moment_path_jit.warm()  # leaves the mark: no other process compiles again, and no later run


# --- as plain Python ---


@pytest.mark.parametrize("case", TABLE["decoupled_moments"], ids=lambda case: f"N={len(case['sample'])}")
def test_the_functions_meet_the_reference_table_without_numba(case: dict[str, object], plain: None) -> None:
    found = climb_plain(np.array([case["sample"]], dtype=float), 6)
    expected = [float(str(case[f"order{k}"])) for k in (4, 5, 6)]
    assert found.done.all() and found.moments[4:, 0] == pytest.approx(expected, rel=1e-10)


def test_what_needs_care_is_handed_back_untouched_by_an_answer(plain: None) -> None:
    rng = np.random.default_rng(0)
    rows = np.array([
        rng.normal(size=12),
        np.resize([0.0, 1.0], 12),  # two values
        np.ones(12),  # constant
        [0.0] * 6 + [1, 2, 3, 4, 5, 6],  # zero skewness in the limit only
        np.arange(12) % 2 + 1e-11 * rng.random(12),  # crowded
        [-1.7e308, 1.7e308, *range(10)],  # a range beyond float64
    ])
    found = climb_plain(rows, 5)
    assert found.done.tolist() == [True, False, False, False, False, False]
    assert np.isnan(found.moments[:, 1:]).all() and np.isnan(found.values[1:]).all()


@pytest.mark.parametrize("k", [3, 4, 5, 6, 8])
@pytest.mark.parametrize("n_samples", [5, 600, 20_000])
def test_means_and_polynomials_of_any_degree(k: int, n_samples: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if n_samples == 20_000:
        monkeypatch.setattr(moment_loops, "BLOCK", 64)  # so that the sums of sums are reached
        n_samples = 2500
    y = np.random.default_rng(k).normal(size=n_samples)
    means, out = np.empty(40), np.empty(n_samples)
    weights = np.random.default_rng(k + 1).random(n_samples)
    weights /= weights.sum()
    moment_loops.means_to(y, weights, k, means, out)
    expected = power_means(y[None], 2 * k - 2, weights[None])[:, 0]
    assert means[: 2 * k - 1] == pytest.approx(expected, rel=1e-12, abs=1e-13)
    c = np.random.default_rng(1).normal(size=k)
    moment_loops.polynomial(y, c, k, out)
    by_numpy = np.polynomial.Polynomial(c)
    assert out == pytest.approx(by_numpy(y), rel=1e-12, abs=1e-12)
    moment_loops.derivative(y, c, k, out)
    assert out == pytest.approx(by_numpy.deriv()(y), rel=1e-12, abs=1e-12)
    expected = out.max()
    assert moment_loops.largest(out) == expected


def test_coefficients_of_a_combination_of_orthogonal_polynomials() -> None:
    y = np.random.default_rng(2).normal(size=(1, 40))
    y = (y - y.mean()) / y.std()
    k, means = 5, np.empty(20)
    lower, norm = np.empty((k, k)), np.empty(k)
    moment_loops.means_to(y[0], np.full(40, 1 / 40), k, means, np.empty(40))
    kept = moment_loops.decompose(means, k, lower, norm)
    basis, _ = orthogonal_basis(y, k)
    assert norm == pytest.approx(basis.norm[:, 0], rel=1e-12) and 0 < kept <= 1
    c = np.array([0.3, -1.0, 2.0, 0.5, -0.7])
    expected = sum(w * p[0] for w, p in zip(c, basis.polynomials(y), strict=True))
    moment_loops.add_up_polynomials(lower, k, c)
    assert np.polynomial.Polynomial(c)(y[0]) == pytest.approx(expected, abs=1e-12)


# --- compiled ---

LAWS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "exponential": lambda rng, shape: rng.exponential(size=shape),
    "uniform": lambda rng, shape: rng.random(shape),
    "gamma": lambda rng, shape: rng.gamma(0.25, size=shape),
    "integers": lambda rng, shape: rng.integers(0, 9, shape).astype(float),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("n_samples", "order"), [(12, 5), (64, 6), (512, 6), (5000, 8)])
def test_compiled_and_numpy_agree(law: str, n_samples: int, order: int, compiled: None) -> None:
    rows = LAWS[law](np.random.default_rng(n_samples), (12, n_samples))
    found, expected = climb_compiled(rows, order, goal(order)), climb(rows, order, goal(order))
    for i in range(12):
        if found.done[i]:
            size = np.maximum(1, np.abs(expected.moments[:, i]))
            assert i not in expected.refusals
            assert found.moments[:, i] == pytest.approx(expected.moments[:, i], abs=1e-9 * size.max())
    if law == "normal" and n_samples >= 64:
        assert found.done.all()


def test_the_samples_at_the_last_level_are_on_the_manifold(compiled: None) -> None:
    rows = np.random.default_rng(3).exponential(size=(5, 300)) * 1e-150
    found = climb_compiled(rows, 6, goal(6))
    assert found.done.all()
    assert np.all(residuals(found.values, np.repeat(np.array(goal(6))[:, None], 5, axis=1)) <= RESIDUAL)


def test_refusals_and_values_are_those_of_numpy(compiled: None) -> None:
    rng = np.random.default_rng(4)
    rows = rng.exponential(size=(9, 60))
    rows[1] = 3
    rows[2, :30] = 0
    rows[3] = np.resize([1.0, 2.0], 60)
    rows[4, :23] = 0
    rows[5, 0] = 1e12
    rows[6] = np.arange(60) % 2 + 1e-11 * rng.random(60)
    rows[7] *= 1e-200
    panel = Panel.of(rows)
    ours, numpys = (decoupled_rows(panel, 6, gaussian_moments(5), compiled=flag) for flag in (True, False))
    assert ours.refusals == numpys.refusals and {1, 2, 3, 6} <= set(ours.refusals)
    assert np.array_equal(np.isnan(ours.values), np.isnan(numpys.values))
    assert ours.values == pytest.approx(numpys.values, rel=1e-9, abs=1e-10, nan_ok=True)


def test_rows_never_meet(compiled: None) -> None:
    rows = np.random.default_rng(5).gamma(1.0, size=(300, 77))
    together: Climbed = climb_compiled(rows, 6, goal(6))
    few = climb_compiled(rows[3::50].copy(), 6, goal(6))
    assert np.array_equal(few.moments, together.moments[:, 3::50], equal_nan=True)
    single = climb_compiled(rows.astype(np.float32), 5, goal(5))
    widened = climb_compiled(rows.astype(np.float32).astype(np.float64), 5, goal(5))
    assert np.array_equal(single.moments, widened.moments, equal_nan=True)


def test_threads_change_no_bit(compiled: None, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(8).exponential(size=(400, 300))
    found = []
    for count in (1, 2, 3):
        monkeypatch.setattr("symdecouple.numeric.kernels.parallel.cores", lambda count=count: count)
        found.append(climb_compiled(rows, 6, goal(6)))
    assert found[0].done.any()
    for other in found[1:]:
        assert np.array_equal(other.moments, found[0].moments, equal_nan=True)
        assert np.array_equal(other.values, found[0].values, equal_nan=True)


@pytest.mark.parametrize("law", ["normal", "exponential", "uniform"])
def test_long_rows_by_way_of_nodes_are_where_each_sample_would_go(law: str, compiled: None) -> None:
    rows = LAWS[law](np.random.default_rng(9), (1, 6000))
    rows[:, :50] = rows[:, 50:100]  # ties
    found = climb_compiled(rows, 6, goal(6))
    expected = climb(rows, 6, goal(6), follower=partial(follow, rtol=1e-13))
    assert found.done.all()
    assert found.moments[4:] == pytest.approx(expected.moments[4:], abs=2e-9)
    order = np.argsort(rows[0], kind="stable")
    steps, gaps = np.diff(found.values[0][order]), np.diff(rows[0][order])
    assert (steps[gaps == 0] == 0).all() and (steps[gaps > 1e-9] > 0).all() and (gaps == 0).sum() >= 50


def test_other_references(compiled: None) -> None:
    rows = np.random.default_rng(6).exponential(size=(4, 200))
    target = (1.0, 0.0, 1.0, 0.5, 3.5)
    found, expected = climb_compiled(rows, 5, target), climb(rows, 5, target)
    assert found.done.all() and found.moments[5] == pytest.approx(expected.moments[5], abs=1e-9)
    assert np.mean(found.values**3, axis=1) == pytest.approx(np.full(4, 0.5), abs=1e-13)


def test_large_input_takes_the_compiled_path_and_small_does_not(
    compiled: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment_path_jit.warm()
    assert KERNELS.are_wanted(10**5) and not KERNELS.are_wanted(10**4)
    calls = []

    def counted(*arguments: object) -> Climbed:
        calls.append(arguments)
        return climb_compiled(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr("symdecouple.numeric.moments.levels.climb_compiled", counted)
    rows = np.random.default_rng(7).normal(size=(250, 400))
    values = decoupled_moments(rows, axis=1)
    assert len(calls) == 1
    assert values[:5] == pytest.approx(decoupled_moments(rows[:5], axis=1), rel=1e-9, abs=1e-11) and len(calls) == 1


def test_numba_is_not_loaded_by_importing_these() -> None:
    code = "import sys, symdecouple.numeric.moments.moment_path_jit, symdecouple.stats; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
