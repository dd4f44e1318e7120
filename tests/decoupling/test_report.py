"""Residual reports: what was imposed and reached, in both precisions, and of refused samples."""

import mpmath
import numpy as np
import pytest

from symdecouple import InvalidInput, decouple
from symdecouple.families.moments import raw_moments

MOMENTS = decouple(raw_moments(4))


def test_residuals_are_those_of_the_normalized_samples() -> None:
    points = [1.0, 2, 3, 5, 8, 13]
    report = MOMENTS.report(points)
    floats = MOMENTS.normalize(points)
    with mpmath.workdps(40):
        exact = [mpmath.mpf(v) for v in floats]
        for k, row in enumerate(report.rows, 1):
            wanted = abs(sum(v**k for v in exact) / 6 - (k == 2)) / (2 if k == 2 else 1)
            assert abs(row.residuals()[0] - wanted) < mpmath.mpf(10) ** -25
            assert row.residuals()[1] < mpmath.mpf(10) ** -29
        assert report.distance < 1e-15
    text = str(report)
    assert "level 3" in text and "Mean(x**3)" in text and "residual at 30 digits" in text
    assert report._repr_html_().count("<tr>") == 4
    assert mpmath.mpf(10) ** -31 < report.error < mpmath.mpf(10) ** -29 and "of 30 digits is known to 2.0e-31" in text


def test_a_refused_sample_has_no_residuals_but_a_reason() -> None:
    report = MOMENTS.report([0, 0, 0, 1, 2])
    assert report.distance is None and report.error is None and [o.ok for o in report.outcomes] == [False, False]
    assert report.rows[0].residuals() == (None, None)
    assert "skewness stays in" in str(report) and "refused" in report._repr_html_()


def test_one_sample_only() -> None:
    with pytest.raises(InvalidInput, match="one sample vector"):
        MOMENTS.report([[1.0, 2], [3, 4]])


def test_progress_counts_samples() -> None:
    told: list[tuple[int, int]] = []
    samples = np.random.default_rng(0).normal(size=(3, 2**17))
    samples[1, 5] = np.nan
    MOMENTS.transform(samples, progress=lambda done, total: told.append((done, total)))
    assert told == [(2, 2)]
    told.clear()
    MOMENTS.normalize([[1, 2, 4], [1, 3, 4]], 2, dps=20, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]


def test_an_interruption_comes_through() -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        MOMENTS.transform([1.0, 2, 4], progress=stop)
    assert MOMENTS.transform([1.0, 2, 4])[0] == pytest.approx(7 / 3)
