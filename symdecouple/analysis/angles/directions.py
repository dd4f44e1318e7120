r"""The directions of the gradients of declared features at sample vectors, and how well they are determined.

A direction is evaluated where it is best evaluated. If the derivative of f along the shift, D_1 f, is a number, then
v_f(x + b) = v_f(x); if D_x f is a number, or p f with a number p, then v_f(a x) is a power of a times v_f(x). So the
gradient of a standardized moment is taken on the centred sample in units of its range: offsets and units cost no
digits.

Near a critical point of f the gradient is a difference of nearly equal terms. It is evaluated again where each number
of the sample is changed by rounding; what is not larger than the change has no direction.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sympy import Expr

from symdecouple.analysis.angles.deviations import unit
from symdecouple.calculus.gradient import gradient
from symdecouple.errors import BudgetExceeded, UnsupportedExpression
from symdecouple.language.black_box import BlackBox
from symdecouple.language.budget import Budget
from symdecouple.language.canonical import close
from symdecouple.language.feature import Feature
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.gate import cancel, expand, together
from symdecouple.language.mean import Mean
from symdecouple.language.sample import Sample
from symdecouple.numeric.features.black_box import Oracle
from symdecouple.numeric.features.coordinates import compiled_feature
from symdecouple.numeric.features.expressions import Compiled
from symdecouple.numeric.samples.batch import FloatArray

__all__ = ["GradientDirections", "gradient_directions"]

INVARIANCE = 2.0  # seconds for one feature; without an answer in time its directions are computed like any others

BoolArray: TypeAlias = NDArray[np.bool_]
Field: TypeAlias = Callable[[FloatArray], list[Any]]


NUDGE = 2.0**-50  # relative: four units in the last place
UNDETERMINED = 32  # changes by rounding that a gradient must exceed: a direction of less than two digits is none


class GradientDirections:
    """Gradients of features up to a positive factor, compiled once.

    Parameters
    ----------
    features : FeatureSet
        Of averages or of coordinates, with all parameters bound, or black boxes.

    Attributes
    ----------
    invariances : tuple of (bool, bool)
        For each feature, whether its gradient keeps its direction under shifts, and under changes of the unit.
    """

    def __init__(self, features: FeatureSet) -> None:
        made = [_declared(f, features.sample) if f.black_box is None else _called(f.black_box) for f in features]
        self._compiled = [field for field, _ in made]
        self.invariances = tuple(invariances for _, invariances in made)

    def on(self, grid: tuple[int, ...]) -> GradientDirections:
        """Return the same for samples on a grid, as filters of several dimensions need it."""
        other = copy.copy(self)
        other._compiled = [field.on(grid) if isinstance(field, Compiled) else field for field in self._compiled]
        return other

    def __call__(self, rows: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Evaluate at sample vectors.

        Parameters
        ----------
        rows : array (R, N)
            Samples on a grid in C order.

        Returns
        -------
        fields : array (R, M, N)
            Positive multiples of the gradients.
        determined : array (R, M)
            Where they are finite and not the rounding error of zero.
        """
        fields, changes = self._evaluated(rows, True)
        return fields, np.linalg.norm(unit(fields), axis=-1) > UNDETERMINED * changes

    def sizes(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the lengths of N grad f, and the parts of them that rounding of the sample makes uncertain, (R, M)."""
        fields, changes = self._evaluated(rows, False)
        lengths = np.linalg.norm(fields, axis=-1)
        return lengths, UNDETERMINED * lengths * np.nan_to_num(changes)

    def _evaluated(self, rows: FloatArray, in_units: bool) -> tuple[FloatArray, FloatArray]:
        """Return fields, and the relative change of each by rounding of the sample."""
        fields = np.empty((len(rows), len(self._compiled), rows.shape[-1]))
        changes = np.empty(fields.shape[:2])
        nudges = 1 + NUDGE * np.random.default_rng(0).choice([-1.0, 1.0], rows.shape[-1])
        with np.errstate(all="ignore"):
            for j, (compiled, (shift, scale)) in enumerate(zip(self._compiled, self.invariances, strict=True)):
                seen = _moved(rows, shift, scale and in_units)
                fields[:, j] = compiled(seen)[0]
                change = compiled(seen * nudges)[0] - fields[:, j]
                changes[:, j] = np.linalg.norm(change, axis=-1) / np.linalg.norm(fields[:, j], axis=-1)
        return fields, changes


@lru_cache(maxsize=16)
def gradient_directions(features: FeatureSet) -> GradientDirections:
    """Return the directions of a feature set, compiled when they are first asked for.

    Examples
    --------
    >>> from symdecouple.families.moments import raw_moments, standardized_moments
    >>> gradient_directions(standardized_moments(3)).invariances
    ((True, True), (True, True), (True, True))
    >>> gradient_directions(raw_moments(3)).invariances
    ((True, True), (False, True), (False, True))
    """
    return GradientDirections(features)


def _declared(feature: Feature, sample: Sample) -> tuple[Field, tuple[bool, bool]]:
    if feature.coordinates:
        return compiled_feature(feature)[1], (False, False)
    field = gradient(feature).in_sample(sample).expr
    return Compiled([field], sample), _invariances(feature, field, sample)


def _called(box: BlackBox) -> tuple[Field, tuple[bool, bool]]:
    """A gradient by calls, of which nothing is known."""
    oracle = Oracle(box)
    return lambda rows: [rows.shape[-1] * oracle.gradients(rows)[0]], (False, False)


def _invariances(feature: Feature, field: Expr, sample: Sample) -> tuple[bool, bool]:
    try:
        with Budget(INVARIANCE).running("looking for invariances"):
            value = close(feature.expr, sample)
            along_shift, along_scale = (close(Mean(u * field), sample) for u in (1, sample))
            return _is_number(along_shift), _is_number(along_scale) or _is_number(along_scale / value)
    except (UnsupportedExpression, BudgetExceeded):
        return False, False


def _is_number(expr: Expr) -> bool:
    """True if the expression is proved to be constant; False where no proof is found."""
    numerator, denominator = together(expr).as_numer_denom()
    return bool(cancel(expand(numerator) / denominator).is_number)


def _moved(rows: FloatArray, shift: bool, scale: bool) -> FloatArray:
    """Centre rows if `shift`, and bring them to the range 1 if `scale`, by a power of two."""
    exponent = _exponents(rows)
    moved: FloatArray = np.ldexp(rows, -exponent)
    if shift:
        moved = moved - moved.mean(axis=-1, keepdims=True)
        moved = moved - moved.mean(axis=-1, keepdims=True)  # the first pass rounds in units of the offset
    found: FloatArray = np.ldexp(moved, -_exponents(moved) if scale else exponent)
    return found


def _exponents(rows: FloatArray) -> Any:
    return np.frexp(np.abs(rows).max(axis=-1, keepdims=True, initial=0.0))[1]
