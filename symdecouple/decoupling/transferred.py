"""The result of a transfer: its values, what was wanted and reached, and the same transfer of other values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal, TypeAlias, get_args, overload

import numpy as np
from numpy.typing import NDArray

from symdecouple.decoupling.carrying import NoMap, Recipe
from symdecouple.decoupling.colour_channels import OPPONENT, Layout
from symdecouple.decoupling.lookup_table import LookupTable
from symdecouple.decoupling.transfer_picture import draw_transfer
from symdecouple.errors import InvalidInput, Outcome
from symdecouple.figures import Axes
from symdecouple.numeric.samples.batch import Answer, OnRefusal
from symdecouple.numeric.samples.intake import check_choice, take_numbers
from symdecouple.numeric.samples.kinds import Outcomes, Quiet, Signal
from symdecouple.numeric.samples.vectors import narrowed, own_axes
from symdecouple.shown import Card, Shown

__all__ = ["Beyond", "Transferred"]

Beyond: TypeAlias = Literal["refuse", "hold"]


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
    source, target : array_like
        As they were given.
    layout : Layout
        How they are samples.
    recipe : Recipe
        The way of the transfer.
    """

    values: NDArray[Any]
    names: tuple[str, ...]
    wanted: NDArray[Any]
    achieved: NDArray[Any]
    kernel_gap: NDArray[Any]
    outcomes: tuple[Outcome, ...]
    source: Any
    target: Any
    layout: Layout
    recipe: Recipe

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
                for i, outcome in enumerate(self.outcomes) for name, w, a in self._features_of(i)]
        return Card("Transferred", lines, ("sample", "feature", "wanted", "achieved"), rows)

    def _features_of(self, i: int) -> Iterable[tuple[str, Any, Any]]:
        """Names, wanted and achieved features of a sample."""
        return zip(self.names, *(v.reshape(-1, len(self.names))[i] for v in (self.wanted, self.achieved)), strict=True)

    def within(self, low: float, high: float) -> tuple[NDArray[Any], int]:
        """Return the values limited to a range, such as that of a picture, and how many numbers were outside."""
        if not low < high:
            raise InvalidInput(f"a range has low < high, got {low} and {high}")
        outside = int(((self.values < low) | (self.values > high)).sum())
        return np.clip(self.values, low, high), outside

    def __str__(self) -> str:
        width = max(len(name) for name in self.names)
        lines = []
        for i, outcome in enumerate(self.outcomes):
            said = (f"kernel equal to {self.kernel_gap.reshape(-1)[i]:.1e} standard deviations" if outcome.ok else
                    f"{outcome.reason}: {outcome.detail}")
            lines.append(f"sample {i}: {said}" if len(self.outcomes) > 1 else said)
            lines += [f"  {name:<{width}}  wanted {w:<14.8g} achieved {a:<14.8g} difference {abs(a - w):.1e}"
                      for name, w, a in self._features_of(i) if outcome.ok]
        return "\n".join(lines)

    def plot(self, ax: Any = None) -> tuple[Axes, ...]:
        """Draw source, target and result beside each other: images, signals, or the values of samples as histograms.

        Images have one range of levels in all three: that of 8 or 16 bits, or 0 to 1, where source and target are
        within it. What of the result is outside is limited to it in the picture, and counted there.

        Parameters
        ----------
        ax : sequence of three Axes, optional
            By default a figure is made.

        Returns
        -------
        tuple of three Axes

        Raises
        ------
        MissingPackage
            Without Matplotlib, which is optional.
        InvalidInput
            For a batch of samples, or a result that was refused.
        """
        return draw_transfer((self.source, self.target, self.values), self.layout, len(self.outcomes), ax)

    @overload
    def apply(self, other: Any, *, beyond: Beyond = ..., on_refusal: Signal = ...) -> NDArray[Any]: ...

    @overload
    def apply(self, other: Any, *, beyond: Beyond = ..., on_refusal: Quiet) -> tuple[NDArray[Any], Outcomes]: ...

    def apply(self, other: Any, *, beyond: Beyond = "refuse", on_refusal: OnRefusal = "warn") -> Any:
        """Return other values after the same map that took the source to the result.

        With moments it is a map of values that increases, a composition of closed forms and of the paths of levels
        above the third: a picture of any size can follow a small working copy. With energies of filters it is a filter,
        the same one in pixels, so that a picture of another size has other bands.

        Parameters
        ----------
        other : array_like
            Of any shape, where one sample was transferred; with its channels along the same axis, or in the same batch,
            where there were several.
        beyond : {"refuse", "hold"}
            The map exists on the range of the source, and may end beyond it. Values behind its end are NaN, and their
            sample counts as refused; or they take the limit of the map there, which may be infinite. In opponent
            colours that would mix, and they go where the last of the other values before the end goes.
        on_refusal : {"warn", "raise", "return"}
            As in `Plan.transform`.

        Returns
        -------
        array
            Of the shape of `other`; with ``on_refusal="return"``: and the outcomes.

        Raises
        ------
        InvalidInput
            If `other` does not fit.

        Examples
        --------
        The mean of two values goes to 10, their standard deviation to 2:

        >>> from symdecouple.decoupling.plan import decouple
        >>> from symdecouple.families.moments import raw_moments
        >>> done = decouple(raw_moments(2)).transfer([1.0, 3.0], [8.0, 12.0])
        >>> done.apply([[0.0, 1.0], [2.0, 3.0]]).tolist()
        [[6.0, 8.0], [10.0, 12.0]]
        """
        check_choice("beyond", beyond, get_args(Beyond))
        check_choice("on_refusal", on_refusal, get_args(OnRefusal))
        layout, shape = self.layout, self.wanted.shape[:-1]
        given = take_numbers(other)
        if given.masked is not None and given.masked.any():
            raise InvalidInput("apply: masked values have no place in a map; fill them")
        array = np.asarray(given.array, dtype=np.float64)
        single = np.asarray(given.array).dtype in (np.float16, np.float32)
        if shape == () and self.recipe.is_pointwise:
            moved, refusals = self._each(array.reshape(1, -1), beyond, single)
            values = moved.reshape(array.shape)
        else:
            parts, axes = _as_samples(layout, array, "other")
            if parts.shape[: len(shape)] != shape or parts.ndim - len(shape) != len(axes):
                raise InvalidInput(f"apply: {self._described} was transferred; other values of shape {array.shape} "
                                   f"make a batch of shape {parts.shape[: parts.ndim - len(axes)]}")
            grid = parts.shape[len(shape) :]
            moved, refusals = self._each(parts.reshape(-1, *grid), beyond, single)
            values = layout.back(np.moveaxis(moved.reshape(parts.shape), range(-len(axes), 0), axes))
        values = values.astype(np.float32) if single else values
        return Answer("apply", shape, refusals, frames=3).deliver(values, on_refusal)

    def lookup_table(self, size: int = 33, *, white: float | None = None) -> LookupTable:
        """Return the map of colours as a table for other programs; see `LookupTable`.

        Parameters
        ----------
        size : int
            Nodes a side.
        white : float, optional
            The value that is 1 in the table; black is 0. By default that of the type of the source: 255 for 8 bits,
            65535 for 16, and 1 for floating point up to 1.

        Raises
        ------
        InvalidInput
            If it is no map of values, or not of one or three channels.
        Refused
            If the table would be more than half an 8-bit level off; the message tells a size that is enough.
        """
        shape = self.wanted.shape[:-1]
        if not self.recipe.is_pointwise:
            raise InvalidInput("a table of colours is for plans of moments; with energies of filters a transfer is a "
                               "filter, and a pixel depends on its neighbours")
        if shape not in ((), (1,), (3,)) or (shape and self.layout.channel_axis is None):
            raise InvalidInput("a table of colours is made of a transfer of one sample, which is the same curve for "
                               f"each channel, or of three channels (channel_axis=); {self._described} was transferred")
        if white is None:
            kind = np.asarray(self.source).dtype
            white = float(np.iinfo(kind).max) if kind in (np.uint8, np.uint16) else 1.0
            if (highest := float(np.max(self.source))) > white * (1 + 0.5 / 255):
                raise InvalidInput(f"the source goes up to {highest:.6g}, and white is {white:g} unless it is named: "
                                   "white=255 for levels of 8 bits")
        return LookupTable.of(self._of_colours, size, white, is_separable=self.layout.colour == "channels")

    def write_cube(self, path: str | PathLike[str], size: int = 33, *, white: float | None = None,
                   title: str = "symdecouple") -> None:
        """Write the map of colours as a ``.cube`` file, text of a three-dimensional table; see `lookup_table`."""
        self.lookup_table(size, white=white).write(path, title)

    # --- inside ---

    def _of_colours(self, colours: NDArray[Any]) -> NDArray[Any]:
        """Colours, (n, 3), after the map; limits where it has ended."""
        is_opponent = self.layout.colour == "opponent"
        channels = colours @ OPPONENT.T if is_opponent else colours
        parts = channels.T if self.wanted.shape[:-1] == (3,) else channels.reshape(1, -1)
        moved, refusals = self._each(parts, "hold")
        if refusals:
            first = next(iter(refusals.values()))
            raise InvalidInput(f"there is no table of colours: {first.reason} ({first.detail})")
        values = moved.T if len(moved) == 3 else moved.reshape(colours.shape)
        return np.asarray(values @ OPPONENT if is_opponent else values)

    @property
    def _described(self) -> str:
        shape = self.wanted.shape[:-1]
        return f"a batch of shape {shape}" if shape else "one sample"

    def _each(self, others: NDArray[Any], beyond: Beyond, single: bool = False
              ) -> tuple[NDArray[Any], dict[int, Outcome]]:
        """Samples, (R, ...), after the maps of those that were transferred, and why some have no answer; `single`: in
        float32."""
        shape = self.wanted.shape[:-1]
        sources, results = (_as_samples(self.layout, np.asarray(image, dtype=np.float64), "source")[0]
                            for image in (self.source, self.values))
        wanted, values = self.wanted.reshape(-1, len(self.names)), np.full(others.shape, np.nan)
        refusals = dict[int, Outcome]()
        for i, outcome in enumerate(self.outcomes):
            at = np.unravel_index(i, shape)
            fine = np.isfinite(others[i])
            try:
                if not outcome.ok:
                    raise NoMap(f"the transfer itself was refused: {outcome.reason}")
                if outcome.reason == "perturbed":
                    raise NoMap("the source was perturbed first, so that equal values of it went different ways; "
                                "transfer the other values themselves")
                if not (fine.all() or self.recipe.is_pointwise):
                    raise NoMap(f"{int((~fine).sum())} of its values are NaN or infinite, and a filter takes them all")
                moved, is_over = self.recipe.carried(sources[at], results[at], wanted[i], np.where(fine, others[i], 0))
            except NoMap as error:
                refusals[i] = Outcome(False, "no map of other values", str(error))
                continue
            if self.layout.colour == "opponent" and is_over.any() and not is_over.all():  # as the last one before it
                moved = np.clip(moved, moved[~is_over].min(), moved[~is_over].max())
            values[i] = np.where(fine & ~(is_over & (beyond == "refuse")), moved, np.nan)
            if why := _told(others[i], fine, is_over & (beyond == "refuse"), sources[at]):
                refusals[i] = why
            if single and (is_there := np.isfinite(values[i])).any():  # a limit may be infinite
                (values[i][is_there],), lost = narrowed(values[i][is_there][None])
                refusals |= {i: lost[0]} if lost else {}
        return values, refusals


