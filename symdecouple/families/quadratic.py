r"""Second-order features of a signal: energies of filter outputs, autocorrelations, and their recognition.

A feature is *quadratic* if it is a quadratic form of the signal that circular convolutions make,

.. math:: f(x) = c + \frac1{N^2}\sum_\xi w(\xi)\, |X(\xi)|^2

with real weights w: the energy of h has w = ``|H|^2``, the autocorrelation at lag k has w = cos(2 pi k xi / N), the
product of two outputs Re(conj(H) G), the second moment 1, the variance 1 but 0 at frequency zero. All such forms
commute.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sympy import Add, Dummy, Expr, Poly, S, expand
from sympy.polys.polyerrors import PolynomialError

from symdecouple.errors import InvalidInput
from symdecouple.families.bank import FilterBank
from symdecouple.families.linear_forms import LinearForm, response_at, split_forms
from symdecouple.language.feature import Feature
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.filtered import Filtered
from symdecouple.language.filters import shift
from symdecouple.language.mean import Mean
from symdecouple.language.sample import Sample, x as generic

__all__ = ["QuadraticForms", "autocorrelation", "recognize_quadratic", "second_order_moments"]

FloatArray = NDArray[np.float64]
_FEW_TAPS = 64  # more of them are transformed
_CHUNK = 2**16  # frequencies at a time
_MEAN = Dummy("m", real=True)


def second_order_moments(bank: FilterBank | Iterable[Any], sample: Sample = generic) -> FeatureSet:
    """Return the energies Mean(h(x)^2) of the bands of a bank, in their order.

    Examples
    --------
    >>> second_order_moments(FilterBank([[1, 1, 1], [-1, 2, -1]]))
    FeatureSet([Mean(taps((1, 1, 1), 1)(x)**2), Mean(taps((-1, 2, -1), 1)(x)**2)])
    """
    bank = bank if isinstance(bank, FilterBank) else FilterBank(bank)
    return FeatureSet([Mean(h(sample) ** 2) for h in bank], names=bank.names)


def autocorrelation(lags: Iterable[int | tuple[int, ...]], sample: Sample = generic) -> FeatureSet:
    """Return the circular autocorrelations Mean(x shift(k)(x)) at some lags, whole numbers or tuples of them.

    Examples
    --------
    >>> autocorrelation([0, 1])
    FeatureSet([Mean(x**2), Mean(x*shift(1)(x))])
    """
    if not isinstance(lags, Iterable):
        raise InvalidInput(f"autocorrelation takes a list of lags, got {lags!r}; write autocorrelation([{lags}]) for "
                           f"this lag, or autocorrelation(range({lags})) for those below it")
    wanted = list(lags)
    if not wanted:
        raise InvalidInput("autocorrelation takes one lag or more")
    names = ["lag_" + "_".join(map(str, k if isinstance(k, tuple) else (k,))) for k in wanted]
    return FeatureSet([Feature(Mean(sample * shift(k)(sample)), name=name)
                       for k, name in zip(wanted, names, strict=True)])


@dataclass(frozen=True, slots=True)
class QuadraticForms:
    """Leading features of a set that are quadratic forms of circular convolutions, the mean perhaps before them.

    Attributes
    ----------
    mean : tuple of Expr, or None
        (slope, offset) of a first feature that is an affine function of the mean.
    constants : tuple of Expr
        c of each quadratic feature.
    products : tuple
        For each, terms (coefficient, form, form) of its weights.
    at_zero : tuple of Expr
        What each has in addition at frequency zero, such as -1 for the variance.
    """

    mean: tuple[Expr, Expr] | None
    constants: tuple[Expr, ...]
    products: tuple[tuple[tuple[Expr, LinearForm, LinearForm], ...], ...]
    at_zero: tuple[Expr, ...]

    def __len__(self) -> int:
        """How many leading features these are, the mean included."""
        return len(self.constants) + (self.mean is not None)

    @property
    def scales(self) -> tuple[tuple[Expr, Expr], ...]:
        """(a, c) of each feature a f + c: f is the mean itself, or a form without its constant."""
        return (*(() if self.mean is None else (self.mean,)), *((S.One, c) for c in self.constants))

    def weights(self, shape: tuple[int, ...]) -> FloatArray:
        """Return w of each quadratic feature at the frequencies of ``rfftn``, (K, ..., n // 2 + 1)."""
        out = np.zeros((len(self.products), *shape[:-1], shape[-1] // 2 + 1))
        for k, terms in enumerate(self.products):
            for coefficient, one, two in terms:
                for part, left, right in _responses(one, two, shape, out.shape[1]):
                    out[k, part] += float(coefficient) * (left.real * right.real + left.imag * right.imag)
            out[(k, *(0,) * len(shape))] += float(self.at_zero[k])
        return out


def _responses(one: LinearForm, two: LinearForm, shape: tuple[int, ...], count: int
               ) -> Iterator[tuple[slice, Any, Any]]:
    """Yield parts of the first axis of frequencies, and the responses of two forms there."""
    taps = [one.lags()] if two is one else [one.lags(), two.lags()]
    if any(known is None or len(known) > _FEW_TAPS for known in taps):
        left = one.response(shape)
        yield slice(None), left, left if two is one else two.response(shape)
        return
    step = max(1, _CHUNK * count // max(1, math.prod(shape)))
    for start in range(0, count, step):
        part = slice(start, start + step)
        found = [response_at(known, shape, part) for known in taps if known is not None]
        yield part, found[0], found[-1]


@lru_cache(maxsize=64)
def recognize_quadratic(features: FeatureSet) -> QuadraticForms | None:
    """Return the quadratic forms that the leading features are; None where there is none, or no filter in them.

    A set without filters is one of moments, not of spectra: its normalizations are found elsewhere.

    Examples
    --------
    >>> from symdecouple.language.statistics import variance
    >>> found = recognize_quadratic(FeatureSet([Mean(generic), variance(), Mean(generic * shift(1)(generic))]))
    >>> found.weights((4,)).round(12).tolist()
    [[0.0, 1.0, 1.0], [1.0, 0.0, -1.0]]
    """
    if features.kind != "mean" or not any(_has_filter(f.expr) for f in features):
        return None
    mean: tuple[Expr, Expr] | None = None
    constants, products, at_zero = list[Expr](), list[Any](), list[Expr]()
    for k, feature in enumerate(features):
        atoms: dict[Expr, tuple[LinearForm, LinearForm]] = {}
        value = _value(feature.expr, features.sample, atoms)
        found = None if value is None else _polynomial(value, atoms)
        if found is None:
            break
        constant, linear, square, terms = found
        if k == 0 and not terms and square == 0 and linear != 0:
            mean = (linear, constant)
            continue
        if linear != 0 or not terms:
            break
        constants.append(constant)
        at_zero.append(square)
        products.append(terms)
    if not products:
        return None
    return QuadraticForms(mean, tuple(constants), tuple(products), tuple(at_zero))


def _has_filter(expr: Expr) -> bool:
    return bool(expr.has(Filtered))


def _value(expr: Expr, sample: Sample, atoms: dict[Expr, tuple[LinearForm, LinearForm]]) -> Expr | None:
    """Write a feature as a polynomial in the mean and in averages of products of two linear forms."""
    if not isinstance(expr, Mean):
        if not expr.has(Mean):
            return expr
        parts = [_value(arg, sample, atoms) for arg in expr.args]
        return None if any(p is None for p in parts) else expr.func(*parts)
    body = expr.opened(sample)
    inner = {m: _value(m, sample, atoms) for m in body.atoms(Mean)}
    if any(v is None for v in inner.values()):
        return None
    split = split_forms(body.xreplace(inner), sample)
    if split is None:
        return None
    function, forms = split
    try:
        polynomial = Poly(expand(function), *forms)
    except PolynomialError:
        return None
    if polynomial.total_degree() > 2 or any(c.has(*forms) for c in polynomial.coeffs()):
        return None
    total = []
    for powers, coefficient in polynomial.terms():
        factors = [form for form, p in zip(forms.values(), powers, strict=True) for _ in range(p)]
        total.append(coefficient * _average(factors, atoms))
    return Add(*total)


def _average(factors: list[LinearForm], atoms: dict[Expr, tuple[LinearForm, LinearForm]]) -> Expr:
    if not factors:
        return S.One
    means = [form.constant + _gain(form) * _MEAN for form in factors]
    if len(factors) == 1:
        return means[0]
    one, two = (LinearForm(S.Zero, form.chains) for form in factors)
    symbol = next((s for s, known in atoms.items() if known in ((one, two), (two, one))), None)
    if symbol is None:
        symbol = Dummy("q", real=True)
        atoms[symbol] = (one, one if one == two else two)
    a, b = factors[0].constant, factors[1].constant
    return symbol + a * _gain(two) * _MEAN + b * _gain(one) * _MEAN + a * b


def _gain(form: LinearForm) -> Expr:
    total = S.Zero
    for chain, coefficient in form.chains.items():
        gain = coefficient
        for h in chain:
            gain *= h.dc
        total += gain
    return total


def _polynomial(value: Expr, atoms: dict[Expr, tuple[LinearForm, LinearForm]]) -> Any:
    """Return (constant, coefficient of m, of m^2, terms); None if the value is anything more."""
    try:
        polynomial = Poly(expand(value), _MEAN, *atoms)
    except PolynomialError:
        return None
    constant = linear = square = S.Zero
    terms = []
    for powers, coefficient in polynomial.terms():
        if not (coefficient.is_number and coefficient.is_real):
            return None
        kind, rest = powers[0], powers[1:]
        if sum(rest) == 0 and kind <= 2:
            constant, linear, square = (constant + coefficient * (kind == 0), linear + coefficient * (kind == 1),
                                        square + coefficient * (kind == 2))
        elif sum(rest) == 1 and kind == 0:
            terms.append((coefficient, *atoms[list(atoms)[rest.index(1)]]))
        else:
            return None
    return constant, linear, square, tuple(terms)
