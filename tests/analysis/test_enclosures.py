"""Proved enclosures: they hold 60 digits of another computation, exact values, and no wrong digit."""

import random
import time
from decimal import Decimal
from fractions import Fraction
from importlib.util import find_spec

import mpmath as mp
import numpy as np
import pytest
import sympy as sp
from scipy import stats as st

import symdecouple as sd
from symdecouple import InvalidInput, NoClosedForm, Refused, UnsupportedExpression
from symdecouple.analysis import Enclosure, enclose

PLAN = sd.decouple(sd.families.standardized_moments(4))
RAW = sd.decouple(sd.families.raw_moments(4))
BACKENDS = ["iv", *(["arb"] if find_spec("flint") else [])]


def heavy(count: int, seed: int) -> list[float]:
    rng = random.Random(seed)
    return [rng.gauss(0, 1) ** 3 for _ in range(count)]


SAMPLES = [[1, 2, 3, 5, 8, 13], [0, 0, 1, 3, 5], heavy(64, 1), [1e8 + v for v in (0, 1, 3, 7)],
           [1e-200, 2e-200, 4e-200, 9e-200], [Fraction(1, 3), Fraction(1, 7), 2, 9], [-5, 1, 1, 1.5, 100],
           [Decimal("0.1"), Decimal("0.2"), Decimal("0.35"), 3], [0, 1, 2, 3, 4, 1000000]]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("x", SAMPLES)
def test_sixty_digits_of_another_computation_are_inside(x: list[object], backend: str) -> None:
    """The root of the third central moment, by mpmath's bisection in 70 digits."""
    found = enclose(PLAN, x, dps=30, backend=backend)
    assert found.rigorous
    with mp.workdps(70):
        exact = [mp.mpf(f.numerator) / f.denominator for f in (Fraction(v) for v in x)]
        mean = mp.fsum(exact) / len(exact)
        y = [v - mean for v in exact]
        low, high = 1 / min(y), 1 / max(y)

        def shape(t: mp.mpf) -> tuple[mp.mpf, mp.mpf]:
            z = [v / (1 - t * v) for v in y]
            m = mp.fsum(z) / len(z)
            two, three, four = (mp.fsum((v - m) ** k for v in z) / len(z) for k in (2, 3, 4))
            return three / two**mp.mpf(1.5), four / two**2

        a, b = low, high
        for _ in range(225):
            middle = (a + b) / 2
            a, b = (a, middle) if shape(middle)[0] > 0 else (middle, b)
        root, value = a, shape(a)[1]
        assert found.contains(value)
        assert found.parts["root"].contains(root)
        for planted in (mp.mpf(10) ** -28, -mp.mpf(10) ** -28):
            assert not found.contains(value * (1 + planted))
            assert not found.parts["root"].contains(root + planted * (high - low))
    assert found.width < 1e-30 * float(value)


@pytest.mark.parametrize("backend", BACKENDS)
def test_exact_values_are_inside(backend: str) -> None:
    assert enclose(PLAN, [1, 2, 40], backend=backend).contains(Fraction(3, 2))  # of every three values
    assert enclose(PLAN, [-2, -1, 0, 1, 2], backend=backend).contains(sp.Rational(17, 10))
    assert enclose(PLAN, [0, 1, 1, 0], backend=backend).interval == (1, 1)  # two values that are not skewed
    assert not enclose(PLAN, [1, 2, 40], backend=backend).contains(Fraction(3, 2) + Fraction(1, 10**30))
    parts = enclose(RAW, [1, 2, 3, 5, 8, 13], backend=backend).parts
    assert parts["feature 1"].contains(Fraction(16, 3))
    assert parts["feature 2"].contains(Fraction(152, 9))


def test_a_wrong_digit_is_caught() -> None:
    """A value in float64, in text, and with a digit changed at every place."""
    found = enclose(PLAN, SAMPLES[2], dps=40)
    text = mp.nstr(PLAN.transform([SAMPLES[2]], dps=35)[0, 3], 32)
    assert found.contains(text)
    assert found.contains(float(text))
    for place, digit in enumerate(text[:30]):
        if digit.isdigit():
            wrong = text[:place] + str((int(digit) + 2) % 10) + text[place + 1 :]
            assert not found.contains(wrong), wrong
    assert not found.contains(float(text) * (1 + 1e-14))


def test_against_the_statistics_in_float64() -> None:
    for x in SAMPLES[:5]:
        low, high = enclose(PLAN, x).interval
        known = float(sd.stats.orthokurtosis(np.array(x, dtype=float)))
        assert known == pytest.approx(float((low + high) / 2), rel=1e-12)


