"""Normalizers of proved sets: what they say about themselves holds at samples, in mpmath numbers."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import lru_cache
from typing import Any

import mpmath
import pytest
from scipy.optimize import root
from sympy import I, Integer, Rational, Symbol, cosh, erf, exp, log, oo, simplify, sin, sqrt

from symdecouple.errors import InvalidInput, NoClosedForm
from symdecouple.flows.normalizer import LARGEST, SMALLEST, Normalizer, modified_feature, normalizers
from symdecouple.flows.normalizer_source import recipe_of, source_of_normalizer
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.mean import Mean
from symdecouple.language.sample import coordinates, sample, x
from symdecouple.language.statistics import kurtosis, skewness, variance
from symdecouple.verdict import Status
from tests.flows.sets import SETS, at_sample, made

M, S = Mean(x), sqrt(variance())
EACH = [(name, level) for name, case in SETS.items() for level, _ in case.kinds]


def one(name: str, level: int) -> tuple[Normalizer, list[Any], Any]:
    found = next(n for n in made(name) if n.level == level)
    return found, [mpmath.mpf(p) for p in SETS[name].points], found.features.sample


def ends_of(name: str, level: int) -> tuple[list[Any], Any, Any]:
    """The numbers of N_(k-1)(x), and the bracket of t at them."""
    normalizer, points, symbol = one(name, level)
    before = next((n.formula for n in made(name) if n.level == level - 1), symbol)
    y = [Rational(str(mpmath.nstr(v, 15))) for v in at_sample(before, points, symbol)]
    ends = {s.name: v for s, v in ((SMALLEST, min(y)), (LARGEST, max(y)))}
    low, high = (e.xreplace({s: ends[s.name] for s in e.free_symbols}) for e in normalizer.bracket)
    return y, low, high


def parts_of(normalizer: Normalizer) -> tuple[Any, ...]:
    return normalizer.features, normalizer.values, normalizer.steps, normalizer.flows


def near_times(name: str, level: int) -> list[Any]:
    """Times near the wanted ones: by bisection of the bracket, by standardization, or those that flows come to."""
    normalizer, points, symbol = one(name, level)
    if normalizer.trend:
        _, low, high = ends_of(name, level)
        low, high = (mpmath.mpf(end.evalf(20)) for end in (max(low, Integer(-50)), min(high, Integer(50))))
        for _ in range(40):
            t = (low + high) / 2
            gap = at_sample(normalizer.equations[0], points, symbol, {normalizer.unknowns[0]: t})[0]
            low, high = (t, high) if normalizer.trend * gap < 0 else (low, t)
        return [low]
    if name == "a group of moments":
        mean = mpmath.fsum(points) / len(points)
        return [-mean, -mpmath.log(mpmath.fsum((p - mean) ** 2 for p in points) / len(points)) / 2, 0]
    if normalizer.kind == "parallel":
        def gaps(times: Any) -> list[float]:
            constants = dict(zip(normalizer.unknowns, map(mpmath.mpf, times), strict=True))
            return [float(mpmath.re(at_sample(e, points, symbol, constants)[0])) for e in normalizer.equations]

        return list(root(gaps, [0.0] * len(normalizer.unknowns)).x)
    space: dict[str, Any] = {}
    recipe = replace(recipe_of(*parts_of(normalizer), normalizer.kind, normalizer.trend != 0), leaf=None)
    text = source_of_normalizer(recipe)
    exec(text.replace("    t = root_from_zero(", "    global t\n    t = root_from_zero("), space)
    space["prepared"] = lambda x, *_: x  # neither shifted nor scaled: the times are those of x itself
    space["normalize"]([float(p) for p in points])
    return [space["t"]]


@lru_cache(maxsize=64)
def parameters(name: str, level: int) -> dict[Any, Any]:
    """The unknowns at the sample, by mpmath's root finder on the equations."""
    normalizer, points, symbol = one(name, level)
    if not normalizer.unknowns:
        return {}
    start = near_times(name, level)

    def rest(*times: Any) -> list[Any]:
        constants = dict(zip(normalizer.unknowns, times, strict=True))
        return [at_sample(e, points, symbol, constants)[0] for e in normalizer.equations]

    with mpmath.workdps(40):
        found = mpmath.findroot(rest, [mpmath.mpf(t) for t in start], tol=mpmath.mpf(10) ** -70)
        return dict(zip(normalizer.unknowns, list(found), strict=True))


