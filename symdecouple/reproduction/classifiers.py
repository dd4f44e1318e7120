"""Cross-validated errors of the two classifiers of the source: naive Gaussian, and support vectors with RBF kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["naive_errors", "support_errors"]

FloatArray = NDArray[np.float64]
Labels = NDArray[Any]
Errors = dict[str, FloatArray]

BOXES = (10.0, 100.0, 1000.0)
WIDTHS = (0.03, 0.1, 0.3, 1.0)  # gamma, in units of one over the number of features


def naive_errors(features: FloatArray, labels: Labels, folds: int, runs: int, seed: int) -> Errors:
    """Return the `errors` of a naive Gaussian classifier in each run, in per cent."""
    from sklearn.naive_bayes import GaussianNB

    return _errors(lambda known, answers: GaussianNB(var_smoothing=1e-9).fit(known, answers), features, labels, folds,
                   runs, seed)


def support_errors(features: FloatArray, labels: Labels, folds: int, runs: int, seed: int) -> Errors:
    """Return the `errors` of support vectors in each run, in per cent.

    Box and width are chosen inside each training set: the test patches have no say in them.
    """
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.svm import SVC

    def fitted(known: FloatArray, answers: Labels) -> Any:
        grid = {"C": BOXES, "gamma": [width / known.shape[1] for width in WIDTHS]}
        inner = StratifiedKFold(2, shuffle=True, random_state=seed)
        return GridSearchCV(SVC(), grid, cv=inner, n_jobs=2).fit(known, answers)

    return _errors(fitted, features, labels, folds, runs, seed)


def _errors(fit: Any, features: FloatArray, labels: Labels, folds: int, runs: int, seed: int) -> Errors:
    from sklearn.model_selection import StratifiedKFold
    from sklearn.preprocessing import StandardScaler

    found = np.zeros(runs)
    for run in range(runs):
        wrong = 0
        for train, test in StratifiedKFold(folds, shuffle=True, random_state=seed + run).split(features, labels):
            scaler = StandardScaler().fit(features[train])
            model = fit(scaler.transform(features[train]), labels[train])
            wrong += int(np.sum(model.predict(scaler.transform(features[test])) != labels[test]))
        found[run] = 100 * wrong / len(labels)
    return {"errors": found}
