r"""The TILs bank: translation invariant Laplacian separable filters, a Parseval frame of three taps a dimension.

.. math:: k_l = \tfrac13 [1, 1, 1], \quad k_m = \tfrac1{\sqrt6} [-1, 0, 1], \quad k_h = \tfrac1{\sqrt{18}} [-1, 2, -1]

and their tensor products, circular: 9 bands in two dimensions, smooth first, with ``|H_l|^2 + |H_m|^2 + |H_h|^2 = 1``.
"""

from __future__ import annotations

from itertools import product

from sympy import Rational, sqrt

from symdecouple.errors import InvalidInput
from symdecouple.families.bank import FilterBank, scaled
from symdecouple.language.filters import Filter

__all__ = ["tils"]

KERNELS = {"l": ([1, 1, 1], Rational(1, 3)), "m": ([-1, 0, 1], 1 / sqrt(6)), "h": ([-1, 2, -1], 1 / sqrt(18))}


def tils(ndim: int = 2, *, low: bool = True, normalized: bool = True) -> FilterBank:
    r"""Return the TILs bank in any number of dimensions.

    Parameters
    ----------
    ndim : int
        Sample dimensions; 3^ndim bands, in the order l, m, h of the first axis, then of the next.
    low : bool
        Whether the smooth band, the only one with a gain at frequency zero, is among them.
    normalized : bool
        Divide every kernel by its norm, so that white noise has energy 1 in every band and all references coincide;
        False leaves the Parseval frame, with kernels of energy 3^(-ndim) each.

    Returns
    -------
    FilterBank

    Examples
    --------
    >>> bank = tils()
    >>> bank.names
    ('ll', 'lm', 'lh', 'ml', 'mm', 'mh', 'hl', 'hm', 'hh')
    >>> bank.energies[0], bank.dc[:3], tils(normalized=False).dc[:3]
    (1, (3, 0, 0), (1, 0, 0))

    References
    ----------
    J. Portilla et al., Efficient and robust image restoration using multiple-feature L2-relaxed sparse analysis priors,
    IEEE Trans. Image Process. 24 (2015), 5046-5059.
    """
    if isinstance(ndim, bool) or not isinstance(ndim, int) or not 1 <= ndim <= 6:
        raise InvalidInput(f"ndim is the number of sample dimensions, 1 to 6, got {ndim!r}")
    names = ["".join(letters) for letters in product("lmh", repeat=ndim)][0 if low else 1:]
    return FilterBank([_kernel(name, normalized) for name in names], names)


def _kernel(name: str, normalized: bool) -> Filter:
    taps, gain = KERNELS[name[0]]
    h = Filter(taps)
    for letter in name[1:]:
        others, more = KERNELS[letter]
        h, gain = h.outer(Filter(others)), gain * more
    return scaled(h, gain * sqrt(3) ** len(name) if normalized else gain)
