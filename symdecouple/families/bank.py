r"""Filter banks: several circular filters of one signal, with the names of their bands.

.. math:: y_b = h_b(x), \qquad \sum_b |H_b(\xi)|^2 = \text{constant} \quad\text{for a tight (Parseval) frame}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sympy import Expr, S, sqrt

from symdecouple.errors import InvalidInput
from symdecouple.families.linear_forms import LinearForm, response_of
from symdecouple.language.filtered import Response
from symdecouple.language.filters import Filter
from symdecouple.language.taps import entries, shape_of
from symdecouple.shown import Shown

__all__ = ["FilterBank", "scaled"]


@dataclass(frozen=True, slots=True, init=False)
class FilterBank(Shown):
    """Circular filters in one number of dimensions, in order.

    Parameters
    ----------
    filters : sequence of Filter, or of what a `Filter` is made of
        Taps, names, or filters.
    names : sequence of str, optional
        Of the bands; default h1, h2, ... or the names of the filters.

    Raises
    ------
    InvalidInput
        For no filters, filters of different dimensions, or names that do not fit.

    Examples
    --------
    >>> bank = FilterBank([[1, 1, 1], [-1, 0, 1], [-1, 2, -1]], names="lmh")
    >>> bank.dc, bank.energies
    ((3, 0, 0), (3, 2, 6))
    >>> bank.normalized().energies
    (1, 1, 1)
    """

    filters: tuple[Filter, ...]
    names: tuple[str, ...]

    def __init__(self, filters: Iterable[Any], names: Sequence[str] | None = None) -> None:
        if not isinstance(filters, Iterable):
            raise InvalidInput(f"a filter bank is made of a list of filters, got {filters!r}; families.tils() is one")
        made = tuple(h if isinstance(h, Filter) else Filter(h) for h in filters)
        if not made:
            raise InvalidInput("a filter bank has at least one filter")
        if len({h.ndim for h in made}) > 1:
            raise InvalidInput("the filters of a bank have one number of dimensions, got "
                               f"{', '.join(str(h.ndim) for h in made)}")
        called = tuple(names) if names is not None else tuple(
            str(h) if h.is_symbolic else f"h{k}" for k, h in enumerate(made, 1))
        if len(called) != len(made) or len(set(called)) < len(called):
            raise InvalidInput(f"{len(made)} bands have {len(made)} different names, got {', '.join(called)}")
        object.__setattr__(self, "filters", made)
        object.__setattr__(self, "names", called)

    @classmethod
    def from_responses(cls, responses: ArrayLike, names: Sequence[str] | None = None) -> FilterBank:
        """Return the bank of filters with these responses, ``(B, *shape)`` in the order of ``numpy.fft.fftn``.

        Examples
        --------
        >>> FilterBank.from_responses([[1, 0, 0, 0], [0, 1, 1, 1]]).energies
        (0.250000000000000, 0.750000000000000)
        """
        values = np.asarray(responses)
        if values.ndim < 2 or not len(values):
            raise InvalidInput(f"responses are (B, *shape), one response for each band, got shape {values.shape}")
        called = tuple(names) if names is not None else tuple(f"h{k}" for k in range(1, len(values) + 1))
        return cls([Filter.from_response(v, name) for v, name in zip(values, called, strict=True)], called)

    @classmethod
    def from_wavelet(cls, wavelet: Any, levels: int = 1, ndim: int = 1) -> FilterBank:
        """Return the undecimated frame of an orthogonal or biorthogonal wavelet: its analysis filters.

        The filters of level j have 2^(j-1) - 1 zeros between their taps and follow the low pass filters of the levels
        before; all are divided by sqrt(2) a level and dimension, so that orthogonal wavelets give Parseval frames. The
        low pass comes first, then the coarsest details. Taps are the decimals that PyWavelets prints.

        Parameters
        ----------
        wavelet : str, or anything with ``dec_lo`` and ``dec_hi`` such as pywt.Wavelet
            A name needs PyWavelets.
        levels : int
        ndim : int
            Tensor products: 2^ndim bands a level, less the low pass of all levels but the last.

        Examples
        --------
        >>> from types import SimpleNamespace
        >>> haar = SimpleNamespace(dec_lo=[0.5**0.5, 0.5**0.5], dec_hi=[-(0.5**0.5), 0.5**0.5])
        >>> bank = FilterBank.from_wavelet(haar, levels=2)
        >>> bank.names, bank["d2"].apply([1.0, 2, 3, 4]).round(12).tolist()
        (('a2', 'd2', 'd1'), [1.0, 0.0, -1.0, 0.0])
        """
        low, high = _analysis(wavelet)
        if isinstance(levels, bool) or not isinstance(levels, int) or levels < 1:
            raise InvalidInput(f"levels is a whole number from 1 on, got {levels!r}")
        if isinstance(ndim, bool) or not isinstance(ndim, int) or ndim < 1:
            raise InvalidInput(f"ndim is a whole number from 1 on, got {ndim!r}")
        bands: list[tuple[str, Filter]] = []
        smooth = np.ones(1)
        for level in range(1, levels + 1):
            pair = {"a": np.convolve(smooth, _spaced(low, level)), "d": np.convolve(smooth, _spaced(high, level))}
            for letters in map("".join, product("da", repeat=ndim)):
                if "d" in letters or level == levels:
                    bands.append((f"{letters}{level}", _outer([pair[letter] for letter in letters])))
            smooth = pair["a"]
        bands.reverse()
        return cls([h for _, h in bands], [name for name, _ in bands])

    def __len__(self) -> int:
        return len(self.filters)

    def __iter__(self) -> Iterator[Filter]:
        return iter(self.filters)

    def __getitem__(self, key: int | str) -> Filter:
        if isinstance(key, str):
            if key not in self.names:
                raise InvalidInput(f"no band is named {key!r}; the bands are {', '.join(self.names)}")
            return self.filters[self.names.index(key)]
        return self.filters[key]

    @property
    def ndim(self) -> int:
        """The number of sample dimensions."""
        return self.filters[0].ndim

    @property
    def dc(self) -> tuple[Expr, ...]:
        """The gains at frequency zero; where one is not 0, the band's mean is that of the signal times it."""
        return tuple(h.dc for h in self.filters)

    @property
    def energies(self) -> tuple[Expr, ...]:
        """Sum of squared taps: the energies Mean(h(x)^2) that white noise of variance 1 has on average."""
        forms = [LinearForm(chains={(h,): S.One}) for h in self.filters]
        return tuple(form.covariance(form) for form in forms)

    def normalized(self) -> FilterBank:
        """Return the bank with every kernel divided by its norm, so that all bands have the same references."""
        each = zip(self.filters, self.energies, strict=True)
        return FilterBank([scaled(h, 1 / sqrt(energy)) for h, energy in each], self.names)

    def apply(self, a: ArrayLike, axis: int | tuple[int, ...] | None = None) -> NDArray[np.floating[Any]]:
        """Return the filter outputs, one band after the other; the sample axes are the last ones by default."""
        return np.stack([h.apply(a) if axis is None else h.apply(a, axis=axis) for h in self.filters])

    def responses(self, shape: int | tuple[int, ...]) -> NDArray[np.complex128]:
        """Return the frequency responses on a grid, ``(B, *shape)``, in the order of ``numpy.fft.fftn``."""
        grid = (shape,) if isinstance(shape, int) else tuple(shape)
        return np.stack([response_of(h, grid) for h in self.filters])

    def __repr__(self) -> str:
        return f"FilterBank({len(self)} bands in {self.ndim}-D: {', '.join(self.names)})"


