"""Rigid part of the motion of a body, and its displacements from that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._types import BoolArray, FloatArray
from ..systems.body import Body


class RigidMotion(NamedTuple):
    """Rigid motion with the momenta of a body.

    Attributes:
        velocity: Velocity of the center of mass, shape (gdim,) [m/s].
        spin: Angular velocity about it [rad/s], three numbers in space, one in the plane.
    """

    velocity: FloatArray
    spin: FloatArray


def rigid_motion(
    body: Body, u: FloatArray, v: FloatArray, *, cells: str | Sequence[str] | None = None
) -> RigidMotion:
    """The rigid motion that has the linear and angular momentum of a body. Collective.

    Args:
        body: The body, whose lumped masses count, in the plane or in space.
        u: Displacements, shape (size,) [m].
        v: Velocities at the same time, as ``scheme.v_mean``, shape (size,) [m/s].
        cells: Names of the cells whose motion is meant, such as a part of a joined mesh; all by default.

    Raises:
        ValueError: A body of revolution, on a line, or a frame; unknown names.
    """
    inside = _inside(body, cells)
    m, X = _masses(body, inside)
    x, velocities = X + _at(body, inside, u), _at(body, inside, v)
    mass, first, momentum = (body.comm.allreduce(each) for each in (m.sum(), m @ x, m @ velocities))
    arm = x - first / mass
    if arm.shape[1] == 2:
        inertia = np.atleast_2d(m @ np.sum(arm**2, axis=1))
        turning = np.atleast_1d(m @ (arm[:, 0] * velocities[:, 1] - arm[:, 1] * velocities[:, 0]))
    else:
        inertia = np.einsum("i,ij,ij->", m, arm, arm) * np.eye(3) - (m[:, None] * arm).T @ arm
        turning = m @ np.cross(arm, velocities)
    inertia, turning = body.comm.allreduce(inertia), body.comm.allreduce(turning)
    return RigidMotion(momentum / mass, np.linalg.solve(inertia, turning))


def displacements_from_rigid(body: Body, u: FloatArray) -> FloatArray:
    """Displacements from the rigid motion that fits best, in the directions of the undeformed body.

    They are those of the deformation alone, however far the body has flown and turned. The mean over the
    mass of their squares is the smallest: Kabsch, Acta Cryst. A 32 (1976), 922-923,
    doi:10.1107/S0567739476001873. Collective.

    Args:
        body: The body, in the plane or in space.
        u: Displacements, shape (size,) [m].

    Returns:
        Displacements of the owned nodes, shape (nodes, gdim) [m]; of the nodes of the body alone where it is
        a part of a mesh.

    Raises:
        ValueError: A body of revolution, on a line, or a frame.
    """
    inside = _inside(body)
    m, X = _masses(body, inside)
    x, mass = X + _at(body, inside, u), body.comm.allreduce(m.sum())
    A, a = X - body.comm.allreduce(m @ X) / mass, x - body.comm.allreduce(m @ x) / mass
    left, _, right = np.linalg.svd(body.comm.allreduce((m[:, None] * a).T @ A))
    left[:, -1] *= np.sign(np.linalg.det(left @ right))
    displacements: FloatArray = a @ (left @ right) - A
    return displacements


def _inside(body: Body, cells: str | Sequence[str] | None = None) -> BoolArray:
    """Mask of the owned nodes on the body, or on some of its cells. Collective.

    Raises:
        ValueError: A body without a rigid rotation.
    """
    gdim, owned = body.mesh.geometry.dim, body.owned
    if gdim == 1 or body.block != gdim or body.hypothesis == "axisymmetric":
        raise ValueError(
            "a rigid motion with a spin is that of a body of cells in the plane or in space, not on a line, "
            "of revolution or of beams"
        )
    inside: BoolArray = np.asarray(body.active[: owned : body.block])
    if cells is not None:
        inside = inside & (body.rigid_velocity([1.0] * gdim, cells=cells)[: owned : body.block] > 0.0)
    return inside


def _masses(body: Body, inside: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Masses [kg] and undeformed positions [m] of the nodes in the mask, shapes (n,) and (n, gdim)."""
    return body.mass[:: body.block][inside], body.x[: inside.size, : body.block][inside]


def _at(body: Body, inside: BoolArray, values: FloatArray) -> FloatArray:
    """Values of dofs at the nodes in the mask, shape (n, gdim)."""
    found: FloatArray = values[: body.owned].reshape(-1, body.block)[inside]
    return found
