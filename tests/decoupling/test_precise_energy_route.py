"""Plans of second-order features in many digits: by the convex problem, as along the narrow path and in float64."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from sympy import Rational

from symdecouple import FeatureSet, Filter, FilterBank, InvalidInput, Mean, decouple, x
from symdecouple.decoupling.routes import narrow as narrow_route
from symdecouple.families.quadratic import autocorrelation, second_order_moments
from symdecouple.numeric.precision.energies import PreciseEnergies
from symdecouple.numeric.samples.vectors import rounding

BANK = second_order_moments(FilterBank([[1, 1, 1], [Rational(-1, 2), 0, Rational(1, 2)]]))
ROWS = [[0.75, -0.25, 1, 0.5, -1.25, 2, 0.5, -1.5], [0.5, 1.5, 0.25, -2, 0.5, 2, 0.25, -1.75]]


@pytest.mark.parametrize("features", [
    FeatureSet([Mean(x), *BANK]), autocorrelation([0, 1, 2]), FeatureSet([*BANK, Mean(x**2) + 3]),
], ids=["mean first", "autocorrelation", "constant"])
def test_float64_agrees_and_no_path_is_followed(features: FeatureSet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(narrow_route, "follow_mp", None)
    plan, rows = decouple(features, "white"), np.array(ROWS, dtype=float)
    for kind in ("transform", "normalize", "gradients"):
        precise, floats = getattr(plan, kind)(ROWS, dps=25), getattr(plan, kind)(rows)
        assert precise.astype(float) == pytest.approx(floats, rel=1e-11, abs=1e-12)
        assert all(r < mpmath.mpf(10) ** -24 for r in precise.residual)


FAR = [60, -20, 40, -80, 20, 10, -50, 70], [300, -100, 200, -400, 100, 50, -250, 350]


@pytest.mark.parametrize(("sample", "dps", "is_there"), [
    (FAR[0], 16, False), (FAR[0], 20, True), (FAR[0], 30, True), (FAR[0], 40, True), (FAR[1], 16, False),
    (FAR[1], 20, False), (FAR[1], 30, True), (FAR[1], 100, True),
])
def test_what_is_there_again_is_right_or_refused(sample: list[int], dps: int, is_there: bool) -> None:
    """Amplitudes of the normalized sample span some 20 digits: what the rounding of it becomes is said."""
    plan = decouple(second_order_moments(FilterBank([[1, 1, 1], [-1, 0, 1], [-1, 2, -1]])))
    normal, values = plan.normalize(sample, dps=dps), plan.transform(sample, dps=dps)
    back, (outcome,) = plan.denormalize(normal, values, dps=dps, on_refusal="return")
    assert outcome.ok == is_there
    if is_there:
        with mpmath.workdps(dps + 10):
            apart = max(abs(a - b) for a, b in zip(back, sample, strict=True)) / mpmath.mpf(float(np.std(sample)))
            assert mpmath.mpf(10) ** -dps < apart < back.error < 1e-6
    else:
        assert outcome.reason == "below rounding" and all(mpmath.isnan(v) for v in back)


def test_the_bad_row_alone_is_refused() -> None:
    plan = decouple(FeatureSet([*BANK, Mean(x**2)]), reference="white")
    rows = [[1] * 8, ROWS[0]]
    values, outcomes = plan.transform(rows, dps=20, on_refusal="return")
    assert [o.reason for o in outcomes] == [o.reason for o in plan.transform(
        np.array(rows, dtype=float), on_refusal="return")[1]]
    assert not outcomes[0].ok and mpmath.isnan(values[0, 2]) and outcomes[1].ok
    gradients, _ = plan.gradients(rows, dps=20, on_refusal="return")
    assert all(mpmath.isnan(v) for v in gradients[0, 2]) and all(mpmath.isfinite(v) for v in gradients[1].flat)


def response(*grid: int, seed: int) -> np.ndarray:
    """Of a real filter; as the transform leaves it, the two halves agree up to rounding only."""
    return np.fft.fftn(np.random.default_rng(seed).normal(size=grid))


@pytest.mark.parametrize("grid", [(8,), (2, 4)], ids=str)
def test_the_numbers_of_a_response_are_exact(grid: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """The narrow path filters in the signal domain; beside it the convex problem follows no path."""
    g, h = (Filter.from_response(response(*grid, seed=k), name) for k, name in enumerate("gh"))
    features = FeatureSet([Mean(x), Mean(h(x) ** 2), Mean(h(g.adjoint(x)) * x)])
    row = np.array(ROWS[0]).reshape(grid)
    auto, narrow = (decouple(features, [0, 9, 1], path=path) for path in ("auto", "narrow"))
    expected = narrow.transform(row, dps=20)
    monkeypatch.setattr(narrow_route, "follow_mp", None)
    found = auto.transform(row, dps=20)
    with mpmath.workdps(25):
        apart = max(abs(a - b) for a, b in zip(found, expected, strict=True))
        assert apart < mpmath.mpf(10) ** -18 * max(map(abs, found))
    gradients = np.array(auto.gradients(row, dps=20), dtype=float)
    assert gradients == pytest.approx(auto.gradients(row), rel=1e-10, abs=1e-11)


def test_a_response_of_another_size() -> None:
    plan = decouple(second_order_moments(FilterBank([Filter.from_response([1, 0.5, 0, 0.5])])), [1])
    with pytest.raises(InvalidInput, match="given by 4 frequencies, the samples have size 8"):
        plan.normalize(ROWS[0], 1, dps=20)


def test_what_the_rounding_of_given_numbers_is() -> None:
    """Fractions have none where digits are asked for; mpmath numbers have that of their array, or of the call."""
    thirds = decouple(BANK, reference="white").normalize(ROWS[0], dps=25)
    for given, dps, expected in [([1, 2], 30, 0), ([Rational(1, 3)], 30, 0), ([0.5], 30, 2.0**-52), (thirds, 30, 1e-25),
                                 (list(thirds), 30, 1e-30), (thirds, None, 2.0**-52), ([1, 2], None, 2.0**-52),
                                 (np.float32([1]), 30, 2.0**-23)]:
        assert rounding(given, dps) == pytest.approx(expected, rel=1e-12)


@pytest.mark.filterwarnings("ignore::symdecouple.errors.RefusalWarning")
@pytest.mark.parametrize("digits", [20, 60])
@pytest.mark.parametrize("sample", [[300, -100, 200, -400, 100, 50, -250, 350], [1.0, 3, 8, 20, 55, 148, 403, 1097],
                                    [1e-9, 2e-9, -3e-9, 5e-10, 0, -1e-9, 4e-9, 2e-9]], ids=["far", "steep", "small"])
def test_a_result_has_the_digits_that_are_asked_for_or_tells_that_it_has_not(sample: list[float], digits: int) -> None:
    """Beside the same with thirty digits more: there all of them; on the way back what is lost is told, or refused."""
    plan = decouple(FeatureSet([Mean(x), *BANK]))
    for answer in (plan.transform, plan.normalize):
        found, more = answer(sample, dps=digits), answer(sample, dps=digits + 30)
        with mpmath.workdps(digits + 30):
            unit = mpmath.mpf(10) ** (2 - digits)
            size = max(map(abs, more)) if answer == plan.normalize else 0
            assert all(abs(a - b) <= unit * max(size, abs(b)) for a, b in zip(found, more, strict=True))
            assert found.error < unit
    normal, values = (answer(sample, dps=200) for answer in (plan.normalize, plan.transform))
    found, (outcome,) = plan.denormalize(normal, values, dps=digits, on_refusal="return")
    assert outcome.ok or (digits == 20 and outcome.reason == "below rounding")
    with mpmath.workdps(200):
        apart = max(abs(a - mpmath.mpf(b)) for a, b in zip(found, sample, strict=True))
        assert not outcome.ok or apart <= max(found.error, mpmath.mpf(10) ** (2 - digits)) * max(map(abs, sample))


@pytest.mark.parametrize("dps", [15, 30, 60])
@pytest.mark.parametrize("exponent", [-150, -50, 0, 20, 50, 100, 150])
def test_energies_beside_power_that_none_of_them_sees(exponent: int, dps: int) -> None:
    """No energy sees the mean, which stays 10^exponent beside amplitudes of 1; float64 takes it out before."""
    row = np.random.default_rng(5).normal(size=9) * 10.0**exponent
    plan = decouple(second_order_moments([[-1, 0, 1], [-1, 2, -1]]))
    values, (outcome,) = plan.transform(row, dps=dps, on_refusal="return")
    expected = plan.transform(row)
    assert outcome.ok and values.error < 10.0 ** (2 - dps)
    np.testing.assert_allclose([float(v) for v in values], expected, rtol=1e-11)
    more = plan.transform(row, dps=dps + 300)
    assert all(abs(a - b) <= 10 ** mpmath.mpf(1 - dps) * abs(b) for a, b in zip(values, more, strict=True))


def _second_energy(row: Sequence[Any], target: Any) -> Any:
    """Of taps [-1, 0, 1], where the power of the spectrum times e^(a w), with a found by bisection, gives that of
    [1, 1, 1] its target."""
    size = len(row)
    with mpmath.workdps(700):
        at = [2 * mpmath.pi * k / size for k in range(size)]
        numbers = [mpmath.mpf(Fraction(v).numerator) / Fraction(v).denominator for v in row]
        spectrum = [mpmath.fsum(v * mpmath.expj(-w * n) for n, v in enumerate(numbers)) for w in at]
        power = [abs(value / size) ** 2 for value in spectrum]
        first, second = [(1 + 2 * mpmath.cos(w)) ** 2 for w in at], [4 * mpmath.sin(w) ** 2 for w in at]
        low, high = mpmath.mpf(-10**7), mpmath.mpf(1000)
        for _ in range(1600):
            a = (low + high) / 2
            is_less = mpmath.fsum(p * mpmath.exp(a * w) * w for p, w in zip(power, first, strict=True)) < target
            low, high = (a, high) if is_less else (low, a)
        return mpmath.fsum(p * mpmath.exp(low * w) * v for p, w, v in zip(power, first, second, strict=True))


@pytest.mark.parametrize("exponent", [-300, -50, 100, 200])
def test_references_far_from_the_sample_take_no_digits(exponent: int) -> None:
    """One of 10^200 lifts power elsewhere by as much; and where the digits of a level are too few, it is refused."""
    row = np.random.default_rng(5).normal(size=9)
    plan = decouple(second_order_moments([[1, 1, 1], [-1, 0, 1]]), reference=[Rational(10) ** exponent, 1])
    wanted = _second_energy(row.tolist(), mpmath.mpf(10) ** exponent)
    assert all(abs(plan.transform(row, dps=dps)[1] / wanted - 1) < 10 ** (1.0 - dps) for dps in (15, 40))
    with mpmath.workdps(30):
        weights = np.array([[4 * mpmath.sin(2 * mpmath.pi * k / 9) ** 2 for k in range(9)]], dtype=object)
        far = PreciseEnergies(weights, (9,)).normalize(row * mpmath.mpf(1), [mpmath.mpf(10) ** -300])
    assert far.outcome.reason == "out of range" and mpmath.isnan(far.values[0])


@pytest.mark.parametrize("exponent", [-300, -150, -100, -20])
def test_an_energy_of_a_small_unit_has_all_its_digits(exponent: int) -> None:
    """The first is set by a factor e^(a w/2) of the spectrum, a by bisection, and lifts power that the second does not
    see by as much as the unit is small."""
    row = [v * Fraction(10) ** exponent for v in (1, 4, -2, 3, 0, -5, 2)]
    plan = decouple([Mean(Filter([1, 1, 1])(x) ** 2), Mean(Filter([-1, 0, 1])(x) ** 2)], [3, 2])
    wanted = _second_energy(row, 3)
    for dps in (15, 40):
        assert abs(plan.transform(row, dps=dps)[1] / wanted - 1) < 10 ** (1.0 - dps)
    (_, value), (outcome,) = plan.transform([float(v) for v in row], on_refusal="return")
    assert outcome.reason == ("out of range" if exponent < -154 else "")
    assert value == pytest.approx(float(wanted), rel=1e-12)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_an_image_that_is_refused_raises_nothing_in_many_digits(value: float) -> None:
    plan = decouple([Mean(Filter(np.outer([1, 1, 1], [-1, 0, 1]).tolist())(x) ** 2)], [3])
    images = np.random.default_rng(0).normal(size=(2, 5, 4)) + 1000
    images[0, 0, 0] = value
    found, outcomes = plan.normalize(images, 1, dps=20, on_refusal="return")
    assert [outcome.ok for outcome in outcomes] == [False, True] and found.shape == (2, 5, 4)
    assert 1e-18 < found.error[1] < 1e-16  # a thousand deviations from zero
