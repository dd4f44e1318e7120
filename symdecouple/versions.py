"""What a report of a fault needs to know: versions, extras, the processor, and whether kernels are compiled."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from collections.abc import Iterator
from typing import Any, TextIO

__all__ = ["kernel_modules", "show_versions"]

_NEEDED = ("numpy", "scipy", "sympy", "mpmath")
_EXTRAS = (  # what pip calls each, and the extra that brings it; tqdm belongs to none
    ("numba", "fast"), ("python-flint", "flint"), ("matplotlib", "plot"), ("scikit-learn", "sklearn"),
    ("pillow", "image"), ("PyWavelets", "wavelet"), ("pandas", "pandas"), ("xarray", "xarray"), ("dask", "dask"),
    ("distributed", "dask"), ("tqdm", ""),
)


def show_versions(file: TextIO | None = None) -> None:
    """Print the versions of symdecouple, Python and the packages it uses, the processor and the compiled kernels.

    Parameters
    ----------
    file : text stream, optional
        Default standard output.

    Notes
    -----
    Nothing of it is sent anywhere, and no name of a user, machine or folder is in it. Optional packages are looked up,
    not imported.

    Examples
    --------
    >>> show_versions()
    symdecouple  ...
    python       ...
    """
    lines = list(_lines())
    width = max(len(name) for name, _ in lines)
    print("\n".join(f"{name:<{width}}  {value}".rstrip() for name, value in lines), file=file or sys.stdout)


def kernel_modules() -> dict[str, Any]:
    """Return the modules of the kernels, by what they compute."""
    from symdecouple.numeric.energies import tilting_kernel
    from symdecouple.numeric.features import bank
    from symdecouple.numeric.moments import moment_path_kernel, skewness_kernel

    return {"orthokurtosis and skewness": skewness_kernel, "decoupled moments": moment_path_kernel,
            "filter banks": bank, "energies": tilting_kernel}


def _lines() -> Iterator[tuple[str, str]]:
    yield "symdecouple", _version("symdecouple") or "not installed: used from its source"
    yield "python", f"{platform.python_version()} ({platform.python_implementation()})"
    yield "system", f"{platform.system()} {platform.release()}, {platform.machine()}"
    yield "processors", str(os.cpu_count() or "unknown")
    yield "features", _features()
    for name in _NEEDED:
        yield name, _version(name) or "missing"
    for name, extra in _EXTRAS:
        yield name, _version(name) or f"not installed{f' (extra {extra})' if extra else ''}"
    yield "kernels", _kernels()


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _features() -> str:
    """The vector instructions that NumPy found."""
    import numpy as np

    try:
        told = np.show_config(mode="dicts")["SIMD Extensions"]
        return " ".join([*told.get("baseline", ()), *told.get("found", ())]) or "none"
    except (KeyError, TypeError, AttributeError):
        return "unknown"


def _kernels() -> str:
    """Which kernels are in numba's cache."""
    from symdecouple.numeric.kernels import compile as jit

    if not jit.is_available():
        return "NumPy alone, numba does not load"
    modules = kernel_modules().values()
    warm = sum(bool(module.KERNELS.are_warm()) for module in modules)
    others = "; `symdecouple compile` compiles the others" if warm < len(modules) else ""
    return f"{warm} of {len(modules)} compiled{others}"
