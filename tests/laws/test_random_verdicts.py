"""A slice of the fuzz: no random verdict contradicts the oracle, raises, or has a certificate that does not verify."""

from __future__ import annotations

import random

import pytest

from tests.laws.fuzz import case, examine
from tests.laws.plain_jets import answer_for_features
from tests.laws.random_sets import KINDS, draw_row

COUNT, HEAVY = 12, (1, 5)


@pytest.mark.parametrize("number", [
    n if n < COUNT and n not in HEAVY else pytest.param(n, marks=pytest.mark.slow) for n in range(400)])
def test_random_verdicts(number: int) -> None:
    found = examine(7, number)
    assert not found["wrong"], found


def test_every_kind_is_drawn_and_a_number_names_its_set() -> None:
    assert {draw_row(random.Random(k)).family for k in range(400)} >= set(KINDS)
    assert [case(1, k)[0] for k in range(5)] == [case(1, k)[0] for k in range(5)]


def test_the_oracle_on_sets_known_by_hand() -> None:
    """Moments to order 3 stay, those to order 4 do not; the variance depends on both moments."""
    for texts, expected in ((["mean(x)", "mean(x^2)", "mean(x^3)"], (True, True)),
                            (["mean(x)", "mean(x^2)", "mean(x^3)", "mean(x^4)"], (True, False)),
                            (["mean(x)", "mean(x^2)", "variance()"], (False, True)),
                            (["mean(sin(x))", "mean(cos(x))"], (True, False)),
                            (["mean(taps((-1,2,-1))(x)^2)", "mean(x)"], (True, True))):
        assert answer_for_features(texts, 6, "real", random.Random(1)) == expected
