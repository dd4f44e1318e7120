r"""The average over samples, the one way from functions of the sample to features.

.. math:: \mathrm{Mean}(\varphi) = \frac1N \sum_{n=1}^N \varphi(x_n)

A `Mean` binds its sample: ``Mean(x**2)`` has no free sample, and a mean inside a mean is a constant for the
outer one. Differentiation, substitution and replacement never reach through the binding.
"""

from __future__ import annotations

from math import inf
from typing import Any

from sympy import Basic, Expr, Float, I, MatrixBase, Rational, S, Symbol, nan, oo, zoo
from sympy.core.sympify import SympifyError, _sympify

from symdecouple.errors import InvalidInput, UnsupportedExpression
from symdecouple.language.gamma_shifts import by_gamma
from symdecouple.language.sample import BoundSample, Sample

__all__ = ["Mean", "exact", "free_sample", "outermost_means"]

_BOUND_NAME = "x"


class Mean(Expr):
    r"""The average of a function of the sample over the N numbers of a sample vector.

    .. math:: \mathrm{Mean}(\varphi) = \frac1N \sum_n \varphi(x_n)

    Parameters
    ----------
    expr : Expr
        A function of one sample (and of parameters and other means, which are constants here).

    Returns
    -------
    Expr
        A `Mean`; the expression itself where it is constant.

    Raises
    ------
    InvalidInput
        For arrays, booleans, strings, several samples, or a plain symbol named like the sample.

    Examples
    --------
    >>> from symdecouple.language.sample import x
    >>> Mean((x - Mean(x))**2)
    Mean((x - Mean(x))**2)
    >>> Mean(3)
    3
    """

    __slots__ = ()
    is_commutative = True
    _diff_wrt = True  # f(Mean(x)) with an undefined f has a derivative in Mean(x)

    def __new__(cls, expr: Any, bound: BoundSample | None = None) -> Expr:
        if bound is None:
            expr = exact(expr, "Mean")
            symbol = free_sample(expr)
            if symbol is None:
                return expr
            bound = BoundSample(_BOUND_NAME, symbol.interval, **symbol._assumptions_orig)
            expr = expr.xreplace({symbol: bound})
        if bound not in expr.free_symbols:
            return expr
        return Expr.__new__(cls, expr, bound)

    @property
    def body(self) -> Expr:
        """The averaged function, in the bound variable."""
        return self.args[0]

    @property
    def bound(self) -> BoundSample:
        """The variable of the average."""
        return self.args[1]

    def opened(self, symbol: Symbol | None = None) -> Expr:
        """Return the averaged function of this symbol (default: of a free sample of the same domain)."""
        return self.body.xreplace({self.bound: symbol if symbol is not None else self.sample})

    @property
    def sample(self) -> Sample:
        """A free sample with the domain of this average."""
        return Sample(self.bound.name, self.bound.interval, **self.bound._assumptions_orig)

    @property
    def free_symbols(self) -> set[Basic]:
        return self.body.free_symbols - {self.bound}

    def _eval_derivative(self, symbol: Symbol) -> Expr:
        return Mean(self.body.diff(symbol), self.bound) if symbol in self.free_symbols else S.Zero

    def _eval_subs(self, old: Basic, new: Basic) -> Expr:
        if old == self.bound or not (old.free_symbols & self.free_symbols or old.atoms(Mean)):
            return self
        if new.atoms(Sample) - old.atoms(Sample):
            raise UnsupportedExpression(f"cannot substitute {old} by {new} inside {self}: a free sample would be "
                                        "captured by the average; bind parameters to constants")
        return Mean(self.body._subs(old, new), self.bound)

    def _xreplace(self, rule: Any) -> tuple[Expr, bool]:
        if self in rule:
            return rule[self], True
        if self.bound in rule:
            rule = {key: value for key, value in rule.items() if key != self.bound}
        body, changed = self.body._xreplace(rule)
        return (Mean(body, self.bound), True) if changed else (self, False)

    def _eval_is_real(self) -> bool | None:
        return self.body.is_real

    def _eval_is_positive(self) -> bool | None:
        return True if self.body.is_positive else None

    def _eval_is_nonnegative(self) -> bool | None:
        return True if self.body.is_nonnegative else None

    def _eval_is_finite(self) -> bool | None:
        return True if self.body.is_finite else None

    def _sympystr(self, printer: Any) -> str:
        return f"Mean({printer._print(self.body)})"

    _sympyrepr = _sympystr

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        text = rf"\overline{{{printer._print(self.body)}}}"
        return text if exp is None else rf"{{{text}}}^{{{exp}}}"

    def _pretty(self, printer: Any) -> Any:
        from sympy.printing.pretty.stringpict import prettyForm

        return prettyForm(*prettyForm(*printer._print(self.body).parens()).left("Mean"))


