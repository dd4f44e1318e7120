"""Black boxes in numbers, against the same features with an expression, and every way in which a callable can fail."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import cache
from itertools import count
from typing import Any

import numpy as np
import pytest

from symdecouple import Feature, FeatureSet, InvalidInput, Mean, check_frobenius, kurtosis, skewness, variance, x
from symdecouple.language.black_box import BlackBox
from symdecouple.numeric.features.black_box import Oracle
from symdecouple.numeric.features.differences import extrapolated
from symdecouple.numeric.features.features import CompiledFeatures
from symdecouple.numeric.paths.black_box_rows import BlackBoxFeatures, BlackBoxPath, path_of
from symdecouple.numeric.paths.narrow_path import NarrowPath
from symdecouple.verdict import Status

RNG = np.random.default_rng(11)
ROWS = {"normal": RNG.normal(size=(3, 14)), "gamma": RNG.gamma(0.5, size=(3, 14)),
        "units": 1e9 * RNG.normal(size=(3, 14))}


def peakedness(v: Any) -> Any:
    c = v - v.mean(axis=-1, keepdims=True)
    return (c**4).mean(axis=-1) / (c**2).mean(axis=-1) ** 2


def slope_of_peakedness(v: Any) -> Any:
    c = v - v.mean(axis=-1, keepdims=True)
    s, m3, m4 = ((c**k).mean(axis=-1, keepdims=True) for k in (2, 3, 4))
    return 4 / v.shape[-1] * ((c**3 - m3) / s**2 - m4 * c / s**3)


def soft_maximum(v: Any) -> Any:
    return np.logaddexp.reduce(v, axis=-1)


BOXES = {
    "differences": Feature.from_callable(peakedness),
    "differences, rows": Feature.from_callable(peakedness, vectorized=True),
    "gradient": Feature.from_callable(peakedness, slope_of_peakedness),
    "gradient, rows": Feature.from_callable(peakedness, slope_of_peakedness, vectorized=True),
}
DECLARED = CompiledFeatures(FeatureSet([Mean(x), variance(), kurtosis(), skewness()]))


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("name", BOXES)
def test_values_gradients_and_curvature_are_those_of_the_kurtosis(name: str, rows: str) -> None:
    ours = BlackBoxFeatures(FeatureSet([Mean(x), variance(), BOXES[name], skewness()]))
    known, given = DECLARED, ROWS[rows]
    np.testing.assert_allclose(ours.values(given), known.values(given), rtol=1e-14)
    for count_ in (2, 3, 4):
        sizes = np.linalg.norm(known.gradients(given, count_), axis=-1, keepdims=True)
        assert np.all(np.abs(ours.gradients(given, count_) - known.gradients(given, count_)) <= 1e-11 * sizes)
    weights = RNG.normal(size=(2, 3, 3, 14))
    expected = known.curvature(given, weights)
    assert np.abs(ours.curvature(given, weights) - expected).max() <= 1e-8 * np.abs(expected).max()


def test_error_estimates_are_honest() -> None:
    """An offset makes the function noisy: the error grows a million times, and the estimate with it."""
    for offset in (0.0, 1e3):
        given = ROWS["gamma"] + offset
        gradients, errors = Oracle(BlackBox(peakedness)).gradients(given)
        exact = slope_of_peakedness(given)
        actual = np.linalg.norm(gradients - exact, axis=1) / np.linalg.norm(exact, axis=1)
        assert np.all(actual <= 10 * errors) and np.all(errors <= (1e-12 if offset == 0 else 1e-9))


def test_steps_adapt_to_what_changes_fast_and_to_the_domain() -> None:
    wide = RNG.normal(size=(2, 14)) * 1000  # the soft maximum changes within 1
    exact = np.exp(wide - soft_maximum(wide)[:, None])
    assert np.abs(Oracle(BlackBox(soft_maximum)).gradients(wide)[0] - exact).max() < 1e-11
    near = np.array([[1e-4, 0.3, 1.0, 2.0]])  # a quarter of the deviation would leave the domain
    gradients, _ = Oracle(BlackBox(lambda v: np.log(v).sum())).gradients(near)
    np.testing.assert_allclose(gradients, 1 / near, rtol=1e-9)


def test_extrapolation_finds_the_derivative_beside_a_pole() -> None:
    def quotient(which: Any, h: float) -> tuple[Any, Any]:
        up, down = 1 / (0.26 + h), 1 / (0.26 - h)
        return np.full((1, 1), (up - down) / (2 * h)), np.full((1, 1), 2e-16 / h)

    value, error, settled = extrapolated(quotient, 1, 1)
    assert abs(value[0, 0] + 1 / 0.26**2) <= error[0, 0] < 1e-8 and settled.all()


def test_path_of_either_kind() -> None:
    assert type(path_of(FeatureSet([Mean(x)]))) is NarrowPath
    assert isinstance(path_of(FeatureSet([Mean(x), BOXES["gradient"]])), BlackBoxPath)


# --- what goes wrong ----------------------------------------------------------------------------------------------


def fails_below(bound: float, failure: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda v: failure(v) if v.min() < bound else (v**2).mean()


def raised(v: Any) -> Any:
    raise ZeroDivisionError("no inverse here")


FAILURES: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "NaN": (lambda v: np.nan, "not finite", "squares is nan here"),
    "infinity": (lambda v: np.float64(1) / 0, "not finite", "squares is inf here"),
    "exception": (raised, "callable failed", "it raised ZeroDivisionError: no inverse here"),
    "shape": (lambda v: v, "callable failed", r"returned an array of shape \(5,\)"),
    "complex": (lambda v: 1j, "callable failed", "returned complex128, real numbers are expected"),
    "text": (lambda v: "2.5", "callable failed", "real numbers are expected"),
    "nothing": (lambda v: None, "callable failed", "it raised TypeError"),
}
FINE, BAD = [1.0, 2.0, 4.0, 7.0, 9.0], [-9.0, 1.0, 2.0, 3.0, 5.0]


@cache
def raised_to_forty() -> Any:
    return NarrowPath([Mean(x), Mean(x**2)]).follow([FINE], 2, 40.0).values[0]


@pytest.mark.parametrize("vectorized", [False, True])
@pytest.mark.parametrize("failure", FAILURES)
def test_only_the_failing_row_is_refused(failure: str, vectorized: bool) -> None:
    broken, reason, said = FAILURES[failure]
    function = fails_below(-5, broken)

    def of_rows(rows: Any) -> Any:
        return np.array([function(row) for row in rows])

    box = Feature.from_callable(of_rows if vectorized else function, None if vectorized else lambda v: 2 * v / len(v),
                                "squares", vectorized=vectorized)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        moved = BlackBoxPath([Mean(x), box]).follow([FINE, BAD], 2, 40.0)
    np.testing.assert_allclose(moved.values[0], raised_to_forty(), rtol=1e-10)
    assert np.isnan(moved.values[1]).all() and list(moved.refusals) == [1]
    if (failure, vectorized) in {("nothing", True), ("shape", True), ("complex", True), ("text", True)}:
        said = ""  # the list of answers fails in its own way
    assert moved.refusals[1].reason == reason and _matches(said, moved.refusals[1].detail)


def _matches(pattern: str, text: str) -> bool:
    return re.search(pattern, text) is not None and "squares" in text


def test_a_function_may_change_its_argument() -> None:
    def sorted_in_place(v: Any) -> Any:
        v.sort()
        return (v**2).mean()

    rows = np.array([FINE[::-1]])
    moved = BlackBoxPath([Mean(x), Feature.from_callable(sorted_in_place)]).follow(rows, 2, 40.0)
    assert not moved.refusals and rows.tolist() == [FINE[::-1]]


def squares(v: Any) -> Any:
    return (v**2).mean()


def slope(v: Any) -> Any:
    return 2 * v / len(v)


def up_to_eleven(v: Any) -> Any:
    if v.max() > 11:
        raise OverflowError("beyond 11")
    return squares(v)


TICKS = count()


@pytest.mark.parametrize(("function", "gradient", "reason", "said"), [
    (squares, lambda v: 2 * v, "callable failed", "not N times it"),
    (squares, lambda v: -slope(v), "callable failed", "gives a slope of"),
    (squares, lambda v: slope(v[1:]), "callable failed", r"shape \(4,\)"),
    (squares, lambda v: np.full(len(v), np.nan), "not finite", "gradient of squares is not finite"),
    (squares, raised, "callable failed", "the gradient of squares: it raised ZeroDivisionError"),
    (squares, lambda v: slope(v).astype(np.float32), "callable failed", "jax_enable_x64"),
    (lambda v: np.float32(squares(v)), None, "callable failed", "float32"),
    (lambda v: squares(v) + 1e-6 * np.sin(1e9 * v.sum()), None, "gradient not resolved", "[Gg]ive gradient="),
    (lambda v: squares(v) + 1e-6 * next(TICKS), None, "callable failed", "squares changes its answer"),
    (up_to_eleven, slope, "not attainable", "OverflowError: beyond 11"),
], ids=["N times", "turned", "short", "no number", "raising", "narrow",
        "narrow values", "noisy", "restless", "it ends"])
def test_what_is_not_believed_of_a_callable_is_said(function: Any, gradient: Any, reason: str, said: str) -> None:
    box = Feature.from_callable(function, gradient, "squares")
    goal = 400.0 if function is up_to_eleven else 40.0
    refusal = BlackBoxPath([Mean(x), box]).follow([FINE], 2, goal).refusals[0]
    assert refusal.reason == reason and _matches(said, refusal.detail)


def test_a_gradient_as_other_arrays_have_it() -> None:
    class Foreign:  # what JAX and autograd return: no NumPy array, but one for whoever asks
        def __init__(self, values: Any) -> None:
            self.values = values

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.asarray(self.values, dtype=dtype)

    box = Feature.from_callable(lambda v: Foreign((v**2).mean()), lambda v: Foreign(2 * v / len(v)))
    moved = BlackBoxPath([Mean(x), box]).follow([FINE], 2, 40.0)
    np.testing.assert_allclose(moved.values[0], raised_to_forty(), rtol=1e-14)


@pytest.mark.parametrize("gradient", [None, lambda v: 2 * (v - v.mean()) / len(v)])
def test_a_function_of_those_before_is_a_critical_point(gradient: Any) -> None:
    """Differences leave a gradient of their own error beside those before it: that is none."""
    again = Feature.from_callable(lambda v: v.var(), gradient, "again")
    refusal = BlackBoxPath([Mean(x), variance(), again]).follow(ROWS["normal"], 3, 2.0).refusals[0]
    assert refusal.reason == "critical point" and "again" in refusal.detail
    alone = BlackBoxPath([again]).follow(np.ones((1, 4)), 1, 2.0).refusals[0]
    assert alone.reason == "critical point"


def test_an_interruption_is_not_an_answer() -> None:
    def interrupted(v: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        BlackBoxPath([Mean(x), Feature.from_callable(interrupted)]).follow([FINE], 2, 40.0)


# --- C1 and C2 on samples -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["differences, rows", "gradient"])
def test_involutive_sets_are_told_from_others(name: str) -> None:
    """Mean, variance and an invariant of shift and scale are involutive; the moments 1 to 4 are not."""
    given = ROWS["normal"]
    verdict = check_frobenius([Mean(x), variance(), BOXES[name]], samples=given)
    assert verdict.status is Status.NUMERICAL and verdict.holds is True and verdict.n_samples == 14
    assert verdict.residual < 1e-9 < verdict.tolerance < 1e-5
    assert verdict.independence.status is Status.NUMERICAL and verdict.independence.holds is True
    against = check_frobenius([Mean(x), variance(), skewness(), BOXES[name]], samples=given)
    assert against.holds is False and against.residual > 1e-3 and "[v3, v4]" in against.reason
    assert check_frobenius([Mean(x), variance(), skewness(), kurtosis()]).status is Status.REFUTED  # the exact answer
    scaled = check_frobenius([Mean(x), variance(), skewness(), BOXES[name]], samples=2.0**40 * given)
    assert scaled.residual == pytest.approx(against.residual, rel=1e-6)


def test_verdicts_on_samples_say_what_was_seen() -> None:
    box = Feature.from_callable(fails_below(-5, raised), name="squares")
    verdict = check_frobenius([Mean(x), box], samples=[FINE, BAD])
    assert "1 of 2 samples" in verdict.reason and "ZeroDivisionError" in verdict.evidence[0] and verdict.holds is True
    none = check_frobenius([Mean(x), box], samples=BAD)
    assert none.status is Status.UNDECIDED and "ZeroDivisionError" in none.reason
    twice = check_frobenius([variance(), Feature.from_callable(np.var)], samples=FINE)
    assert twice.independence.holds is False and twice.independence.residual == 0
    assert check_frobenius([Mean(x), BOXES["gradient"]], samples=[[1.0, 3.0]]).vacuous


@pytest.mark.parametrize(("features", "options", "said"), [
    ([Mean(x)], {"samples": [FINE]}, "decided exactly"),
    ([BOXES["gradient"]], {"samples": [[1.0, np.nan]]}, "not finite"),
    ([BOXES["gradient"]], {"samples": [[1.0]]}, "at least 2"),
    ([BOXES["gradient"]], {"samples": "abc"}, "numbers in an array"),
    ([BOXES["gradient"]], {"samples": [FINE], "n_samples": 4}, "n_samples=4"),
])
def test_samples_that_do_not_fit_are_refused(features: Any, options: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        check_frobenius(features, **options)
