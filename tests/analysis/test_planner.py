"""`explore` against independent oracles: Lie's list for powers, Theorem D, `check_frobenius` and plans, one by one."""

import json
from itertools import combinations, permutations

import numpy as np
import pytest
from sympy import Symbol, cos, exp, log, sin

import symdecouple as sd
from symdecouple import Feature, FeatureSet, Group, Mean, Status, coordinates, variance, x
from symdecouple.analysis import explore
from symdecouple.analysis.planner import Exploration

LONG = {"budget": 600.0, "patience": 60.0}  # seconds: what is decided at all is decided on a busy machine, too

POWERS = (1, 2, 3, 4, 6)


def moments(*orders: int) -> FeatureSet:
    return FeatureSet([Mean(x**k) for k in orders])


@pytest.fixture(scope="module")
def three() -> Exploration:
    return explore(moments(1, 2, 3), **LONG)


def is_involutive_by_lie(orders: tuple[int, ...]) -> bool:
    """Theorem A for positive powers: single ones, {2, k}, {1, 2, 3}."""
    return len(orders) == 1 or (len(orders) == 2 and 2 in orders) or set(orders) == {1, 2, 3}


@pytest.fixture(scope="module")
def powers() -> Exploration:
    return Exploration(moments(*POWERS), (None,) * len(POWERS)).resume(600.0)  # no references: the sets alone


def test_sets_of_powers_are_those_of_lie(powers: Exploration) -> None:
    found, orders = powers, POWERS
    assert len(found.sets) == 31
    for one in found.sets:
        wanted = is_involutive_by_lie(tuple(orders[n - 1] for n in one.numbers))
        assert one.c2 is (Status.PROVED if wanted else Status.REFUTED), one
        assert one.c1 is Status.PROVED
        assert one.verdict.status is one.c2
    assert any(one.is_inherited for one in found.sets)


def test_what_is_inherited_is_what_the_set_itself_says(powers: Exploration) -> None:
    found = powers
    inherited = [one for one in found.sets if one.is_inherited]
    assert inherited
    for one in inherited:
        i, j = one.failing_pair
        assert {i, j} <= set(one.numbers) < set(one.about)
        own = found.subset(*one.numbers)
        assert not own.is_inherited
        assert (own.c2, own.c1) == (one.c2, one.c1)


def test_the_brackets_of_a_subset_may_leave_it_though_the_set_is_involutive(three: Exploration) -> None:
    assert three.subset(1, 2, 3).c2 is Status.PROVED
    assert three.subset(1, 3).c2 is Status.REFUTED
    assert three.subset(3, 1).failing_pair == (1, 3)


def test_energies_inherit_involutivity_and_are_proved() -> None:
    texts = [f"mean(taps({taps})(x)^2)" for taps in ("(1, 2, 1)", "(-1, 2, -1)")]
    found = Exploration(FeatureSet.parse("mean(x)", *texts), (None,) * 3).resume(600.0)
    assert {one.c2 for one in found.sets} == {Status.PROVED}
    assert found.subset(1, 2, 3).verdict.verify()
    assert found.scenarios(1, 2, 3) == {"3 or better": 6}  # no references, so that nothing modified is decided


def test_scenarios_of_every_order_are_those_of_plans(three: Exploration) -> None:
    for order in [*permutations((1, 2, 3), 2), (3,), (2, 3, 1), (3, 2, 1), (1, 3, 2)]:
        plan = sd.decouple(moments(*order), budget=60.0)
        mine, theirs = three.chain(*order), plan.scenario
        assert (mine.scenario.lowest, mine.scenario.highest) == (theirs.lowest, theirs.highest), order
        assert mine.exact == plan.verdicts.exact, order


def test_every_order_has_one_scenario(three: Exploration) -> None:
    for size in (1, 2, 3):
        for numbers in combinations((1, 2, 3), size):
            counted = {str(three.chain(*order).scenario) for order in permutations(numbers)}
            assert set(three.scenarios(*numbers)) == counted
            assert sum(three.scenarios(*numbers).values()) == len(list(permutations(numbers)))


def test_theorem_d_carries_the_third_modified_set(three: Exploration) -> None:
    for order in ((1, 2, 3), (2, 1, 3)):
        verdict = three.chain(*order).modified[2].verdict
        assert verdict.certificate.kind == "affine covariance"
        assert verdict.independence.status is Status.PROVED


