r"""Feature transfer: a source takes over the decoupled features of a target and keeps what it is otherwise.

Three steps. The decoupled features of the target are measured, the source is normalized through all M levels, and the
values of the target are imposed on it in reverse order:

.. math:: v = \hat f(y), \qquad z = N_M(x), \qquad x' = D(z, v) \quad\text{with}\quad \hat f(x') = v,\; N_M(x') = z

What is kept of the source is z, its fully normalized sample: the kernel of the features. (Level M - 1 is not kept:
imposing the last value moves it.) What levels are normalized to is the reference of the plan, as everywhere: white
noise, unless another was given to `decouple`. The features that the target and the result then share are the decoupled
ones. With the target's own features as reference these are shared, and the decoupled ones mostly are not.

Colour images go channel by channel, or in an opponent colour space, an orthogonal change of the three channels into
their sum and two differences.

All of it goes in the small steps of `Plan.normalize`, the features too: those of the result are the wanted ones, and
its kernel that of the source, to 1e-10 and mostly to 1e-11 (thirteen of fourteen pairs of photographs and textures of
256 x 256 pixels, a dozen levels). Where rounding the pixels moves the normalized sample farther, so far it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from symdecouple.decoupling.progress import Progress, Tell, told
from symdecouple.errors import InvalidInput, Outcome
from symdecouple.language.feature_set import FeatureSet
from symdecouple.numeric.samples.batch import Answer, OnRefusal
from symdecouple.numeric.samples.intake import check_choice
from symdecouple.numeric.samples.matrix import normalized_axes
from symdecouple.numeric.samples.vectors import Batch, SampleAxis
from symdecouple.shown import Card, Shown

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
    names : tuple of str
        Of the decoupled features.
    values, normalize, denormalize : callable
        As `Plan.transform`, in the small steps of `Plan.normalize`; and as the methods of these names.
    is_own : bool
        Values are the features of a sample itself, and `denormalize` is `Plan.match`, from the source. The kernel is
        kept where the flows of the levels have one orbit (three moments, energies), and else only nearly.
    """

    features: FeatureSet
    names: tuple[str, ...]
    values: Callable[..., Any]
    normalize: Callable[..., Any]
    denormalize: Callable[..., Any]
    is_own: bool = False


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Transferred(Shown):
    """A source with the decoupled features of a target.

    Attributes
    ----------
    values : array
        Of the shape of the source; NaN where a transfer was refused.
    names : tuple of str
        The decoupled features, as in `Plan.names`.
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

    def _card(self) -> Card:
        refused = sum(not outcome.ok for outcome in self.outcomes)
        lines = [("values", f"of shape {self.values.shape}"), ("features", ", ".join(self.names))]
        if refused < len(self.outcomes):
            lines.append(("reached", f"features to {np.nanmax(self.feature_gap):.1e}, kernel to "
                          f"{np.nanmax(self.kernel_gap):.1e} standard deviations"))
        if refused:
            first = next(outcome for outcome in self.outcomes if not outcome.ok)
            lines.append(("refused", f"{refused} of {len(self.outcomes)}, the first: {first.reason}"))
        rows = [(str(i), name, *((f"{w:.8g}", f"{a:.8g}") if outcome.ok else (outcome.reason, "")))
                for i, (outcome, wanted, achieved) in enumerate(zip(self.outcomes, *self._tables(), strict=True))
                for name, w, a in zip(self.names, wanted, achieved, strict=True)]
        return Card("Transferred", lines, ("sample", "feature", "wanted", "achieved"), rows)

    def _tables(self) -> tuple[NDArray[Any], NDArray[Any]]:
        return self.wanted.reshape(-1, len(self.names)), self.achieved.reshape(-1, len(self.names))

    def within(self, low: float, high: float) -> tuple[NDArray[Any], int]:
        """Return the values limited to a range, such as that of a picture, and how many numbers were outside."""
        if not low < high:
            raise InvalidInput(f"a range has low < high, got {low} and {high}")
        outside = int(((self.values < low) | (self.values > high)).sum())
        return np.clip(self.values, low, high), outside

    def __str__(self) -> str:
        width = max(len(name) for name in self.names)
        wanted, achieved = self._tables()
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


def transfer(maps: Maps, source: Any, target: Any, *, axis: SampleAxis = "last", channel_axis: int | None = None,
             colour: Colour = "channels", on_refusal: OnRefusal = "warn", progress: Progress | None = None) -> Any:
    """Return the source with the decoupled features of the target.

    Parameters
    ----------
    maps : Maps
        Those of a plan: `Plan.transfer` is this function.
    source, target : array_like
        Samples, on grids of any sizes; one target for all sources, or as many as these.
    axis : int, tuple of int or None, optional
        The sample axes, as in `Plan.transform`.
    channel_axis : int, optional
        The axis of colours. Each channel is a sample of its own, all of its pixels; with `axis`, these of its axes are,
        counted in the whole array, and the others make a batch.
    colour : {"channels", "opponent"}
        Transfer channel by channel, or in the opponent space of three channels.
    on_refusal : {"warn", "raise", "return"}
        As in `Plan.transform`.
    progress : callable or True, optional
        As in `Plan.transform`; each sample counts five times, for what is measured, normalized and checked.

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
    check_choice("colour", colour, get_args(Colour))
    check_choice("on_refusal", on_refusal, get_args(OnRefusal))
    if colour == "opponent" and channel_axis is None:
        raise InvalidInput('colour="opponent" needs channel_axis, the axis of the three channels')
    if channel_axis is None:
        with told(progress, "transfer", "steps") as tell:
            done, answer = _transfer(maps, (source, target), (axis, axis), on_refusal, tell)
        return answer.deliver(done, on_refusal)
    first, second = _channels(source, "source", channel_axis, colour), _channels(target, "target", channel_axis, colour)
    if len(first) != len(second):
        raise InvalidInput(f"the source has {len(first)} channels, the target {len(second)}; convert one of them")
    axes = [_axes_of_channel(axis, channel_axis, np.shape(image), maps.features.filter_ndim)
            for image in (source, target)]
    with told(progress, "transfer", "steps") as tell:
        done, answer = _transfer(maps, (first, second), (axes[0], axes[1]), on_refusal, tell, True)
    values = np.tensordot(OPPONENT.T, done.values, axes=1) if colour == "opponent" else done.values
    return answer.deliver(replace(done, values=np.moveaxis(values, 0, channel_axis)), on_refusal)


