r"""The families of averages that are exact: one for every function phi, and the shape that is decoupled from it.

Every involutive set of averages is spanned by 1/phi', phi/phi', phi^2/phi' of one coordinate y = phi(x), or by the
first one or two of these (Theorem A). So phi makes the family:

.. math:: f_j = \mathrm{Mean}(m_j), \qquad m_j' = \phi^{j-1}/\phi', \quad j = 1, 2, 3

x makes the moments, e^x the averages of (e^-x, x, e^x), tan(x/2) the circular ones, log(x) those of x^2, x^2 log(x) and
x^2 log(x)^2. Exact beside the three is the orthokurtosis of phi(x) (Theorem K).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, overload

import mpmath
import numpy as np
import sympy as sp
from sympy import Expr, S, latex, oo

from symdecouple.errors import InvalidInput, NoClosedForm
from symdecouple.flows.coordinate import LineCoordinate, double_angles, poles_inside, slope_squared
from symdecouple.flows.normalizer import Normalizer, normalizers
from symdecouple.language.budget import Budget
from symdecouple.language.closed_forms import antiderivative, simplify
from symdecouple.language.failures import sympy_failures
from symdecouple.language.feature import Feature
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.mean import Mean, exact
from symdecouple.language.sample import Sample
from symdecouple.numeric.moments.gradients import standardized_gradients
from symdecouple.numeric.moments.skewness_root import orthokurtosis_rows
from symdecouple.numeric.samples.batch import Axis, FloatArray, NanPolicy, OnRefusal
from symdecouple.numeric.samples.kinds import Outcomes, Quiet, Signal, Values
from symdecouple.numeric.samples.mapped import EntryMap, reduce_mapped
from symdecouple.shown import Card, Maths, Shown

if TYPE_CHECKING:
    from scipy.stats.distributions import rv_frozen

__all__ = ["ExactTriple", "exact_triple"]

PATIENCE = 10.0  # seconds for the checks of a coordinate
_TRIED = [sp.Rational(k, 7) for k in (1, 3, 5, 9, 13, 20, 34, 55, 90, 150)]


@dataclass(frozen=True, slots=True, repr=False)
class ExactTriple(Shown):
    """An exact family of averages: its coordinate, and how many of the three fields it has.

    Attributes
    ----------
    coordinate : LineCoordinate
    """

    coordinate: LineCoordinate

    def _card(self) -> Card:
        fields = [Maths(str(field), latex(field)) for field in self.fields]
        lines = [("coordinate", f"phi = {self.phi}"), ("fields", ", ".join(map(str, fields))),
                 ("more", "triple.features, triple.law")]
        rows = [(str(k), field) for k, field in enumerate(fields, 1)]
        return Card(f"Exact family of dimension {self.dimension}", lines, ("", "field"), rows)

    @property
    def phi(self) -> Expr:
        """The coordinate, a function of the sample."""
        return self.coordinate.phi

    @property
    def sample(self) -> Sample:
        return self.coordinate.sample

    @property
    def dimension(self) -> int:
        """1, 2 or 3: the fields 1/phi', phi/phi', phi^2/phi' up to there."""
        return self.coordinate.dimension

    @property
    def fields(self) -> tuple[Expr, ...]:
        """1/phi', phi/phi', phi^2/phi', as many as the dimension: N times the gradients of the features."""
        return self.coordinate.fields

    @property
    def features(self) -> FeatureSet:
        """Averages with these fields, in an order in which the first one and two are involutive too.

        Numbers, and what earlier features have, are left out: Mean(x**2*log(x)), and not Mean(x**2*log(x)/2 - x**2/4).

        Raises
        ------
        NoClosedForm
            If a field has no known integral.
        """
        return _features(self.coordinate)

    @property
    def law(self) -> rv_frozen:
        """The law that references are taken from, `decouple(triple.features, reference=triple.law)`.

        On the line the standard normal one, on a half-line the log-normal one (sigma = 1), between two numbers the
        uniform one.
        """
        from scipy import stats

        low, high = self.sample.interval
        if low == -oo and high == oo:
            return stats.norm()
        if high == oo:
            return stats.lognorm(s=1, loc=float(low))
        if low == -oo:
            raise InvalidInput(f"no law is known for samples below {high}: give values, or take -{self.sample}")
        return stats.uniform(loc=float(low), scale=float(high - low))

    @property
    def condition(self) -> str:
        """When the orthokurtosis of phi(x) exists."""
        return ("at least three values are distinct, fewer than half of the samples are tied at the minimum, and fewer "
                "than half at the maximum; or two values occur equally often (Theorem C)"
                + (f"; no pole of {self.phi} lies between samples" if self.coordinate.poles else ""))

    def normalizer(self, values: Sequence[Any] | None = None) -> Normalizer:
        """Return the closed form that brings the features to values, a Moebius map of phi(x); see `flows.normalizers`.

        Examples
        --------
        >>> from symdecouple.language.sample import sample
        >>> triple = exact_triple(sp.log(sample("x", positive=True)))
        >>> triple.normalizer([1, 0, 1]).level
        3
        """
        return normalizers(self.features, values)[-1]

    # --- the fourth feature ---

    @overload
    def orthokurtosis(self, samples: Any, axis: Axis = ..., nan_policy: NanPolicy = ..., keepdims: bool = ..., *,
                      weights: Any = ..., on_refusal: Signal = ...) -> Values: ...

    @overload
    def orthokurtosis(self, samples: Any, axis: Axis = ..., nan_policy: NanPolicy = ..., keepdims: bool = ..., *,
                      weights: Any = ..., on_refusal: Quiet) -> tuple[Values, Outcomes]: ...

    def orthokurtosis(self, samples: Any, axis: Axis = 0, nan_policy: NanPolicy = "propagate",
                      keepdims: bool = False, *, weights: Any = None, on_refusal: OnRefusal = "warn") -> Any:
        r"""Return the orthokurtosis of phi(x), which is decoupled from all three averages of phi (Theorem K).

        Arguments and returns are those of `stats.orthokurtosis`. Refused besides are samples with a number at which phi
        is not defined, and those between which phi has a pole.

        Examples
        --------
        >>> from symdecouple.language.sample import x
        >>> from symdecouple.stats import orthokurtosis
        >>> values = [1, 2, 2.5, 4, 5]
        >>> bool(abs(exact_triple(sp.exp(x)).orthokurtosis(values) / orthokurtosis(np.exp(values)) - 1) < 1e-14)
        True
        """
        return reduce_mapped("orthokurtosis", samples, _mapping(self.coordinate), orthokurtosis_rows, axis=axis,
                             nan_policy=nan_policy, keepdims=keepdims, weights=weights, on_refusal=on_refusal)

    @property
    def fourth(self) -> Feature:
        """The orthokurtosis of phi(x) as a feature, with its gradient; NaN where it does not exist.

        Examples
        --------
        >>> from symdecouple.decoupling.plan import decouple
        >>> from symdecouple.language.sample import x
        >>> triple = exact_triple(sp.exp(x))
        >>> plan = decouple([*triple.features, triple.fourth])
        >>> values = [-1.0, -0.5, 0.2, 0.4, 1.0, 1.3]
        >>> bool(abs(plan.transform(values)[3] - triple.orthokurtosis(values)) < 1e-12)
        True
        """
        name = f"orthokurtosis({self.phi})"
        return Feature.from_callable(self._of_rows, self._gradient_of_rows, name, vectorized=True)

    def _of_rows(self, rows: FloatArray) -> FloatArray:
        return np.asarray(self.orthokurtosis(rows, axis=-1, on_refusal="return")[0])

    def _gradient_of_rows(self, rows: FloatArray) -> FloatArray:
        """The chain rule: phi'(x) times the gradient at phi(x)."""
        inner = _mapping(self.coordinate).floats(rows)
        slope = _function(self.phi.diff(self.sample), self.sample, "numpy")(rows)
        return np.asarray(slope * standardized_gradients(inner, 4, (1.0, 0.0, 1.0, 0.0, 3.0)).gradients[:, 3])