@pytest.mark.parametrize("name", SETS)
def test_levels_and_kinds(name: str) -> None:
    assert tuple((n.level, n.kind) for n in made(name)) == SETS[name].kinds
    for normalizer in made(name):
        assert len(normalizer.unknowns) == {"explicit": 0, "implicit": 1, "parallel": normalizer.level}[normalizer.kind]
        assert len(normalizer.equations) == len(normalizer.unknowns)
        assert normalizer.verdict.status is Status.PROVED and normalizer.verdict.subject[-1]
        assert normalizer.verdict is normalizer.verdict


@pytest.mark.parametrize(("name", "level"), EACH)
def test_formula_brings_the_features_to_their_values(name: str, level: int) -> None:
    normalizer, points, symbol = one(name, level)
    with mpmath.workdps(30):
        times = parameters(name, level)
        moved = at_sample(normalizer.formula, points, symbol, times)
        for feature, value in zip(normalizer.features, normalizer.values, strict=True):
            reached = at_sample(feature.expr, moved, symbol)[0]
            assert abs(reached - mpmath.mpf(value.p) / value.q) < mpmath.mpf(10) ** -25


@pytest.mark.parametrize(("name", "level"), EACH)
def test_derivative_holds_parameters_and_statistics(name: str, level: int) -> None:
    normalizer, points, symbol = one(name, level)
    with mpmath.workdps(40):
        times = parameters(name, level)
        slopes = at_sample(normalizer.derivative, points, symbol, times)
        h = mpmath.mpf(10) ** -12
        for point, slope in zip(points, slopes, strict=True):
            above, below = held(normalizer, points, symbol, times, point + h), held(normalizer, points, symbol, times,
                                                                                    point - h)
            assert abs((above - below) / (2 * h) - slope) < mpmath.mpf(10) ** -20 * (1 + abs(slope))


def held(normalizer: Normalizer, points: list[Any], symbol: Any, times: dict[Any, Any], point: Any) -> Any:
    """The formula at one number, its averages those of the whole sample."""
    means = sorted(normalizer.formula.atoms(Mean), key=lambda m: len(str(m)), reverse=True)
    outer = {m: Symbol(f"s{k}") for k, m in enumerate(means)}
    values = {s: at_sample(m, points, symbol, times)[0] for m, s in outer.items()}
    return at_sample(normalizer.formula.xreplace(outer), [point], symbol, {**times, **values})[0]


@pytest.mark.parametrize(("name", "level"), [e for e in EACH if dict(SETS[e[0]].kinds)[e[1]] == "implicit"])
def test_bracket_is_where_all_flows_exist_and_the_trend_holds_in_it(name: str, level: int) -> None:
    normalizer, points, symbol = one(name, level)
    with mpmath.workdps(20):
        y, low, high = ends_of(name, level)
        lives = [normalizer.flows[-1].domain(v) for v in y]
        assert low == max(life[0] for life in lives) and high == min(life[1] for life in lives)
        inside = [share * end for end in (low, high) for share in (Rational(1, 5), Rational(3, 5), Rational(9, 10))
                  if end not in (oo, -oo)]
        times = sorted([*inside, *(Integer(t) for t in (-2, 0, 2) if low < t < high)], key=lambda t: t.evalf())
        values = [at_sample(normalizer.equation, points, symbol, {normalizer.unknowns[0]: mpmath.mpf(t.evalf(25))})[0]
                  for t in times]
        differences = [b - a for a, b in itertools.pairwise(values)]
        assert len(differences) >= 3
        if normalizer.trend:
            assert all(normalizer.trend * d > 0 for d in differences)
        else:
            assert min(differences) < 0 < max(differences)  # it is not monotone


