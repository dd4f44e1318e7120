"""Large arrays: vectors in chunks, and objects of dask and xarray, neither of which is needed or loaded otherwise."""

from typing import TYPE_CHECKING

from symdecouple.lazy.state import MomentState
from symdecouple.lazy.summary import MomentSummary
from symdecouple.names import unknown_name

__all__ = ["MomentState", "MomentSummary"]

if not TYPE_CHECKING:  # for type checkers a name that is not here stays an error

    def __getattr__(name: str) -> object:
        raise unknown_name(__name__, name)
