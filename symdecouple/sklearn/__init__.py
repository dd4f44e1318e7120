"""Transformers for scikit-learn: decoupled features of rows and images, for pipelines. Loads scikit-learn on first use.

The package `symdecouple[sklearn]` brings it; without it, asking for a transformer is a `MissingPackage`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from symdecouple.errors import MissingPackage
from symdecouple.names import unknown_name

if TYPE_CHECKING:
    from symdecouple.sklearn.declared import FeatureDecoupler
    from symdecouple.sklearn.images import DecoupledFilterBank
    from symdecouple.sklearn.moments import DecoupledMoments

__all__ = ["DecoupledFilterBank", "DecoupledMoments", "FeatureDecoupler"]

_MODULE_OF = {"DecoupledFilterBank": "images", "DecoupledMoments": "moments", "FeatureDecoupler": "declared"}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _MODULE_OF:
            raise unknown_name(__name__, name)
        try:
            import_module("sklearn")
        except ImportError as error:
            raise MissingPackage(f"{name} needs scikit-learn, which is not installed; install it with: "
                                 'pip install "symdecouple[sklearn]"') from error
        value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