@pytest.mark.parametrize(("third", "value", "skew"), [
    (Mean(x**3), 0, 0), (skewness(), Rational(1, 3), Rational(1, 3)), (2 * skewness() + 1, 0, Rational(-1, 2)),
    (-skewness(), Rational(1, 3), Rational(-1, 3)), (exp(skewness()), 2, log(2)), (skewness() ** 2, 1, None)])
def test_ties_decide_about_the_skewness_that_a_value_stands_for(third: Any, value: Any, skew: Any) -> None:
    last = normalizers([M, variance(), third], [0, 1, value])[-1]
    assert last.skewness == skew
    assert ("t exists iff" in last.domain) == (skew is not None)
    assert last.trend == (0 if skew is None else -1 if third == -skewness() else 1)


def test_ties_are_not_claimed_to_decide_off_the_centre() -> None:
    last = made("raw moments elsewhere")[-1]
    assert last.skewness is None and "the bracket may end before a value" in last.domain
    assert last.bracket[1].args[0][1] == (LARGEST > 0)


def test_domains() -> None:
    first, second, third = made("raw moments")
    assert first.domain == "every sample vector"
    assert second.domain == "every sample vector with -Mean(x)**2 + Mean(x**2) > 0"
    assert "strictly increasing wherever the generators 1, x, x**2 are independent" in third.domain
    assert "fewer than half of the samples are tied at the minimum" in third.domain
    assert third.bracket == (1 / SMALLEST, 1 / LARGEST)
    assert "Not proved: that the feature is monotone" in made("squared skewness")[-1].domain
    assert "Not proved: which values are attained" in made("even and odd power")[-1].domain
    assert "Mean(x) != 0" in made("squared mean")[0].domain
    assert "continuous with its present value" in made("squared mean")[0].domain
    assert "Moebius images of x in (-oo, oo), all of which are searched" in made("a group of moments")[0].domain
    assert "Not guaranteed" in made("circle")[-1].domain
    assert "samples in (0, oo)" in made("logarithm first")[0].domain


def test_flow_without_a_symbolic_bracket_says_so_in_words() -> None:
    found = normalizers([Mean(log(sin(sample("x", interval=(0, 1)))))], [-1])[0]
    assert found.bracket == ("the times at which the flow of dy/dt = cot(x) exists from the smallest and from the "
                             "largest y")
    assert normalizers([Mean(log(cosh(x)))], [1])[0].bracket == (-oo, oo)


def test_default_values_are_symbols() -> None:
    first, second = normalizers([M, Mean(x**2)])
    v1, v2 = first.values + second.values[1:]
    assert first.formula == x + v1 - M
    assert simplify(second.formula - v1 - sqrt((v2 - v1**2) / variance()) * (x - M)) == 0
    with pytest.raises(InvalidInput, match="code needs numbers, the values are v1, v2"):
        second.code()


@pytest.mark.parametrize("values", [[0, 1, 0], None])
def test_modified_features_of_the_moments_are_the_classical_ones(values: list[int] | None) -> None:
    third = modified_feature([M, Mean(x**2), Mean(x**3)], [0, 1, 0], 3)
    assert simplify(third - modified_feature([M, variance(), skewness()], [0, 1, 0], 3)) == 0
    central = Mean(x**3) - 3 * M * Mean(x**2) + 2 * M**3
    assert simplify(third - central / variance() ** Rational(3, 2)) == 0
    assert modified_feature([M, Mean(x**2)], [0, 1], 1) == M
    second = modified_feature([M, Mean(x**2)], values and values[:2], 2)
    assert simplify(second - variance()) == (0 if values else Symbol("v1", real=True) ** 2)


