"""Certificates as values and as JSON: there and back, and hostile text refused."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
from typing import Any

import pytest

from symdecouple import InvalidInput, Mean, check_frobenius, kurtosis, variance, verdict_from_json, x
from tests.calculus.certified import AT_A_SAMPLE, VERDICTS

EVERY = VERDICTS | AT_A_SAMPLE

# --- JSON, values -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EVERY)
def test_json_and_back(name: str) -> None:
    verdict = EVERY[name]
    text = verdict.to_json()
    twin = verdict_from_json(text)
    assert twin == verdict and twin.certificate.verify() and twin.to_json() == text and str(twin) == str(verdict)
    with pytest.raises(InvalidInput, match="keeps no features"):
        twin.at({"a": 1})


@pytest.mark.parametrize("features", [[Mean(x), Mean(x**2), Mean(x**3), Mean(x**4)], [Mean(x), variance(), kurtosis()],
                                      [Mean(x), Mean(x**2), Mean(x) + Mean(x**2)]], ids=str)
def test_a_size_too_large_to_write_out_goes_through_json(features: list) -> None:
    """Its certificate is the one for every N; but for a size below N0 such a certificate says nothing."""
    verdict = check_frobenius(features, n_samples=1000)
    twin = verdict_from_json(verdict.to_json())
    assert twin == verdict and twin.certificate.verify() and twin.scope == "for N = 1000"


def test_a_certificate_from_n0_on_is_not_taken_for_less() -> None:
    data = check_frobenius([Mean(x), Mean(x**2), Mean(x**3), Mean(x**4)], n_samples=1000).to_dict()
    with pytest.raises(InvalidInput, match="its certificate is not"):
        verdict_from_json(json.dumps(data | {"n_samples": 4}))


@pytest.mark.parametrize("name", EVERY)
def test_pickle_copy_and_hash(name: str) -> None:
    verdict = EVERY[name]
    for value in (verdict, verdict.certificate, verdict.certificate.subject):
        for twin in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
            assert twin == value and hash(twin) == hash(value)
    assert pickle.loads(pickle.dumps(verdict)).redecide is not None
    with pytest.raises(dataclasses.FrozenInstanceError):
        verdict.certificate.subject = None


@pytest.mark.parametrize("name", EVERY)
def test_summaries_and_latex(name: str) -> None:
    certificate = EVERY[name].certificate
    assert all(isinstance(line, str) and line for line in certificate.summary())
    assert isinstance(certificate.latex(), str) and "$" not in certificate.latex()
    assert EVERY[name]._repr_latex_().count("$") == 2


def mutated(path: tuple[Any, ...], value: Any, name: str = "refuted") -> str:
    data = json.loads(VERDICTS[name].to_json())
    target = data
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    return json.dumps(data)


C, W = "certificate", "witness"


@pytest.mark.parametrize(
    "text",
    [
        "", "null", "[]", "{}", "3", '"x"', "{", '{"format": "symdecouple.verdict"}', "NaN", "[[[[",
        mutated(("version",), 2), mutated(("version",), "1"), mutated(("format",), "other"),
        mutated(("status",), "MAYBE"), mutated((C,), []), mutated((C,), "x"), mutated((C, "certificate"), "trust me"),
        mutated((C, "subject"), None), mutated((C, "subject", "items"), [["__import__('os').system('true')"]] * 4),
        mutated((C, "subject", "items"), [["mean(x**10**10)"]] * 4), mutated((C, "subject", "domain"), "x=evil"),
        mutated((C, "subject", "kind"), 5), mutated((C, "subject", "allow_nonsmooth"), [["Evil"]] * 4),
        mutated((C, W, "sample"), ["1e999999999"] * 5), mutated((C, W, "sample"), [1.5] * 5),
        mutated((C, W, "sample"), ["1/0"] * 5), mutated((C, W, "sample"), None),
        mutated((C, W, "minor"), ["inf", "nan"]), mutated((C, W, "minor"), ["1"]),
        mutated((C, W, "minor"), ["1e-999999999", "1"]), mutated((C, W, "rows"), ["a"]),
        mutated((C, W, "parameters"), []), mutated((C, W, "parameters"), {"a": "9e99999999"}),
        mutated((C, "pair"), [1]), mutated((C, "pair"), "34"[:1]), mutated((C, "relations"), {"x": []}),
        mutated((C, "relations"), []), mutated((C, "structure"), {"1;2": ["0"]}, "constant"),
        mutated((C, "structure"), {"1,2": ["eval(1)"]}, "constant"), mutated((C, "nonvanishing"), ["1/0"], "constant"),
        mutated((C, "relation"), ["().__class__"], "relation"), mutated(("exceptions",), [{"a": "exec('')"}]),
        mutated(("independence",), 7), mutated((C,), None),
    ],
    ids=lambda text: text[-60:],
)
def test_hostile_json_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        verdict_from_json(text)


@pytest.mark.parametrize(
    "text",
    [
        mutated((C, W, "digits"), 10**9), mutated((C, W, "digits"), "many"), mutated((C, "n0"), 10**6),
        mutated((C, W, "rows"), [1, 2, 3, 4, 10**9]), mutated((C, W, "columns"), [1] * 4),
        mutated((C, "n_samples"), "5"), mutated((C, "n_samples"), -1, "constant"), mutated((C, W, "sample"), ["1"] * 5),
    ],
)
def test_readable_lies_do_not_verify(text: str) -> None:
    try:
        verdict = verdict_from_json(text)
    except InvalidInput:
        return
    assert not verdict.certificate.verify()


@pytest.mark.parametrize(
    ("name", "status"),
    [("refuted", "PROVED"), ("constant", "REFUTED"), ("independent", "REFUTED"), ("relation", "PROVED")],
)
def test_a_certificate_of_the_opposite_is_refused(name: str, status: str) -> None:
    with pytest.raises(InvalidInput, match="certificate"):
        verdict_from_json(mutated(("status",), status, name))
    question = "C1" if VERDICTS[name].question == "C2" else "C2"
    with pytest.raises(InvalidInput, match="certificate"):
        verdict_from_json(mutated(("question",), question, name))


def test_a_certificate_of_another_size_is_refused() -> None:
    with pytest.raises(InvalidInput, match="N = 9"):
        verdict_from_json(mutated(("n_samples",), 9, "full"))
