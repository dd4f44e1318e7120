"""Kernels of long samples in parts (`long_jit`), which go with them."""

from __future__ import annotations

from symdecouple.numeric.kernels.compile import Kernels
from symdecouple.numeric.moments import skewness_flow_jit

__all__ = ["KERNELS"]

KERNELS = Kernels(
    __name__,
    (
        *skewness_flow_jit.KERNELS.sources,
        "symdecouple.numeric.paths.dop853",
        *(f"{__package__}.{name}" for name in ("course", "moment_path", "path_loops", "nodes", "moves", "steps")),
        __name__,
    ),
    seconds=3e-6,
)
