"""What people try: feature sets and fields of statistics, signals, images and control, each with its answer.

A row names a family, whether C1 and C2 hold at generic samples, and the set as text. The answers are literals; they
were computed by `tests.laws.plain_jets`, which shares nothing with the package, and a test recomputes them.
`python -m tests.laws.report` prints what the package says of each set, and how long that takes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from sympy import Symbol, sympify

from symdecouple import FeatureSet, VectorField, parse
from symdecouple.language.text import parse_domain
from tests.laws.plain_jets import Answer, Unclear, answer_for_features, answer_for_fields


class Row(NamedTuple):
    """A set with its answers: texts separated by semicolons, and for a field its components by commas."""

    family: str
    independent: bool
    involutive: bool
    text: str
    domain: str = "real"
    kinks: str = ""
    n_samples: int | None = None
    coordinates: str = ""

    @property
    def texts(self) -> list[str]:
        return [part.strip() for part in self.text.split(";")]

    @property
    def fields(self) -> list[list[str]]:
        return [[c.strip() for c in part.split(",")] for part in self.texts]

    @property
    def parameters(self) -> list[str]:
        return [name for name in ("a", "b") if re.search(rf"\b{name}\b", self.text)]


def build(row: Row) -> Any:
    """Return what is given to `check_frobenius`: a FeatureSet, or vector fields."""
    if row.coordinates:
        names = {name: Symbol(name) for name in [*row.coordinates.split(), "a"]}
        symbols = [names[name] for name in row.coordinates.split()]
        return [VectorField([sympify(c, names) for c in field], symbols) for field in row.fields]
    sample = parse_domain(f"x={row.domain}")
    explicit = row.n_samples if row.family == "coordinates" else None
    return FeatureSet([parse(text, sample=sample, n_samples=explicit, allow_nonsmooth=row.kinks.split())
                       for text in row.texts])


def usual_size(row: Row, seed: int) -> int:
    """The sample sizes of the oracle: a little more than there are features, and room for the filters."""
    filtered = re.search(r"\b(filter|taps|shift)\b", row.text)
    return row.n_samples or (7 if filtered else len(row.texts) + 2) + seed % 2


def answers(row: Row, count: int, size: Callable[[Row, int], int] = usual_size, domain: str = "", tries: int = 40
            ) -> list[Answer]:
    """Return the answers of the oracle at random samples; where the numbers are not clear, others are drawn.

    The size of a sample is that of its seed, 0 for none.
    """
    out: list[Answer] = []
    for seed in range(tries):
        rng, n = random.Random(seed), 0 if row.coordinates else size(row, seed)
        try:
            if row.coordinates:
                out.append(answer_for_fields(row.fields, row.coordinates.split(), rng, row.parameters))
            elif n:
                out.append(answer_for_features(row.texts, n, domain or row.domain, rng, row.parameters, ["h"]))
        except Unclear:
            continue
        if len(out) == count:
            break
    return out


CORPUS: dict[str, Row] = {
    # Moments and ratios.
    "mean and variance": Row("moments", True, True, "mean(x); variance()"),
    "raw moments to order 3": Row("moments", True, True, "mean(x); mean(x^2); mean(x^3)"),
    "raw moments to order 4": Row("moments", True, False, "mean(x); mean(x^2); mean(x^3); mean(x^4)"),
    "mean, variance, skewness": Row("moments", True, True, "mean(x); variance(); skewness()"),
    "mean, variance, kurtosis": Row("moments", True, True, "mean(x); variance(); kurtosis()"),
    "mean, variance, skewness, kurtosis": Row("moments", True, False, "mean(x); variance(); skewness(); kurtosis()"),
    "even moments": Row("moments", True, True, "mean(x^2); mean(x^4)"),
    "coefficient of variation": Row("moments", True, True, "mean(x); std()/mean(x)", domain="positive"),
    "geometric and arithmetic mean": Row("moments", True, False, "mean(x); exp(mean(log(x)))", domain="positive"),
    "Pythagorean means": Row("moments", True, False, "mean(x); exp(mean(log(x))); 1/mean(1/x)", domain="positive"),
    "Theil index": Row("moments", True, False, "mean(x); mean(x*log(x))/mean(x) - log(mean(x))", domain="positive"),
    "Atkinson index": Row("moments", True, False, "mean(x); 1 - mean(sqrt(x))^2/mean(x)", domain="positive"),
    "Fano factor and second moment": Row("moments", True, True, "variance()/mean(x); mean(x^2)", domain="positive"),
    "entropy of the squares": Row("moments", True, True, "mean(x^2); mean(x^2*log(x^2))/mean(x^2)", domain="positive"),
    "participation ratio": Row("moments", True, True, "mean(x^2)^2/mean(x^4); mean(x^2)"),
    "mean, variance, fifth standardized moment": Row("moments", True, True,
                                                     "mean(x); variance(); central(5)/variance()^(5/2)"),
    "power mean of order 3": Row("moments", True, False, "mean(x); mean(x^3)^(1/3)", domain="positive"),
    "third cumulant and sixth moment": Row("moments", True, False, "mean(x); variance(); central(3); central(6)"),
    "ratio of moments": Row("moments", True, True, "mean(x^3)/mean(x^2); mean(x^2)", domain="positive"),
    "dependent: variance beside both moments": Row("moments", False, True, "mean(x); mean(x^2); variance()"),
    # Robust and sparse statistics.
    "log cosh": Row("robust", True, False, "mean(x); mean(log(cosh(x)))"),
    "log cosh about the mean": Row("robust", True, False, "mean(x); variance(); mean(log(cosh(x - mean(x))))"),
    "log cosh of the standardized sample": Row("robust", True, True,
                                               "mean(x); variance(); mean(log(cosh((x - mean(x))/std())))"),
    "Cauchy loss": Row("robust", True, False, "mean(x); mean(log(1 + x^2))"),
    "Welsch": Row("robust", True, False, "mean(x); mean(x^2); mean(1 - exp(-x^2/2))"),
    "Geman-McClure": Row("robust", True, False, "mean(x); mean(x^2/(1 + x^2))"),
    "pseudo Huber": Row("robust", True, False, "mean(x); mean(sqrt(1 + x^2))"),
    "pseudo Huber of residuals": Row("robust", True, False, "mean(x); variance(); mean(sqrt(1 + (x - mean(x))^2))"),
    "Student negentropy": Row("robust", True, True, "mean(x); variance(); mean(log(1 + (x - mean(x))^2/variance()))"),
    "negentropy by Gaussians": Row("robust", True, True,
                                   "mean(x); variance(); mean(exp(-(x - mean(x))^2/(2*variance())))"),
    "smooth sparsity": Row("robust", True, False, "mean(x^2); mean(sqrt(x^2 + 1/100))"),
    "log energy": Row("robust", True, False, "mean(x^2); log(mean(exp(x^2/4)))"),
    "tanh score": Row("robust", True, True, "mean(x); variance(); mean((x - mean(x))/std()*tanh((x - mean(x))/std()))"),
    "softplus": Row("robust", True, False, "mean(x); mean(log(1 + exp(x)))"),
    "erf": Row("robust", True, False, "mean(x); mean(erf(x))"),
    "mean absolute value": Row("robust", True, True, "mean(Abs(x)); mean(x^2)", kinks="Abs"),
    "mean absolute deviation": Row("robust", True, True, "mean(x); variance(); mean(Abs(x - mean(x)))", kinks="Abs"),
    "mean absolute standardized": Row("robust", True, True,
                                      "mean(x); variance(); mean(Abs((x - mean(x))/std()))", kinks="Abs"),
    "Hoyer sparsity": Row("robust", True, False, "mean(x); mean(Abs(x))/sqrt(mean(x^2))", kinks="Abs"),
    "relu": Row("robust", True, True, "mean(x); mean(Max(x, 0))", kinks="Max"),
    "relu and energy": Row("robust", True, True, "mean(x^2); mean(Max(x, 0)^2)", kinks="Max"),
    "Huber": Row("robust", True, True, "mean(x); mean(Min(x^2, 2*Abs(x) - 1))", kinks="Min Abs"),
    "fair loss": Row("robust", True, False, "mean(x^2); mean(Abs(x) - log(1 + Abs(x)))", kinks="Abs"),
    # Periodic functions.
    "circular mean": Row("periodic", True, False, "mean(cos(x)); mean(sin(x))"),
    "resultant length": Row("periodic", True, False, "mean(cos(x))^2 + mean(sin(x))^2; mean(cos(2*x))"),
    "mean, cosine, sine": Row("periodic", True, True, "mean(x); mean(cos(x)); mean(sin(x))"),
    "two harmonics": Row("periodic", True, False, "mean(cos(x)); mean(sin(x)); mean(cos(2*x)); mean(sin(2*x))"),
    "second harmonic": Row("periodic", True, True, "mean(x); mean(cos(2*x)); mean(sin(2*x))"),
    "sine and its square": Row("periodic", True, False, "mean(sin(x)); mean(sin(x)^2)"),
    "half angle tangents": Row("periodic", True, False, "mean(x); mean(tan(x/2))", domain="(-3/2,3/2)"),
    "half angle tangents and squares": Row("periodic", True, False,
                                           "mean(tan(x/2)); mean(tan(x/2)^2); mean(tan(x/2)^3)", domain="(-3/2,3/2)"),
    "energy of a sinusoid": Row("periodic", True, False, "mean(x^2); mean(sin(x)^2)"),
    "circular variance and mean": Row("periodic", True, True, "mean(x); 1 - sqrt(mean(cos(x))^2 + mean(sin(x))^2)"),
    "incommensurable waves": Row("periodic", True, False, "mean(cos(x)); mean(cos(sqrt(2)*x))"),
    "log sine": Row("periodic", True, False, "mean(x); mean(log(sin(x)))", domain="(0,3)"),
    "wrapped Cauchy": Row("periodic", True, False, "mean(log(5/4 - cos(x))); mean(x)"),
    "Chebyshev polynomials": Row("periodic", True, False, "mean(cos(x)); mean(cos(2*x)); mean(cos(3*x))"),
    "modulated": Row("periodic", True, False, "mean(x); mean(x*cos(x))"),
    "secant": Row("periodic", True, False, "mean(log(sec(x) + tan(x))); mean(tan(x))", domain="(-1,1)"),
    "damped waves": Row("periodic", True, False, "mean(exp(-x)*cos(x)); mean(exp(-x)*sin(x))"),
    # Exponential families and likelihoods.
    "gamma": Row("exponential", True, False, "mean(log(x)); mean(x)", domain="positive"),
    "gamma and its normalizer": Row("exponential", False, False,
                                    "mean(x); mean(log(x)); loggamma(mean(x))", domain="positive"),
    "beta": Row("exponential", True, False, "mean(log(x)); mean(log(1 - x))", domain="(0,1)"),
    "Weibull 2": Row("exponential", True, True, "mean(x^2); mean(log(x))", domain="positive"),
    "Weibull 3 halves": Row("exponential", True, False, "mean(x^(3/2)); mean(log(x))", domain="positive"),
    "inverse Gaussian": Row("exponential", True, False, "mean(x); mean(1/x)", domain="positive"),
    "generalized inverse Gaussian": Row("exponential", True, False,
                                        "mean(x); mean(1/x); mean(log(x))", domain="positive"),
    "lognormal": Row("exponential", True, False, "mean(log(x)); mean(log(x)^2)", domain="positive"),
    "lognormal and mean": Row("exponential", True, False, "mean(log(x)); mean(log(x)^2); mean(x)", domain="positive"),
    "logistic": Row("exponential", True, False, "mean(x); mean(log(1 + exp(x)))"),
    "logistic with curvature": Row("exponential", True, False, "mean(x); mean(log(1 + exp(-x))); mean(x^2)"),
    "von Mises": Row("exponential", True, False, "mean(cos(x - 1/2)); mean(sin(x - 1/2))"),
    "von Mises on the bivariate scale": Row("exponential", True, False, "mean(cos(x)); mean(sin(x)); mean(cos(x)^2)"),
    "negative binomial": Row("exponential", True, False, "mean(x); mean(loggamma(x + 3))", domain="positive"),
    "Poisson": Row("exponential", True, False, "mean(x); mean(loggamma(x + 1))", domain="positive"),
    "Gumbel": Row("exponential", True, True, "mean(x); mean(exp(-x))"),
    "Gumbel with profile": Row("exponential", True, True, "mean(x); log(mean(exp(-x)))"),
    "Laplace transform": Row("exponential", True, False, "mean(exp(-x)); mean(exp(-2*x))"),
    "hyperbolic triple": Row("exponential", True, True, "mean(x); mean(exp(x)); mean(exp(-x))"),
    "cumulant generating function": Row("exponential", True, False, "log(mean(exp(x))); mean(x); variance()"),
    "Pareto": Row("exponential", True, False, "mean(log(x)); mean(log(1 + x))", domain="positive"),
    "Student location": Row("exponential", True, False, "mean(x/(1 + x^2)); mean(log(1 + x^2))"),
    "Gaussian with log determinant": Row("exponential", True, True, "mean(x); log(variance())"),
    "Maxwell": Row("exponential", True, True, "mean(x^2); mean(log(x^2))", domain="positive"),
    "logit normal": Row("exponential", True, False, "mean(log(x/(1 - x))); mean(log(x/(1 - x))^2)", domain="(0,1)"),
    "digamma score": Row("exponential", True, False, "mean(x); mean(polygamma(0, x))", domain="positive"),
    # Filters.
    "one energy and mean": Row("filters", True, True, "mean(x); mean(filter(h)(x)^2)"),
    "two energies": Row("filters", True, True, "mean(x); mean(taps((-1,2,-1))(x)^2); mean(taps((1,2,1))(x)^2)"),
    "autocorrelation": Row("filters", True, True, "mean(x); mean(x^2); mean(x*shift(1)(x)); mean(x*shift(2)(x))"),
    "lag one coefficient": Row("filters", True, True,
                               "mean(x); variance(); (mean(x*shift(1)(x)) - mean(x)^2)/variance()"),
    "Hjorth mobility": Row("filters", True, True, "mean(x); variance(); sqrt(mean(taps((1,-1),0)(x)^2)/variance())"),
    "Hjorth parameters": Row("filters", True, True,
                             "variance(); sqrt(mean(taps((1,-1),0)(x)^2)/variance()); "
                             "sqrt(mean(taps((-1,2,-1))(x)^2)*variance())/mean(taps((1,-1),0)(x)^2)"),
    "spectral centroid": Row("filters", True, True, "mean(x^2); mean(taps((1,-1),0)(x)^2)/mean(x^2)"),
    "spectral moments": Row("filters", True, True,
                            "mean(x^2); mean(taps((-1,2,-1))(x)^2); mean(taps((1,-4,6,-4,1))(x)^2)"),
    "cubic of a filter": Row("filters", True, False, "mean(x); mean(filter(h)(x)^3)"),
    "kurtosis of a band": Row("filters", True, False,
                              "mean(x); mean(taps((-1,2,-1))(x)^2); "
                              "mean(taps((-1,2,-1))(x)^4)/mean(taps((-1,2,-1))(x)^2)^2"),
    "quartic of differences": Row("filters", True, True, "mean(x^2); mean(taps((1,-1),0)(x)^4)"),
    "smooth total variation": Row("filters", True, True, "mean(x); mean(sqrt(1 + (x - shift(1)(x))^2))"),
    "energy and quartic of the signal": Row("filters", True, False, "mean(x^2); mean(filter(h)(x)^2); mean(x^4)"),
    "bispectrum at one lag": Row("filters", True, False, "mean(x); mean(x^2*shift(1)(x))"),
    "Teager energy": Row("filters", True, True, "mean(x); mean(x^2 - shift(1)(x)*shift(-1)(x))"),
    "signal to noise": Row("filters", True, False,
                           "mean(x); log(mean(taps((1,2,1))(x)^2)) - log(mean(taps((-1,2,-1))(x)^2))"),
    "zero padded energies": Row("filters", True, False,
                                "mean(taps((-1,2,-1),1,zero)(x)^2); mean(taps((1,0,-1),1,zero)(x)^2)", n_samples=8),
    "time irreversibility": Row("filters", True, True, "mean(x); variance(); mean((x - shift(1)(x))^3)"),
    "log activity": Row("filters", True, True, "log(mean(taps((1,-1),0)(x)^2)); log(mean(x^2))"),
    "mirrored energies": Row("filters", True, True,
                             "mean(taps((-1,2,-1),1,half_sample)(x)^2); mean(taps((1,2,1),1,half_sample)(x)^2)",
                             n_samples=7),
    # Parameters.
    "power family": Row("parameters", True, False, "mean(x^a); mean(x^b)", domain="positive"),
    "power and mean": Row("parameters", True, False, "mean(x); mean(x^a)", domain="positive"),
    "Box-Cox": Row("parameters", True, False, "mean(x); mean((x^a - 1)/a)", domain="positive"),
    "Box-Cox and second moment": Row("parameters", True, True, "mean((x^a - 1)/a); mean(x^2)", domain="positive"),
    "exponential rate": Row("parameters", True, True, "mean(x); mean(exp(a*x))"),
    "two rates": Row("parameters", True, False, "mean(exp(a*x)); mean(exp(b*x))"),
    "frequency": Row("parameters", True, False, "mean(sin(a*x)); mean(cos(a*x))"),
    "mean and frequency": Row("parameters", True, True, "mean(x); mean(sin(a*x)); mean(cos(a*x))"),
    "contamination": Row("parameters", True, True, "mean(x) + a*mean(x^2); mean(x^2)"),
    "mixture of moments": Row("parameters", True, True, "mean(x) + a*mean(x^2); mean(x) + 11*mean(x^2)"),
    "mixture with cubic": Row("parameters", True, False, "mean(x); mean(x^2) + a*mean(x^3)"),
    "shifted poles": Row("parameters", True, False, "mean(1/(x + a)); mean(1/(x + b))", domain="positive"),
    "logistic slope": Row("parameters", True, False, "mean(x); mean(log(1 + exp(a*x)))"),
    "scale of a loss": Row("parameters", True, False, "mean(x); mean(log(1 + x^2/a^2))"),
    "weighted cumulants": Row("parameters", True, True, "mean(x); variance() + a*mean(x)^2; central(3)"),
    "generalized Gaussian": Row("parameters", True, True, "mean(x^2); mean(x^(2*a))", domain="positive"),
    "tempered variance": Row("parameters", True, True, "mean(x); variance() + a*mean(x); kurtosis()"),
    # Functions of coordinates.
    "distances of three points": Row("coordinates", False, True, "(x1 - x2)^2; (x2 - x3)^2; (x1 - x3)^2", n_samples=4),
    "softmax": Row("coordinates", True, True, "log(exp(x1) + exp(x2) + exp(x3)); x1", n_samples=3),
    "stable softmax": Row("coordinates", True, True,
                          "exp(x1 - x2)/(1 + exp(x1 - x2) + exp(x3 - x2)); 1/(1 + exp(x1 - x2) + exp(x3 - x2))",
                          n_samples=4),
    "elementary symmetric": Row("coordinates", True, True,
                                "x1 + x2 + x3 + x4; x1*x2 + x1*x3 + x1*x4 + x2*x3 + x2*x4 + x3*x4", n_samples=4),
    "product and sum": Row("coordinates", True, False, "x1 + x2 + x3; x1*x2*x3", n_samples=3),
    "determinant and trace": Row("coordinates", True, True, "x1*x4 - x2*x3; x1 + x4", n_samples=4),
    "polar": Row("coordinates", True, True, "x1^2 + x2^2; x3*x4", n_samples=4),
    "area and perimeter": Row("coordinates", True, False, "x1*x2*x3; x1*x2 + x2*x3 + x1*x3; x1^2 + x4^2", n_samples=4),
    "energy of a pendulum": Row("coordinates", True, True, "x1^2/2 - cos(x2); x3", n_samples=3),
    "contact forms as functions": Row("coordinates", True, False, "x1; x2 + x1*x3", n_samples=3),
    "pairwise repulsion": Row("coordinates", True, True, "1/(x1 - x2)^2 + 1/(x2 - x3)^2; x1 + x2 + x3", n_samples=3),
    "cross ratio": Row("coordinates", True, False, "(x1 - x3)*(x2 - x4)/((x1 - x4)*(x2 - x3)); x1 + x2", n_samples=5),
    # Vector fields in coordinates.
    "unicycle": Row("coordinates", True, False, "cos(theta), sin(theta), 0; 0, 0, 1", coordinates="x y theta"),
    "car": Row("coordinates", True, False,
               "cos(theta), sin(theta), tan(phi), 0; 0, 0, 0, 1", coordinates="x y theta phi"),
    "car with its slip": Row("coordinates", True, False,
                             "cos(theta)*cos(phi), sin(theta)*cos(phi), sin(phi), 0; 0, 0, 0, 1; 0, 0, 1, 0",
                             coordinates="x y theta phi"),
    "trailer": Row("coordinates", True, False,
                   "cos(t0), sin(t0), 0, sin(t0 - t1); 0, 0, 1, 0", coordinates="x y t0 t1"),
    "rolling disc": Row("coordinates", True, False,
                        "cos(theta), sin(theta), 0, 1; 0, 0, 1, 0", coordinates="x y theta phi"),
    "Heisenberg": Row("coordinates", True, False, "1, 0, -y/2; 0, 1, x/2", coordinates="x y z"),
    "Heisenberg, closed": Row("coordinates", True, True, "1, 0, -y/2; 0, 1, x/2; 0, 0, 1", coordinates="x y z"),
    "rotations": Row("coordinates", False, True, "0, z, -y; -z, 0, x; y, -x, 0", coordinates="x y z"),
    "rotations and scale": Row("coordinates", True, True, "0, z, -y; x, y, z", coordinates="x y z"),
    "rigid body": Row("coordinates", True, True, "w2*w3, -w1*w3, w1*w2; 1, 0, 0", coordinates="w1 w2 w3"),
    "sl2 on the plane": Row("coordinates", False, True, "q, 0, 0; 0, p, 0; p, -q, 0", coordinates="p q r"),
    "sl2 on the line, three copies": Row("coordinates", True, True,
                                         "1, 1, 1, 1; p, q, r, s; p^2, q^2, r^2, s^2", coordinates="p q r s"),
    "four powers on the line": Row("coordinates", True, False,
                                   "1, 1, 1, 1, 1; p, q, r, s, u; p^3, q^3, r^3, s^3, u^3", coordinates="p q r s u"),
    "Martinet": Row("coordinates", True, False, "1, 0, y^2/2; 0, 1, 0", coordinates="x y z"),
    "Engel": Row("coordinates", True, False, "1, 0, 0, 0; 0, 1, x, x^2/2", coordinates="x y z w"),
    "chained form": Row("coordinates", True, False, "1, 0, z2, z3; 0, 1, 0, 0", coordinates="z1 z2 z3 z4"),
    "secant and tangent": Row("coordinates", True, True, "1, 0, y/cos(x)^2; 0, 1, tan(x)", coordinates="x y z"),
    "double angle": Row("coordinates", True, True, "1, 0, sin(2*y); 0, 1, 2*x*cos(2*y)", coordinates="x y z"),
    "double angle, by products": Row("coordinates", True, False,
                                     "sin(2*x), 0, y; sin(x)*cos(x), 1, 0", coordinates="x y z"),
    "hyperbolic": Row("coordinates", True, True, "exp(y2 - y3) + exp(y3 - y2), 0, 0; 0, 1, 0", coordinates="y1 y2 y3"),
    "tanh and sech": Row("coordinates", True, True, "1, 0, y/cosh(x)^2; 0, 1, tanh(x)", coordinates="x y z"),
    "predator and prey": Row("coordinates", True, True, "u*(1 - v), v*(u - 1), 0; 0, 0, exp(w)", coordinates="u v w"),
    "Brockett": Row("coordinates", True, False, "1, 0, -y; 0, 1, x", coordinates="x y z"),
    "commuting scalings": Row("coordinates", True, True, "p, 0, 0; 0, q, 0; 0, 0, r", coordinates="p q r"),
    "knife edge": Row("coordinates", True, True,
                      "cos(phi), sin(phi), 0; -sin(phi), cos(phi), 0", coordinates="x y phi"),
    "planar rigid motions": Row("coordinates", True, True, "1, 0, 0; 0, 1, 0; -y, x, 1", coordinates="x y phi"),
    "coordinated shear": Row("coordinates", True, True, "1, 0, q*s, 0; 0, 1, p*s, 0", coordinates="p q r s"),
    "parametric contact": Row("coordinates", True, False, "1, 0, a*y; 0, 1, x", coordinates="x y z"),
    "high powers": Row("coordinates", True, True, "1, 0, 0; 1, 1, y^30 + y^7", coordinates="x y z"),
}
"""Every set by its name."""