def test_modified_features_need_a_formula() -> None:
    moments = [M, Mean(x**2), Mean(x**3), Mean(x**4)]
    with pytest.raises(NoClosedForm, match="modified feature 4 has no closed form: N_3 is implicit"):
        modified_feature(moments, [0, 1, 0, 3], 4)
    with pytest.raises(InvalidInput, match="counted from 1 to 4, got 5"):
        modified_feature(moments, [0, 1, 0, 3], 5)
    fourth = modified_feature([*moments[:2], Mean(x**4)], [0, 1, 3], 3)
    points = [mpmath.mpf(p) for p in (1, 2, 4, 8)]
    assert abs(at_sample(fourth - kurtosis(), points)[0]) < 1e-13


@pytest.mark.parametrize(("features", "values", "error", "match"), [
    ([M, Mean(x**2), Mean(x**3), Mean(x**4)], None, NoClosedForm, "features 3 and 4 leaves their span"),
    ([M, Mean(x**3)], None, NoClosedForm, "refuted as involutive"),
    ([variance()], None, NoClosedForm, r"with Mean\(x\) before all others there are closed forms"),
    ([kurtosis()], None, NoClosedForm, "narrow path instead$"),
    ([Mean(erf(x))], None, NoClosedForm, r"dx/dt = exp\(-x\*\*2\).*integrate numerically$"),
    ([M, Mean(Symbol("a") * x**2)], None, InvalidInput, "a must be bound"),
    ([coordinates(2)[0] ** 2], None, NoClosedForm, "explicit coordinates"),
    ([M], [0, 1], InvalidInput, "one real number for each of 1 features, got 0, 1"),
    ([M], [I], InvalidInput, "one real number"),
    ([M, Mean(x**2)], [0, -1], InvalidInput, r"no sample is brought to Mean\(x\*\*2\) = -1"),
    ([M, Mean(x**2)], [0, 0], InvalidInput, r"Mean\(x\*\*2\) = 0 \(feature 2\)"),
])
def test_what_has_no_normalizer(features: list[Any], values: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        normalizers(features, values)


def test_undecided_is_said_to_be_undecided() -> None:
    with pytest.raises(NoClosedForm, match=r"is undecided .*budget"):
        normalizers([M, Mean(x**2), Mean(x**3)], [0, 1, 0], budget=1e-6)


def test_functions_that_numpy_lacks_are_named() -> None:
    found = normalizers([erf(Mean(log(sample("x", positive=True))))], [Rational(1, 2)])[0]
    with pytest.raises(NoClosedForm, match="NumPy lacks"):
        found.code()


def test_latex_shows_the_composition_and_the_equation() -> None:
    first, second, third = made("standardized moments")
    assert first.latex() == r"N_{1}(x) = x - \overline{x}"
    assert second.latex() == (r"N_{2}(x) = \frac{x - \overline{x}}{\sqrt{- \overline{x}^{2} + \overline{x^{2}}}}")
    for part in (r"N_{3}(x) = N_{2}\left(\varphi_t\left(N_{2}(x)\right)\right)", r"\varphi_t(y) = \frac{y}{- t y + 1}",
                 r"\Big|_{N_{3}(x)} = - \frac{1}{3}",
                 r"t \in \left(\frac{1}{y_{min}}, \frac{1}{y_{max}}\right),\ y = N_{2}(x)"):
        assert part in third.latex()
    assert third._repr_latex_() == rf"$\displaystyle {third.latex()}$"
    chain = made("a group of moments")[0].latex()
    assert r"\left(\varphi^{3}_{t_{3}} \circ \varphi^{2}_{t_{2}} \circ \varphi^{1}_{t_{1}}\right)(x)" in chain
    assert r"\varphi^{2}_t(y) = y e^{t}" in chain and r"t_{1}, t_{2}, t_{3}:\ \overline{x}\Big|_{N_{3}(x)} = 0" in chain
    assert made("logarithm first")[0].latex().startswith(r"N_{1}(x) = \varphi_t\left(x\right)")


def test_certificate_is_that_of_the_level() -> None:
    second = made("raw moments")[1]
    assert second.certificate.verify() and len(second.verdict.subject) == 2
    assert second.features == FeatureSet([M, Mean(x**2)]) and second.equation is None
    assert len(made("circle")[-1].equation) == 3
