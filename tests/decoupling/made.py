"""Feature sets with their steps, and modified features differenced numerically: what the tests of verdicts share."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
import numpy as np
from sympy import Expr, Rational, cos, cosh, exp, log, sin, sympify, tanh

from symdecouple import FeatureSet, Group, Mean, NoClosedForm, decouple, kurtosis, skewness, variance, x
from symdecouple.decoupling.reference import reference_values
from symdecouple.decoupling.verdicts.modified import ModifiedSubject
from symdecouple.decoupling.verdicts.scenario import Verdicts
from symdecouple.flows.generators import generators
from symdecouple.flows.separable import flow
from symdecouple.flows.steps import TIME, Step, make_steps

M = [Mean(x**k) for k in range(5)]
FIFTH = Rational(1, 5)
SETS: dict[str, tuple[list[Any], list[Any]]] = {
    "three moments": (M[1:4], [0, 1, 0]),
    "four moments": (M[1:], [0, 1, 0, 3]),
    "skewed": ([Mean(x), variance(), skewness(), kurtosis()], [0, 1, Rational(1, 3), 3]),
    "fourth before third": ([M[1], M[2], M[4], M[3]], [0, 1, 3, 0]),
    "log cosh": ([M[1], M[2], Mean(log(cosh(x)))], [0, 1, None]),
    "tanh": ([M[1], variance(), Mean(tanh(x))], [2, 5, None]),
    "exponentials": ([Mean(x), Mean(exp(x)), Mean(exp(-x)), Mean(exp(2 * x))], [0, 2, 2, None]),
    "exponentials together": ([Group(Mean(x), Mean(exp(x)), Mean(exp(-x))), Mean(exp(2 * x))], [0, 2, 2, None]),
    "circle": ([Group(Mean(x), Mean(sin(x)), Mean(cos(x))), Mean(sin(2 * x))], [0, 0, exp(-FIFTH), None]),
    "powers": ([Mean(x**2), Mean(x**5)], [1, FIFTH]),
    "powers and mean": ([Mean(x**2), Mean(x**5), Mean(x)], [1, FIFTH, None]),
    "third first": ([Mean(x**3), Mean(x**2)], [0, None]),
    "third and a group": ([Mean(x**3), Group(Mean(x**2), Mean(x))], [0, None, None]),
    "one root": ([Mean(x**2 + x**4), Mean(x)], [4, None]),
}


@dataclass(frozen=True)
class Made:
    features: FeatureSet
    values: tuple[Expr | None, ...]
    steps: tuple[Step, ...]
    stopped: str

    def verdicts(self, **options: Any) -> Verdicts:
        return Verdicts(self.features, self.steps, self.values, stopped=self.stopped, **options)

    def subject(self, count: int) -> ModifiedSubject:
        return ModifiedSubject.first(self.features, count, self.values)


def made_of(features: list[Any], values: list[Any]) -> Made:
    """Steps as far as flows are found, level by level; the last feature needs none."""
    given = FeatureSet(features)
    exprs = tuple(None if v is None else sympify(v) for v in values)
    flows, stopped = [], ""
    for k in range(1, len(given)):
        try:
            flows.append(flow(generators(list(given)[:k]).fields[-1], time=TIME, sample=given.sample).expr)
        except NoClosedForm as error:
            stopped = str(error)
            break
    count = len(flows)
    return Made(given, exprs, tuple(make_steps(list(given)[:count], flows, list(exprs[:count]), given.sample)), stopped)


@cache
def made(name: str) -> Made:
    return made_of(*SETS[name])


@cache
def verdicts(name: str) -> Verdicts:
    return made(name).verdicts()


# --- the oracle: values of the plan at displaced samples -------------------------------------------------------------


@cache
def plan(name: str) -> Any:
    features, values = SETS[name]
    last = FeatureSet(features)
    numbers = [v if v is not None else 0 for v in values]
    assert len(reference_values(last, numbers)) == len(numbers)
    return decouple(last, numbers)


def exactly(numbers: list[Any]) -> tuple[Fraction, ...]:
    """The middles of enclosures, rationals as they are."""
    ends = [v if isinstance(v, (int, Fraction)) else v.mid._mpi_[0] for v in numbers]
    return tuple(Fraction(v) if isinstance(v, (int, Fraction)) else
                 (-1) ** v[0] * Fraction(int(v[1])) * Fraction(2) ** v[2] for v in ends)


@cache
def differenced(name: str, sample: tuple[Fraction, ...], dps: int = 40) -> tuple[list[Any], list[Any]]:
    """N grad and N Hessian of every modified feature, by central differences of `Plan.transform`, to 20 digits."""
    n = len(sample)
    with mpmath.workdps(dps):
        h = mpmath.mpf(10) ** (-dps // 4)
        base = [mpmath.mpf(v.numerator) / v.denominator for v in sample]

        moves: list[tuple[tuple[int, int], ...]] = [(), *(((i, s),) for i in range(n) for s in (1, -1))]
        moves += [((i, s), (j, t)) for i in range(n) for j in range(i) for s in (1, -1) for t in (1, -1)]
        points = np.array([base] * len(moves), dtype=object)
        for point, move in zip(points, moves, strict=True):
            for index, sign in move:
                point[index] += sign * h
        values = dict(zip(moves, plan(name).transform(points, dps=dps), strict=True))
        there = values[()]
        up, down = ([values[((i, s),)] for i in range(n)] for s in (1, -1))
        count = len(there)
        gradients = [[n * (up[i][f] - down[i][f]) / (2 * h) for i in range(n)] for f in range(count)]
        hessians = [mpmath.matrix(n, n) for _ in range(count)]
        for i in range(n):
            for j in range(i):
                corners = [values[(i, s), (j, t)] for s, t in ((1, 1), (1, -1), (-1, 1), (-1, -1))]
                for f in range(count):
                    a, b, c, d = (corner[f] for corner in corners)
                    hessians[f][i, j] = hessians[f][j, i] = n * (a - b - c + d) / (4 * h * h)
            for f in range(count):
                hessians[f][i, i] = n * (up[i][f] - 2 * there[f] + down[i][f]) / (h * h)
    return gradients, hessians


def differenced_minor(name: str, sample: Any, columns: Any, pair: tuple[int, int], rows: Any) -> Any:
    """The minor of gradients and one bracket, [u, v] = (Dv) u - (Du) v, from differences."""
    gradients, hessians = differenced(name, tuple(sample))
    with mpmath.workdps(40):
        i, j = pair[0] - 1, pair[1] - 1
        u, v = mpmath.matrix(gradients[i]), mpmath.matrix(gradients[j])
        bracket = hessians[j] * u - hessians[i] * v
        vectors = [mpmath.matrix(gradients[k - 1]) for k in columns] + [bracket]
        return mpmath.det(mpmath.matrix([[vector[r - 1] for vector in vectors] for r in rows]))