def scaled(h: Filter, factor: Expr) -> Filter:
    """Return a filter times a constant."""
    kernel = h.args[0]
    if isinstance(kernel, Response):
        return Filter.from_response(np.asarray(kernel.values) * float(factor), kernel.name)
    taps = np.array([factor * tap for _, tap in entries(kernel)], dtype=object).reshape(shape_of(kernel))
    return Filter(taps, h.args[1], h.transposed, h.boundary)


def _analysis(wavelet: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if isinstance(wavelet, str):
        try:
            import pywt
        except ImportError as error:
            raise InvalidInput("wavelets by name come from PyWavelets, which is not installed: "
                               'pip install "symdecouple[wavelet]"; or give FilterBank the taps') from error
        try:
            wavelet = pywt.Wavelet(wavelet)
        except ValueError as error:
            raise InvalidInput(f"PyWavelets has no discrete wavelet {wavelet!r}") from error
    low, high = getattr(wavelet, "dec_lo", None), getattr(wavelet, "dec_hi", None)
    if low is None or high is None:
        raise InvalidInput(f"a discrete wavelet has decomposition filters, got {wavelet!r}")
    return np.asarray(low, dtype=float), np.asarray(high, dtype=float)


def _spaced(taps: NDArray[np.float64], level: int) -> NDArray[np.float64]:
    step = 2 ** (level - 1)
    out = np.zeros((len(taps) - 1) * step + 1)
    out[::step] = taps / np.sqrt(2)
    return out


def _outer(factors: list[NDArray[np.float64]]) -> Filter:
    taps = factors[0]
    for f in factors[1:]:
        taps = np.multiply.outer(taps, f)
    origin = tuple((n - 1) // 2 for n in taps.shape)
    return Filter(taps, origin=origin if taps.ndim > 1 else origin[0])


