"""One vector in chunks against the same vector in memory: fixed passes, at every level, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from symdecouple import InvalidInput, RefusalWarning, Refused, decouple, lazy, stats
from symdecouple.families.moments import raw_moments
from symdecouple.lazy.measure import Measure
from symdecouple.numeric.moments.bins import gauss_nodes
from symdecouple.numeric.moments.levels import climb, gaussian_moments
from tests.traced import peak

N = 20_000
RNG = np.random.default_rng(3)
LAWS: dict[str, NDArray[Any]] = {
    "normal": RNG.normal(size=N),
    "uniform": RNG.random(N),
    "exponential": RNG.exponential(size=N),
    "falling, far away": 1e8 - RNG.lognormal(size=N),
    "lognormal, sigma 3": RNG.lognormal(sigma=3, size=N),
    "Cauchy": RNG.standard_cauchy(size=N),
    "gamma(1/4)": RNG.gamma(0.25, size=N),
    "two clusters": np.concatenate([RNG.normal(size=N // 3), RNG.normal(50, 0.1, size=N - N // 3)]),
    "two outliers": np.concatenate([RNG.normal(size=N - 2), [-1e4, 2e4]]),
    "outliers of one side": np.where(RNG.random(N) < 0.9, 1, 100) * np.abs(RNG.standard_cauchy(N)) - RNG.random(N),
    "small numbers": RNG.poisson(20, size=N),
    "a third at the minimum": np.maximum(RNG.normal(size=N), -0.43),
}


class _InFile:
    """What h5py and zarr give: a shape, and slices that are read."""

    def __init__(self, array: NDArray[Any]) -> None:
        self._array, self.shape = array, array.shape

    def __getitem__(self, part: slice) -> NDArray[Any]:
        assert isinstance(part, slice)
        return self._array[part].copy()


def counted(chunks: list[NDArray[Any]]) -> tuple[Callable[[], Iterator[NDArray[Any]]], list[int]]:
    """A source, and how often it was asked."""
    asked: list[int] = []

    def source() -> Iterator[NDArray[Any]]:
        asked.append(1)
        return iter(chunks)

    return source, asked


@pytest.mark.parametrize("name", LAWS)
def test_the_orthokurtosis_of_chunks_is_that_of_the_sample(name: str) -> None:
    sample = LAWS[name]
    found = lazy.decoupled_moments(np.array_split(sample, 7), order=4)
    assert found[:2] == pytest.approx([np.mean(sample), np.var(sample)], rel=1e-12, abs=1e-12 * np.std(sample))
    assert found[2] == pytest.approx(float(stats.skewness(sample)), rel=1e-12, abs=1e-13)
    assert found[3] == pytest.approx(float(stats.orthokurtosis(sample)), rel=1e-13)


@pytest.mark.parametrize("name", ["normal", "uniform", "falling, far away", "small numbers"])
def test_higher_orders_are_those_of_the_path_of_entries(name: str) -> None:
    """Against the narrow path of the entries themselves; both follow it to about 1e-10."""
    sample = LAWS[name][:3000].astype(np.float64)
    found = lazy.decoupled_moments(np.array_split(sample, 7), order=6)
    expected = climb(sample[None], 6, (1.0, *gaussian_moments(5)))
    assert found[3:] == pytest.approx(expected.moments[4:, 0], rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("order", [1, 2, 3, 4, 6])
def test_passes_are_as_many_as_stated(order: int) -> None:
    source, asked = counted(np.array_split(LAWS["normal"], 3))
    lazy.decoupled_moments(source, order)
    assert len(asked) == lazy.passes(order)


@pytest.mark.parametrize("name", ["exponential", "falling, far away", "Cauchy", "a third at the minimum"])
@pytest.mark.parametrize("level", [1, 2, 3, 4])
def test_the_vector_at_a_level_has_its_moments(name: str, level: int) -> None:
    if level == 4 and name in ("Cauchy", "a third at the minimum"):  # slow
        level = 3
    sample = LAWS[name]
    source, asked = counted(np.array_split(sample, 5))
    made = lazy.normalize(source, level)
    assert len(asked) == (1 if level < 3 else 2)
    chunks = list(made())
    z = np.concatenate(chunks)
    assert [len(c) for c in chunks] == [4000] * 5 and (np.diff(z[np.argsort(sample)]) >= -1e-12).all()
    for k, target in enumerate(gaussian_moments(level), 1):
        assert np.mean(z**k) == pytest.approx(target, abs=1e-8 if level > 3 else 1e-14 * (1 + np.mean(np.abs(z) ** k)))
    again = np.concatenate(list(made()))  # a source like any other
    assert np.array_equal(z, again)
    if level < 4:
        assert lazy.decoupled_moments(made, 4)[3] == pytest.approx(float(stats.orthokurtosis(sample)), rel=1e-12)


def test_sources_of_all_kinds_are_one_vector(tmp_path: Path) -> None:
    sample = LAWS["exponential"].reshape(100, 200)
    np.save(tmp_path / "sample.npy", sample)
    mapped = np.load(tmp_path / "sample.npy", mmap_mode="r")
    expected = lazy.decoupled_moments([sample], 4)
    for source in (sample, sample.T, mapped, _InFile(sample), list(sample), [*sample, np.empty(0)],
                   lambda: (row for row in mapped)):
        assert lazy.decoupled_moments(source, 4) == pytest.approx(expected, rel=1e-14)
    (z,) = lazy.normalize(sample, 2)()
    assert z.shape == (20_000,) and z.mean() == pytest.approx(0, abs=1e-14)


@pytest.mark.parametrize("kind", [np.float32, np.int16, np.uint64])
def test_types_of_chunks(kind: Any) -> None:
    sample = (RNG.gamma(3, 40, size=5000)).astype(kind)
    chunks = np.array_split(sample + (kind(2**63) if kind is np.uint64 else kind(0)), 4)
    wide = sample.astype(np.float64)
    assert lazy.decoupled_moments(chunks, 4)[1:] == pytest.approx(stats.decoupled_moments(wide, 4)[1:], rel=1e-12)
    made = list(lazy.normalize(chunks, 3)())
    assert made[0].dtype == (np.float32 if kind is np.float32 else np.float64)
    assert np.concatenate(made).astype(np.float64).std() == pytest.approx(1, rel=1e-6)


CHUNKS_REFUSED: list[tuple[Any, int, str]] = [
    ([], 4, "no samples"),
    ([[3.0]], 4, "one sample"),
    ([[3.0, 3.0], [3.0]], 4, "zero variance"),
    ([[1.0, np.inf], [3.0]], 2, "infinite value"),
    ([[0, 0], [0, 1, 2]], 4, "no zero-skew point"),
    ([[0, 0], [1, 2]], 4, "limit only"),
    ([[0, 0, 0], [1, 1]], 4, "two-valued"),
    ([[1, 2], [3]], 5, "too few distinct values"),
]


@pytest.mark.parametrize(("chunks", "order", "reason"), CHUNKS_REFUSED)
def test_refusals_are_those_of_the_sample_in_memory(chunks: Any, order: int, reason: str) -> None:
    values, outcomes = lazy.decoupled_moments(chunks, order, on_refusal="return")
    expected, said = stats.decoupled_moments([v for c in chunks for v in c], order, on_refusal="return")
    assert outcomes[0].reason == said[0].reason == reason
    np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-14)
    with pytest.raises(Refused, match=reason):
        lazy.decoupled_moments(chunks, order, on_refusal="raise")
    with pytest.warns(RefusalWarning, match=reason) as told:
        made = lazy.normalize(chunks, order - 1)
    assert told[0].filename == __file__
    assert all(np.isnan(chunk).all() for chunk in made())


def test_two_values_in_equal_numbers_are_balanced() -> None:
    assert lazy.decoupled_moments([[3, 4], [4, 3]], 4).tolist() == [3.5, 0.25, 0, 1]
    assert [chunk.tolist() for chunk in lazy.normalize([[3, 4], [4, 3]])()] == [[-1, 1], [1, -1]]
    with pytest.warns(RefusalWarning, match="two-valued"):
        lazy.normalize([[3, 4], [4, 3]], 4)


def test_missing_values() -> None:
    chunks = [np.array([1.0, 2, np.nan]), np.array([np.nan]), np.array([5.0, 8, 13])]
    assert np.isnan(lazy.decoupled_moments(chunks, 4)).all()
    found = lazy.decoupled_moments(chunks, 4, nan_policy="omit")
    assert found == pytest.approx(stats.decoupled_moments([1.0, 2, 5, 8, 13], 4), rel=1e-13)
    z = np.concatenate(list(lazy.normalize(chunks, 3, nan_policy="omit")()))
    assert np.isnan(z).tolist() == [False, False, True, True, False, False, False]
    assert [np.nanmean(z**k) for k in (1, 2, 3)] == pytest.approx([0, 1, 0], abs=1e-14)
    with pytest.raises(InvalidInput, match="nan_policy='raise'"):
        lazy.decoupled_moments(chunks, 4, nan_policy="raise")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (iter([np.zeros(3)]), "gives its chunks once"),
        ("abc", "str was given"),
        (None, "NoneType was given"),
        (3.0, "float was given"),
        (np.float64(3), "one number was given"),
        (lambda: 3, "returned int"),
        (len, "without arguments"),
        ([np.array(["2020"], dtype="M8")], "dates"),
        ([[True, False]], "booleans"),
    ],
)
def test_what_is_no_source(source: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        lazy.decoupled_moments(source, 4)


def test_chunks_that_change_between_passes_are_noticed() -> None:
    spent, first = iter(np.array_split(LAWS["normal"], 3)), [True]
    with pytest.raises(InvalidInput, match="the first pass saw 20000 numbers and the second 0"):
        lazy.decoupled_moments(lambda: spent, 4)

    again = iter([np.arange(5.0)])
    with pytest.raises(InvalidInput, match="the first pass saw 5 numbers and this one 0"):
        list(lazy.normalize(lambda: again, 2)())

    def other() -> Iterator[NDArray[Any]]:
        sample = LAWS["normal"] if first.pop() else LAWS["normal"] * 2
        first.append(False)
        return iter([sample])

    with pytest.raises(InvalidInput, match="the same each time"):
        lazy.decoupled_moments(other, 4)


@pytest.mark.parametrize(
    ("options", "said"),
    [({"level": 0}, "level=0"), ({"level": True}, "level=True"), ({"level": 12}, "level=12"),
     ({"reference": [0.0, 1.0]}, "reference moments were given"), ({"on_refusal": "ignore"}, "on_refusal='ignore'")],
)
def test_options_are_looked_at_before_a_pass(options: dict[str, Any], said: str) -> None:
    source, asked = counted([np.zeros(3)])
    with pytest.raises(InvalidInput, match=said):
        lazy.normalize(source, **options)
    assert not asked


def test_a_reference_of_ones_own() -> None:
    made = lazy.normalize(np.array_split(LAWS["exponential"], 3), 3, reference=[10.0, 104.0, 1120.0 + 8 * 0.5])
    z = np.concatenate(list(made()))
    assert [np.mean(z), np.var(z), float(stats.skewness(z))] == pytest.approx([10, 4, 0.5], rel=1e-12)


def test_gauss_nodes_of_few_places_are_these_places() -> None:
    """Sums of Chebyshev polynomials of 3 places, and of 50 000 equally spread ones: Legendre's nodes."""
    spread = np.linspace(-1, 1, 50_001)
    places = [np.array([-0.5, 0.25, 0.9]), spread]
    sums = np.stack([np.polynomial.chebyshev.chebvander(p, 11).sum(axis=0) for p in places], axis=1)
    nodes, weights = gauss_nodes(sums)
    assert nodes[0][weights[0] > 0] == pytest.approx(places[0], abs=1e-12)
    assert weights[0][weights[0] > 0] == pytest.approx([1, 1, 1], rel=1e-11)
    exact = np.polynomial.legendre.leggauss(6)
    assert nodes[1] == pytest.approx(exact[0], abs=1e-4) and weights[1] == pytest.approx(exact[1] * 25_000, rel=1e-3)


