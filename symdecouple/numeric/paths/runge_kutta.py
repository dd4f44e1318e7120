"""The coefficients of DOP853: twelve slopes a step, a solution of order 8, and two estimates of its error.

The estimates are of order 5 and 3 and are combined. Coefficients: E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary
Differential Equations I, 2nd ed. (1993), sec. II.10, in the decimals of their code DOP853; the order conditions are
checked in the tests.

Short steps are made with fewer slopes: order 5 with six of them (J. R. Cash, A. H. Karp, ACM Trans. Math. Software 16
(1990), 201-222), and order 6 with eight (J. H. Verner, SIAM J. Numer. Anal. 15 (1978), 772-790). The step length of a
row is how many standard deviations a step of DOP853 goes, which one level tells the next one. Errors of order p of a
path with radius of convergence R are some (way/R)^p: a pair of order p goes rtol^(1/p - 1/8) of the step length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from symdecouple.numeric.samples.batch import FloatArray, IntArray

__all__ = ["CASH_KARP", "DOP853", "FIFTH", "NODES", "PAIRS", "STAGES", "STEP_LENGTH", "THIRD", "VERNER", "WEIGHTS",
           "ZEROTH", "Pair", "Start", "starts"]

STEP_LENGTH = 0.05  # where no other path tells
_SHARE = 0.9  # of the step length, the longest first step
ZEROTH = 2  # slopes 0, 1, 2 are kept in the order 2, 1, 0: then those that a sum needs lie side by side

NODES = np.array([
    0.0, 0.05260015195876773, 0.0789002279381516, 0.1183503419072274, 0.2816496580927726, 0.3333333333333333, 0.25,
    0.3076923076923077, 0.6512820512820513, 0.6, 0.8571428571428571, 1.0,
])
# One mapping a stage: the weight of each earlier slope. Zeros are left out.
STAGES: tuple[dict[int, float], ...] = (
    {},
    {0: 0.05260015195876773},
    {0: 0.0197250569845379, 1: 0.0591751709536137},
    {0: 0.02958758547680685, 2: 0.08876275643042054},
    {0: 0.2413651341592667, 2: -0.8845494793282861, 3: 0.924834003261792},
    {0: 0.037037037037037035, 3: 0.17082860872947386, 4: 0.12546768756682242},
    {0: 0.037109375, 3: 0.17025221101954405, 4: 0.06021653898045596, 5: -0.017578125},
    {
        0: 0.03709200011850479, 3: 0.17038392571223998, 4: 0.10726203044637328, 5: -0.015319437748624402,
        6: 0.008273789163814023,
    },
    {
        0: 0.6241109587160757, 3: -3.3608926294469414, 4: -0.868219346841726, 5: 27.59209969944671,
        6: 20.154067550477894, 7: -43.48988418106996,
    },
    {
        0: 0.47766253643826434, 3: -2.4881146199716677, 4: -0.590290826836843, 5: 21.230051448181193,
        6: 15.279233632882423, 7: -33.28821096898486, 8: -0.020331201708508627,
    },
    {
        0: -0.9371424300859873, 3: 5.186372428844064, 4: 1.0914373489967295, 5: -8.149787010746927,
        6: -18.52006565999696, 7: 22.739487099350505, 8: 2.4936055526796523, 9: -3.0467644718982196,
    },
    {
        0: 2.273310147516538, 3: -10.53449546673725, 4: -2.0008720582248625, 5: -17.9589318631188,
        6: 27.94888452941996, 7: -2.8589982771350235, 8: -8.87285693353063, 9: 12.360567175794303,
        10: 0.6433927460157636,
    },
)
WEIGHTS = {
    0: 0.054293734116568765, 5: 4.450312892752409, 6: 1.8915178993145003, 7: -5.801203960010585,
    8: 0.3111643669578199, 9: -0.1521609496625161, 10: 0.20136540080403034, 11: 0.04471061572777259,
}
FIFTH = {
    0: 0.01312004499419488, 5: -1.2251564463762044, 6: -0.4957589496572502, 7: 1.6643771824549864,
    8: -0.35032884874997366, 9: 0.3341791187130175, 10: 0.08192320648511571, 11: -0.022355307863886294,
}
THIRD = {
    0: -0.18980075407240762, 5: 4.450312892752409, 6: 1.8915178993145003, 7: -5.801203960010585,
    8: -0.4226823213237919, 9: -0.1521609496625161, 10: 0.20136540080403034, 11: 0.02265179219836082,
}


def _row(terms: str, others: str = "0") -> dict[int, float]:
    """Fractions, or how much they are beyond others."""
    pairs = zip(terms.split(), others.split() if others != "0" else ["0"] * len(terms.split()), strict=True)
    found = [Fraction(a) - Fraction(b) for a, b in pairs]
    return {j: float(weight) for j, weight in enumerate(found) if weight}


_FIVE, _FOUR = "37/378 0 250/621 125/594 0 512/1771", "2825/27648 0 18575/48384 13525/55296 277/14336 1/4"
_SIX, _FIVE_OF_SIX = "3/40 0 875/2244 23/72 264/1955 0 125/11592 43/616", "13/160 0 2375/5984 5/16 12/85 3/44 0 0"
# Stages, the step, and an estimate of its error, as above.
CASH_KARP = (
    ({}, *map(_row, ("1/5", "3/40 9/40", "3/10 -9/10 6/5", "-11/54 5/2 -70/27 35/27",
                     "1631/55296 175/512 575/13824 44275/110592 253/4096"))),
    _row(_FIVE), _row(_FIVE, _FOUR),
)
VERNER = (
    ({}, *map(_row, ("1/6", "4/75 16/75", "5/6 -8/3 5/2", "-165/64 55/6 -425/64 85/96",
                     "12/5 -8 4015/612 -11/36 88/255", "-8263/15000 124/75 -643/680 -81/250 2484/10625",
                     "3501/1720 -300/43 297275/52632 -319/2322 24068/84065 0 3850/26703"))),
    _row(_SIX), _row(_SIX, _FIVE_OF_SIX),
)


def _run(row: dict[int, float]) -> tuple[int, FloatArray]:
    """Where the slopes of a sum begin, and the weight of each from there on."""
    weights = {j if j > ZEROTH else ZEROTH - j: weight for j, weight in row.items()}
    first = min(weights)
    return first, np.array([weights.get(j, 0.0) for j in range(first, max(weights) + 1)])


class Pair:
    """Sums of slopes: of each stage after the first, of the step, and of one or two estimates of its error."""

    def __init__(self, order: int, stages: Sequence[dict[int, float]], weights: dict[int, float],
                 *errors: dict[int, float]) -> None:
        self.order, self.n_slopes, self.nodes = order, len(stages), [sum(row.values()) for row in stages]
        self.stages, self.step = [_run(row) for row in stages[1:]], _run(weights)
        self.errors = [_run(row) for row in errors]


DOP853 = Pair(8, STAGES, WEIGHTS, FIFTH, THIRD)
PAIRS = (DOP853, Pair(6, *VERNER), Pair(5, *CASH_KARP))


@dataclass(frozen=True, slots=True)
class Start:
    """Rows that one pair brings on; where known, their first steps, and the standard deviations they have to go."""

    going: IntArray
    pair: Pair = DOP853
    steps: FloatArray | None = None
    way: FloatArray | None = None

    def learned(self, step_length: FloatArray, next_step: FloatArray, rtol: float) -> FloatArray:
        """Return that of the rows (r,) after their path; what short steps tell of longer ones is believed by half.

        `next_step` is that of `Path`.
        """
        if self.way is None:
            return step_length
        suits = next_step * self.way / _reach(self.pair, rtol)
        grown = np.where(np.isfinite(suits), np.minimum(np.sqrt(step_length * suits), 2 * step_length), step_length)
        return np.minimum(suits, grown)


def starts(going: IntArray, way: FloatArray, step_length: FloatArray, rtol: float) -> list[Start]:
    """Return the starts of rows by their way and step length, (r,), each row in one of them."""
    steps = np.array([np.maximum(np.ceil(way / (_SHARE * _reach(pair, rtol) * step_length)), 1) for pair in PAIRS])
    best = (steps * np.array([[pair.n_slopes] for pair in PAIRS])).argmin(axis=0)
    return [Start(going[best == p], PAIRS[p], 1 / steps[p, best == p], way[best == p]) for p in np.unique(best)]


def _reach(pair: Pair, rtol: float) -> float:
    return float(rtol ** (1 / pair.order - 1 / DOP853.order))
