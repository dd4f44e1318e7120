"""The errata of the source (docs/theory/errata.md), one test a row, named after the label of the row.

Decisions come from symdecouple, numbers from closed forms, mpmath, exact rationals or an optimizer of SciPy.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import mpmath
import numpy as np
import pytest
import sympy as sp
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.optimize import minimize

import symdecouple as sd
from symdecouple import Feature, Filter, Mean, VectorField, coordinates, x

PAGE = Path(__file__).resolve().parents[2] / "docs" / "theory" / "errata.md"
VARIANCE = Mean(x**2) - Mean(x) ** 2
SKEWNESS = Mean((x - Mean(x)) ** 3) / VARIANCE ** sp.Rational(3, 2)
KURTOSIS = Mean((x - Mean(x)) ** 4) / VARIANCE**2
SAMPLE = np.array([0.2, 1.0, 1.5, 3.0, 7.0])


def c2(features: Sequence[object], n_samples: int | None = None) -> str:
    verdict = sd.check_frobenius(features, n_samples=n_samples)
    assert verdict.certificate.verify()
    return str(verdict.status.name)


def standardized(a: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray((a - a.mean()) / a.std())


def test_the_page_names_one_test_a_row() -> None:
    rows = re.findall(r"^\(erratum-([a-z-]+)\)=$", PAGE.read_text("utf-8"), re.MULTILINE)
    tests = [name for name in globals() if name.startswith("test_erratum_")]
    assert sorted(tests) == sorted("test_erratum_" + row.replace("-", "_") for row in rows) and len(rows) == 25


# --- which sets are involutive ---


def test_erratum_averages() -> None:
    assert c2([Mean(x), Mean(x**2), Mean(x**3)]) == "PROVED" == c2([Mean(x**2), Mean(x**5)])
    assert c2([Mean(x), Mean(x**3)]) == "REFUTED" == c2([Mean(x), Mean(x**2), Mean(x**3), Mean(x**4)])
    cubes = Feature(Mean(x**3)).at(n_samples=2)
    assert sp.hessian(cubes.expr, cubes.coordinates) == sp.diag(*(3 * c for c in cubes.coordinates))


def test_erratum_powers() -> None:
    t = sd.sample("x", positive=True)
    orders = (-1, 1, 2, 3, 5)

    def found(size: int) -> list[tuple[int, ...]]:
        return [k for k in combinations(orders, size) if c2([Mean(t**j) for j in k]) == "PROVED"]

    assert found(2) == [k for k in combinations(orders, 2) if 2 in k]
    assert found(3) == [(-1, 2, 5), (1, 2, 3)]
    assert all(c2([Mean(t ** sp.Rational(k, 2)) for k in (4 - r, 4, 4 + r)]) == "PROVED" for r in (1, 3))
    assert c2([VectorField(1 / t), VectorField(t), VectorField(t**3)]) == "PROVED"  # (log x, x^2, x^4)


def test_erratum_filter_energies() -> None:
    curvature, slope = Filter([-1, 2, -1]), Filter([1, 0, -1])
    assert c2([Mean(curvature(x) ** 2), Mean(slope(x) ** 2)], n_samples=6) == "PROVED"
    padded = (0, *coordinates(6), 0)

    def energy(a: int, b: int, c: int) -> Feature:
        return Feature(sum((a * padded[n + 1] + b * padded[n] + c * padded[n - 1]) ** 2 for n in range(1, 7)) / 6)

    assert c2([energy(-1, 2, -1), energy(1, 0, -1)]) == "REFUTED"
    assert c2([energy(-1, 2, -1), energy(1, 1, 1)]) == "PROVED"  # symmetric kernels of three taps commute


def test_erratum_filter_orders() -> None:
    h, g, blur = Filter([-1, 2, -1]), Filter([1, 0, -1]), Filter([1, 2, 4])
    assert [c2([Mean(h(x) ** p), Mean(g(x) ** p)], 6) for p in (2, 3, 4)] == ["PROVED", "REFUTED", "REFUTED"]
    assert c2([Mean(x**2), Mean(blur(x) ** 3)], 6) == "PROVED"  # any gain at frequency zero
    assert c2([Mean(x), Mean(h(x) ** 3)], 6) == "PROVED" == c2([Mean(x), VARIANCE, Mean(h(x) ** 4)], 6)
    assert h.dc == 0 != blur.dc
    assert c2([Mean(x), Mean(blur(x) ** 3)], 6) == "REFUTED" == c2([Mean(x), VARIANCE, Mean(blur(x) ** 4)], 6)


# --- existence, reach, joint range ---


def test_erratum_invariant_map() -> None:
    assert c2([Mean(x), Mean(x**3)]) == "REFUTED"
    a, b, c, d, _ = coordinates(5)
    cross_ratio = Feature((a - c) * (b - d) / ((a - d) * (b - c)))
    inner = [sd.inner_product(cross_ratio, Feature(Mean(x**k)).at(n_samples=5)) for k in (1, 2, 3, 4)]
    assert inner[:3] == [0, 0, 0] and inner[3] != 0
    powers = [sd.lie_bracket(VectorField(x**2), VectorField(x**k)) for k in range(3, 8)]
    assert powers == [VectorField((k - 2) * x ** (k + 1)) for k in range(3, 8)]  # (x, .., x^4): all powers


def test_erratum_local_existence() -> None:
    def flat(a: float) -> float:
        return float(np.exp(-1 / a)) if a > 0 else 0.0

    def gradient(_: float, point: NDArray[np.float64]) -> list[float]:
        a, b = point
        return [flat(a) / a**2 * b if a > 0 else 0.0, flat(a)]

    assert gradient(0, np.array([-1.0, 0.5])) == [0.0, 0.0]  # rank 1 on a < 0, where b is decoupled
    end = solve_ivp(gradient, (0, 1), [1.0, 0.5], rtol=1e-10).y[:, -1]
    assert end[1] > 0.8  # right along f1, along f2, back along f1: (-1, 0.5) and (-1, > 0.8) are on one orbit


def test_erratum_reachable_values() -> None:
    a, b = coordinates(2)
    pair = [Feature(sp.exp(a) * sp.cos(b)), Feature(sp.exp(a) * sp.sin(b))]
    assert sd.check_independence(pair).certificate.verify()
    assert [sp.simplify(f.expr.subs(b, b + 2 * sp.pi) - f.expr) for f in pair] == [0, 0]
    _, outcomes = sd.stats.orthokurtosis([0, 0, 0, 1, 2], on_refusal="return")
    assert outcomes[0].reason == "no zero-skew point"


def test_erratum_joint_range() -> None:
    a, b = coordinates(2)
    pair = [Feature(sp.exp(a) * sp.cos(b)), Feature(sp.exp(a) * sp.sin(b))]
    assert sd.inner_product(*pair) == 0
    assert [sp.simplify(sd.inner_product(f, f)) for f in pair] == [sp.exp(2 * a)] * 2  # no critical point
    assert sp.simplify(pair[0].expr ** 2 + pair[1].expr ** 2) == sp.exp(2 * a)  # so never (0, 0)
    assert pair[0].expr.subs(b, sp.pi / 2) == 0 == pair[1].expr.subs(b, 0)  # and yet each takes 0


def test_erratum_zero_skew_root() -> None:
    def ends(a: Sequence[int]) -> list[float]:
        with mpmath.workdps(60):
            y = [mpmath.mpf(v) - mpmath.mpf(sum(a)) / len(a) for v in a]
            found = []
            for end in (min(y), max(y)):
                z = [v / (1 - (1 - mpmath.mpf(10) ** -25) / end * v) for v in y]
                m, n = sum(z) / len(z), len(z)
                third, second = (sum((v - m) ** k for v in z) / n for k in (3, 2))
                found.append(float(third / second**1.5))
        return found

    for a, q, p in (([0, 0, 0, 1, 2], 3 / 5, 1 / 5), ([0, 0, 1, 2], 1 / 2, 1 / 4), ([0, 1, 2], 1 / 3, 1 / 3)):
        limits = [-(1 - 2 * q) / np.sqrt(q * (1 - q)), (1 - 2 * p) / np.sqrt(p * (1 - p))]
        assert ends(a) == pytest.approx(limits, abs=1e-9)
    assert 0 < ends([0, 0, 1, 2])[0] < 1e-20  # zero only in the limit
    reasons = [sd.stats.orthokurtosis(a, on_refusal="return")[1] for a in ([0, 0, 0, 1, 2], [0, 0, 1, 2], [0, 1, 2])]
    assert [bool(outcomes[0].reason) for outcomes in reasons[:2]] == [True, True]
    assert sd.stats.orthokurtosis([0, 1, 2]) == pytest.approx(1.5, rel=1e-13)


# --- nested normalization ---


def test_erratum_nested_fourth() -> None:
    """f3 = Mean(x^4): hat f3 is the kurtosis; hat f4 = Mean(x^5) at the end of the narrow path."""
    assert c2([Mean(x), VARIANCE, KURTOSIS]) == "PROVED"
    assert c2([Mean(x), VARIANCE, Mean(x**4)]) == "REFUTED"
    assert sd.check_independence([Mean(x), VARIANCE, KURTOSIS, Mean(x**4)]).certificate.verify()
    target = 2.4

    def velocity(_: float, w: NDArray[np.float64], rate: float) -> NDArray[np.float64]:
        along = w**3 - np.mean(w**4) * w - np.mean(w**3)
        return rate * along / np.mean(4 * w**3 * along)

    def fourth(a: NDArray[np.float64]) -> float:
        start = standardized(a)
        rate = target - np.mean(start**4)
        end = solve_ivp(velocity, (0, 1), start, args=(rate,), rtol=1e-12, atol=1e-13, method="DOP853").y[:, -1]
        assert np.mean(end**4) == pytest.approx(target, abs=1e-9)
        return float(np.mean(end**5))

    a = np.array([-1.3, -0.6, 0.1, 0.4, 0.9, 2.2])
    step = 1e-4
    gradient = np.array([(fourth(a + step * e) - fourth(a - step * e)) / (2 * step) for e in np.eye(6)])
    w = standardized(a)
    hat_third = w**3 - np.mean(w**4) * w - np.mean(w**3)
    cosines = [gradient @ v / np.linalg.norm(gradient) / np.linalg.norm(v) for v in (w**0, a, hat_third, a**3)]
    assert max(np.abs(cosines[:3])) < 1e-6 < 1e-2 < abs(cosines[3])


def test_erratum_every_level() -> None:
    """S = hat S on x1, x2, x3 > 0; the sets of one and of three features have C2, the set of two has not."""
    x1, x2, x3, _ = coordinates(4)
    features = [Feature(x1**2 - x2**2), Feature(x1 * x2 * x3), Feature(x1 * x2 - x3**2)]
    assert [c2(features), c2(features[:2])] == ["PROVED", "REFUTED"]
    assert not sd.check_frobenius(features).vacuous
    assert [sd.inner_product(features[0], f) for f in features[1:]] == [0, 0]  # f2, f3 do not change along f1
    coupling = sd.inner_product(features[1], features[2])
    assert sp.expand(coupling - x3 * (x1 - x2) ** 2) == 0
    assert coupling.subs(x2, x1) == 0  # on {f1 = 0}, f3 does not change along f2: it is its own hat f3


def test_erratum_relaxed_note() -> None:
    dependent = sd.check_independence([Mean(x), Mean(x**2), Mean(x**3), SKEWNESS])
    assert dependent.status is sd.Status.REFUTED and dependent.certificate.verify()
    start = standardized(SAMPLE)

    def strict(_: float, w: NDArray[np.float64], rate: float) -> NDArray[np.float64]:
        along = w**2 - np.mean(w**3) * w - 1
        return rate * along / np.mean(3 * w**2 * along)

    end = solve_ivp(strict, (0, 1), start, args=(-np.mean(start**3),), rtol=1e-11, atol=1e-12).y[:, -1]
    assert np.mean(end**4) == pytest.approx(float(sd.stats.orthokurtosis(SAMPLE)), rel=1e-8)


def test_erratum_parallel_loop() -> None:
    t1, t2, u, v = sp.symbols("t1 t2 u v")
    flows = [lambda p: (p[0] * sp.exp(t1), p[1]), lambda p: (p[0], p[1] * sp.exp(t2))]
    assert flows[0]((u, v)) == (u * sp.exp(t1), v)  # the loop to P - 1 = 1: t2 does not occur
    assert flows[1](flows[0]((u, v))) == (u * sp.exp(t1), v * sp.exp(t2))


def test_erratum_transfer() -> None:
    moved = SAMPLE - SAMPLE.mean() + 10
    assert moved.mean() == pytest.approx(10)
    assert not np.allclose(moved, SAMPLE)  # level 0, M - 1
    assert np.allclose(moved - moved.mean(), SAMPLE - SAMPLE.mean())  # level 1, M


# --- moments ---


def test_erratum_moment_recursion() -> None:
    def f(j: int) -> float:
        return float(np.mean(SAMPLE**j))

    def c(i: int, j: int) -> float:
        return f(i + j) - f(i) * f(j)

    def c2nd(i: int, j: int) -> float:
        return c(i, j) * c(1, 1) - c(1, i) * c(1, j)

    def fields(factors: Sequence[float]) -> list[NDArray[np.float64]]:
        g2 = factors[0] * (SAMPLE - f(1))
        g3 = factors[1] * (SAMPLE**2 - f(2) - c(1, 2) / c(1, 1) * g2)
        g4 = SAMPLE**3 - f(3) - c(1, 3) / c(1, 1) * g2 - c2nd(2, 3) / c2nd(2, 2) * g3
        return [np.ones(5), g2, g3, g4]

    def angles(vectors: list[NDArray[np.float64]]) -> list[float]:
        return [abs(u @ v) / np.linalg.norm(u) / np.linalg.norm(v) for u, v in combinations(vectors, 2)]

    assert max(angles(fields((1, 1)))) < 1e-12
    assert max(angles(fields((2 / 5, 3 / 5)))) > 0.1


def test_erratum_gaussian_moments() -> None:
    density = mpmath.mpf(1) / mpmath.sqrt(2 * mpmath.pi)
    for j, value in ((2, 1), (4, 3), (6, 15)):
        moment = mpmath.quad(lambda r, j=j: r**j * mpmath.exp(-(r**2) / 2) * density, [-mpmath.inf, 0, mpmath.inf])
        assert mpmath.almosteq(moment, value, 1e-12) and sp.factorial2(j - 1) == value
        assert sp.factorial(2 * j) / (2**j * sp.factorial(j)) == sp.factorial2(2 * j - 1) != value


def test_erratum_critical_points() -> None:
    for p in (sp.Rational(1, 4), sp.Rational(2, 5), sp.Rational(9, 10)):

        def moment(k: int, high: sp.Expr, low: sp.Expr, p: sp.Rational = p) -> sp.Expr:
            return sp.simplify(p * high**k + (1 - p) * low**k)

        pair = sp.sqrt((1 - p) / p), -sp.sqrt(p / (1 - p))
        assert [moment(k, *pair) for k in (1, 2)] == [0, 1]
        assert sp.simplify(moment(3, *pair) - (1 - 2 * p) / sp.sqrt(p * (1 - p))) == 0
        assert moment(1, sp.sqrt(p) / (1 - p), -sp.sqrt(1 - p) / p) != 0
    assert float(sd.stats.skewness([1, 0, 0, 0])) == pytest.approx(2 / np.sqrt(3), rel=1e-14)

    def projected(k: int) -> float:  # of the gradient of f3, on the tangent space of R_k
        w = standardized(SAMPLE)
        normals = np.vander(w, k, increasing=True)
        return float(np.linalg.norm(w**2 - normals @ np.linalg.lstsq(normals, w**2, rcond=None)[0]))

    assert projected(3) < 1e-12 < 0.1 < projected(2)


def test_erratum_critical_energies() -> None:
    """On the unit sphere an energy is critical at each eigenvector, and takes both sides beside a middle one."""
    operator = sum(c * np.roll(np.eye(6), k, axis=0) for c, k in ((1, -1), (2, 0), (1, 1)))
    form = operator.T @ operator
    wave = np.cos(2 * np.pi * np.arange(6) / 6)
    assert np.allclose(form @ wave, 9 * wave) and np.linalg.norm(operator @ wave) > 1
    constant, alternating = np.ones(6), (-1.0) ** np.arange(6)
    for other, sign in ((constant, 1), (alternating, -1)):
        mixed = wave / np.linalg.norm(wave) + 0.1 * other / np.linalg.norm(other)
        assert sign * (mixed @ form @ mixed / (mixed @ mixed) - 9) > 0.01


def test_erratum_orthokurtosis_range() -> None:
    five, six = [([1, 1, -1, -1, 0], 5 / 4), ([1, -1, 0, 0, 0], 5 / 2)], [([1, -1] * 3, 1), ([1, -1, 0, 0, 0, 0], 3)]
    for a, value in five + six:
        assert float(sd.stats.orthokurtosis(a)) == pytest.approx(value, rel=1e-13)
    for n in (5, 7, 9):
        low, high = extreme_moment(4, n, (0, 1, 0), +1), extreme_moment(4, n, (0, 1, 0), -1)
        assert (low, high) == pytest.approx((n / (n - 1), n / 2), rel=1e-6)
        values = sd.stats.orthokurtosis(np.random.default_rng(n).standard_normal((2000, n)), axis=1)
        assert low - 1e-6 < values.min() and values.max() < high + 1e-6


def test_erratum_higher_orders() -> None:
    def one_pair(n: int) -> float:
        """The sixth moment of +-a once, +-b n//2 - 1 times, and 0 if n is odd, with moments 0, 1, 0, 3, 0."""
        pairs = n // 2 - 1
        a2 = max(np.roots([1 + 1 / pairs, -n / pairs, n**2 / (4 * pairs) - 3 * n / 2]))
        return float(2 * (a2**3 + pairs * ((n / 2 - a2) / pairs) ** 3) / n)

    assert one_pair(21) < 14.7 < 15 < one_pair(22)
    for n in (21, 22):  # no better sample from many starts
        assert extreme_moment(6, n, (0, 1, 0, 3, 0), -1) == pytest.approx(one_pair(n), rel=1e-6)
    reached = [float(sd.stats.orthokurtosis([1, -1, *[0] * (n - 2)])) for n in (6, 7)]
    assert reached == pytest.approx([3, 3.5], rel=1e-13)  # 3 is inside the range from N = 7 on