def test_a_measure_is_that_of_its_vector_in_any_order() -> None:
    """Functions with a pole near an end, against sums over all entries."""
    sample = LAWS["lognormal, sigma 3"]
    state = lazy.moments([sample])
    one, parts = Measure.begun(state), [Measure.begun(state) for _ in range(3)]
    assert one is not None
    one.update(sample)
    merged = None
    for measure, chunk in zip(parts, np.array_split(sample[::-1], 3), strict=True):
        assert measure is not None
        measure.update(chunk)
        merged = measure if merged is None else merged
        if merged is not measure:
            merged.merge(measure)
    assert merged is not None
    unit, g = 2.0**one.frame.exponent, sample - sample.min()
    for measure in (one, merged):
        matrix = measure.matrix()
        assert matrix.weights is not None and matrix.values.size < 2000
        share = matrix.weights[0] / matrix.weights[0].sum()
        for pole in (1e-3, 1.0, 1e3):
            expected = np.mean((g / (g + pole)) ** 4)
            u = matrix.values[0] / (matrix.values[0] + pole / unit)
            assert share @ u**4 == pytest.approx(expected, rel=1e-13)


def test_memory_is_flat() -> None:
    """Chunks of 100 000 numbers, which are made one after the other: a few of them, however many there are."""

    def source(count: int) -> Callable[[], Iterator[NDArray[Any]]]:
        return lambda: (np.random.default_rng(i).normal(size=100_000) for i in range(count))

    lazy.decoupled_moments(source(1), 6)
    assert peak(lambda: lazy.decoupled_moments(source(10), 4)) < 2**24
    assert peak(lambda: [len(z) for z in lazy.normalize(source(10), 3)()]) < 2**24


