"""Which scenario a set is in: lazily, with every combination of answers, and as a table."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from sympy import Integer

from symdecouple import FeatureSet, Group, InvalidInput, Mean, check_frobenius, decouple, shift, variance
from symdecouple.decoupling.verdicts import scenario as module
from symdecouple.decoupling.verdicts.decisions import Decisions
from symdecouple.decoupling.verdicts.scenario import Verdicts
from symdecouple.language.sample import coordinates, x
from symdecouple.verdict import Status, Verdict
from tests.decoupling.made import M, made, made_of, verdicts

P, R, U = Status.PROVED, Status.REFUTED, Status.UNDECIDED
TABLE: dict[str, tuple[list[Status], list[Status], str, int]] = {
    "three moments": ([P, P, P], [P, P, P], "4", 3),
    "four moments": ([P, P, P, R], [P, P, P, R], "2", 4),
    "skewed": ([P, P, P, R], [P, P, P, R], "2", 4),
    "fourth before third": ([P, P, R, R], [P, P, P, U], "2", 4),
    "log cosh": ([P, P, R], [P, P, P], "2", 3),
    "tanh": ([P, P, R], [P, P, P], "2", 3),
    "exponentials": ([P, P, P, R], [P, P, R, R], "2", 3),
    "exponentials together": ([P, P, P, R], [P, P, P, R], "2", 4),
    "powers": ([P, P], [P, P], "4", 2),
    "powers and mean": ([P, P, R], [P, P, R], "2", 3),
    "one root": ([P, R], [P, R], "2", 2),
}
SLOW = ("exponentials", "exponentials together", "tanh")  # the last is decided as log cosh


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in TABLE])
def test_every_verdict_and_the_scenario(name: str) -> None:
    found, (original, modified, scenario, exact) = verdicts(name), TABLE[name]
    assert [v.status for v in found.original.values()] == original
    assert [v.status for v in found.modified.values()] == modified
    assert (str(found.scenario), found.exact) == (scenario, exact)


@pytest.mark.parametrize("name", ["three moments", "four moments", "log cosh", "powers and mean",
                                  pytest.param("exponentials", marks=pytest.mark.slow)])
def test_every_certificate_verifies(name: str) -> None:
    for decisions in (verdicts(name).original, verdicts(name).modified):
        for verdict in decisions.values():
            c1 = verdict.independence
            assert verdict.certificate is None or verdict.certificate.verify()
            assert c1 is not None and (c1.certificate is None or c1.certificate.verify())


def test_off_the_exponentials_the_third_modified_feature_is_what_fails() -> None:
    """S_3 is involutive and hat S_3 is not: three features alone are scenario 3, and D4 stops at three."""
    features, values = [Mean(x), *made("exponentials").features.features[1:3]], [0, 2, 2]
    found = made_of(features, values).verdicts()
    assert str(found.scenario) == "3" and "modified set of 3 features" in found.scenario.reason
    assert found.exact == 3
    together = Verdicts(FeatureSet([Group(*features)]), (), (), budget=5)
    assert str(together.scenario) == "4" and together.exact == 3


def test_a_certificate_of_theorem_d_with_c1() -> None:
    verdict = verdicts("log cosh").modified[3]
    assert verdict.certificate is not None and verdict.certificate.kind == "affine covariance"
    assert verdict.independence is not None and verdict.independence.status is P
    assert "Theorem D" in verdict.reason and verdict.scope == "for every N"


def test_theorem_d_holds_without_steps() -> None:
    found = Verdicts(FeatureSet([M[1], M[2], M[4], M[3]]), (), (Integer(0), Integer(1), None, None), stopped="no flow")
    assert found.modified[3].status is P
    c1 = found.modified[3].independence
    assert c1 is not None and c1.status is U and "no flow" in c1.reason
    assert found.modified[2].status is U and "narrow path" in found.modified[2].reason


# --- laziness -------------------------------------------------------------------------------------------------------


def test_nothing_runs_before_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []

    def counted(features: Any, **options: Any) -> Verdict:
        calls.append(features)
        return check_frobenius(features, **options)

    monkeypatch.setattr(module, "check_frobenius", counted)
    found = made("three moments").verdicts()
    assert repr(found) == ("Verdicts(original=Decisions(3 sets, decided: {}), modified=Decisions(3 sets, decided: {}))")
    assert list(found.original) == [1, 2, 3] and 2 in found.modified and 4 not in found.modified and not calls
    first = found.original[2]
    assert len(calls) == 1 and found.original[2] is first and found.original.decided == {2: first}
    assert found.modified[1] is found.original[1] and len(calls) == 2


def test_an_interruption_keeps_what_was_decided() -> None:
    def decide(k: int) -> Verdict:
        if k == 3:
            raise KeyboardInterrupt
        return Verdict("C2", U, (), reason=str(k))

    decisions = Decisions(4, decide)
    with pytest.raises(KeyboardInterrupt):
        dict(decisions)
    assert list(decisions.decided) == [1, 2]


def test_the_budget_of_a_verdict_is_kept() -> None:
    found = made("exponentials").verdicts(budget=0.05)
    verdict = found.modified[4]
    assert verdict.status is U and verdict.seconds < 5


@pytest.mark.parametrize("k", [0, 5, -1, "1", True, 1.5, None])
def test_sets_are_named_by_their_size(k: Any) -> None:
    with pytest.raises(InvalidInput, match="k = 1 to 4"):
        made("four moments").verdicts().original[k]


def test_a_budget_is_a_number_of_seconds() -> None:
    with pytest.raises(InvalidInput, match="budget"):
        made("powers").verdicts(budget=0)


# --- the scenario from the answers ----------------------------------------------------------------------------------


def answered(original: list[Status], modified: list[Status], groups: list[int] | None = None) -> Verdicts:
    """Verdicts as given, without certificates of their own: real ones of other sets stand in."""
    stand = {P: verdicts("three moments").original[3], R: verdicts("four moments").original[4],
             U: Verdict("C2", U, (), reason="open")}
    flat = [Mean(x**k) for k in range(1, len(original) + 1)]
    features = flat if groups is None else [Group(*flat[a:b]) for a, b in zip([0, *groups[:-1]], groups, strict=True)]
    found = Verdicts(FeatureSet(features), (), ())
    found.original = Decisions(len(original), lambda k: stand[original[k - 1]])
    found.modified = Decisions(len(modified), lambda k: stand[modified[k - 1]])
    return found


@pytest.mark.parametrize(("original", "modified", "expected"), [
    ([P, P, P], [P, P, P], "4"), ([P, P, P], [P, P, U], "3 or better"), ([P, P, P], [P, U, P], "3 or better"),
    ([P, P, P], [P, P, R], "3"), ([P, P, P], [P, R, P], "3"), ([P, P, P], [P, R, U], "3"),
    ([P, P, P], [P, U, R], "3"), ([P, P, R], [P, P, P], "2"), ([P, P, R], [P, U, U], "2"),
    ([P, P, U], [P, P, P], "2 or better"), ([P, P, U], [P, P, U], "2 or better"), ([P, P, U], [P, P, R], "2 or 3"),
    ([P, R, P], [P, P, P], "4"),
])
def test_the_scenario_follows_from_the_answers(original: list[Status], modified: list[Status], expected: str) -> None:
    found = answered(original, modified).scenario
    assert str(found) == expected and found.reason and not found.reason.endswith(" ")
    decides = original[-1] is R or (original[-1] is P and R in modified)
    assert ("open" in found.reason) == (U in (original[-1], *modified) and not decides)


@pytest.mark.parametrize(("modified", "exact"), [
    ([P, P, P, P], 4), ([P, P, P, R], 4), ([P, P, U, P], 3), ([P, R, P, P], 2), ([U, P, P, P], 1)])
def test_every_modified_set_below_counts(modified: list[Status], exact: int) -> None:
    assert answered([P] * 4, modified).exact == exact


def test_inside_a_group_no_set_counts() -> None:
    found = answered([P] * 4, [P, R, P, P], groups=[1, 3, 4])
    assert found.exact == 4 and str(found.scenario) == "4"
    assert answered([P] * 4, [R, P, P, P], groups=[1, 3, 4]).exact == 1


def test_dependent_gradients_are_told() -> None:
    given = made_of([M[1], M[2], Mean(x) ** 2 + 2 * Mean(x**2)], [0, 1, 2])
    scenario = given.verdicts().scenario
    assert str(scenario) == "4" and "not proved independent" in scenario.reason


def test_coordinates_and_filters_are_answered_honestly() -> None:
    x1, x2, x3 = coordinates(3)
    found = Verdicts(FeatureSet([x1 + x2 + x3, x1 * x2 * x3]), (), (Integer(0), None), stopped="coordinates")
    assert found.original[2].status is not U and found.modified[2].status is U
    filtered = Verdicts(FeatureSet([M[1], variance(), Mean(x * shift(1)(x) ** 2)]), (), (), stopped="filters")
    assert filtered.modified[3].status is P and filtered.original[3].status is R  # the third is not shift invariant
    assert str(filtered.scenario) == "2"


# --- the table ------------------------------------------------------------------------------------------------------


def test_the_table_says_what_stops_it_and_is_escaped_in_a_notebook() -> None:
    undecided = str(verdicts("fourth before third"))
    assert "hat S_4 undecided: level 3 is reached along the narrow path" in undecided
    text = verdicts("powers")._repr_html_()
    assert text.count("<tr>") == 3 and "<td>PROVED</td>" in text
    found = answered([P, R], [P, R])
    assert "for every N &gt;= 5" in found._repr_html_()


def test_a_table_stops_asking_when_the_budget_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    found = answered([P, P], [P, R])
    clock = iter([0.0, 1.0, *[100.0] * 3])
    monkeypatch.setattr(module.time, "monotonic", lambda: next(clock))
    first, second, last = str(found).splitlines()[1:]
    assert first.split()[2:] == ["PROVED", "not", "asked", "yet"] and second.count("not asked yet") == 2
    assert last.startswith("the budget is spent") and list(found.original.decided) == [1]


@pytest.mark.parametrize("is_used", [False, True])
def test_verdicts_pickle_and_copy_by_themselves(is_used: bool) -> None:
    """So do their parts, and the choice of ways that they come from; what was decided is kept, the rest is decided."""
    plan = decouple(M[1:])
    verdicts = plan.verdicts
    expected = decouple(M[1:]).verdicts
    if is_used:
        _ = verdicts.original[3], verdicts.modified[3], verdicts.closures[2]
    for again in (lambda a: pickle.loads(pickle.dumps(a)), copy.copy, copy.deepcopy):
        other = again(verdicts)
        assert repr(other) == repr(verdicts) and other.modified.decided == verdicts.modified.decided
        for name in ("original", "modified", "closures"):
            part = again(getattr(verdicts, name))
            assert part.decided == getattr(verdicts, name).decided
            assert (part[3].status, part[3].reason) == (getattr(expected, name)[3].status,
                                                        getattr(expected, name)[3].reason)
        assert str(other.scenario) == str(expected.scenario)
        assert again(plan.choice).floats == plan.choice.floats
