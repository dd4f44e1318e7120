"""Local covariances and Gaussian classes: against closed forms, random samples, and another way to the same number."""

from functools import lru_cache

import numpy as np
import pytest
from scipy import stats as st
from scipy.special import gamma

import symdecouple as sd
from symdecouple.analysis import (
    Discriminability,
    GaussianClasses,
    discriminability,
    gradient_covariance,
    local_covariance,
)
from symdecouple.errors import InvalidInput, RefusalWarning, Refused, UnsupportedExpression

SIZE = 100
PLAN = sd.decouple(sd.families.standardized_moments(4))
POWERS = {theta: st.beta(1 / theta, 1) for theta in (5, 6, 7)}


@lru_cache
def sources_example() -> Discriminability:
    return discriminability(PLAN, POWERS, features=(3, 4), n_samples=1024)


def correlation(covariance: np.ndarray, i: int, j: int) -> float:
    return float(covariance[i, j] / np.sqrt(covariance[i, i] * covariance[j, j]))


def error_on_a_grid(classes: GaussianClasses, points: int = 601, reach: float = 8) -> float:
    """1 - integral of the largest density over the number of classes, by the trapezoidal rule in two dimensions."""
    axes = [np.linspace((classes.means[:, k] - reach * classes.deviations[:, k]).min(),
                        (classes.means[:, k] + reach * classes.deviations[:, k]).max(), points) for k in (0, 1)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    densities = [st.multivariate_normal(mean, cov).pdf(grid)
                 for mean, cov in zip(classes.means, classes.covariances, strict=True)]
    cell = float(np.prod([axis[1] - axis[0] for axis in axes]))
    return 1 - float(np.max(densities, axis=0).sum()) * cell / len(densities)


# --- covariance ---


def test_mean_and_variance_of_exponential_samples_vary_together() -> None:
    """Var mean = 1/N, var variance = (mu_4 - 1)/N = 8/N, cov = mu_3/N = 2/N; the gradients are orthogonal."""
    plan = sd.decouple(sd.families.standardized_moments(2))
    found = local_covariance(plan, st.expon(), n_samples=1000)
    assert 1000 * found == pytest.approx(np.array([[1, 2], [2, 8]]), abs=1e-9)
    assert correlation(found, 0, 1) == pytest.approx(2 / np.sqrt(8), abs=1e-9)
    sample = st.expon.rvs(size=50, random_state=0)
    gradients = plan.gradients(sample)
    assert abs(gradients[0] @ gradients[1]) < 1e-14 * np.linalg.norm(gradients[0]) * np.linalg.norm(gradients[1])
    values = np.column_stack([(rows := st.expon.rvs(size=(4000, 200), random_state=1)).mean(axis=1), rows.var(axis=1)])
    assert np.corrcoef(values.T)[0, 1] == pytest.approx(2 / np.sqrt(8), abs=0.03)  # four standard errors


def test_gaussian_samples_have_hermite_influences() -> None:
    """Uncorrelated, with variances k!/N: 1, 2, 6, 24, of mean, variance, skewness and orthokurtosis."""
    found = local_covariance(PLAN, st.norm(), n_samples=100)
    assert 100 * found == pytest.approx(np.diag([1, 2, 6, 24]), abs=1e-8)


def test_orders_above_four_by_weights() -> None:
    """Against central differences of another step, by the public statistics."""
    plan = sd.decouple(sd.families.standardized_moments(6))
    sample = st.norm.ppf((np.arange(SIZE) + 0.5) / SIZE)
    found = SIZE * local_covariance(plan, sample)
    step, direction = 1e-4, np.zeros(SIZE)
    direction[20] = 1.0
    weights = np.ones(SIZE)
    above, below = (sd.stats.decoupled_moments(sample, 6, weights=weights + s * direction) for s in (step, -step))
    psi = SIZE * (above - below) / (2 * step)
    from symdecouple.analysis.discrimination.influence import of_decoupled_moments

    each = of_decoupled_moments(plan.choice.moments, [0, 1, 0, 3, 0], sample[None], np.full(SIZE, 1 / SIZE), None, 6)
    assert [i.psi[0, 20] for i in each] == pytest.approx(psi, rel=1e-5)
    assert np.diag(found) == pytest.approx([(i.psi**2).mean() for i in each], rel=1e-12)


@pytest.mark.parametrize("name", ["expon", "beta"])
def test_influences_are_derivatives_by_weights(name: str) -> None:
    """Original and decoupled moments, to the rounding of a central difference."""
    law = {"expon": st.expon(), "beta": st.beta(0.3, 1)}[name]
    sample = law.rvs(size=40, random_state=2)
    for decoupled in (False, True):
        found = 40 * local_covariance(PLAN, sample, decoupled=decoupled)
        psi, step = np.empty((4, 40)), 1e-5
        for n in range(40):
            values = []
            for s in (step, -step):
                weights = np.ones(40)
                weights[n] += s
                moments = (sd.stats.decoupled_moments if decoupled else sd.stats.standardized_moments)(
                    sample, 4, weights=weights)
                values.append(moments)
            psi[:, n] = 40 * (values[0] - values[1]) / (2 * step)
        expected = psi @ psi.T / 40
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-6 * np.abs(expected).max())


