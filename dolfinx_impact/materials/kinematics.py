"""Deformation gradients of lines, planes and bodies of revolution, embedded in space."""

from __future__ import annotations

import math
from typing import Any

import ufl
from dolfinx import fem
from dolfinx import mesh as dmesh

#: What may be said of a body in the plane.
PLANE_STATES = ("plane-strain", "plane-stress", "axisymmetric")


def state_of(mesh: dmesh.Mesh, state: str | None) -> str:
    """The state of a body: as given in the plane, else that of its dimension.

    Raises:
        ValueError: A state that the dimension does not have.
    """
    gdim = mesh.geometry.dim
    if gdim == 2:
        chosen = "plane-strain" if state is None else state
        if chosen not in PLANE_STATES:
            raise ValueError(f"state must be one of {', '.join(PLANE_STATES)}, not {state!r}")
        return chosen
    only = "line" if gdim == 1 else "3d"
    if state not in (None, only):
        raise ValueError(f"state is for bodies in the plane, this one has {gdim} directions: leave it out")
    return only


def deformation_gradient(u: Any, state: str) -> Any:
    """``F = I + grad u`` as a 3x3 UFL tensor; ``1 + u_r / r`` around the axis of a body of revolution.

    Args:
        u: Displacements; on a body of revolution (r, z).
        state: See :func:`state_of`.
    """
    H = ufl.grad(u)
    if state == "3d":
        return ufl.Identity(3) + H
    if state == "line":
        return ufl.as_matrix([[1 + H[0, 0], 0, 0], [0, 1, 0], [0, 0, 1]])
    around = u[0] / ufl.SpatialCoordinate(ufl.domain.extract_unique_domain(u))[0]
    across = 1 + around if state == "axisymmetric" else 1
    return ufl.as_matrix([[1 + H[0, 0], H[0, 1], 0], [H[1, 0], 1 + H[1, 1], 0], [0, 0, across]])


def thickness(mesh: dmesh.Mesh, state: str, section: float) -> Any:
    """What the mesh's measure lacks to a volume: the section, and ``2 pi r`` for a full turn."""
    constant = fem.Constant(mesh, float(section))
    if state != "axisymmetric":
        return constant
    return 2 * math.pi * constant * ufl.SpatialCoordinate(mesh)[0]


def quadrature(mesh: dmesh.Mesh, degree: int, state: str, linear: bool) -> dict[str, Any]:
    """Where forces are summed, as metadata of a measure.

    Quadrilaterals and hexahedra from degree 2 on take the GLL points, their nodes. (At degree 1 these make
    bending stiff; on the axis of a body of revolution they hit r = 0.) Linear laws are integrated exactly
    elsewhere; others by as many points as the strain of the element needs.
    """
    tensor = mesh.topology.cell_name() in ("interval", "quadrilateral", "hexahedron")
    if tensor and degree > 1 and state != "axisymmetric":
        return {"quadrature_rule": "GLL", "quadrature_degree": 2 * degree - 1}
    if linear:
        return {}
    return {"quadrature_degree": 2 * degree if tensor or state == "axisymmetric" else 2 * degree - 2}
