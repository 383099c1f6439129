"""Exact impact of a rigid body in plane motion on a line: closed-form impulses, stick and slip.

Newton's impact law in the normal and Coulomb's law in the tangential direction hold at every contact point::

    0 <= w_n + e v_n  _|_  p_n >= 0,     p_t = -mu p_n sign(w_t),  |p_t| <= mu p_n where w_t = 0

with the contact velocity v before and w after the impact. Normal and tangential impulse are coupled by the
lever arm. Components are tangential (x, along the line) and normal (y, away from it). Friction opposes the
sliding velocity after the impact: where it is reversed during the impact the work of friction may be
positive, and with e near 1 the body may gain energy, a known defect of combining the two laws (Kane and
Levinson, Dynamics: Theory and Applications, 1985).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .._types import FloatArray

_ROUNDING = 1e-13


@dataclass(frozen=True)
class Impact:
    """Velocity after an impact, impulses and dissipated energy of a rigid body.

    Attributes:
        velocity: Velocity of the centre of mass and angular velocity after the impact, shape (3,)
            [m/s, m/s, rad/s].
        normal: Normal impulse of each contact point, shape (p,) [N s].
        tangential: Sum of the tangential impulses along x [N s]; where two points stick, the individual
            impulses are not unique.
        sticks: Whether the points with an impulse stick: zero sliding velocity after the impact.
        lost: Kinetic energy lost [J].
    """

    velocity: FloatArray
    normal: FloatArray
    tangential: float
    sticks: bool
    lost: float


class RigidImpact:
    """Impact of a rigid body with one contact point, or with two of the same height, on a line.

    With two points, e.g. a square that lands flat, and impulses at both, Newton's law multiplies both normal
    velocities by ``-e``, hence also the normal velocity of the centre and the angular velocity; the sum of
    the tangential impulses is the remaining unknown. Where large friction or angular velocity would make the
    impulse of one point negative, the other one impacts alone.

    Args:
        mass: Mass of the body [kg].
        inertia: Its moment of inertia about the centre of mass [kg m2].
        arms: Contact points relative to the centre of mass, shape (1, 2) or (2, 2) [m].
        restitution: Newton's coefficient e.
        friction: Coulomb's coefficient mu, less than :attr:`friction_limit`.

    Attributes:
        friction_limit: Smallest ``H_nn / |H_nt|`` of the points, with entries of their Delassus operators.
            With mu at or above it the impact may have several solutions or none.

    Raises:
        ValueError: Another number of points, points of different heights, ``friction`` at or above the limit.
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
        """Solve the impact for the velocity before it.

        Args:
            velocity: Velocity of the centre of mass and angular velocity, shape (3,) [m/s, m/s, rad/s].

        Raises:
            ValueError: No solution (two points and large friction).
        """
        v = np.array(velocity, dtype=np.float64)
        count = len(self.arms)
        approach = v[1] + v[2] * self.arms[:, 0]
        if np.all(approach >= 0):
            return self._after(v, np.zeros(count), 0.0, False)
        candidates = [self._both(v)] if count == 2 else []
        candidates += [self._alone(v, k) for k in range(count) if approach[k] < 0]
        speed, tolerance = np.max(np.abs(approach)), _ROUNDING * self.mass
        for impact in candidates:
            w = impact.velocity[1] + impact.velocity[2] * self.arms[:, 0] + self.e * approach
            if np.all(impact.normal >= -tolerance * speed) and np.all(w >= -_ROUNDING * speed):
                return impact
        raise ValueError(f"no impact at {count} points fits Coulomb's law with friction {self.mu:g}")

    def _alone(self, v: FloatArray, k: int) -> Impact:
        """Impact of point ``k`` alone: stick if its impulse is in the friction cone, else slip."""
        a, b = self.arms[k]
        nn, tt = 1 / self.mass + a * a / self.inertia, 1 / self.mass + b * b / self.inertia
        nt = -a * b / self.inertia
        c_n, c_t = (1 + self.e) * (v[1] + v[2] * a), v[0] - v[2] * b
        determinant = nn * tt - nt * nt
        p_n, p_t = (nt * c_t - tt * c_n) / determinant, (nt * c_n - nn * c_t) / determinant
        sticks = bool(abs(p_t) <= self.mu * p_n)
        if not sticks:
            # Of the two directions of friction, the one opposite to the sliding velocity after the impact.
            directions = [(sign, -c_n / (nn + sign * self.mu * nt)) for sign in (1.0, -1.0)]
            slip = [sign * (c_t + nt * p + tt * sign * self.mu * p) for sign, p in directions]
            sign, p_n = directions[int(np.argmin(slip))]
            p_t = sign * self.mu * p_n
        normal = np.zeros(len(self.arms))
        normal[k] = p_n
        return self._after(v, normal, p_t, sticks)

    def _both(self, v: FloatArray) -> Impact:
        """Impact of both points: normal and angular velocity times ``-e``, one tangential impulse."""
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

    def _after(self, v: FloatArray, normal: FloatArray, p_t: float, sticks: bool) -> Impact:
        p_n, moment = float(np.sum(normal)), float(self.arms[:, 0] @ normal) - self.arms[0, 1] * p_t
        masses = np.array([self.mass, self.mass, self.inertia])
        w = v + np.array([p_t, p_n, moment]) / masses
        lost = 0.5 * float(masses @ (v * v - w * w))
        return Impact(w, normal, float(p_t), sticks, lost)
