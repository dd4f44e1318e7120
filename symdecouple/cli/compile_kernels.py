"""``symdecouple compile``: the compiled kernels, made once and kept on the disk, so that no later call waits."""

from __future__ import annotations

import argparse
import time

from symdecouple.cli.exit_codes import ExitCode
from symdecouple.numeric.kernels import compile as jit
from symdecouple.versions import kernel_modules

__all__ = ["run"]


def run(_: argparse.Namespace) -> int:
    """Compile what is not compiled yet, and say how long it took."""
    if not jit.is_available():
        print('numba is not installed, and everything works without it; pip install "symdecouple[fast]" makes large '
              "arrays several times faster")
        return ExitCode.OK
    for name, module in kernel_modules().items():
        if module.KERNELS.are_warm():
            print(f"{name}: compiled already")
            continue
        start = time.perf_counter()
        module.warm()
        print(f"{name}: compiled in {time.perf_counter() - start:.0f} s", flush=True)
    return ExitCode.OK
