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
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from symdecouple.numeric.moments.power_sums import skewness_rows
from symdecouple.numeric.moments.skewness_root import orthokurtosis_rows
from symdecouple.numeric.samples.batch import FloatArray, SampleMatrix

__all__ = ["SMALLEST_OMNIBUS", "SMALLEST_TABLED", "Null", "null_of", "simulated"]

SMALLEST_TABLED = 16  # values: the series in 1/n below do not hold for fewer
SMALLEST_OMNIBUS = 8  # from here on the score of the skewness is known
_SIMULATED = 100_000  # samples, where there are no tables
_PORTION = 2**18  # numbers drawn at a time

_SCORES = np.array([-4, -3.5, -3, -2.6, -2.3, -2, -1.7, -1.4, -1, -0.5, 0, 0.5, 1, 1.4, 1.7, 2, 2.3, 2.6, 3, 3.5, 4])
_BY_SCORE = np.array([  # c_1 .. c_5
    [12.055, -102.908, 555.317, -1697.473, 1992.397],
    [7.861, -50.745, 196.393, -452.979, 373.098],
    [5.481, -45.457, 287.856, -1088.724, 1602.615],
    [2.614, -10.105, 15.035, 1.774, -55.517],
    [0.966, 2.343, -38.698, 120.321, -144.488],
    [-0.441, 9.889, -54.175, 103.191, -55.457],
    [-1.960, 22.663, -129.730, 350.227, -372.376],
    [-3.202, 30.003, -162.897, 446.798, -492.225],
    [-4.466, 32.383, -147.876, 355.540, -349.265],
    [-5.681, 32.478, -128.936, 289.353, -275.526],
    [-6.419, 26.407, -73.343, 110.562, -67.676],
    [-6.365, 8.185, 63.507, -332.882, 474.630],
    [-5.614, -17.955, 238.201, -870.270, 1115.879],
    [-4.156, -53.331, 484.692, -1677.235, 2134.445],
    [-2.926, -76.348, 606.163, -1967.080, 2388.849],
    [-1.164, -106.931, 770.143, -2368.572, 2755.399],
    [1.294, -152.251, 1066.145, -3313.480, 3946.686],
    [4.125, -197.333, 1306.334, -3906.544, 4507.833],
    [9.009, -275.103, 1732.489, -4969.475, 5480.252],
    [16.641, -398.440, 2469.421, -7149.665, 8094.080],
    [29.148, -621.519, 3899.746, -11270.311, 12461.931],
])
_LEVELS = np.array([0.9, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0004, 0.0001])
_BY_LEVEL = np.array([  # d_1 .. d_5
    [0.061, -1.352, 12.729, -50.803, 72.301],
    [0.081, -2.432, 26.701, -117.272, 176.098],
    [0.043, -2.066, 21.259, -87.871, 119.822],
    [0.028, -1.604, 2.152, 24.370, -73.827],
    [-0.081, 1.450, -41.966, 250.395, -453.640],
    [0.267, -7.654, 30.487, 14.123, -161.889],
    [0.469, -9.998, 55.430, -53.921, -119.653],
    [-0.612, 32.968, -320.080, 1372.986, -2098.464],
    [-0.456, 56.973, -556.285, 2348.647, -3601.671],
    [-2.755, 136.398, -1148.012, 4183.082, -5731.697],
    [2.527, 12.392, 492.839, -4175.686, 8419.403],
    [1.109, 127.479, -611.711, 57.668, 2408.488],
    [-9.583, 612.386, -5747.316, 21798.024, -30375.964],
    [-16.408, 1165.269, -12029.798, 48656.881, -70511.877],
])


