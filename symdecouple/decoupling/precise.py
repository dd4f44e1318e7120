"""Arrays of mpmath numbers that know how exactly their conditions hold."""

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
    """

    dps: int
    residual: Any

    @classmethod
    def of(cls, array: Any, dps: int, residual: Any) -> Precise:
        """Give an array its digits and residuals."""
        found = np.asarray(array, dtype=object).view(cls)
        found.dps, found.residual = dps, residual
        return found

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """Sums and products that are one number are that number."""
        return array[()] if array.ndim == 0 else super().__array_wrap__(array, context, return_scalar)

    def __array_finalize__(self, source: Any) -> None:
        self.dps = getattr(source, "dps", 0)
        self.residual = getattr(source, "residual", None)
