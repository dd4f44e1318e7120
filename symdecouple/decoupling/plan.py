r"""The plan of a nested normalization: what is done at each level, and its application to sample vectors.

Level k brings features 1..k to their references along the leaf of the sample, x_k = N_k(x). The decoupled features are

.. math:: \hat f_1 = f_1, \qquad \hat f_{k+1}(x) = f_{k+1}(N_k(x))

and their gradients are exact: through a closed form, with D the derivative of the motion, flow parameters held,

.. math:: \nabla \hat f_{k+1}(x) = D^T P_\perp \nabla f_{k+1}(N_k(x))

P_perp the projection off the span at the normalized sample (Theorem F); along the narrow path by the discrete adjoint
of its steps, in many digits by the adjoint equation.
"""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray
from sympy import Expr

from symdecouple.decoupling.application import Application
from symdecouple.decoupling.attainable.ranges import Attainable, attainable
from symdecouple.decoupling.attainable.reference import check_attainable
from symdecouple.decoupling.choice import Choice, PathName
from symdecouple.decoupling.colour_channels import Colour
from symdecouple.decoupling.denormalizing import denormalizer
from symdecouple.decoupling.dependence import Dependent, OnDependence, dependent_features, without
from symdecouple.decoupling.inner_order import inner_order, reordered
from symdecouple.decoupling.matching import Matching
from symdecouple.decoupling.progress import Progress, reported
from symdecouple.decoupling.reference import reference_values
from symdecouple.decoupling.report import Report, report_of
from symdecouple.decoupling.running import GUARD, batch_of, leaves_out_masked
from symdecouple.decoupling.transfer import Match, transfer
from symdecouple.decoupling.transferred import Transferred
from symdecouple.decoupling.verdicts.closures import filled_with_values
from symdecouple.errors import InvalidInput, Outcome
from symdecouple.language.feature import Feature
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.pickled import as_written, read_back
from symdecouple.language.precision import at_digits
from symdecouple.language.sample import x
from symdecouple.numeric.perturbing import Perturbation, PerturbationKind, as_perturbation
from symdecouple.numeric.samples.batch import NanPolicy, OnRefusal
from symdecouple.numeric.samples.vectors import SampleAxis, rounding
from symdecouple.tables.labelled import unlabelled

__all__ = ["Plan", "decouple"]


def decouple(features: Any, reference: Any = "gaussian", *, path: PathName | Literal["closure"] = "auto",
             budget: float = 30.0, perturb: Perturbation | PerturbationKind | None = None,
             dependent: OnDependence = "raise", progress: Progress | None = None) -> Plan:
    """Return the plan that decouples each feature from those before it.

    Parameters
    ----------
    features : FeatureSet, or list of features
        As objects or as text, in order: each is decoupled from all before it. Features of a `Group` are normalized
        together, and not decoupled from each other.
    reference : str, sequence, mapping, Reference or frozen scipy distribution
        As in `symdecouple.decoupling.reference.reference_values`.
    path : {"auto", "broad", "relaxed", "parallel", "narrow", "closure"}
        How a level is reached: closed forms where features 1..k are proved involutive and flows are known, else the
        narrow path ("auto"); the flows of the modified features, where these are proved involutive ("broad", the strict
        broad path); those of the original features, one scalar root a level ("relaxed"); their concatenation with one
        vector root a level ("parallel", Algorithm 4); the projected gradients ("narrow", Algorithm 3). "closure": where
        leading features fail C2 and their closure is an exact family, they become one group with the averages that it
        lacks (`Plan.added`), so that the features after it are decoupled from them themselves (Theorem H); then "auto".
    budget : float
        Seconds for each verdict. Nothing is decided before it is needed.
    perturb : Perturbation or {"ramp", "spectral", "ramp and spectral"}, optional
        Tried once more with refused samples; their quantisation hides it. Outcomes tell, and a `PerturbedWarning`.
    dependent : {"raise", "drop", "keep"}
        Features whose gradients are combinations of those before them, of which nothing is left once these are at their
        references, are refused with the relation; "drop" leaves them out, and the plan has fewer columns (`left_out`
        and `explain()` tell); "keep" keeps them, as where C1 is not decided in two seconds.
    progress : callable or True, optional
        Called with the steps done and to do: references, dependence, ways; True shows a bar.

    Returns
    -------
    Plan

    Raises
    ------
    InvalidInput
        If parameters are not bound, references do not fit or cannot hold together, or a feature depends on others.
    NoClosedForm
        If a path was named that needs a closed form, and there is none at all; with "closure", if the closure is
        everything (proved: only constants are decoupled from the features themselves), or not known.

    Examples
    --------
    >>> from symdecouple.language.mean import Mean
    >>> from symdecouple.language.sample import x
    >>> plan = decouple([Mean(x), Mean(x**2), Mean(x**3), Mean(x**4)])
    >>> plan.transform([1.0, 2, 3, 5, 8, 13]).round(12).tolist()
    [5.333333333333, 16.888888888889, 0.812707974941, 1.718629571679]
    >>> print(decouple([Mean(x), Mean(x**2), Mean((x - 1)**2)], dependent="drop").left_out[0])
    feature 3, Mean((x - 1)**2): v3 = -2*v1 + v2 for the gradients v
    """
    features = features if isinstance(features, FeatureSet) else FeatureSet(features)
    if features.parameters:
        raise InvalidInput(", ".join(sorted(map(str, features.parameters))) +
                           " must be bound to numbers before a plan: features.bind({...})")
    with reported(progress, "decouple", "steps") as telling:
        tell = telling or (lambda *_: None)
        features, added, values = filled_with_values(features, reference, budget) if path == "closure" else (
            features, (), reference_values(features, reference))
        tell(1, 3)
        if left_out := dependent_features(features, Application(features), dependent):
            features, values = without(left_out, features, values)
        tell(2, 3)
        plan = plan_of(features, values, "auto" if path == "closure" else path, budget, as_perturbation(perturb),
                       left_out, added)
        tell(3, 3)
    return plan