def exact_triple(phi: Any) -> ExactTriple:
    r"""Return the family of averages that phi makes: three involutive features, of which one and two are too.

    .. math:: f_j = \mathrm{Mean}(m_j), \qquad m_j' = \phi^{j-1}/\phi'

    Parameters
    ----------
    phi : Expr
        A function of the sample: strictly monotone where it is finite, on the interval of the sample. It may have
        simple poles, as tan(x/2) has.

    Returns
    -------
    ExactTriple

    Raises
    ------
    InvalidInput
        If phi has averages or parameters, is not real or not monotone on the interval, or has a pole at which it folds.

    Examples
    --------
    >>> from symdecouple.language.sample import sample, x
    >>> positive = sample("x", positive=True)
    >>> for phi in (x, sp.exp(x), sp.tan(x/2), sp.log(positive), positive**3):
    ...     print(exact_triple(phi).features)
    FeatureSet([Mean(x), Mean(x**2), Mean(x**3)])
    FeatureSet([Mean(exp(-x)), Mean(x), Mean(exp(x))])
    FeatureSet([Mean(x + sin(x)), Mean(cos(x)), Mean(x)])
    FeatureSet([Mean(x**2), Mean(x**2*log(x)), Mean(x**2*log(x)**2)])
    FeatureSet([Mean(1/x), Mean(x**2), Mean(x**5)])
    """
    expr = exact(phi, "exact_triple")
    samples = expr.atoms(Sample)
    if len(samples) != 1 or expr.has(Mean) or expr.free_symbols - samples:
        raise InvalidInput(f"a coordinate is a function of one sample and of nothing else, got {expr}; bind parameters "
                           "to numbers first")
    (sample,) = samples
    with Budget(PATIENCE).running("checking a coordinate"), sympy_failures("checking a coordinate"):
        return ExactTriple(LineCoordinate(expr, sample, 3, _checked(expr, sample)))


