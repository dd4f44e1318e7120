"""What another Python prints."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def printed(program: str, *arguments: str, warnings: str = "default", timeout: float = 300, **environment: str) -> str:
    """Run a program from the root, where `tests` can be imported; it must end well."""
    done = subprocess.run([sys.executable, "-W", warnings, "-c", program, *arguments], capture_output=True, text=True,
                          check=False, timeout=timeout, cwd=Path(__file__).parents[1], env=os.environ | environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