def extreme_moment(order: int, n: int, values: Sequence[float], sign: int, starts: int = 8) -> float:
    """The smallest (sign 1) or largest (sign -1) moment of n samples whose first moments are given."""
    rng, k = np.random.default_rng(order * n), np.arange(1, len(values) + 1)[:, None]
    imposed = {"type": "eq", "fun": lambda a: np.mean(a**k, axis=1) - values, "jac": lambda a: k * a ** (k - 1) / n}
    best = np.inf
    for _ in range(starts):
        start = np.clip(rng.standard_t(4, size=n), -4, 4)
        with np.errstate(all="ignore"):
            found = minimize(
                lambda a: sign * np.mean(a**order), start, jac=lambda a: sign * order * a ** (order - 1) / n,
                constraints=imposed, method="SLSQP", options={"maxiter": 400, "ftol": 1e-13},
            )
            feasible = np.abs(imposed["fun"](found.x)).max() < 1e-7
        best = min(best, found.fun) if feasible else best
    return sign * float(best)


# --- filters and numbers ---


def test_erratum_correlation() -> None:
    s = sp.Symbol("s", positive=True)

    def expectation(e: sp.Expr) -> sp.Expr:
        return sp.integrate(sp.expand(e) * sp.exp(-s), (s, 0, sp.oo))

    mean, variance = s - 1, (s - 1) ** 2 - 1  # influence functions, whose derivatives are the fields 1 and 2(x - m)
    assert [expectation(mean), expectation(variance)] == [0, 0]
    correlation = expectation(mean * variance) / sp.sqrt(expectation(mean**2) * expectation(variance**2))
    assert correlation == sp.sqrt(2) / 2
    assert sd.inner_product(Mean(x), VARIANCE) == 0
    draws = np.random.default_rng(7).exponential(size=(4000, 400))
    simulated = np.corrcoef(draws.mean(axis=1), draws.var(axis=1))[0, 1]
    assert simulated == pytest.approx(np.sqrt(0.5), abs=0.04)


