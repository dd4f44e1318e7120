r"""Normalizers, generated from a set that is proved involutive: formulas, equations, domains, and code that runs alone.

With u_k the generators of the span, phi^k_t their flows and N_(k-1) the normalizer of the features before k, N_k is

* *explicit*: N_k(x) in closed form (mean: x - Mean(x); variance: standardization),
* *implicit*: N_(k-1)(phi^k_t(N_(k-1)(x))) with t the root of one equation G(t) = v_k, N_(k-1) explicit,
* *parallel*: phi^k_{t_k} o ... o phi^1_{t_1}(x) with k parameters and k equations, where N_(k-1) is not explicit or
  features form a `Group` (Algorithm 4).

Along the root t of the second kind

.. math::

    G(t) = f_k\bigl(N_{k-1}(\varphi^k_t(N_{k-1}(x)))\bigr), \qquad
    G'(t) = \rho\, c_k\, \mathrm{Mean}\bigl((u_k^\perp)^2\bigr), \qquad v_{f_k} = c_k u_k + \sum_{j<k} a_j u_j

u_k^\perp the part of u_k orthogonal to the generators before, rho > 0 because the spans of features 1..k-1 and 1..k
are both involutive. So G is strictly monotone wherever c_k keeps its sign and the generators are independent: proved.
That G reaches a value is proved for Moebius leaves only (span of 1, x, x^2, centred samples: Theorem C, by ties).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

import sympy as sp
from sympy import Expr, Symbol, latex, oo

from symdecouple.calculus.frobenius import check_frobenius
from symdecouple.errors import InvalidInput, NoClosedForm, UnsupportedExpression
from symdecouple.flows import domains as known
from symdecouple.flows.about_mean import about_mean
from symdecouple.flows.flow import Flow
from symdecouple.flows.generators import generators
from symdecouple.flows.leaf import where_reached
from symdecouple.flows.normalizer_source import recipe_of, source_of_normalizer
from symdecouple.flows.separable import flow
from symdecouple.flows.steps import TIME, Step, composed, make_steps
from symdecouple.language.canonical import canonical
from symdecouple.language.closed_forms import simplify
from symdecouple.language.feature import Feature
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.mean import Mean, exact
from symdecouple.shown import Card, Maths, Shown
from symdecouple.verdict import Certificate, Status, Verdict

__all__ = ["LARGEST", "SMALLEST", "Normalizer", "modified_feature", "normalizers"]

SMALLEST, LARGEST = Symbol("y_min", real=True), Symbol("y_max", real=True)


@dataclass(frozen=True, slots=True, repr=False)
class Normalizer(Shown):
    r"""N_k: moves a sample vector on its leaf to where features 1..k are at their values.

    Attributes
    ----------
    features, values : FeatureSet, tuple of Expr
        Features 1..k, and their values: numbers, or the symbols v1, v2, ...
    kind : str
        "explicit", "implicit" or "parallel".
    formula : Expr
        N_k(x) in the sample and its averages, with the `unknowns` free.
    equations : tuple of Expr
        Vanish at the wanted unknowns, one for each.
    unknowns : tuple of Symbol
        (), (t,) or (t1, ..., tk).
    bracket : pair of Expr, or str
        The times on which the flows of all samples exist: of y = N_(k-1)(x), in its smallest and largest number `y_min`
        and `y_max`; text where no formula is known; empty where there is no scalar root.
    trend : int
        1 or -1 where G is proved strictly increasing or decreasing (as long as the generators are independent at the
        samples), 0 where its monotonicity is not proved or there is no scalar root.
    skewness : Expr or None
        On a leaf of Moebius images of centred samples: the standardized third moment that is asked for; ties decide.
    """

    features: FeatureSet
    values: tuple[Expr, ...]
    kind: Literal["explicit", "implicit", "parallel"]
    formula: Expr
    equations: tuple[Expr, ...]
    unknowns: tuple[Symbol, ...]
    bracket: tuple[Expr, Expr] | str
    trend: int
    skewness: Expr | None
    steps: tuple[Step, ...] = field(repr=False)
    flows: tuple[Flow, ...] = field(repr=False)
    budget: float = field(default=30.0, repr=False, compare=False)

    def _card(self) -> Card:
        brought = list(zip(self.features, self.values, strict=True))
        lines = [("features", ", ".join(f"{f} = {v}" for f, v in brought)), ("N(x)", str(self.formula)),
                 *([("unknown", ", ".join(map(str, self.unknowns)))] if self.unknowns else []),
                 ("more", "normalizer.domain, .equations, .code(), .latex()")]
        rows = [(Maths(str(f), f.latex()), Maths(str(v), latex(v))) for f, v in brought]
        rows.append((Maths("N(x)", "N(x)"), Maths(str(self.formula), latex(self.formula))))
        return Card(f"Normalizer to level {self.level}, {self.kind}", lines, ("feature", "value"), rows)

    @property
    def level(self) -> int:
        """How many features it brings to their values."""
        return len(self.features)

    @property
    def equation(self) -> Expr | None:
        """What vanishes at the wanted t; a SymPy tuple for several unknowns; None where there is nothing to solve."""
        return sp.Tuple(*self.equations) if len(self.equations) > 1 else next(iter(self.equations), None)

    @property
    def derivative(self) -> Expr:
        """dN_k/dx at each sample with parameters and statistics held, as exact gradients need it (Theorem F)."""
        return self.formula.diff(self.features.sample)

    @property
    def verdict(self) -> Verdict:
        """The PROVED C2 verdict on features 1..k (cached)."""
        return _verdict(self.features, self.budget)

    @property
    def certificate(self) -> Certificate | None:
        """The certificate of the verdict, which `verify()` recomputes."""
        return self.verdict.certificate

    @property
    def domain(self) -> str:
        """Which sample vectors have this normalization; what is proved of that, and what is not."""
        low, high = self.features.sample.interval
        inside = "" if (low, high) == (-oo, oo) else f"; samples in ({low}, {high}), and flows that stay in it"
        return _DOMAINS[self.kind](self) + inside

    def code(self) -> str:
        """Return NumPy source text that runs alone: ``normalize(x)``, samples on the last axis.

        Where a sample vector has no normalization ``normalize`` raises ValueError and says why; one with NaN stays
        NaN. Accurate to float64 rounding, some 1e-14 away from poles. Mean, variance and skewness are searched for on
        the whole leaf, where the formula may end before it.
        """
        found = about_mean(self.features, self.values)
        n = self if found is None else normalizers(*found, budget=self.budget)[-1]
        return source_of_normalizer(recipe_of(n.features, n.values, n.steps, n.flows, n.kind, n.trend != 0),
                                    self.values[0] if found else None)

    def latex(self) -> str:
        r"""Return the normalizer as LaTeX, without the dollar signs."""
        k, x, y = self.level, latex(self.features.sample), Symbol("y", real=True)
        if self.kind == "explicit":
            return rf"N_{{{k}}}({x}) = {latex(self.formula)}"
        wanted = [rf"{latex(f.expr)}\Big|_{{N_{{{k}}}({x})}} = {latex(v)}" for f, v in
                  zip(self.features, self.values, strict=True)]
        flows = [latex(f.expr.xreplace({self.features.sample: y})) for f in self.flows]
        if self.kind == "parallel":
            chain = r" \circ ".join(rf"\varphi^{{{j}}}_{{t_{{{j}}}}}" for j in range(k, 0, -1))
            each = r",\ ".join(rf"\varphi^{{{j}}}_t(y) = {text}" for j, text in enumerate(flows, 1))
            times, all_wanted = ", ".join(f"t_{{{j}}}" for j in range(1, k + 1)), r",\ ".join(wanted)
            return rf"N_{{{k}}}({x}) = \left({chain}\right)({x}),\quad {each},\quad {times}:\ {all_wanted}"
        inner = rf"N_{{{k - 1}}}({x})" if k > 1 else x
        whole = rf"N_{{{k - 1}}}\left(\varphi_t\left({inner}\right)\right)" if k > 1 else rf"\varphi_t\left({x}\right)"
        span = "" if isinstance(self.bracket, str) else (
            rf",\quad t \in \left({latex(self.bracket[0])}, {latex(self.bracket[1])}\right),\ y = {inner}")
        return rf"N_{{{k}}}({x}) = {whole},\quad \varphi_t(y) = {flows[-1]},\quad t:\ {wanted[-1]}{span}"

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.latex()}$"


def normalizers(features: Any, values: Sequence[Any] | None = None, *, budget: float = 30.0) -> tuple[Normalizer, ...]:
    """Return the normalizers of a set that is proved involutive, one per level.

    Parameters
    ----------
    features : FeatureSet, or list of features and groups
    values : sequence of exact numbers, optional
        What the features are brought to; default: the symbols v1, v2, ...
    budget : float
        Seconds for each verdict.

    Returns
    -------
    tuple of Normalizer
        One for each feature or `Group` that ends a set of features 1..k that is proved involutive. Others are left out
        (sin x before cos x); `level` is k.

    Raises
    ------
    NoClosedForm
        If the set is refuted (with the failing pair) or undecided, or a field does not integrate (it is named).
    InvalidInput
        If parameters are not bound, or no sample takes a value.

    Examples
    --------
    >>> from symdecouple.language.sample import x
    >>> first, second, third = normalizers([Mean(x), Mean(x**2), Mean(x**3)], [0, 1, 0])
    >>> first.formula, second.formula
    (x - Mean(x), (x - Mean(x))/sqrt(-Mean(x)**2 + Mean(x**2)))
    >>> third.kind, third.bracket, third.trend
    ('implicit', (1/y_min, 1/y_max), 1)
    """
    features = _as_set(features)
    wanted = _as_values(features, values)
    verdict = _verdict(features, budget)
    if verdict.status is not Status.PROVED:
        raise NoClosedForm(_why_not(verdict, len(features)))
    flows = _flows(features)
    steps = _steps(features, flows, wanted)
    out = []
    for group in features.groups:
        k = group[-1] + 1
        if _is_proved(features, k, budget):
            out.append(_normalizer(features, wanted, steps, flows, k, len(group), budget))
    return tuple(out)


def modified_feature(features: Any, values: Sequence[Any] | None = None, k: int = 1) -> Expr:
    r"""Return the modified feature k, simplified: what is left of feature k when those before it are at their values.

    .. math:: \hat f_k(x) = f_k(N_{k-1}(x))

    Features and values are as in `normalizers`, k counts from 1; values of features from k on do not count.

    Raises
    ------
    NoClosedForm
        If N_(k-1) has no closed formula.

    Examples
    --------
    >>> from symdecouple.language.sample import x
    >>> [modified_feature([Mean(x), Mean(x**2)], [0, 1], k) for k in (1, 2)]
    [Mean(x), -Mean(x)**2 + Mean(x**2)]
    """
    features = _as_set(features)
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= len(features):
        raise InvalidInput(f"features are counted from 1 to {len(features)}, got {k!r}")
    before, sample = next(group[0] for group in features.groups if k - 1 in group), features.sample
    if before == 0:
        return canonical(features[k - 1].expr, sample)
    first = _first(features, before)
    last = normalizers(first, _as_values(features, values)[:before])[-1]
    if last.kind != "explicit" or last.level != before:
        raise NoClosedForm(f"the modified feature {k} has no closed form: N_{before} is {last.kind}, its parameter is "
                           "the root of an equation")
    return simplify(canonical(composed(features[k - 1].expr, last.formula, sample), sample))


# --- what goes in -------------------------------------------------------------------------------------------------


def _as_set(features: Any) -> FeatureSet:
    found: FeatureSet = features if isinstance(features, FeatureSet) else FeatureSet(features)
    if found.parameters:
        names = ", ".join(sorted(map(str, found.parameters)))
        raise InvalidInput(f"{names} must be bound to numbers first: features.bind({{...}})")
    if found.kind != "mean":
        raise NoClosedForm("functions of explicit coordinates have no flows in closed form here")
    return found


def _as_values(features: FeatureSet, values: Sequence[Any] | None) -> tuple[Expr, ...]:
    if values is None:
        return tuple(Symbol(f"v{k}", real=True) for k in range(1, len(features) + 1))
    found = tuple(exact(value, f"value {k}") for k, value in enumerate(values, 1))
    if len(found) != len(features) or not all(v.is_real and (v.is_number or v.is_Symbol) for v in found):
        raise InvalidInput(f"values are one real number for each of {len(features)} features, got "
                           f"{', '.join(map(str, found))}")
    return found


def _first(features: FeatureSet, k: int) -> FeatureSet:
    return FeatureSet(list(features)[:k])


@lru_cache(maxsize=256)
def _verdict(features: FeatureSet, budget: float) -> Verdict:
    return check_frobenius(features, budget=budget)


def _why_not(verdict: Verdict, k: int) -> str:
    if verdict.status is Status.REFUTED:
        i, j = verdict.failing_pair or (0, 0)
        return (f"features 1..{k} are refuted as involutive: the bracket of the gradients of features {i} and {j} "
                "leaves their span; take fewer features, or normalize along the narrow path")
    return (f"whether features 1..{k} are involutive is undecided ({verdict.reason}); give budget= more, or normalize "
            "along the narrow path")


def _flows(features: FeatureSet) -> tuple[Flow, ...]:
    """Return the flows of the generators; where there are none, say whether the mean, put first, would mend that."""
    try:
        return _integrated(features)
    except NoClosedForm as error:
        mean = Feature(Mean(features.sample))
        try:
            _integrated(FeatureSet([mean, *(f for f in features if f != mean)]))
        except NoClosedForm:
            raise error from None
        raise NoClosedForm(f"{error}; with {mean} before all others there are closed forms") from error


@lru_cache(maxsize=64)
def _integrated(features: FeatureSet) -> tuple[Flow, ...]:
    try:
        return tuple(flow(u, time=TIME, sample=features.sample) for u in generators(features).fields)
    except UnsupportedExpression as error:
        raise NoClosedForm(f"no flow in closed form: {error}") from error


def _steps(features: FeatureSet, flows: tuple[Flow, ...], values: tuple[Expr, ...]) -> tuple[Step, ...]:
    steps = make_steps(list(features), [f.expr for f in flows], list(values), features.sample)
    for k, (step, value) in enumerate(zip(steps, values, strict=True), 1):
        if step.time is not None and step.formula is None:
            raise InvalidInput(f"no sample is brought to {step.feature} = {value} (feature {k}): the flow parameter "
                               f"{step.time} has no value there, v = {value}")
    return tuple(steps)


# --- one level ----------------------------------------------------------------------------------------------------


def _normalizer(features: FeatureSet, values: tuple[Expr, ...], steps: tuple[Step, ...], flows: tuple[Flow, ...],
                k: int, size: int, budget: float) -> Normalizer:
    sample, first = features.sample, _first(features, k)
    values, steps, flows = values[:k], steps[:k], flows[:k]

    def made(kind: Any, formula: Expr, equations: Iterable[Expr] = (), unknowns: tuple[Symbol, ...] = (),
             bracket: tuple[Expr, Expr] | str = "", trend: int = 0, skewness: Expr | None = None) -> Normalizer:
        return Normalizer(first, values, kind, formula, tuple(equations), unknowns, bracket, trend, skewness, steps,
                          flows, budget)

    if (formula := steps[-1].formula) is not None:
        return made("explicit", formula)
    before = sample if k == 1 else steps[-2].formula
    if size == 1 and before is not None and _is_proved(features, k - 1, budget):
        moved = composed(before, composed(flows[-1].expr, before, sample), sample)
        equation = composed(features[k - 1].expr, moved, sample) - values[-1]
        fields = [f.field.expr for f in flows]
        trend = known.trend_of(first, fields, before)
        centred = trend and canonical(Mean(before), sample) == 0
        skewness = known.skewness_asked(first, values[-1], fields, before) if centred else None
        return made("implicit", moved, [equation], (TIME,), _bracket(flows[-1], before, features), trend, skewness)
    unknowns = tuple(Symbol(f"t{j}", real=True) for j in range(1, k + 1))
    moved = sample
    for part, t in zip(flows, unknowns, strict=True):
        moved = composed(part.expr.xreplace({TIME: t}), moved, sample)
    equations = (composed(f.expr, moved, sample) - v for f, v in zip(first, values, strict=True))
    return made("parallel", moved, equations, unknowns)


def _is_proved(features: FeatureSet, k: int, budget: float) -> bool:
    return k == 0 or _verdict(_first(features, k), budget).status is Status.PROVED


def _bracket(part: Flow, before: Expr, features: FeatureSet) -> tuple[Expr, Expr] | str:
    low, high = features.sample.interval
    signs = {"positive": True} if low >= 0 else {"negative": True} if high <= 0 else {}
    ends = [Symbol(s.name, real=True, **signs) for s in (SMALLEST, LARGEST)]
    centre = canonical(Mean(before), features.sample)
    text = f"the times at which the flow of dy/dt = {part.velocity} exists from the smallest and from the largest y"
    return part.times(ends[0], ends[1], centre if centre.is_number else None) or text


# --- domains ------------------------------------------------------------------------------------------------------


def _explicit_domain(made: Normalizer) -> str:
    found = known.conditions(made.formula)
    where = " with " + " and ".join(found) if found else ""
    branch = "; of two motions that bring a feature to its value, the one continuous with its present value"
    return f"every sample vector{where}{branch if any(step.takes_branch for step in made.steps) else ''}"


def _implicit_domain(made: Normalizer) -> str:
    k, last, value = made.level, made.features[made.level - 1], made.values[-1]
    span = ", ".join(str(f.field.expr) for f in made.flows)
    text = f"sample vectors that have a level {k - 1} and" if k > 1 else "sample vectors"
    text += f" on which {last} = {value} is attained in the bracket of t. "
    if made.trend:
        way = "increasing" if made.trend > 0 else "decreasing"
        text += (f"Proved: along t the feature is strictly {way} wherever the generators {span} are independent at the "
                 "samples, so that there is at most one t. ")
    else:
        text += ("Not proved: that the feature is monotone along t; of several roots the first one on the way from t = "
                 "0 is taken. ")
    if made.skewness is not None:
        return text + known.tie_rule(made.skewness)
    if known.spans_moebius([f.field.expr for f in made.flows], made.features.sample):
        return text + ("Ties decide only for samples centred at 0 and one standardized third moment (Theorem C); here "
                       "the bracket may end before a value that is attained elsewhere on the leaf")
    return text + "Not proved: which values are attained"


def _parallel_domain(made: Normalizer) -> str:
    return where_reached([f.field for f in made.flows], made.features.sample)


_DOMAINS = {"explicit": _explicit_domain, "implicit": _implicit_domain, "parallel": _parallel_domain}
