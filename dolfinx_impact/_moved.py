"""Module names of before: they work until version 0.3.0, with a warning that names the new ones."""

from __future__ import annotations

import importlib
import sys
import warnings
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_HERE = "dolfinx_impact."
MOVED = {
    "_numba_kernels": "algebra.kernels._numba",
    "_numpy_kernels": "algebra.kernels._numpy",
    "assembled": "systems.matrices",
    "body": "systems.body",
    "cad": "mesh.cad",
    "cells": "mesh.quality",
    "chain": "systems.chain",
    "checkpoint": "simulation.checkpoint",
    "complementarity": "algebra.complementarity",
    "cones": "algebra.coulomb",
    "dense": "algebra.dense_solver",
    "element_forms": "systems.element_forms",
    "exact_hertz": "exact.hertz",
    "exact_rigid": "exact.rigid",
    "exact_signorini": "exact.signorini",
    "field_file": "output.field_file",
    "fields": "output.fields",
    "frame": "systems.frame",
    "guard": "simulation.stability_monitor",
    "identity": "simulation.run_fingerprint",
    "integrators._block_loop": "integrators.compiled._central_loop",
    "integrators.block": "integrators.compiled.central",
    "integrators.combined": "integrators.acary_bonnefon",
    "integrators.enforcement": "integrators.contact_laws",
    "integrators.hati._loop": "integrators.hati._compiled_loop",
    "integrators.hati.block": "integrators.hati.compiled",
    "integrators.hati.divided": "integrators.hati.split_system",
    "integrators.lumped": "integrators.delassus_lumped",
    "integrators.newton": "integrators.theta_method",
    "integrators.own": "integrators.user_schemes",
    "integrators.response": "integrators.delassus",
    "integrators.scheme": "integrators.catalogue_entry",
    "kernels": "algebra.kernels",
    "kinematics": "materials.kinematics",
    "laws": "materials",
    "laws.base": "materials.law",
    "laws.elastic": "materials.elastic",
    "laws.own": "materials.user_laws",
    "laws.thin": "materials.reduced_dimension",
    "linear": "algebra.sparse_solver",
    "loads": "systems.loads",
    "mass": "systems.mass_lumping",
    "massless": "integrators.modified_mass",
    "node_pairs": "contact.node_pairs",
    "nodes": "systems.nodes",
    "obstacles": "contact.obstacles",
    "obstacles.box": "contact.obstacles.box",
    "obstacles.composed": "contact.obstacles.composed",
    "obstacles.distance": "contact.obstacles.distance",
    "obstacles.expressions": "contact.obstacles.expressions",
    "obstacles.moving": "contact.obstacles.moving",
    "obstacles.profiles": "contact.obstacles.profiles",
    "obstacles.revolution": "contact.obstacles.revolution",
    "obstacles.shapes": "contact.obstacles.shapes",
    "pictures": "plot",
    "pictures.drawing": "plot.drawing",
    "pictures.film": "plot.film",
    "pictures.frames": "plot.frames",
    "pictures.shots": "plot.shots",
    "pictures.skin": "plot.skin",
    "pictures.snapshots": "plot.snapshots",
    "pictures.solids": "plot.solids",
    "places": "simulation.parallel_layout",
    "progress": "simulation.progress",
    "rows": "algebra.operators",
    "run": "simulation.run",
    "sections": "systems.sections",
    "solid": "systems.solid",
    "statics": "contact.statics",
    "step_control": "simulation.step_control",
    "stiffness": "systems.stiffness",
    "stress": "output.stress",
    "system": "systems.system",
    "tangent": "systems.tangent",
}
#: Modules that were divided into several.
DIVIDED = {
    "energy": ("integrators.energy", "integrators.one_step_energy"),
    "obstacle_contact": ("contact.obstacle_contact", "contact.rigid_contact"),
    "integrators.formulas": (
        "integrators.central_differences",
        "integrators.theta_method",
        "integrators.requirements",
    ),
    "integrators.hati.sides": ("integrators.hati.explicit_side", "integrators.hati.implicit_side"),
    "rigid_body": ("systems.rigid_body", "contact.rigid_body"),
    "steps": ("integrators.step_buffer", "simulation.recorder"),
}


def new_module(name: str) -> ModuleType:
    """The module that ``name`` (below the package) is now, with a warning; of a divided one all its names.

    Raises:
        AttributeError: No such name, now or before.
    """
    if name not in MOVED and name not in DIVIDED:
        raise AttributeError(f"module 'dolfinx_impact' has no attribute {name!r}")
    targets = DIVIDED[name] if name in DIVIDED else (MOVED[name],)
    warnings.warn(
        f"{_HERE}{name} is now {' and '.join(_HERE + each for each in targets)}: the old name goes with "
        "version 0.3.0",
        DeprecationWarning,
        stacklevel=3,
    )
    modules = [importlib.import_module(_HERE + each) for each in targets]
    if len(modules) == 1:
        return modules[0]
    joined = ModuleType(_HERE + name)
    for each in modules:
        vars(joined).update({key: value for key, value in vars(each).items() if not key.startswith("__")})

    def renamed(name: str) -> Any:
        holder = next((each for each in modules if hasattr(each, name)), modules[0])
        return getattr(holder, name)

    vars(joined)["__getattr__"] = renamed
    return joined


class _Old(Loader):
    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        # The import statement returns the entry of this table.
        sys.modules[module.__name__] = new_module(module.__name__.removeprefix(_HERE))


class _Finder(MetaPathFinder):
    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        name = fullname.removeprefix(_HERE)
        known = fullname.startswith(_HERE) and (name in MOVED or name in DIVIDED)
        return ModuleSpec(fullname, _Old()) if known else None


def install() -> None:
    """Let ``import`` find modules by their old names too."""
    # Before the finder of paths, which would load modules of a moved folder twice.
    sys.meta_path.insert(0, _Finder())
