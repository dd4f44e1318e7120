"""Make the picture of docs/guide/populations.md: orthokurtoses of samples that settle, and of samples that drift."""

from pathlib import Path

import numpy as np
from matplotlib import pyplot
from scipy.stats import expon, laplace_asymmetric

import symdecouple as sd

SIZES = {100: 2000, 316: 1500, 1000: 1000, 3162: 400, 10_000: 200, 31_623: 100, 100_000: 50}  # N: samples of N values
LAWS = {"exponential: 1.984 exists": (expon(), "#0072b2"),
        "asymmetric Laplace (kappa 0.5): none": (laplace_asymmetric(0.5), "#d55e00")}


def main() -> None:
    """Draw medians and middle halves against N."""
    figure, ax = pyplot.subplots(figsize=(6.4, 3.6), layout="constrained")
    rng, plan = np.random.default_rng(0), sd.decouple(sd.families.standardized_moments(4))
    for name, (law, colour) in LAWS.items():
        found = [np.quantile(sd.stats.orthokurtosis(law.rvs((count, n), random_state=rng), axis=1), [0.25, 0.5, 0.75])
                 for n, count in SIZES.items()]
        low, median, high = np.transpose(found)
        ax.fill_between(list(SIZES), low, high, color=colour, alpha=0.25, linewidth=0)
        ax.plot(list(SIZES), median, color=colour, marker="o", markersize=3, label=name)
    value = float(sd.analysis.population(plan, expon())[3])
    ax.axhline(value, color="0.3", linestyle="--", linewidth=1)
    ax.set_xscale("log")
    ax.set_xlabel("number of samples N")
    ax.set_title("orthokurtosis of samples: median and middle half", fontsize="medium", loc="left")
    ax.legend(frameon=False, fontsize="small")
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(Path(__file__).parent / "populations.png", dpi=110)


if __name__ == "__main__":
    main()