def test_independence_and_orthogonality_at_a_point() -> None:
    """The Gram determinant of 1, z, z^2, z^3 is a product of squared differences: Vandermonde for four values."""
    x = [0, 1, 3, 7]
    parts = enclose(PLAN, x).parts
    mean = Fraction(sum(x), 4)
    variance = sum((v - mean) ** 2 for v in x) / 4
    differences = 1
    for i in range(4):
        for j in range(i):
            differences *= (x[i] - x[j]) ** 2
    assert parts["gram"].interval[0] == Fraction(differences, 4**4) / variance**6
    assert not parts["gram"].contains(0)
    assert "independent" in parts["gram"].reason
    cosines = {name: part for name, part in parts.items() if name.startswith("cosine")}
    assert sorted(cosines) == ["cosine 2 1", "cosine 3 1", "cosine 3 2", "cosine 4 1", "cosine 4 2", "cosine 4 3"]
    assert all(part.rigorous and part.contains(0) and part.width < 1e-30 for part in cosines.values())


def test_critical_points_have_no_fourth_gradient() -> None:
    """Three values: the orthokurtosis is 3/2 everywhere."""
    parts = enclose(PLAN, [1, 2, 40]).parts
    assert parts["gram"].contains(0)
    assert "dependent" in parts["gram"].reason
    assert "cosine 4 1" not in parts


def test_lower_orders_and_other_references() -> None:
    assert enclose(sd.decouple(sd.families.raw_moments(3)), [1, 2, 3, 5, 8, 13]).contains("0.812707974941")
    assert enclose(sd.decouple(sd.families.raw_moments(2)), [1, 2, 4]).contains(Fraction(14, 9))
    plan = sd.decouple(sd.families.standardized_moments(4), reference=[0, 1, sp.Rational(1, 2)])
    x = [1, 2, 3, 5, 8, 13]
    assert enclose(plan, x, dps=20).contains(plan.transform(x, dps=40)[3])


@pytest.mark.parametrize(
    ("x", "said"),
    [([0, 0, 0, 1, 2], "minimum"), ([0, 0, 1, 2], "limit only"), ([0, 0, 1], "two-valued"),
     ([3, 3, 3], "zero variance")],
)
def test_ties_decide(x: list[int], said: str) -> None:
    with pytest.raises(Refused, match=said):
        enclose(PLAN, x)


def test_bad_input_is_told() -> None:
    for x in (3, [1], [1, float("nan"), 2], [1, float("inf"), 2], [sp.sqrt(2), 1, 3], ["1", "2", "4"], {1: 2, 3: 4}):
        with pytest.raises(InvalidInput):
            enclose(PLAN, x)
    with pytest.raises(InvalidInput, match="dps"):
        enclose(PLAN, [1, 2, 4], dps=0)
    with pytest.raises(InvalidInput, match="backend"):
        enclose(PLAN, [1, 2, 4], backend="floats")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="at most 60"):
        enclose(sd.decouple(sd.families.raw_moments(5)), [1, 2, 4, 8, 9, 11, 30], dps=61)
    with pytest.raises(NoClosedForm, match="moments"):
        enclose(sd.decouple([sd.Mean(sd.x), sd.Mean(sp.exp(sd.x))]), [1, 2, 4])
    with pytest.raises(UnsupportedExpression, match="square roots"):
        enclose(sd.decouple([sd.Mean(sd.x), sp.log(sd.Mean(sd.x**2) - sd.Mean(sd.x) ** 2)]), [1, 2, 4])
    with pytest.raises(InvalidInput, match="finite"):
        enclose(PLAN, [1, 2, 4]).contains(float("nan"))


def test_arb_is_optional() -> None:
    if "arb" in BACKENDS:
        pytest.skip("python-flint is there")
    with pytest.raises(ImportError, match="python-flint"):
        enclose(PLAN, [1, 2, 4], backend="arb")


def test_what_is_not_proved_is_not_called_rigorous() -> None:
    """A root that is off, and a box that is too wide or too narrow, are not proved."""
    from symdecouple.analysis.enclosure.numbers import numbers_of
    from symdecouple.analysis.enclosure.root import approximate_root, is_proved

    numbers = numbers_of("iv", 120)
    zero = numbers.number(Fraction(0))
    centred = [Fraction(v) - Fraction(16, 3) for v in (1, 2, 3, 5, 8, 13)]
    root, room = approximate_root(centred, Fraction(0), 120, 0)
    small = Fraction(1, 2**90)
    assert small < room == min(root + Fraction(3, 13), Fraction(3, 23) - root)
    assert is_proved(numbers, centred, zero, root, small)
    assert not is_proved(numbers, centred, zero, root + 3 * small, small)
    assert not is_proved(numbers, centred, zero, root, Fraction(1, 2**119))
    assert not is_proved(numbers, centred, zero, root, Fraction(1, 4))
    assert not Enclosure((0, 1), False, "").rigorous


