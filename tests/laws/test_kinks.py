"""Sets with kinks: each answer verifies, survives JSON, says nothing of impulses, agrees with an oracle."""

from __future__ import annotations

import random
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any

import mpmath
import pytest
import sympy as sp

from symdecouple.calculus.certificates import verdict_from_json
from symdecouple.calculus.field import VectorField
from symdecouple.calculus.frobenius import check_frobenius
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.sample import coordinates
from symdecouple.verdict import Status, Verdict
from tests.laws.kinks import KINKS, NAMES


def subject(name: str) -> Any:
    items = KINKS[name][0]
    return items if isinstance(items[0], VectorField) else FeatureSet(items, allow_nonsmooth=NAMES)


@cache
def verdict_of(name: str) -> Verdict:
    return check_frobenius(subject(name))


HEAVY = {"mean, variance, mean abs z", "mean, second, Hoyer", "mean, Hoyer", "second, two thresholds", "mean, Huber",
         "second, Hoyer", "second, soft threshold", "mean, insensitive", "triangle", "mean, tanh of abs", "clipped",
         "absolute sine", "mean, semivariance", "mean, shifted Laplace", "mean, root of abs"}
ROWS = [pytest.param(name, marks=pytest.mark.slow) if name in HEAVY else name for name in KINKS]


@pytest.mark.parametrize("name", ROWS)
def test_the_answer_and_its_scope(name: str) -> None:
    _, c2, c1, everywhere = KINKS[name]
    verdict = verdict_of(name)
    assert (verdict.status.name, verdict.independence.status.name) == (c2, c1), str(verdict)
    assert verdict.certificate.agree == everywhere, str(verdict)
    assert everywhere or "samples with values" in verdict.scope or "where" in verdict.scope


@pytest.mark.parametrize("name", ROWS)
def test_every_answer_verifies_and_survives_json(name: str) -> None:
    verdict = verdict_of(name)
    text = verdict.to_json()
    assert not any(word in text + str(verdict) for word in ("DiracDelta", "Subs", "Derivative", "Side", "Within"))
    twin = verdict_from_json(text)
    assert str(twin) == str(verdict) and twin.certificate == verdict.certificate
    for each in (verdict, twin):
        assert each.certificate.verify(), [str(c) for c in each.certificate.audit() if not c.passed]
    assert twin.independence.certificate.verify()


# --- an oracle that shares nothing with the package: gradients and Hessians by differences of 240 digits ----------

PLAIN = sp.symbols("y1:13", real=True)


def ranks(features: Any, at: list[Fraction]) -> tuple[int, bool]:
    """The rank of the gradients at a sample, and whether all brackets are in their span there."""
    n = len(at)
    rule = dict(zip(coordinates(n), PLAIN[:n], strict=True))
    explicit = [f.at(n_samples=n).expr.xreplace(rule) for f in features]
    functions = [sp.lambdify(PLAIN[:n], e, "mpmath", cse=True) for e in explicit]
    with mpmath.workdps(240):
        point, h = [mpmath.mpf(q.numerator) / q.denominator for q in at], mpmath.mpf(10) ** -40

        def moved(f: Any, *steps: tuple[int, int]) -> Any:
            return f(*(point[i] + h * sum(c for j, c in steps if i == j) for i in range(n)))

        gradients = [[(moved(f, (i, 1)) - moved(f, (i, -1))) / (2 * h) for i in range(n)] for f in functions]
        hessians = [[[sum(c * d * moved(f, (min(i, j), c), (max(i, j), d)) for c in (1, -1) for d in (1, -1))
                      / (4 * h**2) for j in range(n)] for i in range(n)] for f in functions]
        basis: list[Any] = []

        def rest(vector: list[Any]) -> Any:
            column = mpmath.matrix(vector)
            for e in basis:
                column -= e * (e.T * column)[0]
            return column

        for gradient in gradients:
            column = rest(gradient)
            if mpmath.norm(column) > mpmath.mpf(10) ** -30:
                basis.append(column / mpmath.norm(column))
        brackets = [[mpmath.fsum(hessians[j][r][c] * gradients[i][c] - hessians[i][r][c] * gradients[j][c]
                                 for c in range(n)) for r in range(n)]
                    for i, j in combinations(range(len(functions)), 2)]
        return len(basis), all(mpmath.norm(rest(b)) < mpmath.mpf(10) ** -25 for b in brackets)


def checked_cells(name: str, most: int) -> int:
    """Compare the answers on up to so many cells with the oracle; return how many were compared."""
    verdict, compared = verdict_of(name), 0
    features, rng = subject(name), random.Random(11)
    for certificate, right in ((verdict.certificate, lambda rank, inside: inside),
                               (verdict.independence.certificate, lambda rank, inside: rank == len(features))):
        for part in certificate.parts[:most]:
            if part.certificate is None:
                continue
            about = part.certificate.subject
            if part.everywhere or (part.certificate.n0 is not None and not part.shares):  # shares may be special
                size = max(getattr(part.certificate, "n0", None) or 0, part.cell.size + 2, len(features) + 2)
                drawn = next(part.cell.draws(about, size, rng, None), None)
                sample = None if drawn is None or size > 8 or drawn[1] else drawn[0]
            else:
                sample = list(part.certificate.witness.sample)
            if sample is not None:
                assert right(*ranks(features, sample)) == (part.status is Status.PROVED), (name, part.cell, sample)
                compared += 1
    return compared


ORACLE = [name for name, row in KINKS.items() if not isinstance(row[0][0], VectorField) and "coordinates" not in name
          and "parameter" not in name]


@pytest.mark.parametrize("name", ORACLE[1::9])
def test_cells_against_the_oracle(name: str) -> None:
    assert checked_cells(name, 2) >= 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ORACLE)
def test_all_cells_against_the_oracle(name: str) -> None:
    assert checked_cells(name, 15) >= 1
