"""Constraints: holonomic, nonholonomic, or how many hide; traps; parameters; what is refused."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from sympy import Matrix, cos, exp, log, sin, sqrt, symbols, tan

from symdecouple import Status, holonomic, verdict_from_json
from symdecouple.errors import InvalidInput, SymdecoupleError

x, y, z, w, t, a, b = symbols("x y z w t a b")
theta, phi, psi, R = symbols("theta phi psi R")


# A, b, coordinates, time, how many independent, how many hide, functions or None: by hand or from the books
CONSTRAINTS: list[tuple[Any, Any, Any, Any, int, int, Any]] = [
    ([[y, x]], None, [x, y], None, 1, 1, (x * y,)),
    ([[y, -x]], None, [x, y], None, 1, 1, (x / y,)),
    ([[exp(x) * y * z, exp(x) * x * z, exp(x) * x * y]], None, [x, y, z], None, 1, 1, (x * y * z,)),
    ([[1, 0, y], [0, 1, x]], None, [x, y, z], None, 2, 2, (x**2 - y**2, (x + y) * exp(z))),
    ([[1, 0, y, 0], [0, 0, 1, 0]], None, [x, y, z, w], None, 2, 2, (x, z)),
    ([[-z, 1, 0, 0], [-y, -x, 0, 1]], None, [x, y, z, w], None, 2, 1, (w - x * y,)),
    ([[-z, 1, 0]], None, [x, y, z], None, 1, 0, ()),
    ([[sin(theta), -cos(theta), 0]], None, [x, y, theta], None, 1, 0, ()),
    ([[1, 0, -R * cos(theta), 0], [0, 1, -R * sin(theta), 0]], None, [x, y, phi, theta], None, 2, 0, ()),
    ([[1, -R]], None, [x, phi], None, 1, 1, (x - R * phi,)),
    ([[1, -R, 0], [0, R, -2]], None, [x, phi, psi], None, 2, 2, None),
    ([[x, y, z]], None, [x, y, z], None, 1, 1, None),
    ([[1, 0], [0, 1]], None, [x, y], None, 2, 2, (x, y)),
    ([[1, 1], [2, 2]], None, [x, y], None, 1, 1, (x + y,)),
    # with time
    ([[-t, 1]], [0], [x, y], t, 1, 0, ()),  # holonomic for each frozen t
    ([[x, y]], [-t], [x, y], t, 1, 1, (x**2 + y**2 - t**2,)),
    ([[1, 1], [2, 2]], [t, 2 * t], [x, y], t, 1, 1, None),
    ([[cos(t), sin(t)]], [0], [x, y], t, 1, 0, ()),
    ([[cos(t), sin(t)]], [y * cos(t) - x * sin(t)], [x, y], t, 1, 1, (x * cos(t) + y * sin(t),)),
    ([[sin(t), -cos(t)]], [x * cos(t) + y * sin(t)], [x, y], t, 1, 1, None),  # a bead on a turning wire
    ([[1, 0], [0, 1]], [-cos(t), -y], [x, y], t, 2, 2, None),
    ([[1]], [-x], [x], t, 1, 1, (x * exp(-t),)),
    ([[1, 0, 0], [0, -z, 1]], [-1, 0], [x, y, z], t, 2, 2, None),
    ([[0, 1, -x]], [0], [x, y, z], t, 1, 0, ()),
    ([[1, -tan(theta), 0]], None, [y, x, theta], None, 1, 0, ()),
    ([[1 / x, 1 / y]], None, [x, y], None, 1, 1, None),
    ([[sqrt(x), log(y)]], None, [x, y], None, 1, 1, None),
]


@pytest.mark.parametrize(("A", "b", "space", "time", "rank", "hidden", "functions"), CONSTRAINTS,
                         ids=range(len(CONSTRAINTS)))
def test_constraints(A: Any, b: Any, space: Any, time: Any, rank: int, hidden: int, functions: Any) -> None:
    verdict = holonomic(A, b, space, time)
    assert verdict.status is (Status.PROVED if rank == hidden else Status.REFUTED)
    assert verdict.hidden == hidden and verdict.certificate.rank == rank  # type: ignore[union-attr]
    assert verdict.verify() and (verdict.failing_pair is None) is (rank == hidden)
    assert (verdict.witness is None) is (rank == hidden)
    if functions is None:
        assert len(verdict.functions) == hidden
    else:
        assert {f if f.could_extract_minus_sign() else -f for f in verdict.functions} == {
            f if f.could_extract_minus_sign() else -f for f in functions}
    read = verdict_from_json(verdict.to_json())
    assert read.to_dict() == verdict.to_dict() and str(read) == str(verdict) and read.verify()
    if time is not None and functions:  # substituted: every motion keeps them
        for h in verdict.functions:
            assert h.has(time) or h.free_symbols <= set(space)


def test_what_is_said() -> None:
    two = holonomic([[-z, 1, 0, 0], [-y, -x, 0, 1]], None, [x, y, z, w])
    text = str(two)
    assert "holonomic constraints: REFUTED in 4 coordinates" in text and "one holonomic constraint hides" in text
    assert "constant: w - x*y" in text and "witness" in text and "-z*dx + dy" in text
    assert "the time among them" in str(holonomic([[-t, 1]], [0], [x, y], t))
    assert "hidden" in two.latex()
    dependent = holonomic([[1, 1], [2, 2]], None, [x, y])
    assert "1 of the 2 constraints are independent" in dependent.reason


def test_matrices_of_any_kind() -> None:
    expected = holonomic([[x, y]], [-t], [x, y], t).functions
    for A, b in ((Matrix([[x, y]]), Matrix([-t])), (np.array([[x, y]], dtype=object), np.array([-t], dtype=object)),
                 (((x, y),), (-t,)), (Matrix([[x, y]]), [[-t]])):
        assert holonomic(A, b, [x, y], t).functions == expected


def test_a_parameter_at_which_the_answer_changes() -> None:
    bent = holonomic([[-a * z, 1, 0]], None, [x, y, z])
    assert bent.status is Status.REFUTED and bent.at({a: 0}).status is Status.PROVED
    assert [dict(e) for e in bent.exceptions] == [{a: 0}] and bent.verify()
    lower = holonomic([[1, a], [1, 1]], None, [x, y])
    assert lower.hidden == 2 and lower.at({a: 1}).hidden == 1 and {a: 1} in [dict(e) for e in lower.exceptions]
    assert lower.verify()
    disc = holonomic([[1, 0, -R * cos(theta), 0], [0, 1, -R * sin(theta), 0]], None, [x, y, phi, theta])
    assert disc.at({R: 0}).functions == (x, y)
    driven = holonomic([[1, 0], [a, 1]], [0, 0], [x, y], t)
    assert driven.status is Status.PROVED


REFUSED: list[tuple[Any, str]] = [
    (lambda: holonomic([[1], [1]], [0, -1], [x], t), "contradict each other"),
    (lambda: holonomic([[1, 1], [2, 2]], [t, t], [x, y], t), "contradict each other"),
    (lambda: holonomic([[1, 0], [a, 0]], [0, 1], [x, y], t), "for generic values of a"),
    (lambda: holonomic([[0, 0]], None, [x, y]), "0 = 0.*leave it out"),
    (lambda: holonomic([[0, 0]], [1], [x, y], t), "contradicts itself"),
    (lambda: holonomic([[x, y]], [1], [x, y]), "give its symbol"),
    (lambda: holonomic([[x, y]], [1, 2], [x, y], t), "one entry for each of 1 constraints"),
    (lambda: holonomic([[x]], None, [x, y]), "a column for each of the coordinates"),
    (lambda: holonomic([[x, y], [x]], None, [x, y]), "a column for each of the coordinates"),
    (lambda: holonomic([], None, [x, y]), "a row for each constraint"),
    (lambda: holonomic([x, y], None, [x, y]), "a list of rows"),
    (lambda: holonomic([[x, y]], [1], [x, y], x), "leave it out of them"),
    (lambda: holonomic([[x, y]], "b", [x, y], t), "b is a column"),
    (lambda: holonomic([["x", y]], None, [x, y]), "takes an expression"),
    (lambda: holonomic([[x, y]], None, [x, x]), "distinct coordinates"),
    (lambda: holonomic([[abs(x), y]], None, [x, y]), "smooth|kinks"),
]


@pytest.mark.parametrize(("call", "said"), REFUSED, ids=[said for _, said in REFUSED])
def test_bad_input_is_refused(call: Any, said: str) -> None:
    with pytest.raises(SymdecoupleError, match=said):
        call()


def test_forged_verdicts_are_found() -> None:
    two = holonomic([[-z, 1, 0, 0], [-y, -x, 0, 1]], None, [x, y, z, w])
    proof: Any = two.certificate
    other: Any = holonomic([[-z, 1, 0, 0], [0, 0, 0, 1]], None, [x, y, z, w]).certificate
    assert proof.verify()
    for part in (proof.closure, proof.refutation):  # the same fields, told to be the kernel of other forms
        foreign = dataclasses.replace(part, subject=dataclasses.replace(part.subject, forms=part.subject.forms[:1]))
        name = "closure" if part is proof.closure else "refutation"
        assert not dataclasses.replace(proof, **{name: foreign}).verify()
    for forged in (dataclasses.replace(proof, functions=(w,)), dataclasses.replace(proof, functions=(w - x * y, w)),
                   dataclasses.replace(proof, minor=None), dataclasses.replace(proof, closure=other.closure),
                   dataclasses.replace(proof, closure=None), dataclasses.replace(proof, time=x),
                   dataclasses.replace(proof, refutation=other.refutation)):
        assert not forged.verify()
    text = two.to_json()
    with pytest.raises(InvalidInput, match="edited"):
        verdict_from_json(text.replace('"REFUTED"', '"PROVED"', 1))


def test_out_of_time_is_undecided() -> None:
    verdict = holonomic([[sin(x * y) * z + w, cos(y * z), 1, 0], [exp(x * w), tan(y), z, 1]], None, [x, y, z, w],
                        budget=1e-3)
    assert verdict.status is Status.UNDECIDED and verdict.hidden is None and verdict.functions == ()