def test_nested_and_general_averages() -> None:
    """Standard deviation of log cosh about the mean: against the bootstrap of influence by deleting one value."""
    features = [sd.parse("mean(x)"), sd.parse("log(mean(exp(x)))"), sd.parse("mean(log(cosh(x - mean(x))))")]
    plan = sd.decouple(features)
    sample = st.norm.rvs(size=200, random_state=3)
    found = local_covariance(plan, sample, decoupled=False)

    def values(v: np.ndarray) -> list[float]:
        return [v.mean(), np.log(np.exp(v).mean()), np.log(np.cosh(v - v.mean())).mean()]

    left = np.array([values(np.delete(sample, n)) for n in range(200)])
    jackknife = 199**2 / 200**2 * np.cov(left.T, bias=True) * 200
    assert found == pytest.approx(jackknife, rel=0.03)


def test_figures_of_the_sources_example() -> None:
    found = sources_example()
    assert found.decoupled.deviations[:, 1] == pytest.approx([0.01851, 0.01656, 0.01499], abs=6e-6)
    assert found.decoupled.correlations[:, 0, 1] == pytest.approx([0.087, 0.046, 0.023], abs=6e-4)
    assert found.original.correlations[:, 0, 1] == pytest.approx([0.983, 0.985, 0.987], abs=6e-4)
    assert found.original.error == pytest.approx(0.12433, abs=2e-5)
    assert found.decoupled.error == pytest.approx(0.05409, abs=2e-5)
    for classes in (found.original, found.decoupled):
        assert classes.error == pytest.approx(error_on_a_grid(classes), abs=2e-5)
    assert found.decoupled.means[1, 1] == pytest.approx(float(sd.analysis.population(PLAN, POWERS[6])[3]), abs=1e-12)
    assert np.sqrt(found.original.covariances[1, 0, 0]) == pytest.approx(0.094204, abs=1e-6)  # skewness of u^6


@pytest.mark.slow
def test_skewness_of_sixth_powers_by_random_samples() -> None:
    rows = np.random.default_rng(0).random((4000, 1024)) ** 6
    assert sd.stats.skewness(rows, axis=1).std() == pytest.approx(0.0941, abs=0.0044)  # four standard errors


@pytest.mark.slow
def test_the_sources_figure_is_one_draw_of_many() -> None:
    rng = np.random.default_rng(1)
    errors = [discriminability(PLAN, {t: rng.random((128, 1024)) ** t for t in (5, 6, 7)}, features=(3, 4),
                               covariance="sample").decoupled.error for _ in range(30)]
    assert np.mean(errors) == pytest.approx(0.055, abs=0.006)
    assert 0.004 < np.std(errors) < 0.014


# --- classes ---


def test_two_classes_of_one_covariance_err_by_half_their_distance() -> None:
    for correlated in (0.0, 0.98):
        covariance = np.array([[1, correlated], [correlated, 1]])
        classes = GaussianClasses("features", ("f", "g"), ("a", "b"), np.array([[0, 0], [1.2, -0.3]]),
                                  np.stack([covariance, covariance]))
        d = classes.distance(0, 1)
        assert d == pytest.approx(np.sqrt(np.array([1.2, -0.3]) @ np.linalg.inv(covariance) @ [1.2, -0.3]))
        assert classes.error == pytest.approx(st.norm.sf(d / 2), rel=1e-12)
        assert classes.error_of([0]) == 0
        assert classes.error_of(["b", "a"]) == classes.error_of([1, 0])


def gaussian(means: object, covariances: object, **options: object) -> GaussianClasses:
    means = np.array(means, dtype=float)
    return GaussianClasses("features", tuple("fghi"[: means.shape[1]]), tuple("abcd"[: len(means)]), means,
                           np.array(covariances, dtype=float), **options)


