r"""How well features tell parameter values apart, before and after they are decoupled.

Features of random samples vary about their expectations. Where two of them vary together, and both along the way on
which the parameter moves them, clouds of neighbouring values overlap. The local covariance comes from influence
functions, Cov(psi_f, psi_g)/N, or from the sample vectors themselves. It is not sigma^2 grad f . grad g, as the source
has it: mean and variance of exponential samples have orthogonal gradients and the correlation 2/sqrt(8). For Gaussian
samples the decoupled moments have Hermite polynomials as influence functions, and both agree on what is zero; the rule
makes the variance of the k-th k times too large. For the mean it is right whatever the law.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from symdecouple.analysis.discrimination.gaussian import GaussianClasses
from symdecouple.analysis.discrimination.influence import Influence, of_averages, of_decoupled_moments, of_moments
from symdecouple.analysis.discrimination.picture import draw_ellipses
from symdecouple.analysis.population.leaf import Leaf
from symdecouple.analysis.population.levels import at_skewness
from symdecouple.analysis.population.quadrature import Quadrature
from symdecouple.analysis.population.readers import law_of
from symdecouple.analysis.population.settling import FloatLaw
from symdecouple.decoupling.application import Application
from symdecouple.decoupling.decoupled_names import declared_names
from symdecouple.decoupling.plan import Plan
from symdecouple.errors import InvalidInput, RefusalWarning, Refused, UnsupportedExpression
from symdecouple.figures import Axes
from symdecouple.language.precision import at_digits
from symdecouple.numeric.samples.intake import take_numbers
from symdecouple.numeric.samples.vectors import as_floats
from symdecouple.shown import Shown

__all__ = ["Discriminability", "discriminability", "gradient_covariance", "local_covariance"]

FloatArray: TypeAlias = NDArray[np.float64]
Covariance: TypeAlias = Literal["influence", "sample"]

_DIGITS = 15


@dataclass(frozen=True, slots=True, repr=False)
class Discriminability(Shown):
    """Gaussian classes in the space of the original features, and in that of the decoupled ones.

    Attributes
    ----------
    original, decoupled : GaussianClasses
    points : tuple of pairs of arrays, or None
        The features of each class' sample vectors, original and decoupled; None of distributions.
    """

    original: GaussianClasses
    decoupled: GaussianClasses
    points: tuple[tuple[FloatArray, FloatArray], ...] | None = None

    def __str__(self) -> str:
        return f"{self.original}\n{self.decoupled}"

    def plot(self, ax: Any = None, *, radius: float = 2.0, pair: tuple[int, int] = (0, 1)
             ) -> tuple[Axes, ...]:
        """Draw the ellipses of two features, original and decoupled side by side; see `discriminability_plot`."""
        return draw_ellipses(self.original, self.decoupled, self.points, ax, radius=radius, pair=pair)


def discriminability(plan: Plan, classes: Mapping[Any, Any], *, features: Sequence[int] | None = None,
                     n_samples: int | None = None, covariance: Covariance = "influence",
                     chances: Mapping[Any, float] | None = None) -> Discriminability:
    r"""Return how often a Gaussian classifier confuses classes, by the original and by the decoupled features.

    Parameters
    ----------
    plan : Plan
    classes : mapping
        From labels to sample vectors (R, N), or to distributions as `population` takes them: then means and covariances
        are those of the law, for samples of `n_samples` values.
    features : sequence of int, optional
        Which features, from 1; all by default.
    n_samples : int, optional
        N, for distributions.
    covariance : {"influence", "sample"}
        Of sample vectors: by influence functions, averaged over the vectors, or that of the features over the vectors.
    chances : mapping from labels to numbers, optional
        Of the classes, which are as frequent as each other otherwise.

    Returns
    -------
    Discriminability

    Raises
    ------
    InvalidInput
        If classes, features or sizes do not fit, or a covariance is singular.
    Refused
        If a distribution has not the moments that this takes.
    UnsupportedExpression
        If the influence functions of the plan are not known: covariance="sample" needs none.

    Examples
    --------
    The source's example, u^theta with u uniform, which is the beta law with 1/theta and 1:

    >>> import symdecouple as sd
    >>> from scipy import stats
    >>> plan = sd.decouple(sd.families.standardized_moments(4))
    >>> classes = {theta: stats.beta(1 / theta, 1) for theta in (5, 6, 7)}
    >>> found = discriminability(plan, classes, features=(3, 4), n_samples=1024)
    >>> round(found.original.error, 3), round(found.decoupled.error, 3)
    (0.124, 0.054)
    """
    chosen = _chosen(plan, features)
    if not isinstance(classes, Mapping) or len(classes) < 2:
        raise InvalidInput(f"classes are a mapping from two labels or more to sample vectors or distributions, got "
                           f"{type(classes).__name__} of {len(classes) if hasattr(classes, '__len__') else '?'}")
    if covariance not in ("influence", "sample"):
        raise InvalidInput(f'covariance is "influence" or "sample", got {covariance!r}')
    labels = tuple(map(str, classes))
    if len(set(labels)) < len(labels):
        raise InvalidInput(f"labels are told apart by their text, got {', '.join(map(repr, classes))}")
    if chances is not None and (not isinstance(chances, Mapping) or set(chances) != set(classes)):
        raise InvalidInput(f"chances are a mapping from the labels {', '.join(labels)} to numbers, got {chances!r}")
    shares = None if chances is None else [chances[label] for label in classes]
    found = [_class(plan, str(label), given, chosen, n_samples, covariance) for label, given in classes.items()]
    names = declared_names(plan.features)
    made = [GaussianClasses(title, tuple(names[k] if not side else plan.names[k] for k in chosen), labels,
                            np.array([c.means[side] for c in found]), np.array([c.covariances[side] for c in found]),
                            shares)
            for side, title in enumerate(("original features", "decoupled features"))]
    points = [c.points for c in found]
    return Discriminability(made[0], made[1], None if None in points else tuple(p for p in points if p is not None))


def local_covariance(plan: Plan, samples: Any, *, decoupled: bool = True, n_samples: int | None = None) -> FloatArray:
    r"""Return the covariance of features of random samples, by influence functions.

    .. math:: \frac1{N^2} \sum_n \psi_f(x_n)\,\psi_g(x_n), \qquad
        \frac1N\,\mathrm{E}\,\psi_f\,\psi_g \text{ for a distribution}

    Parameters
    ----------
    plan : Plan
    samples : array (..., N), or a distribution
        Each sample vector stands for its law.
    decoupled : bool
        Of the decoupled features, else of the original ones.
    n_samples : int, optional
        N, for a distribution.

    Returns
    -------
    array (..., M, M)
        NaN, with a `RefusalWarning`, where a sample vector does not have a feature.

    Raises
    ------
    Refused
        If a distribution has not the moments that this takes: twice as many as the feature.
    InvalidInput, UnsupportedExpression
        As in `discriminability`.

    Examples
    --------
    Mean and variance of exponential samples have orthogonal gradients, and still vary together:

    >>> import symdecouple as sd
    >>> from scipy import stats
    >>> plan = sd.decouple(sd.families.standardized_moments(2))
    >>> (1000 * local_covariance(plan, stats.expon(), n_samples=1000)).round(6).tolist()
    [[1.0, 2.0], [2.0, 8.0]]
    """
    chosen, samples = _chosen(plan, None), _nodes(samples)
    rows, weights, count, shape = _rows_of(samples, n_samples)
    with np.errstate(all="ignore"):  # vectors without a feature are told below
        influences = _influences(plan, rows, weights, decoupled, chosen, samples)
        psi = np.stack([i.psi for i in influences], axis=1)
        found: FloatArray = np.einsum("rin,n,rjn->rij", psi, weights, psi) / count
    without = ~np.isfinite(found).all(axis=(1, 2))
    if without.any():
        warnings.warn(f"{without.sum()} of {len(rows)} sample vectors, the first at {int(without.argmax())}, do not "
                      "have all of the features; their covariances are NaN", RefusalWarning, stacklevel=2)
    return found.reshape(*shape, len(chosen), len(chosen))


def gradient_covariance(plan: Plan, samples: Any) -> FloatArray:
    r"""Return what the source takes for the covariance of decoupled features: sigma^2 times products of gradients.

    .. math:: \sigma^2\,\nabla\hat f_i\cdot\nabla\hat f_j, \qquad \sigma^2 \text{ the variance of each sample vector}

    To be held against `local_covariance`. It is the same for the mean. For a normal law the influence function of the
    k-th decoupled moment is the Hermite polynomial He_k, of variance k!, and its derivative k He_{k-1}: both are
    diagonal, and this one is k times too large. For other laws neither its diagonal nor its zeros hold.

    Parameters
    ----------
    plan : Plan
    samples : array (..., N)

    Returns
    -------
    array (..., M, M)

    Examples
    --------
    Mean and variance of exponential samples:

    >>> import numpy as np
    >>> import symdecouple as sd
    >>> plan = sd.decouple(sd.families.standardized_moments(2))
    >>> sample = -np.log(1 - (np.arange(10000) + 0.5) / 10000)
    >>> gradient_covariance(plan, sample).round(5).tolist(), local_covariance(plan, sample).round(4).tolist()
    ([[0.0001, 0.0], [0.0, 0.0004]], [[0.0001, 0.0002], [0.0002, 0.0008]])
    """
    _chosen(plan, None)
    rows, _, _, shape = _rows_of(_as_samples(samples), None)
    slopes = np.asarray(plan.gradients(rows)).reshape(len(rows), len(plan.features), rows.shape[1])
    found: FloatArray = rows.var(axis=1)[:, None, None] * np.einsum("rin,rjn->rij", slopes, slopes)
    return found.reshape(*shape, *found.shape[1:])


@dataclass(frozen=True, slots=True)
class _Class:
    means: tuple[FloatArray, FloatArray]
    covariances: tuple[FloatArray, FloatArray]
    points: tuple[FloatArray, FloatArray] | None


def _chosen(plan: Any, features: Sequence[int] | None) -> list[int]:
    if not isinstance(plan, Plan):
        raise InvalidInput(f"a plan is expected, decouple(features), got {type(plan).__name__}")
    size = len(plan.features)
    try:
        chosen = list(range(1, size + 1)) if features is None else [_whole(k) for k in features]
    except TypeError:
        raise InvalidInput(f"features are numbers from 1 to {size}, got {features!r}") from None
    if bad := [k for k in chosen if not 1 <= k <= size]:
        raise InvalidInput(f"features are numbered 1 to {size}, got {bad[0]!r}")
    if len(set(chosen)) != len(chosen) or not chosen:
        raise InvalidInput(f"features are different numbers, one at least, got {chosen}")
    return [k - 1 for k in chosen]


def _whole(value: Any) -> int:
    if isinstance(value, bool):
        raise TypeError
    return index(value)


def _as_samples(given: Any) -> FloatArray:
    """Sample vectors as float64, values of any kind that `plan.transform` takes as well."""
    taken = take_numbers(given)
    array = as_floats(taken.array)
    if taken.masked is not None or array.ndim == 0 or array.shape[-1] < 2 or not np.isfinite(array).all():
        raise InvalidInput(f"sample vectors of two finite numbers or more are expected, got the shape {array.shape}"
                           f"{'' if np.isfinite(array).all() else ' with values that are not finite'}")
    return array


def _rows_of(samples: Any, n_samples: int | None) -> tuple[FloatArray, FloatArray, int, tuple[int, ...]]:
    """Rows, the weights of their entries, N, and the shape before the last axis."""
    if isinstance(samples, np.ndarray):
        size = samples.shape[-1]
        return samples.reshape(-1, size), np.full(size, 1 / size), size, samples.shape[:-1]
    if isinstance(n_samples, bool) or not isinstance(n_samples, int) or n_samples < 2:
        raise InvalidInput(f"features of a distribution vary with the number of values: n_samples=, 2 or more, got "
                           f"{n_samples!r}")
    leaf, law = samples
    places = (law.places + float(leaf.centre)) * float(leaf.law.scale) + float(leaf.law.loc)
    return places[None], law.weights, n_samples, ()


class _Nodes(NamedTuple):
    """A distribution on its leaf, and by nodes."""

    leaf: Leaf
    floats: FloatLaw


def _nodes(given: Any) -> Any:
    """Read a distribution, or sample vectors."""
    if isinstance(given, (np.ndarray, list, tuple)) or hasattr(given, "__array__"):
        return _as_samples(given)
    quadrature = Quadrature(law_of(given), _DIGITS)
    with at_digits(quadrature.work):
        leaf = Leaf(quadrature)
        return _Nodes(leaf, leaf.floats_to())


def _law_leveled(target: Any, nodes: _Nodes) -> FloatArray:
    """The nodes of a distribution at level 3."""
    leaf, floats = nodes
    with at_digits(leaf.quadrature.work):
        at = at_skewness(leaf, target)
        if not at.outcome.ok:
            raise Refused(f"the decoupled fourth moment of {leaf.law.name}: {at.outcome.reason} ({at.outcome.detail})")
        if not at.time:
            _check_moments(leaf, 8, "the decoupled fourth moment")
    moved: FloatArray = (floats.places / (1 - float(at.time) * floats.places))[None]
    return moved


def _check_moments(leaf: Leaf, order: int, name: str) -> None:
    """What varies with moment k has a variance where moment 2 k is finite."""
    with at_digits(leaf.quadrature.work):
        highest = leaf.highest_order()
    if highest < order:
        raise Refused(f"the variance of {name} takes moment {order} of {leaf.law.name}, which is infinite: its moments "
                      f"reach order {highest}; leave the feature out, features=[...]")


def _influences(plan: Plan, rows: FloatArray, weights: FloatArray, decoupled: bool, chosen: Sequence[int],
                samples: Any) -> list[Influence]:
    moments, count = plan.choice.moments, max(chosen) + 1
    if isinstance(samples, _Nodes) and moments is not None:
        for k in chosen:
            if k < min(len(moments), 3 if decoupled else len(moments)):
                _check_moments(samples.leaf, 2 * k + 2, f"feature {k + 1}")
    if not decoupled:
        return _of_originals(plan, rows, weights, chosen)
    if moments is None or len(moments) < count:
        raise UnsupportedExpression("the influence functions of decoupled features are known for moments; take "
                                    'covariance="sample"')
    if count > 4 and isinstance(samples, _Nodes):
        raise UnsupportedExpression("covariances of decoupled moments above order 4 are computed of sample vectors; "
                                    "give those, or features=[...] up to 4")
    coordinates = moments.coordinates(plan.reference[: len(plan.features) - 1])
    leveled = None
    if count > 3 and isinstance(samples, _Nodes):
        leveled = _law_leveled(coordinates[2], samples)
    found = of_decoupled_moments(moments, list(map(float, coordinates)), rows, weights, leveled, count)
    return [found[k] for k in chosen]


def _of_originals(plan: Plan, rows: FloatArray, weights: FloatArray, chosen: Sequence[int]) -> list[Influence]:
    if plan.features.coordinates or any(plan.features[k].black_box is not None for k in chosen):
        raise UnsupportedExpression('influence functions are those of averages; take covariance="sample"')
    moments = plan.choice.moments
    if moments is not None and max(chosen) < len(moments):
        return of_moments(moments, rows, weights, chosen)
    return [of_averages(plan.features[k].expr, plan.features.sample, rows, weights) for k in chosen]


def _class(plan: Plan, label: str, given: Any, chosen: Sequence[int], n_samples: int | None, covariance: Covariance
           ) -> _Class:
    given = _nodes(given)
    is_samples = isinstance(given, np.ndarray)
    if is_samples and (given.ndim != 2 or not len(given)):
        raise InvalidInput(f"class {label} takes sample vectors (R, N), got the shape {np.shape(given)}")
    if covariance == "sample":
        return _by_vectors(plan, label, given, chosen)
    rows, weights, count, _ = _rows_of(given, n_samples)
    with np.errstate(all="ignore"):  # vectors without a feature are told below
        both = [_influences(plan, rows, weights, side, chosen, given) for side in (False, True)]
    values = [np.stack([i.value for i in side], axis=1) for side in both]
    refused = np.asarray(~np.isfinite(values[1]).all(axis=1))
    if refused.any():
        raise InvalidInput(f"{refused.sum()} of {len(refused)} sample vectors of class {label} have not all of the "
                           "decoupled features; leave them out, or leave out features")
    covariances = []
    for side in both:
        psi = np.stack([i.psi for i in side], axis=1)
        covariances.append(np.einsum("rin,n,rjn->ij", psi, weights, psi) / count / len(psi))
    points = (values[0], values[1]) if is_samples else None
    return _Class((values[0].mean(axis=0), values[1].mean(axis=0)), (covariances[0], covariances[1]), points)


def _by_vectors(plan: Plan, label: str, given: Any, chosen: Sequence[int]) -> _Class:
    if not isinstance(given, np.ndarray):
        raise InvalidInput(f'class {label} is a distribution, and covariance="sample" needs sample vectors')
    if len(given) <= len(chosen):
        raise InvalidInput(f"class {label} has {len(given)} sample vectors, more than {len(chosen)} are needed for a "
                           f"covariance of {len(chosen)} features")
    values = Application(plan.features).on(given.shape[1:]).values
    original = np.array([values(row) for row in given], dtype=float)[:, list(chosen)]
    decoupled = np.asarray(plan.transform(given, on_refusal="raise"))[:, list(chosen)]
    return _Class((original.mean(axis=0), decoupled.mean(axis=0)),
                  (np.cov(original.T).reshape(len(chosen), -1), np.cov(decoupled.T).reshape(len(chosen), -1)),
                  (original, decoupled))
