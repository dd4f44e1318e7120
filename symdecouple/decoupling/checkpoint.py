"""A long transform kept on the disk portion by portion, so that one that was interrupted goes on where it stopped.

The file knows what it belongs to: features, references, path and samples. Answers of anything else are never taken.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdecouple.errors import InvalidInput, Outcome
from symdecouple.numeric.samples.vectors import Batch
from symdecouple.replacing import replacing

__all__ = ["Checkpoint"]

_FORMAT = "symdecouple checkpoint 1"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The answers of the rows of a batch that are done, in one file."""

    path: Path
    fingerprint: str

    @classmethod
    def of(cls, path: str | PathLike[str], plan: Sequence[Any], batch: Batch) -> Checkpoint:
        """Return the checkpoint of a batch of float64 numbers and all that its answers depend on, as texts."""
        if batch.numbers != np.float64:
            raise InvalidInput("a checkpoint keeps float64 numbers: leave dps out, or the checkpoint")
        digest = hashlib.sha256(repr([_FORMAT, *map(str, plan), batch.grid, batch.rows.shape, batch.whole]).encode())
        for row in batch.rows:
            digest.update(np.ascontiguousarray(row, dtype="<f8").data)
        return cls(Path(path), digest.hexdigest())

    def restore(self, batch: Batch) -> NDArray[np.int64]:
        """Put the answers that are there into the batch, and return their rows; refuse files of something else."""
        if not self.path.exists():
            return np.empty(0, dtype=np.int64)
        try:
            with np.load(self.path, allow_pickle=False) as kept:
                fingerprint, rows, values, texts = (kept[name] for name in ("fingerprint", "rows", "values", "told"))
                outcomes = json.loads(str(texts))
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise InvalidInput(f"{self.path} is no checkpoint of a transform ({error}); give another name") from error
        if str(fingerprint) != self.fingerprint:
            raise InvalidInput(f"{self.path} keeps the answers of another plan or of other samples; give another name, "
                               "or remove it")
        batch.put_all(rows, values)
        batch.refusals.update({index: Outcome(*outcome) for index, *outcome in outcomes["refused"]})
        batch.notes.update({index: Outcome(*outcome) for index, *outcome in outcomes["noted"]})
        return np.asarray(rows)

    def keep(self, batch: Batch, done: NDArray[np.bool_]) -> None:
        """Write the answers of rows that are done in place of the file: it is whole whenever the process ends."""
        noted = {name: [(i, *astuple(outcome)) for i, outcome in outcomes.items() if done[i]]
                for name, outcomes in (("refused", batch.refusals), ("noted", batch.notes))}
        with replacing(self.path) as file:
            np.savez(file, fingerprint=self.fingerprint, rows=np.flatnonzero(done),
                     values=np.asarray(batch.values[done], dtype=np.float64), told=json.dumps(noted))
