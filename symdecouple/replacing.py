"""Results put into a file whole.

A result is written beside its place, brought to the disk and renamed: the old one is there until the new one is. The
file that a link points to is replaced, not the link, and keeps its owner and permissions.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

__all__ = ["replacing"]

_PERMISSIONS = 0o7777


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Yield a file to write to, which takes the place of `path` if nothing goes wrong; devices are written directly.

    Raises
    ------
    OSError
        Then the old file is as it was.
    """
    place = Path(os.path.realpath(path))
    old = path.stat() if path.exists() else None
    if old is not None and (not stat.S_ISREG(old.st_mode) or path.parts[:2] == ("/", "dev")):
        with path.open("wb") as stream:
            yield stream
        return
    if old is not None and not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    handle, beside = tempfile.mkstemp(prefix=".symdecouple-", dir=place.parent)
    try:
        with os.fdopen(handle, "w+b") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        _permit(beside, old)
        os.replace(beside, place)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise
    with contextlib.suppress(OSError, AttributeError):  # the name too; not everywhere is this possible
        folder = os.open(place.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)


def _permit(name: str, old: os.stat_result | None) -> None:
    """Give a new file the owner and the permissions of the old one, or those that the system gives."""
    if old is None:
        masked = os.umask(0)
        os.umask(masked)
        Path(name).chmod(0o666 & ~masked)
        return
    with contextlib.suppress(OSError, AttributeError):
        os.chown(name, old.st_uid, old.st_gid)
    Path(name).chmod(old.st_mode & _PERMISSIONS)
