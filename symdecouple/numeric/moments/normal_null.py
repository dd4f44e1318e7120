r"""The orthokurtosis of N independent normal values: its law, which depends on N alone.

To second order, with h_k the averages of the Hermite polynomials and g = h_3,

.. math:: \kappa^\perp = 3 + h_4 - 2 g^2 - \tfrac23\,g\,h_5 + \ldots, \qquad
    \mathrm{E}\,\kappa^\perp = 3 - \frac{18}{N} + \ldots, \qquad \mathrm{Var}\,\kappa^\perp = \frac{24}{N} + \ldots

(the kurtosis has the mean 3 - 6/N). The limit is normal, and uncorrelated with the skewness; it comes slowly, as that
of the kurtosis does. In between, quantiles were simulated, 10^5 to 4 10^6 samples of each of sixteen sizes from 16 to
4000, and are written as

.. math:: \sqrt{N/6}\;\log\frac{\kappa^\perp - 1}{2} = z + \sum_{a=1}^5 c_a(z)\,N^{-a/2}

z the normal score of the quantile; for each z a polynomial without a constant term, so that the limit is exact. It fits
all of them within two standard errors of their simulation. So does

.. math:: K^2_\alpha = -2 \log\alpha + \sum_{a=1}^5 d_a(\alpha)\,N^{-a/2}

for K^2 = Z(g)^2 + Z(\kappa^\perp)^2, Z(g) the score of the skewness of R. B. D'Agostino, Transformation to normality of
the null distribution of g1, Biometrika 57 (1970) 679-681. Below 16 values the law is simulated when it is asked for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from symdecouple.numeric.moments.power_sums import skewness_rows
from symdecouple.numeric.moments.skewness_root import orthokurtosis_rows
from symdecouple.numeric.samples.batch import FloatArray, SampleMatrix

__all__ = ["SMALLEST_OMNIBUS", "SMALLEST_TABLED", "Null", "null_of", "simulated"]

SMALLEST_TABLED = 16
SMALLEST_OMNIBUS = 8  # from here on the score of the skewness is known
_SIMULATED = 100_000  # samples, where there are no tables
_PORTION = 2**18  # numbers drawn at a time

_SCORES = np.array([-4, -3.5, -3, -2.6, -2.3, -2, -1.7, -1.4, -1, -0.5, 0, 0.5, 1, 1.4, 1.7, 2, 2.3, 2.6, 3, 3.5, 4])
_BY_SCORE = np.array([  # c_1 .. c_5
    [12.557, -116.556, 685.641, -2222.654, 2753.592],
    [7.303, -35.701, 53.728, 118.896, -452.300],
    [5.848, -55.278, 380.460, -1458.152, 2133.613],
    [2.742, -13.534, 47.380, -127.243, 129.846],
    [1.088, -0.919, -7.868, -2.801, 32.559],
    [-0.511, 11.775, -71.962, 174.110, -157.294],
    [-2.030, 24.499, -146.946, 418.535, -470.078],
    [-3.202, 30.001, -162.801, 446.194, -491.107],
    [-4.465, 32.349, -147.532, 354.091, -347.100],
    [-5.696, 32.880, -132.703, 304.276, -296.836],
    [-6.428, 26.646, -75.587, 119.456, -80.382],
    [-6.441, 10.194, 44.711, -258.469, 368.445],
    [-5.759, -14.105, 202.171, -727.646, 912.426],
    [-4.297, -49.581, 449.640, -1538.669, 1937.037],
    [-3.091, -71.986, 565.538, -1806.982, 2161.373],
    [-1.321, -102.791, 731.767, -2217.894, 2541.972],
    [0.924, -142.571, 976.770, -2963.732, 3452.684],
    [3.661, -185.272, 1195.451, -3474.214, 3899.118],
    [8.587, -264.156, 1632.211, -4579.849, 4933.443],
    [17.629, -423.474, 2694.601, -8011.997, 9289.974],
    [29.963, -642.670, 4093.310, -12021.171, 13513.525],
])
_LEVELS = np.array([0.9, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0004, 0.0001])
_BY_LEVEL = np.array([  # d_1 .. d_5
    [0.025, -0.349, 3.020, -11.306, 14.673],
    [0.085, -2.498, 27.085, -117.966, 176.039],
    [0.013, -1.220, 12.886, -53.252, 68.669],
    [0.078, -2.957, 14.804, -25.493, -3.088],
    [-0.161, 3.672, -63.619, 339.040, -583.825],
    [0.361, -10.174, 54.442, -82.123, -22.669],
    [0.980, -23.623, 183.492, -563.048, 609.854],
    [-0.996, 43.979, -429.151, 1824.673, -2767.366],
    [-1.103, 74.930, -730.791, 3061.842, -4647.135],
    [-2.923, 141.713, -1204.149, 4426.667, -6105.543],
    [3.483, -14.088, 749.308, -5221.906, 9952.728],
    [1.237, 122.837, -561.752, -154.992, 2724.567],
    [-11.662, 670.847, -6313.340, 24089.406, -33696.388],
    [-21.975, 1314.421, -13434.273, 54241.590, -78504.788],
])


@dataclass(frozen=True, slots=True)
class Null:
    """What normal samples of n values give: scores of the orthokurtosis, and p values.

    Attributes
    ----------
    n : int
    values, scores : arrays
        log(kappa - 1) of some quantiles and their normal scores; of simulations, all values, sorted.
    sums, weights : arrays
        Quantiles of K^2 and -2 log(alpha); of simulations, all sums, sorted.
    is_simulated : bool
        p values are (1 + how many are beyond)/(1 + all), which no sample makes too small.
    """

    n: int
    values: FloatArray
    scores: FloatArray
    sums: FloatArray
    weights: FloatArray
    is_simulated: bool

    def score(self, kurtosis: FloatArray) -> FloatArray:
        """The normal score of orthokurtoses."""
        with np.errstate(all="ignore"):  # 1 is the least value there is
            place = np.log(kurtosis - 1)
        if not self.is_simulated:
            return _along(place, self.values, self.scores)
        share = (np.searchsorted(self.values, place, side="left") + np.searchsorted(
            self.values, place, side="right") + 1) / (2 * len(self.values) + 2)
        return np.where(np.isnan(place), np.nan, _quantile(share))

    def pvalue(self, kurtosis: FloatArray, alternative: Literal["two-sided", "less", "greater"]) -> FloatArray:
        """How often normal samples go as far."""
        if self.is_simulated:
            with np.errstate(all="ignore"):
                place = np.log(kurtosis - 1)
            below = (1 + np.searchsorted(self.values, place, side="right")) / (1 + len(self.values))
            above = (1 + len(self.values) - np.searchsorted(self.values, place, side="left")) / (1 + len(self.values))
        else:
            below, above = _share_below(self.score(kurtosis)), _share_below(-self.score(kurtosis))
        both = np.minimum(2 * np.minimum(below, above), 1.0)
        return np.where(np.isnan(kurtosis), np.nan, {"two-sided": both, "less": below, "greater": above}[alternative])

    def omnibus(self, skewness: FloatArray, kurtosis: FloatArray) -> FloatArray:
        """K^2, the sum of both scores squared."""
        found: FloatArray = skewness_score(skewness, self.n) ** 2 + self.score(kurtosis) ** 2
        return found

    def omnibus_pvalue(self, statistic: FloatArray) -> FloatArray:
        """How often normal samples have as large a sum."""
        if not self.is_simulated:
            return np.minimum(np.exp(-_along(statistic, self.sums, self.weights) / 2), 1.0)
        beyond = len(self.sums) - np.searchsorted(self.sums, statistic, side="left")
        return np.where(np.isnan(statistic), np.nan, (1 + beyond) / (1 + len(self.sums)))


@lru_cache(maxsize=64)
def null_of(n: int) -> Null:
    """The law for n values: by the tables, or simulated, always with the same samples."""
    if n < SMALLEST_TABLED:
        return simulated(n, _SIMULATED, np.random.default_rng(n))
    powers = float(n) ** (-np.arange(1, 6) / 2)
    values = math.log(2) + (_SCORES + _BY_SCORE @ powers) * math.sqrt(6 / n)
    weights = -2 * np.log(_LEVELS)
    sums = weights + _BY_LEVEL @ powers
    return Null(n, values, _SCORES, np.concatenate([[0.0], sums]), np.concatenate([[0.0], weights]), False)


def simulated(n: int, n_resamples: int, rng: np.random.Generator) -> Null:
    """The law for n values, from so many samples."""
    skewness, kurtosis = np.empty(n_resamples), np.empty(n_resamples)
    step = max(1, _PORTION // n)
    with np.errstate(all="ignore"):
        for i in range(0, n_resamples, step):
            part = slice(i, min(i + step, n_resamples))
            matrix = SampleMatrix.of(rng.standard_normal((part.stop - i, n)))
            skewness[part], kurtosis[part] = skewness_rows(matrix).values, orthokurtosis_rows(matrix).values
        values, nothing = np.sort(np.log(kurtosis - 1)), np.empty(0)
    null = Null(n, values, nothing, nothing, nothing, True)
    sums = np.sort(null.omnibus(skewness, kurtosis)) if n >= SMALLEST_OMNIBUS else nothing
    return Null(n, values, nothing, sums, nothing, True)


def skewness_score(skewness: FloatArray, n: int) -> FloatArray:
    """D'Agostino's normal score of the skewness of n normal values, n at least 8."""
    y = skewness * math.sqrt((n + 1) * (n + 3) / (6 * (n - 2)))
    kurtosis = 3 * (n * n + 27 * n - 70) * (n + 1) * (n + 3) / ((n - 2) * (n + 5) * (n + 7) * (n + 9))
    square = math.sqrt(2 * (kurtosis - 1)) - 1
    found: FloatArray = np.arcsinh(y * math.sqrt((square - 1) / 2)) / math.sqrt(math.log(square) / 2)
    return found


def _along(x: FloatArray, places: FloatArray, values: FloatArray) -> FloatArray:
    """A curve through points, cubic between them and straight outside."""
    slopes = np.gradient(values, places)
    i = np.clip(np.searchsorted(places, x) - 1, 0, len(places) - 2)
    h = places[i + 1] - places[i]
    with np.errstate(all="ignore"):
        t = np.clip((x - places[i]) / h, 0, 1)
        beyond = slopes[-1] * np.maximum(x - places[-1], 0) + slopes[0] * np.minimum(x - places[0], 0)
        found: FloatArray = (values[i] * (1 + 2 * t) * (1 - t) ** 2 + values[i + 1] * t * t * (3 - 2 * t)
                             + h * t * (1 - t) * (slopes[i] * (1 - t) - slopes[i + 1] * t) + beyond)
    return found


def _share_below(scores: FloatArray) -> FloatArray:
    """The normal distribution function, with all digits in its lower tail."""
    found: Any = np.frompyfunc(lambda z: math.erfc(-z / math.sqrt(2)) / 2, 1, 1)(scores)
    return np.asarray(found, dtype=np.float64)


def _quantile(shares: FloatArray) -> FloatArray:
    found: Any = np.frompyfunc(NormalDist().inv_cdf, 1, 1)(shares)
    return np.asarray(found, dtype=np.float64)
