"""How an experiment runs: quick or whole, on which data, with what was computed before.

An experiment asks for its parts one by one, each by a name and what it is made of. With a folder, a part is written as
soon as it is there, beside its place and then renamed: what is interrupted goes on where it was.
"""

from __future__ import annotations

import hashlib
import time
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from symdecouple import __version__
from symdecouple.decoupling.plan import Plan
from symdecouple.decoupling.progress import Tell
from symdecouple.errors import InvalidInput
from symdecouple.replacing import replacing

__all__ = ["Part", "Setup", "random_numbers"]

Part: TypeAlias = dict[str, NDArray[Any]]

_SECONDS = "seconds_"  # the array in a file that tells how long its part took


@dataclass
class Setup:
    """What an experiment is given.

    Attributes
    ----------
    quick : bool
        A small version, of the same kind, in seconds.
    data : Path, optional
        The folder of textures.
    folder : Path, optional
        Where parts are kept.
    seed : int
    tell : callable, optional
        Called with the parts done and to do.
    """

    quick: bool = True
    data: Path | None = None
    folder: Path | None = None
    seed: int = 0
    tell: Tell | None = None
    seconds: float = field(default=0.0, init=False)
    _done: int = field(default=0, init=False)
    _total: int = field(default=0, init=False)

    def choose(self, quick: Any, full: Any) -> Any:
        """Return the first for the small version, the second for the whole."""
        return quick if self.quick else full

    def expect(self, parts: int) -> None:
        """Announce parts to come."""
        self._total += parts
        self._say()

    def random(self, *key: int | str) -> np.random.Generator:
        """Return random numbers that depend on the seed and on a key alone, not on what was drawn before."""
        return random_numbers(self.seed, *key)

    def part(self, name: str, make: Callable[..., Mapping[str, Any]], *given: Any) -> Part:
        """Return the arrays that ``make(*given)`` returns: read, if they are in the folder, else made and kept.

        What they are made of is part of their name, the version of this package too: arrays to the last bit, plans by
        their features and references, files by their names and sizes, all else as text.
        """
        name = f"{name}-{_fingerprint(__version__, *given)}"
        found = self._read(name)
        if found is None:
            start = time.perf_counter()
            found = {key: np.asarray(value) for key, value in make(*given).items()}
            found[_SECONDS] = np.asarray(time.perf_counter() - start)
            self._write(name, found)
        self.seconds += float(found.pop(_SECONDS, 0.0))
        self._done += 1
        self._say()
        return found

    def _say(self) -> None:
        if self.tell is not None:
            self.tell(self._done, max(self._total, self._done))

    def _path(self, name: str) -> Path | None:
        if self.folder is None:
            return None
        if not name.replace("-", "").replace(".", "").replace("_", "").isalnum():
            raise InvalidInput(f"the name of a part is made of letters, digits, points and dashes, got {name!r}")
        return self.folder / "parts" / f"{name}.npz"

    def _read(self, name: str) -> Part | None:
        path = self._path(name)
        if path is None or not path.exists():
            return None
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
                return {key: stored[key] for key in stored.files}
        except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile):
            return None  # a torn file is made anew

    def _write(self, name: str, arrays: Part) -> None:
        path = self._path(name)
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)


def random_numbers(seed: int, *key: int | str) -> np.random.Generator:
    """Return random numbers that depend on a seed and on a key alone."""
    return np.random.default_rng([seed, int(_fingerprint(*key), 16)])


def _fingerprint(*given: Any) -> str:
    found = hashlib.sha256()
    for one in given:
        if isinstance(one, np.ndarray):
            found.update(f"{one.dtype.str}{one.shape}".encode())
            found.update(np.ascontiguousarray(one).data)
        elif isinstance(one, Plan):
            found.update(f"{tuple(one.features)}{one.reference}{one.path}{one.perturbation}".encode())
        elif isinstance(one, Path):
            found.update(f"{one.name}{one.stat().st_size}".encode())
        else:
            found.update(str(one).encode())
        found.update(b"|")
    return found.hexdigest()[:16]
