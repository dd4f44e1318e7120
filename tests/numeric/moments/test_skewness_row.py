"""A long sample at its target skewness by formula: the values that `impose_skewness` gives, and their moments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symdecouple.errors import Outcome
from symdecouple.numeric.moments import long_jit
from symdecouple.numeric.moments.long_jit import CompiledRow, flow_pieces, sum_pieces
from symdecouple.numeric.moments.skewness_flow import impose_skewness
from symdecouple.numeric.moments.skewness_row import FlowedRow, flowed_row
from symdecouple.numeric.samples.batch import Panel

RNG = np.random.default_rng(0)
N = 30_001
ROWS = {
    "normal": RNG.normal(size=N),
    "exponential": RNG.exponential(size=N),
    "to the left": -RNG.gamma(0.7, size=N),
    "offset": 1e8 + RNG.gamma(3.0, size=N),
    "lognormal": np.exp(2 * RNG.normal(size=N)),
    "small": 1e-200 * RNG.exponential(size=N),
    "symmetric": np.concatenate([np.arange(-500.0, 501), [0.25, -0.25]]),
    "two clusters": np.arange(N) % 2 + 1e-4 * RNG.normal(size=N),
}


@pytest.fixture(params=[FlowedRow, CompiledRow], ids=["NumPy", "loops"])
def kind(request: Any, monkeypatch: pytest.MonkeyPatch) -> type[FlowedRow]:
    """The loops are run as plain Python."""
    if request.param is CompiledRow:
        def five(*arguments: Any) -> None:
            with np.errstate(all="ignore"):
                slow_flow(*arguments)

        monkeypatch.setattr(long_jit, "_own", lambda: (five, slow_sums))
    chosen: type[FlowedRow] = request.param
    return chosen


def slow_flow(which: Any, pieces: Any, numbers: Any, out: Any) -> None:
    """`flow_pieces` on a few entries, arrays for the others: loops in Python take too long."""
    flow_pieces(which[:1], pieces[:1, :20], numbers, out[:1, :20])
    begun = out[0, :20].copy()
    scale, offset, w, entry, shift, deviation, time, skewness, sign = numbers
    y = pieces * scale
    u = (y - entry) * ((w / ((entry - offset) + w)) / ((y - offset) + w)) if w > 0 else y - entry
    v = (u - shift) / deviation
    out[...] = sign * (v + time * ((v - skewness) * v - 1))
    assert begun == pytest.approx(out[0, :20], rel=1e-13, abs=1e-15 * np.abs(out).max())


def slow_sums(which: Any, pieces: Any, sums: Any) -> None:
    for j in range(sums.shape[1]):
        sums[:, j] = (pieces**j).sum(axis=1)


@pytest.mark.parametrize("target", [0.0, 0.4])
@pytest.mark.parametrize("name", ROWS)
def test_values_are_those_of_the_whole_row(name: str, target: float, kind: type[FlowedRow]) -> None:
    x = ROWS[name]
    row = flowed_row(Panel.of(x[None]), 0, target, kind=kind)
    expected = impose_skewness(x[None], target)
    if expected.refusals:
        assert isinstance(row, Outcome) and row == expected.refusals[0]
        return
    assert isinstance(row, FlowedRow)
    z = np.concatenate(list(row.tiles()))
    q = np.abs(z * z - target * z - 1)  # a skewness that is off by rounding moves the values along it
    slack = 1e-14 * np.mean(np.abs(z) ** 3) / (3 * np.mean(q * q))
    assert np.all(np.abs(z - expected.values[0]) <= 1e-13 * (1 + np.abs(z)) + 10 * slack * q)
    for k in (3, 4, 5):
        assert row.moment(k) == pytest.approx(np.mean(z**k), rel=1e-12, abs=1e-13 * np.mean(np.abs(z) ** k))


def test_any_type_of_number_is_taken_as_it_is() -> None:
    x = np.random.default_rng(1).integers(0, 10**6, 20_000)
    wide = flowed_row(Panel.of(x[None].astype(np.float64)), 0, 0.0)
    for kind in (np.float32, np.int32, np.int64):
        there = flowed_row(Panel.of(x[None].astype(kind)), 0, 0.0)
        assert isinstance(there, FlowedRow) and isinstance(wide, FlowedRow)
        assert np.array_equal(next(there.tiles()), next(wide.tiles()))


def test_why_there_is_none() -> None:
    row = np.where(np.arange(40_000) % 10 < 6, 0.0, np.arange(40_000))
    panel = Panel.of(row[None])
    assert flowed_row(panel, 0, 0.0) == impose_skewness(row[None], 0.0).refusals[0]


def test_sums_of_powers() -> None:
    pieces, sums = np.random.default_rng(2).normal(size=(2, 40)), np.empty((2, 12))
    sum_pieces(np.arange(2), pieces, sums)
    assert sums == pytest.approx(np.stack([(pieces**j).sum(axis=1) for j in range(12)], axis=1), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("target", [0.0, 0.4])
@pytest.mark.parametrize("name", ROWS)
def test_slopes_are_those_of_the_whole_row(name: str, target: float, kind: type[FlowedRow]) -> None:
    x = ROWS[name]
    row, expected = flowed_row(Panel.of(x[None]), 0, target, kind=kind), impose_skewness(x[None], target)
    if isinstance(row, Outcome):
        return
    z = row.at(x)
    assert row.slope(x, z) == pytest.approx(expected.slope[0], rel=1e-11 if name == "two clusters" else 1e-12)
    assert row.slope_at_place(z) == pytest.approx(expected.slope[0], abs=1e-12 * expected.slope.max())
