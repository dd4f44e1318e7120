"""Independent by the rounding of floats only: still proved, and pointed out; other sets are left alone."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from sympy import Rational, exp, sqrt

from symdecouple import Mean, VectorField, check_frobenius, check_independence, coordinates, verdict_from_json, x
from symdecouple.language.filters import Filter

H = np.array([1.0, -2.3, 0.7])


def energy(taps: Any) -> Any:
    return Mean(Filter(list(taps))(x) ** 2)


def near(*coefficients: float) -> list[Any]:
    return [Mean(sum(c * f for c, f in zip(coefficients, (x, x**2, exp(x)), strict=False))) for coefficients in
            (coefficients, [c / 3 for c in coefficients])]


NEAR: dict[str, tuple[list[Any], str]] = {
    "taps": ([energy(H), energy(H / np.linalg.norm(H))], "taps"),
    "taps among others": ([energy([1.0, 2.0, 1.0]), energy(H), energy(H / 7)], "taps"),
    "taps in a plane": ([energy(np.outer(H, H)), energy(np.outer(H, H) / 3)], "taps"),
    "coefficients": (near(0.1, 0.7), "coefficients"), "three of them": (near(0.1, 0.7, 0.3), "coefficients"),
    "beside the mean": ([Mean(exp(x)), *near(0.1, 0.7)], "coefficients"),
    "fields": (list(VectorField.columns([[0.1, 0.1 / 3], [0.7, 0.7 / 3]], coordinates(2))), "coefficients"),
}
FAR: dict[str, list[Any]] = {
    "moments": [Mean(x**k) for k in range(1, 9)],
    "moments with a float": [Mean(0.12345678901234567 * x**k) for k in range(1, 7)],
    "short numbers that are near": [Mean(x**2), Mean(x**2 + x * Rational(1, 10**12))],
    "taps": [energy(H), energy([1.0, 2.0, 1.0])], "long taps": [energy(H / 3), energy([1 / 3, 2 / 3, 0.1])],
    "roots": [Mean(x), Mean(sqrt(2) * x**2)],
}


@pytest.mark.parametrize("name", NEAR)
def test_what_rounding_makes_independent_is_pointed_out(name: str) -> None:
    features, source = NEAR[name]
    verdict = check_independence(features)
    assert verdict.status.name == "PROVED", "still exact"
    (note,) = verdict.evidence
    assert f"of the {source}" in note and "dependent but for" in note and note in str(verdict)
    figure = float(note.split("but for ")[1].split()[0])
    assert 1e-20 < figure < 1e-12
    assert verdict.verify() and verdict_from_json(verdict.to_json()) == verdict
    assert note in str(check_frobenius(features)), "shown where C2 rests on it"


@pytest.mark.parametrize("name", FAR)
def test_other_sets_are_left_alone(name: str) -> None:
    assert check_independence(FAR[name]).evidence == ()


def test_at_a_sample() -> None:
    features, _ = NEAR["taps"]
    (note,) = check_independence(features, at=[1, 2, 3, 5, 8, 1]).evidence
    assert "of the taps" in note
    verdict = check_independence([Mean(x), Mean(x**2), Mean(x**3)], at=[0.1, 0.1 + 0.2, 0.3, 0.3])
    assert "of the sample" in verdict.evidence[0] and verdict.verify()
    assert check_independence([Mean(x), Mean(x**2), Mean(x**3)], at=[0.1, 0.2, 1 / 3, 0.7]).evidence == ()


def test_a_note_cannot_be_edited_away() -> None:
    data = check_independence(NEAR["taps"][0]).to_dict()
    assert not verdict_from_json(json.dumps(data | {"evidence": []})).verify()
