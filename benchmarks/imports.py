"""How long imports take, in fresh processes, as ratios to numpy and sympy.

    python -m benchmarks imports
"""

from __future__ import annotations

import subprocess
import sys
import time
from statistics import median

PAIRS = [("symdecouple", "numpy", "import symdecouple"),
         ("symdecouple.stats", "numpy", "import symdecouple.stats"),
         ("symdecouple.x", "sympy", "from symdecouple import x"),
         ("check_frobenius", "sympy", "from symdecouple import check_frobenius")]


def seconds(code: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - start


def main() -> None:
    empty = median(seconds("pass") for _ in range(5))
    for label, rival, code in PAIRS:
        own, other = [], []
        for _ in range(7):
            own.append(seconds(code) - empty)
            other.append(seconds(f"import {rival}") - empty)
        print(f"{label:20} {median(own):6.3f}s = {median(own) / median(other):5.2f} x import {rival}")


if __name__ == "__main__":
    main()
