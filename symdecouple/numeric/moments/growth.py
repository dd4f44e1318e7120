"""How much the rounding of a sample may grow on its way through the levels before its answer is withheld.

A path pulls the values of a crowded sample apart, and their errors with them, by the exponential of an integral of the
velocity's slope. For samples that are perturbed on purpose rounding is not what limits the answer: the perturbation
grows alike and is many orders larger, and how far apart the answers of several perturbations are is said of each.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["ALLOWED", "MOST_GROWTH", "MOST_PERTURBED", "SURELY", "growth_up_to"]

MOST_GROWTH = 2.0**24  # leaves about half of the digits
MOST_PERTURBED = 2.0**44  # leaves a rounding of 1/500 of a deviation: nothing beside a perturbation that grew as much
SURELY = 1.1  # times what is allowed: too much in steps of any length, which agree on a growth to some hundredths

ALLOWED: ContextVar[float] = ContextVar("factor by which errors may grow", default=MOST_GROWTH)


@contextmanager
def growth_up_to(most: float) -> Iterator[None]:
    """Let errors grow by so much in what is computed inside."""
    token = ALLOWED.set(most)
    try:
        yield
    finally:
        ALLOWED.reset(token)
