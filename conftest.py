"""Which modules have examples to run: not those of an optional package that is not installed."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("sklearn") else ["symdecouple/sklearn/*"]