@pytest.mark.slow
def test_theorem_d_makes_four_exact_whatever_the_third_and_fourth_are() -> None:
    found = explore(FeatureSet([Mean(x), Mean(x**2), Mean(x**4), Mean(cos(x))]), budget=600.0, patience=3.0)
    exact = {chain.numbers for chain in found.longest}
    assert exact >= {(1, 2, 3, 4), (1, 2, 4, 3), (2, 1, 3, 4), (2, 1, 4, 3)}
    chain = found.chain(1, 2, 3, 4)
    assert chain.modified[2].verdict.certificate.kind == "affine covariance"
    assert chain.is_exact
    assert not chain.is_involutive
    assert str(chain.scenario) == "2"
    samples = np.random.default_rng(3).normal(size=(3, 12))
    plan = sd.decouple([found.features[n - 1] for n in chain.numbers])
    assert sd.analysis.orthogonality(plan, samples).decoupled.largest < 1e-7  # degrees; the paths are integrated


def test_one_more_feature_costs_nothing_exactness_or_is_not_decided(three: Exploration) -> None:
    assert three.chain(1, 2, 3).next_is_exact is Status.PROVED
    assert "nothing" in three.chain(1, 2, 3).one_more
    refuted = three.chain(2, 3, 1)
    assert refuted.next_is_exact is Status.REFUTED
    assert refuted.modified[-1].verdict.verify()
    assert refuted.is_exact
    undecided = three.chain(1, 3, 2)
    assert undecided.next_is_exact is Status.UNDECIDED
    assert "not decided" in undecided.one_more
    assert undecided.path == "leaves"
    assert three.chain(1, 3).path == "narrow path"


def test_the_order_counts_for_the_modified_set(three: Exploration) -> None:
    assert three.chain(2, 3).modified[-1].status is Status.PROVED
    assert three.chain(3, 2).modified[-1].status is Status.REFUTED
    assert three.chain(3, 2).modified[-1].failing_pair == (3, 2)


def test_a_refuted_beginning_closes_all_that_begins_with_it(three: Exploration) -> None:
    assert [answer.numbers for answer in three.chain(3, 2, 1).modified] == [(3,), (3, 2)]
    assert three.chain(3, 2, 1).exact == 2


def test_closures_say_what_is_missing(three: Exploration) -> None:
    assert three.closure(1, 3).rank == 3
    assert three.closure(1, 2, 3).is_involutive


# --- what is not exact, or not a set at all --------------------------------------------------------------------------


def test_dependent_features_have_no_plan() -> None:
    found = explore([Mean(x), variance(), Mean(x**2)], **LONG)
    assert found.subset(1, 2, 3).c1 is Status.REFUTED
    assert found.scenarios(1, 2, 3) == {"none": 6}
    assert found.chain(1, 2, 3).scenario is None
    assert found.chain(1, 2, 3).exact == 2
    assert "dependent" in found.chain(3, 2, 1).one_more
    assert {len(chain.numbers) for chain in found.longest} == {2}
    with pytest.raises(sd.InvalidInput, match="nothing is left"):
        sd.decouple([Mean(x), variance(), Mean(x**2)])


@pytest.mark.parametrize(("features", "said"), [
    ([Mean(x), variance(), Mean((x - Mean(x)) ** 2)], "features 2 and 3 are one function"),
    ([Mean(sin(x) ** 2), Mean(cos(2 * x)), Mean((1 - cos(2 * x)) / 2)], "features 1 and 3 are one function"),
    ([Mean(x), Mean(x)], "the same"), ([], "at least one feature"),
    ([Mean(x**k) for k in range(1, 14)], "takes up to 12"), ("mean(x)", "list of features"),
])
def test_bad_sets_are_refused(features: object, said: str) -> None:
    with pytest.raises(sd.InvalidInput, match=said):
        explore(features)