def exact(value: Any, where: str) -> Expr:
    """Return the value as an exact scalar SymPy expression: floats become the decimals they print as."""
    if isinstance(value, (bool, str, bytes)) or value is None:
        hint = "; text is read by symdecouple.parse" if isinstance(value, str) else ""
        raise InvalidInput(f"{where} takes an expression, got {value!r}{hint}")
    try:
        expr = _sympify(value)
    except (SympifyError, TypeError, ValueError) as error:
        raise InvalidInput(f"{where} takes an expression, got {type(value).__name__} {value!r}{_advice(value)}"
                           ) from error
    if type(expr).__name__ == "Filter":
        raise InvalidInput(f"{where} takes a scalar expression, got the filter {expr}; its energy is Mean(h(x)**2), "
                           "those of a bank are symdecouple.families.second_order_moments(bank)")
    if isinstance(expr, MatrixBase) or not isinstance(expr, Expr) or getattr(expr, "is_Matrix", False):
        raise InvalidInput(f"{where} takes a scalar expression, got {type(value).__name__}; "
                           "apply compiled features to arrays, not declarations")
    return rationalized(by_gamma(expr))


def _advice(value: Any) -> str:
    """What to write instead of a function, which is a common slip of the pen."""
    if not callable(value):
        return ""
    module, name = str(getattr(value, "__module__", "")), getattr(value, "__name__", "f")
    if value is Mean:
        return "; write Mean(x)"
    if module == "symdecouple.language.statistics":
        return f"; it is a function that makes a feature: write {name}({'3' * (name == 'central_moment')})"
    if module.startswith("symdecouple.stats"):
        return "; it computes numbers, features are declared: expressions of Mean(...), or variance(), kurtosis()"
    if module.startswith("symdecouple.families"):
        return f"; it makes a set of features: write {name}(...)"
    return "; a function of a sample vector is a black box: write Feature.from_callable(f)"


def rationalized(expr: Expr) -> Expr:
    """Return the expression with every float replaced by the decimal number it prints as."""
    floats = expr.atoms(Float)
    if any(not f.is_finite for f in floats):
        raise InvalidInput(f"{expr} contains an infinite or undefined number")
    return expr.xreplace({f: Rational(repr(near) if f._prec == 53 and 0 < abs(near := float(f)) < inf else str(f))
                          for f in floats}) if floats else expr


def free_sample(expr: Expr) -> Sample | None:
    """Return the one free sample of a real expression, None where it has none; several are refused."""
    if expr.has(I, nan, oo, -oo, zoo):
        raise InvalidInput(f"{expr} contains an imaginary or infinite number; features are real functions")
    samples = sorted(expr.atoms(Sample), key=str)
    if len(samples) > 1:
        raise InvalidInput(f"one average is over one sample, got {', '.join(map(str, samples))} in {expr}")
    names = {samples[0].name} if samples else {_BOUND_NAME}
    if any(s.name in names for s in expr.free_symbols if not isinstance(s, (Sample, BoundSample))):
        raise InvalidInput(f"{expr} contains a plain symbol named {min(names)}, which is not the sample; "
                           "use symdecouple.x for the sample and another name for the parameter")
    return samples[0] if samples else None


def outermost_means(expr: Expr) -> list[Mean]:
    """Return the averages of an expression that are in no other average, each once.

    Examples
    --------
    >>> from symdecouple.language.sample import x
    >>> sorted(map(str, outermost_means(Mean((x - Mean(x))**2) + Mean(x))))
    ['Mean((x - Mean(x))**2)', 'Mean(x)']
    """
    if isinstance(expr, Mean):
        return [expr]
    return list(dict.fromkeys(mean for arg in expr.args if isinstance(arg, Expr) for mean in outermost_means(arg)))