# --- is it a coordinate? ------------------------------------------------------------------------------------------


def _checked(phi: Expr, sample: Sample) -> tuple[Expr, ...]:
    """Return the poles; refuse what is no coordinate on the interval of the sample."""
    low, high = sample.interval
    slope = simplify(phi.diff(sample))
    where = "on the line" if (low, high) == (-oo, oo) else f"on ({low}, {high})"
    remedy = "give the samples an interval on which it is: sample('x', positive=True) or sample('x', interval=(0, 1))"
    signs: dict[int, Expr] = {}
    for point in _points(low, high):
        value, rate = (sp.N(e.subs(sample, point), 30) for e in (phi, slope))
        if value.has(sp.zoo, sp.nan, oo, -oo):
            continue
        if not (value.is_real and rate.is_real):
            raise InvalidInput(f"{phi} is not real at {sample} = {point}, and is no coordinate {where}; {remedy}")
        signs.setdefault(int(sp.sign(rate)), point)
    if set(signs) not in ({1}, {-1}):
        words = {1: "rises", -1: "falls", 0: "has the slope 0"}
        seen = ", ".join(f"{words[s]} at {point}" for s, point in signs.items())
        raise InvalidInput(f"{phi} is not monotone {where}: it {seen}; {remedy}")
    if not (slope.is_positive or slope.is_negative) and (zeros := poles_inside(slope, sample)):
        raise InvalidInput(f"{phi} is not monotone {where}: its slope vanishes at {zeros[0]}; {remedy}")
    poles = poles_inside(sp.together(1 / slope), sample) or ()
    for pole in poles:
        last = sp.limit(phi**2 / slope, sample, pole)
        if last == 0 or not last.is_finite:
            raise InvalidInput(f"{phi} has a pole at {pole} that is not simple, and folds there; {remedy}")
    return poles


def _points(low: Expr, high: Expr) -> list[Expr]:
    if low == -oo and high == oo:
        return [S.Zero, *_TRIED, *(-t for t in _TRIED)]
    if high == oo:
        return [low + t for t in _TRIED]
    if low == -oo:
        return [high - t for t in _TRIED]
    return [low + (high - low) * sp.Rational(k, 24) for k in range(1, 24)]


