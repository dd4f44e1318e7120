"""What all pictures share: figures where Matplotlib is installed, colours, and quiet axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from symdecouple.errors import InvalidInput, MissingPackage

if TYPE_CHECKING:
    from matplotlib.axes import Axes
else:
    Axes = Any  # for annotations, which nobody evaluates

__all__ = ["CLASS_COLOURS", "COLOURS", "MARKERS", "Axes", "given_axes", "new_figure", "quiet", "titled"]

COLOURS = {"blue": "#0072b2", "orange": "#d55e00", "green": "#009e73", "pink": "#cc79a7"}
"""Told apart by colour-blind readers."""

CLASS_COLOURS = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#000000"
MARKERS = "osD^vP"


def new_figure(width: float, height: float, *, is_shown: bool = True) -> Any:
    """Return an empty figure of this size in inches, among those that notebooks and windows show; or only for a file.

    Raises
    ------
    MissingPackage
        Without Matplotlib, which is optional.
    """
    try:
        from matplotlib import figure, pyplot
    except ImportError as error:
        raise MissingPackage('pictures need Matplotlib; install it with: pip install "symdecouple[plot]"') from error
    make: Any = pyplot.figure if is_shown else figure.Figure
    return make(figsize=(width, height), layout="constrained")


def given_axes(ax: Any, counts: Sequence[int]) -> tuple[Any, ...]:
    """Return the Axes that a user gave, one or a sequence, as a tuple.

    Raises
    ------
    InvalidInput
        If they are not Axes, or not as many as one of these counts.
    """
    listed = getattr(ax, "flat", ax)  # of an array, as `subplots` gives it
    axes = tuple(listed) if not hasattr(ax, "plot") and hasattr(listed, "__iter__") else (ax,)
    if len(axes) not in counts or not all(hasattr(one, "plot") for one in axes):
        wanted = " or ".join("one" if n == 1 else f"a sequence of {n}" for n in sorted(set(counts)))
        given = f"{len(axes)} objects" if len(axes) > 1 else f"{ax!r:.60}"
        raise InvalidInput(f"ax is {wanted} of Matplotlib's Axes, got {given}")
    return axes


def quiet(ax: Any, title: str, across: str, up: str) -> None:
    """Name an axes and what is drawn across and up; leave out the lines above and to the right."""
    titled(ax, title, loc="left")
    ax.set_xlabel(across)
    ax.set_ylabel(up)
    ax.spines[["top", "right"]].set_visible(False)


def titled(ax: Any, title: str, **options: Any) -> None:
    """Name an axes."""
    ax.set_title(title, fontsize="medium", **options)
