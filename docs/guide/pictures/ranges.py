"""Make the picture of docs/guide/ranges.md: ranges of the fourth and sixth moment against N, and along one leaf."""

from pathlib import Path

import numpy as np
from matplotlib import pyplot

import symdecouple as sd

SIZES = range(7, 41)
ORDERS = {4: ("#0072b2", 3), 6: ("#d55e00", 15)}  # colour and Gaussian reference


def main() -> None:
    """Draw both panels into ranges.png."""
    figure, axes = pyplot.subplots(1, 2, figsize=(9.5, 3.6), layout="constrained")
    plan = sd.decouple(sd.families.raw_moments(6))
    found = [plan.attainable(n_samples=n) for n in SIZES]
    for ax, (order, (colour, reference)) in zip(axes, ORDERS.items(), strict=True):
        low, high = (np.array([getattr(one, end)[order - 1] for one in found]) for end in ("low", "high"))
        ax.fill_between(SIZES, low, high, color=colour, alpha=0.25, step="mid", linewidth=0)
        ax.step(SIZES, low, where="mid", color=colour, linewidth=1)
        ax.step(SIZES, high, where="mid", color=colour, linewidth=1)
        ax.axhline(reference, color="0.3", linestyle="--", linewidth=1)
        first = next(n for n, a, b in zip(SIZES, low, high, strict=True) if a < reference < b)
        at = (first + 13, 4.6) if order == 4 else (first + 4, 13)
        ax.annotate(f"Gaussian {reference}, from N = {first} on", (first, reference), at, fontsize="small",
                    arrowprops={"arrowstyle": "->", "color": "0.3"})
        ax.set_xlabel("number of samples N")
        ax.set_title(f"moment {order} beside those before it", fontsize="medium", loc="left")
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(Path(__file__).parent / "ranges.png", dpi=110)
    axes = plan.attainable([0, 1, 2, 4, 5, 9, 9, 9]).plot()
    axes[0].figure.savefig(Path(__file__).parent / "leaf.png", dpi=110)


if __name__ == "__main__":
    main()
