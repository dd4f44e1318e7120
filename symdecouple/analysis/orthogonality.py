r"""How far from orthogonal the gradients of features are: as declared, decoupled, and decoupled against declared.

Features are decoupled where their gradients are orthogonal. The deviation from orthogonality of two gradients with the
angle alpha between them is

.. math:: \mathrm{DO} = 90^\circ - \alpha

above 0 where the angle is acute. Decoupled features have DO = 0 where the modified features before them are involutive
(Theorem D), and on the reference manifolds whatever they are; elsewhere DO says how near they come. Nothing is
differenced: an exact zero shows as rounding, about 1e-14 degrees, behind closed forms, and as the integration error, up
to about 1e-10 degrees, behind a level on the narrow path.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args, overload

import numpy as np
from numpy.typing import NDArray

from symdecouple.analysis.angles.deviations import Deviations, deviations
from symdecouple.analysis.angles.directions import GradientDirections, gradient_directions
from symdecouple.analysis.angles.pair_picture import Measure, Which, draw_map, draw_pair_plot
from symdecouple.analysis.angles.picture import draw_orthogonality
from symdecouple.analysis.angles.tables import as_html, as_latex, as_text
from symdecouple.decoupling.decoupled_names import declared_names
from symdecouple.decoupling.plan import Plan
from symdecouple.decoupling.verdicts.modified import starts
from symdecouple.errors import InvalidInput, Outcome
from symdecouple.figures import Axes
from symdecouple.numeric.samples.batch import Answer, FloatArray, OnRefusal
from symdecouple.numeric.samples.intake import check_choice
from symdecouple.numeric.samples.vectors import Batch, SampleAxis, widened
from symdecouple.shown import Shown

__all__ = ["Orthogonality", "orthogonality"]

_CHUNK = 2**18  # numbers whose gradients are in memory together
_SMALL = 1e-8  # of the declared gradient; a decoupled one below is looked at again
_EPS = float(np.finfo(np.float64).eps)


@overload
def orthogonality(plan: Plan, samples: Any, *, axis: SampleAxis = ..., names: Iterable[str] | None = ...,
                  on_refusal: Literal["warn", "raise"] = ...) -> Orthogonality: ...


@overload
def orthogonality(plan: Plan, samples: Any, *, axis: SampleAxis = ..., names: Iterable[str] | None = ...,
                  on_refusal: Literal["return"]) -> tuple[Orthogonality, tuple[Outcome, ...]]: ...


def orthogonality(plan: Plan, samples: Any, *, axis: SampleAxis = "last", names: Iterable[str] | None = None,
                  on_refusal: OnRefusal = "warn") -> Any:
    """Measure the deviations from orthogonality between gradients, of the original and of the decoupled features.

    Parameters
    ----------
    plan : Plan
        As `symdecouple.decouple` gives it.
    samples : array_like (..., N), or ``(..., *grid)`` where filters have several dimensions
    axis : int or tuple of int, optional
        The sample axes. Default the last, or as many as the filters have.
    names : iterable of str, optional
        What the features are called in tables and pictures, such as the names of a bank's bands; default those of the
        features, or their numbers, with the features as text in a list, where they have no names.
    on_refusal : {"warn", "raise", "return"}
        Samples that lack a gradient, or are a critical point of a feature, where the direction of its gradient is
        rounding error: they are NaN in `degrees`, left out of all averages, and counted; with one warning, `Refused`
        (with the result in `partial`), or ``(result, outcomes)``.

    Returns
    -------
    Orthogonality
        With `original`, `decoupled` and `cross`, each with `degrees`, `mean`, `std`, `average` and `spread`.

    Raises
    ------
    InvalidInput
        If it is not a plan of two or more features, or names do not fit.

    Notes
    -----
    Angles are computed from unit vectors by a formula that is accurate to rounding at all angles. Where a feature does
    not change with shift or unit up to constants and factors, which is decided symbolically, its declared gradient is
    taken on the centred sample in units of its range. Single precision is widened first.

    The cost is that of ``plan.gradients``, and twice that of the declared gradients.

    Examples
    --------
    Mean, x^2, x^4, x^3: all four decoupled features are orthogonal (Theorem D).

    >>> from symdecouple.decoupling.plan import decouple
    >>> from symdecouple.language.feature_set import FeatureSet
    >>> found = orthogonality(decouple(FeatureSet.parse("mean(x)", "mean(x^2)", "mean(x^4)", "mean(x^3)")),
    ...                       [[1.0, 2, 3, 5, 8, 13, 21]])
    >>> found.original.mean.round(2).tolist()[3]
    [34.37, 72.13, 80.78, 90.0]
    >>> found.decoupled.largest < 1e-9
    True
    """
    if not isinstance(plan, Plan):
        raise InvalidInput(f"a plan is expected, as decouple(features) returns it; got {type(plan).__name__}")
    if len(plan.features) < 2:
        raise InvalidInput("one feature was given; orthogonality is between two or more")
    if on_refusal not in get_args(OnRefusal):
        choices = ", ".join(map(repr, get_args(OnRefusal)))
        raise InvalidInput(f"on_refusal={on_refusal!r} was given, one of {choices} is expected")
    called = _called(plan, names)
    batch = Batch.of("orthogonality", samples, axis, False, plan.features.filter_ndim, differences=lambda _: True)
    size = len(plan.features)
    degrees = np.full((3, len(batch.rows), size, size), np.nan)
    refusals: dict[int, Outcome] = {}
    for part in _portions(batch.rows):
        original, decoupled, outcomes = _gradients(plan, widened(batch.rows[part]), batch.grid)
        fine = _computed(outcomes)
        original, decoupled = original[fine], decoupled[fine]
        for out, first, second in zip(degrees, (original, decoupled, decoupled), (original, decoupled, original),
                                      strict=True):
            out[part.start + fine] = deviations(first, second)
        refusals |= {part.start + i: outcome for i, outcome in enumerate(outcomes) if not outcome.ok}
    answer = Answer("orthogonality", batch.shape, {**refusals, **batch.barred}, frames=3)
    degrees[:, list(batch.barred)] = np.nan
    degrees = degrees.reshape(3, *batch.shape, size, size)
    is_named = names is not None or plan.features.is_named
    numbers = tuple(range(1, size + 1))
    one, two, cross = (Deviations(title, degrees[i], numbers, symbols) for i, (title, symbols) in enumerate([
        ("original", ("f", "f")), ("decoupled", (r"\hat f", r"\hat f")),
        ("decoupled against original", (r"\hat f", "f"))]))
    short = (declared_names(plan.features), plan.names) if names is None else ((), ())
    result = Orthogonality(one, two, cross, called, answer.outcomes(), is_named, short)
    return answer.deliver(result, on_refusal)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Orthogonality(Shown):
    """Deviations from orthogonality over a batch; `str` is text, notebooks show tables.

    Attributes
    ----------
    original : Deviations
        Between the features as declared.
    decoupled : Deviations
        Between the decoupled features.
    cross : Deviations
        Decoupled features (rows) against declared ones (columns); those before the feature count in averages.
    names : tuple of str
        What the features are called: as text, if nothing else was given.
    outcomes : tuple of Outcome
        One for each sample of the flattened batch.
    named : bool
        Whether names were given: tables and pictures show them, and numbers otherwise.
    short : pair of tuples of str
        Names that fit beside a cell of a picture, as declared and decoupled; by default those of `labels`.
    """

    original: Deviations
    decoupled: Deviations
    cross: Deviations
    names: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    named: bool = False
    short: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    def __post_init__(self) -> None:
        if not self.short[0]:
            object.__setattr__(self, "short", (self.labels, self.labels))

    @property
    def count(self) -> int:
        """How many samples count."""
        return len(self.outcomes) - self.refused

    @property
    def refused(self) -> int:
        """How many samples were left out."""
        return sum(not outcome.ok for outcome in self.outcomes)

    def select(self, *numbers: int) -> Orthogonality:
        """Return the same for some of the features, by their numbers from 1.

        The source leaves mean and variance out of its averages: ``found.select(3, 4, 5, 6)``.
        """
        sets = [each.select(numbers) for each in self._sets]
        names = tuple(self.names[self.original.features.index(n)] for n in sets[0].features)
        one, two = (tuple(each[self.original.features.index(n)] for n in sets[0].features) for each in self.short)
        return replace(self, original=sets[0], decoupled=sets[1], cross=sets[2], names=names, short=(one, two))

    @property
    def labels(self) -> tuple[str, ...]:
        """What tables and pictures call the features: the names that were given, else their numbers."""
        return self.names if self.named else tuple(map(str, self.original.features))

    def __str__(self) -> str:
        return as_text(self._sets, self._heading, self.names, self.labels)

    def __repr__(self) -> str:
        return (f"<Orthogonality of {len(self.names)} features, {self.count} samples: original "
                f"{self.original.average:.2g}, decoupled {self.decoupled.average:.2g} degrees>")

    def latex(self) -> str:
        """Return a LaTeX tabular, mean and standard deviation of abs(DO) for each pair and for all."""
        return as_latex(self._sets, self.labels)

    def html(self) -> str:
        """Return tables as HTML."""
        return as_html(self._sets, self._heading, self.names, self.labels)

    def _repr_html_(self) -> str:
        return self.html()

    def plot(self, ax: Any = None) -> tuple[Axes, ...]:
        """Draw deviations from orthogonality, as the source does.

        Above, the mean of DO for each pair of gradients with its standard deviation over the samples, signed: acute
        angles are above 0. Below, the mean of abs(DO) of the original and of the decoupled features.

        Parameters
        ----------
        ax : Axes, or sequence of three Axes, optional
            One takes the error bars alone; three take error bars and both maps; by default a figure is made.

        Returns
        -------
        tuple of Axes

        Raises
        ------
        MissingPackage
            Without Matplotlib, which is optional.
        InvalidInput
            If there is no sample to draw, or `ax` is something else.
        """
        return draw_orthogonality(self.original, self.decoupled, self.labels, ax)

    def plot_map(self, ax: Any = None, *, which: Which = "decoupled", measure: Measure = "degrees") -> Axes:
        """Draw one heat map of mean angles between gradients, and return its Axes.

        Parameters
        ----------
        ax : Axes, optional
        which : {"decoupled", "original", "cross"}
            Features decoupled, as declared, or decoupled ones (rows) against declared ones.
        measure : {"degrees", "cosine"}
            The mean of abs(90 degrees - angle), or that of abs(cos(angle)).

        Raises
        ------
        InvalidInput, MissingPackage
            As in `plot`.
        """
        check_choice("which", which, get_args(Which))
        return draw_map(getattr(self, which), self.short, ax, which=which, measure=measure)

    def plot_pairs(self, ax: Any = None) -> NDArray[Any]:
        """Draw the deviations of all samples, a panel for each pair: as declared below the diagonal, decoupled above.

        Parameters
        ----------
        ax : array of M x M Axes, optional

        Returns
        -------
        array of M x M Axes

        Raises
        ------
        InvalidInput, MissingPackage
            As in `plot`, and for more than 8 features: `select` takes some of them.
        """
        return draw_pair_plot(self.original, self.decoupled, self.short, ax)

    @property
    def _sets(self) -> tuple[Deviations, Deviations, Deviations]:
        return self.original, self.decoupled, self.cross

    @property
    def _heading(self) -> str:
        samples = f"{self.count} sample{'' if self.count == 1 else 's'}"
        left_out = f", {self.refused} refused" if self.refused else ""
        return f"deviation from orthogonality |DO| in degrees, mean ± standard deviation of {samples}{left_out}"


def _gradients(plan: Plan, rows: FloatArray, grid: tuple[int, ...]
               ) -> tuple[FloatArray, FloatArray, list[Outcome]]:
    """Gradients of some rows, declared and decoupled, up to positive factors, and what became of each row."""
    samples = rows.reshape(len(rows), *grid)
    gradients, told = plan.gradients(samples, on_refusal="return")
    decoupled = gradients.reshape(len(rows), len(plan.features), rows.shape[-1])
    outcomes = list(told)
    if not len(fine := _computed(outcomes)):
        return np.full_like(decoupled, np.nan), decoupled, outcomes
    directions = gradient_directions(plan.features).on(grid)
    original = np.full_like(decoupled, np.nan)
    original[fine], determined = directions(rows[fine])
    for kind, lost in (("", ~determined), ("decoupled ", _lost(plan, directions, samples[fine], decoupled[fine]))):
        for r, k in zip(*np.nonzero(lost), strict=True):
            if outcomes[fine[r]].ok:
                outcomes[fine[r]] = Outcome(False, "critical point", f"the {kind}gradient of {plan.features[int(k)]} "
                                            "is zero to rounding, or not finite, and has no direction; leave the "
                                            "sample out, or perturb it")
    return original, decoupled, outcomes


def _computed(outcomes: Sequence[Outcome]) -> NDArray[np.intp]:
    return np.array([i for i, outcome in enumerate(outcomes) if outcome.ok], dtype=np.intp)


def _lost(plan: Plan, directions: GradientDirections, samples: FloatArray, decoupled: FloatArray) -> NDArray[np.bool_]:
    """Where a decoupled gradient is what rounding leaves of a projection to zero, (R, M).

    It is the projection of the gradient at the normalized sample, carried back; so it is measured by that gradient, in
    units of the sample. Normalizing once more is left to the few rows that look suspicious.
    """
    lost = np.zeros(decoupled.shape[:2], dtype=np.bool_)
    n_samples = decoupled.shape[-1]
    rows = samples.reshape(-1, n_samples)
    with np.errstate(all="ignore"):
        lengths = _lengths(decoupled) * n_samples
        suspicious = ~(lengths > _SMALL * directions.sizes(rows)[0])
        for k, level in enumerate(starts(plan.features)):
            which = np.flatnonzero(suspicious[:, k])
            if len(which):
                normalized, _ = plan.normalize(samples[which], level, on_refusal="return")
                there = normalized.reshape(-1, n_samples)
                whole, uncertain = directions.sizes(there)
                noise = (n_samples * _EPS * whole + uncertain)[:, k] * there.std(axis=-1) / _spread(rows[which])
                lost[which, k] = ~(lengths[which, k] > noise)
    return lost


def _lengths(vectors: FloatArray) -> Any:
    size = np.abs(vectors).max(axis=-1)
    scaled = vectors / np.where(size > 0, size, 1)[..., None]
    return np.linalg.norm(scaled, axis=-1) * size


def _spread(rows: FloatArray) -> Any:
    size = np.abs(rows).max(axis=-1)
    return (rows / size[:, None]).std(axis=-1) * size


def _portions(rows: FloatArray) -> Iterator[slice]:
    step = max(1, _CHUNK // max(1, rows.shape[-1]))
    return (slice(i, min(i + step, len(rows))) for i in range(0, len(rows), step))


def _called(plan: Plan, names: Iterable[str] | None) -> tuple[str, ...]:
    called = tuple(map(str, plan.features.names if names is None else names))
    if len(called) != len(plan.features):
        raise InvalidInput(f"names of {len(plan.features)} features are expected, {len(called)} were given")
    return called
