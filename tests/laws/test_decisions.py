"""A verdict does not depend on how the question is put; in coordinates, and by an oracle of its own, it is the same."""

from __future__ import annotations

import random
from itertools import permutations
from typing import Any

import pytest
import sympy as sp
from sympy import Integer, Rational, cos, exp, sin

from symdecouple import FeatureSet, Mean, Status, check_frobenius, check_independence, skewness, variance, x
from symdecouple.language.canonical import Statistic, close
from tests.laws.examples import SETS
from tests.laws.ranks import drawn_sample, ranks

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
    """The span does not change with f -> g(f), nor when a function of the others is added: two of four for each set."""
    features, expected = SETS[name]
    first, last, turn = features[0], features[-1], list(SETS).index(name) % 2
    holds([(first**3 + first, exp(first))[turn], *features[1:]], expected)
    holds([*features[:-1], (last + first**2, last * (1 + first**2))[turn]], expected)


@pytest.mark.parametrize("name", ["moments", "gap", "second and fifth", "raw", "mixed", "two sines", "sines", "poles"])
def test_in_explicit_coordinates(name: str) -> None:
    features, expected = SETS[name]
    n = len(features) + 1
    explicit = FeatureSet(features).at(n_samples=n)
    for verdict in (check_frobenius(explicit), check_frobenius(features, n_samples=n)):
        if verdict.status is not Status.UNDECIDED:
            assert verdict.status is ANSWER[expected] and not verdict.vacuous and verdict.certificate.verify()
    assert check_frobenius(features, n_samples=n).status is ANSWER[expected]


# --- random sets against an oracle of its own: ranks of gradients and brackets at a sample ---------------------------



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
    own, whole = ranks(features, drawn_sample(rng, n))
    found = own == whole if own == len(features) else None
    context = f"seed {seed}: {features}\n{verdict}"
    assert found is not None or independent.status is not Status.PROVED or (independent.n0 or 9) > n, context
    if independent.status is Status.REFUTED:
        assert found is None, context
    if found is not None and verdict.status is Status.PROVED:
        assert found, context
    if found is not None and verdict.status is Status.REFUTED and (verdict.n0 or 9) <= n:
        assert not found, context
    return verdict.status.name


@pytest.mark.parametrize(("first", "count"), [(0, 3), *(pytest.param(*block, marks=pytest.mark.slow) for block in (
    (3, 3), (6, 3), (9, 3), *((first, 20) for first in range(1000, 1200, 20))))])
def test_random_sets_against_the_oracle(first: int, count: int) -> None:
    decided = [attack(seed) for seed in range(first, first + count)]
    assert any(name != "UNDECIDED" for name in decided)
