"""Few nodes against all frequencies: what they miss, the bound on it, and levels for which it is too much."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from symdecouple.numeric.energies import (
    maps,
    node_bounds,
    node_loops,
    problems as energy_problems,
    spectrum,
    sums as energy_sums,
)
from symdecouple.numeric.energies.gradients import DecoupledEnergies
from symdecouple.numeric.energies.nodes import Nodes, nodes_of
from symdecouple.numeric.energies.normalization import Energies
from symdecouple.numeric.energies.spectrum import Bands
from symdecouple.numeric.energies.workspace import scratch
from symdecouple.numeric.kernels import compile as jit
from tests.numeric.energies.energy_banks import kernels, responses

Array = NDArray[np.float64]
needs_numba = pytest.mark.skipif(not jit.is_available(), reason="numba is not installed")


def bank(shape: tuple[int, ...]) -> tuple[Bands, Nodes]:
    taps = kernels() if len(shape) == 2 else [np.array([1.0, 2, 1]), np.array([1.0, 0, -1])]
    bands = Bands(responses(taps, shape), shape)
    assert bands.nodes is not None
    return bands, bands.nodes


def moved(bands: Bands, nodes: Nodes, a: Array, top: float, power: Array) -> Array:
    out = np.empty(nodes.size)
    work = scratch(len(bands.lines.outer), len(bands.lines.inner), bands.lines.outer.shape[1], 24)
    node_loops.moved_to_nodes(a, top, power, bands.lines, nodes.outer, nodes.inner, work, out)
    return out


@pytest.mark.parametrize(("shape", "width"), [((6, 201), 0.05), ((201, 6), 0.4), ((300,), 1.0), ((146, 150), 0.3),
                                              ((64, 64), 0.3)], ids=str)
def test_what_is_missed_is_bounded(shape: tuple[int, ...], width: float) -> None:
    """Sums of w, w w' times exp(h), tilted by a and by nothing before they are moved, against plain sums."""
    rng = np.random.default_rng(1)
    bands, nodes = bank(shape)
    columns, few = bands.columns, nodes.lines.product()
    power = rng.random((bands.count,)) ** 4
    h = rng.normal(size=(len(bands),))
    h *= 2 * width / np.ptp(h @ columns)
    low, high = energy_sums.extremes(h, bands.largest, -1.0, np.ones(few.shape[1]), nodes.lines,
                                     scratch(3, 3, 24))
    bounded = (high - low) / 2 * nodes.between
    assert width <= bounded < 1.1 * width
    for a in (np.zeros(len(bands)), np.linspace(-1, 1, len(bands))):
        top = float((a @ columns).max()) + 0.5 if a.any() else 0.0
        tilted = power * np.exp(a @ columns - top)
        at_nodes = moved(bands, nodes, a, top, power) * np.exp(h @ few)
        whole = tilted * np.exp(h @ columns)
        lost = node_bounds._lost(nodes.order, nodes.lebesgue, bounded) + 64 * spectrum.EPS
        for i in range(len(bands)):
            apart = abs(few[i] @ at_nodes - columns[i] @ whole)
            assert apart <= lost * bands.largest[i] * whole.sum()
            for j in range(i + 1):
                apart = abs(few[i] * few[j] @ at_nodes - columns[i] * columns[j] @ whole)
                assert apart <= lost * bands.largest[i] * bands.largest[j] * whole.sum()


def on_ellipses(a: Array, bands: Bands, rho: float) -> float:
    """The largest Re h with one cosine on the ellipse and the other one real, from the gains of the filters."""
    turn = np.exp(1j * np.linspace(0, np.pi, 241))
    wide, real = (rho * turn + 1 / (rho * turn)) / 2, np.cos(np.linspace(0, np.pi, 241))
    gains = [lambda c: (1 + 2 * c) ** 2 / 9, lambda c: 1 - c**2, lambda c: (1 - c) ** 2 / 4]  # low, middle, high
    pairs = [(wide, real), (real, wide)]
    scales = bands.lines.scales
    return max(float(np.real(sum(a[3 * i + j] * scales[3 * i + j] * np.outer(gains[i](y), gains[j](x))
                                 for i in range(3) for j in range(3))).max()) for y, x in pairs)


