"""The first picture: skewness and kurtosis of random samples, and beside them skewness and orthokurtosis."""

from pathlib import Path

import numpy as np

import symdecouple as sd
from symdecouple.analysis import draw_scatter


def main() -> None:
    """Draw decoupled.png: 300 samples of 400 values from each of three laws."""
    rng = np.random.default_rng(0)
    samples = {
        "exponential": rng.exponential(size=(300, 400)),
        "log-normal": rng.lognormal(sigma=0.3, size=(300, 400)),
        "fifth power of uniform": rng.uniform(size=(300, 400)) ** 5,
    }
    axes = draw_scatter(sd.decouple(sd.families.standardized_moments(4)), samples)
    axes[0].figure.savefig(Path(__file__).parent / "decoupled.png", dpi=110)


if __name__ == "__main__":
    main()
