"""The tables and figures of the source, by name, and what each needs."""

from __future__ import annotations

import difflib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from symdecouple.decoupling.progress import Progress, reported
from symdecouple.errors import InvalidInput, MissingPackage
from symdecouple.reproduction.result import Result
from symdecouple.reproduction.setup import Setup

__all__ = ["EXPERIMENTS", "Experiment", "reproduce"]


class Experiment(NamedTuple):
    """A table or figure of the source.

    Attributes
    ----------
    title : str
    module : str
        Its file in this room.
    needs_pictures, needs_sklearn : bool
    """

    title: str
    module: str
    needs_pictures: bool = False
    needs_sklearn: bool = False


EXPERIMENTS = {
    "orthogonality": Experiment("angles between gradients: moments and band energies, noise and textures",
                                "orthogonality", needs_pictures=True),
    "orthokurtosis": Experiment("skewness, kurtosis and orthokurtosis of four samples, as spheres", "orthokurtosis"),
    "discrimination": Experiment("ellipses and errors of three close laws", "discrimination"),
    "regression": Experiment("the shape of three laws, by six regressors", "regression", needs_sklearn=True),
    "redundancy": Experiment("mutual information between moments of texture bands", "redundancy", needs_pictures=True),
    "textures-marginal": Experiment("texture classification by moments of each band", "textures_marginal", True, True),
    "textures-joint": Experiment("texture classification by jointly decoupled moments", "textures_joint", True, True),
    "transfer": Experiment("a texture with the decoupled features of another", "transfer", needs_pictures=True),
    "regressor-variants": Experiment("the tables of regression with other settings of the regressors",
                                     "regressor_variants", needs_sklearn=True),
    "ablations": Experiment("other references, orders of the features, perturbed samples", "ablations", True, True),
    "scenarios": Experiment("which of the four scenarios examples are in", "scenarios"),
}


def reproduce(name: str, *, full: bool = False, data: str | Path | None = None, folder: str | Path | None = None,
              seed: int = 0, progress: Progress | None = None) -> Result:
    """Recompute a table or figure of the source, and set it beside what is printed there.

    Parameters
    ----------
    name : str
        One of `EXPERIMENTS`.
    full : bool
        In the size of the source: minutes to an hour. By default a small version of the same kind, in seconds.
    data : path, optional
        The folder of textures, for experiments with pictures: D1.png (or D001.png) to D112.png of the Brodatz album.
    folder : path, optional
        Where parts are kept as soon as they are there, so that an interrupted run goes on where it was.
    seed : int
    progress : callable or True, optional
        Called with the parts done and to do; True shows a bar.

    Returns
    -------
    Result
        `str` is the table; also ``.to_csv()``, ``.to_json()``, ``.plot()``.

    Raises
    ------
    InvalidInput
        If there is no such experiment, or its pictures are missing.
    MissingPackage
        Without scikit-learn, where it is needed.

    Examples
    --------
    >>> found = reproduce("discrimination", seed=1)
    >>> [round(row.ours, 1) for row in found.rows if "of the law" in row.quantity]
    [12.4, 5.4]
    """
    if name not in EXPERIMENTS:
        close = difflib.get_close_matches(str(name), EXPERIMENTS, 1)
        hint = f"; did you mean {close[0]}?" if close else "."
        raise InvalidInput(f"there is no experiment {name!r}{hint}  There are: {', '.join(EXPERIMENTS)}")
    experiment = EXPERIMENTS[name]
    if experiment.needs_sklearn and find_spec("sklearn") is None:
        raise MissingPackage(f'{name} needs scikit-learn; install it with: pip install "symdecouple[sklearn]"')
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InvalidInput(f"seed is a whole number from 0 on, got {seed!r}")
    with reported(progress, name, "parts") as tell:
        setup = Setup(not full, _path(data), _path(folder), seed, tell)
        result: Result = import_module(f"symdecouple.reproduction.{experiment.module}").measure(setup)
    return result


def _path(given: str | Path | None) -> Path | None:
    return None if given is None else Path(given)
