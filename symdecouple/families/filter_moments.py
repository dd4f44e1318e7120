r"""Moments of any orders at the outputs of a filter bank.

.. math:: f_{p,b}(x) = \mathrm{Mean}(h_b(x)^p)

White noise of variance 1 has (sum h_b^2)^{p/2} (p - 1)!! on average for even p, and 0 for odd p.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sympy import Expr, S

from symdecouple.errors import InvalidInput
from symdecouple.families.bank import FilterBank
from symdecouple.families.linear_forms import linear_form
from symdecouple.language.feature_set import FeatureSet
from symdecouple.language.filters import Filter
from symdecouple.language.mean import Mean
from symdecouple.language.sample import Sample, x as generic

__all__ = ["FilterMoments", "filter_moments", "recognize_filter_moments"]


def filter_moments(bank: FilterBank | Iterable[Any], orders: Iterable[int] = (2, 3, 4, 5, 6), sample: Sample = generic
                   ) -> FeatureSet:
    """Return the moments of the bands of a bank, order by order, the bands of each order in their own order.

    Parameters
    ----------
    bank : FilterBank, or filters
    orders : iterable of int
        From 1 on, each once. All energies before all third moments is the order in which the energies keep their closed
        form; odd orders of a band without a gain at frequency zero, such as 1, are 0 for every signal.
    sample : Sample

    Raises
    ------
    InvalidInput
        For orders that are no whole numbers from 1 on, or given twice; for a first moment of a band that has none.

    Examples
    --------
    >>> filter_moments([[-1, 2, -1]], orders=(2, 4))
    FeatureSet([Mean(taps((-1, 2, -1), 1)(x)**2), Mean(taps((-1, 2, -1), 1)(x)**4)])
    """
    bank = bank if isinstance(bank, FilterBank) else FilterBank(bank)
    wanted = list(orders) if isinstance(orders, Iterable) else [None]
    if not wanted or len(set(wanted)) < len(wanted) or any(isinstance(p, bool) or not isinstance(p, int) or p < 1
                                                           for p in wanted):
        raise InvalidInput(f"orders are different whole numbers from 1 on, such as [2, 3], got {orders!r}")
    if 1 in wanted and (empty := [n for n, gain in zip(bank.names, bank.dc, strict=True) if gain == 0]):
        raise InvalidInput(f"the mean of bands {', '.join(empty)} is 0 for every signal: leave order 1 out, or these "
                           "bands")
    names = [name if wanted == [2] else f"{name}_{p}" for p in wanted for name in bank.names]
    return FeatureSet([Mean(h(sample) ** p) for p in wanted for h in bank], names=names)


@dataclass(frozen=True, slots=True)
class FilterMoments:
    """A whole set of moments of filter outputs.

    Attributes
    ----------
    bands : tuple of tuple of Filter
        For each band one filter of one dimension along each axis of a sample.
    index, powers : tuple of int
        The band and the order of each feature.
    gains : tuple of Expr
        What each moment is multiplied by.
    """

    bands: tuple[tuple[Filter, ...], ...]
    index: tuple[int, ...]
    powers: tuple[int, ...]
    gains: tuple[Expr, ...]


@lru_cache(maxsize=64)
def recognize_filter_moments(features: FeatureSet) -> FilterMoments | None:
    """Return the bands and orders of a set of moments of circular filters that are products of one-dimensional ones.

    None where a feature is anything else, such as a central moment, a product of bands, or of another boundary.

    Examples
    --------
    >>> found = recognize_filter_moments(filter_moments([[[1, 2, 1], [2, 4, 2], [1, 2, 1]]], (2, 3)))
    >>> found.powers, found.bands
    ((2, 3), ((taps((1, 2, 1), 1), taps((1, 2, 1), 1)),))
    """
    ndim = features.sample_ndim
    bands, index, powers, gains = list[tuple[Filter, ...]](), list[int](), list[int](), list[Expr]()
    for feature in features.symbolic:
        gain, atom = feature.expr.as_coeff_Mul() if not feature.coordinates else (S.One, S.Zero)
        if not isinstance(atom, Mean):
            return None
        base, power = atom.opened(features.sample).as_base_exp()
        form = linear_form(base, features.sample)
        if form is None or form.constant != 0 or len(form.chains) != 1 or not (power.is_Integer and power >= 1):
            return None
        (chain, coefficient), = form.chains.items()
        lines = _lines(chain, ndim)
        if lines is None or not coefficient.is_number:
            return None
        if lines not in bands:
            bands.append(lines)
        index.append(bands.index(lines))
        powers.append(int(power))
        gains.append(gain * coefficient**power)
    if len(index) < len(features):
        return None
    return FilterMoments(tuple(bands), tuple(index), tuple(powers), tuple(gains))


def _lines(chain: tuple[Filter, ...], ndim: int) -> tuple[Filter, ...] | None:
    """The filter of a chain of at most one as filters along each axis."""
    if not chain:
        return (Filter([1]),) * ndim
    h, = chain[:1]
    if len(chain) > 1 or h.is_symbolic or h.dc.free_symbols:
        return None
    return (h,) if ndim == 1 else h.factors()
