r"""What decoupled features are called: as they were named, as what they are known to be, or by their number.

Beside the standard references the decoupled moments have names of their own:

.. math:: f_1 = \bar x, \qquad \hat f_2 = \mathrm{Mean}\bigl((x - \bar x)^2\bigr), \qquad
    \hat f_3 = \text{skewness}, \qquad \hat f_4 = \text{orthokurtosis}

Feature k is taken where those before it are at their references: these have to be 0, 1, 0 for the names to be true.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from symdecouple.families.moments import raw_moments, standardized_moments
from symdecouple.language.feature_set import FeatureSet

__all__ = ["SHORT", "declared_names", "decoupled_names"]

_KNOWN = "mean", "variance", "skewness", "orthokurtosis"
_STANDARD = 0, 1, 0  # references of mean, variance and skewness at which decoupled features have these names
SHORT = 24  # letters


def decoupled_names(features: FeatureSet, reference: Sequence[Any]) -> tuple[str, ...]:
    """Return a name for each decoupled feature; no two are alike.

    Examples
    --------
    >>> decoupled_names(raw_moments(6), [0, 1, 0, 3, 0, 15])
    ('mean', 'variance', 'skewness', 'orthokurtosis', 'decoupled_5', 'decoupled_6')
    >>> decoupled_names(raw_moments(3), [0, 2, 0])  # Mean(z**3) of samples with the variance 2 is no skewness
    ('mean', 'variance', 'decoupled_3')
    """
    known, names = _known(features, reference), list[str]()
    for k, feature in enumerate(features):
        text = str(feature) if k == 0 and len(str(feature)) <= SHORT else ""
        name = features.names[k] if feature.is_named else known[k] if k < len(known) else text
        names.append(name if name and name not in names else f"decoupled_{k + 1}")
    return tuple(names)


def declared_names(features: FeatureSet) -> tuple[str, ...]:
    """Return a short name for each feature as it is declared, for tables and pictures.

    Examples
    --------
    >>> declared_names(standardized_moments(5)), declared_names(raw_moments(2))
    (('mean', 'variance', 'skewness', 'kurtosis', 'moment_5'), ('mean', 'Mean(x**2)'))
    """
    moments = () if features.coordinates else standardized_moments(min(len(features), 20), features.sample)
    known = dict(zip(moments, (*_KNOWN[:3], "kurtosis", *(f"moment_{k}" for k in range(5, 21))), strict=False))
    names = list[str]()
    for k, feature in enumerate(features):
        name = features.names[k] if feature.is_named else known.get(feature, str(feature))
        names.append(name if name not in names and (feature.is_named or len(name) <= SHORT) else f"feature_{k + 1}")
    return tuple(names)


def _known(features: FeatureSet, reference: Sequence[Any]) -> Sequence[str]:
    """The names of leading features that are moments, each alone in its group, beside the standard references."""
    if features.coordinates:
        return ()
    forms = zip(features, raw_moments(4, features.sample), standardized_moments(4, features.sample), strict=False)
    are_known = (feature in pair and features.groups[k] == (k,) and tuple(reference[:k]) == _STANDARD[:k]
                 for k, (feature, *pair) in enumerate(forms))
    return _KNOWN[: sum(1 for _ in takewhile(bool, are_known))]
