"""Features as what they are pickled as: text of our own grammar, the same in every process, before and after use.

SymPy's objects would do, but a pickle of them tells which parts are one object in memory and which only equal: two
plans that are equal would differ in it, and in what joblib hashes. Frequency responses come as bytes beside the text.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from sympy import Expr, Symbol

from symdecouple.errors import SymdecoupleError
from symdecouple.language.filtered import Response
from symdecouple.language.sample import Sample
from symdecouple.language.text import domain_to_text, parse_domain, parse_expression, to_text

__all__ = ["as_written", "nested", "read_back"]

_LONGEST = 10**6  # of what was an expression before, and was written by nobody


@lru_cache(maxsize=1024)
def as_written(expr: Expr, sample: Sample, size: int | None) -> tuple[Any, ...] | None:
    """Return what `read_back` makes the expression of; None for one that the grammar does not have.

    Parameters
    ----------
    expr : Expr
    sample : Sample
        That the averages are of.
    size : int or None
        How many coordinates there are, where it is a function of these.
    """
    responses = sorted(expr.atoms(Response), key=lambda r: (r.name, r.values))
    names = {response: Symbol(f"response_{i}") for i, response in enumerate(responses)}
    try:
        text, domain = to_text(expr.xreplace(names), sample=sample), domain_to_text(sample)
        arrays = [np.array(response.values, dtype=complex) for response in responses]
        values = tuple((r.name, a.shape, a.tobytes()) for r, a in zip(responses, arrays, strict=True))
        written = text, domain, size, values
        return written if read_back(*written) == expr else None
    except SymdecoupleError:
        return None


def read_back(text: str, domain: str, size: int | None, responses: tuple[tuple[str, tuple[int, ...], bytes], ...]
              ) -> Expr:
    """Return the expression that was written."""
    expr = parse_expression(text, sample=parse_domain(domain), n_samples=size, max_length=_LONGEST)
    if not responses:
        return expr
    values = (np.frombuffer(content, dtype=complex).reshape(shape).tolist() for _, shape, content in responses)
    return expr.xreplace({Symbol(f"response_{i}"): Response(name, nested(value))
                          for i, ((name, _, _), value) in enumerate(zip(responses, values, strict=True))})


def nested(values: Any) -> Any:
    """Return lists in lists as tuples in tuples, which can be hashed."""
    return tuple(map(nested, values)) if isinstance(values, list) else values
