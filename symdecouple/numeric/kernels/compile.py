"""When kernels are compiled, and how: numba is optional, costs half a second to load and several to compile.

A set of `Kernels` is used above 1e5 elements once it lies compiled on the disk (`symdecouple compile` puts it there),
for any number of them once it has been used in this process, and otherwise only where NumPy would take more than five
seconds. Nothing here loads numba before a kernel is wanted, and a first call on a thousand numbers never waits for it.

The functions that are compiled are ordinary functions of ours, the same that NumPy runs: `build` makes a compiled twin
of one and of all it calls. numba's cache looks at the file of the cached function only, so a mark with the hash of all
sources stands beside it; without that mark the cache is taken for old. Where numba cannot be loaded, as after an
interruption of its own beginning, NumPy answers; a damaged cache is made anew (`Compiled`).
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import sys
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

__all__ = ["CompiledFunction", "Kernels", "as_part_of", "is_available"]

FROM_ELEMENTS = 10**5  # where a compiled kernel that is on the disk pays
FROM_SECONDS = 5.0  # of NumPy, where one that must be compiled first pays
_FUSED = {"contract"}  # products and sums in one rounding
_FAST = {"reassoc", "contract", "nsz", "arcp"}  # sums in any order, too; NaN and infinity keep their meaning
_PACKAGE = __name__.partition(".")[0]
_BUILT: dict[str, tuple[CompiledFunction, ...]] = {}  # by the name of their set
_WHOLE: ContextVar[int] = ContextVar("elements of what a call is a part of", default=0)


@contextmanager
def as_part_of(n_elements: int) -> Iterator[None]:
    """Let the kernels answer parts as they would answer the whole, of that many elements."""
    token = _WHOLE.set(max(n_elements, _WHOLE.get()))  # what is part of a part is part of the whole
    try:
        yield
    finally:
        _WHOLE.reset(token)


def is_available() -> bool:
    """True iff numba is installed and not switched off."""
    switched_off = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
    return not switched_off and _numba_version() is not None and importlib.util.find_spec("numba") is not None


@cache
def _loads() -> bool:
    """True iff numba can be loaded; not where an interruption came in between, which leaves it in parts."""
    try:
        return hasattr(importlib.import_module("numba"), "core")  # a second import does not bind it
    except Exception:  # an AttributeError or ImportError of its own
        return False


@cache
def _numba_version() -> str | None:
    try:
        return importlib.metadata.version("numba")
    except importlib.metadata.PackageNotFoundError:
        return None


@dataclass(frozen=True, slots=True)
class Kernels:
    """Functions that are compiled and kept on the disk together.

    Parameters
    ----------
    name : str
        The module, by its full name, that has them compiled.
    sources : tuple of str
        All modules whose functions are compiled into them.
    seconds : float
        What NumPy takes per element.
    """

    name: str
    sources: tuple[str, ...]
    seconds: float

    def are_wanted(self, n_elements: int) -> bool:
        """True iff the compiled kernels should answer for that many elements."""
        n_elements = max(n_elements, _WHOLE.get())
        if n_elements * self.seconds > FROM_SECONDS:
            return is_available() and _loads()
        return self.are_loaded() or (n_elements >= FROM_ELEMENTS and self.are_warm())

    def are_loaded(self) -> bool:
        """True iff some have been used in this process, and none would have to be compiled."""
        used = [twin.is_loaded for twin in _BUILT.get(self.name, ())]
        return any(used) and is_available() and (all(used) or self.are_warm())

    def are_warm(self) -> bool:
        """True iff all of them lie compiled on the disk, made from the present sources, and numba can be loaded."""
        return is_available() and any((place / self._mark()).is_file() for place in _places()) and _loads()

    def note_warm(self) -> None:
        """Leave the mark, with the sums of all files, once every signature is compiled; in silence where nothing can be
        written."""
        said = json.dumps(_sums(getattr(one, "twin", None) for one in _BUILT.get(self.name, ())))
        for place in _places():
            try:
                place.mkdir(parents=True, exist_ok=True)
                (place / self._mark()).write_text(said, encoding="utf-8")
            except OSError:
                continue
            return

    def build(self, *functions: Callable[..., Any], fast: Iterable[str] = ()) -> Any:
        """Compiled twins, kept on the disk; of the functions they call, those named in `fast` may reorder sums."""
        made: dict[Any, Any] = {}
        twins = [_twin(function, frozenset(fast), made, is_entry=True) for function in functions]
        if unsaid := {function.__module__ for function in made if _is_ours(function)} - set(self.sources):
            raise RuntimeError(f"{self.name} is compiled from {sorted(unsaid)} too: say so, or changes go unnoticed")
        is_warm = self.are_warm()
        is_damaged = is_warm and self._is_damaged(twins)
        if not is_warm:
            self._forget_marks()
        if is_damaged or not is_warm:
            for twin in twins:
                _forget(twin)
        _BUILT[self.name] = tuple(CompiledFunction(function, frozenset(fast), twin, self._distrust, is_damaged)
                                  for function, twin in zip(functions, twins, strict=True))
        return _BUILT[self.name]

    def _is_damaged(self, twins: Iterable[Any]) -> bool:
        """True iff a file is not what it was when the mark was left: loading machine code that is would end Python."""
        sums = _sums(twins)
        for mark in (place / self._mark() for place in _places()):
            with suppress(OSError):
                text = mark.read_text(encoding="utf-8", errors="replace")
                try:
                    said = dict(json.loads(text or "{}"))
                except (ValueError, TypeError):  # the mark is damaged itself
                    said = dict.fromkeys(sums)
                if any(sums.get(name, sum_) != sum_ for name, sum_ in said.items()):
                    self._distrust()
                    return True
                if sums.keys() - said.keys():  # what has been made anew since
                    mark.write_text(json.dumps(said | sums), encoding="utf-8")
        return False

    def _distrust(self) -> None:
        """Leave the mark without sums: files are made anew."""
        for place in _places():
            with suppress(OSError):
                if (place / self._mark()).is_file():
                    (place / self._mark()).write_bytes(b"")

    def _mark(self) -> str:
        return f"{self._marks()}{_fingerprint(self.sources)}.warm"

    def _marks(self) -> str:
        """What all marks of this set begin with that speak of the same files of numba: one Python, one checkout."""
        return f"{self.name}-{_python()}-{zlib.crc32(os.fsencode(__file__)):08x}-"

    def _forget_marks(self) -> None:
        """Sources may go back to an earlier text: its mark would then speak of a cache that is gone."""
        for place in _places():
            with suppress(OSError):
                for mark in place.glob(f"{self._marks()}*.warm"):
                    mark.unlink(missing_ok=True)


def _python() -> str:
    """As in the names of numba's files."""
    return f"py{sys.version_info[0]}{sys.version_info[1]}{getattr(sys, 'abiflags', '')}"


