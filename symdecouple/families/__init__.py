"""Ready feature sets, and what is known about them."""

from symdecouple.families.bank import FilterBank
from symdecouple.families.circular import circular_features
from symdecouple.families.exact import ExactTriple, exact_triple
from symdecouple.families.filter_moments import filter_moments
from symdecouple.families.moments import raw_moments, recognize_moments, standardized_moments
from symdecouple.families.quadratic import autocorrelation, recognize_quadratic, second_order_moments
from symdecouple.families.recognition import Recognition, recognize
from symdecouple.families.tils import tils

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
