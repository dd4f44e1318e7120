"""Ready feature sets, and what is known about them."""

from typing import TYPE_CHECKING

from symdecouple.families.bank import FilterBank
from symdecouple.families.circular import circular_features
from symdecouple.families.exact import ExactTriple, exact_triple
from symdecouple.families.filter_moments import filter_moments
from symdecouple.families.moments import raw_moments, recognize_moments, standardized_moments
from symdecouple.families.quadratic import autocorrelation, recognize_quadratic, second_order_moments
from symdecouple.families.recognition import Recognition, recognize
from symdecouple.families.tils import tils
from symdecouple.names import unknown_name

__all__ = [
    "ExactTriple",
    "FilterBank",
    "Recognition",
    "autocorrelation",
    "circular_features",
    "exact_triple",
    "filter_moments",
    "raw_moments",
    "recognize",
    "recognize_moments",
    "recognize_quadratic",
    "second_order_moments",
    "standardized_moments",
    "tils",
]

if not TYPE_CHECKING:  # for type checkers a name that is not here stays an error

    def __getattr__(name: str) -> object:
        raise unknown_name(__name__, name)
