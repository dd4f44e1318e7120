"""Make the picture of the start page: what one change of a sample does to kurtosis and orthokurtosis."""

from pathlib import Path

import numpy as np
from matplotlib import pyplot

from symdecouple import stats

BLUE, RED = "#0072b2", "#d55e00"


def main() -> None:
    """Draw both panels into coupled.png."""
    rng = np.random.default_rng(1879)
    samples = np.concatenate([rng.normal(size=(500, 50)), *(sign * rng.gamma(3, size=(500, 50)) for sign in (-1, 1))])
    shape = stats.orthokurtosis(samples, axis=1)
    one = samples[np.argsort(shape)[shape.size // 2]]
    one = one - one.mean()
    way = np.concatenate([np.linspace(0.85, 0, 50) / one.min(), np.linspace(0, 0.85, 50) / one.max()])
    moved = one / (1 - way[:, None] * one)  # one sample, its skewness moved and nothing else that need not
    skewness = stats.skewness(samples, axis=1)
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.7), sharey=True, layout="constrained")
    grid = np.linspace(-3, 3, 200)
    axes[0].fill_between(grid, 0, grid**2 + 1, color="0.9", linewidth=0)
    axes[0].text(0, 0.25, "no sample is here", ha="center", va="bottom", color="0.4", fontsize="small")
    for ax, statistic in zip(axes, (stats.kurtosis, stats.orthokurtosis), strict=True):
        ax.scatter(skewness, statistic(samples, axis=1), s=5, color=BLUE, alpha=0.4, linewidths=0)
        ax.plot(stats.skewness(moved, axis=1), statistic(moved, axis=1), color=RED, linewidth=2)
        ax.set(xlabel="skewness", ylabel=statistic.__name__, xlim=(-3, 3), ylim=(0, 11))
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_title("coupled: the skewness pulls the kurtosis along", fontsize="medium", loc="left")
    axes[1].set_title("decoupled: it leaves the orthokurtosis alone", fontsize="medium", loc="left")
    axes[1].tick_params(labelleft=True)
    figure.savefig(Path(__file__).parent / "coupled.png", dpi=110)


if __name__ == "__main__":
    main()