@pytest.mark.parametrize("value", ["abc", "", "nan", "1e999999999", None, 1j, [1], b"1.7", True, sp.I, sp.Symbol("q"),
                                   sp.oo, sp.nan, mp.mpf("nan"), Decimal("sNaN")])
def test_what_is_no_number_is_told(value: object) -> None:
    with pytest.raises(InvalidInput, match="finite real number"):
        Enclosure((Fraction(3333, 10000), Fraction(3334, 10000)), True, "").contains(value)


def test_a_root_next_to_a_pole_and_a_target_next_to_the_end() -> None:
    """Three values have one orthokurtosis for their shares, wherever they are: 17/12 for 3, 3 and 1 of 7."""
    for gap in (1, Fraction(1, 10**14), Fraction(1, 10**100)):
        found = enclose(PLAN, [0, 0, 0, 1, 1, 1, 1 + gap])
        assert found.rigorous and found.contains(Fraction(17, 12)) and found.width < 1e-29
    near = Fraction(3, 2) - Fraction(1, 10**30)
    plan = sd.decouple(sd.families.standardized_moments(4), reference=[0, 1, near])
    found = enclose(plan, [1, 2, 3, 5, 9])
    assert found.rigorous and found.interval[0] > 1 + near**2  # kurtosis > 1 + skewness^2, equal at the end only
    assert found.interval[1] < 1 + near**2 + Fraction(1, 10**29)
    for beyond in (Fraction(3, 2) + Fraction(1, 10**30), 10**400):
        with pytest.raises(Refused):
            enclose(sd.decouple(sd.families.standardized_moments(4), reference=[0, 1, beyond]), [1, 2, 3, 5, 9])


PATHS = [1, 2, 3, 5, 8, 13, 21, 40]
NEAR = [0, 1, 0, Fraction(17, 10), Fraction(1, 20)]  # its orthokurtosis is 1.671


@pytest.mark.slow
def test_the_path_of_order_five_is_enclosed() -> None:
    """The way of the plan in many digits is another one: collocation, with a correction after every step."""
    plan = sd.decouple(sd.families.standardized_moments(5), reference=NEAR[:4])
    found = enclose(plan, PATHS, dps=20)
    assert found.rigorous and 0 < found.width < 1e-22
    with mp.workdps(40):
        assert found.contains(mp.nstr(plan.transform(PATHS, dps=25)[4], 24))
    assert found.contains("-0.01362374913943499434982091590317033814")  # of 50 digits, one time
    assert not found.contains("-0.01362374913943499434982091590317033813")
    assert enclose(PLAN, PATHS).contains(sum(found.parts["feature 4"].interval) / 2)
    assert not found.parts["gram"].contains(0)


@pytest.mark.slow
def test_the_paths_of_order_six_are_enclosed() -> None:
    plan = sd.decouple(sd.families.standardized_moments(6), reference=NEAR)
    found = enclose(plan, PATHS, dps=15)
    assert found.rigorous
    assert found.contains(mp.nstr(plan.transform(PATHS, dps=25)[5], 20))


def test_a_short_path_by_exact_differences() -> None:
    """Along the path m_5' = 5 <pi, y^4>/(4 <pi, pi>) at its start; the remainder is of second order."""
    from symdecouple.analysis.enclosure.climb import cloud_of, imposed, moment

    y = [Fraction(v) for v in (-3, -1, -1, 0, 2, 3)]  # of sum 0; a unit is no matter
    cloud = cloud_of([(v, v) for v in y], 160)
    mean = [sum(v**k for v in y) / 6 for k in range(8)]
    rows = sp.Matrix(3, 3, lambda i, j: sp.Rational(mean[i + j].numerator, mean[i + j].denominator))
    right = sp.Matrix([sp.Rational(mean[i + 3].numerator, mean[i + 3].denominator) for i in range(3)])
    a = [Fraction(int(v.p), int(v.q)) for v in rows.LUsolve(right)]
    pi = [v**3 - a[2] * v**2 - a[1] * v - a[0] for v in y]
    slope = 5 * sum(p * v**4 for p, v in zip(pi, y, strict=True)) / (4 * sum(p * p for p in pi))
    rests = []
    for step in (Fraction(1, 1000), Fraction(1, 2000)):
        moved = imposed(cloud, 4, (mean[4] + step, mean[4] + step))
        assert moved is not None
        for k in (1, 2, 3, 4):
            low, high = moment(moved, k)
            assert low <= mean[k] + step * (k == 4) <= high < low + Fraction(1, 10**30)
        rests.append(float(moment(moved, 5)[0] - mean[5] - slope * step))
    assert rests[0] / rests[1] == pytest.approx(4, rel=1e-2)


