"""The functions of sample vectors that the laws are asked of: statistics and plans, one row of a table each.

A function takes rows (R, N) and answers with numbers (R, K) and an outcome for each row. What it owes to theory is
written beside it: how its numbers grow with the unit of the sample, which of them an offset moves, whether the order of
the entries counts, which gradients are orthogonal, and its values by an oracle that shares nothing with the package.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, TypeAlias

import mpmath as mp
import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.optimize import minimize
from sympy import sin

import symdecouple as sd
from symdecouple import Feature, Filter, Mean, coordinates, families, stats, variance, x
from tests.numeric import moment_oracle
from tests.stats import oracle

Array: TypeAlias = NDArray[Any]
Oracle: TypeAlias = Callable[[Array], Sequence[Any]]

# --- rows -----------------------------------------------------------------------------------------------------------

LAWS: dict[str, Callable[[np.random.Generator, tuple[int, int]], Array]] = {
    "normal": lambda rng, shape: rng.normal(size=shape), "uniform": lambda rng, shape: rng.random(shape),
    "exponential": lambda rng, shape: rng.exponential(size=shape), "small": lambda rng,
    shape: 1e-100 * rng.standard_t(5, size=shape), "integers": lambda rng, shape: rng.integers(-50, 50, shape) * 1.0,
}
HARD: dict[str, Callable[[np.random.Generator, tuple[int, int]], Array]] = {
    "heavy": lambda rng, shape: rng.standard_cauchy(shape) ** 3, "steep": lambda rng,
    shape: np.exp(5 * rng.normal(size=shape)), "gamma": lambda rng, shape: rng.gamma(0.125, size=shape),
    "offset": lambda rng, shape: 1e10 + rng.integers(0, 2**20, shape), "clusters": lambda rng,
    shape: np.arange(shape[1]) % 2 + 0.03 * rng.random(shape), "outlier": lambda rng,
    shape: np.where(np.arange(shape[1]) == 3, 1e9, rng.normal(size=shape)), "rounded": lambda rng,
    shape: np.round(rng.normal(size=shape)), "sorted": lambda rng, shape: np.sort(rng.normal(size=shape), axis=1),
}


def drawn(law: str, n_rows: int, n: int, seed: int = 0) -> Array:
    """Rows of a law, hard ones too."""
    return np.asarray({**LAWS, **HARD}[law](np.random.default_rng([n, seed]), (n_rows, n)), dtype=float)


# --- oracles --------------------------------------------------------------------------------------------------------


classical = oracle.moments  # mean, variance, and standardized central moments


def shifted(row: Array, order: int) -> list[Any]:
    """The same with the least even moments over shifts, by 200 halvings of where the moment below vanishes."""
    found = classical(row, order)
    with mp.workdps(40):
        z = [(mp.mpf(v.numerator) / v.denominator - found[0]) / mp.sqrt(found[1]) for v in oracle.as_fractions(row)]
        for k in range(4, order + 1, 2):
            low, high = min(z), max(z)
            for _ in range(120):
                c = (low + high) / 2
                low, high = (c, high) if mp.fsum((v - c) ** (k - 1) for v in z) > 0 else (low, c)
            found[k - 1] = mp.fsum((v - c) ** k for v in z) / len(z)
    return found


def decoupled(row: Array, order: int, reference: tuple[float, ...] = moment_oracle.REFERENCE) -> list[Any]:
    """Decoupled moments by definition: bisection, and extrapolated midpoints along the path."""
    return _decoupled(tuple(row.tolist()), order, reference)


@cache
def _decoupled(sample: tuple[float, ...], order: int, reference: tuple[float, ...]) -> list[Any]:
    higher = moment_oracle.decoupled(sample, order, digits=14, dps=30, reference=reference)
    return [*classical(np.array(sample), 3), *higher]


TAPS = ((1.0, 1.0, 1.0), (-1.0, 0.0, 1.0), (-1.0, 2.0, -1.0))


def output(row: Array, taps: Sequence[float]) -> Array:
    """Circular, centred."""
    return np.asarray(sum(t * np.roll(row, lag) for lag, t in zip((-1, 0, 1), taps, strict=True)))


def energies(row: Array) -> list[float]:
    """Decoupled energies by SciPy: f_k at the spectrum times exp(sum a_j |H_j|^2 / 2), a least in a convex sum."""
    n = len(row)
    power = np.abs(np.fft.fft(row)) ** 2 / n**2
    weights = np.array([np.abs(np.fft.fft(output(np.eye(1, n)[0], taps))) ** 2 for taps in TAPS])
    targets, found = np.array([sum(t * t for t in taps) for taps in TAPS]), []
    for k in range(len(TAPS)):
        if k == 0:
            tilted = power
        else:
            h, v = weights[:k], targets[:k]

            def convex(a: Array, h: Array = h, v: Array = v) -> Any:
                return power @ np.exp(a @ h) - a @ v

            def slope(a: Array, h: Array = h, v: Array = v) -> Any:
                return h @ (power * np.exp(a @ h)) - v

            def bend(a: Array, h: Array = h) -> Any:
                return (h * (power * np.exp(a @ h))) @ h.T

            a = minimize(convex, np.zeros(k), jac=slope, hess=bend, method="trust-exact", options={"gtol": 1e-9}).x
            for _ in range(3):
                a = a - np.linalg.solve(bend(a), slope(a))
            tilted = power * np.exp(a @ h)
        found.append(float(weights[k] @ tilted))
    return found


def along_paths(row: Array, features: Callable[[Array], tuple[Array, Array]], targets: Sequence[float]) -> list[float]:
    """Any decoupled features by SciPy's integrator along gradients projected by least squares."""
    found, y = [], row
    for k in range(len(targets) + 1):
        begin = features(y)[0][k]
        found.append(float(begin))
        if k == len(targets):
            return found

        def path(_: float, y: Array, k: int = k, distance: float = targets[k] - begin) -> Array:
            fields = features(y)[1][: k + 1]
            basis = np.linalg.qr(fields[:k].T)[0]
            across = fields[k]
            for _twice in range(2):
                across = across - basis @ (basis.T @ across)
            return np.asarray(distance * across / (across @ fields[k]))

        y = solve_ivp(path, (0, 1), y, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    return found


def log_cosh(y: Array) -> tuple[Array, Array]:
    values = np.array([y.mean(), (y * y).mean(), np.log(np.cosh(y)).mean(), np.tanh(y).mean()])
    return values, np.array([1 + 0 * y, 2 * y, np.tanh(y), 1 / np.cosh(y) ** 2]) / len(y)


def at_outputs(y: Array) -> tuple[Array, Array]:
    """Mean(l^2), Mean(h^2), Mean(l^4), Mean(h^4), h even: its own adjoint."""
    bands, powers = [TAPS[0], TAPS[2]] * 2, [2, 2, 4, 4]
    values = np.array([np.mean(output(y, taps) ** p) for taps, p in zip(bands, powers, strict=True)])
    fields = [p * output(output(y, taps) ** (p - 1), taps) for taps, p in zip(bands, powers, strict=True)]
    return values, np.array(fields) / len(y)


def in_space(y: Array) -> tuple[Array, Array]:
    values = np.array([y @ y, y[0] * y[1] + y[2], np.sin(y[0]) + y[1] * y[2] ** 2])
    fields = [2 * y, [y[1], y[0], 1.0], [np.cos(y[0]), y[2] ** 2, 2 * y[1] * y[2]]]
    return values, np.array(fields)


def powers(y: Array) -> Array:
    """1, x, x^2, ..: what every family of moments spans."""
    return np.array([y**k for k in range(4)])


def of_energies(y: Array) -> Array:
    return np.array([output(output(y, taps), taps[::-1]) for taps in TAPS])


# --- the table ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Function:
    """A row of the table.

    Attributes
    ----------
    answer : callable
        ``answer(rows (R, N)) -> values (R, K), outcomes``.
    oracle : callable
        ``oracle(row (N,)) -> K numbers``.
    sizes : tuple of int
        Lengths of rows; the first is that of the oracle.
    laws : tuple of str
        What rows are drawn from where the bounds are asked for.
    bound : float
        Relative to the numbers and 1, on rows of these laws.
    hard : float, optional
        The same on hard rows, where it is owed an answer on these.
    degrees : tuple of int, optional
        Of the numbers, in the unit of the sample: they are multiplied by 2^(k degree).
    moved : tuple of int, optional
        Numbers that grow by what is added to the entries; others do not feel it.
    turned : int
        0 where entries can be put in any order; else they can be turned around the circle by multiples of this.
    plan : callable, optional
        Makes the plan, where the function is one.
    fields : callable, optional
        Gradients of the features themselves, N times: those of decoupled features are orthogonal to all before them.
    units, offsets : tuple
        Powers of two, and what is added to entries of about 2^16, where an answer is owed; beyond, it is right or none.
    """

    answer: Callable[[Any], tuple[Array, Sequence[Any]]]
    oracle: Oracle
    sizes: tuple[int, ...] = (8, 33, 500)
    laws: tuple[str, ...] = ("normal", "uniform", "exponential")
    bound: float = 1e-12
    hard: float | None = None
    degrees: tuple[int, ...] | None = None
    moved: tuple[int, ...] | None = None
    turned: int = 0
    plan: Callable[[], Any] | None = None
    fields: Callable[[Array], Array] | None = None
    units: tuple[int, ...] = (-300, -1, 20, 300)
    offsets: tuple[float, ...] = (2.0**20, -(2.0**34))

    @property
    def middle(self) -> int:
        """A length that many calls can be made at."""
        return self.sizes[:2][-1]


def statistic(function: Any, *arguments: Any) -> Callable[[Any], tuple[Array, Sequence[Any]]]:
    def answer(rows: Any) -> tuple[Array, Sequence[Any]]:
        values, outcomes = function(rows, *arguments, axis=-1, on_refusal="return")
        return np.asarray(values).reshape(len(values), -1), outcomes

    return answer


def weighted(function: Any, *arguments: Any) -> Callable[[Any], tuple[Array, Sequence[Any]]]:
    def answer(rows: Any) -> tuple[Array, Sequence[Any]]:
        weights = np.resize([1, 2, 3], rows.shape[-1])
        values, outcomes = function(rows, *arguments, axis=-1, weights=weights, on_refusal="return")
        return np.asarray(values).reshape(len(values), -1), outcomes

    return answer


def repeated(row: Array) -> Array:
    return np.repeat(row, np.resize([1, 2, 3], len(row)))


def planned(make: Callable[[], Any], oracle_: Oracle, **owed: Any) -> Function:
    made = cache(make)

    def answer(rows: Any) -> tuple[Array, Sequence[Any]]:
        values, outcomes = made().transform(rows, on_refusal="return")
        return values, outcomes

    return Function(answer, oracle_, plan=made, **owed)


def lines(*which: int) -> list[Filter]:
    return [Filter([int(t) for t in TAPS[i]]) for i in which]


def energy_plan() -> Any:
    return sd.decouple([Mean(h(x) ** 2) for h in lines(0, 1, 2)])


def centred_energy_plan() -> Any:
    return sd.decouple([Mean(x), *(Mean(h(x) ** 2) for h in lines(0, 1, 2))])


def filter_moment_plan() -> Any:
    low, high = lines(0, 2)
    return sd.decouple([Mean(low(x) ** 2), Mean(high(x) ** 2), Mean(low(x) ** 4), Mean(high(x) ** 4)])


def fourth(y: Array) -> Any:
    return np.mean(np.asarray(y) ** 4, axis=-1)


def black_box_plan() -> Any:
    box = Feature.from_callable(fourth, lambda y: 4 * np.asarray(y) ** 3 / np.shape(y)[-1], "fourth")
    return sd.decouple([Mean(x), variance(), box], [0, 1, 3])


def log_cosh_plan() -> Any:
    return sd.decouple(sd.FeatureSet.parse("mean(x)", "mean(x^2)", "mean(log(cosh(x)))", "mean(tanh(x))"),
                       [0, 1, 0.375, 0], path="narrow")


def space_plan() -> Any:
    a, b, c = coordinates(3)
    return sd.decouple([a**2 + b**2 + c**2, a * b + c, sin(a) + b * c**2], [3, 0.25])


SKEWED = (0, 1, 0.5, 3.5)


def moments(order: int, path: str = "auto", reference: Any = "gaussian") -> Callable[[], Any]:
    return partial(_moments, order, path, reference)


def _moments(order: int, path: str, reference: Any) -> Any:
    return sd.decouple(families.raw_moments(order), reference, path=path)  # type: ignore[arg-type]


def affine(order: int) -> dict[str, Any]:
    """A unit and an offset are felt by the mean and the variance alone."""
    return {"degrees": (1, 2, 0, 0, 0, 0)[:order], "moved": (0,)}


ALONE: dict[str, Any] = {"degrees": (0,), "moved": (), "hard": 1e-12}
FOUR: dict[str, Any] = {**affine(4), "hard": 1e-12}
SIX: dict[str, Any] = {**affine(6), "bound": 1e-9, "sizes": (9, 33, 500)}  # as far as a level above the fourth is good
THREE: dict[str, Any] = {
    **affine(3), "fields": powers, "bound": 1e-11, "sizes": (8, 33),
}
SYMMETRIC = ("normal", "uniform")
STEEP = ("normal", "exponential")

FUNCTIONS: dict[str, Function] = {
    "skewness": Function(statistic(stats.skewness), lambda row: classical(row, 3)[2:], **ALONE),
    "kurtosis": Function(statistic(stats.kurtosis), lambda row: classical(row, 4)[3:], **ALONE),
    "orthokurtosis": Function(statistic(stats.orthokurtosis), lambda row: [oracle.orthokurtosis(row, 30)], **ALONE),
    "standardized": Function(statistic(stats.standardized_moments, 6), lambda row: classical(row, 6), hard=1e-12,
                             **affine(6)),
    "blest": Function(statistic(stats.blest, 6), lambda row: shifted(row, 6), hard=1e-12, **affine(6)),
    "decoupled, 4": Function(statistic(stats.decoupled_moments, 4), lambda row: decoupled(row, 4), **FOUR),
    "decoupled, 6": Function(statistic(stats.decoupled_moments, 6), lambda row: decoupled(row, 6), **SIX),
    "weighted kurtosis": Function(weighted(stats.kurtosis), lambda row: classical(repeated(row), 4)[3:], turned=3,
                                  **ALONE),
    "weighted orthokurtosis": Function(
        weighted(stats.orthokurtosis), lambda row: [oracle.orthokurtosis(repeated(row), 30)], turned=3, **ALONE),
    "weighted decoupled": Function(weighted(stats.decoupled_moments, 4), lambda row: decoupled(repeated(row), 4),
                                   turned=3, **affine(4)),
    "plan of four moments": planned(moments(4), lambda row: decoupled(row, 4), fields=powers, **FOUR),
    "plan of six moments": planned(moments(6), lambda row: decoupled(row, 6), fields=powers, **SIX),
    "another reference": planned(moments(5, reference=SKEWED), lambda row: decoupled(row, 5, SKEWED), fields=powers,
                                 **{**SIX, "degrees": (1, 2, 0, 0, 0)}),
    "relaxed path": planned(moments(3, "relaxed"), lambda row: classical(row, 3), **THREE),
    "broad path": planned(moments(3, "broad"), lambda row: classical(row, 3), **THREE),
    "parallel path": planned(moments(3, "parallel"), lambda row: classical(row, 3), **THREE),
    "narrow path": planned(moments(3, "narrow"), lambda row: classical(row, 3), **THREE),
    "energies": planned(energy_plan, energies, fields=of_energies, sizes=(12, 32, 500), laws=SYMMETRIC, turned=1),
    "energies behind the mean": planned(
        centred_energy_plan, lambda row: [row.mean(), *energies(row - row.mean())], sizes=(12, 32, 500), laws=SYMMETRIC,
        turned=1, moved=(0,)),
    "filter moments": planned(filter_moment_plan, lambda row: along_paths(row, at_outputs, (3, 6, 27)), bound=1e-9,
                              sizes=(16, 48), laws=SYMMETRIC, turned=1),
    "black box": planned(black_box_plan, lambda row: [classical(row, 4)[j] for j in (0, 1, 3)], degrees=(1, 2, 0),
                         moved=(0,), fields=powers, sizes=(8, 33)),
    "averages": planned(log_cosh_plan, lambda row: along_paths(row, log_cosh, (0, 1, 0.375)), bound=1e-9,
                        sizes=(8, 33), laws=STEEP),
    "coordinates": planned(space_plan, lambda row: along_paths(row, in_space, (3, 0.25)), bound=1e-9, sizes=(3,),
                           laws=STEEP, turned=3),
}
