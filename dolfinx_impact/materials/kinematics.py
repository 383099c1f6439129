"""Deformation gradients of lines, planes and bodies of revolution, embedded in 3x3; measures, quadrature."""

from __future__ import annotations

import math
from typing import Any

import ufl
from dolfinx import fem
from dolfinx import mesh as dmesh

#: Kinematic hypotheses of two-dimensional bodies.
PLANE_STATES = ("plane-strain", "plane-stress", "axisymmetric")


def state_of(mesh: dmesh.Mesh, state: str | None) -> str:
    """The state of a body: ``state`` or plane strain in two dimensions, else ``"line"`` or ``"3d"``.

    Raises:
        ValueError: A state that does not exist in the geometric dimension of the mesh.
    """
    gdim = mesh.geometry.dim
    if gdim == 2:
        chosen = "plane-strain" if state is None else state
        if chosen not in PLANE_STATES:
            raise ValueError(f"hypothesis must be one of {', '.join(PLANE_STATES)}, not {state!r}")
        return chosen
    only = "line" if gdim == 1 else "3d"
    if state not in (None, only):
        raise ValueError(
            f"hypothesis is for bodies in the plane, this one has {gdim} directions: leave it out"
        )
    return only


def deformation_gradient(u: Any, state: str) -> Any:
    """``F = I + grad u`` as a 3x3 UFL tensor; the hoop stretch of a body of revolution is ``1 + u_r / r``.

    Args:
        u: Displacement [m]; with components (r, z) on a body of revolution.
        state: See :func:`state_of`.
    """
    H = ufl.grad(u)
    if state == "3d":
        return ufl.Identity(3) + H
    if state == "line":
        stretch = 1 + (H[0, 0] if u.ufl_shape else H[0])
        return ufl.as_matrix([[stretch, 0, 0], [0, 1, 0], [0, 0, 1]])
    hoop_strain = u[0] / ufl.SpatialCoordinate(ufl.domain.extract_unique_domain(u))[0]
    out_of_plane = 1 + hoop_strain if state == "axisymmetric" else 1
    return ufl.as_matrix([[1 + H[0, 0], H[0, 1], 0], [H[1, 0], 1 + H[1, 1], 0], [0, 0, out_of_plane]])


def thickness(mesh: dmesh.Mesh, state: str, section: float) -> Any:
    """Volume per measure of the mesh: ``section``, times ``2 pi r`` for a body of revolution."""
    constant = fem.Constant(mesh, float(section))
    if state != "axisymmetric":
        return constant
    return 2 * math.pi * constant * ufl.SpatialCoordinate(mesh)[0]


def quadrature(mesh: dmesh.Mesh, degree: int, state: str, linear: bool) -> dict[str, Any]:
    """Quadrature of the internal forces, as metadata of a UFL measure.

    GLL points, the nodes of the element, for intervals, quadrilaterals and hexahedra of degree p >= 2. (With
    degree 1 they make bending too stiff; with bodies of revolution they lie on the axis r = 0.) Otherwise the
    degree estimated by UFL for linear laws, and for nonlinear laws degree 2 p, on simplices 2 p - 2 unless
    axisymmetric.
    """
    tensor = mesh.topology.cell_name() in ("interval", "quadrilateral", "hexahedron")
    if tensor and degree > 1 and state != "axisymmetric":
        return {"quadrature_rule": "GLL", "quadrature_degree": 2 * degree - 1}
    if linear:
        return {}
    return {"quadrature_degree": 2 * degree if tensor or state == "axisymmetric" else 2 * degree - 2}