def test_paths_that_do_not_reach_are_refused() -> None:
    with pytest.raises(Refused):
        enclose(sd.decouple(sd.families.standardized_moments(5)), [1, 2, 3, 5, 8])


def test_two_values_at_the_wanted_skewness() -> None:
    plan = sd.decouple(sd.families.standardized_moments(4), reference=[0, 1, sp.Rational(3, 2)])
    assert enclose(plan, [0, 0, 0, 0, 1]).contains(Fraction(13, 4))
    with pytest.raises(Refused, match="two values"):
        enclose(plan, [0, 1, 1, 1, 1])


@pytest.mark.parametrize("reference", [[0.1, 1.3, 0.3], [0, 2, 1]])
def test_raw_references_give_roots_of_fractions(reference: list[float]) -> None:
    plan = sd.decouple(sd.families.raw_moments(4), reference=reference)
    found = enclose(plan, [1, 2, 3, 5, 8, 13], dps=25)
    assert found.rigorous and found.contains(plan.transform([1, 2, 3, 5, 8, 13], dps=40)[3])


def test_independence_is_not_claimed_where_a_feature_has_no_slope() -> None:
    """The gradient of m E x^3 at mean 0 is E x^3 times that of the mean."""
    plan = sd.decouple([sd.Mean(sd.x), sd.Mean(sd.x**2), sd.Mean(sd.x) * sd.Mean(sd.x**3)])
    parts = enclose(plan, [-3, -1, 0, 2, 2]).parts
    assert "not decided" in parts["gram"].reason
    assert "cosine 3 1" not in parts
    assert "are independent" in enclose(RAW, [-3, -1, 0, 2, 2]).parts["gram"].reason


def test_ends_are_written_outward() -> None:
    for x in (SAMPLES[0], SAMPLES[3], SAMPLES[4]):
        for part in enclose(PLAN, x, dps=17).parts.values():
            low, high = (Fraction(v) for v in str(part).split("]")[0][1:].split(", "))
            assert low <= part.interval[0] and part.interval[1] <= high
            assert len(repr(part)) < 300
    assert Enclosure((Fraction(0), Fraction(10) ** 400), True, "").width == float("inf")


@pytest.mark.parametrize("backend", BACKENDS)
def test_precisions_of_others_stay(backend: str) -> None:
    before = mp.mp.prec, mp.iv.prec, __import__("flint").ctx.prec if "arb" in BACKENDS else 0
    enclose(PLAN, [1, 2, 3, 5, 8, 13], dps=50, backend=backend)
    with pytest.raises(Refused):
        enclose(PLAN, [0, 0, 1], backend=backend)
    assert before == (mp.mp.prec, mp.iv.prec, __import__("flint").ctx.prec if "arb" in BACKENDS else 0)


def test_values_as_they_are_written() -> None:
    third = Enclosure((Fraction(3333, 10000), Fraction(3334, 10000)), True, "")
    assert [third.contains(v) for v in ("0.3", "0.33", "0.335", Decimal("0.3333"), 1 / 3, Fraction(1, 3), 0.3332)] == [
        True, True, False, True, True, True, False]
    assert third.contains(sp.sqrt(sp.Rational(1, 9)))
    assert not third.contains(sp.sqrt(2) / 3)
    assert third.contains("1/3") and third.contains(np.float32(1) / 3)
    tiny = Enclosure((Fraction(1, 10**395), Fraction(1, 10**394)), True, "")
    assert not tiny.contains(sp.sqrt(2) / sp.Integer(10) ** 400)
    assert tiny.contains(2 * sp.sqrt(2) / sp.Integer(10) ** 395)
    one = Enclosure((Fraction(1), Fraction(1)), True, "")
    assert not one.contains(1 + sp.Float(10, 120) ** -100)
    assert one.contains(sp.Float(1, 120))


@pytest.mark.parametrize("backend", BACKENDS)
def test_sixty_four_values_take_less_than_a_second(backend: str) -> None:
    """In CPU time: .06 s by intervals."""
    start = time.process_time()
    enclose(PLAN, heavy(64, 2), backend=backend)
    assert time.process_time() - start < 1


def test_references_in_floats_are_the_binary_fractions_that_they_are() -> None:
    """The value of the plan in 40 digits is inside, for what the law has in float64 and no number near it."""
    plan = sd.decouple(sd.families.standardized_moments(4), st.skewnorm(2))
    found = enclose(plan, [1, 2, 3, 5, 8, 13], dps=25)
    assert found.rigorous and found.contains(plan.transform([1, 2, 3, 5, 8, 13], dps=40)[3])
