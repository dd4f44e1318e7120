"""`explain`: the theorem that is named is the one whose hypotheses hold, and files of verdicts say the same."""

import pytest
from sympy import cos, exp, log, sin, symbols

import symdecouple as sd
from symdecouple import FeatureSet, Mean, Status, VectorField, Verdict, coordinates, kurtosis, skewness, variance, x
from symdecouple.analysis import explain

ONE, TWO = coordinates(2)


@pytest.mark.parametrize(("features", "theorem"), [
    ([Mean(x), Mean(x**2), Mean(x**3)], "Theorem A"), ([Mean(x), Mean(x**3)], "Theorem A"),
    ([Mean(sin(x)), Mean(cos(x))], "Theorem A"), ([Mean(exp(x)), Mean(x) + Mean(x**2)], "Theorem A"),
    ([Mean(x), variance(), kurtosis()], "Theorem D"), ([variance(), skewness() ** 2, Mean(x)], "Theorem D"),
    ([Mean(x), Mean(x**2), exp(Mean(x**4))], "Theorem D"),
    ([exp(Mean(x)), Mean(x**3) ** 2], "Frobenius"), ([variance(), kurtosis()], "Frobenius"),
    ([Mean(x), Mean(x**2), Mean(x**2) + Mean(x) ** 2], "Frobenius"),  # dependent: D's hypothesis fails
    (FeatureSet.parse("mean(taps((1, 2, 1))(x)^2)", "mean(taps((1, 0, -1))(x)^2)"), "Theorem E"),
    (FeatureSet.parse("mean(filter(h)(x)^2)", "mean(x)"), "Frobenius"),
    ([Mean(x)], "no theorem"), ([ONE * TWO, ONE + TWO], "no theorem"),
    (FeatureSet([Mean(x), Mean(abs(x))], allow_nonsmooth=["Abs"]), "Theorem O"),
])
def test_the_theorem_is_the_one_whose_hypotheses_hold(features: object, theorem: str) -> None:
    verdict = sd.check_frobenius(features)
    words = explain(verdict)
    assert words.theorem == theorem
    assert words.says
    assert explain(sd.verdict_from_json(verdict.to_json())).to_dict() == words.to_dict()


def test_modified_sets_and_fields_have_their_theorems() -> None:
    plan = sd.decouple([Mean(x), Mean(x**2), Mean(x**3), Mean(x**4)])
    assert explain(plan.verdicts.modified[3]).theorem == "Theorem D"
    refuted = explain(plan.verdicts.modified[4])
    assert refuted.theorem == "Theorem D"
    assert "reference manifold" in refuted.means
    p, q, r = symbols("p q r")
    fields = [VectorField([1, 0, q], [p, q, r]), VectorField([0, 1, 0], [p, q, r])]
    assert explain(sd.check_frobenius(fields)).theorem == "Frobenius"
    assert explain(sd.holonomic([[1, -p, 0]], None, [q, r, p])).theorem == "Theorem M"


def test_critical_points_have_theirs() -> None:
    found = sd.analysis.critical_points(sd.decouple([Mean(x), Mean(x**2), Mean(x**3)]), level=3, n_samples=5)
    assert explain(found.b1).theorem == "Theorem I"
    assert "local extremum" in explain(found.b1).asked


def test_independence_is_linear_algebra() -> None:
    proved, refuted = (explain(sd.check_independence([Mean(x), other])) for other in (Mean(x**2), Mean(x) ** 3))
    assert proved.theorem == refuted.theorem == "linear algebra"
    assert "leave one out" in refuted.means
    assert "says something" in proved.means


def test_the_words_are_all_there() -> None:
    words = explain(sd.check_frobenius([Mean(x), Mean(x**3)]))
    assert words.answer == "No, refuted for every N >= 3: [v1, v2] is not in the span of the gradients."
    text = str(words)
    for head in ("Question:", "Answer:", "Carried by:", "It means:", "To check:"):
        assert head in text
    assert max(map(len, text.splitlines())) <= 96


def test_dependence_and_vacuity_are_told() -> None:
    assert "dependent" in explain(sd.check_frobenius([Mean(x), variance(), Mean(x**2)])).means
    assert "(vacuously) for N = 3" in explain(sd.check_frobenius([Mean(x), Mean(x**2), Mean(x**4)], n_samples=3)).answer
    generic = explain(sd.check_frobenius([Mean(x), Mean(x**2 + symbols("a") * x**3)]))
    assert "for generic values of a" in generic.answer
    assert "Except at a = 0" in generic.answer


def test_undecided_is_not_no() -> None:
    words = explain(Verdict("C2", Status.UNDECIDED, ("f", "g"), reason="the budget was spent"))
    assert words.answer == "Not decided: the budget was spent."
    assert words.theorem == words.check == ""
    assert "not no" in words.means
    box = sd.Feature.from_callable(lambda v: float(v.max()), name="largest")
    assert "Not decided" in explain(sd.check_frobenius([Mean(x), box])).answer
    seen = sd.check_frobenius([Mean(x), box], samples=[[1.0, 2, 4, 8], [3.0, 1, 4, 1.5]])
    assert "proves nothing" in explain(seen).answer


def test_something_else_is_refused() -> None:
    for wrong in ("PROVED", None, [Mean(x), Mean(log(2 + cos(x)))]):
        with pytest.raises(sd.InvalidInput, match="a verdict is expected"):
            explain(wrong)
