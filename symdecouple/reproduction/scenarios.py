"""The source's table of four scenarios, and the Frobenius column of its table of features: decided, not asserted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from symdecouple.decoupling.plan import decouple
from symdecouple.families.bank import FilterBank
from symdecouple.families.filter_moments import filter_moments
from symdecouple.families.moments import raw_moments
from symdecouple.families.quadratic import second_order_moments
from symdecouple.families.tils import tils
from symdecouple.language.feature import Feature
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.filters import Filter
from symdecouple.reproduction.result import Result, Row
from symdecouple.reproduction.setup import Setup

__all__ = ["measure"]


class _Case(NamedTuple):
    name: str
    features: Callable[[], FeatureSet]
    frobenius: str  # as the source has it, for the features as declared
    scenario: str
    remark: str = ""


def measure(setup: Setup) -> Result:
    """Let the planner decide each example of the source."""
    cases = [
        _Case("moments 1 to 3", lambda: raw_moments(3), "yes", "4"),
        _Case("moments 1 to 4", lambda: raw_moments(4), "yes", "4",
              "the source has moments of every order as involutive; a bracket of orders 3 and 4 leaves the span, and "
              "four features decouple because only the first three must be involutive"),
        _Case("mean and third moment", lambda: FeatureSet.parse("mean(x)", "mean(x^3)"), "yes", "4",
              "the same: the bracket is a multiple of the gradient of no feature of the set"),
        _Case("energies of the nine TILs bands", lambda: second_order_moments(tils()), "yes", "3"),
        _Case("energies of two complementary bands", _complementary, "yes", "3",
              "the source says itself that its second decoupled feature is not mutually decoupled in general"),
        _Case("moments 2 and 3 of two bands", lambda: filter_moments(FilterBank(tils().filters[1:3]), (2, 3)), "no",
              "2"),
        _Case("a black box", _black_box, "?", "1"),
    ]
    if setup.quick:
        cases = [case for case in cases if "nine" not in case.name]
    setup.expect(len(cases))
    rows = list[Row]()
    for case in cases:
        found = setup.part(f"scenario-{case.name.replace(' ', '-')}", _decided, case.features())
        rows += [Row(f"{case.name}: involutive (Frobenius)", str(found["frobenius"]), case.frobenius,
                     remark=case.remark),
                 Row(f"{case.name}: scenario", str(found["scenario"]), case.scenario, remark=str(found["why"]))]
    remarks = ("Each answer is a verdict with a certificate that is recomputed; where one on the modified features is "
               "undecided, two scenarios are left open.",)
    return Result("scenarios", "which of the four scenarios features are in, decided by the planner",
                  "the table of scenarios, and the Frobenius column of the table of features",
                  {"seed": setup.seed}, tuple(rows), remarks, setup.seconds)


def _complementary() -> FeatureSet:
    """Two bands that leave nothing out: |H|^2 + |G|^2 is constant."""
    return second_order_moments(FilterBank([Filter([1, 1], origin=0), Filter([1, -1], origin=0)]))


def _black_box() -> FeatureSet:
    return FeatureSet([Feature.from_callable(lambda rows: np.tanh(rows).mean(axis=-1)),
                       Feature.from_callable(lambda rows: np.abs(rows).mean(axis=-1))])


def _decided(features: FeatureSet) -> dict[str, Any]:
    verdicts = decouple(features, (0,) if features.kind == "black box" else "gaussian").verdicts
    scenario = verdicts.scenario
    if verdicts.is_black_box:
        return {"frobenius": "?", "why": scenario.reason, "scenario": str(scenario)}
    original = verdicts.original[len(features)]
    answer = {"PROVED": "yes", "REFUTED": "no"}.get(original.status.name, "?")
    if answer != "?" and not original.verify():
        answer = "not verified"
    return {"frobenius": answer, "scenario": str(scenario),
            "why": f"{scenario.reason}; the first {verdicts.exact} decoupled features are proved mutually decoupled"}
