"""Ready feature sets, and what is known about them."""

from symdecouple.families.moments import raw_moments, recognize_moments, standardized_moments

__all__ = ["raw_moments", "recognize_moments", "standardized_moments"]
