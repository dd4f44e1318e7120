r"""Linear forms of a signal: what a filter, a chain of filters, or a sum of such is, whatever it is called.

.. math:: L(x) = a + \sum_c \gamma_c\, (h_{c1} * h_{c2} * \cdots)(x)

Circular filters commute, so that a form is known by its products of filters, and in the frequency domain by one
response. Two forms of white noise are jointly Gaussian with the covariance that `covariance` gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.fft import fftn, rfftn
from sympy import Add, Dummy, Expr, Float, Mul, S, expand

from symdecouple.language.filtered import Filtered, Response
from symdecouple.language.filters import Filter
from symdecouple.language.mean import Mean
from symdecouple.language.sample import Sample

__all__ = ["LinearForm", "linear_form", "response_at", "response_of", "split_forms"]

Chain = tuple[Filter, ...]
Lag = Any  # an int, or a tuple of them in more dimensions


@dataclass(frozen=True, slots=True)
class LinearForm:
    """A constant and a sum of chains of circular filters.

    Attributes
    ----------
    constant : Expr
    chains : mapping
        From filters applied one after the other to a coefficient; the empty chain is the signal itself.
    """

    constant: Expr = S.Zero
    chains: Mapping[Chain, Expr] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.constant, frozenset(self.chains.items())))

    def lags(self) -> dict[Lag, Expr] | None:
        """Return the taps of the whole form by lag; None where a filter is given by its frequency response."""
        total: dict[Lag, Expr] = {}
        for chain, coefficient in self.chains.items():
            taps: dict[Lag, Expr] = {None: coefficient}  # None: no lag in any number of dimensions
            for h in chain:
                if h.is_symbolic:
                    return None
                taps = _convolved(taps, h.lags)
            for lag, tap in taps.items():
                total[_plain(lag)] = total.get(_plain(lag), S.Zero) + tap
        return {lag: tap for lag, tap in total.items() if tap != 0}

    def covariance(self, other: LinearForm) -> Expr:
        """Return the covariance of two forms at the same place of white noise of variance 1.

        Sums over lags, that is for signals longer than the filters; frequency responses know their size.
        """
        mine, others = self.lags(), other.lags()
        if mine is not None and others is not None:
            return Add(*(tap * others.get(lag, S.Zero) for lag, tap in mine.items()))
        shape = next(np.shape(h.args[0].values) for form in (self, other) for chain in form.chains for h in chain
                     if isinstance(h.args[0], Response))
        product = self.response(shape, half=False) * np.conj(other.response(shape, half=False))
        return Float(float(np.mean(product).real))

    def response(self, shape: tuple[int, ...], half: bool = True) -> NDArray[np.complex128]:
        """Return the response on a grid, over the frequencies of ``rfftn``, or of ``fftn``."""
        total: NDArray[np.complex128] = np.zeros(_frequencies(shape, half), dtype=np.complex128)
        for chain, coefficient in self.chains.items():
            part = np.full(total.shape, complex(coefficient))
            for h in chain:
                part *= response_of(h, shape, half)
            total += part
        return total


def response_of(h: Filter, shape: tuple[int, ...], half: bool = False) -> NDArray[np.complex128]:
    """Return the frequency response of a circular filter on a grid, over the full DFT or the half of ``rfftn``."""
    delta = np.zeros(shape)
    delta[(0,) * len(shape)] = 1
    taps = h.apply(delta, axis=tuple(range(len(shape))))
    return _without_rounding(np.asarray(rfftn(taps) if half else fftn(taps)), float(np.abs(taps).sum()))


def response_at(taps: Mapping[Lag, Expr], shape: tuple[int, ...], part: slice) -> NDArray[np.complex128]:
    """Return the response of taps by lag at some frequencies of ``rfftn``: a part of those of the first axis.

    It is summed axis by axis, without a transform: few taps at many frequencies need no memory beyond the result.
    """
    lags = [lag if isinstance(lag, tuple) else (0 if lag is None else lag,) * len(shape) for lag in taps]
    along = [sorted({lag[axis] for lag in lags}) for axis in range(len(shape))]
    total: NDArray[Any] = np.zeros([len(known) for known in along])
    for lag, tap in zip(lags, taps.values(), strict=True):
        total[tuple(known.index(k) for known, k in zip(along, lag, strict=True))] += float(tap)
    for axis, (known, n) in enumerate(zip(along, shape, strict=True)):
        frequencies = np.arange(n // 2 + 1 if axis == len(shape) - 1 else n)
        if axis == 0:
            frequencies = frequencies[part]
        turns = np.outer(frequencies, known) % n
        waves = np.exp(-2j * np.pi / n * turns)
        quarters = 4 * turns % n == 0  # exact: bands are empty there, not almost empty
        waves[quarters] = np.array([1, -1j, -1, 1j])[4 * turns[quarters] // n]
        total = np.moveaxis(np.tensordot(total, waves.T, (axis, 0)), -1, axis)
    return _without_rounding(np.asarray(total, dtype=np.complex128), sum(abs(float(tap)) for tap in taps.values()))


def _without_rounding(found: NDArray[np.complex128], size: float) -> NDArray[np.complex128]:
    """Responses of taps of this absolute sum, 0 where they are nothing but rounding: bands are empty there, as those of
    [1, 1, 1] at thirds of a turn, not almost empty."""
    found[np.abs(found) < 2.0**-50 * size] = 0
    return found


def _frequencies(shape: tuple[int, ...], half: bool) -> tuple[int, ...]:
    return (*shape[:-1], shape[-1] // 2 + 1) if half else shape


def linear_form(expr: Expr, sample: Sample) -> LinearForm | None:
    """Return an expression in the sample as a linear form; None if it is not one, or a filter is not circular."""
    total: dict[Chain, Expr] = {}
    constant = S.Zero
    for term in Add.make_args(expand(expr)):
        coefficient, signals = _parts(term, sample)
        if not signals:
            constant += coefficient
            continue
        if len(signals) > 1:
            return None
        signal = signals[0]
        if signal == sample:
            inner: LinearForm | None = LinearForm(S.Zero, {(): S.One})
        elif isinstance(signal, Filtered) and signal.filter.boundary == "circular":
            inner = linear_form(signal.argument, sample)
            if inner is not None:
                h = signal.filter
                inner = LinearForm(h.dc * inner.constant,
                                   {tuple(sorted((h, *c), key=str)): g for c, g in inner.chains.items()})
        else:
            inner = None
        if inner is None:
            return None
        constant += coefficient * inner.constant
        for chain, g in inner.chains.items():
            total[chain] = total.get(chain, S.Zero) + coefficient * g
    return LinearForm(constant, {chain: g for chain, g in total.items() if g != 0})


def split_forms(body: Expr, sample: Sample) -> tuple[Expr, dict[Any, LinearForm]] | None:
    """Write a function of the sample as one of linear forms, each of which becomes a symbol; None where it is not.

    Returns
    -------
    tuple of Expr and dict, or None
        The function of the symbols, and the form of each of them.
    """
    signals = sorted({*_outermost(body, sample)}, key=str)
    forms: dict[Any, LinearForm] = {}
    rule: dict[Expr, Expr] = {}
    for signal in signals:
        form = linear_form(signal, sample)
        if form is None:
            return None
        rule[signal] = Dummy("y", real=True)
        forms[rule[signal]] = form
    return body.xreplace(rule), forms


def _outermost(expr: Expr, sample: Sample) -> set[Expr]:
    if isinstance(expr, Filtered) or expr == sample:
        return {expr}
    if isinstance(expr, Mean):
        return set()
    return set().union(*(_outermost(arg, sample) for arg in expr.args)) if expr.args else set()


def _parts(term: Expr, sample: Sample) -> tuple[Expr, list[Expr]]:
    """Return the constant factor of a product, and the factors that depend on the sample."""
    signals = [f for f in Mul.make_args(term) if _outermost(f, sample)]
    return Mul(*(f for f in Mul.make_args(term) if f not in signals)), signals


def _convolved(taps: Mapping[Lag, Expr], others: Mapping[Lag, Expr]) -> dict[Lag, Expr]:
    out: dict[Lag, Expr] = {}
    for one, a in taps.items():
        for two, b in others.items():
            lag = _added(one, two)
            out[lag] = out.get(lag, S.Zero) + a * b
    return out


def _added(one: Lag, two: Lag) -> Lag:
    if one is None or two is None:
        return two if one is None else one
    return tuple(a + b for a, b in zip(one, two, strict=True)) if isinstance(one, tuple) else one + two


def _plain(lag: Lag) -> Lag:
    """No lag in n dimensions is the same as the lag 0 in each."""
    return None if lag is None or not (any(lag) if isinstance(lag, tuple) else lag) else lag
