"""How long an exact verdict takes, beside what is in use today at a fixed sample size.

Rivals, on the gradients written out in N explicit coordinates:

* ``symbtools.involutivity_test``: generic ranks at one random point; a bare bool, no proof;
* SymPy's ``linsolve(G c = bracket)``: structure functions at this N, if it comes to an end.

Ours answers for every N, with a certificate; its time includes the verdict on independence. All run in one process, in
turn, with SymPy's caches and ours cleared before each; medians are printed, ratios are rival time over ours. A rival
that does not come back within the limit is interrupted and shown as ``> limit``.

    python benchmarks/verdicts.py [--repeat 3] [--limit 60] [--verify]
"""

from __future__ import annotations

import argparse
import signal
import time
from collections.abc import Callable
from itertools import combinations
from statistics import median
from typing import Any

import sympy as sp
from sympy.core.cache import clear_cache

from symdecouple import FeatureSet, Mean, Status, VectorField, check_frobenius, sample, x
from symdecouple.calculus import frame
from symdecouple.language import canonical
from symdecouple.language.statistics import central_moment, kurtosis, skewness, variance

try:
    import symbtools
except ImportError:
    symbtools = None

positive = sample("x", positive=True)


def powers(*orders: int) -> FeatureSet:
    return FeatureSet([Mean(x**k) for k in orders])


CASES: list[tuple[str, Any, int, bool]] = [
    ("means of x..x^3", powers(1, 2, 3), 4, True),
    ("means of x..x^4", powers(1, 2, 3, 4), 5, False),
    ("means of x..x^10", powers(*range(1, 11)), 11, False),
    ("x, x^3", powers(1, 3), 3, False),
    ("x^2, x^7", powers(2, 7), 4, True),
    ("mean, variance, kurtosis", FeatureSet([Mean(x), variance(), kurtosis()]), 5, True),
    ("mean, variance, skewness^2", FeatureSet([Mean(x), variance(), skewness() ** 2]), 5, True),
    ("mean, variance, 4th central", FeatureSet([Mean(x), variance(), central_moment(4)]), 5, True),
    ("mean, variance, Mean(x^4)", FeatureSet([Mean(x), variance(), Mean(x**4)]), 5, False),
    ("mean, var, skewness, kurtosis", FeatureSet([Mean(x), variance(), skewness(), kurtosis()]), 5, False),
    ("x, sin x, cos x", FeatureSet([Mean(x), Mean(sp.sin(x)), Mean(sp.cos(x))]), 4, True),
    ("sin x, cos x", FeatureSet([Mean(sp.sin(x)), Mean(sp.cos(x))]), 4, False),
    ("x, e^x, e^-x", FeatureSet([Mean(x), Mean(sp.exp(x)), Mean(sp.exp(-x))]), 4, True),
    ("x, x log x, x log^2 x", [VectorField(positive * sp.log(positive) ** k) for k in range(3)], 4, True),
]


def explicit(subject: Any, n: int) -> tuple[sp.Matrix, list[sp.Symbol]]:
    """Return the gradients in plain coordinates, as a rival's user would write them."""
    fields = subject if isinstance(subject, list) else [f.gradient for f in subject]
    fields = [field.at(n_samples=n) for field in fields]
    plain = sp.symbols(f"x1:{n + 1}", positive=isinstance(subject, list), real=True)
    rule = dict(zip(fields[0].coordinates, plain, strict=True))
    return sp.Matrix([[c.xreplace(rule) for c in field.components] for field in fields]).T, list(plain)


def ours(subject: Any) -> str:
    return check_frobenius(subject).status.name


def by_symbtools(subject: Any, n: int) -> str:
    gradients, symbols = explicit(subject, n)
    involutive, _ = symbtools.involutivity_test(gradients, symbols)
    return Status.PROVED.name if involutive else Status.REFUTED.name


def by_linsolve(subject: Any, n: int) -> str:
    gradients, symbols = explicit(subject, n)
    unknowns = sp.symbols(f"c1:{gradients.cols + 1}")
    for i, j in combinations(range(gradients.cols), 2):
        u, v = gradients[:, i], gradients[:, j]
        bracket = v.jacobian(symbols) * u - u.jacobian(symbols) * v
        if sp.linsolve((gradients, bracket), *unknowns) == sp.S.EmptySet:
            return Status.REFUTED.name
    return Status.PROVED.name


def timed(function: Callable[..., str], limit: float, *args: Any) -> tuple[float, str]:
    clear_cache()
    canonical._basis_form.cache_clear()
    canonical._shared_statistic.cache_clear()
    frame._RECENT.clear()
    start = time.perf_counter()
    signal.signal(signal.SIGALRM, _ring)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        answer = function(*args)
    except TimeoutError:
        return limit, "> limit"
    except Exception as error:  # a rival's failure is a result
        return time.perf_counter() - start, type(error).__name__
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return time.perf_counter() - start, answer


def _ring(*_: Any) -> None:
    raise TimeoutError


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--repeat", type=int, default=3)
    options.add_argument("--limit", type=float, default=60.0)
    options.add_argument("--verify", action="store_true", help="also time certificate.verify()")
    chosen = options.parse_args()
    rivals = {"linsolve": by_linsolve} | ({"symbtools": by_symbtools} if symbtools else {})
    columns = "".join(f"{name:>12}{'ratio':>8} {'answer':<10}" for name in rivals)
    print(f"{'features':31}{'truth':9}{'ours':>9}{columns}" + ("   verify" if chosen.verify else ""))
    for label, subject, n, truth in CASES:
        runs: dict[str, list[tuple[float, str]]] = {"ours": [], **{name: [] for name in rivals}}
        for _ in range(chosen.repeat):
            runs["ours"].append(timed(ours, chosen.limit, subject))
            for name, rival in rivals.items():
                if not any(answer == "> limit" for _, answer in runs[name]):
                    runs[name].append(timed(rival, chosen.limit, subject, n))
        own = median(seconds for seconds, _ in runs["ours"])
        expected = "PROVED" if truth else "REFUTED"
        mark = "" if {answer for _, answer in runs["ours"]} == {expected} else " WRONG"
        line = f"{label:31}{expected:9}{own:8.3f}s{mark}"
        for name in rivals:
            seconds, answer = median(s for s, _ in runs[name]), runs[name][0][1]
            wrong = " (!)" if answer != expected else ""
            line += f"{seconds:11.3f}s{seconds / own:8.1f} {answer + wrong:<10}"
        if chosen.verify:
            certificate = check_frobenius(subject).certificate
            start = time.perf_counter()
            line += f" {'ok' if certificate is not None and certificate.verify() else 'FAIL'} " \
                    f"{time.perf_counter() - start:.3f}s"
        print(line, flush=True)


if __name__ == "__main__":
    main()