@pytest.mark.slow
def test_ten_million_numbers_stream() -> None:
    """Exponential numbers: moments of the law within six standard errors, of the normalized vector within 1e-12."""

    def source() -> Iterator[NDArray[Any]]:
        return (np.random.default_rng(i).exponential(size=10**6) for i in range(10))

    found = lazy.decoupled_moments(source, 4)
    law = [1, 1, 2, 1.985]
    assert (np.abs(found - law) < 6 * np.sqrt(np.array([1, 8, 60, 60]) / 1e7)).all()
    sums = sum(np.array([np.mean(z), np.mean(z**2), np.mean(z**3), np.mean(z**4)]) for z in lazy.normalize(source, 3)())
    assert sums / 10 == pytest.approx([0, 1, 0, found[3]], abs=1e-12)
    assert peak(lambda: lazy.decoupled_moments(source, 4)) < 2**25


@pytest.mark.parametrize("others", [[1.0, 2, 5, 3, 1.5, 7], RNG.gamma(2, size=400)], ids=["few", "many"])
@pytest.mark.parametrize("size", [1e15, 1e19, 1e20, 1e30, -1e50, 1e300])
def test_what_lies_nearer_to_an_end_than_chunks_tell_is_refused(others: Any, size: float) -> None:
    """Or right: never the kurtosis of a few clusters."""
    row = np.append(others, size)
    expected = stats.decoupled_moments(row, 6, on_refusal="return")[0]
    for order in (4, 6):
        found, (outcome,) = lazy.decoupled_moments([row], order=order, on_refusal="return")
        assert found[2] == pytest.approx(expected[2], rel=1e-13)
        if abs(size) < 1e16:
            assert outcome.ok and found[3:] == pytest.approx(expected[3:order], rel=1e-9)
        else:
            assert outcome.reason == "beyond float64" and np.isnan(found[3:]).all()
    with pytest.raises(Refused, match="beyond float64") if abs(size) > 1e16 else nullcontext():
        lazy.normalize([row], level=3, on_refusal="raise")


@pytest.mark.parametrize("kind", [int, Fraction, np.longdouble])
@pytest.mark.parametrize("base", [0, 2**60, 10**400], ids=["near", "far", "beyond"])
def test_exact_numbers_come_to_their_levels(base: int, kind: Any) -> None:
    """Far from zero too: entries are not rounded before the mean is taken off."""
    if kind is np.longdouble and base == 10**400:
        base = 2**63 - 2**10
    steps = (1, 3, 4, 9, 10, 14, 15, 19, 22)
    for level in (1, 2, 3, 4):
        at, = lazy.normalize([[kind(base + k) for k in steps]], level=level)()
        expected, = lazy.normalize([np.array(steps, dtype=np.float64)], level=level)()
        assert at == pytest.approx(expected, rel=1e-12, abs=1e-12)
    if base == 0:
        assert at == pytest.approx(decouple(raw_moments(5)).normalize(steps, level=4), rel=1e-10)
