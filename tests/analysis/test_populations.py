"""Decoupled features of distributions, against closed forms, other quadratures, symmetry, and samples."""

import mpmath as mp
import numpy as np
import pytest
import sympy as sp
import sympy.stats
from scipy import stats as st
from sympy import Rational, oo

import symdecouple as sd
from symdecouple import InvalidInput, Refused, UnsupportedExpression
from symdecouple.analysis import Density, population

PLAN = sd.decouple(sd.families.standardized_moments(4))
RAW = sd.decouple(sd.families.raw_moments(4))
u = sp.Symbol("u")
CLUMP = sp.gamma(40) / sp.gamma(20) ** 2
TWO_CLUMPS = Density(sp.Piecewise((7 * CLUMP * (10 * u) ** 19 * (1 - 10 * u) ** 19, u < Rational(1, 10)),
                                  (3 * CLUMP * (10 * u - 9) ** 19 * (10 - 10 * u) ** 19, u > Rational(9, 10)),
                                  (0, True)), (0, 1))


def by_transform(first: mp.mpf, second: mp.mpf, third: mp.mpf, fourth: mp.mpf) -> tuple[mp.mpf, mp.mpf]:
    """Skewness and kurtosis of -1/(x - p) from E (x - p)^-k."""
    variance = second - first**2
    return (-(third - 3 * first * second + 2 * first**3) / variance ** mp.mpf(1.5),
            (fourth - 4 * first * third + 6 * first**2 * second - 3 * first**4) / variance**2)


@pytest.mark.parametrize(
    ("law", "kurtosis"),
    [
        (st.uniform(), Rational(9, 5)), (st.uniform(-3, 0.1), Rational(9, 5)), (st.norm(2, 3), sp.Integer(3)),
        (st.laplace(), sp.Integer(6)), (st.logistic(), Rational(21, 5)), (st.t(5), sp.Integer(9)),
        (st.beta(2, 2), Rational(15, 7)), (st.beta(20, 20), Rational(123, 43)), (st.arcsine(), Rational(3, 2)),
        (st.semicircular(), sp.Integer(2)), (st.triang(0.5), Rational(12, 5)), (st.hypsecant(), sp.Integer(5)),
        (st.pareto(1), Rational(9, 5)), (st.pareto(1, loc=4, scale=7), Rational(9, 5)),
        (st.bernoulli(0.5), sp.Integer(1)), (st.randint(1, 7), Rational(303, 175)),
        (sympy.stats.Die("D", 6), Rational(303, 175)), (sympy.stats.Uniform("U", 0, 3), Rational(9, 5)),
        (Density(None, (0, 2), atoms={0: 0.25, 1: 0.5, 2: 0.25}), sp.Integer(2)),
        (st.binom(4, 0.5), Rational(5, 2)), (st.rv_discrete(values=([-1, 0, 1], [0.25, 0.5, 0.25])), sp.Integer(2)),
    ],
)
def test_known_kurtoses_of_laws_without_skewness_are_exact(law: object, kurtosis: sp.Expr) -> None:
    assert population(PLAN, law)[3] == kurtosis


def test_exponential_by_exponential_integrals() -> None:
    """E (x + a)^-k = e^a a^(1-k) E_k(a)."""
    with mp.workdps(40):
        def of(a: mp.mpf) -> tuple[mp.mpf, mp.mpf]:
            return by_transform(*(mp.exp(a) * a ** (1 - k) * mp.expint(k, a) for k in (1, 2, 3, 4)))

        root = mp.findroot(lambda a: of(a)[0], (1.02, 1.03), solver="ridder", tol=1e-70)
        found = population(PLAN, sympy.stats.Exponential("E", 1), dps=30)
        assert abs(mp.mpf(str(found[3])) - of(root)[1]) < mp.mpf(10) ** -28
        assert abs(mp.mpf(str(found.pole)) + root) < mp.mpf(10) ** -28
    assert f"{float(found[3]):.11f}" == "1.98399660474"
    assert found.values[:3] == (1, 1, 2)


