"""Features of pictures and signals by short names: ``energies,moments:4`` to one nested set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput, Refused
from symdecouple.families.moments import raw_moments
from symdecouple.families.quadratic import second_order_moments
from symdecouple.families.tils import tils
from symdecouple.language.feature_set import FeatureSet
from symdecouple.numeric.features.coordinates import compiled_features

__all__ = ["Listed", "listed_features"]

_MOST_MOMENTS = 12
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, slots=True)
class Listed:
    """Features that a list of names stands for.

    Attributes
    ----------
    features : FeatureSet
    names : tuple of str
    order : int
        Of the highest moment.
    """

    features: FeatureSet
    names: tuple[str, ...]
    order: int

    @property
    def has_bands(self) -> bool:
        """True iff there are energies of bands, which silent frequencies leave without room."""
        return self.features.filter_ndim is not None

    def values(self, sample: NDArray[np.float64]) -> list[float]:
        """The features of a sample as they are, not decoupled.

        Raises
        ------
        Refused
            If float64 does not hold them.
        """
        rows: Any = compiled_features(self.features)
        if self.has_bands:
            rows = rows.on(sample.shape)
        size = float(np.abs(sample).max())
        with np.errstate(all="ignore"):  # what is lost is asked for next
            values, of_unit = (rows.values(each.reshape(1, -1))[0] for each in (sample, sample / (size or 1)))
        if not np.isfinite(values).all() or ((np.abs(values) < _TINY) & (of_unit != 0)).any():
            raise Refused(f"its values go to {size:.3g}, and float64 does not hold all features of them; take other "
                          "units")
        return [float(v) for v in values]


def listed_features(text: str, ndim: int) -> Listed:
    """Return the features of a list such as ``energies,moments:4``, each decoupled from those before it.

    ``moments:K`` are the raw moments up to order K: their nested spans, and so what is decoupled, are those of mean,
    variance and standardized moments. ``energies`` are those of the bands of the TILs. Their sum is the second moment
    (up to a factor): after moments:2 the low band is left out, before moments the mean comes first, since the low band
    has a gain at frequency zero, and the second moment is left out.

    Parameters
    ----------
    text : str
    ndim : int
        Axes of a sample.

    Raises
    ------
    InvalidInput

    Examples
    --------
    >>> listed_features("moments:3, energies", 1).names
    ('mean(x)', 'mean(x^2)', 'mean(x^3)', 'energy m', 'energy h')
    >>> listed_features("energies, moments:3", 1).names
    ('mean(x)', 'energy l', 'energy m', 'energy h', 'mean(x^3)')
    """
    kinds = [part.strip().lower() for part in text.split(",")]
    known = {"energies": 0}
    for kind in kinds:
        name, colon, order = kind.partition(":")
        if name == "moments" and colon and order.strip().isdecimal() and len(order) < 4 and (
                1 <= int(order) <= _MOST_MOMENTS):
            known[kind] = int(order)
    if not kinds or any(kind not in known for kind in kinds) or len({k.partition(":")[0] for k in kinds}) < len(kinds):
        raise InvalidInput(f"--features {text[:60]!r}: moments:K with K from 1 to {_MOST_MOMENTS}, energies, or both "
                           "in either order are expected, such as energies,moments:4")
    moments = list(raw_moments(max(1, *known.values())))
    first = moments if kinds[0] != "energies" else moments[:1]
    bank = tils(ndim, low=len(first) < 2)
    energies = list(second_order_moments(bank)) if "energies" in kinds else []
    rest = moments[2:] if kinds[0] == "energies" else []
    powers = [f"mean(x^{k})" if k > 1 else "mean(x)" for k in range(1, len(moments) + 1)]
    bands = [f"energy {name}" for name in bank.names] if energies else []
    names = (*powers[: len(first)], *bands, *powers[2:][: len(rest)])
    return Listed(FeatureSet([*first, *energies, *rest]), names, len(moments))
