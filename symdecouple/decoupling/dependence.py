r"""Features whose gradients are combinations of those before them: nothing is left of them to decouple.

Where the gradients of features 1..k span that of feature j,

.. math:: v_j = \sum_{l \le k} c_l v_l

the projection off that span leaves 0: at level k the feature does not move along its own projected gradient, and
its decoupled version is constant on every leaf. Such a feature has no place in a plan.

Gradients at a few random samples, in float64, point out features that may be such; each of these is decided exactly
(C1), together with the few features that make it up. A set that is independent costs nothing but the samples: 45
filter moments a fifth of a second, for formulas that gradients need anyhow. What is not decided stays in the plan,
and so do more features than there are explicit coordinates, which are dependent by their number alone.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, get_args

import numpy as np
from sympy import Add, Symbol

from symdecouple.calculus.independence import check_independence
from symdecouple.decoupling.application import Application
from symdecouple.errors import InvalidInput
from symdecouple.language.feature import Feature
from symdecouple.language.feature_set import FeatureSet, in_groups
from symdecouple.language.filtered import Response
from symdecouple.language.filters import Filter
from symdecouple.numeric.features.expressions import Array
from symdecouple.numeric.samples.intake import check_choice
from symdecouple.verdict import Status

__all__ = ["Dependent", "OnDependence", "dependent_features", "find_dependent", "without"]

OnDependence = Literal["raise", "drop", "keep"]


BUDGET = 2.0  # seconds for all exact questions together
_SUSPECT = 1e-6  # distance of a unit gradient to the span of others; ill-conditioned ones are asked about in vain
_ROUNDING = 1e-13  # nearer than this at every sample, nothing of a feature is left in float64
_NOTHING = 1e-10  # a gradient that moves the feature by less over the whole sample may vanish identically
_SAMPLES = 3  # at all of which gradients must depend: at one they might by chance
_TRIES = 12  # samples, three of each scale: a domain may refuse most
_SEED = 20261  # any, but always the same


@dataclass(frozen=True, slots=True)
class Dependent:
    """A feature whose gradient is a combination of gradients before it; its index counts from 0, the reason from 1."""

    index: int
    feature: Feature
    reason: str

    def __str__(self) -> str:
        return f"feature {self.index + 1}, {self.feature}: {self.reason}"


def dependent_features(features: FeatureSet, application: Application, dependent: OnDependence
                       ) -> tuple[Dependent, ...]:
    """Return the features that a plan leaves out: none where they are kept, and they are refused where they are not."""
    check_choice("dependent", dependent, get_args(OnDependence))
    found = () if dependent == "keep" else tuple(find_dependent(features, application))
    if found and (dependent == "raise" or len(found) == len(features)):
        it = "it" if len(found) == 1 else "them"
        raise InvalidInput(f"{'; '.join(map(str, found))}. Once the others are at their references nothing is left of "
                           f'{it}: leave {it} out, which decouple(..., dependent="drop") does')
    return found


def find_dependent(features: FeatureSet, application: Application, budget: float = BUDGET) -> list[Dependent]:
    """Return the features that depend on those before them, as far as that is found within the budget in seconds.

    Black boxes, and features of filters that are known by a frequency response, are passed over.
    """
    columns = [j for j, f in enumerate(features) if f.black_box is None and not f.expr.atoms(Response)]
    samples = list(islice(_gradients(features, application, columns), _SAMPLES)) if columns else []
    end, found, kept = time.monotonic() + budget, list[Dependent](), list[int]()
    for place, j in enumerate(columns if samples else []):
        near = [_nearest(vectors, kept, place) for vectors in samples]
        distance = max(d for d, _ in near)
        if distance < _SUSPECT and (left := end - time.monotonic()) > 0:
            used = sorted({k for _, weights in near for k, w in zip(kept, weights, strict=True) if abs(w) > _SUSPECT})
            reason = _relation(features, [columns[k] for k in used], j, distance, left)
            if reason:
                found.append(Dependent(j, features[j], reason))
                continue
        kept.append(place)
    return found


def without(left_out: Sequence[Dependent], features: FeatureSet, values: tuple[Any, ...]
            ) -> tuple[FeatureSet, tuple[Any, ...]]:
    """Return the set without some features, and the values of the others; groups keep their other members."""
    gone = {d.index for d in left_out}
    return (in_groups([features[j] for j in group if j not in gone] for group in features.groups),
            tuple(value for j, value in enumerate(values) if j not in gone))


def _relation(features: FeatureSet, others: list[int], j: int, distance: float, budget: float) -> str:
    """Return how gradient j depends on some others, decided exactly; nothing where it does not, or is not decided."""
    verdict = check_independence(FeatureSet([*(features[k] for k in others), features[j]]), budget=budget)
    if verdict.status is Status.PROVED and distance < _ROUNDING:
        named = ", ".join(str(k + 1) for k in others)
        return (f"its gradient is a combination of those of features {named} but for rounding (1 part in "
                f"{1 / max(distance, 1e-17):.0e})")
    if verdict.status is not Status.REFUTED:
        return ""
    weights = getattr(verdict.certificate, "relation", None)
    if weights is None:  # more features than coordinates: no relation of these, and what is left is a number to know
        return ""
    made = Add(*(-w * Symbol(f"v{k + 1}") for k, w in zip(others, weights, strict=False)))
    return f"v{j + 1} = {made} for the gradients v" if made != 0 else "its gradient vanishes: it is constant"


def _nearest(vectors: Array, kept: list[int], j: int) -> tuple[float, Array]:
    """Return the distance of unit gradient j to the span of those kept, and its weights."""
    target, basis = vectors[j], vectors[kept]
    if not target.any() or not len(basis):
        return 1.0 if target.any() else _ROUNDING, np.zeros(len(basis))
    weights = np.linalg.lstsq(basis.T, target, rcond=None)[0]
    return float(np.linalg.norm(target - weights @ basis)), weights


def _gradients(features: FeatureSet, application: Application, columns: list[int]) -> Iterator[Array]:
    """Yield gradients of unit length at random samples, (M, N), those that are nothing but rounding as 0."""
    grid, rng = _grid(features, columns), np.random.default_rng(_SEED)
    applied = application.on(grid)
    for scale in (1.0, 0.5, 2.0, 0.25) * (_TRIES // 4):
        row = _row(features, math.prod(grid), rng, scale)
        gradients = applied.covectors(row, columns)
        with np.errstate(over="ignore"):
            sizes = np.linalg.norm(gradients, axis=1)
        if np.isfinite(sizes).all():
            vanish = sizes * np.linalg.norm(row) < _NOTHING
            yield np.where(vanish[:, None], 0.0, gradients / np.where(sizes == 0, 1, sizes)[:, None])


def _row(features: FeatureSet, size: int, rng: np.random.Generator, scale: float) -> Array:
    """A sample in the domain of the features; coordinates have signs, or at every other scale none."""
    normal, (low, high) = rng.standard_normal(size) * scale, map(float, features.sample.interval)
    if features.coordinates:
        return np.asarray(normal if scale >= 1 else np.abs(normal))
    if np.isinf(low) and np.isinf(high):
        return normal
    side = np.exp(normal)
    if np.isinf(low):
        return np.asarray(high - side)
    return np.asarray(low + (side if np.isinf(high) else (high - low) * side / (1 + side)))


def _grid(features: FeatureSet, columns: list[int]) -> tuple[int, ...]:
    """The shape of a sample on which its size alone does not make features dependent.

    On 5 x 5 samples the nine energies of 3 x 3 kernels span all symmetric circular operators, the mean among them.
    """
    if features.coordinates:
        return (len(features.coordinates),)
    axes = features.sample_ndim
    count, reach = math.ceil((2 * len(features) + 5) ** (1 / axes)), np.zeros(axes)
    for j in columns:
        lags = [np.abs(np.reshape(list(h.lags), (-1, axes))) for h in features[j].expr.atoms(Filter)]
        reach = np.maximum(reach, sum(each.max(axis=0, initial=0) for each in lags))  # of filters one after the other
    return tuple(max(count, 8 * int(n) + 3) for n in reach)
