"""Input as scikit-learn checks it, and the tags of an estimator, in its versions from 1.5 on.

Until 1.5, tags are the dictionary of a method `_more_tags`, and input is checked by a private method of the estimator;
from 1.6 on, tags are objects, and `validate_data` is a function with another name for what is finite.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.utils import check_array

from symdecouple.errors import InvalidInput
from symdecouple.numeric.samples.intake import holds_more, take_numbers

__all__ = ["TAGS_ARE_OBJECTS", "check_images", "check_names_in", "check_samples", "check_values", "checked_rows", "tag"]

TAGS_ARE_OBJECTS = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 6)
_FINITE = "ensure_all_finite" if TAGS_ARE_OBJECTS else "force_all_finite"
_KEPT = ["float64", "float32"]  # types of results; what is computed is float64


def _options(allow_nan: bool) -> dict[str, Any]:
    return {"dtype": "numeric", "accept_sparse": False, _FINITE: "allow-nan" if allow_nan else True}


def checked_rows(estimator: Any, X: Any, *, reset: bool, allow_nan: bool) -> NDArray[Any]:
    """Return the rows of numbers that an estimator is given, of their own type, and note or compare their columns.

    Truth values become 0 and 1, masked entries NaN. Whole numbers stay whole: their quantisation step is 1.
    """
    X = _without_mask(X)
    try:
        if TAGS_ARE_OBJECTS:
            from sklearn.utils.validation import validate_data

            return _exact(X, _numbers(validate_data(estimator, X, reset=reset, **_options(allow_nan))))
        return _exact(X, _numbers(estimator._validate_data(X, reset=reset, **_options(allow_nan))))
    except (ValueError, OverflowError) as error:
        raise _explained(X, error) from None


def _explained(X: Any, error: ValueError | OverflowError) -> ValueError:
    """What NumPy alone says of rows of unequal length and of columns of text, with the row or the column."""
    if isinstance(error, OverflowError):
        return InvalidInput(f"there is a number beyond float64, which scikit-learn works in ({error}); divide by a "
                            "unit")
    if any(words in str(error) for words in ("inhomogeneous", "could not convert")):
        try:
            take_numbers(X)
        except InvalidInput as clear:
            return clear
    return error


def check_samples(estimator: Any, samples: Any) -> NDArray[Any]:
    """Return samples, one a row or one alone, checked as X is."""
    return _numbers(np.atleast_2d(_checked(estimator, samples, False, "samples", ensure_2d=False)))


def _checked(estimator: Any, X: Any, allow_nan: bool, name: str = "X", **options: Any) -> NDArray[Any]:
    try:
        return np.asarray(check_array(_without_mask(X), input_name=name, estimator=estimator, **options,
                                      **_options(allow_nan)))
    except (ValueError, OverflowError) as error:
        raise _explained(X, error) from None


def check_names_in(estimator: Any, names: Any) -> None:
    """Refuse names of other columns than those of fit."""
    if names is None:
        return
    known = getattr(estimator, "feature_names_in_", None)
    if len(names) != estimator.n_features_in_:
        raise InvalidInput(f"input_features should have length equal to number of features ({estimator.n_features_in_})"
                           f", got {len(names)}")
    if known is not None and list(names) != list(known):
        raise InvalidInput("input_features is not equal to feature_names_in_, the columns of fit; leave it out")


def check_images(estimator: Any, images: Any, allow_nan: bool) -> NDArray[Any]:
    """Return an image, or several of one size, checked as X is."""
    return _numbers(_checked(estimator, images, allow_nan, ensure_2d=False, allow_nd=True))


def check_values(estimator: Any, X: Any, size: int) -> NDArray[np.floating[Any]]:
    """Return decoupled features that are to be taken back, (n, size)."""
    values = _checked(estimator, X, True)
    if values.shape[1] != size:
        raise InvalidInput(f"X has {values.shape[1]} columns, and {type(estimator).__name__}.transform returns {size}: "
                           f"inverse_transform takes {size}, one for each decoupled feature")
    return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)


def _without_mask(X: Any) -> Any:
    """NaN for masked entries, which scikit-learn would take as they lie below the mask."""
    if not np.ma.is_masked(X):
        return X
    return (X if X.dtype.kind == "f" else X.astype(np.float64)).filled(np.nan)


def _numbers(array: NDArray[Any]) -> NDArray[Any]:
    """Refuse what scikit-learn lets pass: dates, and the texts of categories."""
    if array.dtype.kind == "O":
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"X holds what is no number ({error}); encode it, or leave these columns out") from None
    return array.astype(np.uint8) if array.dtype.kind == "b" else take_numbers(array).array


def _exact(X: Any, checked: NDArray[Any]) -> NDArray[Any]:
    """Return numbers of lists and objects as they were given, where scikit-learn has rounded them to float64."""
    is_object = getattr(getattr(X, "dtype", None), "kind", "") == "O"
    if checked.dtype.kind != "f" or not (isinstance(X, list | tuple) or is_object):
        return checked
    try:
        return take_numbers(X).array if holds_more(X) else checked
    except InvalidInput:  # what only scikit-learn takes
        return checked


def tag(tags: Any, *, allow_nan: bool, images: bool = False) -> Any:
    """Return tags, objects or a dictionary, of a transformer of rows, or of images."""
    if isinstance(tags, dict):
        return tags | {"allow_nan": allow_nan, "preserves_dtype": [np.float64, np.float32],
                       "X_types": ["3darray" if images else "2darray"]}
    tags.input_tags.allow_nan = allow_nan
    tags.input_tags.two_d_array, tags.input_tags.three_d_array = not images, images
    tags.transformer_tags.preserves_dtype = list(_KEPT)
    return tags