@cache
def _fingerprint(modules: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    digest.update(f"{_numba_version()} {np.__version__} {sys.version} {platform.machine()}".encode())
    for module in modules:
        spec = importlib.util.find_spec(module)
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError(f"kernels are said to be made from {module}, and there is no such module")
        digest.update(Path(spec.origin).read_bytes())
    return digest.hexdigest()[:16]


def _places() -> list[Path]:
    """Where the mark may lie: where numba keeps its cache, in its order."""
    asked = os.environ.get("NUMBA_CACHE_DIR")
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / _PACKAGE
    return [Path(asked)] if asked else [Path(__file__).parent / "__pycache__", home]


def _forget(twin: Any) -> None:
    """Take away the index of what was compiled from older sources, or is damaged."""
    with suppress(OSError):
        for index in _files(twin, "nbi"):
            index.unlink(missing_ok=True)


def _sums(twins: Iterable[Any]) -> dict[str, int]:
    """Of the files that have an index, one number each; -1 where one cannot be read."""
    found = {}
    for file in (file for twin in twins for file in _files(twin, "*.nbc")):
        if file.with_suffix("").with_suffix(".nbi").is_file():
            found[file.name] = -1
            with suppress(OSError):
                found[file.name] = zlib.crc32(file.read_bytes())
    return found


def _files(twin: Any, ending: str) -> list[Path]:
    """What numba keeps of the module of a function."""
    if getattr(getattr(twin, "stats", None), "cache_path", None) is None:
        return []
    module = twin.py_func.__module__.rpartition(".")[2]
    return list(Path(twin.stats.cache_path).glob(f"{module}.*.{_python()}.{ending}"))


class CompiledFunction:
    """A compiled function that puts right what goes wrong while it is loaded or compiled: a kernel raises nothing.

    The first time its cache is made anew: a file of it may be damaged, or numba was interrupted while it compiled.
    Then, or where a file cannot be written, it is compiled without one. If that does not help, the function runs as it
    is written, which is slow, with one warning.
    """

    def __init__(self, function: Callable[..., Any], fast: frozenset[str], twin: Any, distrust: Callable[[], None],
                 is_new: bool = False) -> None:
        self.function, self.fast, self.twin, self.distrust = function, fast, twin, distrust
        self.is_new, self.is_alone = is_new, False

    def __call__(self, *arguments: Any) -> Any:
        try:
            return self.twin(*arguments)
        except Exception as error:
            if self.twin is self.function:
                raise
            self._renew(error)
        return self(*arguments)

    @property
    def is_loaded(self) -> bool:
        """True iff it has been called, and is compiled."""
        return self.twin is not self.function and bool(self.twin.signatures)

    def _renew(self, error: Exception) -> None:
        if self.is_alone:
            warnings.warn(f"numba does not compile {self.function.__name__}, which is slow without it: {error!r}",
                          RuntimeWarning, stacklevel=4)
            self.twin = self.function
            return
        _forget(self.twin)
        self.distrust()
        self.is_alone, self.is_new = self.is_new or isinstance(error, OSError), True  # as of a disk that is full
        self.twin = _twin(self.function, self.fast, {}, is_entry=True, is_kept=not self.is_alone)


def _twin(function: Any, fast: frozenset[str], made: dict[Any, Any], is_entry: bool = False, is_kept: bool = True
          ) -> Any:
    """`function` compiled, its globals that are functions of ours replaced by their twins."""
    import numba

    if function not in made:
        named = {name: function.__globals__.get(name) for name in function.__code__.co_names}
        ours = {
            name: _twin(_SINGLE.get(value, value), fast, made)
            for name, value in named.items()
            if isinstance(value, FunctionType | type(np.where)) and (_is_ours(value) or value in _SINGLE)
        }
        copy = FunctionType(function.__code__, {**function.__globals__, **ours}, function.__name__)
        copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
        options: dict[str, Any] = {"no_cpython_wrapper": not is_entry, "no_cfunc_wrapper": True}  # for Python only
        flags = _FAST if function.__name__ in fast else _FUSED
        made[function] = twin = numba.njit(nogil=True, error_model="numpy", fastmath=flags, **options)(copy)
        if is_entry and is_kept:
            with suppress(RuntimeError):  # no folder can be written: compiled anew in each process
                twin.enable_caching()
    return made[function]


def _is_ours(function: Any) -> bool:
    return isinstance(function, FunctionType) and function.__module__.partition(".")[0] == _PACKAGE


# What stands for functions of arrays where there is a single value; numba's own may return arrays without axes.
_SINGLE: dict[Any, Any] = {np.where: lambda condition, one, other: one if condition else other, np.all: lambda one: one}