def test_bad_questions_are_refused(three: Exploration) -> None:
    for numbers in ((), (0,), (4,), (1, 1), (-1,)):
        with pytest.raises(sd.InvalidInput, match="numbers from 1 to 3"):
            three.subset(*numbers)
        with pytest.raises(sd.InvalidInput, match="numbers from 1 to 3"):
            three.chain(*numbers)
    for settings in ({"budget": 0}, {"patience": -1}, {"reference": [0, 1, 2, 3]}, {"reference": "rosy"}):
        with pytest.raises(sd.InvalidInput):
            explore(moments(1, 2), **settings)


def test_groups_go_together() -> None:
    found = explore([Mean(x), Group(Mean(x**2), Mean(x**3)), Mean(x**4)], **LONG)
    assert (2,) not in [one.numbers for one in found.sets]
    assert found.subset(1, 2, 3).c2 is Status.PROVED
    assert found.chain(1, 2, 3, 4).exact == 4
    assert found.scenarios(1, 2, 3) == {"4": 1, "3": 1}
    for wrong in ((1, 2), (1, 3, 2), (2, 1, 3), (2, 4, 3)):
        with pytest.raises(sd.InvalidInput, match="group"):
            found.chain(*wrong)
    plan = sd.decouple([Mean(x), Group(Mean(x**2), Mean(x**3)), Mean(x**4)])
    assert plan.verdicts.exact == 4


def test_black_boxes_are_scenario_one_and_end_what_is_exact() -> None:
    box = Feature.from_callable(lambda v: float(np.max(v)), name="largest")
    found = explore([Mean(x), box, Mean(x**2)], **LONG)
    assert found.subset(1, 2).c2 is Status.UNDECIDED
    assert str(found.chain(1, 2).scenario) == "1"
    assert found.chain(1, 3, 2).exact == 2
    assert found.chain(2, 1).exact == 0
    assert [chain.numbers for chain in found.longest] == [(1, 3), (3, 1)]


def test_coordinates_have_sets_for_their_size_and_no_flows() -> None:
    a, b, c = coordinates(3)
    found = explore([a * b, b + c**2], **LONG)
    assert found.subset(1, 2).c2 is sd.check_frobenius([a * b, b + c**2]).status is Status.REFUTED
    assert found.chain(1, 2).modified[-1].status is Status.UNDECIDED


def test_parameters_leave_the_modified_sets_open() -> None:
    found = explore([Mean(x), Mean(x**2 + Symbol("a") * x**3)], **LONG)
    assert found.subset(1, 2).c2 is Status.REFUTED
    assert "bound" in found.chain(1, 2).modified[-1].why
    filtered = explore(FeatureSet.parse("mean(filter(h)(x)^2)", "mean(x)"), **LONG)
    assert filtered.subset(1, 2).c2 is Status.PROVED
    assert str(filtered.chain(1, 2).scenario) == "3 or better"


def test_a_feature_without_a_reference_bars_no_other() -> None:
    positive = sd.sample("x", positive=True)
    found = explore([Mean(log(positive)), Mean(positive)], **LONG)
    assert found.reference == (None, 0)
    assert found.chain(2, 1).modified[-1].status is not Status.UNDECIDED
    assert "reference" in found.chain(1, 2).modified[-1].why


def test_one_feature_is_decoupled_from_nothing() -> None:
    found = explore([Mean(x)], **LONG)
    assert found.complete
    assert found.longest == ()
    assert str(found.chain(1).scenario) == "4"
    assert "no two features" in str(found)


# --- budgets, interruption, memory -----------------------------------------------------------------------------------


def test_a_spent_budget_is_not_no_and_goes_on_later() -> None:
    found = explore(moments(1, 7), budget=0.004)
    assert not found.complete
    assert "not asked" in str(found)
    answered = found.sets
    assert all(one.c2 is not Status.REFUTED or one.verdict.certificate is not None for one in answered)
    found.resume(600.0)
    assert found.complete
    assert found.chain(1, 2).is_exact


def test_an_interruption_keeps_what_was_decided() -> None:
    def stop(done: int, total: int) -> None:
        if done == 4:
            raise KeyboardInterrupt

    found = explore(moments(1, 2, 3), progress=stop, **LONG)
    assert found.interrupted
    assert not found.complete
    assert len(found.sets) == 4
    assert found.chain(1, 2, 3).original.c2 is Status.PROVED
    assert "interrupted" in str(found)
    found.resume(600.0)
    assert found.complete
    assert not found.interrupted
    assert found.longest[0].numbers == (1, 2, 3)