NARROW_AND_WIDE = [[[1.0]], [[4.0]]]
DISCS = [np.eye(2), 4 * np.eye(2)]
CROSSING = 8 / 3 * np.log(4)  # of squared radii, where both discs are as likely


@pytest.mark.parametrize(
    ("classes", "expected", "room"),
    [
        (gaussian([[0], [1.5]], [[[1]], [[1]]]), st.norm.sf(0.75), 1e-14),
        (gaussian([[0], [90]], [[[1]], [[1]]]), st.norm.sf(45), 1e-12 * st.norm.sf(45)),
        (gaussian([[0], [0]], NARROW_AND_WIDE), st.norm.sf(a := np.sqrt(4 / 3 * np.log(4))) + st.norm.cdf(a / 2) - 0.5,
         1e-14),
        (gaussian([[0, 0], [0, 0]], DISCS), (np.exp(-CROSSING / 2) + 1 - np.exp(-CROSSING / 8)) / 2, 1e-13),
        (gaussian([[0], [2]], [[[1]], [[1]]], chances=[3, 1]),
         0.75 * st.norm.sf(1 + np.log(3) / 2) + 0.25 * st.norm.sf(1 - np.log(3) / 2), 1e-14),
        (gaussian([[0], [2], [4]], [[[1]]] * 3), 4 / 3 * st.norm.sf(1), 1e-14),  # the middle errs on both sides
        (gaussian([[0, 0]] * 3, [np.eye(2)] * 3), 2 / 3, 1e-14),
        (gaussian([[0, 0], [1e-4, 0]], [[[1, 1 - 1e-9], [1 - 1e-9, 1]]] * 2),
         st.norm.sf(0.5e-4 / np.sqrt(1 - (1 - 1e-9) ** 2)), 1e-6),
        (gaussian([[0, 0, 0], [2, 1, 2]], [np.eye(3)] * 2), st.norm.sf(1.5), 2e-4),
        (gaussian(np.vstack([np.zeros(4), np.ones(4)]), [np.eye(4)] * 2), st.norm.sf(1), 2e-4),
    ],
)
def test_errors_in_closed_form(classes: GaussianClasses, expected: float, room: float) -> None:
    assert classes.error == pytest.approx(expected, abs=room)


def test_unequal_covariances_against_an_integral() -> None:
    one, two = st.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]]), st.multivariate_normal([1, 1], [[0.3, 0], [0, 2]])
    grid = np.stack(np.meshgrid(np.linspace(-7, 8, 601), np.linspace(-8, 9, 601), indexing="ij"), axis=-1)
    expected = np.minimum(one.pdf(grid), two.pdf(grid)).sum() / 2 * (15 / 600) * (17 / 600)
    classes = GaussianClasses("features", ("f", "g"), ("a", "b"), np.array([one.mean, two.mean]),
                              np.array([one.cov_object.covariance, two.cov_object.covariance]))
    assert classes.error == pytest.approx(expected, abs=2e-5)


def test_affine_maps_of_the_features_change_nothing() -> None:
    found = sources_example().decoupled
    a = np.array([[100.0, 3], [0, 0.01]])
    moved = GaussianClasses("features", found.features, found.labels, found.means @ a.T, a @ found.covariances @ a.T)
    assert moved.error == pytest.approx(found.error, abs=5e-6)


def test_ellipses_have_their_radius() -> None:
    found = sources_example().original
    away = found.ellipse(1, 2.0) - found.means[1]
    assert np.einsum("pi,ij,pj->p", away, np.linalg.inv(found.covariances[1]), away) == pytest.approx(4, rel=1e-9)


def test_sample_vectors_and_both_covariances() -> None:
    """256 vectors: deviations by influence and over the vectors agree within five standard errors, .044 each."""
    rng = np.random.default_rng(4)
    classes = {t: rng.random((256, 512)) ** t for t in (5, 7)}
    by_influence = discriminability(PLAN, classes, features=(3, 4))
    by_sample = discriminability(PLAN, classes, features=(3, 4), covariance="sample")
    assert by_influence.decoupled.means == pytest.approx(by_sample.decoupled.means, rel=1e-9)
    assert by_influence.original.means == pytest.approx(by_sample.original.means, rel=1e-9)
    assert by_influence.decoupled.deviations == pytest.approx(by_sample.decoupled.deviations, rel=0.25)
    assert by_influence.decoupled.error < by_influence.original.error
    assert "error" in str(by_influence)


