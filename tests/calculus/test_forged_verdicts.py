"""A verdict's JSON with one key edited: it is refused, or does not verify, or prints the very same text."""

from __future__ import annotations

import copy
import dataclasses
import json
import re
import time
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from sympy import Add, Integer, Mul, Symbol

from symdecouple import Mean, Status, VectorField, Verdict, check_frobenius, kurtosis, variance, x
from symdecouple.calculus.certificates import verdict_from_json
from symdecouple.calculus.witness import Minor
from symdecouple.errors import InvalidInput
from tests.calculus.certified import AT_A_SAMPLE, VERDICTS

p, theta = Symbol("p_x"), Symbol("theta")
HONEST: dict[str, Verdict] = {
    "proved": VERDICTS["constant"], "at one size": VERDICTS["one size"], "refuted": VERDICTS["refuted"],
    "vacuous": VERDICTS["full"], "dependent": VERDICTS["dependent"], "relation": VERDICTS["relation at"],
    "many": VERDICTS["too many"], "independent": VERDICTS["independent"], "parameters": VERDICTS["parameters"],
    "filtered": VERDICTS["kernels"], "explicit": VERDICTS["explicit"],
    "own coordinates": check_frobenius([VectorField([1, 0], [p, theta]), VectorField([theta, 1], [p, theta])]),
    "written out": check_frobenius([Mean(x), variance(), kurtosis()], n_samples=3),
    "at a sample": AT_A_SAMPLE["relation at a sample"], "independent there": AT_A_SAMPLE["minor at a sample"],
}
OTHERS = {
    str: ["", "REFUTED", "the opposite holds", "Mean(x**7)"], bool: [True, False, 1], int: [3, 4, 1000, 2.5, "5"],
    float: [0.0, "soon"], type(None): [3, True, "x"],
}


