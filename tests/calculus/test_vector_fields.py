"""Sets of vector fields: columns of matrices, the user's own coordinates, and a text that speaks of fields."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp
from sympy import Matrix, Rational, Symbol, cos, exp, sin, sqrt, symbols, tan

from symdecouple import (
    Feature,
    Mean,
    VectorField,
    check_frobenius,
    check_independence,
    coordinates,
    derivative_along,
    verdict_from_json,
    x,
)
from symdecouple.errors import InvalidInput, UnsupportedExpression

p, theta = symbols("p_x theta")
X, Y, PHI = symbols("X Y phi", real=True)
CAR = [VectorField([cos(PHI), sin(PHI), 0], [X, Y, PHI]), VectorField([0, 0, 1], [X, Y, PHI])]


def test_a_witness_is_printed_in_the_users_coordinates() -> None:
    verdict = check_frobenius(CAR)
    text = str(verdict)
    assert verdict.status.name == "REFUTED" and "x = (" not in text
    assert all(f"{name} = " in text for name in ("X", "Y", "phi"))
    assert str(verdict_from_json(verdict.to_json())) == text and verdict.verify()
    two = check_independence([VectorField([1, theta], [p, theta]), VectorField([0, p], [p, theta])])
    assert "p_x = " in str(two) and "theta = " in str(two)
    at = check_independence([VectorField([1, theta], [p, theta]), VectorField([0, p], [p, theta])], at=[1, 2])
    assert "at p_x = 1, theta = 2" in str(at)
    x1, x2, x3 = coordinates(3)
    mine = check_frobenius([VectorField([1, 0, 0], [x1, x2, x3]), VectorField([0, 1, x1], [x1, x2, x3])])
    assert "x = (" in str(mine)


SETS: list[Any] = [
    CAR, [VectorField([1, 0], [p, theta])],
    [VectorField([1, 0, p], [p, theta, X]), VectorField([0, 1, 0], [p, theta, X])],
    [VectorField([p, 0], [p, theta]), VectorField([2 * p, 0], [p, theta])],
    [VectorField([1, 0], [p, theta]), VectorField([0, 1], [p, theta]), VectorField([p, 1], [p, theta])],
    [VectorField(x), VectorField(x**2)], [VectorField(x), VectorField(x**3), VectorField(x**4)],
    [VectorField(x), Mean(x**2), VectorField(x**2)],
]


@pytest.mark.parametrize("fields", SETS, ids=str)
def test_the_text_speaks_of_fields(fields: list[Any]) -> None:
    for verdict in (check_frobenius(fields), check_independence(fields)):
        text = str(verdict)
        assert "gradient" not in text and "field" in text
        read = verdict_from_json(verdict.to_json())
        assert str(read) == text and read.noun == "fields"
        assert verdict.certificate is None or read.verify()


def test_the_text_speaks_of_gradients_where_there_are_features() -> None:
    verdict = check_frobenius([Mean(x), Mean(x**2)])
    assert "gradients" in str(verdict) and verdict.noun == "gradients" and "field" not in str(verdict)


def rows(matrix: Any) -> list[tuple[Any, ...]]:
    return [field.components for field in VectorField.columns(matrix, [p, theta])]


@pytest.mark.parametrize("matrix", [
    Matrix([[1, 0], [theta, p]]), Matrix([[1, 0], [theta, p]]).as_immutable(), [[1, 0], [theta, p]],
    ((1, 0), (theta, p)), np.array([[1, 0], [theta, p]], dtype=object), sp.Array([[1, 0], [theta, p]]),
    sp.SparseMatrix([[1, 0], [theta, p]])], ids=lambda m: type(m).__name__)
def test_columns_of_a_matrix(matrix: Any) -> None:
    assert rows(matrix) == [(1, theta), (0, p)]


def test_columns_of_other_shapes() -> None:
    assert rows(np.array([[0.1, 2, 3], [0, 1, 0]])) == [(Rational(1, 10), 0), (2, 1), (3, 0)]
    assert rows(Matrix([1, p])) == [(1, p)]
    (field,) = VectorField.columns([[sp.Abs(p)], [1]], (p, theta), allow_nonsmooth=["Abs"])
    assert field.allow_nonsmooth == {"Abs"}
    assert check_frobenius(VectorField.columns(Matrix([[1, 0], [0, 1], [0, p]]), [p, theta, X])).failing_pair == (1, 2)
    assert check_frobenius(list(VectorField.columns(sp.eye(3)[:, :2], [p, theta, X]))).status.name == "PROVED"
    for bad in (Matrix([[1, 0]]), [[1, 0], [1]], [1, 2], [], "ab", 3, [[], []], np.zeros((2, 2, 2)), None):
        with pytest.raises(InvalidInput):
            VectorField.columns(bad, [p, theta])
    with pytest.raises(UnsupportedExpression):
        VectorField.columns([[sp.Abs(p)], [1]], [p, theta])


@pytest.mark.parametrize("call", [
    VectorField, lambda m: VectorField(m, [p, theta]), check_frobenius, check_independence,
    lambda m: check_frobenius([m, m])])
@pytest.mark.parametrize("matrix", [Matrix([[1, 0], [theta, p]]), np.array([[1, 2], [3, 4]])], ids=["SymPy", "NumPy"])
def test_a_bare_matrix_is_refused_with_both_remedies(call: Any, matrix: Any) -> None:
    with pytest.raises(InvalidInput, match=r"2 x 2 matrix.*VectorField\.columns\(matrix, coordinates\).*"
                                           r"VectorField\(components, coordinates\)"):
        call(matrix)


def test_one_column_with_its_coordinates_is_a_field() -> None:
    assert VectorField(Matrix([1, p]), [p, theta]) == VectorField([1, p], [p, theta])


TURN = VectorField([theta, -p], [p, theta])


@pytest.mark.parametrize(("target", "found"), [
    (p**2 + theta**2, 0), (p, theta), (theta, -p), (p * theta, theta**2 - p**2), (exp(p), theta * exp(p)),
    (sqrt(p), theta / (2 * sqrt(p))), (sin(p) * Symbol("a"), Symbol("a") * theta * cos(p)), (Symbol("a"), 0), (3, 0),
    (p / theta, 1 + p**2 / theta**2), (tan(theta), -p * (tan(theta) ** 2 + 1))])
def test_derivatives_along_a_field_in_its_own_coordinates(target: Any, found: Any) -> None:
    assert sp.simplify(derivative_along(TURN, target) - found) == 0


def test_derivatives_between_two_spaces_are_refused() -> None:
    x1, x2 = coordinates(2)
    in_x = VectorField([x2, -x1], [x1, x2])
    assert derivative_along(in_x, x1**2) == 2 * x1 * x2 and derivative_along(in_x, Feature(x1 * x2)) != 0
    for field, target in ((TURN, Mean(x)), (TURN, x1), (VectorField(x), x1), (in_x, Mean(x**2)), (TURN, x),
                          (in_x, coordinates(3)[0]), (VectorField(x), x**2), (TURN, Feature(Mean(x))), (TURN, "p")):
        with pytest.raises(InvalidInput):
            derivative_along(field, target)
    with pytest.raises(UnsupportedExpression):
        derivative_along(TURN, sp.Abs(p))
    assert derivative_along(VectorField(x**2), Mean(x**3)) == 3 * Mean(x**4)
    assert derivative_along(VectorField(x**2), Symbol("a")) == 0
