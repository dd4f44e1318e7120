"""Arrays of mpmath numbers that know how exactly their conditions hold, and how far they may be off."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["Precise"]


class Precise(np.ndarray[Any, Any]):
    """An object array of mpmath numbers.

    Attributes
    ----------
    dps : int
        Decimal digits of the entries.
    residual : array
        One number a sample vector: the largest distance of an imposed feature from its target v, over 1 + abs(v).
    error : array
        One number a sample vector, an estimate: how far its normalizations are from the exact ones, relative to their
        standard deviation, the largest of all levels that were used. Gradients add what carrying them back cost,
        relative to their sizes. The rounding of the entries to `dps` digits counts as one unit in the last of them.

        It is the sum of what each step of a narrow path estimates of itself, and a first-order bound of rounding along
        closed forms. It is not a bound: how an error made early grows on the way is not followed, nor how much the
        last feature changes with its sample. More digits tell.
    """

    dps: int
    residual: Any
    error: Any

    @classmethod
    def of(cls, array: Any, dps: int, residual: Any, error: Any) -> Precise:
        """Give an array its digits, residuals and errors."""
        found = np.asarray(array, dtype=object).view(cls)
        found.dps, found.residual, found.error = dps, residual, error
        return found

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """Sums and products that are one number are that number."""
        return array[()] if array.ndim == 0 else super().__array_wrap__(array, context, return_scalar)

    def __reduce__(self) -> Any:  # as it comes back from another process
        return Precise.of, (np.asarray(self), self.dps, self.residual, self.error)

    def __array_finalize__(self, source: Any) -> None:
        self.dps = getattr(source, "dps", 0)
        self.residual, self.error = getattr(source, "residual", None), getattr(source, "error", None)
