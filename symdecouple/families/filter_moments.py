r"""Moments of any orders at the outputs of a filter bank.

.. math:: f_{p,b}(x) = \mathrm{Mean}(h_b(x)^p)

White noise of variance 1 has (sum h_b^2)^{p/2} (p - 1)!! on average for even p, and 0 for odd p.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from symdecouple.errors import InvalidInput
from symdecouple.families.bank import FilterBank
from symdecouple.language.feature import FeatureSet
from symdecouple.language.mean import Mean
from symdecouple.language.sample import Sample, x as generic

__all__ = ["filter_moments"]


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
    wanted = list(orders)
    if not wanted or len(set(wanted)) < len(wanted) or any(isinstance(p, bool) or not isinstance(p, int) or p < 1
                                                           for p in wanted):
        raise InvalidInput(f"orders are different whole numbers from 1 on, got {wanted!r}")
    if 1 in wanted and (empty := [n for n, gain in zip(bank.names, bank.dc, strict=True) if gain == 0]):
        raise InvalidInput(f"the mean of bands {', '.join(empty)} is 0 for every signal: leave order 1 out, or these "
                           "bands")
    return FeatureSet([Mean(h(sample) ** p) for p in wanted for h in bank])
