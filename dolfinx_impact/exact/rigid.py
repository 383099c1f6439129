"""Exact impact of a rigid body in plane motion on a line: closed-form impulses, stick and slip.

Newton's law of the normal and Coulomb's law of the tangential velocity of every contact point::

    0 <= w_n + e v_n  _|_  p_n >= 0,     p_t = -mu p_n sign(w_t),  |p_t| <= mu p_n where w_t = 0

with v before and w after the impact. Normal and tangential impulse are coupled by the lever arm. Components
are those along the line (x, tangential) and away from it (y, normal). Friction opposes the slip after
the impact: where an impact turns the slip round, its work may be positive, and with e near 1 the body may
gain energy, a known defect of the two laws together (Kane and Levinson, Dynamics: Theory and
Applications, 1985).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

_ROUNDING = 1e-13


@dataclass(frozen=True)
class Impact:
    """What an impact makes of a rigid body.

    Attributes:
        velocity: Of the centre and the angle after the impact, shape (3,) [m/s, m/s, rad/s].
        normal: Normal impulse of each contact point, shape (p,) [N s].
        tangential: Sum of their tangential impulses along x [N s]; where two points stick, its
            parts are not unique.
        sticks: Whether the points with an impulse do not slip afterwards.
        lost: Kinetic energy lost [J].
    """

    velocity: NDArray
    normal: NDArray
    tangential: float
    sticks: bool
    lost: float


class RigidImpact:
    """Impact of a rigid body with one contact point, or with two of the same height, on a line.

    With two points, e.g. a square that lands flat, Newton's law gives both ``-e`` times their
    normal velocity where both receive an impulse, so that the normal velocity of the centre and the spin
    do too; what is left is one unknown, the sum of the tangential impulses. Where a strong rubbing or spin
    would pull at one of the points, the other one impacts alone.

    Args:
        mass: Mass of the body [kg].
        inertia: Its moment of inertia about the centre of mass [kg m2].
        arms: Contact points relative to the centre, shape (1, 2) or (2, 2) [m].
        restitution: Newton's coefficient e.
        friction: Coulomb's coefficient mu, less than :attr:`friction_limit`.

    Attributes:
        friction_limit: From this mu on the laws above may have several solutions or none:
            the smallest ``H_nn / |H_nt|`` of the points.

    Raises:
        ValueError: Other numbers of points, two of different heights, a friction at the limit or above.
    """

    def __init__(
        self, mass: float, inertia: float, arms: ArrayLike, *, restitution: float, friction: float
    ) -> None:
        self.mass, self.inertia = float(mass), float(inertia)
        self.arms = np.array(arms, dtype=np.float64)
        self.e, self.mu = float(restitution), float(friction)
        if self.arms.shape not in ((1, 2), (2, 2)):
            raise ValueError(f"an exact impact takes one or two contact points in the plane, not {arms!r}")
        if abs(self.arms[0, 1] - self.arms[-1, 1]) > 1e-9 * np.max(np.abs(self.arms)):
            raise ValueError("two contact points on a line have the same height")
        a, b = self.arms.T
        with np.errstate(divide="ignore"):
            self.friction_limit = float(np.min((1 / mass + a * a / inertia) / np.abs(a * b / inertia)))
        if not self.mu < self.friction_limit:
            raise ValueError(
                f"with friction {self.mu:g} the impact may have several solutions or none: "
                f"it must be below {self.friction_limit:.6g} in this position"
            )

    def __call__(self, velocity: ArrayLike) -> Impact:
        """The impact of a body that moves with ``velocity``, shape (3,) [m/s, m/s, rad/s].

        Raises:
            ValueError: No solution (two points and a large friction).
        """
        v = np.array(velocity, dtype=np.float64)
        count = len(self.arms)
        approach = v[1] + v[2] * self.arms[:, 0]
        if np.all(approach >= 0):
            return self._after(v, np.zeros(count), 0.0, False)
        tried = [self._both(v)] if count == 2 else []
        tried += [self._alone(v, k) for k in range(count) if approach[k] < 0]
        speed, most = np.max(np.abs(approach)), _ROUNDING * self.mass
        for found in tried:
            w = found.velocity[1] + found.velocity[2] * self.arms[:, 0] + self.e * approach
            if np.all(found.normal >= -most * speed) and np.all(w >= -_ROUNDING * speed):
                return found
        raise ValueError(f"no impact at {count} points fits Coulomb's law with friction {self.mu:g}")

    def _alone(self, v: NDArray, k: int) -> Impact:
        """One point: stick if the impulse fits the cone, else the slip that pushes against it."""
        a, b = self.arms[k]
        nn, tt = 1 / self.mass + a * a / self.inertia, 1 / self.mass + b * b / self.inertia
        nt = -a * b / self.inertia
        c_n, c_t = (1 + self.e) * (v[1] + v[2] * a), v[0] - v[2] * b
        determinant = nn * tt - nt * nt
        p_n, p_t = (nt * c_t - tt * c_n) / determinant, (nt * c_n - nn * c_t) / determinant
        sticks = bool(abs(p_t) <= self.mu * p_n)
        if not sticks:
            # Against the slip: of the two, the side whose velocity afterwards is the other way.
            sides = [(side, -c_n / (nn + side * self.mu * nt)) for side in (1.0, -1.0)]
            against = [side * (c_t + nt * p + tt * side * self.mu * p) for side, p in sides]
            side, p_n = sides[int(np.argmin(against))]
            p_t = side * self.mu * p_n
        normal = np.zeros(len(self.arms))
        normal[k] = p_n
        return self._after(v, normal, p_t, sticks)

    def _both(self, v: NDArray) -> Impact:
        """Two points: normal velocity and spin are reversed, the tangential impulses act as one."""
        b = self.arms[0, 1]
        spin = -self.e * v[2]
        total = -self.mass * (1 + self.e) * v[1]
        p_t = self.mass * (b * spin - v[0])
        sticks = bool(abs(p_t) <= self.mu * total)
        if not sticks:
            p_t = np.copysign(self.mu * total, p_t)
        moment = self.inertia * (spin - v[2]) + b * p_t
        normal = np.linalg.solve(np.stack([np.ones(2), self.arms[:, 0]]), np.array([total, moment]))
        return self._after(v, normal, float(p_t), sticks)

    def _after(self, v: NDArray, normal: NDArray, p_t: float, sticks: bool) -> Impact:
        p_n, moment = float(np.sum(normal)), float(self.arms[:, 0] @ normal) - self.arms[0, 1] * p_t
        masses = np.array([self.mass, self.mass, self.inertia])
        w = v + np.array([p_t, p_n, moment]) / masses
        lost = 0.5 * float(masses @ (v * v - w * w))
        return Impact(w, normal, float(p_t), sticks, lost)
