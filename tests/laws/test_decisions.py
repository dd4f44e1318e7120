"""A verdict does not depend on how the question is put; in coordinates, and by an oracle of its own, it is the same."""

from __future__ import annotations

import random
from itertools import combinations, permutations
from typing import Any

import mpmath
import pytest
import sympy as sp
from sympy import Integer, Rational, cos, exp, sin

from symdecouple.calculus.frobenius import check_frobenius
from symdecouple.calculus.independence import check_independence
from symdecouple.language.canonical import Statistic, close
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.mean import Mean
from symdecouple.language.sample import coordinates, x
from symdecouple.language.statistics import skewness, variance
from symdecouple.verdict import Status
from tests.laws.examples import SETS

ANSWER = {True: Status.PROVED, False: Status.REFUTED}


def holds(features: Any, expected: bool, **options: Any) -> None:
    verdict = check_frobenius(features, **options)
    assert verdict.status is ANSWER[expected], str(verdict)
    assert verdict.certificate.verify()


@pytest.mark.parametrize("name", SETS)
def test_the_answer(name: str) -> None:
    holds(*SETS[name])


@pytest.mark.parametrize("name", SETS)
def test_reordering(name: str) -> None:
    features, expected = SETS[name]
    for order in list(permutations(features))[1::3]:
        holds(list(order), expected)


@pytest.mark.parametrize("name", SETS)
def test_scaling_and_shifting(name: str) -> None:
    features, expected = SETS[name]
    holds([Rational(-7, 3) * features[0] + 5, *(3 * f - 1 for f in features[1:])], expected)


@pytest.mark.parametrize("name", [n for n in SETS if n not in ("standardized", "raw")])
def test_functions_of_the_features(name: str) -> None:
    """The span does not change with f -> g(f), nor when a function of the others is added."""
    features, expected = SETS[name]
    first, last = features[0], features[-1]
    holds([first**3 + first, *features[1:]], expected)
    holds([exp(first), *features[1:]], expected)
    holds([*features[:-1], last + first**2], expected)
    holds([*features[:-1], last * (1 + first**2)], expected)


@pytest.mark.parametrize("name", ["moments", "gap", "second and fifth", "raw", "mixed", "two sines", "sines", "poles"])
def test_in_explicit_coordinates(name: str) -> None:
    features, expected = SETS[name]
    n = len(features) + 1
    explicit = FeatureSet(features).at(n_samples=n)
    for verdict in (check_frobenius(explicit), check_frobenius(features, n_samples=n)):
        if verdict.status is not Status.UNDECIDED:
            assert verdict.status is ANSWER[expected] and not verdict.vacuous and verdict.certificate.verify()
    assert check_frobenius(features, n_samples=n).status is ANSWER[expected]


# --- a numeric oracle of its own: rank of gradients and brackets at a sample, by differences of 240 digits -------

PLAIN = sp.symbols("y1:7", real=True)


def brackets_stay(features: list[Any], n: int, rng: random.Random) -> bool | None:
    """Whether every bracket is in the span of the gradients at a random sample; None where they are dependent."""
    rule = dict(zip(coordinates(n), PLAIN[:n], strict=True))
    explicit = [FeatureSet([f]).at(n_samples=n)[0].expr.xreplace(rule) for f in features]
    functions = [sp.lambdify(PLAIN[:n], f, "mpmath", cse=True) for f in explicit]
    with mpmath.workdps(240):
        at, h = [mpmath.mpf(k) / 97 for k in rng.sample(range(20, 300), n)], mpmath.mpf(10) ** -40

        def moved(f: Any, *steps: tuple[int, int]) -> Any:
            return f(*(at[i] + h * sum(sign for j, sign in steps if i == j) for i in range(n)))

        def slope(f: Any, i: int) -> Any:
            return (moved(f, (i, 1)) - moved(f, (i, -1))) / (2 * h)

        def bend(f: Any, i: int, j: int) -> Any:
            return sum(s * t * moved(f, (i, s), (j, t)) for s in (1, -1) for t in (1, -1)) / (4 * h**2)

        gradients = [[slope(f, i) for i in range(n)] for f in functions]
        hessians = [[[bend(f, min(i, j), max(i, j)) for j in range(n)] for i in range(n)] for f in functions]

        def distance(vectors: list[list[Any]], vector: list[Any], size: Any) -> Any:
            rest = mpmath.matrix(vector)
            basis: list[Any] = []
            for each in vectors:
                column = mpmath.matrix(each)
                for e in basis:
                    column -= e * (e.T * column)[0]
                length = mpmath.norm(column)
                if length < mpmath.mpf(10) ** -30:
                    return None
                basis.append(column / length)
            for e in basis:
                rest -= e * (e.T * rest)[0]
            return mpmath.norm(rest) / size

        for i, j in combinations(range(len(features)), 2):
            terms = [
                [s * hessians[k][r][c] * gradients[q][c] for c in range(n) for s, k, q in ((1, j, i), (-1, i, j))]
                for r in range(n)
            ]
            size = max(abs(term) for row in terms for term in row) or mpmath.mpf(1)
            out = distance(gradients, [mpmath.fsum(row) for row in terms], size)
            if out is None:
                return None
            if out > mpmath.mpf(10) ** -25:
                return False
    return True


def random_feature(rng: random.Random) -> Any:
    m, s = Mean(x), Mean(x**2)
    k, c = rng.randint(1, 4), Integer(rng.randint(-2, 3))
    atoms = [
        Mean(x**k), Mean(exp(x)), Mean(exp(-x)), Mean(sin(x)), Mean(cos(x)), Mean(sin(x) ** 2), Mean(1 / (1 + x**2)),
        Mean(x * exp(x)), variance(), Mean((x - m) ** 2 * x), Mean(exp(x - m)), skewness() ** 2, Mean(x**k + c * x),
        Mean(1 / (1 + exp(x))), Mean(sin(x) * cos(x)), Mean(cos(2 * x)), Mean((x - m) ** k + x),
    ]
    first, second = rng.sample(atoms, 2)
    return rng.choice(
        [
            first, first, first + c * m, first * second, first / (1 + s), first + second**2, first**2 + m,
            sp.sqrt(first**2 + 1),
        ]
    )


def attack(seed: int) -> str:
    """Decide a random set and compare with the oracle; return what was decided."""
    rng = random.Random(seed)
    features: list[Any] = []
    while len(features) < rng.choice((2, 2, 3)):
        candidate = random_feature(rng)
        if close(candidate).atoms(Statistic) and candidate not in features:
            features.append(candidate)
    verdict = check_frobenius(features, budget=4)
    independent = check_independence(features, budget=4)
    n = max(4, len(features) + 2)
    found = brackets_stay(features, n, rng)
    context = f"seed {seed}: {features}\n{verdict}"
    assert found is not None or independent.status is not Status.PROVED or (independent.n0 or 9) > n, context
    if independent.status is Status.REFUTED:
        assert found is None, context
    if found is not None and verdict.status is Status.PROVED:
        assert found, context
    if found is not None and verdict.status is Status.REFUTED and (verdict.n0 or 9) <= n:
        assert not found, context
    return verdict.status.name


@pytest.mark.parametrize("block", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in (1, 2, 3))])
def test_random_sets_against_the_oracle(block: int) -> None:
    decided = [attack(seed) for seed in range(3 * block, 3 * block + 3)]
    assert any(name != "UNDECIDED" for name in decided)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_many_random_sets_against_the_oracle(block: int) -> None:
    for seed in range(1000 + 20 * block, 1000 + 20 * block + 20):
        attack(seed)