def edits(value: Any, inside: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every place outside certificates, with other values for it."""
    if isinstance(value, dict):
        for key, part in value.items():
            if key == "certificate" and isinstance(part, dict):
                yield (*inside, key), None
            else:
                yield from edits(part, (*inside, key))
        if inside:
            yield inside, None
    elif isinstance(value, list):
        for k, part in enumerate(value[:2]):
            yield from edits(part, (*inside, k))
        yield inside, value[:-1] if value else ["the opposite holds"]
        yield inside, [*value, value[0] if value else {"a": "5"}]
    else:
        yield from ((inside, other) for other in OTHERS[type(value)] if other is not value and other != value)


def edited(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    data = copy.deepcopy(data)
    target = data
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    return data


def shown(verdict: Verdict) -> tuple[str, str]:
    return str(verdict), verdict._repr_latex_()


def is_caught(data: Any, honest: tuple[str, str]) -> bool:
    try:
        read = verdict_from_json(json.dumps(data))
    except InvalidInput:
        return True
    return shown(read) == honest or not read.verify()


@pytest.mark.parametrize("name", HONEST)
def test_the_honest_verdict_verifies_here_and_read_back(name: str) -> None:
    verdict = HONEST[name]
    twin = verdict_from_json(verdict.to_json())
    assert verdict.verify(), "\n".join(map(str, verdict.audit()))
    assert twin.verify() and shown(twin) == shown(verdict)


QUICK = ("proved", "refuted", "vacuous", "many", "independent", "parameters", "own coordinates", "at a sample")


@pytest.mark.parametrize("name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)
                                  for name in HONEST])
def test_every_key_edited(name: str) -> None:
    data, honest = HONEST[name].to_dict(), shown(HONEST[name])
    for path, value in edits(data):
        if path == ("exceptions",) and value == []:
            continue  # exceptional parameters are given as far as found
        assert is_caught(edited(data, path, value), honest), (path, value)


def changed(value: str) -> dict[str, Any]:
    return {"values": {"a": value}, "changes": {"C1": "REFUTED"}, "undefined": ""}


def test_parts_of_another_verdict_are_refused() -> None:
    proved, other = (VERDICTS[k].to_dict() for k in ("constant", "refuted"))
    weaker = check_frobenius([Mean(x), Mean(x**2), Mean(x**3)], n_samples=5).to_dict()
    for data in (proved | {"independence": other["independence"]}, proved | {"certificate": other["certificate"]},
                 proved | {"independence": weaker["independence"]}, proved | {"independence": proved},
                 proved | {"exceptions": [changed("0")]}):
        assert is_caught(data, shown(VERDICTS["constant"]))
    twice = edited(VERDICTS["parameters"].to_dict(), ("exceptions",), [changed("3")])
    assert not verdict_from_json(json.dumps(twice)).verify(), "the answer at a = 3 is the generic one"


def test_the_refusal_says_what_was_edited() -> None:
    for key, value in (("subject", ["Mean(x)"] * 3), ("vacuous", True), ("n_samples", 1), ("failing_pair", [1, 2]),
                       ("n0", 7), ("reason", "because")):
        with pytest.raises(InvalidInput, match=f"{key}.*edited.*certificate"):
            verdict_from_json(json.dumps(VERDICTS["constant"].to_dict() | {key: value}))


def test_verdicts_without_a_certificate_have_nothing_to_verify() -> None:
    for verdict in (Verdict("C2", Status.UNDECIDED, ("f",)), Verdict("C1", Status.NUMERICAL, (), holds=True,
                                                                    residual=0.0, tolerance=1e-6)):
        (check,) = verdict.audit()
        assert not verdict.verify() and "nothing to verify" in check.detail


def test_a_forged_verdict_in_memory_does_not_verify() -> None:
    verdict = VERDICTS["constant"]
    for change in ({"subject": ("a", "b", "c")}, {"vacuous": True}, {"n_samples": 1}, {"independence": None},
                   {"evidence": ("proved by inspection",)}, {"exceptions": ({"b": 3},)}):
        assert not dataclasses.replace(verdict, **change).verify(), change
    assert dataclasses.replace(verdict, reason="because").reason == verdict.reason, "the certificate's own"


# --- a certificate from a stranger is refused or checked in bounded time ------------------------------------------

m, s, q = Mean(x), Mean(x**2), Mean(x**3)
MONSTERS = [(m + 1) ** 200, ((m + 1) ** 200 + 1) ** 200, ((((m + 1) ** 20 + 1) ** 20) + s) ** 20,
            (m + s + q + Mean(x**4) + 1) ** 90, Mean(x**200) ** 200, 1 / ((m + 1) ** 200 + s) ** 199,
            Add(*(1 / (m + k * s + k**2 * q + Mean(x**4) + 1) for k in range(40))), Integer(10) ** 1000 * m**200]


@pytest.mark.parametrize("monster", range(len(MONSTERS)))
def test_one_large_weight_does_not_stall(monster: int) -> None:
    weight, proof = MONSTERS[monster], VERDICTS["constant"].certificate
    zero = Add(weight, Mul(-1, weight, evaluate=False), evaluate=False)
    for row in ((weight, Integer(0), Integer(0)), (zero, Integer(0), Integer(0))):
        forged = dataclasses.replace(proof, structure={**proof.structure, (1, 2): row})
        start = time.process_time()
        forged.audit(budget=5.0)
        assert time.process_time() - start < 8
    relation = VERDICTS["relation"].certificate
    assert not dataclasses.replace(relation, relation=(weight, *relation.relation[1:])).verify(budget=5.0)


def test_other_sizes_are_bounded() -> None:
    refuted, at = VERDICTS["refuted"].certificate, AT_A_SAMPLE["intervals at a sample"].certificate
    witness = refuted.witness
    long = tuple(Fraction(k) for k in range(100_000))
    huge = tuple(Fraction(10**5000 + k) for k in range(5))
    for bad in ({"sample": long}, {"sample": huge}, {"digits": 1000}, {"digits": True}, {"digits": 0},
                {"rows": tuple(range(1, 10**5))}, {"minor": Minor(Fraction(1), Fraction(10**4000))}):
        start = time.process_time()
        forged = dataclasses.replace(refuted, witness=dataclasses.replace(witness, **bad))
        assert not forged.verify() and time.process_time() - start < 2, bad
    assert not dataclasses.replace(at, digits=1000).verify()
    above = dataclasses.replace(at, sample=(Fraction(10) ** 900, Fraction(1), Fraction(2)))
    assert not above.verify(), "an exponential that would fill the memory"
    many = dataclasses.replace(VERDICTS["constant"].certificate,
                               structure={(i, j): (Integer(0),) * 3 for i in range(1, 300) for j in range(i + 1, 300)})
    assert not many.verify()
    taps = tuple(Fraction(1) for _ in range(10**5 + 1))
    named = VERDICTS["kernels"].certificate
    kernel = dataclasses.replace(named.witness.kernels[0], taps=taps, shape=(len(taps),))
    assert not dataclasses.replace(named, witness=dataclasses.replace(named.witness, kernels=(kernel,))).verify()


def test_time_that_is_over_is_a_failed_check() -> None:
    checks = check_frobenius([Mean(x), variance(), kurtosis()]).audit(budget=1e-3)
    assert "BudgetExceeded" in checks[-1].detail and not checks[-1].passed


@pytest.mark.parametrize("text", ["[" * 10**6, "{" * 10**6, '"' + "x" * 10**6, "1" * 10**6, "-", "[1e999]"])
def test_texts_that_nest_or_go_on(text: str) -> None:
    with pytest.raises(InvalidInput):
        verdict_from_json(text)


# --- the chance that a false identity passes ----------------------------------------------------------------------

y = [Symbol(f"y{k}") for k in (1, 2, 3)]


@pytest.mark.parametrize(("u", "v"), [
    ([1, 0, 0], [1, 1, y[1] ** 30 + y[1] ** 7]), ([1, 0, 0], [1, 0, 0 * y[0] + 3]), ([0, 0, 1], [1, 0, 0]),
    ([y[0], 0, 0], [0, y[0] ** 9 / (y[1] + 1), 0]), ([1, 0, y[1]], [0, 1, y[0]])], ids=str)
def test_the_chance_is_that_of_all_components(u: list[Any], v: list[Any]) -> None:
    verdict = check_frobenius([VectorField(u, y), VectorField(v, y)])
    assert verdict.status is Status.PROVED
    (detail,) = (c.detail for c in verdict.audit() if "by jets" in c.name)
    chance = float(re.search(r"probability < (\S+)", detail)[1])
    assert 1e-12 <= chance < 1e-6 and "-" not in detail.replace("e-", "")
