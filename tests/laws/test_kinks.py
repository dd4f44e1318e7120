"""Sets with kinks: each answer verifies, survives JSON, says nothing of impulses, agrees with an oracle."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import pytest

from symdecouple import FeatureSet, Status, VectorField, Verdict, check_frobenius, verdict_from_json
from tests.laws.kinks import KINKS, NAMES
from tests.laws.ranks import ranks


def subject(name: str) -> Any:
    items = KINKS[name][0]
    return items if isinstance(items[0], VectorField) else FeatureSet(items, allow_nonsmooth=NAMES)


@cache
def verdict_of(name: str) -> Verdict:
    return check_frobenius(subject(name))


HEAVY = {"mean, variance, mean abs z", "mean, second, Hoyer", "mean, Hoyer", "second, two thresholds", "mean, Huber",
         "second, Hoyer", "second, soft threshold", "mean, insensitive", "triangle", "mean, tanh of abs", "clipped",
         "abs of exponentials", "absolute sine", "mean, semivariance", "mean, shifted Laplace", "mean, root of abs"}
ROWS = [pytest.param(name, marks=pytest.mark.slow) if name in HEAVY else name for name in KINKS]


@pytest.mark.parametrize("name", ROWS)
def test_the_answer_and_its_scope_verify_and_survive_json(name: str) -> None:
    _, c2, c1, everywhere = KINKS[name]
    verdict = verdict_of(name)
    assert (verdict.status.name, verdict.independence.status.name) == (c2, c1), str(verdict)
    assert verdict.certificate.agree == everywhere, str(verdict)
    assert everywhere or "samples with values" in verdict.scope or "where" in verdict.scope
    text = verdict.to_json()
    assert not any(word in text + str(verdict) for word in ("DiracDelta", "Subs", "Derivative", "Side", "Within"))
    twin = verdict_from_json(text)
    assert str(twin) == str(verdict) and twin.certificate == verdict.certificate
    for each in (verdict, twin):
        assert each.certificate.verify(), [str(c) for c in each.certificate.audit() if not c.passed]
    assert twin.independence.certificate.verify()


# --- an oracle of its own on every cell: ranks of gradients and brackets at a sample ----------------------------------


def checked_cells(name: str, most: int) -> int:
    """Compare the answers on up to so many cells with the oracle; return how many were compared."""
    verdict, compared = verdict_of(name), 0
    features, rng = subject(name), random.Random(11)
    for certificate, right in ((verdict.certificate, lambda own, whole: own == whole),
                               (verdict.independence.certificate, lambda own, whole: own == len(features))):
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


@pytest.mark.parametrize(("name", "most"), [*((name, 2) for name in ORACLE[1::9]), *(
    pytest.param(name, 15, marks=pytest.mark.slow) for name in ORACLE)])
def test_cells_against_the_oracle(name: str, most: int) -> None:
    assert checked_cells(name, most) >= 1
