"""Contact of a rigid body in plane motion with a rigid obstacle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .._types import AnyArray, FloatArray
from ..algebra import coulomb
from ..algebra.operators import SparseRows
from ..systems.rigid_body import RigidBody
from .active_sides import ActiveSides
from .base import Contact
from .obstacles import Obstacle
from .obstacles.composed import as_obstacle
from .obstacles.moving import acceleration
from .penetration import TOUCHING
from .state import ContactState
from .tunnelling import TunnellingCheck


class RigidBodyContact(Contact):
    """Contact of the corners of a rigid body with a rigid obstacle.

    One contact point per corner and face of the obstacle, corner by corner. Its gap is the distance of the
    corner minus the radius of its rounding, ``g(x) - R``; the contact point is the closest point of the body
    to the obstacle, with the arm ``a = c - R n`` about the centre of mass, c the arm of the corner. The edges
    between corners are not checked: convex obstacles may penetrate them.

    Args:
        body: The body.
        obstacle: The shape, or a list of shapes for their :class:`~.obstacles.UnionObstacle`.
        restitution: Newton's coefficient e of the contact points, 0 to 1; of this body too.
        gap_tolerance: See :class:`.Contact`; default 1e-12 times the body's size.
        touching: See :class:`.Contact`.
        friction: Coulomb's coefficient mu, at least 0.
        drift_correction: See :class:`.Contact`.
        allow_penetration: See :class:`.Contact`.

    Raises:
        ValueError: An obstacle that is not plane; see :class:`.Contact`.
        TypeError: A system that is not a rigid body.
    """

    compiled = None  # type: ignore[assignment]
    constant, directions = False, 2

    def __init__(
        self,
        body: RigidBody,
        obstacle: Obstacle | Sequence[Obstacle],
        *,
        restitution: float = 0.0,
        gap_tolerance: float | None = None,
        touching: bool = True,
        friction: float = 0.0,
        drift_correction: float | bool = False,
        allow_penetration: bool = False,
    ) -> None:
        if not isinstance(body, RigidBody):
            raise TypeError(f"a RigidBodyContact takes a RigidBody, not a {type(body).__name__}")
        obstacle = as_obstacle(obstacle)
        self.body, self.obstacle = body, obstacle
        self.faces = tuple(getattr(obstacle, "faces", (obstacle,)))
        self.moving = bool(getattr(obstacle, "moving", False))
        self._points, self._frames = self._contact_points(np.zeros(3), 0.0)
        count = len(self._frames)
        dofs = np.tile([0, 1, 2], (count, 1))
        rows = SparseRows(dofs, self._frames[:, 0].copy(), np.arange(count)[:, None])
        super().__init__(
            body,
            rows,
            restitution=restitution,
            gap_tolerance=gap_tolerance,
            touching=touching,
            friction=friction,
            drift_correction=drift_correction,
            allow_penetration=allow_penetration,
        )
        # A rounded corner contacts edges directly; for a sharp one the active side decides.
        if body.radius == 0.0 and any(getattr(face, "sides", 1) > 1 for face in self.faces):
            self._sides = ActiveSides(self.faces, body.corners, self.gap_tolerance, TOUCHING * body.length)
        self._tunnelling = TunnellingCheck(self.faces, self.moving, self.gap_tolerance)
        self.thickness = self._tunnelling.thickness

    L: SparseRows

    def _corner_velocities(self, u: FloatArray, v: FloatArray) -> FloatArray:
        arms = self.body.arms(u[2])
        velocities: FloatArray = v[:2] + v[2] * np.stack([-arms[:, 1], arms[:, 0]], axis=1)
        return velocities

    def speeds(self, u: FloatArray, v: FloatArray, t: float) -> FloatArray:
        """See :meth:`.Contact.speeds`, at the corners."""
        velocities = np.repeat(self._corner_velocities(u, v), len(self.faces), axis=0)
        speeds: FloatArray = np.linalg.norm(velocities - self.surface_velocity(t)[:, :2], axis=1)
        return speeds

    def places(self, u: FloatArray) -> FloatArray:
        """Current positions of the corners, one per row of L, shape (p, 2) [m]."""
        return np.repeat(u[:2] + self.body.arms(u[2]), len(self.faces), axis=0)

    def gap(self, u: FloatArray, t: float = 0.0) -> FloatArray:
        """Signed distances of the contact points from the obstacle at ``t``, shape (p,) [m]."""
        x = u[:2] + self.body.arms(u[2])
        if self._sides is not None:
            return self._sides.gaps(x, t).ravel()
        return np.stack([face.gap(x, t) for face in self.faces], axis=1).ravel() - self.body.radius

    def _evaluate(self, u: FloatArray, v: FloatArray | None, t: float) -> FloatArray:
        """See :meth:`.Contact.at`: gaps; writes L(u) = ``(n, n.J a)`` into :attr:`L`, the lever arm in m."""
        x = u[:2] + self.body.arms(u[2])
        if self._sides is not None:
            velocities = None if v is None else self._corner_velocities(u, v)
            self._sides.update(np.arange(len(x)), x, t, velocities)
        error = self._tunnelling.error_at(x, t, self._sides)
        if error is not None:
            raise error
        self._corners, self._evaluated_at = x, t
        self._points, self._frames = self._contact_points(u, t)
        self.L.weights[:] = self._frames[:, 0]
        return self.gap(u, t)

    # -- history: the state that the next step depends on

    def start(self, u: FloatArray, t: float) -> None:
        """See :meth:`.Contact.start`."""
        super().start(u, t)
        self._corners, self._evaluated_at = u[:2] + self.body.arms(u[2]), t
        self._tunnelling.accept_step(self._corners, t)
        if self._sides is not None:
            self._sides.start(self._corners, t)

    def accept(self, state: ContactState | None) -> None:
        """See :meth:`.Contact.accept`."""
        super().accept(state)
        self._tunnelling.accept_step(self._corners, self._evaluated_at)

    def resume(self, past: Mapping[str, AnyArray]) -> None:
        """See :meth:`.Contact.resume`."""
        super().resume(past)
        self._tunnelling.restart()

    def local_bases(self) -> FloatArray:
        """Local bases at the last :meth:`.Contact.at`: normal and tangential rows, shape (p, 2, 3).

        ``frames @ v`` are the normal and the tangential velocity of each contact point [m/s]; the tangent is
        the normal rotated by 90 degrees counter-clockwise.
        """
        return self._frames

    def surface_velocity(self, t: float) -> FloatArray:
        """Velocities of the obstacle at the contact points, shape (p, 3) [m/s]; the last column is zero."""
        velocities = np.zeros((self.count, 3))
        if self.moving:
            for k, face in enumerate(self.faces):
                rows = slice(k, None, len(self.faces))
                velocities[rows, :2] = face.velocity(self._points[rows], t)
        return velocities

    def surface_acceleration(self, t: float, step: float) -> FloatArray:
        """See :meth:`.ContactState.surface_acceleration`; the last column is zero."""
        accelerations = np.zeros((self.count, 3))
        for k, face in enumerate(self.faces):
            rows = slice(k, None, len(self.faces))
            accelerations[rows, :2] = acceleration(face, self._points[rows], t, step)
        return accelerations

    def _contact_points(self, u: FloatArray, t: float) -> tuple[FloatArray, FloatArray]:
        """Contact points, shape (p, 2) [m], and local bases, shape (p, 2, 3), at ``u`` at ``t``."""
        arms = self.body.arms(u[2])
        if self._sides is not None:
            n = self._sides.rows(np.arange(len(arms)), u[:2] + arms, t)[1].reshape(-1, 2)
        else:
            normals = [face.normal(u[:2] + arms, t) for face in self.faces]
            n = np.stack(normals, axis=1).reshape(-1, 2)
        a = np.repeat(arms, len(self.faces), axis=0) - self.body.radius * n
        axes = np.concatenate([n[:, None], coulomb.tangents(n)], axis=1)
        # J a = (-a_y, a_x)
        lever = axes[:, :, 1] * a[:, None, 0] - axes[:, :, 0] * a[:, None, 1]
        return u[:2] + a, np.concatenate([axes, lever[:, :, None]], axis=2)
