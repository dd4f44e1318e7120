"""One warning, where its caller stands."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from symdecouple.errors import RefusalWarning


@contextmanager
def one_refusal(said: str, file: str) -> Iterator[None]:
    """Within it one warning comes, of refused samples, at a line of this file, and its text begins so."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    (warning,) = caught
    assert warning.category is RefusalWarning and warning.filename == file
    assert str(warning.message).startswith(said)
