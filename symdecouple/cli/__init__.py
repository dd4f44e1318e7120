"""The command line: ``symdecouple check``, ``symdecouple decouple`` and ``symdecouple demo``.

``main(argv)`` returns the exit code (`symdecouple.cli.exit_codes`) and never raises. ``check``, ``demo`` and the
plans of ``decouple`` load SymPy; without a plan ``decouple`` loads NumPy; ``--help`` neither.
"""

from symdecouple.cli.command import main

__all__ = ["main"]