@pytest.mark.parametrize("width", [0.3, 1.5, 4.0, 9.0])
def test_what_more_nodes_miss_is_bounded_on_ellipses(width: float) -> None:
    """The extremes of Re h against filters at complex cosines, and the bound against plain sums."""
    rng = np.random.default_rng(7)
    bands, _ = bank((146, 150))
    nodes = bands.more_nodes
    assert nodes is not None and nodes.lines.inner.shape == (3, 48)
    probes, everywhere, work = nodes.probes, np.ones(144), scratch(3, 3, 74, 48)
    c = np.cos(np.pi * (np.arange(12) + 0.5) / 12)
    at = np.linalg.lstsq(np.array([c**0, c, 2 * c**2 - 1]).T, probes.wide_outer.T, rcond=None)[0]
    was = np.linalg.lstsq(np.array([c**0, c, 2 * c**2 - 1]).T, probes.outer.T, rcond=None)[0]
    half = float((at[1, [0, 2]] / was[1, [0, 2]]).mean())  # (rho + 1/rho)/2
    rho = half + np.sqrt(half**2 - 1)
    power, zero = rng.random((bands.count,)) ** 4, np.zeros(len(bands))
    at_nodes = np.empty(nodes.size)
    node_loops.moved_to_nodes(zero, 0.0, power, bands.lines, nodes.outer, nodes.inner, work, at_nodes)
    for _ in range(4):
        h = rng.normal(size=(len(bands),))
        h *= 2 * width / np.ptp(h @ bands.columns)
        spans = [node_bounds.spanned(h, bands.largest, probes, kind, bands.lines, everywhere, work) for kind in (1, 2)]
        tops = [high for _, high in spans]
        exact = on_ellipses(h, bands, rho)
        assert exact <= max(tops) <= 1.1 * exact + 0.1 * width
        few, whole = nodes.lines.product(), power * np.exp(h @ bands.columns)
        bound = np.exp(probes.log_front + max(tops)) * power.sum() + 64 * spectrum.EPS * whole.sum()
        largest = bands.largest
        apart = (few * (at_nodes * np.exp(h @ few))) @ few.T - (bands.columns * whole) @ bands.columns.T
        assert (np.abs(apart) <= bound * np.outer(largest, largest)).all()
        sums = np.concatenate([[0.0, whole.sum()], bands.columns @ whole, ((bands.columns * whole) @ bands.columns.T
                                                                           ).ravel()])
        place = node_bounds.judged(h, zero, sums, np.log(power.sum()), np.ones(9), 8, largest, nodes.order,
                                   nodes.lebesgue, probes, bands.lines, everywhere, work, np.empty(9))
        assert (place == node_bounds.EXACT) in {0.3: [True], 1.5: [True], 9.0: [False]}.get(width, [True, False])
        if place == node_bounds.EXACT:
            assert (np.abs(apart) <= 128 * spectrum.EPS * whole.sum() * np.outer(largest, largest)).all()


