"""`symdecouple demo`: the main job done on real data, live, on one or two screens."""

import re
import time

import numpy as np
import pytest

from symdecouple.cli import demo, main
from symdecouple.cli.demo import michelson, skewness_slopes
from symdecouple.stats import kurtosis, orthokurtosis, skewness
from tests.cli.conftest import Told


def test_the_data_are_the_published_ones() -> None:
    runs = np.stack(michelson().vectors)
    assert runs.shape == (5, 20) and (runs == runs.astype(int)).all()
    assert runs.mean(axis=1).tolist() == [909, 856, 845, 820.5, 831.5] and runs.mean() == 852.4
    assert runs.std(ddof=1) == pytest.approx(79.01, abs=0.005) and (runs.min(), runs.max()) == (620, 1070)


def test_the_tour(capsys: pytest.CaptureFixture[str]) -> None:
    start = time.perf_counter()
    assert main(["demo"]) == 0
    assert time.perf_counter() - start < 10
    out, err = capsys.readouterr()
    assert err == ""
    assert len(out.splitlines()) < 48
    assert max(map(len, out.splitlines())) <= 100
    assert "REFUTED for every N >= 5" in out
    assert "[v3, v4] leaves the span" in out
    assert "PROVED for every N" in out
    assert re.search(r"\[v2, v3\] = - ?4 v3", out)
    assert out.count("certificates: verified, ") == 2


def test_the_table_is_that_of_the_data(capsys: pytest.CaptureFixture[str]) -> None:
    main(["demo"])
    lines = capsys.readouterr().out.splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith("expt."))
    shown = np.array([[float(cell) for cell in line.split()] for line in lines[first + 1 : first + 6]])
    runs = np.stack(michelson().vectors)
    assert np.array_equal(shown[:, 0], np.arange(1, 6))
    expected = [runs.mean(axis=1), runs.var(axis=1), skewness(runs, axis=1), kurtosis(runs, axis=1)]
    assert np.allclose(shown[:, 1:5], np.transpose(expected), rtol=0, atol=[1e-9, 0.051, 6e-5, 6e-5])
    assert np.allclose(shown[:, 5], orthokurtosis(runs, axis=1), rtol=0, atol=6e-5)
    assert (np.abs(shown[:, 6]) > 0.05).all()
    assert (shown[:, 7] == 0).all()


def test_slopes_by_the_exact_gradients() -> None:
    """<grad K, grad S>/<grad S, grad S>, with grad K = (4/N)(z^3 - K z - S) and grad S as in the tour."""
    runs = np.stack(michelson().vectors)
    z = (runs - runs.mean(axis=1, keepdims=True)) / runs.std(axis=1, keepdims=True)
    a, b = skewness(runs, axis=1)[:, None], kurtosis(runs, axis=1)[:, None]
    of_kurtosis, of_skewness = 4 * (z**3 - b * z - a), 3 * (z**2 - a * z - 1)
    exact = (of_kurtosis * of_skewness).sum(axis=1) / (of_skewness**2).sum(axis=1)
    slope, decoupled = skewness_slopes(runs)
    assert np.allclose(slope, exact, rtol=1e-5)
    assert np.abs(decoupled).max() < 1e-5


def test_a_tour_that_goes_wrong_says_so(monkeypatch: pytest.MonkeyPatch, told: Told) -> None:
    monkeypatch.setattr(demo, "_SHAPE", ("mean(x)", "2*mean(x^3)"))
    assert told("demo", code=70).out
