"""The checks of scikit-learn itself, of the version that is installed, and what they leave out."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from symdecouple.sklearn import DecoupledFilterBank, DecoupledMoments, FeatureDecoupler
from tests.warned import one_refusal

BEYOND = [  # of scikit-learn for its own transformers
    "check_transformer_get_feature_names_out", "check_transformer_get_feature_names_out_pandas",
    "check_set_output_transform", "check_set_output_transform_pandas", "check_global_output_transform_pandas",
    "check_dataframe_column_names_consistency", "check_n_features_in_after_fitting",
]
IMAGES = np.random.default_rng(0).integers(0, 256, size=(3, 12, 12), dtype=np.uint8)

pytestmark = pytest.mark.filterwarnings("ignore")  # rows of three values are refused, and scikit-learn warns of itself


def checked(*estimators: object) -> pytest.MarkDecorator:
    """`parametrize_with_checks`, nothing expected to fail; old versions make an iterator, which pytest gives up."""
    mark = parametrize_with_checks(list(estimators))
    names, cases = mark.args
    return pytest.mark.parametrize(names, list(cases), **mark.kwargs)


@checked(DecoupledMoments(), FeatureDecoupler())
def test_checks_of_scikit_learn(estimator: object, check: object) -> None:
    check(estimator)


@pytest.mark.slow
@checked(DecoupledMoments(1), DecoupledMoments(9, nan_policy="raise"), DecoupledMoments(n_jobs=2),
         DecoupledMoments(perturb="ramp", nan_policy="omit"),
         FeatureDecoupler(["mean(x)", "variance()"], reference="data", nan_policy="raise"))
def test_checks_with_other_parameters(estimator: object, check: object) -> None:
    check(estimator)


@pytest.mark.parametrize("name", BEYOND)
@pytest.mark.parametrize("made", [DecoupledMoments, pytest.param(FeatureDecoupler, marks=pytest.mark.slow)])
def test_checks_of_names_and_frames(made: type, name: str) -> None:
    getattr(estimator_checks, name)(made.__name__, made())


def tags_of(estimator: object) -> tuple[bool, bool, bool, list[str]]:
    """Whether rows, images and NaN are taken, and which types are kept, in the words of either version."""
    if hasattr(estimator, "__sklearn_tags__"):
        tags = estimator.__sklearn_tags__()
        return (tags.input_tags.two_d_array, tags.input_tags.three_d_array, tags.input_tags.allow_nan,
                tags.transformer_tags.preserves_dtype)
    tags = estimator._get_tags()
    return ("2darray" in tags["X_types"], "3darray" in tags["X_types"], tags["allow_nan"],
            [np.dtype(kind).name for kind in tags["preserves_dtype"]])


@pytest.mark.parametrize(("estimator", "expected"), [
    (DecoupledMoments(), (True, False, True)), (DecoupledMoments(nan_policy="raise"), (True, False, False)),
    (FeatureDecoupler(), (True, False, True)), (DecoupledFilterBank(), (False, True, True)),
    (DecoupledFilterBank(nan_policy="raise"), (False, True, False))])
def test_tags(estimator: object, expected: tuple[bool, bool, bool]) -> None:
    assert tags_of(estimator) == (*expected, ["float64", "float32"])


def test_the_bank_without_rows_keeps_the_conventions_of_parameters() -> None:
    """Checks that scikit-learn has for rows only: no work in __init__, parameters as given, fit changes none."""
    bank = DecoupledFilterBank(orders=(2,), on_refusal="raise", n_jobs=1)
    for name in ("check_no_attributes_set_in_init", "check_get_params_invariance", "check_set_params"):
        getattr(estimator_checks, name)("DecoupledFilterBank", bank)
    before = bank.get_params()
    assert bank.fit(IMAGES) is bank and bank.get_params() == before
    state = set(vars(bank))
    first = bank.transform(IMAGES)
    assert set(vars(bank)) == state
    copies = clone(bank).fit(IMAGES), pickle.loads(pickle.dumps(bank))
    for copy in copies:
        np.testing.assert_array_equal(copy.transform(IMAGES), first)
    assert not hasattr(clone(bank), "plan_")
    np.testing.assert_array_equal(bank.fit_transform(IMAGES), first)
    np.testing.assert_array_equal(np.vstack([bank.transform(IMAGES[[k]]) for k in (2, 0, 1)]), first[[2, 0, 1]])


@pytest.mark.parametrize("through", ["transform", "fit_transform"])
def test_one_warning_at_the_line_of_the_caller(through: str) -> None:
    rows = np.ones((50, 4))
    moments = DecoupledMoments(4).fit(rows)
    with one_refusal("DecoupledMoments.transform: 50 of 50 samples refused, at 0, 1, 2, 3, 4", __file__):
        getattr(moments, through)(rows)


@pytest.mark.parametrize("shape", [(2, 4), (1, 2, 4)])
def test_whole_numbers_beyond_float64_are_refused(shape: tuple[int, ...]) -> None:
    X = np.array([10**400 + k for k in range(8)], dtype=object).reshape(shape)
    estimator = DecoupledMoments() if len(shape) == 2 else DecoupledFilterBank()
    with pytest.raises(ValueError, match="beyond float64"):
        estimator.fit(X)
    if len(shape) == 2:
        estimator.fit(np.array([[1.0, 2, 4, 8], [3, 1, 9, 2]]))
        for call in (estimator.transform, estimator.inverse_transform):
            with pytest.raises(ValueError, match="beyond float64"):
                call(X)
