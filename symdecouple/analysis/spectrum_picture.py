r"""The picture of band energies: the power spectrum of a signal before and after, the bands, and what they hold.

.. math:: P(\xi) = \frac{|X(\xi)|^2}{N^2}, \qquad f_j = \sum_\xi w_j(\xi)\,P(\xi)

Of images, power and weights are averages over the frequencies of one distance from zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.decoupling.decoupled_names import declared_names
from symdecouple.decoupling.plan import Plan
from symdecouple.errors import InvalidInput
from symdecouple.families.quadratic import QuadraticForms, recognize_quadratic
from symdecouple.figures import CLASS_COLOURS, COLOURS, Axes, given_axes, new_figure, quiet
from symdecouple.numeric.samples.intake import take_numbers

__all__ = ["draw_spectrum"]

_RINGS = 48  # most of them: distances from zero at which images are averaged
_FLOOR = 1e-12  # of the largest power: below is rounding, which a logarithm would show as a valley
_SEEN = 1e-9  # of the largest feature: below is a zero, which has no bar
_BEFORE, _AFTER = COLOURS["orange"], COLOURS["blue"]
_STYLES = "-", "--", ":"
_LONG, _ALL = 5, 20  # letters of a name, and of all, that fit below bars side by side

FloatArray = NDArray[np.float64]


def draw_spectrum(plan: Plan, sample: Any, after: Any = None, ax: Any = None, *, name: str | None = None
                  ) -> tuple[Axes, ...]:
    """Draw the power spectrum of a signal or an image before and after, the bands of the plan, and their energies.

    Parameters
    ----------
    plan : Plan
        Of energies or other quadratic features of filters.
    sample : array_like
        One signal, or one image where the filters have two dimensions.
    after : array_like, optional
        What became of it, of any size, such as the values of a `Transferred`. Default the sample normalized through all
        levels that have references.
    ax : sequence of three Axes, optional
        For the spectra, the weights of the bands, and the features.
    name : str, optional
        What the second one is called: "normalized" or "after" by default.

    Returns
    -------
    tuple of three Axes

    Raises
    ------
    MissingPackage
        Without Matplotlib, which is optional.
    InvalidInput
        If it is no such plan or sample, or the sample is refused.
    """
    forms = _forms(plan)
    before = _taken(sample, "sample", plan)
    if after is None:
        level = len(plan.features) if plan.reference[-1] is not None else None
        values, (outcome,) = plan.normalize(before[None], level, on_refusal="return")
        if not outcome.ok:
            raise InvalidInput(f"there is nothing to draw: the sample is refused, {outcome.reason} ({outcome.detail})")
        pair = before, np.asarray(values[0], dtype=np.float64)
    else:
        pair = before, _taken(after, "after", plan)
    names = "sample", name or ("normalized" if after is None else "after")
    axes = _figure() if ax is None else given_axes(ax, [3])
    for one, label, colour, style in zip(pair, names, (_BEFORE, _AFTER), ("-", "--"), strict=True):
        frequency, power = _averaged(_power(one), one.shape)
        power = np.where(power > _FLOOR * np.nanmax(power), power, np.nan)
        axes[0].plot(frequency, power, style, color=colour, linewidth=1.5, label=label)
    axes[0].set_yscale("log")
    quiet(axes[0], "power spectrum" + (" (mean over directions)" if before.ndim > 1 else ""), "", "power")
    axes[0].legend(frameon=False, fontsize="small")
    labels = declared_names(plan.features)
    _draw_bands(axes[1], forms, before.shape, labels)
    _draw_features(axes[2], plan, pair, names, labels)
    return axes


def _figure() -> tuple[Any, ...]:
    figure = new_figure(8.8, 4.8)
    grid = figure.add_gridspec(2, 2, height_ratios=(3, 2))
    first = figure.add_subplot(grid[0, 0])
    return first, figure.add_subplot(grid[1, 0], sharex=first), figure.add_subplot(grid[:, 1])


def _forms(plan: Any) -> QuadraticForms:
    if not isinstance(plan, Plan):
        raise InvalidInput(f"a plan is expected, as decouple(features) returns it; got {type(plan).__name__}")
    forms = recognize_quadratic(plan.features)
    if forms is None:
        raise InvalidInput("a spectrum is drawn of plans whose leading features are energies of filters, such as "
                           f"second_order_moments(tils()); got {', '.join(plan.features.names)[:80]}")
    return forms


def _taken(given: Any, name: str, plan: Plan) -> FloatArray:
    numbers = take_numbers(given)
    array = np.asarray(numbers.array, dtype=np.float64)
    if numbers.masked is not None and numbers.masked.any():
        raise InvalidInput(f"{name}: masked values have no place in a spectrum; fill them")
    ndim = plan.features.filter_ndim or 1
    if array.ndim != ndim or array.size < 2 or not np.isfinite(array).all():
        raise InvalidInput(f"{name}: one {'signal' if ndim == 1 else 'image'} of finite numbers, of {ndim} "
                           f"dimension(s), is expected, got shape {array.shape}")
    return array


def _power(sample: FloatArray) -> FloatArray:
    return np.asarray(np.abs(np.fft.rfftn(sample)) ** 2 / sample.size**2)


def _averaged(values: FloatArray, shape: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
    """Frequencies in cycles a sample, and values there; of images, means over rings about zero."""
    axes = [*(np.fft.fftfreq(n) for n in shape[:-1]), np.fft.rfftfreq(shape[-1])]
    if len(axes) == 1:
        return np.asarray(axes[0][1:], dtype=np.float64), values[1:]
    distance = np.sqrt(sum(each**2 for each in np.meshgrid(*axes, indexing="ij")))
    count = int(min(_RINGS, max(2, min(shape) // 2)))
    ring = np.minimum((distance / distance.max() * count).astype(int), count - 1).ravel()
    keep = distance.ravel() > 0
    held = np.bincount(ring[keep], minlength=count).astype(float)
    with np.errstate(invalid="ignore"):
        middle, mean = (np.bincount(ring[keep], each.ravel()[keep], minlength=count) / held
                        for each in (distance, values))
    return middle[held > 0], mean[held > 0]


def _draw_bands(ax: Any, forms: QuadraticForms, shape: tuple[int, ...], labels: tuple[str, ...]) -> None:
    first = int(forms.mean is not None)
    for k, weights in enumerate(forms.weights(shape)):
        frequency, shown = _averaged(weights, shape)
        ax.plot(frequency, shown, _STYLES[k // 6 % 3], color=CLASS_COLOURS[k % 6], linewidth=1.3,
                label=labels[first + k])
    quiet(ax, "weights of the bands", "frequency [cycles a sample]", "weight")
    ax.legend(frameon=False, fontsize="x-small", ncols=1 + len(forms.products) // 8, loc="upper left",
              bbox_to_anchor=(1, 1.1), handlelength=1.5, columnspacing=0.8, labelspacing=0.3)


def _draw_features(ax: Any, plan: Plan, pair: tuple[FloatArray, FloatArray], names: tuple[str, str],
                   labels: tuple[str, ...]) -> None:
    places = np.arange(len(labels))
    values = [plan.own_values(one) for one in pair]
    for own, name, colour, side in zip(values, names, (_BEFORE, _AFTER), (-0.2, 0.2), strict=True):
        ax.bar(places + side, own, 0.4, color=colour, label=name)
    everything = np.concatenate(values)
    seen = everything[np.abs(everything) > _SEEN * np.abs(everything).max()]
    is_log = bool(seen.size and (seen > 0).all() and seen.max() > 20 * seen.min())
    if is_log:
        ax.set_yscale("log")
    is_long = max(map(len, labels)) > _LONG or sum(map(len, labels)) > _ALL
    ax.set_xticks(places, labels, rotation=40 if is_long else 0, ha="right" if is_long else "center",
                  rotation_mode="anchor" if is_long else "default")
    ax.axhline(0, color="0.4", linewidth=0.8)
    quiet(ax, "features as declared", "", "value" + " (logarithmic)" * is_log)
    ax.legend(frameon=False, fontsize="small")
