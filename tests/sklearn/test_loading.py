"""When scikit-learn is loaded, and what is said where it is not installed."""


import pytest

import symdecouple
from symdecouple.errors import MissingPackage, SymdecoupleError
from tests.processes import printed

ABSENT = "import sys; sys.modules['sklearn'] = None\n"
ASK = """
try:
    {ask}
except ImportError as error:
    print(type(error).__name__, error)
"""


def test_the_package_and_its_face_load_no_scikit_learn() -> None:
    program = "import sys, symdecouple as sd; sd.sklearn.__all__; print({'sklearn', 'sympy'} & set(sys.modules))"
    assert printed(program) == "set()"


@pytest.mark.parametrize("ask", ["from symdecouple.sklearn import DecoupledMoments",
                                 "import symdecouple as sd; sd.sklearn.DecoupledMoments()"])
def test_without_scikit_learn_the_extra_is_named(ask: str) -> None:
    assert printed(ABSENT + ASK.format(ask=ask)) == (
        'MissingPackage DecoupledMoments needs scikit-learn, which is not installed; install it with: '
        'pip install "symdecouple[sklearn]"')


def test_the_error_is_of_both_kinds() -> None:
    assert issubclass(MissingPackage, ImportError) and issubclass(MissingPackage, SymdecoupleError)


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match=r"did you mean symdecouple\.stats\.decoupled_moments\?"):
        _ = symdecouple.sklearn.decoupled_moments
    with pytest.raises(AttributeError, match="no attribute 'Moments'"):
        _ = symdecouple.sklearn.Moments
    assert set(symdecouple.sklearn.__all__) <= set(dir(symdecouple.sklearn))
