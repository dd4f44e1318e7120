"""Source text of a flow: only our names, only the kernels it needs, a refusal where NumPy lacks a function."""

from __future__ import annotations

import ast

import pytest
from sympy import Symbol, exp, sin

from symdecouple.errors import InvalidInput, NoClosedForm
from symdecouple.flows.separable import flow
from symdecouple.language.sample import x


def test_names_of_the_user_do_not_reach_the_text() -> None:
    hostile = Symbol('y"""\nraise SystemExit\n"""')
    text = flow(hostile**2, sample=hostile).code()
    assert "SystemExit" not in text
    with pytest.raises(InvalidInput, match="values="):
        flow(hostile * x).code()


def test_text_has_the_kernels_it_needs() -> None:
    names = [node.name for node in ast.parse(flow(sin(x)).code()).body if isinstance(node, ast.FunctionDef)]
    assert names == ["scaled_sine", "step_on_circle", "flow_or_nan", "flow"]
    names = [node.name for node in ast.parse(flow(1 - x).code()).body if isinstance(node, ast.FunctionDef)]
    assert names == ["step_of_linear", "flow_or_nan", "flow"]


def test_functions_that_numpy_lacks_are_named() -> None:
    with pytest.raises(NoClosedForm, match="NumPy lacks: evaluate with dps="):
        flow(1 / (1 + exp(x))).code()


def test_large_integers_are_floats() -> None:
    space: dict[str, object] = {}
    exec(flow(10**30 * x**2).code(), space)
    assert space["flow"](1e-30, 0.5) == pytest.approx(2e-30, rel=1e-15)  # type: ignore[operator]
