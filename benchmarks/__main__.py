"""Run every benchmark: ``python -m benchmarks`` (a few minutes), or some of them by name."""

import importlib
import sys

ALL = ("imports", "shape", "verdicts", "plans", "moments", "narrow_path", "energies", "filter_moments", "reproduction")


def main() -> None:
    names = sys.argv[1:] or ALL
    sys.argv = sys.argv[:1]
    for name in names:
        print(f"\n== {name}", flush=True)
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main()
