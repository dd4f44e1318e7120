"""How certificates about critical points are read from the data that they wrote."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from symdecouple.analysis.critical import certificate, chebyshev_level, local_extrema, spectral_level, two_values

__all__ = ["READERS"]

READERS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    **certificate.READERS, **two_values.READERS, **chebyshev_level.READERS, **spectral_level.READERS,
    **local_extrema.READERS}