def test_filtered_features_take_their_own_covariance() -> None:
    h = sd.Filter([1, -1, 0])
    plan = sd.decouple([sd.Mean(sd.x**2), sd.Mean(h(sd.x) ** 2)])
    rng = np.random.default_rng(0)
    rows = {"a": rng.normal(size=(30, 64)), "b": rng.normal(size=(30, 64)) * 1.2}
    found = discriminability(plan, rows, covariance="sample")
    assert 0 < found.decoupled.error < 0.5
    with pytest.raises(UnsupportedExpression, match="sample"):
        discriminability(plan, rows)


# --- bad input ---


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: discriminability(PLAN, {5: st.expon()}), "two labels"),
        (lambda: discriminability(PLAN, POWERS, features=(3, 4)), "n_samples"),
        (lambda: discriminability(PLAN, POWERS, features=(3, 9), n_samples=10), "numbered 1 to 4"),
        (lambda: discriminability(PLAN, POWERS, features=(3, 3), n_samples=10), "different numbers"),
        (lambda: discriminability(PLAN, POWERS, n_samples=10, covariance="sample"), "sample vectors"),
        (lambda: discriminability(PLAN, POWERS, n_samples=10, covariance="no"), "influence"),
        (lambda: discriminability(PLAN, {1: np.ones(4), 2: np.ones(4)}), r"\(R, N\)"),
        (lambda: discriminability(3, POWERS), "a plan"),
        (lambda: discriminability(PLAN, {1: np.eye(4), "1": np.eye(4)}), "by their text"),
        (lambda: discriminability(PLAN, {1: np.eye(4), 2: np.eye(4)}, chances={1: 2}), "chances are a mapping"),
        (lambda: discriminability(PLAN, POWERS, features=3, n_samples=10), "numbers from 1 to 4"),
        (lambda: discriminability(PLAN, {1: np.eye(4) * 1j, 2: np.eye(4)}), "complex"),
        (lambda: discriminability(PLAN, {1: [["a", "b"]], 2: np.eye(4)}), "text"),
        (lambda: discriminability(PLAN, {1: np.eye(4) * np.nan, 2: np.eye(4)}), "not finite"),
        (lambda: discriminability(PLAN, {1: np.empty((0, 4)), 2: np.eye(4)}), r"\(R, N\)"),
        (lambda: discriminability(PLAN, {1: np.ones((5, 1)), 2: np.eye(4)}), "two finite numbers"),
        (lambda: gaussian([[0], [1]], [[[1]]]), "of the shape"),
        (lambda: gaussian([[0, 0]], [[[1, 0.5], [0, 1]]]), "not symmetric"),
        (lambda: gaussian([[0], [1]], [[[1]]] * 2, chances=[1, -1]), "positive"),
        (lambda: gaussian([[0], [1]], [[[1]]] * 2).error_of([0, 5]), "a class is one of a, b"),
        (lambda: gaussian([[0], [1]], [[[1]]] * 2).error_of([0, 0]), "different classes"),
        (lambda: gaussian([[0, 0], [1, 1]], [np.eye(2)] * 2).ellipse("z"), "a class is one of a, b"),
        (lambda: gaussian([[0, 0], [1, 1]], [np.eye(2)] * 2).ellipse(0, pair=(1, 1)), "pair"),
        (lambda: gaussian([[0, 0], [1, 1]], [np.eye(2)] * 2).ellipse(0, float("nan")), "radius"),
        (lambda: discriminability(PLAN, {1: np.ones((9, 4)), 2: np.ones((9, 4))}), "decoupled"),
        (lambda: local_covariance(PLAN, [1.0]), "two finite numbers"),
        (lambda: discriminability(PLAN, {t: np.ones((3, 9)) for t in "ab"}, covariance="sample"), "more than 4"),
        (lambda: GaussianClasses("f", ("f", "g"), ("a",), np.zeros((1, 2)), np.ones((1, 2, 2))), "of each other"),
        (lambda: GaussianClasses("f", ("f",), ("a",), np.zeros((1, 1)), np.zeros((1, 1, 1))), "does not vary"),
    ],
)
def test_bad_input_is_told(call: object, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        call()  # type: ignore[operator]


@pytest.mark.parametrize(("law", "decoupled", "said"), [(st.cauchy(), True, "moment 2"), (st.t(5), True, "moment 6"),
                                                        (st.t(8), True, "moment 8"), (st.t(8), False, "moment 8")])
def test_laws_without_the_moments_are_refused(law: object, decoupled: bool, said: str) -> None:
    with pytest.raises(Refused, match=said):
        local_covariance(PLAN, law, n_samples=10, decoupled=decoupled)


def test_students_t_with_nine_degrees_of_freedom() -> None:
    """By its moments in closed form: a symmetric law is its own level 3, and skewness has no part in it."""
    two, four, six, eight = (9 ** (k / 2) * gamma((k + 1) / 2) * gamma((9 - k) / 2) / (np.sqrt(np.pi) * gamma(4.5))
                              for k in (2, 4, 6, 8))
    c4, c6, c8 = four / two**2, six / two**3, eight / two**4
    expected = [c6 - 6 * c4 + 9, c8 - c4**2 - 4 * c4 * (c6 - c4) + 4 * c4**2 * (c4 - 1)]
    found = 100 * local_covariance(PLAN, st.t(9), n_samples=100)
    assert np.diag(found)[2:] == pytest.approx(expected, rel=1e-5)


def test_units_and_offsets_change_nothing() -> None:
    sample = st.gamma(2).rvs(size=40, random_state=0)
    for decoupled in (True, False):
        expected = local_covariance(PLAN, sample, decoupled=decoupled)[2:, 2:]
        for moved in (sample + 1e8, sample * 1e70, sample * 1e-70):
            assert local_covariance(PLAN, moved, decoupled=decoupled)[2:, 2:] == pytest.approx(expected, abs=1e-7)


def test_vectors_without_a_feature_are_told() -> None:
    with pytest.warns(RefusalWarning, match="1 of 2 sample vectors, the first at 1"):
        found = local_covariance(PLAN, [[0, 1, 2, 4, 9.0], [0, 0, 0, 1, 2.0]])
    assert np.isfinite(found[0]).all() and np.isnan(found[1, 3]).all()


def test_products_of_gradients_are_not_the_covariance() -> None:
    """They are for the mean; for Gaussian samples the variance of the k-th is k times too large: k k! for k!."""
    normal = st.norm.ppf((np.arange(2000) + 0.5) / 2000)
    rule, right = gradient_covariance(PLAN, normal), local_covariance(PLAN, normal)
    assert np.diag(rule)[:3] / np.diag(right)[:3] == pytest.approx([1, 2, 3], rel=0.05)
    assert rule - np.diag(np.diag(rule)) == pytest.approx(np.zeros((4, 4)), abs=1e-12)
    skewed = st.expon.ppf((np.arange(2000) + 0.5) / 2000)
    assert gradient_covariance(PLAN, skewed)[0, 1] == pytest.approx(0, abs=1e-15)
    assert gradient_covariance(PLAN, skewed)[0, 0] == pytest.approx(local_covariance(PLAN, skewed)[0, 0], rel=1e-12)
    assert correlation(local_covariance(PLAN, skewed), 0, 1) == pytest.approx(2 / np.sqrt(8), abs=0.02)


@pytest.mark.parametrize("law", [st.gamma(30), st.beta(1 / 3, 1), st.norm(1, 2), st.beta(2, 5)],
                         ids=["gamma", "power", "normal", "beta"])
def test_covariances_of_random_samples(law: object) -> None:
    """800 vectors of 1000: within five standard errors, and a share of 1/N that influence functions leave out."""
    rows = law.rvs(size=(800, 1000), random_state=7)  # type: ignore[attr-defined]
    for decoupled, values in ((True, PLAN.transform(rows)), (False, sd.stats.standardized_moments(rows, 4, axis=1))):
        found = local_covariance(PLAN, law, n_samples=1000, decoupled=decoupled)
        size = np.outer(np.sqrt(np.diag(found)), np.sqrt(np.diag(found)))
        room = 5 * np.sqrt((size**2 + found**2) / 800) + 0.05 * size
        assert (np.abs(np.cov(values.T) - found) < room).all()


def test_laws_without_the_feature_are_refused() -> None:
    with pytest.raises(Refused, match="both tails"):
        discriminability(PLAN, {1: st.skewnorm(4), 2: st.skewnorm(5)}, n_samples=100)


def test_pictures() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = sources_example().plot()
    assert [len(ax.lines) for ax in axes] == [6, 6]
    with pytest.raises(InvalidInput, match="pair"):
        sources_example().plot(pair=(0, 5))
    axes[0].figure.clf()
