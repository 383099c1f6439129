"""Artificial bulk viscosity of solids: a pressure that opposes the rate of volume change."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import ufl
from dolfinx import fem
from dolfinx import mesh as dmesh

from ... import arguments
from ...materials import Law, kinematics


def power(solid: Any, test: Any, coefficients: tuple[float, float]) -> Any:
    """Virtual power of the bulk viscosity at the solid's ``velocity``, a linear form in ``test``."""
    F = kinematics.deformation_gradient(solid.displacement, solid.hypothesis)
    rate, change = (ufl.derivative(F, solid.displacement, x) for x in (solid.velocity, test))
    inverse = ufl.Identity(3) if solid.linear else ufl.inv(F)
    volume = 1 if solid.linear else ufl.det(F)
    dilatation, size = ufl.tr(rate * inverse), _cell_size(solid.mesh) / solid.degree  # tr D and l
    linear, quadratic = (fem.Constant(solid.mesh, float(b)) for b in coefficients)
    compression = ufl.conditional(ufl.lt(dilatation, 0), -dilatation, 0)
    forms = []
    for m in solid.materials:
        speed = ufl.sqrt(fem.Constant(solid.mesh, wave_modulus(m.law)) / m.density)
        stress = m.density * size * (linear * speed + quadratic**2 * size * compression) * dilatation
        forms.append(solid._weight * stress * volume * ufl.tr(change * inverse) * m.dx)
    return sum(forms)


def checked(given: tuple[float, float]) -> tuple[float, float]:
    """The coefficients (b1, b2); a ValueError for anything but two numbers of at least 0."""
    values = arguments.floats(given)
    if values.shape != (2,) or not np.all(np.isfinite(values) & (values >= 0)):
        shown = arguments.shown(given)
        raise ValueError(f"bulk_viscosity must be two numbers of at least 0, (b1, b2), but is {shown}")
    return float(values[0]), float(values[1])


def wave_modulus(law: Law) -> float:
    """P-wave modulus at rest [Pa]; a ValueError where the law does not define it."""
    modulus = getattr(law, "wave_modulus", None)
    if modulus is None:
        raise ValueError(f"bulk viscosity needs the modulus of waves, but {law!r} has no wave_modulus")
    return float(modulus)


def _cell_size(mesh: dmesh.Mesh) -> Any:
    """Edge of a cube of the volume of the cell [m]."""
    simplex = mesh.topology.cell_name() in ("triangle", "tetrahedron")
    tdim = mesh.topology.dim
    volume = abs(ufl.JacobianDeterminant(mesh)) / (math.factorial(tdim) if simplex else 1)
    return volume ** (1 / tdim)
