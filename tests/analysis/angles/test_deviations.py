"""Angles near 0, near 90 and at all scales; averages by hand; tables."""

import math

import mpmath
import numpy as np
import pytest

from symdecouple import Outcome
from symdecouple.analysis import Deviations, Orthogonality
from symdecouple.analysis.angles.deviations import deviations, unit

DEGREES = np.array([[[90.0, 10, -20], [10, 90, 40], [-20, 40, 90]], [[90, -30, 0], [-30, 90, 60], [0, 60, 90]],
                    [[np.nan] * 3] * 3])


def made(title: str = "original", factor: float = 1.0) -> Deviations:
    return Deviations(title, DEGREES * factor, (1, 2, 3), ("f", "f"))


def result() -> Orthogonality:
    outcomes = (Outcome(True), Outcome(True), Outcome(False, "two-valued"))
    return Orthogonality(made(), made("decoupled", 1e-16), made("decoupled against original", 0.5),
                         ("Mean(x)", "Mean(x**2)", "Mean(x) < 3"), outcomes)


@pytest.mark.parametrize("angle", ["1e-300", "1e-14", "1e-3", "0.7", "1.5", "1.5707963"])
@pytest.mark.parametrize("sign", [-1, 1])
def test_angles_to_rounding(angle: str, sign: int) -> None:
    """Vectors at a known angle; the wanted one is that of the rounded vectors, in mpmath."""
    with mpmath.workdps(400):
        u = np.array([1.0, 0.0])
        v = np.array([float(mpmath.sin(mpmath.mpf(angle))), float(mpmath.cos(mpmath.mpf(angle)))]) * [sign, 1]
        wanted = float(mpmath.degrees(mpmath.atan2(mpmath.mpf(v[0]), mpmath.mpf(v[1]))))
    (found,), = deviations(u[None], v[None])
    assert math.isclose(found, wanted, rel_tol=4e-16 if abs(wanted) > 1 else 1e-15)


def test_parallel_vectors_are_90_degrees_exactly() -> None:
    u = np.random.default_rng(0).standard_normal((3, 50))
    found = deviations(u, u)
    assert (np.diagonal(found) == 90).all() and (np.diagonal(deviations(u, -2 * u)) == -90).all()


def test_near_parallel_vectors_keep_all_digits() -> None:
    """The arcsine of the cosine is wrong here by 1e-6 degrees."""
    (found,), = deviations(np.array([[1.0, 0.0]]), np.array([[1.0, 1e-9]]))
    assert abs((90 - found) - math.degrees(1e-9)) < 2e-14


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e300])
def test_lengths_do_not_matter(scale: float) -> None:
    u = np.array([[3.0, 4.0, 0.0], [1.0, 2.0, 2.0]])
    np.testing.assert_allclose(deviations(u * scale, u), deviations(u, u), rtol=1e-2 if scale < 1e-310 else 1e-14)


def test_zero_has_no_direction() -> None:
    assert np.isnan(unit(np.zeros((1, 3)))).all()
    assert np.isnan(deviations(np.zeros((1, 3)), np.ones((1, 3)))).all()


def test_averages_by_hand() -> None:
    found = made()
    assert found.mean.tolist() == [[90, 20, 10], [20, 90, 50], [10, 50, 90]]
    assert found.std.tolist() == [[0, 10, 10], [10, 0, 10], [10, 10, 0]]
    assert found.signed_mean[1, 0] == -10 and found.signed_std[1, 0] == 20
    assert found.pairs == ((1, 2), (1, 3), (2, 3))
    assert math.isclose(found.average, (10 + 20 + 40 + 30 + 0 + 60) / 6)
    assert math.isclose(found.spread, math.sqrt((100 + 400 + 1600 + 900 + 3600) / 6 - (160 / 6) ** 2))
    assert found.largest == 60
    some = found.select([3, 1])
    assert some.features == (1, 3) and some.average == 10 and some.pairs == ((1, 3),)


def test_cross_counts_the_features_before() -> None:
    one_sided = np.array([[90.0, 80, 80], [1, 90, 80], [2, 3, 90]])
    assert Deviations("cross", one_sided, (1, 2, 3), (r"\hat f", "f")).average == 2


@pytest.mark.parametrize("shape", [(0, 2, 2), (3, 2, 2)])
def test_without_samples_all_is_nan(shape: tuple[int, ...]) -> None:
    empty = Deviations("original", np.full(shape, np.nan), (1, 2), ("f", "f"))
    assert np.isnan([empty.average, empty.spread, empty.largest]).all()
    assert np.isnan(empty.mean).all() and empty.mean.shape == empty.std.shape == (2, 2)


def test_text() -> None:
    lines = str(result()).splitlines()
    assert lines[0].endswith("mean ± standard deviation of 2 samples, 1 refused")
    assert lines[1:4] == ["1: Mean(x)", "2: Mean(x**2)", "3: Mean(x) < 3"]
    assert lines[5:9] == ["original: 27 ± 20 over 3 pairs", "       1      2", "2  20±10", "3  10±10  50±10"]
    assert lines[10:14] == ["decoupled: 3e-15 over 3 pairs", "       1      2", "2  2e-15", "3  1e-15  5e-15"]
    assert repr(result()) == "<Orthogonality of 3 features, 2 samples: original 27, decoupled 2.7e-15 degrees>"


def test_wide_tables_are_left_out_of_the_text() -> None:
    size = 13
    wide = Deviations("original", np.full((1, size, size), 5.0), tuple(range(1, size + 1)), ("f", "f"))
    found = str(Orthogonality(wide, wide, wide, ("f",) * size, (Outcome(True),)))
    assert found.count("original: 5 ± 0 over 78 pairs") == 3 and "5±0" not in found


def test_latex_and_html() -> None:
    latex = result().latex()
    assert r"\multicolumn{3}{l}{original: $27 \pm 20$} \\" in latex
    assert r"$f_{3}$ & $10 \pm 10$ & $50 \pm 10$ \\" in latex and r"$f_{2}$ & $10^{-15}$ &  \\" in latex
    assert latex.count(r"\begin") == latex.count(r"\end") == 1
    page = result()._repr_html_()
    assert "Mean(x) &lt; 3" in page and "<caption" in page and page.count("<table>") == page.count("</table>") == 3
    assert '<td style="background: rgba(230, 130, 0, 0.56)">50 ± 10</td>' in page
