"""The six regressors of the source, as scikit-learn has them.

The source took the defaults of MATLAB's Regression Learner. Here each is the scikit-learn model nearest to it:

=====  =============================================  ==============================================================
name   the source's                                   here
=====  =============================================  ==============================================================
LRM    linear regression                              linear with products of pairs, which is what its figures fit
RT     tree, minimal leaf 4, 12 or 36                 minimal leaf 12
SVR    Gaussian kernel, box iqr/1.349, width by size  the same; inputs of all models are standardized
ET     bagged trees, 30 of minimal leaf 8             the same
GPR    Gaussian process, constant basis               rational quadratic kernel with noise; its parameters are fitted
                                                      on some of the samples, all are then used
NNR    ReLU units, one to three layers, L-BFGS        three layers of 10, no penalty, at most 1000 steps
=====  =============================================  ==============================================================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["NAMES", "VARIANTS", "errors"]

FloatArray = NDArray[np.float64]

NAMES = ("LRM", "RT", "SVR", "ET", "GPR", "NNR")

_FITTED_ON = 600  # samples for the parameters of the Gaussian process: three numbers


def errors(name: str, predictors: FloatArray, targets: FloatArray, seed: int, folds: int = 5, **options: Any) -> float:
    """Return the root mean square error of a regressor in a cross-validation.

    Options are those of `VARIANTS`.

    Raises
    ------
    MissingPackage
        Without scikit-learn.
    """
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import KFold
    from sklearn.preprocessing import StandardScaler
    from threadpoolctl import threadpool_limits  # a part of every scikit-learn

    squares = 0.0
    for train, test in KFold(folds, shuffle=True, random_state=seed).split(predictors):
        scaler = StandardScaler().fit(predictors[train])
        known, unknown = scaler.transform(predictors[train]), scaler.transform(predictors[test])
        # products of small matrices wait for threads up to twenty times as long as they take
        # what has used up its steps is used as it is, as the source's networks are
        with threadpool_limits(None if name == "GPR" else 1), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = _MODELS[name](targets[train], seed, **options).fit(known, targets[train])
        squares += float(np.sum((model.predict(unknown) - targets[test]) ** 2))
    return float(np.sqrt(squares / len(targets)))


def _linear(targets: FloatArray, seed: int, products: bool = True) -> Any:
    from sklearn.linear_model import LinearRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures

    terms = PolynomialFeatures(2 if products else 1, interaction_only=True, include_bias=False)
    return make_pipeline(terms, LinearRegression())


def _tree(targets: FloatArray, seed: int, leaf: int = 12) -> Any:
    from sklearn.tree import DecisionTreeRegressor

    return DecisionTreeRegressor(min_samples_leaf=leaf, random_state=seed)


def _support_vectors(targets: FloatArray, seed: int, width: float = 2) -> Any:
    from sklearn.svm import SVR

    scale = float(np.subtract(*np.percentile(targets, [75, 25]))) / 1.349
    return SVR(C=scale, epsilon=scale / 10, gamma=width**-2)


def _ensemble(targets: FloatArray, seed: int, boosted: bool = False) -> Any:
    from sklearn.ensemble import BaggingRegressor, GradientBoostingRegressor
    from sklearn.tree import DecisionTreeRegressor

    if boosted:
        return GradientBoostingRegressor(n_estimators=30, min_samples_leaf=8, max_depth=None, random_state=seed)
    return BaggingRegressor(DecisionTreeRegressor(min_samples_leaf=8), 30, random_state=seed)


def _network(targets: FloatArray, seed: int, units: tuple[int, ...] = (10, 10, 10)) -> Any:
    from sklearn.neural_network import MLPRegressor

    return MLPRegressor(hidden_layer_sizes=units, solver="lbfgs", alpha=0, max_iter=1000, max_fun=20000,
                        random_state=seed)


class _Process:
    """A Gaussian process whose kernel is fitted on some of the samples."""

    def __init__(self, targets: FloatArray, seed: int, kernel: str = "RationalQuadratic", fitted_on: int = _FITTED_ON,
                 **options: float) -> None:
        self._random, self._fitted_on = np.random.default_rng(seed), fitted_on
        self._kernel = kernel, options

    def fit(self, predictors: FloatArray, targets: FloatArray) -> _Process:
        from sklearn.gaussian_process import GaussianProcessRegressor, kernels

        name, options = self._kernel
        kernel = kernels.ConstantKernel() * getattr(kernels, name)(**options) + kernels.WhiteKernel()
        some = self._random.permutation(len(targets))[: self._fitted_on]
        small = GaussianProcessRegressor(kernel, normalize_y=True).fit(predictors[some], targets[some])
        self._model = GaussianProcessRegressor(small.kernel_, optimizer=None, normalize_y=True)
        self._model.fit(predictors, targets)
        return self

    def predict(self, predictors: FloatArray) -> FloatArray:
        return np.asarray(self._model.predict(predictors))


_MODELS: dict[str, Callable[..., Any]] = {
    "LRM": _linear, "RT": _tree, "SVR": _support_vectors, "ET": _ensemble, "GPR": _Process, "NNR": _network}

VARIANTS: dict[str, dict[str, dict[str, Any]]] = {
    "LRM": {"linear": {"products": False}, "with products of pairs": {}},
    "RT": {"minimal leaf 4": {"leaf": 4}, "minimal leaf 12": {}, "minimal leaf 36": {"leaf": 36}},
    "SVR": {"width 1/2": {"width": 0.5}, "width 2": {}, "width 8": {"width": 8.0}},
    "ET": {"30 bagged trees": {}, "30 boosted trees": {"boosted": True}},
    "GPR": {"rational quadratic": {}, "the same, fitted on 300 samples": {"fitted_on": 300},
            "squared exponential": {"kernel": "RBF"},
            "Matern 5/2": {"kernel": "Matern", "nu": 2.5}, "exponential": {"kernel": "Matern", "nu": 0.5}},
    "NNR": {"10 units": {"units": (10,)}, "25 units": {"units": (25,)}, "100 units": {"units": (100,)},
            "two layers of 10": {"units": (10, 10)}, "three layers of 10": {}},
}
"""The presets of the source's program for each regressor, by what they are called there or do; {} is the one used."""
