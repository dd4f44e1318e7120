r"""Plans of averages whose levels have no closed form: a law as a sample of weighted nodes, along the narrow path.

With the nodes y_n of a quadrature and their weights w_n, the coordinates u_n = sqrt(w_n) y_n bring the inner product of
the law to that of samples, and the path of samples is that of the law:

.. math:: \mathrm{Mean}(\varphi) \to \sum_n w_n\,\varphi(y_n), \qquad
    \frac{\partial f}{\partial u_n} = \sqrt{w_n}\, v_f(y_n), \qquad
    \sum_n \frac{\partial f}{\partial u_n} \frac{\partial g}{\partial u_n} = \sum_n w_n\, v_f v_g(y_n) .

The answer is that of two sets of nodes that agree to 8 digits. Nodes end somewhere and the law may not: for unbounded
laws every field must grow like x at most, so that no path carries anything past infinity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray
from sympy import Dummy, Expr, Float, nan

from symdecouple.analysis.population.higher import agreed
from symdecouple.analysis.population.leaf import Leaf
from symdecouple.decoupling.plan import Plan
from symdecouple.errors import NoClosedForm, Outcome
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.sample import Sample
from symdecouple.numeric.features.expressions import Compiled, without_overflow
from symdecouple.numeric.features.features import CompiledFeatures
from symdecouple.numeric.paths.narrow_path import NarrowPath

__all__ = ["OverNodes", "decoupled_by_nodes"]

FloatArray = NDArray[np.float64]

_FAR = (30.0, 300.0)  # spreads at which the growth of a field is read: cosh does not overflow there


@dataclass(frozen=True, slots=True)
class _Average:
    """A step of compiled features: the average of a body over nodes."""

    symbol: Dummy
    body: Expr
    weights: FloatArray
    filter: None = None

    def of(self, found: Any, shape: tuple[int, ...], *_: Any) -> Any:
        return (np.broadcast_to(found, shape) * self.weights).sum(axis=-1, keepdims=True)


class OverNodes(Compiled):
    """Expressions of averages over nodes with weights, whose sum is 1."""

    def __init__(self, exprs: list[Expr], sample: Sample, weights: FloatArray) -> None:
        self._weights = weights
        super().__init__(exprs, sample)

    def _step(self, body: Expr, h: Any = None) -> Dummy:
        symbol = Dummy(f"step{len(self._steps)}", real=True)
        self._steps.append(_Average(symbol, body, self._weights))  # type: ignore[arg-type]
        return symbol


class _NodeFeatures(CompiledFeatures):
    """The features of a law at nodes, as functions of u = sqrt(w) y."""

    def __init__(self, features: FeatureSet, weights: FloatArray) -> None:
        super().__init__(features)
        self._weights, self._roots = weights, np.sqrt(weights)
        self._values = OverNodes([f.expr for f in features], features.sample, weights)

    def values(self, rows: FloatArray) -> FloatArray:
        with np.errstate(all="ignore"):
            return super().values(rows / self._roots)

    def gradients(self, rows: FloatArray, count: int | None = None) -> FloatArray:
        """N times the gradient by u, as `Features` has it."""
        found: FloatArray = rows.shape[-1] * self._roots * self.fields(rows, count)
        return found

    def fields(self, rows: FloatArray, count: int | None) -> FloatArray:
        with np.errstate(all="ignore"):
            return super().gradients(rows / self._roots, count)

    def _compiled(self, count: int) -> Compiled:
        if count not in self._gradients:
            fields = list(map(without_overflow, self._fields[:count]))
            self._gradients[count] = OverNodes(fields, self._sample, self._weights)
        return self._gradients[count]


def decoupled_by_nodes(plan: Plan, leaf: Leaf, first: int) -> tuple[list[Expr], list[Outcome]]:
    """Return the decoupled features from number `first` on; call it inside `at_digits`.

    Raises
    ------
    NoClosedForm
        If the plan asks for other paths than narrow ones.
    """
    if plan.choice.path not in ("auto", "narrow"):
        raise NoClosedForm('levels without a closed form are reached for laws by path="narrow" or "auto", the plan '
                           f'has path="{plan.choice.path}"')
    if (why := _grows(plan, leaf)) is not None:
        return [nan] * (len(plan.features) - first + 1), [why] * (len(plan.features) - first + 1)
    found: list[FloatArray] = []
    refused: dict[int, Outcome] = {}
    for last in (6, 7):
        values, why = _followed(plan, leaf, last)
        found.append(values)
        refused |= {} if why is None else {k: why for k in range(1, len(values) + 1) if np.isnan(values[k - 1])}
    told = [(nan, refused[k]) if k in refused else agreed([float(v[k - 1]) for v in found], f"feature {k}")
            for k in range(first, len(plan.features) + 1)]
    return [value for value, _ in told], [outcome for _, outcome in told]


def _followed(plan: Plan, leaf: Leaf, last: int) -> tuple[FloatArray, Outcome | None]:
    """The decoupled features by one set of nodes; nan above the level that is refused."""
    y, weights = _nodes(leaf, last)
    features, size = _NodeFeatures(plan.features, weights), len(plan.features)
    path, row = NarrowPath(features), (np.sqrt(weights) * y)[None]
    values = np.full(size, np.nan)
    for k in range(1, size + 1):
        values[k - 1] = features.values(row)[0, k - 1]
        if k == size or np.isnan(values[k - 1]):
            break
        held = np.array([[float(v.evalf(20)) for v in plan.reference[: k - 1] if v is not None]])
        target = plan.reference[k - 1]
        assert target is not None
        moved = path.follow(row, k, float(target.evalf(20)), held=held if k > 1 else None)
        if moved.refusals:
            outcome = moved.refusals[0]
            return values, Outcome(False, outcome.reason, f"level {k}: {outcome.detail}")
        row = moved.values
    return values, None


def _nodes(leaf: Leaf, last: int) -> tuple[FloatArray, FloatArray]:
    """Places in units of the law, and weights; those of no weight in float64 are left away."""
    law, floats = leaf.law, leaf.floats_to(last)
    counts = floats.weights > np.finfo(float).tiny
    place = float((law.loc + law.scale * Float(mpmath.nstr(leaf.centre, 20), 20)).evalf(20))
    return place + float(law.scale.evalf(20)) * floats.places[counts], floats.weights[counts]


def _grows(plan: Plan, leaf: Leaf) -> Outcome | None:
    """Refuse unbounded laws where a field grows faster than x."""
    y, weights = _nodes(leaf, 6)
    features = _NodeFeatures(plan.features, weights)
    low, high = map(mpmath.isinf, leaf.ends)
    place, unit = float(np.median(y)), float(leaf.quadrature.spread) * float(leaf.law.scale.evalf(20))
    for is_open, sign in ((low, -1), (high, 1)):
        if not is_open:
            continue
        for k in range(1, len(plan.features)):
            slopes = []
            for far in _FAR:
                rows = y.copy()
                rows[-1 if sign > 0 else 0] = place + sign * far * unit
                at = features.fields((np.sqrt(weights) * rows)[None], k)[0, k - 1]
                slopes.append(abs(at[-1 if sign > 0 else 0]) / (far * unit))
            if not slopes[1] <= 1.5 * slopes[0] + 1e-12:
                return Outcome(False, "unbounded", f"the field of feature {k} grows faster than x, and {leaf.law.name} "
                               f"is unbounded to the {'right' if sign > 0 else 'left'}: its tail may be carried past "
                               "infinity; cut the law off where that is meant")
    return None
