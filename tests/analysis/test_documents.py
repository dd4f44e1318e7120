"""Verdicts as documents: LaTeX that is balanced, in ASCII and narrow, whose figures are those of the certificates."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sympy import Abs, Matrix, Rational, Symbol, exp, sin

import symdecouple as sd
from symdecouple import FeatureSet, InvalidInput, Mean, Verdict, check_frobenius, check_independence, x
from symdecouple.analysis import critical_points
from symdecouple.analysis.document.typesetting import display, pieces, words
from symdecouple.analysis.documents import verdict_document
from symdecouple.families import raw_moments, second_order_moments

a, alpha, q, r, s = Symbol("a", real=True), Symbol("α_é_变", real=True), *sd.coordinates(3)


@cache
def plan() -> sd.Plan:
    return sd.decouple(raw_moments(4))


@cache
def points() -> Any:
    return critical_points(plan(), level=3, n_samples=6)


VERDICTS: dict[str, tuple[Callable[[], Verdict], tuple[str, ...]]] = {
    "involution": (lambda: check_frobenius(raw_moments(3)), (
        r"[v_{1}, v_{3}] & = 6 x \\", r"& = 3 \, v_{2}", "is involutive (Frobenius' condition), for every $N$.",
        r"\paragraph{Carried by Theorem A}")),
    "one field": (lambda: check_frobenius([Mean(x**3)]), ("bracket of a field with itself vanishes",)),
    "non-involution": (lambda: check_frobenius(raw_moments(4)), (
        r"is not in the span", r"= 12 x^{4}", r"for every $N \ge 5$", "with $[v_{3}, v_{4}]$ as last column")),
    "by intervals": (lambda: check_frobenius([Mean(x), Mean(exp(x)), Mean(exp(2 * x))]), (
        "ends rounded", r"\cdot 10^{")),
    "parameters": (lambda: check_frobenius([Mean(x), Mean(x**2 + a * x**3)]), (
        "for generic values of a", r"\item at a = 0: there C2 is PROVED")),
    "other letters": (lambda: check_frobenius([Mean(x), Mean(x**2 + alpha * x**3)]), ("U+03B1",)),
    "conditions": (lambda: check_frobenius([Mean(x), sd.variance(), Mean(x**3) / Mean(x)**3]), (
        r"The coefficients exist where $\overline{x} \neq 0$", "wherever the coefficients below exist", "Theorem D")),
    "vacuous": (lambda: check_frobenius(raw_moments(4), n_samples=4), ("vacuously", "they span everything")),
    "dependence": (lambda: check_independence([Mean(x), Mean(x**2), sd.variance()]), ("linearly dependent, for every",
                                                                                     "0 & =")),
    "counted": (lambda: check_independence(raw_moments(3), n_samples=2), ("there are 3",)),
    "at a sample": (lambda: check_independence(raw_moments(3), at=[1, 2, 3, 5]), (r"$x = (1,\allowbreak 2",)),
    "dependent there": (lambda: check_independence(raw_moments(4), at=[1, 2, 2, 5, 5]), (r"- \tfrac{32}{3}\, v_{3}",)),
    "cells": (lambda: check_frobenius(FeatureSet([Mean(x), Mean(Abs(x))], allow_nonsmooth={"Abs"})), (
        "Away from kinks", "On samples with all values in")),
    "coordinates": (lambda: check_frobenius([q * r, q + s**2]), ("one component for each coordinate",)),
    "filters": (lambda: check_frobenius(second_order_moments(sd.FilterBank([[1, 2, 1], [1, 0, -1]]))), ("Theorem E",)),
    "affine covariance": (lambda: plan().verdicts.modified[3], ("modified features", "2*Mean(x)**3/(")),
    "modified": (lambda: plan().verdicts.modified[4], (
        "modified features", "references, 0, 1, 0:", r"1 & 1 & -\tfrac{9}{4} & -\tfrac{18}{5} & \tfrac{108}{5} \\",
        "up to a combination of these", "The determinant is $-7776$")),
    "holonomic": (lambda: sd.holonomic(Matrix([[1, 0, -r]]), None, (q, r, s)), ("span the kernel of", "Theorem M")),
    "critical points": (lambda: points().complete, ("no other critical points", "Theorem I")),
    "global": (lambda: points().b1, ("are all global",)),
    "undecided": (lambda: check_frobenius([Mean(x), Mean(sin(x) * exp(x**2)), Mean(exp(sin(x)))], budget=0.001), (
        r"\section*{Not decided}", "no theorem, and not its negation")),
    "numerical": (lambda: check_frobenius([Mean(x), sd.Feature.from_callable(np.median)],
                                          samples=np.random.default_rng(0).normal(size=(2, 7))),
                  ("Checked numerically, not proved", "tolerance")),
    "long": (lambda: check_frobenius([Mean(x), Mean((x - Mean(x))**3) / sd.variance()**Rational(3, 2),
                                      Mean(x**8) + Mean(x)**3 * Mean(x**4) * Mean(x**5)**2 - Mean(x**2) * Mean(x**3)]),
             ("\n &\\quad",)),
}


@cache
def document(name: str) -> str:
    return VERDICTS[name][0]().document()


@pytest.mark.parametrize("name", VERDICTS)
def test_it_is_latex_and_says_what_was_decided(name: str) -> None:
    text = document(name)
    for said in VERDICTS[name][1]:
        assert said in text
    assert text.isascii() and text.startswith(r"\documentclass") and text.endswith("\\end{document}\n")
    bare = re.sub(r"\\begin\{verbatim\}.*?\\end\{verbatim\}", "", text, flags=re.DOTALL)
    bare = re.sub(r"\\[{}$\\]", "", bare)
    depth = 0
    for c in bare:
        depth += (c == "{") - (c == "}")
        assert depth >= 0
    assert depth == 0 and bare.count("$") % 2 == 0 and bare.count("bigl(") == bare.count("bigr)")
    assert bare.count(r"left(") == bare.count(r"right)")
    opened: list[str] = []
    for kind, environment in re.findall(r"\\(begin|end)\{(\w+\*?)\}", text):
        if kind == "begin":
            opened.append(environment)
        else:
            assert opened.pop() == environment
    assert not opened
    is_exact = "undecided" not in name and name != "numerical"
    assert (r"\begin{theorem}" in text) == (r"\begin{proof}" in text) == is_exact


@pytest.mark.parametrize("name", ["involution", "non-involution", "vacuous", "coordinates"])
def test_the_determinants_are_those_of_the_matrices_shown(name: str) -> None:
    """By Fraction arithmetic, from the text alone."""
    text = document(name).replace(r"\allowbreak ", "")
    rows = re.findall(r"\\begin\{array\}\{r+\}\n(.*?)\n\\end\{array\}", text, flags=re.DOTALL)
    values = re.findall(r"determinant is \$(-?[^$]*)\$", text)
    assert rows and len(rows) == len(values)
    for table, value in zip(rows, values, strict=True):
        matrix = Matrix([[rational(cell) for cell in row.split(" & ")] for row in table.split(" \\\\\n")])
        assert matrix.det() == rational(value) != 0


def rational(text: str) -> Rational:
    return Rational(re.sub(r"\\tfrac\{(\d+)\}\{(\d+)\}", r"\1/\2", text))


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not there")
@pytest.mark.slow
@pytest.mark.parametrize("name", VERDICTS)
def test_pdflatex_takes_it_and_nothing_leaves_the_page(name: str, tmp_path: Path) -> None:
    (tmp_path / "a.tex").write_text(document(name))
    done = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "a.tex"], cwd=tmp_path,
                          capture_output=True, check=False)
    told = done.stdout.decode(errors="replace")
    assert done.returncode == 0, told[-1500:]
    assert all(float(width) < 5 for width in re.findall(r"Overfull \\hbox \(([\d.]+)pt", told))


def test_formulas_are_broken_over_lines() -> None:
    long = sum(Mean(x**k) * Mean(x**(k + 1))**2 for k in range(1, 30)) / sd.variance()**3
    shown = display(["f", "=", *pieces(long)])
    assert shown.count(r"\\") >= 2
    for big in (Fraction(10**200 + 1), Fraction(1, 3**400)):
        wide = display(["c", "=", *pieces(Rational(big.numerator, big.denominator))])
        digits = re.sub(r"[^0-9]", "", wide)
        assert wide.count(r"\\") >= 2 and digits == str(big).replace("/", "")


def test_words_are_escaped() -> None:
    assert words("a_1 >= {50%} & \\x^2 <µ>") == (
        r"a\_1 $\ge$ \{50\%\} \& \textbackslash{}x\^{}2 \ensuremath{<}U+00B5\ensuremath{>}")


def test_only_verdicts_are_written() -> None:
    with pytest.raises(InvalidInput, match="a verdict is expected"):
        verdict_document(raw_moments(2))  # type: ignore[arg-type]