@pytest.mark.parametrize("shape", [2, pytest.param(7, marks=pytest.mark.slow)])
def test_gamma_with_whole_shape_by_exponential_integrals(shape: int) -> None:
    """E (x + a)^-1 = e^a E_n(a) (the transform), and derivatives of it."""
    with mp.workdps(40):
        def transform(p: mp.mpf) -> mp.mpf:
            return mp.exp(-p) * mp.expint(shape, -p)

        def of(p: mp.mpf) -> tuple[mp.mpf, mp.mpf]:
            return by_transform(*(mp.diff(transform, p, k) / mp.factorial(k) for k in range(4)))

        found = population(PLAN, st.gamma(shape), dps=20)
        skewness, kurtosis = of(mp.mpf(str(found.pole)))
        assert abs(skewness) < 1e-16
        assert abs(kurtosis - mp.mpf(str(found[3]))) < 1e-16


@pytest.mark.parametrize(("a", "b"), [(0.5, 4), pytest.param(5, 0.5, marks=pytest.mark.slow), (3, 30)])
def test_beta_by_hypergeometric_functions(a: float, b: float) -> None:
    """E (x - p)^-k = (-p)^-k 2F1(k, a; a + b; 1/p)."""
    with mp.workdps(40):
        found = population(PLAN, st.beta(a, b), dps=20)
        p = mp.mpf(str(found.pole))
        skewness, kurtosis = by_transform(*((-p) ** -k * mp.hyp2f1(k, a, a + b, 1 / p) for k in (1, 2, 3, 4)))
        assert abs(skewness) < 1e-16
        assert abs(kurtosis - mp.mpf(str(found[3]))) < 1e-16


@pytest.mark.parametrize("law", [st.uniform(2, 3), st.beta(3, 2), st.rv_discrete(values=([0, 1, 5], [0.2, 0.5, 0.3])),
                                 *(pytest.param(law, marks=pytest.mark.slow) for law in (
                                     st.gamma(0.5, 1, 2), st.pareto(2.5), st.binom(5, 0.3)))])
def test_transforms_in_closed_form_agree_with_quadrature(law: object) -> None:
    """At the pole that quadrature found the closed skewness vanishes, and the kurtosis is the same."""
    found = population(PLAN, law, dps=20)
    assert found.transform is not None
    if found.pole == oo:
        return
    p = sp.Symbol("p", real=True)
    with mp.workdps(40):
        series = [sp.diff(found.transform, p, k).evalf(40, subs={p: found.pole}) / sp.factorial(k) for k in range(4)]
        skewness, kurtosis = by_transform(*(mp.mpf(str(v)) for v in series))
        assert abs(skewness) < 1e-15
        assert abs(kurtosis - mp.mpf(str(found[3]))) < 1e-15


def test_the_lognormal_root_is_where_its_logarithm_is_symmetric() -> None:
    """x/(x + 1) is a function of log x that is odd about 1/2: the pole is -1."""
    found = population(PLAN, st.lognorm(0.7))
    assert abs(found.pole + 1) < 1e-14
    with mp.workdps(20):
        def normal(g):  # type: ignore[no-untyped-def]
            return mp.quad(lambda z: g(1 / (1 + mp.exp(mp.mpf(7) / 10 * z)) - mp.mpf(1) / 2) * mp.npdf(z), [-30, 0, 30])

        kurtosis = normal(lambda w: w**4) / normal(lambda w: w**2) ** 2
        assert abs(mp.mpf(str(found[3])) - kurtosis) < 1e-13


@pytest.mark.parametrize(
    "atoms",
    [{0: 1, 1: 1, 5: 1}, {0: 0.25, 2: 0.3, 3: 0.45}, {-1: 0.1, 0: 0.2, 2: 0.4, 9: 0.3}],
)
def test_finitely_many_atoms_are_a_sample_with_weights(atoms: dict[float, float]) -> None:
    total = sum(atoms.values())
    law = Density(None, (0, 1), atoms={k: Rational(str(q)) / Rational(str(total)) for k, q in atoms.items()})
    expected = sd.stats.orthokurtosis(list(atoms), weights=list(atoms.values()))
    assert float(population(PLAN, law)[3]) == pytest.approx(float(expected), rel=1e-12)


