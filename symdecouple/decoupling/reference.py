r"""Reference values: what each feature is normalized to.

By default a feature's value for independent standard normal samples, in the limit of many: every average becomes an
expectation,

.. math:: \mathrm{Mean}(\varphi) \to \mathrm{E}\,\varphi(Z) = \int \varphi(z)\, e^{-z^2/2}\, dz / \sqrt{2\pi}

exact for polynomials, exponentials and sines, by SymPy's integration for algebraic functions where that succeeds, by
quadrature to 50 digits elsewhere. Any other law, given numbers, names or a reference sample work as well.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from math import comb, isfinite
from typing import Any

import mpmath
import numpy as np
from sympy import Add, Expr, Float, I, Mul, S, exp, expand, im, pi, re, sqrt

from symdecouple.decoupling.expectations import (
    at_point,
    gaussian_moment,
    polynomial_expectation,
    white_expectation,
)
from symdecouple.decoupling.sample_reference import DIGITS, Averages, as_function, expected
from symdecouple.errors import BudgetExceeded, InvalidInput, UnsupportedExpression
from symdecouple.language.black_box import BlackBox
from symdecouple.language.canonical import canonical, decompose
from symdecouple.language.closed_forms import gaussian_integral
from symdecouple.language.feature import Feature
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.filters import Filtered
from symdecouple.language.mean import exact
from symdecouple.language.precision import at_digits
from symdecouple.language.sample import Sample
from symdecouple.numeric.features.black_box import Oracle
from symdecouple.numeric.features.expressions import Array, Compiled
from symdecouple.shown import Card, Shown

__all__ = ["Reference", "reference_values"]

_SHOWN = 6  # numbers of a sample
_LINE = (-40, -8, 0, 8, 40)  # all of the line to 300 digits, in standard deviations


@dataclass(frozen=True, slots=True, repr=False)
class Reference(Shown):
    """A sample whose features are the reference.

    Examples
    --------
    >>> from symdecouple import Mean, x
    >>> features = FeatureSet([Mean(x), Mean(x**2)])
    >>> reference_values(features, Reference.of([-1, 0, 1]))
    (0, 2/3)
    """

    sample: tuple[Expr, ...]
    grid: tuple[int, ...]

    def _card(self) -> Card:
        shown = ", ".join(map(str, self.sample[:_SHOWN])) + ", ..." * (len(self.sample) > _SHOWN)
        size = " x ".join(map(str, self.grid))
        return Card(f"Reference of a sample of {size} numbers", [("sample", shown)], ("numbers", "of the sample"),
                    [(size, shown)])

    @classmethod
    def of(cls, sample: Any) -> Reference:
        """Take the features' values at this sample vector or image.

        Averages of polynomials are exact, and so are others for a sample of at most 64 different numbers; they have 50
        digits for a sample of more. Features with filters are computed in float64.
        """
        given = np.array(list(sample), dtype=object)
        try:
            values = tuple(map(lru_cache(None, typed=True)(_number), given.ravel()))  # grey values of an image are few
        except TypeError:  # not hashable
            values = tuple(map(_number, given.ravel()))
        if len(values) < 2:
            raise InvalidInput(f"a reference sample has at least 2 numbers, got {len(values)}")
        return cls(values, given.shape)


def reference_values(features: FeatureSet, reference: Any = "gaussian") -> tuple[Expr | None, ...]:
    """Return the reference value of every feature.

    Parameters
    ----------
    features : FeatureSet
    reference : str, sequence, mapping, Reference or frozen scipy distribution
        "gaussian" (or "white"): independent N(0, 1) samples; M values, or M - 1 (the last needs none, or None); a
        mapping from features (or their text) to values; `Reference.of` a sample; a law with ``pdf`` and ``support``.
        The expectation of a black box is not known: it takes a number, or its value at `Reference.of` a sample.

    Returns
    -------
    tuple of Expr or None
        None for a last feature without a value.

    Raises
    ------
    InvalidInput
        If the values do not fit the features in number or name, or are not finite real numbers; if a black box before
        the last feature has none.

    Examples
    --------
    >>> from symdecouple import Mean, kurtosis, variance, x
    >>> reference_values(FeatureSet([Mean(x), variance(), kurtosis()]))
    (0, 1, 3)
    """
    if isinstance(reference, str):
        if reference not in ("gaussian", "white"):
            raise InvalidInput(f"reference {reference!r} is not known: 'gaussian' (or 'white'), values, a mapping, "
                               "Reference.of(sample) or a frozen scipy distribution")
        return _each(features, gaussian, gaussian_moment)
    if isinstance(reference, Reference):
        return _at(features, reference)
    if hasattr(reference, "pdf") and hasattr(reference, "support"):
        return _each(features, _law(reference), lambda k: _moment(reference, k, f"x**{k}"))
    if isinstance(reference, Mapping):
        return _by_name(features, reference)
    return _given(features, reference)


def _each(features: FeatureSet, expectation: Callable[[Expr, Sample], Expr], moment: Callable[[int], Expr]
          ) -> tuple[Expr | None, ...]:
    """Return the expectation of every feature, which a black box lacks and as the last feature does not need."""
    for k, feature in enumerate(tuple(features)[:-1], 1):
        if feature.black_box is not None:
            raise InvalidInput(f"the expectation of {feature}, feature {k}, is not known, as it is a black box: give "
                               f"numbers, reference=[...], {len(features)} of them or {len(features) - 1}")
    return tuple(None if f.black_box is not None else _computed(f, polynomial_expectation(f, moment) if f.coordinates
                 else expected(f.expr, expectation)) for f in features)


def _at(features: FeatureSet, reference: Reference) -> tuple[Expr, ...]:
    averages, row = Averages(reference.sample), cache(lambda: np.array([list(map(float, reference.sample))]))
    out = []
    for feature in features:
        if feature.black_box is not None:
            value = _asked(feature.black_box, row())
        elif feature.coordinates:
            value = at_point(feature, reference.sample)
        elif feature.expr.has(Filtered):
            found, = Compiled([feature.expr], feature.sample).on(reference.grid)(row())
            value = _number(found.item())
        else:
            value = averages.value(feature.expr)
        out.append(_computed(feature, value))
    return tuple(out)


def _asked(box: BlackBox, row: Array) -> Expr:
    oracle = Oracle(box)
    values = oracle.values(row)
    for outcome in oracle.refusals(row, values).values():
        raise InvalidInput(f"the reference value of a black box: {outcome.detail}")
    return _number(float(values[0]))


def _computed(feature: Feature, value: Expr) -> Expr:
    if not value.is_number:
        raise InvalidInput(f"the reference value of {feature} is {value}: bind its parameters first, "
                           "features.bind({...})")
    if not (value.is_real and value.is_finite):
        raise InvalidInput(f"the reference value of {feature} would be {value}; give a finite real number")
    return value


def gaussian(body: Expr, sample: Sample) -> Expr:
    """Return the expectation of a function of a standard normal number, or of filtered white noise."""
    if body.has(Filtered):
        return white_expectation(body, sample, gaussian)
    try:
        terms = decompose(body, sample)
    except BudgetExceeded:  # too long for one basis: the function as it is
        return _integrated(body, sample)
    return Add(*(c * _gaussian_basis(psi, sample) for psi, c in terms.items()))


def _gaussian_basis(psi: Expr, sample: Sample) -> Expr:
    """Return E psi(Z): closed for x^k e^(r x) and x^k times a wave (r imaginary), else integrated."""
    power, rate, part = 0, S.Zero, re
    for factor in Mul.make_args(psi):
        base, exponent = factor.as_base_exp()
        if base == sample and exponent.is_Integer and exponent >= 0:
            power += int(exponent)
        elif isinstance(factor, exp) and not (factor.args[0] / sample).has(sample):
            rate += factor.args[0] / sample
        elif factor.func.__name__ in ("cos", "sin") and not (factor.args[0] / sample).has(sample) and rate.is_real:
            rate += I * factor.args[0] / sample
            part = re if factor.func.__name__ == "cos" else im
        elif factor.has(sample):
            return _integrated(psi, sample)
    value = _shifted_moment(power, rate) * exp(rate**2 / 2)
    return part(expand(value, complex=True)) if rate.has(I) else value


def _shifted_moment(power: int, rate: Expr) -> Expr:
    """Return E (Z + r)^k = sum_j C(k, j) r^(k-j) (j-1)!! over even j."""
    return Add(*(comb(power, j) * rate ** (power - j) * gaussian_moment(j) for j in range(0, power + 1, 2)))


def _integrated(psi: Expr, sample: Sample) -> Expr:
    """Return E psi(Z) by SymPy for algebraic functions, by quadrature for others."""
    integrand = psi * exp(-(sample**2) / 2) / sqrt(2 * pi)
    function = as_function(integrand, sample, "mpmath")
    _check_integrable(lambda v: abs(mpmath.mpf(function(v))), psi)
    if (value := gaussian_integral(psi, sample)) is not None:
        return value
    with at_digits(DIGITS):
        value, error = mpmath.quad(function, _LINE, error=True)
        if not error <= mpmath.mpf(10) ** -20 * (1 + abs(value)):
            raise InvalidInput(f"the reference value of {psi} was computed to {mpmath.nstr(error, 2)} only; give it as "
                               "a number")
        return Float(str(value), DIGITS - 10)


def _check_integrable(size: Callable[[Any], Any], psi: Expr) -> None:
    """Refuse functions that are not real, have poles, or grow faster than the normal density falls."""
    with at_digits(15):
        try:
            value, error = mpmath.quad(size, _LINE, error=True)
            is_fine = error < value / 1000 and all(size(end) < 1e-30 * (1 + value) for end in (_LINE[0], _LINE[-1]))
            failure = "its integral diverges"
        except TypeError:  # a complex number
            is_fine, failure = False, "it is not real for every real sample"
        except (ValueError, ZeroDivisionError) as error:
            is_fine, failure = False, str(error)
    if not is_fine:
        raise InvalidInput(f"the reference value of {psi} could not be computed ({failure}); give it as a number")


def _law(law: Any) -> Callable[[Expr, Sample], Expr]:
    """Expectation under a frozen scipy distribution: its own moments for powers, else quadrature."""

    def expectation(body: Expr, sample: Sample) -> Expr:
        if body.has(Filtered):
            raise UnsupportedExpression(f"the expectation of {body} under a law is known for white Gaussian noise "
                                        'only; reference="white", or give numbers')
        return Add(*(c * _law_basis(law, psi, sample) for psi, c in decompose(body, sample).items()))

    return expectation


def _law_basis(law: Any, psi: Expr, sample: Sample) -> Expr:
    if psi == 1:
        return S.One
    base, exponent = psi.as_base_exp()
    if base == sample and exponent.is_Integer and exponent > 0:
        return _moment(law, int(exponent), psi)
    value, error = _quad(law, as_function(psi, sample, "numpy"))
    size, size_error = _quad(law, as_function(abs(psi), sample, "numpy"))
    return _finite(value if error + size_error < 1e-7 * (1 + size) else float("nan"), psi)


def _moment(law: Any, order: int, power: Any) -> Expr:
    return _finite(float(law.moment(order)), power) if order else S.One


def _finite(value: float, what: Any) -> Expr:
    if not isfinite(value):
        raise InvalidInput(f"the expectation of {what} under the given law is not finite; give a number")
    return Float(value)


def _quad(law: Any, function: Callable[[Any], Any]) -> tuple[float, float]:
    from scipy.integrate import quad

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # divergence shows in the error
        value, error = quad(lambda v: function(v) * law.pdf(v), *law.support(), limit=500)
    return float(value), abs(float(error)) if isfinite(value) else float("inf")


def _by_name(features: FeatureSet, mapping: Mapping[Any, Any]) -> tuple[Expr | None, ...]:
    boxes = [(k, f) for k, f in enumerate(features) if f.black_box is not None]
    known = {canonical(f.expr, features.sample): k for k, f in enumerate(features) if f.black_box is None}
    values: list[Expr | None] = [None] * len(features)
    for key, value in mapping.items():
        named = [n for n, f in boxes if key == f or key == str(f)] or [
            n for n, f in enumerate(features) if f.is_named and key == f.name]
        if len(named) > 1:
            raise InvalidInput(f"reference for {key}: {len(named)} black boxes have this name; give the feature itself")
        k = named[0] if named else known.get(_canonical(key, features.sample))
        if k is None:
            names = ", ".join(features.names)
            raise InvalidInput(f"reference for {key}: no such feature; the features are {names}")
        if values[k] is not None:
            raise InvalidInput(f"the mapping gives two reference values for {features[k]}")
        values[k] = _number(value)
    missing = [k + 1 for k, v in enumerate(values[:-1]) if v is None]
    if missing:
        raise InvalidInput(f"the mapping gives no reference value for features {missing}; only the last needs none")
    return tuple(values)


def _canonical(key: Any, sample: Sample) -> Expr:
    from symdecouple.language.text import parse

    named = parse(key, sample=sample) if isinstance(key, str) else key
    return canonical(getattr(named, "expr", named), sample)


def _given(features: FeatureSet, reference: Any) -> tuple[Expr | None, ...]:
    try:
        reference = list(reference)
        if len(reference) == len(features) and reference[-1] is None:
            reference.pop()
        for k, _ in (pair for pair in enumerate(reference, 1) if pair[1] is None):
            raise InvalidInput(f"feature {k} has no reference value but None; only the last needs none")
        values: list[Expr | None] = [_number(v) for v in reference]
    except TypeError as error:
        raise InvalidInput(f"reference is 'gaussian', {len(features)} values, a mapping, a law or Reference.of(sample),"
                           f" not {reference!r}") from error
    if len(values) not in (len(features), len(features) - 1):
        raise InvalidInput(f"{len(features)} features take {len(features)} reference values (or {len(features) - 1}: "
                           f"the last needs none), got {len(values)}")
    return tuple([*values, None][: len(features)])


def _number(value: Any) -> Expr:
    is_scalar = hasattr(value, "item") and getattr(value, "ndim", 1) == 0  # of NumPy
    number = exact(value.item() if is_scalar else value, "reference")
    if not (number.is_number and number.is_real and number.is_finite):
        raise InvalidInput(f"a reference value is a finite real number, got {value!r}")
    return number
