"""Print the newest Python of `pyenv versions` that is 3.11 or newer, of another minor version; or nothing."""

import re
import shutil
import subprocess
import sys

found = ""
if shutil.which("pyenv"):
    found = subprocess.run(["pyenv", "versions", "--bare"], capture_output=True, text=True, check=False).stdout
releases = [tuple(map(int, line.split("."))) for line in found.split() if re.fullmatch(r"3\.\d+\.\d+", line)]
others = [release for release in releases if release >= (3, 11) and release[:2] != sys.version_info[:2]]
if others:
    print(".".join(map(str, max(others))))
