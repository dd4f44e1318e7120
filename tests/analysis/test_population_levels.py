"""Laws beyond level 3, plans without closed forms, and how distributions are read: invariance, refusals, samples."""

import mpmath as mp
import numpy as np
import pytest
import sympy as sp
import sympy.stats
from scipy import stats as st
from sympy import Rational, oo

import symdecouple as sd
from symdecouple import InvalidInput, Mean, NoClosedForm, Refused, UnsupportedExpression, x
from symdecouple.analysis import Density, population

PLAN = sd.decouple(sd.families.standardized_moments(4))
SIX = sd.decouple(sd.families.standardized_moments(6))
u = sp.Symbol("u")


def midpoints(law: object, count: int = 4000) -> np.ndarray:
    """Quantiles of (k + 1/2)/count."""
    return np.asarray(law.ppf((np.arange(count) + 0.5) / count))  # type: ignore[attr-defined]


# --- invariance ---


@pytest.mark.parametrize("shapes", [(3, 2)])
@pytest.mark.parametrize(("loc", "scale"), [(1e8, 1e-8), (-3, 1e8), (0.25, 7)])
def test_place_and_scale_move_only_place_and_scale(shapes: tuple[float, float], loc: float, scale: float) -> None:
    """A beta law, exactly: the orthokurtosis bit by bit, mean and variance as numbers move."""
    own, moved = population(PLAN, st.beta(*shapes)), population(PLAN, st.beta(*shapes, loc=loc, scale=scale))
    exact = [sp.Rational(repr(float(v))) for v in (loc, scale)]
    assert moved.values == (exact[0] + exact[1] * own[0], exact[1] ** 2 * own[1], own[2], own[3])


def test_densities_in_floats_are_read_in_their_standard_place() -> None:
    """10^8 away nothing would be left of the digits."""
    assert population(PLAN, st.argus(1, 1e8, 1e-3))[3] == population(PLAN, st.argus(1))[3]


@pytest.mark.parametrize("power", [2, Rational(1, 2)])
def test_a_mirrored_law_has_the_same_orthokurtosis_and_the_other_skewness(power: sp.Expr) -> None:
    own = population(PLAN, Density((power + 1) * u**power, (0, 1)))
    mirrored = population(PLAN, Density((power + 1) * (-u / 3) ** power / 3, (-3, 0)))
    assert abs(mirrored[3] - own[3]) < 1e-13
    assert abs(mirrored[2] + own[2]) < 1e-13
    assert abs(mirrored.pole + 3 * own.pole) < 1e-12


def test_laws_with_one_leaf_share_their_value() -> None:
    """Y/(1 - Y) of a beta law, by the density in float64: without a variance."""
    found = population(PLAN, st.betaprime(3, 2))
    assert float(found[3]) == pytest.approx(float(population(PLAN, st.beta(3, 2))[3]), rel=1e-10)
    assert found[1] == oo


# --- order 5 and above ---


@pytest.mark.parametrize(
    ("law", "bound"), [(st.t(5), 2e-2), (st.uniform(), 1e-4), (st.dlaplace(1), 2e-2)],
)
def test_level_four_of_symmetric_laws(law: object, bound: float) -> None:
    """Against the narrow path of midpoint samples: unbounded tails, an infinite fourth moment, bounded, atoms."""
    found = population(SIX, law)
    fifth, sixth = sd.stats.decoupled_moments(midpoints(law), 6)[4:]
    assert found[4] == 0
    assert abs(fifth) < 1e-6
    assert float(found[5]) == pytest.approx(sixth, abs=bound)


