"""A flow in numbers: where it brings a sample vector, in float64 or with mpmath numbers, and its derivative."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

import mpmath
import numpy as np
from sympy import oo

from symdecouple.errors import NoClosedForm, Refused
from symdecouple.flows.chart import X
from symdecouple.flows.evaluation import T, compiled, mp_function
from symdecouple.flows.flow import Flow
from symdecouple.flows.steps import TIME
from symdecouple.numeric.features.expressions import Array, Compiled

_MOST_BITS = 2**16  # of an exponent: what a motion blows up by more is on no way to a target, and takes SymPy for ever

__all__ = ["Motion", "is_finite", "largest", "linear_solution", "unit"]


class Motion:
    """A flow applied to sample vectors; called with (x, t) it returns values and slopes, both (N,).

    None where the flow of a sample does not exist so long.
    """

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.is_affine = not flow.derivative.has(flow.sample)
        self._slope = Compiled([flow.derivative.xreplace({flow.time: TIME})], flow.sample, [TIME])
        names = {flow.sample: X, flow.time: T}
        self._formulas = flow.expr.xreplace(names), flow.derivative.xreplace(names)

    def __call__(self, x: Array, t: Any) -> tuple[Array, Array] | None:
        try:
            with np.errstate(all="ignore"):
                found = self._precise(x, t) if x.dtype == object else (self._solution(x, t), self._slope(x, t)[0])
        except (ZeroDivisionError, ValueError, Refused):
            return None
        return found if found is not None and all(_in_range(part, x) for part in found) else None

    @cached_property
    def _solution(self) -> Callable[[Array, Any], Array]:
        try:
            return compiled(self.flow.code())
        except NoClosedForm:  # functions that NumPy lacks
            return lambda x, t: np.array(self.flow(x, t, dps=17), dtype=np.float64)

    def _precise(self, x: Array, t: Any) -> tuple[Array, Array] | None:
        """Move mpmath numbers; poles between the ends show as complex numbers or as a change of order."""
        is_free = self.is_affine and self.flow.sample.interval == (-oo, oo)
        for end in () if is_free else (x.min(), x.max()):
            low, high = self.flow.domain(end)
            if not _mp(low) < t < _mp(high):
                return None
        values, slope = (_real([mp_function(formula)(v, t) for v in x]) for formula in self._formulas)
        if values is None or slope is None:
            return None
        pairs = list(itertools.pairwise(values[np.argsort(x, kind="stable")]))
        if not all(a <= b for a, b in pairs):
            slack = mpmath.sqrt(mpmath.eps) * largest(values)  # of values that come to one number
            if not all(a <= b + slack for a, b in pairs):
                return None
        return values, slope


def _real(values: Sequence[Any]) -> Array | None:
    """Drop imaginary parts that are rounding; None where one is more than that."""
    numbers = [mpmath.mpmathify(mpmath.nan if v is None else v) for v in values]  # None between pieces of a formula
    if any(abs(mpmath.im(v)) > mpmath.sqrt(mpmath.eps) * (1 + abs(v)) for v in numbers):
        return None
    return np.array([mpmath.re(v) for v in numbers], dtype=object)


def _in_range(values: Array, x: Array) -> bool:
    """True for finite numbers whose digits can be written down; mpmath's exponents grow without end otherwise."""
    return is_finite(largest(values)) and (values.dtype != object or _exponent(values) < _exponent(x) + _MOST_BITS)


def _exponent(values: Array) -> int:
    """The largest absolute exponent of mpmath numbers."""
    return max((abs(mpmath.mag(v)) for v in values.flat if v), default=0)


def _mp(end: Any) -> Any:
    return mpmath.mpmathify(float(end) if end.is_infinite else end.evalf(mpmath.mp.dps + 10))


def linear_solution(matrix: Array, right: Array) -> Array | None:
    """Solve a small linear system in numbers of either kind; None where its matrix is singular."""
    with suppress(ZeroDivisionError, np.linalg.LinAlgError):
        found = np.linalg.solve(matrix, right) if matrix.dtype != object else np.array(list(
            mpmath.lu_solve(mpmath.matrix(matrix.tolist()), mpmath.matrix(right.tolist()))), dtype=object)
        return found if all(map(is_finite, found)) else None
    return None


def unit(values: Array) -> Any:
    """Return the spacing of numbers at 1."""
    return mpmath.eps if values.dtype == object else float(np.finfo(np.float64).eps)


def largest(values: Array) -> Any:
    """Return the largest absolute value, NaN where there is one."""
    if values.dtype != object:
        return float(np.max(np.abs(values), initial=0.0))
    sizes = [abs(v) for v in values.flat]
    return next((s for s in sizes if mpmath.isnan(s)), max(sizes, default=mpmath.mpf(0)))


def is_finite(value: Any) -> bool:
    """True for a finite real number of either kind; the logarithm of a negative one is complex in mpmath."""
    return not isinstance(value, mpmath.mpc) and bool(mpmath.isfinite(value))
