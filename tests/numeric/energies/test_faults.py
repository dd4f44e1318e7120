"""Offsets, targets a little outside of the cone, and what is lost on the way back."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import symdecouple as sd
from symdecouple.numeric.energies.frequencies import Bands
from symdecouple.numeric.energies.normalization import Energies
from tests.numeric.energies.energy_banks import cone_membership

TAPS = [[1, 1, 1], [-1, 0, 1], [-1, 2, -1]]


def bank(taps: list[list[int]], n: int) -> Energies:
    responses = np.array([np.abs(np.fft.rfft(t, n)) ** 2 for t in taps])
    responses[:, 0] = [sum(t) ** 2 for t in taps]  # exactly: much power is there
    return Energies(Bands(responses, (n,)))


def exact(row: np.ndarray, taps: list[list[int]]) -> list[float]:
    values, n = [Fraction(float(v)) for v in row], len(row)
    return [float(sum((sum(c * values[(i - k) % n] for k, c in enumerate(t)) ** 2 for i in range(n)), Fraction(0)) / n)
            for t in taps]


@pytest.mark.parametrize("n", [63, 64, 300])
@pytest.mark.parametrize(("offset", "size"), [(1e8, 1.0), (7.0, 1e-9), (-1e12, 1.0), (1e-300, 1e-308), (3e150, 1e140)])
@pytest.mark.parametrize("taps", [TAPS, TAPS[1:], [[1, -1]]], ids=["with DC", "without DC", "one"])
def test_an_offset_costs_no_digits(n: int, offset: float, size: float, taps: list[list[int]]) -> None:
    unit = 2.0 ** -round(np.log2(abs(offset)))
    row = (offset + size * np.random.default_rng(n).normal(size=n)) * unit
    energies = bank(taps, n)
    np.testing.assert_allclose(energies.values(row[None])[0], exact(row, taps), rtol=1e-13)
    np.testing.assert_allclose(energies.decouple(row[None], np.ones(len(taps))).values[0, 0], exact(row, taps)[0],
                               rtol=1e-13)


@pytest.mark.parametrize("offset", [1e12, 1e14, -1e15, 1e16])
@pytest.mark.parametrize("n", [64, 75])
def test_samples_far_from_zero_are_what_they_are(n: int, offset: float) -> None:
    """Noise that float64 rounds coarsely beside its mean has power at all frequencies, as it has without the mean."""
    far = offset + np.random.default_rng(n).normal(size=n)
    near = far - offset  # exact
    energies = bank(TAPS[1:], n)
    one, other = (energies.decouple(row[None], np.ones(2)).values for row in (far, near))
    np.testing.assert_allclose(one, other, rtol=1e-12)
    moved, expected = (energies.normalize(row[None], np.ones(2)).values for row in (far, near))
    np.testing.assert_allclose(moved - offset, expected, atol=4 * abs(np.spacing(offset)))
    with_dc = bank(TAPS, n).decouple(far[None], np.ones(3))
    assert not with_dc.refusals and with_dc.values[0, 0] == pytest.approx(exact(far, TAPS)[0], rel=1e-13)
    plan = sd.decouple([sd.Mean(sd.x), *(sd.Mean(sd.Filter(t)(sd.x) ** 2) for t in TAPS)])
    floats, digits = plan.transform(far), plan.transform(far, dps=25)
    np.testing.assert_allclose(floats, digits.astype(float), rtol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_faces_of_random_cones(seed: int) -> None:
    """A face by a direction that is known: moved along it, a point of the face is outside or inside."""
    rng = np.random.default_rng(seed)
    m = 3 + seed
    normal = np.ones(m) / m**0.5
    on_face = rng.random((m, m - 1)) - normal[:, None]
    on_face -= normal[:, None] * (normal @ on_face) - np.eye(m)[:, : m - 1] + normal[:, None] * normal[: m - 1]
    others = rng.normal(size=(m, 200))
    others -= normal[:, None] * (normal @ others + rng.random(200) + 0.1)
    columns = np.hstack([on_face, others])
    columns -= normal[:, None] * np.maximum(normal @ columns, 0)
    point = on_face @ np.full(m - 1, 1.0)
    point -= normal * (normal @ point)
    for far in (1e-4, 1e-8, 1e-10):
        assert cone_membership(columns, point + far * normal).where == "outside"


A = [300, -100, 200, -400, 100, 50, -250, 350]


@pytest.mark.parametrize(("level", "kind"), [(None, np.int64), (3, np.float64), (3, np.float32)])
def test_what_is_there_again_is_right_or_refused(level: int | None, kind: type) -> None:
    """There and back: within the loss that is allowed for the precision of the input, or not called computed."""
    plan = sd.decouple(sd.families.second_order_moments(sd.families.FilterBank(TAPS)))
    rng = np.random.default_rng(5)
    sizes = [(30, 8), (30, 32), (30, 64), (300, 8), (300, 16)]
    noise = [np.round(size * rng.normal(size=n)) for size, n in sizes]
    samples: list[NDArray[Any]] = [np.asarray(row).astype(kind) for row in (A, *noise)]
    computed = []
    for a in samples:
        normal, first = plan.normalize(a, level, on_refusal="return")
        back, outcomes = plan.denormalize(normal, plan.transform(a), level, on_refusal="return")
        assert first[0].ok
        computed.append(outcomes[0].ok)
        if outcomes[0].ok:
            allowed = 1e-5 if normal.dtype == np.float64 else 1e-2
            assert np.abs(back - a).max() <= allowed * np.std(a)
        else:
            assert outcomes[0].reason == "below rounding" and np.isnan(back).all()
    assert not computed[0] and any(computed)