@pytest.mark.slow
def test_order_six_of_the_laplace_law_by_its_own_integral() -> None:
    """w = x^2/(1 + b x^2), E w^2 = 3 (E w)^2, by mpmath's quadrature."""
    with mp.workdps(15):
        def power(b: mp.mpf, k: int) -> mp.mpf:
            return mp.quad(lambda v: (v * v / (1 + b * v * v)) ** k * mp.exp(-v), [0, 1, 10, 60])

        b = mp.findroot(lambda b: power(b, 2) / power(b, 1) ** 2 - 3, (0.1, 0.2), solver="anderson", tol=1e-13)
        assert abs(mp.mpf(str(population(SIX, st.laplace())[5])) - power(b, 3) / power(b, 1) ** 3) < 1e-10


@pytest.mark.parametrize(
    ("reference", "expected"),
    [([0, 1, 2, 9], 44), pytest.param([0, 1, 2, 7], "midpoints", marks=pytest.mark.slow),
     ([0, 1, 2, 10], "past infinity")],
)
def test_an_unbounded_law_goes_inward_only(reference: list[int], expected: object) -> None:
    """The exponential law has the moments 2, 9, 44: at kurtosis 9 it stays, to 7 it goes, to 10 it cannot."""
    plan = sd.decouple(sd.families.standardized_moments(5), reference=reference)
    if expected == "past infinity":
        with pytest.raises(Refused, match=str(expected)):
            population(plan, st.expon())
    elif expected == "midpoints":
        sample = midpoints(st.expon())  # of a skewness below 2, by what the last quantile cuts off: near comes slowly
        assert float(population(plan, st.expon())[4]) == pytest.approx(float(plan.transform(sample)[4]), abs=0.1)
    else:
        assert population(plan, st.expon())[4] == expected


@pytest.mark.slow
def test_moments_that_lie_too_far_out_are_told_and_stop_nothing() -> None:
    """The pareto law of 3.05 by its density: the third moment is finite, at 10^50 a hundredth of it is not seen."""
    found = population(PLAN, Density(Rational(61, 20) * u ** Rational(-81, 20), (1, oo)))
    assert "too far out" in found.outcomes[2].detail
    assert float(found[3]) == pytest.approx(1.95314965594371, rel=1e-13)  # st.pareto(3.05), as power law of 1/x


@pytest.mark.parametrize(
    ("law", "reason"),
    [(st.gennorm(4), "past infinity"), (st.randint(0, 3), r"kurtosis stays in \(1\.5, 1\.5\)"),
     (Density(None, (-2, 2), atoms={-2: 0.25, -1: 0.25, 1: 0.25, 2: 0.25}), r"kurtosis stays in \(1\.0, 2\.0\)")],
)
def test_kurtoses_that_are_not_on_the_leaf_of_four_moments(law: object, reason: str) -> None:
    """Limits 1/(1 - q) and 1/p, of the mass at the centre and at both ends."""
    with pytest.raises(Refused, match=reason):
        population(SIX, law)


# --- plans without closed forms ---


def test_levels_without_closed_forms_are_followed_on_nodes() -> None:
    """Against a sample of midpoints, and closed forms: E e^x = sinh(1), implicit."""
    curves = sd.decouple([Mean(x), Mean(sp.exp(x)), Mean(sp.exp(-x))], dependent="keep")
    flat = st.uniform(-1, 2)
    found = population(curves, flat)
    assert float(found[1]) == pytest.approx(np.sinh(1), rel=1e-14)
    assert float(found[2]) == pytest.approx(curves.transform(midpoints(flat))[2], abs=1e-6)
    with pytest.raises(Refused, match="grows faster than x"):
        population(curves, st.expon())


@pytest.mark.slow
def test_unbounded_laws_on_nodes_where_fields_grow_like_x_at_most() -> None:
    slow = sd.decouple([Mean(x), Mean(sp.log(sp.cosh(x))), Mean(x**2)], dependent="keep")
    assert float(population(slow, st.expon())[2]) == pytest.approx(
        slow.transform(midpoints(st.expon(), 20_000))[2], abs=1e-3)


