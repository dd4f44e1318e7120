r"""The plan of a nested normalization: what is done at each level, and its application to sample vectors.

Level k brings features 1..k to their references along the leaf of the sample, x_k = N_k(x). The decoupled features are

.. math:: \hat f_1 = f_1, \qquad \hat f_{k+1}(x) = f_{k+1}(N_k(x))

and their gradients are exact: with N_k a flow of the span with its parameters held, of derivative D,

.. math:: \nabla \hat f_{k+1}(x) = D^T P_\perp \nabla f_{k+1}(N_k(x))

P_perp the projection off the span at the normalized sample (Theorem F). This module plans along closed forms only: a
level whose span has no generators free of the sample raises `NoClosedForm`, naming the feature that stopped it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

from symdecouple.calculus.frobenius import check_frobenius
from symdecouple.decoupling.levels import Orbit, Unreachable
from symdecouple.decoupling.reference import reference_values
from symdecouple.errors import InvalidInput, NoClosedForm, Outcome
from symdecouple.flows.generators import generators
from symdecouple.flows.normalizer import Step, make_steps
from symdecouple.flows.separable import flow
from symdecouple.language.feature import FeatureSet
from symdecouple.numeric.batch import OnRefusal
from symdecouple.numeric.compiled import Array, as_multiprecision
from symdecouple.numeric.vectors import Batch
from symdecouple.verdict import Status, Verdict

__all__ = ["Plan", "decouple"]

GUARD = 15
SETTLED = Outcome(ok=True)


def decouple(features: Any, reference: Any = "gaussian") -> Plan:
    """Return the plan that decouples each feature from those before it, along closed-form flows.

    Parameters
    ----------
    features : FeatureSet, or list of features
        In order: each is decoupled from all before it.
    reference : str, sequence, mapping, Reference or frozen scipy distribution
        As in `symdecouple.decoupling.reference.reference_values`.

    Returns
    -------
    Plan

    Raises
    ------
    InvalidInput
        If parameters are not bound, or references do not fit.

    Examples
    --------
    >>> from symdecouple.language.mean import Mean
    >>> from symdecouple.language.sample import x
    >>> plan = decouple([Mean(x), Mean(x**2), Mean(x**3), Mean(x**4)])
    >>> plan.transform([1.0, 2, 3, 5, 8, 13]).round(12).tolist()
    [5.333333333333, 16.888888888889, 0.812707974941, 1.718629571679]
    """
    features = features if isinstance(features, FeatureSet) else FeatureSet(features)
    if features.parameters:
        names = ", ".join(sorted(map(str, features.parameters)))
        raise InvalidInput(f"{names} must be bound to numbers before a plan: features.bind({{...}})")
    if features.kind != "mean":
        raise NoClosedForm("functions of explicit coordinates have no flows in closed form here")
    values = reference_values(features, reference)
    steps, orbit, stopped = _closed_levels(features, values)
    return Plan(features, values, steps, orbit, stopped)


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A nested normalization, level by level; made by `decouple`.

    Attributes
    ----------
    features : FeatureSet
    reference : tuple of Expr or None
        What each feature is normalized to.
    steps : tuple of Step
        One per feature that can be imposed along a closed-form flow.
    stopped : str
        Why there are no more steps; empty if there is one for every feature.
    """

    features: FeatureSet
    reference: tuple[Any, ...]
    steps: tuple[Step, ...]
    orbit: Orbit
    stopped: str

    def transform(self, samples: Any, *, axis: int = -1, dps: int | None = None,
                  on_refusal: OnRefusal = "warn") -> Any:
        """Return the decoupled features of sample vectors.

        Parameters
        ----------
        samples : array_like (..., N)
        axis : int
            The sample axis.
        dps : int, optional
            Decimal digits; mpmath numbers are computed and returned. Exact input stays exact on the way in.
        on_refusal : {"warn", "raise", "return"}
            Samples that have no normalization: NaN and one warning, `Refused`, or ``(values, outcomes)``.

        Returns
        -------
        array (..., M)
        """
        batch = Batch.of("transform", samples, axis, dps is not None)
        return self._each(batch, (len(self.features),), dps, on_refusal,
                          lambda x, refs, index: self._decoupled(x, refs, batch, index), self._levels)

    def normalize(self, samples: Any, level: int | None = None, *, axis: int = -1, dps: int | None = None,
                  on_refusal: OnRefusal = "warn") -> Any:
        """Return sample vectors with features 1..level at their references.

        The default level is M - 1 (or what comes before a last group of features); level 0 changes nothing.

        Parameters
        ----------
        samples, axis, dps, on_refusal
            As in `transform`.
        level : int, optional

        Returns
        -------
        array (..., N)
        """
        k = self._level(level)
        batch = Batch.of("normalize", samples, axis, dps is not None)
        return self._each(batch, None, dps, on_refusal, lambda x, refs, _: self.orbit.impose(x, k, refs).values, [k])

    def denormalize(self, samples: Any, values: Any, level: int | None = None, *, dps: int | None = None,
                    on_refusal: OnRefusal = "warn") -> Any:
        """Return the sample vectors that normalize to `samples` and whose decoupled features are `values`.

        Parameters
        ----------
        samples : array_like (..., N)
            Normalized at this level.
        values : array_like (..., M)
            Decoupled features, as `transform` gives them; the first `level` of them count.
        level, dps, on_refusal
            As in `normalize`.
        """
        k = self._level(level)
        wanted = np.asarray(values, dtype=object if dps else float)
        batch = Batch.of("denormalize", samples, -1, dps is not None)
        if wanted.shape[:-1] != batch.shape or wanted.shape[-1] < k:
            raise InvalidInput(f"values of shape {wanted.shape} were given for samples of shape "
                               f"{(*batch.shape, batch.rows.shape[-1])}; (..., M) with M >= {k} is expected")
        rows = wanted.reshape(-1, wanted.shape[-1])

        def unwind(x: Array, refs: Sequence[Any], index: int) -> Array:
            targets = list(as_multiprecision(rows[index])) if dps else list(rows[index])
            for start, end in reversed([(s, e) for s, e in self._spans if e <= k]):
                x = self.orbit.impose(x, end, [*refs[:start], *targets[start:end]]).values
            return x

        return self._each(batch, None, dps, on_refusal, unwind, [e for _, e in self._spans if e <= k])

    def gradients(self, samples: Any, *, axis: int = -1, dps: int | None = None,
                  on_refusal: OnRefusal = "warn") -> Any:
        """Return the gradients of the decoupled features, (..., M, N): exact, without differencing."""
        batch = Batch.of("gradients", samples, axis, dps is not None)
        return self._each(batch, (len(self.features), batch.rows.shape[-1]), dps, on_refusal,
                          lambda x, refs, _: self._gradients(x, refs), self._levels)

    def verdict(self, level: int) -> Verdict:
        """Return the C2 verdict on features 1..level, which the closed form rests on."""
        return check_frobenius(FeatureSet(list(self.features)[:level]))

    def explain(self) -> str:
        """Return what is done at each level and why, one paragraph a level."""
        lines = []
        for k, step in enumerate(self.steps, 1):
            how = f"x -> {step.formula}" if step.formula is not None else (
                f"flow {step.flow}, t = {step.time}" if step.time is not None else
                f"flow {step.flow}, t the root of {step.feature} = {self.reference[k - 1]}")
            lines.append(f"level {k}: {step.feature} = {self.reference[k - 1]}, {step.kind}: {how}")
        if self.stopped:
            lines.append(f"level {len(self.steps) + 1}: {self.stopped}")
        return "\n".join(lines)

    @property
    def _spans(self) -> list[tuple[int, int]]:
        """(first, last + 1) of each group of features that are normalized together; mostly single features."""
        return [(group[0], group[-1] + 1) for group in self.features.groups]

    @property
    def _levels(self) -> list[int]:
        """For each feature, the level at which it is evaluated: how many features come before its group."""
        return [start for start, end in self._spans for _ in range(start, end)]

    def _level(self, level: int | None) -> int:
        k = self._levels[-1] if level is None else level
        if isinstance(k, bool) or not isinstance(k, int) or not 0 <= k <= len(self.features):
            size = len(self.features)
            raise InvalidInput(f"level is 0 to {size} (or None for {self._levels[-1]}), got {level!r}")
        self._need(k)
        return k

    def _need(self, k: int) -> None:
        """Refuse a level that has no closed form, or whose span is not proved involutive."""
        if k > len(self.steps):
            raise NoClosedForm(f"level {k}: {self.stopped}")
        if k and self.reference[k - 1] is None:
            raise InvalidInput(f"feature {k} has no reference value; give {len(self.features)} of them")
        if k > 1 and (verdict := self.verdict(k)).status is not Status.PROVED:
            raise NoClosedForm(f"level {k}: the span of features 1..{k} is not proved involutive ({verdict.reason}), "
                               "so that no closed form brings all of them to their references")

    def _decoupled(self, x: Array, refs: Sequence[Any], batch: Batch, index: int) -> Array:
        """Return all decoupled features; those beyond a level that this sample has not are NaN, and it is refused."""
        out = np.full(len(self.features), np.nan, dtype=x.dtype)
        for j, level in enumerate(self._levels):
            try:
                out[j] = self.orbit.values(self.orbit.impose(x, level, refs).values)[j]
            except Unreachable as error:
                batch.refuse(index, error.outcome)
                break
        return out

    def _gradients(self, x: Array, refs: Sequence[Any]) -> Array:
        n = x.shape[-1]
        out = []
        for j, level in enumerate(self._levels):
            moved = self.orbit.impose(x, level, refs)
            basis: list[Array] = []
            for generator in self.orbit.generators(moved.values, level):
                part = _off(generator, basis)
                basis.append(part / np.sqrt((part * part).sum()))
            out.append(moved.slope * _off(self.orbit.gradients(moved.values)[j], basis) / n)
        return np.array(out, dtype=x.dtype)

    def _each(self, batch: Batch, shape: tuple[int, ...] | None, dps: int | None, on_refusal: OnRefusal,
              one: Callable[[Array, Sequence[Any], int], Array], levels: list[int]) -> Any:
        """Apply `one`, which uses these levels, to every sample vector; what it refuses is NaN, and told once."""
        for level in sorted(set(levels)):
            self._need(level)
        with mpmath.workdps((dps or 15) + GUARD):
            refs = [None if v is None else mpmath.mpmathify(v.evalf(mpmath.mp.dps)) for v in self.reference]
            given = refs if dps else [None if v is None else float(v) for v in refs]
            for index in batch.open_rows():
                row = as_multiprecision(batch.rows[index]) if dps else batch.rows[index]
                try:
                    batch.put(index, one(row, given, index))
                except Unreachable as error:
                    batch.refuse(index, error.outcome)
            result = batch.result(shape)
        if dps:
            with mpmath.workdps(dps):
                result = np.frompyfunc(lambda v: +v, 1, 1)(result)
        return batch.deliver(result, on_refusal)


def _off(vector: Array, basis: list[Array]) -> Array:
    """Return the part of a vector orthogonal to an orthonormal basis (projected twice: the first leaves rounding)."""
    for q in basis * 2:
        vector = vector - q * (q * vector).sum()
    return vector


def _closed_levels(features: FeatureSet, values: tuple[Any, ...]) -> tuple[tuple[Step, ...], Orbit, str]:
    """Find generators and flows for as many leading features as have them."""
    flows: list[Any] = []
    stopped = ""
    for k in range(1, len(features) + 1):
        try:
            field = generators(list(features)[:k]).fields[-1]
            flows.append(flow(field, sample=features.sample))
        except NoClosedForm as error:
            stopped = str(error)
            break
    count = len(flows)
    steps = make_steps(list(features)[:count], [f.expr for f in flows], list(values[:count]), features.sample)
    return tuple(steps), Orbit(features, steps, flows), stopped
