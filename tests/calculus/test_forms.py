"""1-forms: their kernels, their text, and what is refused."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sympy import Matrix, Symbol, cos, exp, log, sin, sqrt, symbols, tan

from symdecouple import (
    OneForm,
    Status,
    VectorField,
    check_frobenius,
    check_independence,
    coordinates,
    verdict_from_json,
)
from symdecouple.calculus.forms import annihilates
from symdecouple.errors import InvalidInput, SymdecoupleError

x, y, z, w, a, b = symbols("x y z w a b")
SPACE = [x, y, z, w]


def forms(*rows: Any) -> list[OneForm]:
    return [OneForm(row, SPACE[: len(row)]) for row in rows]


# forms, rank of the kernel, integrable: by hand, d omega_i = 0 modulo the forms
INTEGRABLE: list[tuple[list[OneForm], int, bool]] = [
    (forms([y, -x]), 1, True),
    (forms([exp(x) * y * z, exp(x) * x * z, exp(x) * x * y]), 2, True),
    (forms([1, 0, y], [0, 1, x]), 1, True),
    (forms([-z, 1, 0]), 2, False),
    (forms([1, 0, y, 0], [0, 0, 1, 0]), 2, True),
    (forms([-z, 1, 0, 0], [-y, -x, 0, 1]), 2, False),
    (forms([y * z, x * z, x * y]), 2, True),
    (forms([y, x, 1]), 2, True),
    (forms([0, x, 1]), 2, False),  # Heisenberg
    (forms([-y, x, 1]), 2, False),
    (forms([2 * x * z, 2 * y * z, 1]), 2, True),
    (forms([z, z, 2 * (1 - x - y)]), 2, True),
    (forms([y * z + x * y * z, x * z + x * y * z, x * y + x * y * z]), 2, True),
    (forms([1 + y, 1 + x, 0]), 2, True),
    (forms([sin(z), -cos(z), 0]), 2, False),  # the unicycle
    (forms([1, 0, 0], [0, 1, 0], [0, 0, 1]), 0, True),
    (forms([1, 0], [0, 1]), 0, True),
    (forms([x, y, 0], [2 * x, 2 * y, 0]), 2, True),  # dependent
    (forms([cos(x) * y, sin(x)]), 1, True),
    (forms([1 / x, log(x) / y, 0]), 2, True),
    (forms([sqrt(x), y, 0, 0], [0, 0, 1, tan(w)]), 2, True),
    (forms([-w, 1, 0, 0], [-z, 0, 0, 1]), 2, False),  # Engel
]


@pytest.mark.parametrize(("given", "rank", "is_integrable"), INTEGRABLE, ids=lambda v: str(v)[:60])
def test_the_kernel_is_decided(given: list[OneForm], rank: int, is_integrable: bool) -> None:
    verdict = check_frobenius(given)
    assert verdict.status is (Status.PROVED if is_integrable else Status.REFUTED)
    subject: Any = verdict.certificate
    fields = subject.subject.items
    assert annihilates(given, fields)
    assert rank == (0 if all(c == 0 for c in fields[0].components) else len(fields))
    assert verdict.verify()
    assert f"the kernel of {given[0]}" in str(verdict)
    read = verdict_from_json(verdict.to_json())
    assert str(read) == str(verdict) and read.verify()


def test_one_form_alone_and_forms_in_numbered_coordinates() -> None:
    assert check_frobenius(OneForm([y, -x], [x, y])).status is Status.PROVED
    x1, x2, x3 = coordinates(3)
    assert check_frobenius([OneForm([-x3, 1, 0], [x1, x2, x3])]).status is Status.REFUTED


def test_where_a_parameter_lowers_the_rank_is_told() -> None:
    verdict = check_frobenius(forms([1, 0, a * y], [0, a - 1, 0]))
    assert verdict.status is Status.PROVED and verdict.verify()
    assert [(dict(e), e.status) for e in verdict.exceptions] == [({a: 1}, Status.REFUTED)]
    assert verdict.at({a: 1}).status is Status.REFUTED and len(verdict.at({a: 1}).subject) == 2
    gone = check_frobenius(forms([a, a * y, 0], [0, 0, b]))
    assert {a: 0} in [dict(e) for e in gone.exceptions] and {b: 0} in [dict(e) for e in gone.exceptions]
    assert len(gone.at({a: 0, b: 0}).subject) == 3  # nothing is constrained any more


def test_a_parameter_decides() -> None:
    verdict = check_frobenius(forms([a * y, x, 0], [0, 0, 1]))
    assert verdict.status is Status.PROVED
    bent = check_frobenius([OneForm([-a * z, 1, 0], [x, y, z])])
    assert bent.status is Status.REFUTED and bent.at({a: 0}).status is Status.PROVED
    assert {a: 0} in [dict(e) for e in bent.exceptions] and bent.verify()


def test_independence_of_forms_is_that_of_their_components() -> None:
    assert check_independence(forms([1, 0, y], [0, 1, x])).status is Status.PROVED
    assert check_independence(forms([x, y], [x**2, x * y])).status is Status.REFUTED
    verdict = check_independence(forms([1, a, 0], [a, 1, 0]))
    assert {frozenset(dict(e).items()) for e in verdict.exceptions} == {frozenset({(a, 1)}), frozenset({(a, -1)})}


def test_forged_forms_are_found() -> None:
    verdict = check_frobenius(forms([y, -x]))
    text = verdict.to_json()
    for old, new in (('"x2"', '"x1"'), ('"-x1"', '"x1"')):
        data = text.replace(f'"forms": [\n        [\n          {old}', f'"forms": [\n        [\n          {new}')
        if data != text:
            assert not verdict_from_json(data).verify()
            return
    pytest.fail("the forms are not where they were in the text")


def test_text_and_latex() -> None:
    assert str(OneForm([y - 1, -x, 0], [x, y, z])) == "(y - 1)*dx - x*dy"
    assert OneForm([x / 2, 1], [x, y]).latex() == r"\frac{x}{2}\, d x + d y"
    form = OneForm([y, -x], [x, y])
    assert repr(form) == "OneForm((y, -x), (x, y))" and eval(repr(form)) == form
    assert pickle.loads(pickle.dumps(form)) == form and hash(form) == hash(OneForm((y, -x), (x, y)))
    bent = OneForm([abs(x), 1], [x, y], allow_nonsmooth=["Abs"])
    assert pickle.loads(pickle.dumps(bent)) == bent
    with pytest.raises(AttributeError, match="immutable"):
        form.components = ()  # type: ignore[misc]


def test_parameters_are_bound() -> None:
    form = OneForm([a * y, b], [x, y])
    assert form.parameters == {a, b} and form.bind({"a": 2, b: 3}) == OneForm([2 * y, 3], [x, y])
    with pytest.raises(InvalidInput, match="zero form"):
        form.bind({a: 0, b: 0})


def test_rows_of_a_matrix() -> None:
    for matrix in (Matrix([[y, -x], [1, 2]]), [[y, -x], [1, 2]], np.array([[y, -x], [1, 2]], dtype=object)):
        assert OneForm.rows(matrix, [x, y]) == (OneForm([y, -x], [x, y]), OneForm([1, 2], [x, y]))


REFUSED: list[tuple[Any, str]] = [
    (lambda: OneForm([0, 0], [x, y]), "zero form.*leave it out"),
    (lambda: check_frobenius([OneForm([sin(x) ** 2 + cos(x) ** 2 - 1, 0], [x, y])]), "identically zero"),
    (lambda: check_frobenius(forms([1, 0], [0, 1, 0])), "different spaces"),
    (lambda: OneForm([1], [x, y]), "a component for each"),
    (lambda: OneForm([1, 2], [x, x]), "distinct coordinates"),
    (lambda: OneForm([1, 2]), "without coordinates"),
    (lambda: OneForm(Matrix([[1, 2], [3, 4]]), [x, y]), r"OneForm.rows"),
    (lambda: check_frobenius(Matrix([[1, 2], [3, 4]])), r"VectorField.columns.*OneForm.rows"),
    (lambda: check_frobenius([Matrix([[1, 2], [3, 4]])]), r"VectorField.columns.*OneForm.rows"),
    (lambda: check_frobenius([OneForm([1, 0], [x, y]), VectorField([1, 0], [x, y])]), "of 1-forms or of fields"),
    (lambda: OneForm.rows([[1, 2], [3]], [x, y]), "a component for each"),
    (lambda: OneForm.rows([[0, 0]], [x, y]), "zero form"),
    (lambda: OneForm(["x", 1], [x, y]), "takes an expression"),
    (lambda: OneForm([Symbol("t"), abs(x)], [x, y]), "not smooth|kinks"),
]


@pytest.mark.parametrize(("call", "said"), REFUSED, ids=[said for _, said in REFUSED])
def test_what_is_no_set_of_forms_is_refused(call: Any, said: str) -> None:
    with pytest.raises(SymdecoupleError, match=said):
        call()


def test_a_value_of_a_form_on_a_field() -> None:
    assert OneForm([y, -x], [x, y]).on(VectorField([x, y], [x, y])) == 0
    with pytest.raises(InvalidInput, match="the field in"):
        OneForm([y, -x], [x, y]).on(VectorField([x, y], [x, z]))
