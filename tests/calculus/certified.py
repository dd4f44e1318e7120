"""One verdict of every kind, whose certificates the tests attack."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

from sympy import Symbol, cos, exp, sin

from symdecouple.calculus.certificates import verdict_from_json
from symdecouple.calculus.field import VectorField
from symdecouple.calculus.frobenius import check_frobenius
from symdecouple.calculus.independence import check_independence
from symdecouple.language.filters import Filter, shift
from symdecouple.language.mean import Mean
from symdecouple.language.sample import coordinates, sample, x
from symdecouple.language.statistics import kurtosis, variance
from symdecouple.verdict import Status, Verdict

a = Symbol("a")
m, s, v = Mean(x), Mean(x**2), variance()
x1, x2, x3 = coordinates(3)
FOUR = [Mean(x**k) for k in (1, 2, 3, 4)]

VERDICTS: dict[str, Verdict] = {
    "constant": check_frobenius(FOUR[:3]),
    "functions": check_frobenius([m, v, kurtosis()]),
    "one size": check_frobenius(FOUR[:3], n_samples=5),
    "filtered": check_frobenius([m, s, Mean(x * shift(1)(x))], n_samples=5),
    "mirrored": check_frobenius(
        [m, *(Mean(Filter(k, boundary="half-sample")(x) ** 2) for k in ([-1, 2, -1], [1, 2, 1]))], n_samples=6
    ),
    "kernels": check_frobenius([Mean(Filter("h")(x) ** 2), Mean(Filter("h")(x) ** 4)]),
    "refuted": check_frobenius(FOUR),
    "refuted at": check_frobenius(FOUR, n_samples=6),
    "intervals": check_frobenius([Mean(sin(x)), Mean(cos(x))]),
    "parameters": check_frobenius([m, s + a * Mean(x**3)]),
    "dependent": check_frobenius([m, m**2, Mean(x**3)]),
    "full": check_frobenius(FOUR, n_samples=4),
    "independent": check_independence(FOUR),
    "independent at": check_independence([m, Mean(exp(x))], n_samples=3),
    "relation": check_independence([m, s, s + m**2]),
    "relation at": check_independence([m, v, kurtosis()], n_samples=3),
    "too many": check_independence(FOUR, n_samples=3),
    "explicit": check_frobenius([VectorField([1, 0, 0], [x1, x2, x3]), VectorField([0, 1, x1], [x1, x2, x3])]),
    "explicit proof": check_frobenius(
        [VectorField([x1, 0, 0], [x1, x2, x3]), VectorField([0, x1 * x2, x1 * x3], [x1, x2, x3])]
    ),
    "domain": check_frobenius([Mean(sample(positive=True) ** a), Mean(sample(positive=True))]),
}

# What holds at one sample for some features may well hold there for others.
AT_A_SAMPLE: dict[str, Verdict] = {
    "minor at a sample": check_independence([m, s, Mean(x**3)], at=[0, 1, 3, 3]),
    "intervals at a sample": check_independence([m, Mean(exp(x))], at=[0, 1, 1]),
    "relation at a sample": check_independence([m, s, Mean(Filter([-1, 2, -1])(x) ** 2)], at=[0, 1, 0, -1]),
    "counted at a sample": check_independence([m, s, Mean(exp(x)), Mean(exp(2 * x))], at=[0, 1, 3]),
}


def decided(features: Any, status: Status, n_samples: Any = None) -> Verdict:
    """The verdict, which must have this status, hold up, and survive JSON; so must the C1 verdict it rests on."""
    return _decided(tuple(features), status, n_samples)


@cache
def _decided(features: tuple[Any, ...], status: Status, n_samples: Any) -> Verdict:
    verdict = check_frobenius(list(features), n_samples=n_samples)
    assert verdict.status is status, str(verdict)
    for each in (verdict, verdict.independence):
        assert each is not None and (each.certificate is not None or each.status is Status.UNDECIDED)
        again = verdict_from_json(each.to_json())
        assert again == each and each._repr_latex_().startswith("$") and each.question in str(each)
        assert again.certificate is None or again.certificate.verify(), "\n".join(map(str, each.audit()))
    return verdict


def changed(certificate: Any, **fields: Any) -> Any:
    return dataclasses.replace(certificate, **fields)


def rejected(certificate: Any) -> bool:
    """A report of failed checks, by return value: an exception would fail the test. `verify` is what it says."""
    return not all(check.passed for check in certificate.audit())
