r"""Decoupled features of your own, of rows or of signals and pictures that were flattened into rows.

.. math:: \hat f_1 = f_1, \qquad \hat f_{k+1}(x) = f_{k+1}(N_k(x))

with N_k the normalization of the features before: a `Plan`, made when the transformer is fitted.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from math import prod
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from symdecouple.decoupling.application import Application
from symdecouple.decoupling.choice import PathName
from symdecouple.decoupling.dependence import OnDependence
from symdecouple.decoupling.plan import decouple
from symdecouple.errors import InvalidInput
from symdecouple.language.feature_set import FeatureSet
from symdecouple.numeric.perturbing import Perturbation, PerturbationKind
from symdecouple.numeric.samples.batch import NanPolicy
from symdecouple.sklearn.answered import DecouplingTransformer, features_of
from symdecouple.sklearn.checked import checked_rows

__all__ = ["FeatureDecoupler"]


class FeatureDecoupler(DecouplingTransformer):
    """Features that are declared, each decoupled from those before it.

    Parameters
    ----------
    features : list of str or Feature, or FeatureSet
        In order, for every number of samples, such as ``["mean(x)", "variance()", "mean(exp(x))"]``.
    reference : str, sequence, mapping, Reference or frozen scipy distribution
        What each feature is normalized to, as in `decouple`: by default its value for standard normal samples. "data":
        its average over the rows that the transformer is fitted with.
    path, dependent, budget
        As in `decouple`.
    sample_shape : tuple of int, optional
        Of the picture or volume that a row is, such as (8, 8), for filters of several dimensions.
    nan_policy : {"propagate", "omit", "raise"}
        A row with NaN gives NaN; its other values count, which filters have no answer for; or an error.
    on_refusal : {"warn", "raise"}
        For rows that lack a level: NaN from there on and one `RefusalWarning` a call; or `Refused`, at the end.
    perturb : Perturbation or {"ramp", "spectral", "ramp and spectral"}, optional
        Tried once more with refused rows; their quantisation hides it.
    n_jobs : int, optional
        Processes, as everywhere in scikit-learn.

    Attributes
    ----------
    plan_ : Plan
        With names, references, verdicts and explanation.
    template_ : array (N,)
        The first row that has all levels; what `inverse_transform` starts from.
    n_features_in_ : int
        The number of values of a row.
    feature_names_in_ : array of str
        Only where X had names of columns.

    See Also
    --------
    symdecouple.decouple : The plan behind it.
    DecoupledMoments : Faster, for moments.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).gamma(2, size=(5, 100))
    >>> decoupler = FeatureDecoupler(["mean(x)", "variance()", "mean(x^3)"]).fit(X)
    >>> decoupler.get_feature_names_out().tolist(), decoupler.transform(X).shape
    (['mean', 'variance', 'skewness'], (5, 3))
    >>> FeatureDecoupler(["mean(x)", "mean(x^2)"], reference="data").fit([[0, 1.0], [2, 3]]).plan_.reference
    (3/2, 7/2)
    """

    def __init__(self, features: Any = ("mean(x)", "mean(x^2)", "mean(x^3)", "mean(x^4)"), *,
                 reference: Any = "gaussian", path: PathName | Literal["closure"] = "auto",
                 dependent: OnDependence = "raise", budget: float = 30.0, sample_shape: tuple[int, ...] | None = None,
                 nan_policy: NanPolicy = "propagate", on_refusal: str = "warn",
                 perturb: Perturbation | PerturbationKind | None = None, n_jobs: int | None = None) -> None:
        self.features = features
        self.reference = reference
        self.path = path
        self.dependent = dependent
        self.budget = budget
        self.sample_shape = sample_shape
        self.nan_policy = nan_policy
        self.on_refusal = on_refusal
        self.perturb = perturb
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> FeatureDecoupler:
        """Make the plan, and find a row that `inverse_transform` can start from.

        Parameters
        ----------
        X : array_like (n, N)
        y : ignored
        """
        del y
        perturbation = self._check_options()
        features = self.features if isinstance(self.features, FeatureSet) else FeatureSet(self.features)
        samples = self._samples(checked_rows(self, X, reset=True, allow_nan=self._allows_nan), features)
        is_of_data = isinstance(self.reference, str) and self.reference == "data"
        reference = _averages(features, samples) if is_of_data else self.reference
        try:
            self.plan_ = decouple(features, reference, path=self.path, budget=self.budget, perturb=perturbation,
                                  dependent=self.dependent)
        except InvalidInput as error:
            if not is_of_data:
                raise
            told = f'with reference="data" of {len(samples)} rows, n_features = {self.n_features_in_}'
            raise InvalidInput(f"{told}: {error}") from error
        self.template_ = self._template(samples)
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the decoupled features of each row, (n, M).

        Parameters
        ----------
        X : array_like (n, N)
        """
        check_is_fitted(self)
        rows = checked_rows(self, X, reset=False, allow_nan=self._allows_nan)
        samples = self._samples(rows, self.plan_.features)
        compute = partial(features_of, plan=self.plan_, nan_policy=self.nan_policy)
        return self._reported("transform", self._in_parts(compute, samples))

    def inverse_transform(self, X: Any, samples: Any = None) -> NDArray[Any]:
        """Return rows that have these decoupled features, (n, N).

        Features do not say which row they are of: what is left open comes of another sample, normalized by all
        features before the last, whose features are then brought to the values (`plan_.denormalize`).

        Parameters
        ----------
        X : array_like (n, M)
            As `transform` returns them.
        samples : array_like (n, N) or (N,), optional
            Where the rest comes of. With the rows that were transformed, these come back. By default `template_`.
        """
        check_is_fitted(self)
        leaves = self._samples(self._leaves(samples, self.template_), self.plan_.features)
        found = self._taken_back(self.plan_, X, leaves)
        return found.reshape(len(found), -1)

    def _grid(self, count: int) -> tuple[int, ...]:
        """The shape of a sample that is a row of so many numbers."""
        if self.sample_shape is None:
            return (count,)
        shape = tuple(self.sample_shape) if isinstance(self.sample_shape, Iterable) else (self.sample_shape,)
        if not all(isinstance(n, int | np.integer) and n > 0 for n in shape) or prod(shape) != count:
            raise InvalidInput(f"sample_shape={self.sample_shape!r} was given for rows of {count} numbers; whole "
                               "numbers whose product that is are expected")
        return tuple(map(int, shape))

    def _samples(self, rows: NDArray[Any], features: FeatureSet) -> NDArray[Any]:
        """Rows as the features take them."""
        grid = self._grid(rows.shape[1])
        if features.filter_ndim is None:
            return rows
        if len(grid) != features.filter_ndim:
            raise InvalidInput(f"the filters have {features.filter_ndim} dimensions and a sample {len(grid)}, of shape "
                               f"{grid}; give sample_shape=, such as (8, 8) for rows of 64 numbers")
        return rows.reshape(-1, *grid)

    def _template(self, samples: NDArray[Any]) -> NDArray[np.float64]:
        """The first row that has all levels, looked for in parts that grow; the first one if none has."""
        start, size = 0, 1
        while start < len(samples):
            part = samples[start : start + size]
            _, outcomes = features_of(part, self.plan_, "propagate")
            fine = [i for i, outcome in enumerate(outcomes) if outcome.ok and not outcome.reason]
            if fine:
                return np.ravel(part[fine[0]]).astype(np.float64)
            start, size = start + size, 2 * size
        return np.ravel(samples[0]).astype(np.float64)


def _averages(features: FeatureSet, samples: NDArray[Any]) -> list[float]:
    """The average of each feature over the samples that have no missing values."""
    rows = samples.reshape(len(samples), -1).astype(np.float64)
    rows = rows[~np.isnan(rows).any(axis=1)]
    if not len(rows):
        raise InvalidInput('reference="data": every row holds NaN; a row without missing values is needed')
    means = Application(features).on(samples.shape[1:]).own(rows, len(features)).mean(axis=0)
    for feature, mean in zip(features, means, strict=True):
        if not np.isfinite(mean):
            raise InvalidInput(f'reference="data": the average of {feature} over the rows is {mean}; a row is outside '
                               "its domain, or too large: leave it out, or give numbers")
    found: list[float] = means.tolist()
    return found
