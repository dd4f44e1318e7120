"""`import symdecouple.pandas` gives Series and DataFrames the accessor ``sd``: ``frame.sd.orthokurtosis()``.

It has the functions of `symdecouple.stats` that take samples, with the object that it belongs to as their first
argument, and `apply` for the methods of plans.

>>> import pandas as pd
>>> import symdecouple.pandas
>>> frame = pd.DataFrame({"city": list("aabbaabb"), "height": [1, 2, 4, 9, 5, 3, 7, 6.0]})
>>> frame.sd.standardized_moments(order=2, groups="city").round(4).loc[("b", "height")].tolist()
[6.5, 3.25]
>>> frame["height"].sd.rolling(4, "skewness").round(4).tolist()[3:]
[0.7684, 0.5431, 0.8332, 0.0, -0.4347]
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, update_wrapper
from typing import Any

from symdecouple import stats
from symdecouple.errors import InvalidInput, MissingPackage
from symdecouple.tables.row_functions import FORMS

try:
    from pandas.api import extensions
except ImportError as error:
    raise MissingPackage('the accessor needs pandas; install it with: pip install "symdecouple[pandas]"') from error

__all__ = ["Statistics"]


@extensions.register_dataframe_accessor("sd")  # type: ignore[untyped-decorator, unused-ignore]
@extensions.register_series_accessor("sd")  # type: ignore[untyped-decorator, unused-ignore]
class Statistics:
    """The statistics of a Series or a DataFrame."""

    def __init__(self, held: Any) -> None:
        self._held = held

    def apply(self, method: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Return what a method of a plan, ``plan.transform``, says of the object."""
        if not callable(method):
            raise InvalidInput(f"{method!r:.60} was given, a method of a plan is expected, such as plan.transform")
        return method(self._held, *arguments, **options)

    def __getattr__(self, name: str) -> Any:
        function = getattr(stats, name)
        if name != "rolling" and function not in FORMS:
            raise AttributeError(f"sd.{name} is no function of samples; it has {', '.join(self.__dir__())}")
        return update_wrapper(partial(function, self._held), function)

    def __dir__(self) -> list[str]:
        return ["apply", *(name for name in stats.__all__ if name == "rolling" or getattr(stats, name) in FORMS)]
