r"""Patterns of ties, and what kind of critical point a pattern makes (Theorem I).

A sample with d distinct values z_1 < .. < z_d, taken n_1, .., n_d times, that has features 1..k-1 at their references
is a critical point of feature k iff d <= k - 1. With

.. math:: \sigma_i = (-1)^{d - i}, \qquad e = k - 1 - d, \qquad A = \{i : n_i \ge 2\}

and *chains*, subsets of A with e + 1 members whose signs alternate, it is the strict global minimum (up to the order of
the samples) if all chains have sign +1 at their top, the strict global maximum if all have -1, a saddle if both occur,
and the only sample there is if there are none. For e = 0 the reference manifold is regular, chains are single groups,
and the Morse index is the sum of n_i - 1 over the groups of sign -1.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise
from typing import Literal

__all__ = ["Kind", "Ties", "coarser", "index_of", "kind_of", "merged", "patterns", "sign_of"]

Kind = Literal["minimum", "maximum", "saddle", "isolated", "degenerate"]
Ties = tuple[int, ...]
"""How often each distinct value is taken, from the lowest to the highest."""


def patterns(n_samples: int, count: int) -> Iterator[Ties]:
    """Yield every pattern of `count` distinct values among `n_samples`.

    Examples
    --------
    >>> list(patterns(4, 2))
    [(1, 3), (2, 2), (3, 1)]
    """
    for cuts in combinations(range(1, n_samples), count - 1):
        ends = (0, *cuts, n_samples)
        yield tuple(b - a for a, b in pairwise(ends))


def merged(ties: Ties, place: int) -> Ties:
    """Return the pattern in which value `place` and the next one (from 0) have become equal."""
    return (*ties[:place], ties[place] + ties[place + 1], *ties[place + 2:])


def coarser(ties: Ties) -> Iterator[Ties]:
    """Yield each pattern that merges two neighbours."""
    return (merged(ties, place) for place in range(len(ties) - 1))


def sign_of(place: int, count: int) -> int:
    """Return the sign of the second derivative in group `place` (from 0) of `count`."""
    return -1 if (count - 1 - place) % 2 else 1


def kind_of(ties: Ties, level: int) -> Kind:
    """Return what a sample with these ties is, on the reference manifold of features 1..level-1.

    Parameters
    ----------
    ties : tuple of int
        At most level - 1 of them.
    level : int
        Of the feature that is critical; it and those before it are moments, or averages whose derivatives form a
        Chebyshev system (for each number of them), oriented so that the second derivative is positive at the top.

    Examples
    --------
    >>> kind_of((1, 4), 3), kind_of((2, 3), 3), kind_of((4, 1), 3)
    ('minimum', 'saddle', 'maximum')
    >>> kind_of((3, 3), 4), kind_of((2, 8, 2), 5), kind_of((1, 1, 1), 4)
    ('minimum', 'saddle', 'isolated')
    """
    count = len(ties)
    signs = [sign_of(place, count) for place, n in enumerate(ties) if n > 1]
    needed = level - count  # members of a chain
    alternating = sum(a != b for a, b in pairwise(signs)) + bool(signs)
    tops = {signs[-1]} if alternating >= needed and signs else set()
    if alternating > needed:
        tops.add(-signs[-1])
    if len(tops) == 2:
        return "saddle"
    return "isolated" if not tops else "minimum" if tops == {1} else "maximum"


def index_of(ties: Ties, level: int) -> int | None:
    """Return the Morse index, the number of directions of decrease; None where the reference manifold is singular.

    Examples
    --------
    >>> index_of((1, 4), 3), index_of((2, 3), 3), index_of((4, 1), 3), index_of((3, 3), 4)
    (0, 1, 3, None)
    """
    if len(ties) != level - 1:
        return None
    return sum(n - 1 for place, n in enumerate(ties) if sign_of(place, len(ties)) < 0)
