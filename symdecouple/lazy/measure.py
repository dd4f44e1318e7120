"""A long vector in chunks as a few hundred numbers with weights: its bins, filled in a second pass."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from symdecouple.errors import Outcome
from symdecouple.lazy.chunks import pieces_of
from symdecouple.lazy.state import MomentState
from symdecouple.numeric.moments.bins import BinFrame, Bins
from symdecouple.numeric.samples.batch import NanPolicy

__all__ = ["CROWDED", "Measure"]

CROWDED = Outcome(False, "beyond float64", "half of the vector is nearer to an end than 2**-64 of its range, which is "
                  "where chunks are told apart; drop the outliers, or give the vector whole to symdecouple.stats")


class Measure(Bins):
    """The entries of a vector in bins (`numeric.moments.bins`), chunk by chunk, merged with others of its frame.

    Examples
    --------
    >>> import numpy as np
    >>> chunks = [np.arange(1.0, 500), np.arange(500.0, 1001) ** 1.5]
    >>> state = MomentState()
    >>> for chunk in chunks:
    ...     state.update(chunk)
    >>> measure = Measure.begun(state)
    >>> for chunk in chunks:
    ...     measure.update(chunk)
    >>> matrix = measure.matrix()
    >>> centre = np.average(matrix.values, weights=matrix.weights)
    >>> second, fourth = (np.average((matrix.values - centre) ** k, weights=matrix.weights) for k in (2, 4))
    >>> bool(abs(fourth / second**2 - state.finalize().kurtosis) < 1e-13)
    True
    """

    __slots__ = ("_nan_policy",)

    def __init__(self, frame: BinFrame, nan_policy: NanPolicy) -> None:
        super().__init__(frame)
        self._nan_policy = nan_policy

    @classmethod
    def begun(cls, state: MomentState) -> Self | None:
        """Make an empty measure for a vector that a first pass knows; None where it has no shape."""
        summary = state.summary()
        if summary.outcome.reason not in ("", "out of range") or state.low == state.high:
            return None
        counts = state.at_low, state.at_high, state.count
        return cls(BinFrame.about(state.low, state.middle, state.high, counts, summary.skewness < 0), state.nan_policy)

    def copy(self) -> Self:
        """Return a measure that goes its own way."""
        made = type(self)(self.frame, self._nan_policy)
        made.merge(self)
        return made

    def update(self, chunk: Any) -> None:
        """Take in a chunk that the first pass has seen."""
        for piece, _, _ in pieces_of(chunk, self._nan_policy):
            if piece is not None:
                ends = piece.at_low * (piece.low == self.frame.low), piece.at_high * (piece.high == self.frame.high)
                with np.errstate(under="ignore"):
                    self.add(piece.values, piece.base, ends if piece.base else None)
