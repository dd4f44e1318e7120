"""Taps for filters that are known by name only, and sizes: what a claim about generic kernels is tried on.

Small whole numbers, three taps along each axis, different for different filters, and with the sum 0 where that is known
of the filter.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count as count_from
from math import prod
from typing import Any

import numpy as np
from sympy import Rational

from symdecouple.calculus.subject import Size, Subject
from symdecouple.errors import InvalidInput
from symdecouple.language.filters import Filter

__all__ = ["Kernel", "bound_to_kernels", "draw_kernels", "kernels_by_filter", "sizes_beyond"]


@dataclass(frozen=True, slots=True)
class Kernel:
    """Taps for the filter of this name, in C order, the middle one at lag 0."""

    name: str
    taps: tuple[Fraction, ...]
    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        if not all(type(n) is int and n % 2 for n in self.shape) or prod(self.shape) != len(self.taps):
            raise InvalidInput(f"a kernel has an odd number of taps along each axis, got {len(self.taps)} taps in "
                               f"shape {self.shape}")

    def __str__(self) -> str:
        return f"{self.name} = {_text(self.nested(list(self.taps)))}"

    def nested(self, taps: Sequence[Any]) -> Any:
        """Return taps nested as deep as the filter has dimensions."""
        array = np.empty(len(taps), dtype=object)
        array[:] = taps
        return array.reshape(self.shape).tolist()

    def filter(self, like: Filter) -> Filter:
        """Return the filter with these taps, at the boundary of another one."""
        taps = [Rational(t.numerator, t.denominator) for t in self.taps]
        return Filter(self.nested(taps), boundary=like.boundary, zero_dc=like.zero_dc, ndim=like.ndim)

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "taps": list(map(str, self.taps)), "shape": list(self.shape)}


def draw_kernels(subject: Subject, rng: random.Random) -> tuple[Kernel, ...]:
    """Return random taps for each filter of the subject that has none."""
    out: list[Kernel] = []
    for h in subject.filters:
        taps = _drawn(h, 5 + len(out), rng)
        while any(kernel.taps == taps for kernel in out):
            taps = _drawn(h, 5 + len(out), rng)
        out.append(Kernel(_name(h), taps, (3,) * h.ndim))
    return tuple(out)


def _drawn(h: Filter, largest: int, rng: random.Random) -> tuple[Fraction, ...]:
    count = 3**h.ndim
    while True:
        taps = [Fraction(rng.choice((-1, 1)) * rng.randint(1, largest)) for _ in range(count)]
        if h.zero_dc:
            taps[count // 2] -= sum(taps)
        if (sum(taps) == 0) == h.zero_dc and taps[0] != taps[-1]:
            return tuple(taps)


def kernels_by_filter(subject: Subject, kernels: Sequence[Kernel]) -> Mapping[Filter, Filter]:
    """Return filters with taps, one for each filter of the subject that has none itself."""
    named = {_name(h): h for h in subject.filters}
    if sorted(k.name for k in kernels) != sorted(named):
        raise InvalidInput(f"kernels are given for {[k.name for k in kernels]}, the filters are {list(named)}")
    return {named[k.name]: k.filter(named[k.name]) for k in kernels}


def bound_to_kernels(subject: Subject, kernels: Sequence[Kernel]) -> Subject:
    """Return the subject with these taps in the place of filters with a name."""
    values = kernels_by_filter(subject, kernels)
    return subject.bind(values) if values else subject


def sizes_beyond(subject: Subject, least: int) -> list[Size]:
    """Return two sizes above `least`, grids for images; taps of moderate length do not wrap around at the second.

    Energies are autocorrelations of lags up to 2 r, r the largest lag of a tap, and one cosine of a frequency for each
    of these, and one more, keeps them and the mean apart from 4 r + 2 samples along an axis on.
    """
    lags = [lag for h in subject.all_filters if not h.is_symbolic for lag in h.lags]
    reach = max((abs(k) for lag in lags for k in (lag if isinstance(lag, tuple) else (lag,))), default=1)
    axes = subject.ndim
    if axes == 1:
        smallest = max(least + 2, min(4 * reach + 2, 14))
        return [smallest, smallest + 3]
    needed = next(side for side in count_from(2) if side**axes >= least + 2)
    return [(max(needed, side),) * axes for side in (min(2 * reach + 2, 5), min(4 * reach + 2, 8))]


def _name(h: Filter) -> str:
    return f"{h}{'[dc=0]' * h.zero_dc}"


def _text(taps: Any) -> str:
    return f"[{', '.join(map(_text, taps))}]" if isinstance(taps, list) else str(taps)
