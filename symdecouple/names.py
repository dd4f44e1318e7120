"""What may be meant by a name that a module lacks. Standard library only, and nothing is imported to find out."""

from __future__ import annotations

import ast
import difflib
import sys
from functools import cache
from pathlib import Path

__all__ = ["unknown_name"]

_PACKAGE = __name__.partition(".")[0]
_FACES = "stats", "families", "analysis", "sklearn"
_ALSO = {"mean": "Mean", "average": "Mean", "var": "variance", "std": "standard_deviation", "skew": "skewness",
         "moment": "central_moment", "features": "FeatureSet"}


def unknown_name(module: str, name: str) -> AttributeError:
    """Return the error of a name that a module lacks, with what is like it there, or in another face of the package."""
    told = f"module {module!r} has no attribute {name!r}"
    if name.startswith("_"):
        return AttributeError(told)
    known = {f"{_PACKAGE}.{face}": _listed(face) for face in _FACES}
    known[_PACKAGE] = tuple(getattr(sys.modules.get(_PACKAGE), "__all__", ()))
    order = [module, *(face for face in known if face != module)]
    near = difflib.get_close_matches(name, known.get(module, ()), 1, 0.8)
    far = difflib.get_close_matches(name, {n for names in known.values() for n in names}, 1, 0.8)
    for meant in (name, *near, _ALSO.get(name.lower(), ""), *far):
        for face in order:
            if meant in known.get(face, ()):
                return AttributeError(f"{told}; did you mean {face}.{meant}?")
    return AttributeError(told)


@cache
def _listed(face: str) -> tuple[str, ...]:
    """What a face has in `__all__`, as its text says."""
    path = Path(__file__).parent / face / "__init__.py"
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            return tuple(ast.literal_eval(node.value))
    return ()
