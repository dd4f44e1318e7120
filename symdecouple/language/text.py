r"""The one grammar of all text and JSON: a safe parser; `symdecouple.language.printer` is its inverse.

Text is read with Python's own syntax (``ast.parse``, nothing is ever executed) through an allow-list, and SymPy
objects are built directly. Precedence and associativity are Python's; ``^`` is another way to write ``**``.

.. code-block:: text

    sum      = product {("+" | "-") product} ;
    product  = sign {("*" | "/") sign} ;
    sign     = ["+" | "-"] sign | power ;
    power    = atom [("**" | "^") sign] ;
    atom     = number | name | call | "(" sum ")" ;
    number   = digits ["." [digits]] [("e" | "E") ["+" | "-"] digits] ;       (exact: 0.1 is 1/10)
    call     = function "(" [sum {"," sum}] ")" | filter "(" sum ")" | derivative ;
    function = "mean" | "variance" | "std" | "skewness" | "kurtosis"          (without argument: of the sample)
             | "central"                                                      (central(k), central(k, e))
             | "exp" | "log" | "sqrt" | "sin" | ... | "gamma" | "loggamma" | "Abs" | "sign" | "Max" | "Min"
             | name ;                                                         (an undefined function m(e))
    filter   = "shift(" place ["," boundary] ")" | "taps(" taps ["," place] ["," boundary] ")"
             | "filter(" named ")" | "adjoint(" (named | filter) ")" ;        (and dc(named), its gain)
    taps     = "(" row {"," row} [","] ")" ;  row = sum | taps ;              (nested once for each dimension)
    place    = integer | "(" integer {"," integer} [","] ")" ;                (the tap at lag 0, or the lag)
    boundary = "circular" | "zero" | "half_sample" | "whole_sample" ;
    named    = name {"," (integer | boundary | "zero_dc")} ;                  (the integer: its dimensions)
    derivative = "diff(" name "(" name ")," name ["," integer] ")"            (of an undefined function: m'(x))
             | "diff(" name ["," integer] ")(" sum ")" ;                      (m'(e) at any argument e)

A name is the sample (``x``), a coordinate (``x1``, ``x2``, ... where ``n_samples`` is given), ``pi``, ``E``, or a
parameter, ``Symbol(name)``; ``oo`` stands only in domains. Products and quotients are built at once, not pairwise:
``2*(x + 1)*y`` keeps its three factors. Everything is bounded (`symdecouple.language.limits`): a hostile text is
refused in milliseconds with an `InvalidInput` that shows where.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from sympy import Expr, Rational, S, oo

from symdecouple.errors import InvalidInput
from symdecouple.language.feature import Feature
from symdecouple.language.limits import MAX_LENGTH
from symdecouple.language.printer import domain_to_text, name_problem, to_text
from symdecouple.language.reader import Reader
from symdecouple.language.sample import Sample, x
from symdecouple.language.syntax import Source

__all__ = ["domain_to_text", "parse", "parse_domain", "parse_expression", "to_text"]


def parse(text: str, *, sample: Sample = x, n_samples: int | None = None,
          allow_nonsmooth: Iterable[str] = ()) -> Feature:
    """Read one feature from text; nothing in the text is executed.

    Parameters
    ----------
    text : str
        A feature in the grammar of this module: averages of the sample, or coordinates.
    sample : Sample
        The generic sample, with its domain; its name in the text is its own.
    n_samples : int, optional
        Makes ``x1``, ``x2``, ... the coordinates of a sample vector of this size.
    allow_nonsmooth : iterable of str
        As in `Feature`.

    Raises
    ------
    InvalidInput
        With a caret under what was found, and what would help.
    UnsupportedExpression
        If it is readable but not smooth.

    Examples
    --------
    >>> from symdecouple.language.mean import Mean
    >>> parse("mean(x^2) - mean(x)^2") == Feature(Mean(x**2) - Mean(x)**2)
    True
    >>> parse("variance()*0.1")
    Feature(-Mean(x)**2/10 + Mean(x**2)/10)
    >>> parse("mean(x^10^10)")
    Traceback (most recent call last):
    symdecouple.errors.InvalidInput: an exponent is larger than 200 (at character 6)
      mean(x^10^10)
           ^
    """
    expr = parse_expression(text, sample=sample, n_samples=n_samples)
    return Feature(expr, allow_nonsmooth=allow_nonsmooth)


def parse_expression(text: str, *, sample: Sample = x, n_samples: int | None = None,
                     functions: Mapping[str, Callable[..., Expr]] | None = None,
                     max_length: int = MAX_LENGTH) -> Expr:
    """Read any expression of the grammar from text, the sample free or averaged.

    Parameters
    ----------
    text, sample, n_samples
        As in `parse`.
    functions : mapping, optional
        Further functions by name: callables that take and return expressions.
    max_length : int
        Longest text that is read.

    Examples
    --------
    >>> parse_expression("2*(x - mean(x))")
    2*x - 2*Mean(x)
    """
    return Reader(Source(text, max_length), sample, n_samples, functions or {}).result()


def parse_domain(text: str, name: str = "x") -> Sample:
    """Read a sample and its domain: ``x=positive``, ``x=(0, 1)``, ``real``; ``name`` where the text has none.

    Examples
    --------
    >>> parse_domain("t=(0, 1/2)").interval, parse_domain("positive") == Sample("x", positive=True)
    ((0, 1/2), True)
    """
    if not isinstance(text, str) or len(text) > MAX_LENGTH:
        raise InvalidInput(f"a domain is text such as 'x=positive' or 'x=(0, 1)', got {str(text)[:40]!r}")
    head, equals, tail = text.partition("=")
    name, domain = (head.strip(), tail.strip()) if equals else (name, text.strip())
    if problem := name_problem(name):
        raise InvalidInput(f"the sample of the domain {text[:40]!r} has no valid name: {problem}")
    words = {"real": (-oo, oo), "positive": (S.Zero, oo), "negative": (-oo, S.Zero)}
    ends = words.get(domain)
    if ends is None:
        body = re.fullmatch(r"\(([^,]*),([^,]*)\)", domain)
        if body is None:
            raise InvalidInput(f"the domain of {name} is real, positive, negative or an open interval (low, high) "
                               f"such as (0, 1) or (0, oo), got {domain[:40]!r}")
        ends = (_end(body[1]), _end(body[2]))
    return Sample(name, ends)


def _end(text: str) -> Expr:
    infinite = {"oo": oo, "+oo": oo, "-oo": -oo, "inf": oo, "-inf": -oo}.get(text.strip())
    end = parse_expression(text) if infinite is None else infinite
    if infinite is None and not isinstance(end, Rational):
        raise InvalidInput(f"the end of an interval is a number such as 0, 1/2 or oo, got {text.strip()[:40]!r}")
    return end