def test_erratum_energy_equation() -> None:
    h = Filter([-1, 2, -1])
    power = np.abs(np.fft.fft([2, -1, 0, 0, -1])) ** 2 * np.abs(np.fft.fft(SAMPLE)) ** 2
    assert np.mean(h.apply(SAMPLE) ** 2) == pytest.approx(power.sum() / 25, rel=1e-13)
    spectrum, bands = np.fft.fft(SAMPLE - SAMPLE.mean()), np.array([[0, 1, 0, 0, 1], [0, 0, 1, 1, 0]])
    energies = bands @ np.abs(spectrum) ** 2 / 25
    wanted = energies * [1, 3]  # disjoint bands, the first feature at its reference: alpha_1 = 0, alpha_2 is not
    alphas = 5 / 4 * np.log(wanted / energies)
    moved = spectrum * np.exp(2 / 5 * alphas @ bands)
    assert np.allclose(bands @ np.abs(moved) ** 2 / 25, wanted) and alphas[0] == 0 != alphas[1]


def test_erratum_filter_reference() -> None:
    h, delta = Filter([-1, 2, -1]), np.eye(1, 16)[0]
    assert [np.mean(h.apply(scale * delta) ** 2) for scale in (16, 4)] == [96, 6]
    noise = np.random.default_rng(3).standard_normal((500, 1000))
    assert np.mean(h.apply(noise) ** 2) == pytest.approx(6, rel=0.02)


