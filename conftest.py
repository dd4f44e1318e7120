"""Which modules have examples to run: not those that are an optional package, where it is not installed."""

from importlib.util import find_spec

_NEEDED = {"symdecouple/sklearn/*": "sklearn", "symdecouple/pandas.py": "pandas"}

collect_ignore_glob = [path for path, package in _NEEDED.items() if not find_spec(package)]
