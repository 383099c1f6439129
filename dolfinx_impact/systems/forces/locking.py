"""Which elements of a body are kept from locking, and how."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
import ufl
from dolfinx import fem

from ...algebra.expressions.tape import Tape
from ...arguments import shown
from ...materials import HistoryLaw, Law
from ..elements.batch_code import LawReader, NotGenerated
from ..elements.law_code import MEAN_DILATATION, NODAL_PRESSURE
from ..material_regions import Material

logger = logging.getLogger("dolfinx_impact")
#: Default formulations of elements of degree 1.
_OF_CELL = {
    "quadrilateral": MEAN_DILATATION,
    "hexahedron": MEAN_DILATATION,
    "triangle": NODAL_PRESSURE,
    "tetrahedron": NODAL_PRESSURE,
}
_CELLS = {MEAN_DILATATION: "quadrilaterals and hexahedra", NODAL_PRESSURE: "triangles and tetrahedra"}
#: Poisson's ratio at rest from which on a law is nearly incompressible, less round-off.
_INCOMPRESSIBLE = 0.49 - 1e-9
#: A deformation gradient with stretches, shear and rotation, and the round-off of energies there.
_SAMPLE, _SAME = np.array([[1.1, 0.2, 0.0], [-0.1, 0.9, 0.0], [0.0, 0.0, 1.05]]), 1e-9


def ways(solid: Any, given: str | None) -> list[str | None]:
    """For each material how its elements are kept from locking, None where they are not.

    Args:
        solid: The body, with its space and materials.
        given: ``locking`` of :class:`.Solid`.

    Raises:
        ValueError: An unknown word, or one for other elements, hypotheses or laws.
    """
    materials: Sequence[Material] = solid.materials
    if given is None:
        return [_default(solid, m.law) for m in materials]
    if not isinstance(given, str) or given not in (*_CELLS, "none"):
        words = ", ".join(repr(each) for each in (*_CELLS, "none"))
        raise ValueError(f"locking must be one of {words}, not {shown(given)}")
    if given == "none":
        return [None for _ in materials]
    for why in (_not_for_body(solid, given), *(_not_for_law(solid, m.law, given) for m in materials)):
        if why:
            raise ValueError(f"locking={given!r} {why}")
    return [given for _ in materials]


def _default(solid: Any, law: Law) -> str | None:
    """Mean dilatation or nodal pressure where a law yields, or is nonlinear and nearly incompressible.

    Other laws that lock are warned of.
    """
    way = _OF_CELL.get(solid.mesh.topology.cell_name(), "")
    ratio = getattr(law, "poisson_ratio", None)
    if law.linear or not (getattr(law, "yields", False) or (ratio is not None and ratio >= _INCOMPRESSIBLE)):
        _warn(solid, law, way, ratio)
        return None
    if not way or _not_for_body(solid, way):
        return None
    why = _not_for_law(solid, law, way)
    if why and solid.comm.rank == 0:
        logger.warning("elements of degree 1 lock, which makes the body too stiff: locking=%r %s", way, why)
    return None if why else way


def _warn(solid: Any, law: Law, way: str, ratio: float | None) -> None:
    """Log a warning where a law that has no default locks."""
    if not way or _not_for_body(solid, way):
        return
    ratio = _ratio_at_rest(law, solid.mesh) if ratio is None else ratio
    if ratio is not None and ratio >= _INCOMPRESSIBLE and solid.comm.rank == 0:
        logger.warning(
            "elements of degree 1 lock, which makes the body too stiff: Poisson's ratio of %r is %.4g; take "
            "locking=%r, for explicit schemes, or degree=2",
            law,
            ratio,
            way,
        )


def _ratio_at_rest(law: Any, mesh: Any) -> float | None:
    """Poisson's ratio at rest of a law that ``splits``, from its energies; None where it is not known."""
    if not getattr(law, "splits", False):
        return None
    h, F, J = 1e-3, fem.Constant(mesh, np.eye(3)), fem.Constant(mesh, 1.0)
    shear = np.eye(3)
    shear[0, 1] = h
    volumes = [_number(law.volumetric_energy, J, value) for value in (1 - h, 1.0, 1 + h)]
    shapes = [_number(law.isochoric_energy, F, value) for value in (np.eye(3), shear, shear.T)]
    known = [each for each in (*volumes, *shapes) if each is not None]
    if len(known) < 6:
        return None
    bulk = (known[0] - 2 * known[1] + known[2]) / h**2
    mu = (known[4] - 2 * known[3] + known[5]) / h**2
    return (3 * bulk - 2 * mu) / (6 * bulk + 2 * mu) if bulk > 0 and mu > 0 else None


