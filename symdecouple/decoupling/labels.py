"""Plans and labels: columns are named by the features, and what has the shape of the samples keeps their labels.

The samples of a DataFrame are its rows unless `axis=0` says that they are its columns, as for arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symdecouple.decoupling.progress import reported
from symdecouple.tables.labelled import answer
from symdecouple.tables.row_functions import Axes, Form, Make, Piece

__all__ = ["AXES", "with_labels"]

AXES: dict[str, Axes] = {"transform": "rows", "gradients": "slopes"}  # all others have those of the samples


def with_labels(method: Callable[..., Any], plan: Any, samples: Any, *given: Any, **options: Any) -> Any:
    """Answer a method of a plan for a Series or a DataFrame, in the same."""
    name, size = method.__name__, len(plan.features)
    own = plan.features.names if name == "match" else plan.names
    axes = AXES.get(name, "entries")

    def split(found: Any, _: dict[str, Any]) -> tuple[list[Piece], Make]:
        return [Piece(found, None if axes == "entries" else own[:size], axes)], lambda parts, _: parts[0]

    each = {"values": own} if name in ("denormalize", "match") else {}
    form = Form(split, each, plan.choice.filter_ndim or 1)
    with reported(options.pop("progress", None), name) as tell:
        return answer(form, name, getattr(plan, name), samples, *given, progress=tell, **options)