@pytest.mark.parametrize("shape", [(60, 150), (61, 97), (8, 150), (150,)], ids=str)
@pytest.mark.parametrize("part", [256, 40])
def test_polynomials_keep_their_sums(shape: tuple[int, ...], part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums with T_p(c) T_q(c') for p, q up to 23, of lines in one part and in several, those without halves."""
    for module in (maps, node_loops):
        monkeypatch.setattr(module, "PART", part)
    bands, nodes = bank(shape)
    a = np.linspace(-1, 1, len(bands))
    power = np.random.default_rng(6).random((bands.count,))
    top = float((a @ bands.columns).max()) + 0.5
    tilted = (power * np.exp(a @ bands.columns - top)).reshape(-1, shape[-1] // 2 + 1)
    at_nodes = moved(bands, nodes, a, top, power).reshape(nodes.outer.few, -1)

    def polynomials(few: int, size: int) -> tuple[Array, Array]:
        every = 2 * np.pi * np.arange(size // 2 + 1) / size
        angles = np.pi * (np.arange(few) + 0.5) / few if few < len(every) else every
        orders = np.arange(min(few, 24))[:, None]
        return np.cos(orders * angles), np.cos(orders * every)

    inner, whole_inner = polynomials(at_nodes.shape[1], shape[-1])
    outer, whole_outer = polynomials(len(at_nodes), shape[0]) if len(shape) == 2 else (np.ones((1, 1)),) * 2
    np.testing.assert_allclose(outer @ at_nodes @ inner.T, whole_outer @ tilted @ whole_inner.T, rtol=0,
                               atol=1e-13 * tilted.sum())


def test_the_bound_is_rounding_where_levels_are_accepted() -> None:
    """The first power that is missed by 24 nodes and degree 2 is the tenth."""
    _, nodes = bank((151, 160))
    assert nodes.order == 10
    assert nodes.between == pytest.approx(np.cos(np.pi / 24) ** -2)
    lost = [node_bounds._lost(nodes.order, nodes.lebesgue, width) for width in (0.05, 0.2)]
    assert lost[0] < 1e-17 < lost[1]


@pytest.mark.parametrize("width", [0.1, 1.0, 4.0])
def test_the_bound_is_close_to_the_best_polynomial_in_h(width: float) -> None:
    """2 I_p(width) are the first coefficients that are left, from p = 10 on, with mpmath's Bessel functions."""
    left = float(2 * mpmath.nsum(lambda p: mpmath.besseli(p, width), [10, 60], method="direct"))
    bound = node_bounds._lost(10, 8.0, width) / (9 * np.exp(width))
    assert left <= bound < 1.3 * left
    assert node_bounds._lost(10, 8.0, 10.0) == np.inf


def test_lines_at_the_nodes_are_those_of_the_filters() -> None:
    _, nodes = bank((100, 160))
    c = np.cos(np.pi * (np.arange(24) + 0.5) / 24)
    low, middle, high = (1 + 2 * c) ** 2 / 9, 1 - c**2, (1 - c) ** 2 / 4  # over the largest
    for lines in (nodes.lines.inner, nodes.lines.outer):
        np.testing.assert_allclose(lines, [low, middle, high], atol=2e-15)


def test_no_nodes_without_polynomials_of_low_degree() -> None:
    c = np.cos(2 * np.pi * np.arange(151) / 300)
    wide = [np.cos(12 * np.arccos(c)) + 1, 1 + c]
    assert Bands(wide, (300,)).nodes is None
    assert Bands(responses(kernels(), (56, 56)), (56, 56)).nodes is None  # 29 x 29 frequencies, 24 x 24 nodes
    volume = Bands(responses([kernel[None] for kernel in kernels()], (4, 90, 90)), (4, 90, 90))
    assert volume.nodes is None and nodes_of(volume.lines, (4, 90, 90)) is None
    slanted = np.array([[1.0, 0, 0], [0, -2, 0], [0, 0, 1]])
    assert Bands(responses([slanted], (200, 200)), (200, 200)).nodes is None


def scaled_gram(bands: Bands, found: DecoupledEnergies, r: int, k: int) -> tuple[float, Array]:
    """The condition of the system that gives the coefficients of level k, its diagonal scaled to 1; and the scale."""
    power, along = found.spectrum.shares[r], found.parameters[r, k] @ bands.columns
    columns = bands.columns[:k, power > 0] * np.sqrt(power * np.exp(along - along[power > 0].max()))[power > 0]
    scale = np.linalg.norm(columns, axis=1)
    return float(np.linalg.cond(columns / scale[:, None]) ** 2) if k else 1.0, scale


@needs_numba
@pytest.mark.parametrize("order", ["as they come", "high first"])
@pytest.mark.parametrize("steep", [0.0, 5.0, pytest.param(6.0, marks=pytest.mark.slow)])
def test_levels_are_those_of_all_frequencies(order: str, steep: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spectra over up to twenty orders of magnitude; what is small beside the rest is found on all frequencies."""
    shape = (90, 160)
    taps = kernels() if order == "as they come" else kernels()[::-1]
    energies = Energies(Bands(responses(taps, shape), shape))
    waves = np.cos(2 * np.pi * np.fft.fftfreq(90))[:, None] + np.cos(2 * np.pi * np.fft.rfftfreq(160))
    noise = np.fft.rfft2(np.random.default_rng(2).normal(size=(1 if steep == 5 else 2, *shape)))
    rows = np.fft.irfft2(noise * np.exp(steep * waves), s=shape).reshape(-1, 90 * 160)
    found = []
    for is_compiled in (False, True):
        for module in (energy_problems, spectrum):
            monkeypatch.setattr(module, "are_wanted", lambda bands, answer=is_compiled: answer)
        found.append(energies.decouple(rows, np.ones(9)))
    assert found[0].refusals.keys() == found[1].refusals.keys()
    good = ~np.isnan(found[0].values)
    assert (good == ~np.isnan(found[1].values)).all()
    assert good.any()
    np.testing.assert_allclose(found[1].values, found[0].values, rtol=2e-12)
    for r, k in zip(*np.nonzero(good), strict=True):
        condition, scale = scaled_gram(energies.bands, found[0], r, k)
        apart = np.abs(found[1].coefficients - found[0].coefficients)[r, k, :k] * scale
        size = np.abs(found[0].coefficients[r, k, :k] * scale).max(initial=0)
        assert (apart <= 64 * spectrum.EPS * condition * size).all()
        if condition < 1e7:  # rounding alone takes more where it is larger
            ours, theirs = (some.coefficients[r, k] for some in found[::-1])
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("shape", [(64, 64), (201, 6), (300,)], ids=str)
def test_widths_are_bounded_at_probes(shape: tuple[int, ...]) -> None:
    """Against a.w at all frequencies; the largest eigenvalues alone bound it too, none being negative."""
    bands, _ = bank(shape)
    a = np.random.default_rng(4).normal(size=(50, len(bands)))
    exact = np.ptp(a @ bands.columns, axis=1)
    found = bands.widths(a)
    assert (exact <= found).all() and (found <= 1.15 * exact).all()
    assert not bands.is_signed and (exact <= np.abs(a) @ bands.largest * (1 + 4 * spectrum.EPS)).all()
