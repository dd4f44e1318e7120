r"""Everything that prints in a notebook has `latex()`, and shows it between dollar signs.

MathJax takes ``\begin{aligned} [v_1, v_2]`` and ``\\ [v_1, v_3]`` for optional arguments: no bracket may follow either.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from sympy import Symbol

from symdecouple import Feature, FeatureSet, Mean, VectorField, check_frobenius, coordinates, normalizers, x
from symdecouple.flows.separable import flow
from symdecouple.flows.spectral import SpectralFlow
from symdecouple.language.statistics import variance
from symdecouple.verdict import Status, Verdict, latex_text
from tests.calculus.certified import AT_A_SAMPLE, VERDICTS

NAMED = Symbol("p_x")
SHOWN: list[Any] = [
    Feature(variance()), FeatureSet([Mean(x), Mean(x**2)]), Feature.from_callable(max, name="a_b 50% #1 {^~&$\\}"),
    VectorField(x**2), VectorField(list(coordinates(2)), coordinates(2)), Feature(Mean(x**2)).gradient, flow(x**2),
    SpectralFlow((Feature(Mean(x**2)),)), *normalizers([Mean(x), Mean(x**2), Mean(x**3)], [0, 1, 0]),
    *VERDICTS.values(), *AT_A_SAMPLE.values(), *(v.certificate for v in [*VERDICTS.values(), *AT_A_SAMPLE.values()]),
    Verdict("C2", Status.UNDECIDED, ("f",), reason="the_product 50% #2 x^2 & {more} $ ~ \\"),
    Verdict("C2", Status.NUMERICAL, (), holds=True, residual=0.0, tolerance=1.0), VectorField([1], [NAMED]),
]


@pytest.mark.parametrize("number", range(len(SHOWN)))
def test_it_has_latex_and_shows_it(number: int) -> None:
    shown = SHOWN[number]
    text = shown.latex()
    assert shown._repr_latex_() == rf"$\displaystyle {text}$"
    assert not re.search(r"(?<!\\)\$", text)
    assert not re.search(r"(\\begin\{\w+\}|\\\\)\s*\[", text)
    bare = text
    for escaped in (r"\{", r"\}", r"\\"):
        bare = bare.replace(escaped, "")
    assert bare.count("{") == bare.count("}")


def test_words_are_escaped() -> None:
    assert latex_text("a_b 50% #1 & {c} $d x^2 ~ \\") == (
        r"\text{a\_b 50\% \#1 \& \{c\} \$d x\^{}2 \~{} }\backslash\text{}")
    verdict = Verdict("C1", Status.UNDECIDED, (), reason="mean(x_1^2) is 5% off")
    assert r"\text{mean(x\_1\^{}2) is 5\% off}" in verdict.latex()


def test_brackets_are_lined_up() -> None:
    text = check_frobenius([Mean(x), Mean(x**2), Mean(x**3)]).latex()
    assert text.count("{}[v_") == 3 and r"\begin{aligned} {}[v_{1}, v_{2}] &= 2\, v_{1} \\ {}[" in text
