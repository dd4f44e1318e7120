"""``python -m symdecouple`` is the command ``symdecouple``."""

import sys

from symdecouple.cli import main

if __name__ == "__main__":
    sys.exit(main())
