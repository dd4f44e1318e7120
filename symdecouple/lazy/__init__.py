"""Large arrays: vectors in chunks, and objects of dask and xarray, neither of which is needed or loaded otherwise."""

from typing import TYPE_CHECKING

from symdecouple.lazy.recordings import decoupled_moments, moments, normalize
from symdecouple.lazy.state import MomentState
from symdecouple.lazy.summary import MomentSummary
from symdecouple.lazy.vectors import passes
from symdecouple.names import unknown_name

__all__ = ["MomentState", "MomentSummary", "decoupled_moments", "moments", "normalize", "passes"]

if not TYPE_CHECKING:  # for type checkers a name that is not here stays an error

    def __getattr__(name: str) -> object:
        raise unknown_name(__name__, name)
