"""What a verdict is about: acceptance, text, and the way through JSON, whatever the coordinates are called."""

import json

import pytest
from sympy import Symbol, symbols

from symdecouple import FeatureSet, Mean, VectorField, check_frobenius, coordinates, sample, verdict_from_json, x
from symdecouple.calculus.subject import Subject
from symdecouple.errors import InvalidInput

NAMES = ["u v w", "x y z", "x1 x2 x3", "x3 x2 x1"]


def rotations(a: Symbol, b: Symbol, c: Symbol) -> list[VectorField]:
    """Two rotations of space: their bracket is the third, a combination of them with coefficients -c/b, -a/b."""
    return [VectorField([b, -a, 0], [a, b, c]), VectorField([0, c, -b], [a, b, c])]


@pytest.mark.parametrize("assumptions", [{}, {"real": True}, {"positive": True}], ids=str)
@pytest.mark.parametrize("names", NAMES)
def test_coordinates_of_any_name_survive_json(names: str, assumptions: dict[str, bool]) -> None:
    a, b, c = symbols(names, **assumptions)
    verdict = check_frobenius(rotations(a, b, c))
    assert verdict.structure == {(1, 2): (-c / b, -a / b)}
    again = verdict_from_json(verdict.to_json())
    assert again.certificate == verdict.certificate
    assert again.certificate is not None and again.certificate.verify()


def test_explicit_coordinates_are_written_by_name() -> None:
    fields = rotations(*coordinates(3))
    assert Subject.of(fields).to_dict()["coordinates"] == ["x1", "x2", "x3"]


@pytest.mark.parametrize("coordinate", [{"name": "u", "assumptions": {"commutative": False}}, {"name": 3,
                                        "assumptions": {}}, {"name": "u"}, 7, None], ids=str)
def test_hostile_coordinates_are_refused(coordinate: object) -> None:
    data = check_frobenius(rotations(*symbols("u v w"))).to_dict()
    data["certificate"]["subject"]["coordinates"][0] = coordinate
    with pytest.raises(InvalidInput):
        verdict_from_json(json.dumps(data))


def test_a_feature_set_is_taken_as_it_is() -> None:
    features = FeatureSet([Mean(x), Mean(x**2)])
    subject = Subject.of(features)
    assert subject.items == features.features
    assert Subject.of(subject) is subject
    assert Subject.from_dict(subject.to_dict()) == subject


def test_a_domain_survives() -> None:
    u = sample("x", interval=(0, 1))
    subject = Subject.of([Mean(u), Mean(u**2)])
    assert Subject.from_dict(json.loads(json.dumps(subject.to_dict()))).sample.interval == (0, 1)


@pytest.mark.parametrize("value", [None, 3, "mean(x)", x, Mean(x), VectorField(x)], ids=str)
def test_what_is_no_set_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput, match="FeatureSet or a list"):
        Subject.of(value)


def test_equal_fields_are_refused() -> None:
    with pytest.raises(InvalidInput, match="the same"):
        Subject.of([VectorField(x), VectorField(x)])