def test_laws_in_float64_agree_with_exact_ones() -> None:
    known = population(PLAN, Density(lambda v: np.exp(-v), (0, oo)))
    assert float(known[3]) == pytest.approx(1.98399660474, abs=1e-10)


def test_it_is_invariant_under_moebius_maps() -> None:
    """1/(1 + x) of an exponential law has the density e^(1 - 1/v)/v^2 on (0, 1)."""
    moved = Density(sp.exp(1 - 1 / u) / u**2, (0, 1))
    assert abs(float(population(PLAN, moved)[3]) - 1.98399660474117) < 1e-13


def test_other_references_ask_for_other_skewnesses() -> None:
    """The exponential law itself has skewness 2 and kurtosis 9: the end of its leaf, which belongs to it."""
    raw = sd.decouple(sd.families.raw_moments(4), reference=[1, 2, 6])  # those of the exponential law
    assert population(raw, st.expon(7, 3))[3] == 24
    with pytest.raises(Refused, match=r"2\.5 is wanted"):
        population(sd.decouple(sd.families.standardized_moments(4), reference=[0, 1, 2.5]), st.expon())


def test_mean_variance_and_skewness_are_decoupled_values() -> None:
    assert population(RAW, st.gamma(3)).values[:3] == (3, 3, 2 / sp.sqrt(3))
    assert population(RAW, st.laplace(2, 3)).values == (2, 18, 0, 6)
    assert population(sd.decouple(sd.families.raw_moments(2)), st.expon(5, 2)).values == (7, 4)


# --- other features ---


def test_other_averages_with_explicit_levels() -> None:
    """E log cosh of the standardized law, by another quadrature."""
    x = sd.x
    plan = sd.decouple([sd.Mean(x), sd.Mean(x**2) - sd.Mean(x) ** 2, sd.Mean(sp.log(sp.cosh(x - sd.Mean(x))))],
                       reference=[0, 1], dependent="keep")
    expected = mp.quad(lambda v: mp.log(mp.cosh(v - 1)) * mp.exp(-v), [0, 1, 10, 60])
    found = population(plan, st.expon(4, 3))
    assert [float(v) for v in found.values] == pytest.approx([7, 9, float(expected)], abs=1e-12)
    with pytest.raises(Refused, match="infinite"):
        population(sd.decouple([sd.Mean(x)]), st.cauchy())


# --- refusals ---


def why(law: object) -> str:
    with pytest.raises(Refused) as caught:
        population(PLAN, law)
    return str(caught.value)


def test_skew_normal_is_refused_and_seems_to_settle() -> None:
    said = why(st.skewnorm(4))
    assert "both tails are unbounded" in said
    assert "0.784" in said  # known skewness
    assert "settle at 2.67" in said
    assert "1e-44" in said


def test_two_clumps_do_not_reach_zero() -> None:
    """The infimum by mpmath's own quadrature of x^-k: .53550664."""
    assert "0.535507" in why(TWO_CLUMPS)
    found = population(PLAN, TWO_CLUMPS, on_refusal="return")
    assert found.skewness_range is not None
    assert float(found.skewness_range[0]) == pytest.approx(0.53550664, abs=1e-8)
    assert abs(float(found[0]) - 0.32) < 1e-14


@pytest.mark.parametrize(
    ("law", "reason"),
    [
        (st.t(4), "fourth moment is infinite"), (st.t(3), "third moment is infinite"),
        (st.cauchy(), "third moment is infinite"), (st.bernoulli(0.3), "two places"),
        (Density(None, (0, 0), atoms={4: 1}), "one place"),
        (st.geom(0.5), "an atom of 1/2 at 1"),  # half of it at the end: in the limit only
        (Density(Rational(1, 2), (0, 1), atoms={0: Rational(1, 2)}), "an atom of 1/2 at 0"),
        (st.weibull_min(9), "unbounded to the right"),  # skewed to the left
        (st.geom(0.9), "an atom of 9/10 at 1"),
    ],
)
def test_refusals_say_why(law: object, reason: str) -> None:
    assert reason in why(law)