def test_erratum_complementary_filters() -> None:
    n, t, low = 6, 0.7, np.array([1, 0.75, 0.25, 0, 0.25, 0.75])
    spectrum = np.fft.fft([3.0, -1, 4, 1, -5, 9])
    grown = spectrum * np.exp(2 / n * (1 - low) * t)
    nu = 0.5 * np.log(np.sum(low * np.abs(grown) ** 2) / np.sum(low * np.abs(spectrum) ** 2))

    def combined(a1: float, a2: float) -> NDArray[np.complex128]:
        return np.asarray(spectrum * np.exp(2 / n * (low * a1 + (1 - low) * a2)))

    assert np.allclose(grown / np.exp(nu), combined(-n / 2 * nu, t - n / 2 * nu))
    assert not np.allclose(grown / np.exp(nu), combined(-nu, t - nu))


def test_erratum_spectral_perturbation() -> None:
    spectrum = np.fft.fft([1.0, 2.0, 0.5, -1.0, 0.0, 3.0])
    threshold = 2 * np.abs(spectrum).max()

    def modulus(turn: float) -> NDArray[np.float64]:
        gap = threshold - np.abs(spectrum)
        return np.abs(spectrum + gap * np.exp(1j * turn * np.angle(spectrum)))

    assert np.allclose(modulus(1), threshold) and not np.allclose(modulus(2 * np.pi), threshold)
    phases = np.exp(2j * np.pi * np.random.default_rng(1).random(6))
    assert np.abs(np.fft.ifft(phases).imag).max() > 0.1
    phases[[0, 3]], phases[4:] = 1, phases[2:0:-1].conj()
    assert np.abs(np.fft.ifft(phases).imag).max() < 1e-15