def _number(energy: Any, variable: Any, value: Any) -> float | None:
    """An energy at a value of its variable; None where it is not known."""
    variable.value = value
    tape = Tape()
    reader = LawReader(tape, {})
    try:
        read = int(reader.read(energy(variable)))
    except NotGenerated:
        return None
    return float(tape.values([read], reader.parameters())[0])


def _not_for_body(solid: Any, way: str) -> str:
    """Why a way is not for the elements of a body; empty where it is."""
    cell = solid.mesh.topology.cell_name()
    if solid.hypothesis in ("plane-stress", "line"):
        return (
            f"is not for the hypothesis {solid.hypothesis!r}: such bodies are free to change their thickness"
        )
    if _OF_CELL.get(cell) != way:
        return f"is for {_CELLS[way]}, but the mesh has {cell} cells: take {_OF_CELL.get(cell, 'none')!r}"
    if solid.degree != 1:
        return f"is for elements of degree 1, not {solid.degree}: higher degrees hardly lock, leave it out"
    if solid.mesh.ufl_domain().ufl_coordinate_element().degree != 1:
        return "is for cells with straight edges"
    if solid.own_forms:
        return f"is not for {type(solid).__name__}, a class with forms of its own"
    return ""


def _not_for_law(solid: Any, law: Law, way: str) -> str:
    """Why a way is not for a law; empty where it is."""
    if not getattr(law, "has_energy", True):
        return f"needs a stored energy, which {law!r} does not have: take EnergyLaw"
    if law.linear and not solid.linear:
        return f"does not take the linear law {law!r} beside nonlinear ones: take StVenantKirchhoff"
    if way == NODAL_PRESSURE and not getattr(law, "splits", False):
        return (
            f"needs a law whose energy is a volumetric one plus an isochoric one, which {law!r} is not: take "
            "NeoHookean(E, nu, isochoric=True), MooneyRivlin or EnergyLaw(function, volumetric=...)"
        )
    checked = getattr(law, "splits", False) and not law.linear and not isinstance(law, HistoryLaw)
    return _not_split(law, solid.mesh) if checked else ""


def _not_split(law: Any, mesh: Any) -> str:
    """Why the parts of the energy of a law that ``splits`` are none; empty where they are, or not known."""
    F, tape = fem.Constant(mesh, _SAMPLE), Tape()
    reader = LawReader(tape, {})
    given = law.energy_density(F), law.volumetric_energy(ufl.det(F))
    try:
        read = [int(reader.read(each)) for each in (*given, *map(law.isochoric_energy, (F, 1.1 * F)))]
    except NotGenerated:
        return ""
    whole, volumetric, shape, larger = tape.values(read, reader.parameters())
    size = _SAME * (abs(whole) + abs(volumetric) + abs(shape))
    if abs(whole - volumetric - shape) > size:
        return f"needs the energy of {law!r} to be the sum of its volumetric_energy() and isochoric_energy()"
    if abs(larger - shape) > size:
        return (
            f"needs an isochoric energy that depends on J^(-1/3) F alone, but that of {law!r} changes with "
            "the volume: move this part to the volumetric energy"
        )
    return ""
