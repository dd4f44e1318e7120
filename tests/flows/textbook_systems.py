"""Systems of fields and forms that textbooks work out, with the answers of the books.

Mechanics and control: Murray, Li, Sastry (robotic manipulation); Bloch (nonholonomic mechanics); Montgomery
(subriemannian geometry). Pfaffian equations: Sneddon (partial differential equations), Ince. First integrals: any book
on differential equations.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sympy import Expr, Rational, atan, cos, exp, log, sin, sqrt, symbols, tan

from symdecouple import OneForm, VectorField

x, y, z, w, u, v, t, s = symbols("x y z w u v t s")
theta, phi, psi = symbols("theta phi psi")
a, b, c, d, k, m, g, L, R, J, I1, I2, I3 = symbols("a b c d k m g L R J I1 I2 I3", positive=True)


class System(NamedTuple):
    """Fields or forms, the generic growth vector, and the functions that the book prints."""

    name: str
    given: list[Any]
    growth: tuple[int, ...]
    integrals: tuple[Expr, ...] = ()
    extra: int = 0
    """First integrals that exist near generic points beside those of the book."""


def fields(coordinates: Any, *columns: Any) -> list[VectorField]:
    return [VectorField(column, coordinates) for column in columns]


def forms(coordinates: Any, *rows: Any) -> list[OneForm]:
    return [OneForm(row, coordinates) for row in rows]


def trailers(n: int) -> list[VectorField]:
    """A unicycle that pulls n trailers of length 1; theta_n is the unicycle, x and y are of the last trailer."""
    angles = symbols(f"theta0:{n + 1}")
    speeds, turns = [1], [0]
    for i in range(n - 1, -1, -1):
        difference = angles[i + 1] - angles[i]
        turns.insert(0, speeds[0] * sin(difference))
        speeds.insert(0, speeds[0] * cos(difference))
    drive = [speeds[0] * cos(angles[0]), speeds[0] * sin(angles[0]), *turns]
    return fields([x, y, *angles], drive, [0] * (n + 2) + [1])


PLANE, SPACE, FOUR, FIVE = [x, y], [x, y, z], [x, y, z, w], [x, y, z, w, u]

SYSTEMS = [
    # nonholonomic: nothing is constant
    System("unicycle", fields([x, y, theta], [cos(theta), sin(theta), 0], [0, 0, 1]), (2, 3)),
    System("rolling disc", fields([x, y, theta, phi], [R * cos(theta), R * sin(theta), 0, 1], [0, 0, 1, 0]), (2, 3, 4)),
    System("car", fields([x, y, theta, phi], [cos(theta), sin(theta), tan(phi) / L, 0], [0, 0, 0, 1]), (2, 3, 4)),
    System("car with a trailer",
           fields([x, y, phi, theta, psi], [cos(theta), sin(theta), 0, tan(phi), sin(theta - psi)], [0, 0, 1, 0, 0]),
           (2, 3, 4, 5)),
    System("one trailer", trailers(1), (2, 3, 4)),
    System("two trailers", trailers(2), (2, 3, 4, 5)),
    System("Heisenberg", fields(SPACE, [1, 0, -y / 2], [0, 1, x / 2]), (2, 3)),
    System("Brockett's integrator", fields(SPACE, [1, 0, 0], [0, 1, x]), (2, 3)),
    System("Heisenberg of dimension five", fields(FIVE, [1, 0, 0, 0, -y / 2], [0, 1, 0, 0, x / 2], [0, 0, 1, 0, -w / 2],
                                                  [0, 0, 0, 1, z / 2]), (4, 5)),
    System("Martinet", fields(SPACE, [1, 0, 0], [0, 1, x**2 / 2]), (2, 3)),
    System("Engel", fields(FOUR, [1, 0, 0, 0], [0, 1, x, x**2 / 2]), (2, 3, 4)),
    System("Cartan", fields(FIVE, [1, 0, 0, 0, 0], [0, 1, x, x**2 / 2, x * y]), (2, 3, 5)),
    System("chained form", fields(FIVE, [1, 0, y, z, w], [0, 1, 0, 0, 0]), (2, 3, 4, 5)),
    System("Grushin", fields(PLANE, [1, 0], [0, x]), (2,)),
    System("sl(2) on the plane", fields(PLANE, [y, 0], [0, x]), (2,)),
    System("sphere on a plane", fields([u, v, x, y, psi], [0, 1 / cos(u), -sin(psi), -cos(psi), -tan(u)],
                                       [-1, 0, -cos(psi), sin(psi), 0]), (2, 3, 5)),
    System("hopping robot", fields([psi, L, theta], [1, 0, -m * (L + 1)**2 / (J + m * (L + 1)**2)], [0, 1, 0]), (2, 3)),
    System("skate", forms([x, y, theta], [sin(theta), -cos(theta), 0]), (2, 3)),
    System("upright disc", forms([x, y, phi, theta], [1, 0, -R * cos(theta), 0], [0, 1, -R * sin(theta), 0]),
           (2, 3, 4)),
    System("contact form", forms(SPACE, [-z, 1, 0]), (2, 3)),
    System("knife edge on an incline", forms([x, y, phi], [tan(phi), -1, 0]), (2, 3)),
    System("Chaplygin sleigh", forms([x, y, theta], [-sin(theta), cos(theta), -a]), (2, 3)),
    System("satellite with two rotors", fields([phi, theta, psi], [1, 0, 0], [
        sin(phi) * tan(theta), cos(phi), sin(phi) / cos(theta)]), (2, 3)),
    System("roller racer", forms([x, y, theta, phi], [-sin(theta), cos(theta), 0, 0],
                                 [-sin(theta + phi), cos(theta + phi), -(a * cos(phi) + b), -b]), (2, 3, 4)),
    System("Hilbert and Cartan", forms(FIVE, [-w, 1, 0, 0, 0], [-u, 0, 0, 1, 0], [-u**2, 0, 1, 0, 0]), (2, 3, 5)),
    System("Goursat", forms(FIVE, [-z, 1, 0, 0, 0], [-w, 0, 1, 0, 0], [-u, 0, 0, 1, 0]), (2, 3, 4, 5)),
    System("contact form of dimension five", forms(FIVE, [-w, -u, 0, 0, 1], [0, 0, 1, 0, 0]), (3, 4), (z,)),
    System("quaternions on the sphere", fields(FOUR, [-z, w, x, -y], [-w, -z, y, x]), (2, 3),
           (x**2 + y**2 + z**2 + w**2,)),
    System("jets of order two", forms(FOUR, [-z, 1, 0, 0], [-w, 0, 1, 0]), (2, 3, 4)),
    # partly holonomic
    System("differential drive", forms([x, y, theta, phi, psi], [sin(theta), -cos(theta), 0, 0, 0],
                                       [cos(theta), sin(theta), b, -R, 0], [cos(theta), sin(theta), -b, 0, -R]),
           (2, 3, 4), (2 * b * theta - R * (phi - psi),)),
    System("one hides", forms(FOUR, [-z, 1, 0, 0], [-y, -x, 0, 1]), (2, 3), (w - x * y,)),
    # integrable
    System("rays", forms(PLANE, [y, -x]), (1,), (x / y,)),
    System("exp(x)(yz dx + xz dy + xy dz)", forms(SPACE, [exp(x) * y * z, exp(x) * x * z, exp(x) * x * y]), (2,),
           (x * y * z,)),
    System("dx + y dz, dy + x dz", forms(SPACE, [1, 0, y], [0, 1, x]), (1,), (x**2 - y**2, (x + y) * exp(z))),
    System("dx + y dz, dy + x dz, mixed", forms(SPACE, [1 + x, x, y + x * y + x**2], [exp(z), 1, y * exp(z) + x]), (1,),
           (x**2 - y**2, (x + y) * exp(z))),
    System("xyz, x = cos u, y = sin v, z = exp w", forms([u, v, w], [
        -sin(u) * sin(v), cos(u) * cos(v), cos(u) * sin(v)]), (2,), (cos(u) * sin(v) * exp(w),)),
    System("rays in exp(u), sin(v)", forms([u, v], [sin(v), -cos(v)]), (1,), (sin(v) * exp(-u),)),
    System("an angle by two others", forms(SPACE, [(1 + z**2) * y, -(1 + z**2) * x, x**2 + y**2]), (2,),
           (atan(z) - atan(y / x),)),
    System("an inverse sine", forms(SPACE, [y / sqrt(1 - x**2 * y**2), x / sqrt(1 - x**2 * y**2), 1]), (2,),
           (z + atan(x * y / sqrt(1 - x**2 * y**2)),)),
    System("dx + y dz, dz", forms(FOUR, [1, 0, y, 0], [0, 0, 1, 0]), (2,), (x, z)),
    System("Sneddon, yz, 2xz, -3xy", forms(SPACE, [y * z, 2 * x * z, -3 * x * y]), (2,), (x * y**2 / z**3,)),
    System("Sneddon, homogeneous", forms(SPACE, [y**2 + y * z, x * z + z**2, y**2 - x * y]), (2,),
           (y * (x + z) / (y + z),)),
    System("Sneddon, x^2 z - y^3", forms(SPACE, [x**2 * z - y**3, 3 * x * y**2, x**3]), (2,), (x * z + y**3 / x,)),
    System("Sneddon, three inverses", forms(SPACE, [a**2 * y**2 * z**2, b**2 * z**2 * x**2, c**2 * x**2 * y**2]), (2,),
           (a**2 / x + b**2 / y + c**2 / z,)),
    System("Sneddon, exact", forms(SPACE, [y + z, z + x, x + y]), (2,), (x * y + y * z + z * x,)),
    System("Sneddon, z(z - y)", forms(SPACE, [z * (z - y), z * (z + x), x * (x + y)]), (2,), (z * (x + y) / (x + z),)),
    System("Ince, 1 + yz", forms(SPACE, [1 + y * z, x * (z - x), -(1 + x * y)]), (2,), ((x - z) / (x * y + 1),)),
    System("2xz dx + z dy - dz", forms(SPACE, [2 * x * z, z, -1]), (2,), (log(z) - x**2 - y,)),
    System("rotations", fields(SPACE, [0, -z, y], [z, 0, -x], [-y, x, 0]), (2,), (x**2 + y**2 + z**2,)),
    System("dilation", fields(SPACE, [x, y, z]), (1,), (x / y, y / z)),
    System("Euler top", fields(SPACE, [(I2 - I3) / I1 * y * z, (I3 - I1) / I2 * z * x, (I1 - I2) / I3 * x * y]), (1,),
           (I1 * x**2 + I2 * y**2 + I3 * z**2, I1**2 * x**2 + I2**2 * y**2 + I3**2 * z**2)),
    System("Lotka-Volterra", fields(PLANE, [x * (a - b * y), y * (c * x - d)]), (1,),
           (a * log(y) + d * log(x) - b * y - c * x,)),
    System("pendulum", fields([theta, w], [w, -g / L * sin(theta)]), (1,), (w**2 / 2 - g / L * cos(theta),)),
    System("oscillator in time", fields([t, x, v], [1, v, -x]), (1,), (x**2 + v**2, t + atan(v / x))),
    System("Kepler", fields([x, y, u, v], [u, v, -x / sqrt(x**2 + y**2)**3, -y / sqrt(x**2 + y**2)**3]), (1,),
           (x * v - y * u, (u**2 + v**2) / 2 - 1 / sqrt(x**2 + y**2), v * (x * v - y * u) - x / sqrt(x**2 + y**2))),
    System("damped oscillator", fields([x, v], [v, -x - v]), (1,),
           (log(x**2 + x * v + v**2) / 2 - atan(sqrt(3) * v / (2 * x + v)) / sqrt(3),)),
    System("Toda, two particles", fields([x, y, u, v], [u, v, -exp(x - y), exp(x - y)]), (1,),
           (u + v, u**2 / 2 + v**2 / 2 + exp(x - y)), extra=1),
    System("Calogero, two particles", fields([x, y, u, v], [u, v, 2 / (x - y)**3, -2 / (x - y)**3]), (1,),
           (u + v, (u**2 + v**2) / 2 + 1 / (x - y)**2), extra=1),
    System("curvature and its derivative", fields([x, u, z, w, v], [1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [
        -u, x, 1 + z**2, 3 * z * w, 4 * z * v + 3 * w**2]), (3,),
        (w**2 / (1 + z**2)**3, (v * (1 + z**2) - 3 * z * w**2) / w**2)),
    System("spiral", fields(PLANE, [x - y, x + y]), (1,), (log(x**2 + y**2) / 2 - atan(y / x),)),
    System("cubic oscillator", fields([x, v], [v, -x**3]), (1,), (2 * v**2 + x**4,)),
    System("epidemic", fields(SPACE, [-b * x * y, b * x * y - c * y, c * y]), (1,),
           (x + y + z, x + y - c / b * log(x))),
    System("linear equation", fields(PLANE, [1, y + x**2]), (1,), ((y + x**2 + 2 * x + 2) * exp(-x),)),
    System("separable equation", fields(PLANE, [1, exp(x + y)]), (1,), (exp(x) + exp(-y),)),
    System("Riccati", fields([x, y, z], [1, 1, 1], [x, y, z]), (2,), ((x - z) / (y - z),)),
    System("Moebius on four points", fields(FOUR, [1, 1, 1, 1], [x, y, z, w], [x**2, y**2, z**2, w**2]), (3,),
           ((x - z) * (y - w) / ((x - w) * (y - z)),)),
    System("Henon-Heiles", fields([x, y, u, v], [u, v, -x - 2 * x * y, -y - x**2 + y**2]), (1,),
           ((u**2 + v**2 + x**2 + y**2) / 2 + x**2 * y - y**3 / 3,), extra=2),
    System("Lorenz", fields(SPACE, [10 * (y - x), 28 * x - y - x * z, x * y - Rational(8, 3) * z]), (1,), (), extra=2),
]