@pytest.mark.parametrize(
    ("plan", "error", "said"),
    [
        (lambda: sd.decouple(sd.families.raw_moments(4), perturb="ramp"), InvalidInput, "no quantisation"),
        (lambda: sd.decouple(sd.FeatureSet([Mean(x), sd.Group(Mean(x**2), Mean(x**3)), Mean(x**4)])),
         UnsupportedExpression, "Group"),
        (lambda: sd.decouple([Mean(x), sd.Feature.from_callable(lambda a: (a**2).mean())]), UnsupportedExpression,
         "function of arrays"),
    ],
)
def test_what_belongs_to_samples_is_refused(plan: object, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        population(plan(), st.expon())  # type: ignore[operator]


# --- laws as they are read ---


@pytest.mark.parametrize(
    ("law", "values"),
    [
        (st.lognorm(4), (sp.exp(8), (sp.exp(16) - 1) * sp.exp(16))),  # no power law, however slowly it falls
        (st.bernoulli(1), (1, 0)),
        (Density(sp.Max(0, 1 - sp.Abs(u)), (-3, 2)), (0, Rational(1, 6))),  # kinks inside kinks, a wide support
        (Density(2 * u * sp.Heaviside(u) * sp.Heaviside(1 - u), (-1, 2)), (Rational(2, 3), Rational(1, 18))),
        (st.rv_discrete(values=([0, 1, 2], [1 / 3] * 3)), (1, Rational(2, 3))),
        (st.poisson(3, loc=-5), (-2, 3)),
        (st.skellam(2, 2), (0, 4)),
        pytest.param(sympy.stats.Skellam("S", 2, 2), (0, 4), marks=pytest.mark.slow),
        (sympy.stats.Gompertz("G", 2, 3), (0.131041870127659, 0.0117401017000905)),  # exp(2 y - 3 exp(2 y)) far out
    ],
)
def test_mean_and_variance_of_laws_that_are_hard_to_read(law: object, values: tuple[sp.Expr, sp.Expr]) -> None:
    found = population(PLAN, law, on_refusal="return").values[:2]
    assert [float(a) for a in found] == pytest.approx([float(b) for b in values], rel=1e-13, abs=1e-12)


@pytest.mark.parametrize(
    ("law", "kurtosis"),
    [
        (Density(2 * u * sp.Heaviside(u) * sp.Heaviside(1 - u), (-1, 2)), 1.91911528978235),
        (Density(sp.Piecewise((2 * u, (u > 0) & (u < 1)), (0, True)), (-oo, oo)), 1.91911528978235),
        (st.beta(2, 1), 1.91911528978235),  # the same law
        (st.skellam(2, 2), 3.25), (st.dlaplace(1), 5 + np.cosh(1)),
    ],
)
def test_hulls_end_where_densities_do(law: object, kurtosis: float) -> None:
    assert float(population(PLAN, law)[3]) == pytest.approx(kurtosis, rel=1e-10)


def test_masses_in_float64_are_not_called_exact() -> None:
    """scipy's masses of a hypergeometric law are floats; the exact kurtosis is that of the closed form."""
    found = population(PLAN, st.hypergeom(20, 7, 12), on_refusal="return")
    assert all(v.has(sp.Float) for v in found.values)
    exact = population(PLAN, sympy.stats.Hypergeometric("H", 20, 7, 12))
    assert exact[0] == Rational(21, 5)
    assert float(found[3]) == pytest.approx(float(exact[3]), rel=1e-10)


def test_digits_of_laws_on_whole_numbers_are_those_asked_for() -> None:
    """Poisson at 100 digits: the masses left away are below them."""
    found = population(PLAN, st.poisson(3), dps=100, on_refusal="return")
    assert abs(found[1] - 3) < sp.Float(10) ** -98
    more = population(PLAN, st.poisson(3), dps=110)
    assert abs(found[3] - more[3]) < sp.Float(10) ** -98


@pytest.mark.parametrize(
    ("law", "error", "said"),
    [
        (sp.Abs(sympy.stats.Normal("n", 0, 1)), InvalidInput, "no density of Abs"),
        (sp.floor(sympy.stats.Exponential("e", 1)), InvalidInput, "no density of floor"),
        (sympy.stats.Coin("c"), InvalidInput, "law of numbers|must be numbers"),
        (sympy.stats.Die("a", 6) + sympy.stats.Die("b", 6), InvalidInput, "one random variable"),
        pytest.param(st.zipf(2), NoClosedForm, "whole numbers", marks=pytest.mark.slow),
        (st.vonmises(2), InvalidInput, "vonmises_line"), (st.norm(float("inf")), InvalidInput, "parameters"),
        (st.norm(1j), InvalidInput, "no numbers"),
        (Density(lambda _: "a", (0, 1)), InvalidInput, "raised ValueError"),
        (Density(lambda _: float("nan"), (0, 1)), InvalidInput, "is nan"),
        (Density(lambda a: 1 / (a - a), (0, 1)), InvalidInput, r"is \+inf"),
        (Density(sp.I * u, (0, 1)), InvalidInput, "real number"),
        (Density(sp.zoo, (0, 1)), InvalidInput, "has no numbers"),
        (Density(sp.Function("f")(u), (0, 1)), InvalidInput, "no number at"),
        (Density(2 * u, (0, float("nan"))), InvalidInput, "real numbers"),
        (Density(2 * u, (0, sp.I)), InvalidInput, "real numbers"), (Density(2 * u, None), InvalidInput, "a pair"),
        (Density(2 * u, (0, 1), points=None), InvalidInput, "points"),
        (Density(None, (0, 1), atoms={0: 0.4, oo: 0.6}), InvalidInput, "finite place"),
        (Density(None, (0, 1), atoms={0: 0.4, 1: sp.Symbol("v")}), InvalidInput, "real numbers"),
        (Density(None, (0, 1), atoms={0: 0.4, 1: 0.5}), InvalidInput, "total mass 0.9"),
        (Density(None, (0, 1)), InvalidInput, "without atoms"),
        (Density(1 / (u * sp.log(u) ** 2), (sp.E, oo)), NoClosedForm, "more slowly than any power"),
        (Density(sp.exp(-((u - 10**5) ** 2) / 2) / sp.sqrt(2 * sp.pi), (-oo, oo)), InvalidInput, "points="),
    ],
)
def test_what_is_no_law_is_told_in_our_words(law: object, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        population(PLAN, law)


def test_a_place_amid_far_mass_helps() -> None:
    far = Density(sp.exp(-((u - 10**5) ** 2) / 2) / sp.sqrt(2 * sp.pi), (-oo, oo), points=[10**5])
    assert abs(population(PLAN, far)[3] - 3) < 1e-13


# --- convergence ---


@pytest.mark.slow
@pytest.mark.parametrize("law", [st.expon(), st.beta(2, 5), st.pareto(1)])
def test_samples_come_near_at_the_rate_of_the_influence(law: object) -> None:
    """The median of 40 samples is off by 1.25 deviations over sqrt(40), one by that of the influence over sqrt(N)."""
    known = float(population(PLAN, law)[3])
    for n in (1000, 10_000, 100_000):
        values = sd.stats.orthokurtosis(law.rvs((40, n), random_state=2), axis=1)  # type: ignore[attr-defined]
        assert abs(np.median(values) - known) < 4 * 1.25 * values.std() / np.sqrt(40) + 30 / n
        assert values.std() * np.sqrt(n) == pytest.approx(deviation(law), rel=0.5)


def deviation(law: object) -> float:
    """sqrt(n) times that of the orthokurtosis, by the influence function at midpoints (order 4 at zero skewness)."""
    z = PLAN.normalize(midpoints(law, 20_000), 3)
    kurtosis, fifth = np.mean(z**4), np.mean(z**5)
    influence = z**4 - 2 * kurtosis * z**2 + kurtosis - 4 * fifth / (kurtosis - 1) * (z**3 / 3 - z)
    return float(influence.std())
