r"""Feature transfer: a source takes over the decoupled features of a target and keeps what it is otherwise.

Three steps. The decoupled features of the target are measured, the source is normalized through all M levels, and the
values of the target are imposed on it in reverse order:

.. math:: v = \hat f(y), \qquad z = N_M(x), \qquad x' = D(z, v) \quad\text{with}\quad \hat f(x') = v,\; N_M(x') = z

What is kept of the source is z, its fully normalized sample: the kernel of the features. (Level M - 1 is not kept:
imposing the last value moves it.) Colour images go channel by channel, or in an opponent colour space, an orthogonal
change of the three channels into their sum and two differences.

All of it goes in the small steps of `Plan.normalize`, the features too: those of the result are the wanted ones, and
its kernel that of the source, to 1e-10 and mostly to 1e-11 (thirteen of fourteen pairs of photographs and textures of
256 x 256 pixels, a dozen levels). Where rounding the pixels moves the normalized sample farther, so far it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput, Outcome
from symdecouple.language.feature_set import FeatureSet
from symdecouple.numeric.samples.batch import Answer, Axis, OnRefusal
from symdecouple.numeric.samples.vectors import Batch

__all__ = ["Colour", "Maps", "Match", "Transferred", "transfer"]

Colour: TypeAlias = Literal["channels", "opponent"]
Match: TypeAlias = Literal["decoupled", "own"]

_APART = 1e-6  # from where on a result is none
OPPONENT = np.array([[1, 1, 1], [1, -1, 0], [1, 1, -2]]) / np.sqrt([[3], [2], [6]])


@dataclass(frozen=True, slots=True)
class Maps:
    """What a transfer goes along: the maps of a plan with a reference for every feature, the last one included.

    Attributes
    ----------
    features : FeatureSet
    values, normalize, denormalize : callable
        As `Plan.transform`, in the small steps of `Plan.normalize`; and as the methods of these names.
    is_own : bool
        Values are the features of a sample itself, and `denormalize` is `Plan.match`, from the source. The kernel is
        kept where the flows of the levels have one orbit (three moments, energies), and else only nearly.
    """

    features: FeatureSet
    values: Callable[..., Any]
    normalize: Callable[..., Any]
    denormalize: Callable[..., Any]
    is_own: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Transferred:
    """A source with the decoupled features of a target.

    Attributes
    ----------
    values : array
        Of the shape of the source; NaN where a transfer was refused.
    names : tuple of str
        The features.
    wanted, achieved : array (..., M)
        Decoupled features of the target, and of the result; with ``match="own"`` those that they have themselves.
    kernel_gap : array (...)
        Largest distance between the fully normalized result and the fully normalized source, in standard deviations of
        the latter; with ``match="own"`` it need not be small.
    outcomes : tuple of Outcome
        One for each sample of the flattened batch: what was out of reach, and how far it went.
    """

    values: NDArray[Any]
    names: tuple[str, ...]
    wanted: NDArray[Any]
    achieved: NDArray[Any]
    kernel_gap: NDArray[Any]
    outcomes: tuple[Outcome, ...]

    @property
    def feature_gap(self) -> NDArray[Any]:
        """Distance of each achieved feature from the wanted one, over 1 + abs(wanted), (..., M)."""
        return np.asarray(np.abs(self.achieved - self.wanted) / (1 + np.abs(self.wanted)))

    def within(self, low: float, high: float) -> tuple[NDArray[Any], int]:
        """Return the values limited to a range, such as that of a picture, and how many numbers were outside."""
        if not low < high:
            raise InvalidInput(f"a range has low < high, got {low} and {high}")
        outside = int(((self.values < low) | (self.values > high)).sum())
        return np.clip(self.values, low, high), outside

    def __str__(self) -> str:
        width = max(len(name) for name in self.names)
        wanted, achieved = self.wanted.reshape(-1, len(self.names)), self.achieved.reshape(-1, len(self.names))
        lines = []
        for i, outcome in enumerate(self.outcomes):
            title = f"sample {i}: " if len(self.outcomes) > 1 else ""
            if not outcome.ok:
                lines.append(f"{title}{outcome.reason}: {outcome.detail}")
                continue
            lines.append(f"{title}kernel equal to {self.kernel_gap.reshape(-1)[i]:.1e} standard deviations")
            lines += [f"  {name:<{width}}  wanted {w:<14.8g} achieved {a:<14.8g} difference {abs(a - w):.1e}"
                      for name, w, a in zip(self.names, wanted[i], achieved[i], strict=True)]
        return "\n".join(lines)


def transfer(maps: Maps, source: Any, target: Any, *, axis: Axis = None, channel_axis: int | None = None,
             colour: Colour = "channels", on_refusal: OnRefusal = "warn") -> Any:
    """Return the source with the decoupled features of the target.

    Parameters
    ----------
    maps : Maps
        Those of a plan: `Plan.transfer` is this function.
    source, target : array_like
        Samples, on grids of any sizes; one target for all sources, or as many as these.
    axis : int or tuple of int, optional
        The sample axes, as in `Plan.transform`.
    channel_axis : int, optional
        The axis of colours; each channel is a sample of its own.
    colour : {"channels", "opponent"}
        Transfer channel by channel, or in the opponent space of three channels.
    on_refusal : {"warn", "raise", "return"}
        As in `Plan.transform`.

    Returns
    -------
    Transferred
        With ``on_refusal="return"``: and the outcomes.

    Raises
    ------
    InvalidInput
        If target and source do not fit each other.
    Refused
        If a target itself has no decoupled features; with ``on_refusal="return"`` only the sources it is for.

    Examples
    --------
    >>> from symdecouple.decoupling.plan import decouple
    >>> from symdecouple.families.moments import raw_moments
    >>> done = decouple(raw_moments(3)).transfer([1.0, 2, 3, 5, 8, 13], [4.0, 6, 7, 9])
    >>> done.values.mean().round(12).item(), done.values.var().round(12).item()
    (6.5, 3.25)
    >>> bool(done.kernel_gap < 1e-12)
    True
    """
    if colour not in get_args(Colour):
        raise InvalidInput(f"colour={colour!r} was given, one of {', '.join(map(repr, get_args(Colour)))} is expected")
    if colour == "opponent" and channel_axis is None:
        raise InvalidInput('colour="opponent" needs channel_axis, the axis of the three channels')
    if channel_axis is None:
        done, answer = _transfer(maps, source, target, axis, on_refusal)
        return answer.deliver(done, on_refusal)
    if axis is not None:
        raise InvalidInput("with channel_axis the sample axes are the others in their order: leave axis out")
    first, second = _channels(source, "source", channel_axis, colour), _channels(target, "target", channel_axis, colour)
    if len(first) != len(second):
        raise InvalidInput(f"the source has {len(first)} channels, the target {len(second)}; convert one of them")
    done, answer = _transfer(maps, first, second, None, on_refusal)
    values = np.tensordot(OPPONENT.T, done.values, axes=1) if colour == "opponent" else done.values
    return answer.deliver(replace(done, values=np.moveaxis(values, 0, channel_axis)), on_refusal)


def _channels(image: Any, name: str, axis: int, colour: Colour) -> NDArray[Any]:
    array = np.asarray(image)
    if array.dtype.kind not in "fiub" or not -array.ndim <= axis < array.ndim:
        raise InvalidInput(f"the {name} is an image of real numbers with channels along axis {axis}, got shape "
                           f"{array.shape}, dtype {array.dtype}")
    channels = np.moveaxis(array, axis, 0)
    if colour == "channels":
        return channels
    if len(channels) != 3:
        raise InvalidInput(f'colour="opponent" is for three channels, the {name} has {len(channels)}')
    return np.asarray(np.tensordot(OPPONENT, channels.astype(np.float64), axes=1))


def _transfer(maps: Maps, source: Any, target: Any, axis: Axis, on_refusal: OnRefusal) -> tuple[Transferred, Answer]:
    count = len(maps.features)
    batch = Batch.of("transfer", source, axis, False, maps.features.filter_ndim)
    is_returned = on_refusal == "return"
    found = maps.values(target, axis=axis, on_refusal="return" if is_returned else "raise")
    wanted, lacking = found if is_returned else (found, ())
    try:
        asked = np.broadcast_to(wanted, (*batch.shape, count))
    except ValueError as error:
        raise InvalidInput(f"sources in a batch of shape {batch.shape} take one target, or one each; the targets have "
                           f"shape {wanted.shape[:-1]}") from error
    kernel, first = maps.normalize(source, count, axis=axis, on_refusal="return")
    start = source if maps.is_own else kernel
    values, second = maps.denormalize(start, asked, count, axis=axis, on_refusal="return")
    achieved, _ = maps.values(values, axis=axis, on_refusal="return")
    again, _ = maps.normalize(values, count, axis=axis, on_refusal="return")
    refusals = {i: one if not (one.ok or maps.is_own) else two for i, (one, two) in enumerate(
        zip(first, second, strict=True)) if not ((one.ok or maps.is_own) and two.ok)}
    refusals |= _of_targets(lacking, batch.shape, wanted.shape[:-1])
    gap = np.abs(again - kernel).max(axis=batch.axes) / _unit(kernel, batch.axes)
    apart = (np.abs(achieved - asked) / (1 + np.abs(asked))).max(axis=-1)
    apart = apart if maps.is_own else np.maximum(apart, gap)
    refusals |= {int(i): _lost(float(apart.flat[i])) for i in np.flatnonzero(~(apart <= _APART)) if i not in refusals}
    refused = np.array([i in refusals for i in range(apart.size)], dtype=np.bool_).reshape(batch.shape)
    values = np.where(np.expand_dims(refused, batch.axes), np.nan, values)
    perturbed = {i: one for i, one in enumerate(first) if one.reason and i not in refusals}
    answer = Answer("transfer", batch.shape, refusals, frames=4, notes=perturbed)
    return Transferred(values, tuple(map(str, maps.features)), asked, achieved, gap, answer.outcomes()), answer


def _of_targets(outcomes: Sequence[Outcome], shape: tuple[int, ...], given: tuple[int, ...]) -> dict[int, Outcome]:
    """The refusals of targets, at the sources they were for."""
    bad = [None if one.ok else one for one in outcomes]
    if not any(bad):
        return {}
    each = np.broadcast_to(np.array(bad, dtype=object).reshape(given), shape).ravel()
    return {i: replace(one, detail=f"the target: {one.detail}") for i, one in enumerate(each) if one is not None}


def _unit(kernel: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
    """Return standard deviations; the size of a constant, which a mean alone leaves as it is."""
    spread, size = np.std(kernel, axis=axes), np.abs(kernel).max(axis=axes)
    return np.asarray(np.where(spread > 64 * np.finfo(np.float64).eps * size, spread, np.where(size > 0, size, 1)))


def _lost(apart: float) -> Outcome:
    return Outcome(False, "lost on the way", f"the result is {apart:.1e} away from the features that were asked for, "
                   "or from the kernel of the source; take units, or a reference, nearer to both samples")