@dataclass(frozen=True, slots=True)
class Null:
    """What normal samples of n values give: scores of the orthokurtosis, and p values.

    Attributes
    ----------
    n : int
    places, scores : arrays or None
        log(kappa - 1) of some quantiles, and their normal scores; None without tables.
    sums, weights : arrays or None
        Quantiles of K^2, and -2 log(alpha).
    drawn, drawn_sums : arrays or None
        log(kappa - 1) and K^2 of simulated samples, sorted: then p values are (1 + how many are beyond)/(1 + all).
    """

    n: int
    places: FloatArray | None
    scores: FloatArray | None
    sums: FloatArray | None
    weights: FloatArray | None
    drawn: FloatArray | None = None
    drawn_sums: FloatArray | None = None

    def score(self, kurtosis: FloatArray) -> FloatArray:
        """The normal score of orthokurtoses."""
        place = _place(kurtosis)
        if self.places is not None and self.scores is not None:
            return _along(place, self.places, self.scores)
        assert self.drawn is not None
        rank = (np.searchsorted(self.drawn, place, "left") + np.searchsorted(self.drawn, place, "right") + 1) / 2
        return np.where(np.isnan(place), np.nan, _quantile(rank / (len(self.drawn) + 1)))

    def pvalue(self, kurtosis: FloatArray, alternative: Literal["two-sided", "less", "greater"]) -> FloatArray:
        """How often normal samples go as far."""
        if self.drawn is None:
            score = self.score(kurtosis)
            below, above = _share_below(score), _share_below(-score)
        else:
            place, count = _place(kurtosis), len(self.drawn)
            below = (1 + np.searchsorted(self.drawn, place, "right")) / (1 + count)
            above = (1 + count - np.searchsorted(self.drawn, place, "left")) / (1 + count)
        both = np.minimum(2 * np.minimum(below, above), 1.0)
        return np.where(np.isnan(kurtosis), np.nan, {"two-sided": both, "less": below, "greater": above}[alternative])

    def omnibus(self, skewness: FloatArray, kurtosis: FloatArray) -> FloatArray:
        """K^2, the sum of both scores squared."""
        found: FloatArray = skewness_score(skewness, self.n) ** 2 + self.score(kurtosis) ** 2
        return found

    def omnibus_pvalue(self, statistic: FloatArray) -> FloatArray:
        """How often normal samples have as large a sum."""
        if self.drawn_sums is None:
            assert self.sums is not None and self.weights is not None
            return np.minimum(np.exp(-_along(statistic, self.sums, self.weights) / 2), 1.0)
        beyond = len(self.drawn_sums) - np.searchsorted(self.drawn_sums, statistic, "left")
        return np.where(np.isnan(statistic), np.nan, (1 + beyond) / (1 + len(self.drawn_sums)))


@lru_cache(maxsize=64)
def null_of(n: int) -> Null:
    """The law for n values: by the tables, or simulated, always with the same samples."""
    return _tabled(n) if n >= SMALLEST_TABLED else simulated(n, _SIMULATED, np.random.default_rng(n))


def _tabled(n: int) -> Null:
    powers, weights = float(n) ** (-np.arange(1, 6) / 2), -2 * np.log(_LEVELS)
    places = math.log(2) + (_SCORES + _BY_SCORE @ powers) * math.sqrt(6 / n)
    sums = weights + _BY_LEVEL @ powers
    return Null(n, places, _SCORES, np.concatenate([[0.0], sums]), np.concatenate([[0.0], weights]))


def simulated(n: int, n_resamples: int, rng: np.random.Generator) -> Null:
    """The law for n values, from so many samples; scores are those of the tables where there are any."""
    skewness, kurtosis = np.empty(n_resamples), np.empty(n_resamples)
    step = max(1, _PORTION // n)
    with np.errstate(all="ignore"):
        for i in range(0, n_resamples, step):
            part = slice(i, min(i + step, n_resamples))
            matrix = SampleMatrix.of(rng.standard_normal((part.stop - i, n)))
            skewness[part], kurtosis[part] = skewness_rows(matrix).values, orthokurtosis_rows(matrix).values
    table = _tabled(n) if n >= SMALLEST_TABLED else Null(n, None, None, None, None)
    null = replace(table, drawn=np.sort(_place(kurtosis)))
    if n < SMALLEST_OMNIBUS:
        return null
    return replace(null, drawn_sums=np.sort(null.omnibus(skewness, kurtosis)))


def skewness_score(skewness: FloatArray, n: int) -> FloatArray:
    """D'Agostino's normal score of the skewness of n normal values, n at least 8."""
    y = skewness * math.sqrt((n + 1) * (n + 3) / (6 * (n - 2)))
    kurtosis = 3 * (n * n + 27 * n - 70) * (n + 1) * (n + 3) / ((n - 2) * (n + 5) * (n + 7) * (n + 9))
    square = math.sqrt(2 * (kurtosis - 1)) - 1
    found: FloatArray = np.arcsinh(y * math.sqrt((square - 1) / 2)) / math.sqrt(math.log(square) / 2)
    return found


def _place(kurtosis: FloatArray) -> FloatArray:
    with np.errstate(all="ignore"):  # 1 is the least value there is
        found: FloatArray = np.log(kurtosis - 1)
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