# --- features -----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _features(coordinate: LineCoordinate) -> FeatureSet:
    found: list[dict[Expr, Expr]] = []
    for n, velocity in enumerate(coordinate.fields):
        body = next((m for form in (velocity, sp.expand(velocity.rewrite(sp.exp)), sp.expand(velocity))
                     if (m := antiderivative(form, coordinate.sample)) is not None and not m.has(sp.RootSum)), None)
        body = _through_coordinate(coordinate, n) if body is None else body
        if body is None:
            raise NoClosedForm(f"the average number {n + 1} of {coordinate.phi} is that of the integral of {velocity}, "
                               "of which no closed form is known; the orthokurtosis of the coordinate needs none")
        terms = _terms(double_angles(sp.expand(body)))
        for earlier in found:
            lead = max(earlier, key=_length)
            if lead in terms:
                share = terms[lead] / earlier[lead]
                terms = {t: c for t in {**terms, **earlier}
                         if (c := simplify(terms.get(t, S.Zero) - share * earlier.get(t, S.Zero))) != 0}
        lead = max(terms, key=_length)
        scaled = {t: c / terms[lead] for t, c in terms.items()}
        turn = -1 if 2 * sum(bool(c.is_negative) for c in scaled.values()) > len(scaled) else 1
        found.append({t: turn * c for t, c in scaled.items()})
    return FeatureSet([Mean(sp.Add(*(c * t for t, c in terms.items()))) for terms in found])


def _through_coordinate(coordinate: LineCoordinate, power: int) -> Expr | None:
    """The integral of phi^power/phi' where phi'^2 = P(phi): that of y^power/P(y) at y = phi."""
    phi, sample, y = coordinate.phi, coordinate.sample, sp.Dummy("y", real=True)
    square = slope_squared(phi, sample, y)
    found = None if square is None else antiderivative(sp.cancel(y**power / square), y)
    if found is None:
        return None
    middle = sp.N(phi.subs(sample, _points(*sample.interval)[1]), 30)
    negative = [u for u in found.atoms(sp.log) if sp.N(u.args[0].subs(y, middle), 30) < 0]
    return found.xreplace({u: sp.log(-u.args[0]) for u in negative}).subs(y, phi)


def _terms(expr: Expr) -> dict[Expr, Expr]:
    parts = (term.as_coeff_Mul() for term in sp.Add.make_args(expr))
    return {term: factor for factor, term in parts if term != 1}


def _length(term: Expr) -> tuple[int, str]:
    return int(sp.count_ops(term)), str(term)


# --- numbers ------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _function(expr: Expr, sample: Sample, module: str) -> Any:
    if expr.has(sp.Integral):
        raise NoClosedForm(f"{expr} has no closed form, and no numbers are known of it")
    dummy = sp.Dummy("x", real=True)
    made = sp.lambdify(dummy, expr.xreplace({sample: dummy}), module)
    return made if module != "numpy" else lambda rows: np.broadcast_to(made(rows), np.shape(rows)).astype(np.float64)


@lru_cache(maxsize=64)
def _mapping(coordinate: LineCoordinate) -> EntryMap:
    phi, sample = coordinate.phi, coordinate.sample
    low, high = (float(end) for end in sample.interval)
    precise = _function(phi, sample, "mpmath")
    inside = f"is among the samples, which are declared in ({low:g}, {high:g}); leave it out, or give another interval"
    return EntryMap(_function(phi, sample, "numpy"), lambda value: mpmath.mpmathify(precise(value)), low, high, inside,
                   cells=_cells(coordinate))


def _cells(coordinate: LineCoordinate) -> Any:
    """Return a function that counts the poles below numbers; None where there are no poles."""
    if not coordinate.poles:
        return None
    period = sp.periodicity(coordinate.phi, coordinate.sample)
    ends = sorted(float(pole) for pole in coordinate.poles)
    if period is None or period == 0:
        return lambda values: np.searchsorted(ends, values)
    first, length = ends[0], float(period)
    return lambda values: np.floor((values - first) / length)