def test_what_an_atom_allows() -> None:
    """Lower limit -(1 - 2q)/sqrt(q(1 - q)), q = 1/4."""
    law = Density(Rational(3, 4), (0, 1), atoms={0: Rational(1, 4)})
    found = population(PLAN, law)
    assert found.skewness_range == (-2 / sp.sqrt(3), oo)
    fine = 200_000
    sample = np.concatenate([np.zeros(fine // 4), (np.arange(3 * fine // 4) + 0.5) / (3 * fine // 4)])
    assert float(found[3]) == pytest.approx(float(sd.stats.orthokurtosis(sample)), abs=1e-6)


@pytest.mark.parametrize(
    ("law", "said"),
    [
        (Density(2 * u, (0, 2)), "total mass 4"), (Density(1 / u, (0, 1)), "integral diverges"),
        (Density(u - Rational(1, 2) + 1, (-2, 1)), "0 or more"), (3, "scipy.stats"), (st.norm, "scipy.stats"),
        (st.norm(0, -1), "parameters"), (st.gamma(-1), "parameters"), (st.norm(0, [1, 2]), "arrays"),
        (sympy.stats.Normal("n", sp.Symbol("m"), 1), "numbers"),
        (Density(u * sp.Symbol("v"), (0, 1)), "one symbol"), (Density(u, (1, 0)), "low < high"),
        (Density(2 * u, (0, 1), points=[3]), "inside the support"), (Density("u", (0, 1)), "an expression"),
        (Density(2 * u, (0, 1), atoms={0: 2}), "masses of atoms"),
        (Density(1 / (u - Rational(1, 2)) ** 2, (0, 1)), "diverges at 0.5|finite number"),
        (Density(1 / (u + 1), (0, oo)), "diverges far out"),
    ],
)
def test_what_is_no_law_is_told(law: object, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        population(PLAN, law)


def test_what_is_no_plan_of_laws_is_told() -> None:
    with pytest.raises(InvalidInput, match="a plan"):
        population(sd.families.raw_moments(4), st.expon())
    h = sd.Filter([1, 1, 0])
    with pytest.raises(UnsupportedExpression, match="one number"):
        population(sd.decouple([sd.Mean(h(sd.x) ** 2), sd.Mean(sd.x**2)]), st.expon())
    with pytest.raises(InvalidInput, match="digits"):
        population(PLAN, st.expon(), dps=0)
    with pytest.raises(InvalidInput, match="on_refusal"):
        population(PLAN, st.expon(), on_refusal="warn")  # type: ignore[arg-type]


# --- samples ---


@pytest.mark.parametrize(("law", "value"), [(st.expon(), 1.98399660474), (st.pareto(1), 1.8)])
def test_midpoint_samples_come_near(law: object, value: float) -> None:
    """Quantiles of (k + 1/2)/N: what the tail beyond the last one holds goes to zero."""
    sample = law.ppf((np.arange(200_000) + 0.5) / 200_000)  # type: ignore[attr-defined]
    assert float(sd.stats.orthokurtosis(sample)) == pytest.approx(value, abs=2e-3)


def test_random_samples_converge() -> None:
    """The standard deviation of one value is .0119 at N = 10^4: 40 of them leave .0019, and some bias."""
    values = sd.stats.orthokurtosis(st.expon().rvs((40, 10_000), random_state=1), axis=1)
    assert abs(values.mean() - 1.98399660474) < 4 * values.std() / np.sqrt(40) + 2e-3


@pytest.mark.slow
def test_asymmetric_laplace_samples_drift() -> None:
    """The middle half of the samples holds 3.2, 4.0, 4.8, 5.0; medians rise by more than their standard errors."""
    law, rng, medians, errors = st.laplace_asymmetric(0.5), np.random.default_rng(0), [], []
    for n, count, shown in ((100, 2000, 3.2), (1000, 1000, 4.0), (10_000, 300, 4.8), (100_000, 60, 5.0)):
        found = sd.stats.orthokurtosis(law.rvs((count, n), random_state=rng), axis=1)
        low, median, high = np.quantile(found, [0.25, 0.5, 0.75])
        assert low < shown < high
        medians.append(median)
        errors.append(0.93 * (high - low) / np.sqrt(count))  # sqrt(pi/2) deviations over sqrt(count), of a normal law
    assert (np.diff(medians) > np.hypot(errors[1:], errors[:-1])).all()

