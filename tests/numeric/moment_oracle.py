"""Decoupled moments from their definition, with mpmath: shares nothing with the package.

Level 3 by bisection (`tests.stats.oracle`), levels above by extrapolation of the modified midpoint rule
(Gragg, Bulirsch, Stoer) on the value-parametrized path, with gradients projected by Gram-Schmidt.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import mpmath as mp

from tests.stats import oracle

COLUMNS = 12
REFERENCE = (0, 1, 0, 3, 0, 15)


def dot(u: list[Any], v: list[Any]) -> Any:
    return mp.fdot(u, v) / len(u)


def free_gradient(y: list[Any], k: int) -> list[Any]:
    """The part of y^(k-1) orthogonal to the powers below it, by Gram-Schmidt, twice."""
    basis: list[list[Any]] = []
    for power in range(k):
        v = [t**power for t in y]
        for _ in range(2):
            for e in basis:
                c = dot(v, e)
                v = [a - c * b for a, b in zip(v, e, strict=True)]
        if power == k - 1:
            return v
        norm = mp.sqrt(dot(v, v))
        basis.append([a / norm for a in v])
    raise AssertionError


def slope(y: list[Any], k: int, distance: Any) -> list[Any]:
    g = free_gradient(y, k)
    rate = distance / (k * dot(g, [t ** (k - 1) for t in y]))
    return [rate * v for v in g]


def midpoint(y: list[Any], k: int, distance: Any, length: Any, n: int) -> list[Any]:
    h = length / n
    before, now = y, [a + h * b for a, b in zip(y, slope(y, k, distance), strict=True)]
    for _ in range(n - 1):
        f = slope(now, k, distance)
        before, now = now, [a + 2 * h * b for a, b in zip(before, f, strict=True)]
    f = slope(now, k, distance)
    return [(a + b + h * c) / 2 for a, b, c in zip(before, now, f, strict=True)]


def follow(y: list[Any], k: int, target: Any, digits: int) -> list[Any]:
    """The row at the end of the path of the k-th moment, to about so many digits."""
    distance = target - dot([t**k for t in y], [1] * len(y))
    s, length, limit = mp.mpf(0), mp.mpf(1) / 4, mp.mpf(10) ** -digits
    while s < 1:
        length = min(length, 1 - s)
        rows: list[list[list[Any]]] = []
        for i in range(COLUMNS):
            n = 2 * (i + 1)
            row = [midpoint(y, k, distance, length, n)]
            for j in range(1, i + 1):
                ratio = (mp.mpf(n) / (2 * (i - j + 1))) ** 2 - 1
                row.append([a + (a - b) / ratio for a, b in zip(row[-1], rows[-1][j - 1], strict=True)])
            rows.append(row)
            error = max(abs(a - b) for a, b in zip(row[-1], row[-2], strict=True)) if i else mp.inf
            if error < limit:
                break
        else:
            length /= 2
            continue
        y, s = rows[-1][-1], s + length
        if len(rows) < COLUMNS - 2:
            length *= mp.mpf(3) / 2
    return y


def decoupled(sample: Iterable[Any], order: int, digits: int = 18, dps: int = 60,
              reference: Sequence[float] = REFERENCE) -> list[Any]:
    """Decoupled moments of order 4..order, beside a reference of mean 0 and variance 1."""
    with mp.workdps(dps):
        y, found = oracle.at_skewness(sample, reference[2], dps)[0], []
        for k in range(4, order + 1):
            found.append(dot([t**k for t in y], [1] * len(y)))
            if k < order:
                y = follow(y, k, mp.mpf(reference[k - 1]), digits)
        return found