def _unpickled(features: FeatureSet, values: tuple[Any, ...], *rest: Any) -> Plan:
    return plan_of(features, tuple(read_back(*v) if isinstance(v, tuple) else v for v in values), *rest)


def plan_of(features: FeatureSet, values: tuple[Expr | None, ...], path: PathName, budget: float,
            perturbation: Perturbation | None, left_out: tuple[Dependent, ...], added: tuple[Feature, ...]) -> Plan:
    check_attainable(features, values)
    order = inner_order(features)
    choice = Choice(reordered(features, order), tuple(values[j] for j in order), path, budget)
    return Plan(features, values, choice, Application(features), order, perturbation, left_out, added)


class Plan(Matching):
    """A nested normalization, level by level; made by `decouple`.

    Attributes
    ----------
    features : FeatureSet
    reference : tuple of Expr or None
        What each feature is normalized to.
    choice : Choice
        Which way each level takes; its features are in the order in which those of a group come to their references.
    perturbation : Perturbation or None
        What refused samples are tried with once more.
    left_out : tuple of Dependent
        Features without a column, with `decouple(dependent="drop")`.
    added : tuple of Feature
        What fills up the closure of the features, with `decouple(path="closure")`; they have columns and references.
    """

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:  # what it was made of: no compiled functions
        values = tuple(v if v is None else as_written(v, x, None) or v for v in self.reference)
        return _unpickled, (self.features, values, self.path, self.choice.budget, self.perturbation, self.left_out,
                           self.added)

    # --- numbers ------------------------------------------------------------------------------------------------

    @leaves_out_masked
    def transform(self, samples: Any, *, axis: SampleAxis = "last", dps: int | None = None,
                  nan_policy: NanPolicy = "propagate", weights: Any = None, on_refusal: OnRefusal = "warn",
                  progress: Progress | None = None, checkpoint: str | PathLike[str] | None = None,
                  groups: Any = None, dim: Any = None) -> NDArray[Any]:
        """Return the decoupled features of sample vectors.

        Parameters
        ----------
        samples : array_like (..., N), or ``(..., *grid)`` where filters have several dimensions; Series or DataFrame
            The rows of a DataFrame are samples unless ``axis=0`` says that its columns are; results keep its labels,
            and columns have the `names` of the features. Masked entries are left out where features are averages; with
            filters their samples are refused.
        axis : int, tuple of int or None, optional
            The sample axes: all of them make one sample, and None is the whole array. Default the last, or as many as
            the filters have.
        dps : int, optional
            Decimal digits; mpmath numbers are computed and returned, as a `Precise` array that knows its residuals and
            errors. Exact input stays exact on the way in.
        nan_policy : {"propagate", "omit", "raise"}
            For NaN in the input, as in `stats`: NaN in the result; leave out, as masked entries; or `InvalidInput`.
        weights : array_like, optional
            How often each entry counts, as in `stats`: of the shape of the sample axes, or broadcast against `samples`.
            Moments take any weights in `transform`, `normalize` and `gradients`, unless an interval was declared;
            other features that are averages of the sample, and other methods, take counts: whole numbers, or multiples
            of one. With filters: `UnsupportedExpression`.
        on_refusal : {"warn", "raise", "return"}
            Samples that have no normalization: NaN and one warning, `Refused`, or ``(values, outcomes)``. Features of
            levels that a sample has are kept.
        progress : callable or True, optional
            Called with the samples done and those to do, every 0.3 seconds or so; True shows a bar. An interruption in
            between (Ctrl-C) loses the call, not the plan.
        checkpoint : path, optional
            A file that keeps the portions that are done. The same call takes them from there and goes on; the file of
            another plan or of other samples is refused. Not with `dps`.
        groups : array_like, Series or str, optional
            A label for each entry: those with one label are one sample, of whatever length. As in `stats.skewness`.
        dim : str or sequence of str, optional
            Of an object of xarray: the dimensions that form one sample, in place of `axis`. Arrays of dask, and objects
            of xarray that hold them, are answered lazily, blocks of rows at a time.

        Returns
        -------
        array (..., M)
        """
        batch = batch_of(self.choice, "transform", samples, axis, dps)
        return self._run(batch, (self._application.size,), dps, on_refusal, lambda levels, rows, refs, _: (
            self._application.on(batch.grid).decoupled(levels, rows, refs)), None, progress, checkpoint=checkpoint)

    @leaves_out_masked
    def normalize(self, samples: Any, level: int | None = None, *, axis: SampleAxis = "last", dps: int | None = None,
                  nan_policy: NanPolicy = "propagate", weights: Any = None, on_refusal: OnRefusal = "warn",
                  progress: Progress | None = None, groups: Any = None, dim: Any = None) -> NDArray[Any]:
        """Return sample vectors with features 1..level at their references.

        The default level is M - 1 (or what comes before a last group of features); level 0 changes nothing. A narrow
        path goes in smaller steps than `transform` needs: samples are known to a few roundings, times what the path
        makes of these.

        Parameters
        ----------
        samples, axis, dps, nan_policy, weights, on_refusal, progress, groups, dim
            As in `transform`.
        level : int, optional

        Returns
        -------
        array (..., N)
            NaN where entries are left out, or have the weight 0; without weights, masked where the samples are.
        """
        k = self.choice.level(level)
        batch = batch_of(self.choice, "normalize", samples, axis, dps, k > 0, k)
        return self._run(batch, None, dps, on_refusal, lambda levels, rows, refs, _: (
            next(levels.at(rows, [k], refs, is_fine=True))), k, progress)

    @leaves_out_masked
    def denormalize(self, samples: Any, values: Any, level: int | None = None, *, axis: SampleAxis = "last",
                    dps: int | None = None, nan_policy: NanPolicy = "propagate", weights: Any = None,
                    on_refusal: OnRefusal = "warn", progress: Progress | None = None, groups: Any = None
                    ) -> NDArray[Any]:
        """Return the sample vectors that normalize to `samples` and whose decoupled features are `values`.

        Parameters
        ----------
        samples : array_like (..., N)
            Normalized at this level; those that are not are refused.
        values : array_like (..., M)
            Decoupled features, as `transform` gives them, by label where both have labels; the first `level` of them
            count.
        level : int, optional
            By default as many as there are values. Where that is all of them, the samples may be at the level before
            the last, as `normalize` gives them, whatever their last feature is.
        axis, dps, nan_policy, weights, on_refusal, progress, groups
            As in `normalize`.
        """
        batch = batch_of(self.choice, "denormalize", samples, axis, dps, centred=False)
        k, compute = denormalizer(self, batch, values, level, dps, rounding(samples, dps))
        return self._run(batch, None, dps, on_refusal, compute, k, progress)

    @leaves_out_masked
    def gradients(self, samples: Any, *, axis: SampleAxis = "last", dps: int | None = None,
                  nan_policy: NanPolicy = "propagate", weights: Any = None, on_refusal: OnRefusal = "warn",
                  progress: Progress | None = None, groups: Any = None, dim: Any = None) -> NDArray[Any]:
        """Return the gradients of the decoupled features, (..., M, N): exact, without differencing but of black boxes.

        Parameters
        ----------
        samples, axis, dps, nan_policy, weights, on_refusal, progress, groups, dim
            As in `transform`. With `dps` there are no gradients of black boxes.
        """
        batch = batch_of(self.choice, "gradients", samples, axis, dps)
        shape = self._application.size, *batch.grid
        return self._run(batch, shape, dps, on_refusal, lambda levels, rows, refs, _: (
            self._application.on(batch.grid).gradients(levels, rows, refs)), None, progress)

    def report(self, sample: Any, level: int | None = None, *, dps: int = 30) -> Report:
        """Return what a normalization imposed and what it reached, in float64 and in many digits.

        Parameters
        ----------
        sample : array_like (N,)
        level : int, optional
            As in `normalize`.
        dps : int

        Examples
        --------
        >>> from symdecouple.families.moments import raw_moments
        >>> report = decouple(raw_moments(4)).report([1, 2, 3, 5, 8, 13])
        >>> [max(column) < bound for column, bound in zip(zip(*(r.residuals() for r in report.rows)), (1e-15, 1e-30))]
        [True, True]
        """
        k, row = self.choice.level(level), list(sample) if isinstance(sample, Iterable) else []
        if not row or any(np.ndim(v) != self.features.sample_ndim - 1 for v in row):
            raise InvalidInput(f"a report is about one sample vector or grid, {self.features.sample_ndim}-d; pass one")
        floats, (first,) = self.normalize([row], k, on_refusal="return")
        precise, (second,) = self.normalize([row], k, dps=dps, on_refusal="return")
        names, applied = self.features.names[:k], self._application.on(np.shape(floats)[1:])
        with at_digits(dps + GUARD):
            return report_of(dps, names, self.reference, lambda end: applied.own(end[None], k)[0], (floats, first),
                             (precise, second))

    def attainable(self, samples: Any = None, *, n_samples: Any = None, axis: SampleAxis = "last") -> Attainable:
        """Return the interval that each decoupled feature can be in, the features before it at their references.

        Parameters
        ----------
        samples, axis
            As in `transform`: the intervals are those on the leaf of each sample, of moments by its ties (Theorems C
            and J), of energies by its frequencies (Theorem E). Other features are followed along their paths both ways,
            which takes about a hundred paths a feature; their ends are known to three digits.
        n_samples : int, or tuple of int for filters of several dimensions
            Instead of samples: the intervals over all samples of N values, of moments and energies.

        Returns
        -------
        Attainable

        Examples
        --------
        >>> from symdecouple.families.moments import raw_moments
        >>> print(decouple(raw_moments(4)).attainable([0, 1, 2, 4, 5, 9, 9, 9]))
        attainable on the leaf of this sample
           1  mean           (-inf, inf)               is 4.875  reference 0
           2  variance       (0, inf)                  is 12.3594  reference 1
           3  skewness       (-2.26779, 0.516398)      is 0.0347917  reference 0
           4  orthokurtosis  (1, 1.77143)              is 1.43025  reference 3 not attainable
        """
        return attainable(self, samples, n_samples, axis)

    @overload
    def transfer(self, source: Any, target: Any, *, axis: SampleAxis = ..., channel_axis: int | None = ...,
                 colour: Colour = ..., match: Match = ..., on_refusal: Literal["warn", "raise"] = ...,
                 progress: Progress | None = ...) -> Transferred: ...

    @overload
    def transfer(self, source: Any, target: Any, *, axis: SampleAxis = ..., channel_axis: int | None = ...,
                 colour: Colour = ..., match: Match = ..., on_refusal: Literal["return"],
                 progress: Progress | None = ...) -> tuple[Transferred, tuple[Outcome, ...]]: ...

    def transfer(self, source: Any, target: Any, *, axis: SampleAxis = "last", channel_axis: int | None = None,
                 colour: Colour = "channels", match: Match = "decoupled", on_refusal: OnRefusal = "warn",
                 progress: Progress | None = None) -> Any:
        """Return a `Transferred`: the source with the decoupled features of the target, or with ``match="own"`` with
        those that the target has itself; see `decoupling.transfer`."""
        return transfer(self, unlabelled(source), unlabelled(target), axis=axis, channel_axis=channel_axis,
                        colour=colour, match=match, on_refusal=on_refusal, progress=progress)