def _as_samples(layout: Layout, image: NDArray[Any], name: str) -> tuple[NDArray[Any], tuple[int, ...]]:
    """An image with its sample axes last, and which they were with the channels first."""
    array, axis = layout.taken(image, name)
    if array.ndim < (layout.filtered or 1):
        raise InvalidInput(f"apply: samples of {layout.filtered or 1} dimension(s) are expected, got {array.shape}")
    axes = own_axes(axis, array.shape, layout.filtered or 1)
    return np.moveaxis(array, axes, range(-len(axes), 0)), axes


def _told(others: NDArray[Any], fine: NDArray[Any], is_over: NDArray[Any], source: NDArray[Any]) -> Outcome | None:
    """What there is to tell of values without an answer."""
    if not fine.all():
        return Outcome(False, "not finite", f"{int((~fine).sum())} of {fine.size} values are NaN or infinite, and stay "
                       "without an answer")
    if not is_over.any():
        return None
    parts = ("up to", is_over & (others < source.min()), np.max), ("from", is_over & (others > source.max()), np.min)
    ends = [f"{which} {np.format_float_positional(end(others[part]), 6, fractional=False, trim='-')}"
            for which, part, end in parts if part.any()]
    return Outcome(False, "beyond the map", f"{int(is_over.sum())} of {is_over.size} values, {' and '.join(ends)}, are "
                   f"where the map has ended (the source has {source.min():.6g} to {source.max():.6g}); "
                   'beyond="hold" takes its limit')
