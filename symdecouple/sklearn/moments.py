r"""Decoupled moments of rows, as a transformer.

.. math:: (x_1, \ldots, x_N) \;\mapsto\; (\text{mean}, \text{variance}, \text{skewness}, \text{orthokurtosis},
    \hat f_5, \hat f_6, \ldots)

Each row is one sample of N values; their order does not count. The statistics are those of `stats.decoupled_moments`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from symdecouple.decoupling.plan import Plan, decouple
from symdecouple.families.moments import raw_moments
from symdecouple.numeric.kernels.compile import as_part_of
from symdecouple.numeric.perturbing import Perturbation, PerturbationKind
from symdecouple.numeric.samples.batch import NanPolicy
from symdecouple.sklearn.answered import Answers, DecouplingTransformer
from symdecouple.sklearn.checked import checked_rows
from symdecouple.stats.moments import decoupled_moments

__all__ = ["DecoupledMoments"]


class DecoupledMoments(DecouplingTransformer):
    """Mean, variance, skewness, orthokurtosis, and the decoupled moments above, of each row.

    Parameters
    ----------
    order : int
        The highest order, 1 to 12: so many columns come out. Orders to 4 are exact and closed.
    reference : "gaussian" or sequence of float
        Raw moments that the levels are brought to, as in `stats.decoupled_moments`.
    nan_policy : {"propagate", "omit", "raise"}
        A row with NaN gives NaN; its other values count; or an error.
    on_refusal : {"warn", "raise"}
        For rows that lack a level, such as rows of one value: NaN from there on and one `RefusalWarning` a call; or
        `Refused`, once all rows are done.
    perturb : Perturbation or {"ramp", "spectral", "ramp and spectral"}, optional
        Tried once more with refused rows; their quantisation hides it. "ramp" is for ties, as 8-bit values have.
    n_jobs : int, optional
        Processes, as everywhere in scikit-learn. Rows share the cores of one process already where numba is installed.

    Attributes
    ----------
    n_features_in_ : int
        N, the number of values of a row.
    feature_names_in_ : array of str
        Only where X had names of columns.
    plan_ : Plan
        That of raw moments up to the order: levels, gradients, normalized samples.

    See Also
    --------
    symdecouple.stats.decoupled_moments : The same for arrays.
    FeatureDecoupler : For features of your own.

    Notes
    -----
    float32 gives float32, computed in float64. Nothing is learned from the data but the number of columns.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).gamma(2, size=(5, 100))
    >>> moments = DecoupledMoments(order=4).fit(X)
    >>> moments.get_feature_names_out().tolist(), moments.transform(X).shape
    (['mean', 'variance', 'skewness', 'orthokurtosis'], (5, 4))
    """

    def __init__(self, order: int = 6, *, reference: str | Sequence[float] = "gaussian",
                 nan_policy: NanPolicy = "propagate", on_refusal: str = "warn",
                 perturb: Perturbation | PerturbationKind | None = None, n_jobs: int | None = None) -> None:
        self.order = order
        self.reference = reference
        self.nan_policy = nan_policy
        self.on_refusal = on_refusal
        self.perturb = perturb
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> DecoupledMoments:
        """Check the parameters, and note the columns of X.

        Parameters
        ----------
        X : array_like (n, N)
        y : ignored
        """
        del y
        self._check_options()
        decoupled_moments([0.0, 1.0], self.order, reference=self.reference, on_refusal="return")  # which checks both
        checked_rows(self, X, reset=True, allow_nan=self._allows_nan)
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the decoupled moments of each row, (n, order).

        Parameters
        ----------
        X : array_like (n, N)
        """
        check_is_fitted(self)
        rows = checked_rows(self, X, reset=False, allow_nan=self._allows_nan)
        compute = partial(_moments, order=self.order, reference=self.reference, nan_policy=self.nan_policy,
                          perturb=self._check_options(), size=rows.size)
        return self._reported("transform", self._in_parts(compute, rows))

    def inverse_transform(self, X: Any, samples: Any = None) -> NDArray[Any]:
        """Return rows that have these decoupled moments, (n, N).

        Moments do not say which row they are of: what is left open comes of another sample, normalized by all moments
        below the highest, whose moments are then brought to the values (`plan_.denormalize`).

        Parameters
        ----------
        X : array_like (n, order)
            As `transform` returns them.
        samples : array_like (n, N) or (N,), optional
            Where the rest comes of. With the rows that were transformed, these come back. By default the N quantiles
            of a standard normal law at (k - 1/2)/N: values come back in increasing order, as smooth as can be.
        """
        check_is_fitted(self)
        return self._taken_back(self.plan_, X, self._leaves(samples, _normal_quantiles(self.n_features_in_)))

    @property
    def plan_(self) -> Plan:
        """The plan of raw moments up to the order."""
        check_is_fitted(self)
        is_named = isinstance(self.reference, str)
        return _plan(int(self.order), "gaussian" if is_named else tuple(map(float, self.reference)))


def _moments(rows: NDArray[Any], order: int, reference: str | Sequence[float], nan_policy: NanPolicy,
             perturb: Perturbation | None, size: int) -> Answers:
    """Some rows of an array, by the kernels that would answer all of it."""
    with as_part_of(size):
        found: Answers = decoupled_moments(rows, order, axis=1, nan_policy=nan_policy, reference=reference,
                                           perturb=perturb, on_refusal="return")
    return found


@lru_cache(maxsize=32)
def _plan(order: int, reference: str | tuple[float, ...]) -> Plan:
    values = reference if isinstance(reference, str) else reference[: order - 1]
    return decouple(raw_moments(order), values)


def _normal_quantiles(count: int) -> NDArray[np.float64]:
    """Return the quantiles (k - 1/2)/N of a standard normal law."""
    from scipy.special import ndtri

    quantiles: NDArray[np.float64] = ndtri((np.arange(count) + 0.5) / count)
    return quantiles
