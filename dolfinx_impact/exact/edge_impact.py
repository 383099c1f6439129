"""Impact of two free rigid bodies at a point, with or without friction that slips in one direction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .._types import FloatArray


def cross_matrix(c: ArrayLike) -> FloatArray:
    """``[c]`` with ``[c] a = c x a``, shape (3, 3)."""
    x, y, z = np.asarray(c, dtype=np.float64)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


@dataclass(frozen=True, eq=False)
class FreeBody:
    """A free rigid body in space.

    Attributes:
        mass: Its mass m [kg].
        inertia: Inertia I about its centre of mass, shape (3, 3) [kg m2].
        arm: From the centre of mass to the point of contact, shape (3,) [m].
        velocity: Of the centre of mass, shape (3,) [m/s].
        spin: Angular velocity, shape (3,) [rad/s].
    """

    mass: float
    inertia: FloatArray
    arm: FloatArray
    velocity: FloatArray
    spin: FloatArray

    @property
    def compliance(self) -> FloatArray:
        """``1/m - [c] I^-1 [c]``: velocity of the point for an impulse there, shape (3, 3) [1/kg]."""
        c = cross_matrix(self.arm)
        return np.asarray(np.eye(3) / self.mass - c @ np.linalg.solve(self.inertia, c), dtype=np.float64)

    @property
    def at_contact(self) -> FloatArray:
        """Velocity of the point of contact, shape (3,) [m/s]."""
        found: FloatArray = self.velocity + np.cross(self.spin, self.arm)
        return found

    def after(self, impulse: ArrayLike) -> FreeBody:
        """The body after an impulse at the point of contact, shape (3,) [N s]."""
        given = np.asarray(impulse, dtype=np.float64)
        turn = np.linalg.solve(self.inertia, np.cross(self.arm, given))
        return FreeBody(
            self.mass, self.inertia, self.arm, self.velocity + given / self.mass, self.spin + turn
        )


@dataclass(frozen=True, eq=False)
class EdgeImpact:
    """Impact of two free rigid bodies at a point, as of two edges that cross.

    With the relative velocity w of the bodies at the point and the normal n from the second to the first::

        n.w+ = -e n.w,    r (1, d) = impulse along n + d on the first,    r = (1 + e)|n.w| / n.K (n + d)
        K = sum over both of 1/m - [c] I^-1 [c]

    d is 0 without friction, else -mu times the direction of a slip that keeps it. Stronge, Impact Mechanics
    (2000), chapter 4.

    Args:
        first, second: The bodies before the impact.
        normal: Unit vector n, shape (3,).
        restitution: Newton's coefficient e.
        tangent: d, shape (3,), at right angles to n; 0 by default.
    """

    first: FreeBody
    second: FreeBody
    normal: FloatArray
    restitution: float
    tangent: FloatArray | None = None

    @property
    def direction(self) -> FloatArray:
        """``n + d``, shape (3,)."""
        return self.normal if self.tangent is None else self.normal + self.tangent

    @property
    def approach(self) -> float:
        """``n.w`` before the impact [m/s], negative where the bodies approach."""
        return float(self.normal @ (self.first.at_contact - self.second.at_contact))

    @property
    def impulse(self) -> float:
        """Normal impulse r [N s]."""
        K = self.first.compliance + self.second.compliance
        return -(1 + self.restitution) * self.approach / float(self.normal @ K @ self.direction)

    def after(self) -> tuple[FreeBody, FreeBody]:
        """Both bodies after the impact."""
        impulse = self.impulse * self.direction
        return self.first.after(impulse), self.second.after(-impulse)


def restitution(
    normal: FloatArray, before: tuple[FreeBody, FreeBody], after: tuple[FreeBody, FreeBody]
) -> float:
    """Ratio of the normal velocities after and before an impact, with the other sign."""
    (w, w_after) = (normal @ (a.at_contact - b.at_contact) for a, b in (before, after))
    return float(-w_after / w)
