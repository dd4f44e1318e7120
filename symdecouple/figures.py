"""What all pictures share: figures where Matplotlib is installed, colours, and quiet axes."""

from __future__ import annotations

from typing import Any

__all__ = ["COLOURS", "new_figure", "quiet", "titled"]

COLOURS = {"blue": "#0072b2", "orange": "#d55e00", "green": "#009e73", "pink": "#cc79a7"}
"""Told apart by colour-blind readers."""


def new_figure(width: float, height: float) -> Any:
    """Return an empty figure of this size in inches.

    Raises
    ------
    ImportError
        Without Matplotlib, which is optional.
    """
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError('pictures need Matplotlib; install it with: pip install "symdecouple[plot]"') from error
    return pyplot.figure(figsize=(width, height), layout="constrained")


def quiet(ax: Any, title: str, across: str, up: str) -> None:
    """Name an axes and what is drawn across and up; leave out the lines above and to the right."""
    titled(ax, title, loc="left")
    ax.set_xlabel(across)
    ax.set_ylabel(up)
    ax.spines[["top", "right"]].set_visible(False)


def titled(ax: Any, title: str, **options: Any) -> None:
    """Name an axes."""
    ax.set_title(title, fontsize="medium", **options)
