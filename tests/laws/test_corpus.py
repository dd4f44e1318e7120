"""The natural corpus: the oracle confirms its answers, and no verdict contradicts them."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.laws.corpus import CORPUS, answers
from tests.laws.report import look

OPEN = frozenset({
    "tanh score", "mean absolute value", "mean absolute deviation", "mean absolute standardized", "relu",
    "relu and energy", "Huber", "secant", "negative binomial", "Poisson", "digamma score", "stable softmax",
    "secant and tangent", "hyperbolic", "tanh and sech",
})
"""What is not decided yet; a set that is not listed must be."""

BROKEN = frozenset({"gamma and its normalizer", "hyperbolic"})
"""What raises, or has a certificate that does not verify."""

QUICK = [name for k, name in enumerate(CORPUS) if k % 7 == 0 and name != "Hjorth parameters"]
"""What runs each time; the others are slow together."""


def test_every_family_has_at_least_twelve_sets() -> None:
    families = Counter(row.family for row in CORPUS.values())
    assert len(families) == 7 and min(families.values()) >= 12


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in CORPUS])
def test_the_answers_are_those_of_the_oracle(name: str) -> None:
    found = answers(CORPUS[name], 2 if name in QUICK else 6)
    assert len(found) >= 2
    assert all((a.independent, a.involutive) == (CORPUS[name].independent, CORPUS[name].involutive) for a in found)


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in CORPUS])
def test_no_verdict_contradicts_the_answer(name: str) -> None:
    found = look(CORPUS[name])
    assert not found.complaint or name in BROKEN, f"{found.complaint}\n{found.verdict}"
    assert found.status in ("PROVED", "REFUTED") or name in OPEN, found.reason