def _channels(image: Any, name: str, axis: int, colour: Colour) -> NDArray[Any]:
    array = np.asarray(image)
    if isinstance(axis, bool) or not isinstance(axis, int | np.integer):
        raise InvalidInput(f"channel_axis={axis!r} was given, the number of an axis is expected")
    if array.dtype.kind not in "fiub" or not -array.ndim <= axis < array.ndim:
        raise InvalidInput(f"the {name} is an image of real numbers with channels along axis {axis}, got shape "
                           f"{array.shape}, dtype {array.dtype}")
    if np.ma.is_masked(image):
        raise InvalidInput(f"the {name} has masked pixels, which a transfer cannot leave out; fill them first")
    channels = np.moveaxis(array, axis, 0)
    if colour == "channels":
        return channels
    if len(channels) != 3:
        raise InvalidInput(f'colour="opponent" is for three channels, the {name} has {len(channels)}')
    return np.asarray(np.tensordot(OPPONENT, channels.astype(np.float64), axes=1))


def _axes_of_channel(axis: SampleAxis, channel_axis: int, shape: tuple[int, ...], filtered: int | None
                     ) -> tuple[int, ...]:
    """Return which axes of an image make a sample, once its channels are the first axis: mostly all of the others."""
    ndim = len(shape)
    channel, others = channel_axis % ndim, [i for i in range(ndim) if i != channel_axis % ndim]
    if axis is None or (isinstance(axis, str) and axis == "last"):
        if filtered not in (None, ndim - 1):
            raise InvalidInput(f"a channel has {ndim - 1} axes, the filters have {filtered} dimension(s): say which of "
                               f"them make a sample, axis={tuple(others[-filtered:])} for instance")
        return tuple(range(1, ndim))
    named = normalized_axes(axis, shape)
    if channel in named:
        raise InvalidInput(f"axis={axis!r} names the axis of channels, {channel_axis}, too; name axes of one channel")
    return tuple(1 + others.index(i) for i in named)


def _transfer(maps: Maps, images: tuple[Any, Any], axes: tuple[SampleAxis, SampleAxis], on_refusal: OnRefusal,
              tell: Tell | None, is_coloured: bool = False) -> tuple[Transferred, Answer]:
    (source, target), (axis, axis_of_target), count = images, axes, len(maps.features)
    batch = Batch.of("transfer", source, axis, False, maps.features.filter_ndim)
    steps = _steps(tell, len(batch.rows))
    is_returned = on_refusal == "return"
    found = maps.values(target, axis=axis_of_target, on_refusal="return" if is_returned else "raise",
                        progress=next(steps))
    wanted, lacking = found if is_returned else (found, ())
    if is_coloured:  # one image for all of a batch: its channels are those of each
        more = (1,) * (len(batch.shape) + 1 - wanted.ndim)
        wanted = wanted.reshape(wanted.shape[0], *more, *wanted.shape[1:])
    try:
        asked = np.broadcast_to(wanted, (*batch.shape, count))
    except ValueError as error:
        raise InvalidInput(f"sources in a batch of shape {batch.shape} take one target, or one each; the targets have "
                           f"shape {wanted.shape[:-1]}") from error
    kernel, first = maps.normalize(source, count, axis=axis, on_refusal="return", progress=next(steps))
    start = source if maps.is_own else kernel
    values, second = maps.denormalize(start, asked, count, axis=axis, on_refusal="return", progress=next(steps))
    achieved, _ = maps.values(values, axis=axis, on_refusal="return", progress=next(steps))
    again, _ = maps.normalize(values, count, axis=axis, on_refusal="return", progress=next(steps))
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
    answer = Answer("transfer", batch.shape, refusals, frames=4, notes=perturbed, hint=batch.hint)
    return Transferred(values, maps.names, asked, achieved, gap, answer.outcomes()), answer


def _steps(tell: Tell | None, count: int) -> Iterator[Tell | None]:
    """Yield what tells of each of five calls, on so many samples or others, as a fifth of the whole."""
    for stage in range(5):
        def step(done: int, total: int, before: int = stage * count) -> None:
            if tell is not None:
                tell(before + count * done // max(total, 1), 5 * count)

        yield None if tell is None else step


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
