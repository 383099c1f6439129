"""Assignment of materials to the named parts of a body."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from dolfinx import fem

from .. import arguments
from .._types import BoolArray, IntArray
from ..materials import AnyLaw, Law, kinematics
from ..mesh.named_mesh import measures


class Material(NamedTuple):
    """Law and density of a part, mask of the owned dofs on it, (owned,), owned cells, and its UFL measures.

    ``dx`` is for sums over the parts, ``alone`` for forms of this one, whose kernels all parts share.
    """

    law: Law
    density: fem.Constant
    dx: Any
    alone: Any
    inside: BoolArray
    cells: IntArray


def find_materials(
    body: Any, law: AnyLaw | Mapping[str, AnyLaw], density: float | Mapping[str, float]
) -> list[Material]:
    """Materials of the parts with their own law or density. Collective.

    Args:
        body: The solid, with its space and cells.
        law: The law, or one per part by cell name.
        density: Mass per volume [kg/m3], or one per part by cell name.

    Raises:
        ValueError: Unknown parts, cells without material, an object that is not a law.
    """
    named = [set(given) for given in (law, density) if isinstance(given, Mapping)]
    if not named:
        every = np.arange(body.mesh.topology.index_map(body.mesh.topology.dim).size_local)
        cells = every if body.cells is None else body.cells
        return [_material(body, law, density, body.dx, body.active, cells)]  # type: ignore[arg-type]
    parts = sorted(set.union(*named))
    if not parts:
        raise ValueError("law and density name no part: give them by cell name, or one for the whole body")
    for what, given in (("law", law), ("density", density)):
        if isinstance(given, Mapping) and set(given) != set(parts):
            lacking = ", ".join(sorted(set(parts) - set(given)))
            raise ValueError(f"{what} is not given for {lacking}: every part needs a law and a density")
    _refuse_uncovered_cells(body, parts)
    owned, materials = body.owned // body.block, []
    cells = [body.named.cells(name) for name in parts]
    for name, dx, of_part in zip(parts, measures(body.mesh, cells, body.dx), cells):
        inside = np.repeat(body._nodes_in(name)[:owned], body.block)
        materials.append(_material(body, _of(law, name), _of(density, name), dx, inside, of_part))
    return materials


def _refuse_uncovered_cells(body: Any, parts: list[str]) -> None:
    """Raise a ValueError unless the parts consist of the cells of the body, each once. Collective."""
    covered = np.concatenate([body.named.cells(name) for name in parts])
    tdim = body.mesh.topology.dim
    every = np.arange(body.mesh.topology.index_map(tdim).size_local)
    bare = np.setdiff1d(every if body.cells is None else body.cells, covered)
    beside = np.zeros(0) if body.cells is None else np.setdiff1d(covered, body.cells)
    bare_cells, beside_cells = body.comm.allreduce(bare.size), body.comm.allreduce(beside.size)
    if bare_cells:
        others = [n for n, (d, _) in body.named.names.items() if d == tdim and n not in parts]
        raise ValueError(
            f"{bare_cells} cells of the body have no material: law and density name "
            f"{', '.join(map(str, parts))}; "
            f"other parts of the mesh are {', '.join(sorted(others)) or 'none'}"
        )
    if beside_cells:
        raise ValueError(
            f"law or density name cells outside of the body, which is {', '.join(map(str, body.parts))}"
        )
    twice = body.comm.allreduce(covered.size - np.unique(covered).size)
    if twice:
        raise ValueError(
            f"{twice} cells are in several of {', '.join(map(str, parts))}: give each one law and density"
        )


def wave_speed(materials: Sequence[Material]) -> float | None:
    """Largest P-wave speed at rest [m/s]; None where a law does not define it."""
    pairs = [(getattr(m.law, "wave_modulus", None), float(m.density.value)) for m in materials]
    speeds = [math.sqrt(modulus / density) for modulus, density in pairs if modulus is not None]
    return max(speeds) if len(speeds) == len(pairs) else None


def _material(
    body: Any, law: AnyLaw, density: float, dx: Any, inside: BoolArray, cells: IntArray
) -> Material:
    if isinstance(law, type):
        parameters = inspect.signature(law).parameters.values()
        needed = [
            each for each in parameters if each.default is each.empty or each.kind is not each.KEYWORD_ONLY
        ]
        constants = ", ".join(
            f"{each.name}=..." if each.kind is each.KEYWORD_ONLY else each.name for each in needed
        )
        raise ValueError(
            f"the law is {arguments.shown(law)} without its constants: give {law.__name__}({constants})"
        )
    for name in ("linear", "energy_density", "reduced"):
        if not hasattr(law, name):
            raise ValueError(
                f"{arguments.shown(law)} is no law, it has no {name}: take one of "
                "dolfinx_impact.materials, or wrap a function of yours in EnergyLaw or StressLaw"
            )
    reduced: Any = law.reduced(body.hypothesis)
    rule = kinematics.quadrature(body.mesh, body.degree, body.hypothesis, reduced.linear)
    of_all, alone = (each(metadata=rule) if rule else each for each in (dx, *measures(body.mesh, [cells])))
    owned = cells[cells < body.mesh.topology.index_map(body.mesh.topology.dim).size_local]
    return Material(reduced, fem.Constant(body.mesh, float(density)), of_all, alone, inside, owned)


def _of(given: Any, name: str) -> Any:
    return given[name] if isinstance(given, Mapping) else given
