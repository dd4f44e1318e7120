"""Arrays of mpmath numbers: single numbers come out as such, and the digits stay with the array."""

import mpmath
import numpy as np

from symdecouple import decouple
from symdecouple.decoupling.precise import Precise
from symdecouple.families.moments import raw_moments


def test_reductions_are_numbers() -> None:
    with mpmath.workdps(30):
        array = Precise.of([mpmath.mpf(1) / 3, mpmath.mpf(2)], 30, mpmath.mpf(0))
        for one in (array.sum(), array @ array, array[0], np.max(array), abs(array).max()):
            assert isinstance(one, mpmath.mpf)
        assert isinstance(array + 1, Precise) and (array + 1).dps == 30
        assert array[:1].residual == 0


def test_residuals_come_with_every_row() -> None:
    with mpmath.workdps(40):
        samples = [[1, 2, 3, 5, 8, 13], [-1, 0, 2, 4, 4, 6]]
        found = decouple(raw_moments(4)).normalize(samples, dps=40)
        assert found.shape == (2, 6) and found.residual.shape == (2,)
        for row, residual in zip(found, found.residual, strict=True):
            assert residual < mpmath.mpf(10) ** -40
            reached = [sum(v**k for v in row) / 6 for k in (1, 2, 3)]
            assert max(abs(a - b) for a, b in zip(reached, (0, 1, 0), strict=True)) < mpmath.mpf(10) ** -38
