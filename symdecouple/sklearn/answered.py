"""What the transformers share: options, rows in parts on several processes, and one report on all that is refused."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, get_args

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from symdecouple.decoupling.plan import Plan
from symdecouple.errors import InvalidInput, Outcome
from symdecouple.numeric.perturbing import Perturbation, as_perturbation
from symdecouple.numeric.samples.batch import NAN_INPUT, Answer, NanPolicy
from symdecouple.numeric.samples.intake import check_choice
from symdecouple.sklearn.checked import TAGS_ARE_OBJECTS, check_names_in, check_samples, check_values, tag

__all__ = ["Answers", "DecouplingTransformer", "denormalized", "features_of"]

Answers: TypeAlias = tuple[NDArray[Any], Sequence[Outcome]]

_ON_REFUSAL = "warn", "raise"
_OURS = "symdecouple", "sklearn", "joblib"


class DecouplingTransformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the transformers of this package; it has no parameters of its own."""

    nan_policy: NanPolicy
    on_refusal: str
    perturb: Any
    n_jobs: int | None
    n_features_in_: int
    plan_: Any

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the decoupled features, such as "mean", "orthokurtosis", "decoupled_5".

        Parameters
        ----------
        input_features : array_like of str, optional
            Checked against the columns of fit; the names do not depend on it.
        """
        check_is_fitted(self)
        check_names_in(self, input_features)
        names: NDArray[np.object_] = self.plan_.get_feature_names_out()
        return names

    @property
    def _allows_nan(self) -> bool:
        return self.nan_policy != "raise"

    def _check_options(self) -> Perturbation | None:
        """Check the parameters that all have; return the perturbation of refused samples."""
        check_choice("nan_policy", self.nan_policy, get_args(NanPolicy))
        check_choice("on_refusal", self.on_refusal, _ON_REFUSAL)
        is_whole = isinstance(self.n_jobs, int | np.integer) and not isinstance(self.n_jobs, bool)
        if self.n_jobs is not None and not (is_whole and self.n_jobs):
            raise InvalidInput(f"n_jobs={self.n_jobs!r} was given; None, or a whole number other than 0 is expected, "
                               "-1 for all cores")
        return as_perturbation(self.perturb)

    def _in_parts(self, compute: Callable[[NDArray[Any]], Answers], rows: NDArray[Any]) -> Answers:
        """Return the answers of `compute` to all rows, each process a part of them."""
        jobs = min(effective_n_jobs(self.n_jobs), len(rows))
        if jobs < 2:
            return compute(rows)
        found = Parallel(n_jobs=jobs)(delayed(compute)(part) for part in np.array_split(rows, jobs))
        return np.concatenate([values for values, _ in found]), [each for _, outcomes in found for each in outcomes]

    def _reported(self, name: str, found: Answers) -> NDArray[Any]:
        """Return the values; say once what was refused, what was perturbed, at the line of the caller."""
        values, outcomes = found
        answer = Answer(f"{type(self).__name__}.{name}", (len(outcomes),), frames=_frames())
        for i, outcome in enumerate(outcomes):
            if not outcome.ok:  # one of another process is equal, not the same
                answer.refusals[i] = NAN_INPUT if outcome == NAN_INPUT else outcome
            elif outcome.reason:
                answer.notes[i] = outcome
        result: NDArray[Any] = answer.deliver(values, self.on_refusal)  # type: ignore[arg-type]
        return result

    def _leaves(self, samples: Any, template: NDArray[Any]) -> NDArray[np.float64]:
        """Return the rows that something is taken back to, one for each or one for all; without any, the template."""
        if samples is None:
            return template[None]
        rows = check_samples(self, samples)
        if rows.shape[1] != self.n_features_in_:
            raise InvalidInput(f"samples of {rows.shape[1]} values were given; {self.n_features_in_} are expected, as "
                               "in the rows of fit")
        return rows.astype(np.float64)

    def _taken_back(self, plan: Plan, X: Any, leaves: NDArray[np.float64]) -> NDArray[Any]:
        """Return the samples that normalize to what the leaves do and have the features X."""
        values = check_values(self, X, len(plan.features))
        if len(leaves) not in (1, len(values)):
            raise InvalidInput(f"{len(leaves)} samples were given for {len(values)} rows of X; one for each is "
                               "expected, or one for all")
        found, outcomes = denormalized(plan, leaves, values)
        return self._reported("inverse_transform", (found.astype(values.dtype, copy=False), outcomes))

    def _more(self, tags: Any) -> Any:
        return tag(tags, allow_nan=self._allows_nan)

    if TAGS_ARE_OBJECTS:

        def __sklearn_tags__(self) -> Any:
            return self._more(super().__sklearn_tags__())

    else:

        def _more_tags(self) -> Any:
            return self._more({})


def features_of(samples: NDArray[Any], plan: Plan, nan_policy: NanPolicy) -> Answers:
    """Return the decoupled features of samples by a plan, those that are missing left out where that is asked for."""
    is_missing = np.isnan(samples) if samples.dtype.kind == "f" and nan_policy == "omit" else None
    if is_missing is not None and is_missing.any():
        samples = np.ma.masked_array(samples, is_missing)
    found: Answers = plan.transform(samples, on_refusal="return")
    return found


def denormalized(plan: Plan, samples: NDArray[np.float64], values: NDArray[Any]) -> Answers:
    """Return the samples that normalize to what `samples` do, one for each or one for all, with given features."""
    normal, before = plan.normalize(samples, on_refusal="return")
    if len(normal) < len(values):
        normal, before = np.repeat(normal, len(values), axis=0), before * len(values)
    found, after = plan.denormalize(normal, values.astype(np.float64), on_refusal="return")
    return found, [second if first.ok else first for first, second in zip(before, after, strict=True)]


def _frames() -> int:
    """How many frames there are from a warning, two below this, to the first line that is not of the libraries."""
    frame, count = sys._getframe(2), 3
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _OURS:
        frame, count = frame.f_back, count + 1
    return count
