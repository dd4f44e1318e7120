"""How certificates about critical points are read from the data that they wrote."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from symdecouple.analysis import chebyshev_level, critical_certificate, local_extrema, spectral_level, two_values
from symdecouple.errors import InvalidInput

__all__ = ["read_certificate"]

_READERS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    **critical_certificate.READERS, **two_values.READERS, **chebyshev_level.READERS, **spectral_level.READERS,
    **local_extrema.READERS}


def read_certificate(data: Mapping[str, Any]) -> Any:
    """Return the certificate; `InvalidInput` for a kind that is not known."""
    if data["certificate"] not in _READERS:
        raise InvalidInput(f"unknown certificate {data['certificate']!r}; known are {sorted(_READERS)}")
    return _READERS[data["certificate"]](data)