def test_progress_counts_every_set_and_order_once() -> None:
    seen: list[tuple[int, int]] = []
    explore(moments(1, 2, 3), progress=lambda done, total: seen.append((done, total)), **LONG)
    assert [total for _, total in seen] == [7 + 3 + 6 + 6] * len(seen)
    assert seen[-1][0] == 22
    assert sorted(seen) == seen


def test_verdicts_are_remembered_by_canonical_form(monkeypatch: pytest.MonkeyPatch) -> None:
    explore([Mean(x), Mean(x**5)], **LONG)
    asked = []
    real = sd.check_frobenius
    monkeypatch.setattr("symdecouple.analysis.exploration.sets.check_frobenius",
                        lambda *args, **more: (asked.append(args), real(*args, **more))[1])
    again = explore([Mean(x**5 + x - x) + 0, Mean((x + 1) - 1)], **LONG)
    assert asked == []
    assert again.subset(1, 2).failing_pair == (1, 2)
    assert again.subset(1, 2).about == (2, 1)  # the verdict was made for the other order


# --- measuring, and showing ------------------------------------------------------------------------------------------


def test_orders_are_ranked_by_what_they_leave() -> None:
    samples = np.random.default_rng(5).normal(size=(2, 11))
    found = explore(moments(1, 3, 2), samples=samples, **LONG)
    assert len(found.ranking) == 6
    assert found.ranking[0].is_exact
    averages = [one.average for one in found.ranking if not one.is_exact]
    assert averages == sorted(averages)
    assert averages[-1] > 0.01
    for one in found.ranking:  # what is proved shows as the error of the paths
        assert one.count == 2
        assert not found.chain(*one.numbers).is_exact or one.largest < 1e-6
    last = found.ranking[-1]
    plan = sd.decouple([found.features[n - 1] for n in last.numbers])
    theirs = sd.analysis.orthogonality(plan, samples)
    assert last.average == pytest.approx(theirs.decoupled.average, rel=1e-9)
    assert last.original == pytest.approx(theirs.original.average, rel=1e-9)
    assert "orders ranked" in str(found)


def test_everything_is_json_and_certificates_in_it_verify(three: Exploration) -> None:
    data = json.loads(three.to_json())
    assert data["format"] == "symdecouple.exploration"
    assert data["complete"]
    assert len(data["sets"]) == 7
    for one in data["sets"]:
        verdict = sd.verdict_from_json(json.dumps(one["verdict"]))
        assert verdict.status.name == one["C2"]
        assert verdict.verify()
    refuted = [one for one in data["orders"] if one["C2"] == "REFUTED"]
    assert refuted
    assert all(sd.verdict_from_json(json.dumps(one["verdict"])).verify() for one in refuted[:2])


def test_tables_say_it_in_text_latex_and_html(three: Exploration) -> None:
    text = str(three)
    assert "1 2 3     PROVED  PROVED for every N" in text
    assert "each proved decoupled from all before it" in text
    assert three.latex().count(r"\begin{tabular}") == three.latex().count(r"\end{tabular}") == 3
    assert "<table>" in three._repr_html_()
    assert "3 decoupled exactly" in repr(three)
    assert str(three.subset(1, 3)).startswith("features 1, 3: C1 PROVED, C2 REFUTED for every N >= 3")
    assert str(three.chain(1, 2)) == "1 2: scenario 4, 2 features exact"


def test_other_triples_are_found_too() -> None:
    found = Exploration(FeatureSet([Mean(exp(x)), Mean(x), Mean(exp(-x))]), (None,) * 3).resume(600.0)
    assert {one.numbers for one in found.sets if one.c2 is Status.PROVED} == {
        (1,), (2,), (3,), (1, 2), (2, 3), (1, 2, 3)}


@pytest.mark.slow
def test_six_moments_take_less_than_a_minute() -> None:
    import time

    start = time.process_time()
    found = explore(moments(1, 2, 3, 4, 5, 6), budget=1000.0)
    assert time.process_time() - start < 60
    assert found.complete
    assert {len(chain.numbers) for chain in found.longest} == {4}
    assert len(found.longest) == 24
    for one in found.sets:
        assert (one.c2 is Status.PROVED) == is_involutive_by_lie(one.numbers)
