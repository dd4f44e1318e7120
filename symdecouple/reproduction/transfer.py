"""The source's figure of feature transfer, on two real textures: what must be equal, is."""

from __future__ import annotations

from typing import Any

import numpy as np

from symdecouple.decoupling.plan import Plan, decouple
from symdecouple.families.moments import raw_moments
from symdecouple.families.quadratic import second_order_moments
from symdecouple.families.tils import tils
from symdecouple.figures import new_figure, titled
from symdecouple.reproduction.brodatz import plate, plates
from symdecouple.reproduction.result import Figure, Result, Row
from symdecouple.reproduction.setup import Setup

__all__ = ["measure"]

PAIRS = ((9, 68), (12, 24))  # grass and wood, bark and leather: their moments and bands differ much


def measure(setup: Setup) -> Result:
    """Give a plate the decoupled features of another, and measure both promises."""
    files = plates(setup.data, max(max(pair) for pair in PAIRS))
    side = setup.choose(64, 512)
    plans = {"moments of order 1 to 6": (decouple(raw_moments(6)), True),
             "energies of the nine TILs bands": (decouple(second_order_moments(tils())), False)}
    setup.expect(len(PAIRS) * len(plans))
    rows, shown = list[Row](), list[tuple[str, Any]]()
    for one, two in PAIRS:
        source, target = (_middle(plate(files[number]), side, setup.random("ties", number)) for number in (one, two))
        for name, (plan, flat) in plans.items():
            part = setup.part(f"transfer-D{one}-D{two}-{name.split()[0]}", _transferred, plan, source, target, flat)
            rows += [Row(f"D{one} with the {name} of D{two}: decoupled features, largest relative gap",
                         float(part["feature_gap"]), "equal"),
                     Row(f"D{one} with the {name} of D{two}: kernel, largest gap", float(part["kernel_gap"]), "equal")]
            shown.append((f"D{one}, {name.split()[0]} of D{two}", (source, target, part["values"])))
    remarks = ("The kernel is the sample normalized with respect to all features. The source names all but the last; "
               "these are different samples, as the last feature too is imposed along a flow that moves them. Gaps are "
               "relative to the features of the target, and to the spread of the kernel.",
               "Moments take pictures whose grey values have few ties: to each 8-bit value a fraction of a level is "
               "added, always the same, which rounding takes away again.",
               "The source prints a scheme without numbers; that both are equal is its claim.")
    return Result("transfer", "a texture with the decoupled features of another", "the figure of feature transfer",
                  {"side": side, "seed": setup.seed}, tuple(rows), remarks, setup.seconds, lambda: _figure(shown))


def _middle(picture: Any, side: int, random: np.random.Generator) -> Any:
    """The middle of a plate, in units of 64 levels, with its ties taken apart below the quantisation step."""
    start = (len(picture) - side) // 2
    cut = picture[start : start + side, start : start + side]
    return (cut + random.uniform(-0.45, 0.45, cut.shape) - 127.5) / 64


def _transferred(plan: Plan, source: Any, target: Any, flat: bool) -> dict[str, Any]:
    """Both promises, measured on the result alone."""
    shape = source.shape
    pair = [one.reshape(-1) if flat else one - one.mean() for one in (source, target)]
    done = plan.transfer(*pair)
    wanted, reached = plan.transform(pair[1]), plan.transform(done.values)
    kernels = [plan.normalize(one, level=len(plan.features)) for one in (pair[0], done.values)]
    gap = np.max(np.abs(reached - wanted) / np.maximum(np.abs(wanted), 1e-3))
    return {"feature_gap": gap, "kernel_gap": np.max(np.abs(kernels[1] - kernels[0])) / np.std(kernels[0]),
            "values": done.values.reshape(shape)}


def _figure(shown: list[tuple[str, Any]]) -> Figure:
    """A row for each transfer: source, target, result."""
    figure = new_figure(7.5, 2.7 * len(shown))
    for axes, (name, pictures) in zip(figure.subplots(len(shown), 3, squeeze=False), shown, strict=True):
        for ax, picture, what in zip(axes, pictures, ("source", "target", name), strict=True):
            ax.imshow(picture, cmap="gray", vmin=-2, vmax=2)
            ax.set_axis_off()
            titled(ax, what)
    return figure
