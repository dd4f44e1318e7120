r"""Decoupled moments of filter outputs, of images of any size, as a transformer.

.. math:: f_{p,b}(x) = \mathrm{Mean}(h_b(x)^p)

the bands b of a bank, order by order, each feature decoupled from all before it. A channel is a sample of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from symdecouple.decoupling.plan import Plan, decouple
from symdecouple.errors import InvalidInput, Outcome
from symdecouple.families.bank import FilterBank
from symdecouple.families.filter_moments import filter_moments
from symdecouple.families.tils import tils
from symdecouple.numeric.perturbing import Perturbation, PerturbationKind
from symdecouple.numeric.samples.batch import COMPUTED, NAN_INPUT, NanPolicy
from symdecouple.numeric.samples.intake import check_choice
from symdecouple.sklearn.answered import Answers, DecouplingTransformer
from symdecouple.sklearn.checked import check_images, tag

__all__ = ["DecoupledFilterBank"]

_NAN = "propagate", "raise"
_CHANNELS = 1, 3, 4  # of pictures
_LARGE = 16  # pixels; no kernel of a bank is as large, and no picture as narrow as it has channels


class DecoupledFilterBank(DecouplingTransformer):
    """Decoupled moments of the bands of a filter bank, of each image.

    Parameters
    ----------
    bank : "tils", FilterBank, or list of filters
        Of two dimensions. "tils": nine bands of three taps a dimension, a Parseval frame.
    orders : sequence of int
        Moments of the bands, order by order; 2 are the energies, whose levels have closed forms. Higher ones go along
        narrow paths and take much longer.
    reference : str, sequence, mapping or Reference
        As in `decouple`; by default what white noise has.
    nan_policy : {"propagate", "raise"}
        An image with NaN gives NaN, or an error; a filter cannot leave pixels out.
    on_refusal : {"warn", "raise"}
        For images that lack a level, such as those of one colour: NaN from there on and one `RefusalWarning` a call; or
        `Refused`, at the end.
    perturb : Perturbation or {"ramp", "spectral", "ramp and spectral"}, optional
        Tried once more with refused images; their quantisation hides it. "spectral" is for silent frequencies.
    n_jobs : int, optional
        Processes, as everywhere in scikit-learn.

    Attributes
    ----------
    plan_ : Plan
    n_channels_ : int
    n_features_in_ : int
        The number of channels: images may be of any size.

    See Also
    --------
    symdecouple.families.filter_moments : The features.
    FeatureDecoupler : For features of your own, of images in rows.

    Examples
    --------
    >>> import numpy as np
    >>> images = np.random.default_rng(0).integers(0, 256, size=(3, 16, 20), dtype=np.uint8)
    >>> bank = DecoupledFilterBank().fit(images)
    >>> bank.get_feature_names_out()[:4].tolist(), bank.transform(images).shape
    (['ll', 'lm', 'lh', 'ml'], (3, 9))
    >>> bank.transform([images[0], images[1, :12, :12]]).shape  # of different sizes
    (2, 9)
    """

    def __init__(self, bank: Any = "tils", orders: Sequence[int] = (2,), *, reference: Any = "white",
                 nan_policy: NanPolicy = "propagate", on_refusal: str = "warn",
                 perturb: Perturbation | PerturbationKind | None = None, n_jobs: int | None = None) -> None:
        self.bank = bank
        self.orders = orders
        self.reference = reference
        self.nan_policy = nan_policy
        self.on_refusal = on_refusal
        self.perturb = perturb
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> DecoupledFilterBank:
        """Make the plan, and note the number of channels.

        Parameters
        ----------
        X : array_like (n, h, w) or (n, h, w, channels), or list of images (h, w) or (h, w, channels)
        y : ignored
        """
        del y
        if self.nan_policy == "omit":
            raise InvalidInput("nan_policy='omit' was given: a filter cannot leave pixels out; fill them, or choose "
                               "'propagate' or 'raise'")
        check_choice("nan_policy", self.nan_policy, _NAN)
        perturbation = self._check_options()
        self.n_channels_ = self.n_features_in_ = _channels(self._stacks(X))
        self.plan_ = decouple(filter_moments(_bank(self.bank), self.orders), self.reference, perturb=perturbation)
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the decoupled features of each image, channel by channel, (n, channels * M).

        Parameters
        ----------
        X : as for `fit`
            With as many channels.
        """
        check_is_fitted(self)
        stacks = self._stacks(X)
        if (count := _channels(stacks)) != self.n_channels_:
            raise InvalidInput(f"images of {count} channels were given; {type(self).__name__} was fitted with "
                               f"{self.n_channels_}")
        size = sum(len(which) for which, _ in stacks)
        is_single = all(stack.dtype in (np.float16, np.float32) for _, stack in stacks)
        values = np.empty((size, count * len(self.plan_.features)), np.float32 if is_single else np.float64)
        outcomes = [COMPUTED] * size
        for which, stack in stacks:
            images = stack.astype(np.float64) if stack.dtype.kind == "f" and not is_single else stack
            values[which], told = self._in_parts(partial(_of_images, plan=self.plan_), images)
            for i, outcome in zip(which, told, strict=True):
                outcomes[i] = outcome
        return self._reported("transform", (values, outcomes))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the bands, "ll" of energies and "ll_3" of others; of several channels, "channel0_ll".

        Parameters
        ----------
        input_features : ignored
        """
        check_is_fitted(self)
        names: NDArray[np.object_] = self.plan_.get_feature_names_out()
        if self.n_channels_ == 1:
            return names
        return np.array([f"channel{c}_{name}" for c in range(self.n_channels_) for name in names], dtype=object)

    def _stacks(self, X: Any) -> list[tuple[list[int], NDArray[Any]]]:
        """Return images of one size and type together, (k, h, w, channels), and their places."""
        if np.ndim(X) == 0 if not isinstance(X, list | tuple) else not X:
            raise InvalidInput(f"{X!r:.80} was given; images (n, h, w) or (n, h, w, channels), or a list of images, "
                               "one at least, are expected")
        if not isinstance(X, list | tuple) and getattr(getattr(X, "dtype", None), "kind", None) != "O":
            stack = check_images(self, X, self._allows_nan)
            return [(list(range(len(stack))), _with_channels(stack))]
        groups: dict[tuple[Any, ...], list[int]] = {}
        images = []
        for i, one in enumerate(X):
            if one is None or isinstance(one, str | bytes | int | float):
                raise InvalidInput(f"image {i} of the list is {one!r:.60}; an array of numbers is expected" + (
                    ": read the file first" if isinstance(one, str | bytes) else ""))
            images.append(check_images(self, one, self._allows_nan))
        for i, image in enumerate(images):
            if image.ndim not in (2, 3):
                raise InvalidInput(f"image {i} of the list has shape {image.shape}; (h, w) or (h, w, channels) is "
                                   "expected")
            groups.setdefault((image.shape, image.dtype), []).append(i)
        if len({image.ndim for image in images}) > 1:
            raise InvalidInput("some images of the list have channels and others have not; give all of them as "
                               "(h, w, channels), such as image[..., None]")
        return [(which, _with_channels(np.stack([images[i] for i in which]))) for which in groups.values()]

    def _more(self, tags: Any) -> Any:
        return tag(tags, allow_nan=self._allows_nan, images=True)


def _bank(bank: Any) -> FilterBank:
    if isinstance(bank, str) and bank != "tils":
        raise InvalidInput(f"bank={bank!r} was given; 'tils', a FilterBank or a list of filters is expected, such as "
                           "FilterBank.from_wavelet('haar', ndim=2)")
    made = tils() if isinstance(bank, str) else bank if isinstance(bank, FilterBank) else FilterBank(bank)
    if made.ndim != 2:
        raise InvalidInput(f"a bank of {made.ndim} dimension{'s' * (made.ndim > 1)} was given; images take filters of "
                           "2, such as tils(2)")
    return made


def _with_channels(stack: NDArray[Any]) -> NDArray[Any]:
    """Images (n, h, w, channels); what looks like something else is refused."""
    shape = stack.shape
    if stack.ndim == 2:
        raise InvalidInput(f"an array of shape {shape} was given; images are (n, h, w) or (n, h, w, channels): for one "
                           "image write X[None], for images in rows X.reshape(len(X), h, w)")
    if stack.ndim not in (3, 4):
        raise InvalidInput(f"an array of shape {shape} was given; images are (n, h, w) or (n, h, w, channels)")
    if stack.ndim == 3 and shape[2] in _CHANNELS and min(shape[:2]) >= _LARGE:
        raise InvalidInput(f"an array of shape {shape} was given, which looks like one image with channels: write "
                           "X[None]")
    if stack.ndim == 4 and shape[1] in _CHANNELS and min(shape[2:]) >= _LARGE:
        raise InvalidInput(f"an array of shape {shape} was given, whose channels look as if they came first: write "
                           "np.moveaxis(X, 1, -1)")
    return stack if stack.ndim == 4 else stack[..., None]


def _channels(stacks: Iterable[tuple[list[int], NDArray[Any]]]) -> int:
    counts: set[int] = {stack.shape[-1] for _, stack in stacks}
    if len(counts) != 1:
        raise InvalidInput(f"images of {', '.join(map(str, sorted(counts)))} channels were given together; one "
                           "number of channels is expected")
    return counts.pop()


def _of_images(images: NDArray[Any], plan: Plan) -> Answers:
    """The features of images (k, h, w, channels), and one outcome each: that of the first channel with one to tell."""
    values, outcomes = plan.transform(np.moveaxis(images, -1, 1), on_refusal="return")
    count = images.shape[-1]
    return values.reshape(len(images), -1), [_told(outcomes[i : i + count]) for i in range(0, len(outcomes), count)]


def _told(outcomes: Sequence[Outcome]) -> Outcome:
    """What is said of an image, refusals first."""
    ranked = sorted(enumerate(outcomes), key=lambda pair: (pair[1].ok, pair[1] == NAN_INPUT, not pair[1].reason))
    channel, first = ranked[0]
    if len(outcomes) == 1 or not first.reason or first == NAN_INPUT:
        return first
    return replace(first, detail=f"channel {channel}: {first.detail}")
