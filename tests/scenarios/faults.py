"""Faults put back on purpose: lines of the package as they were, by name, to see that the oracles find them.

``install(name)`` before the package is imported: the modules concerned are then read with these lines. A
fault whose line is not there any more is an error: it has to follow the code.
"""

from __future__ import annotations

import dataclasses
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable
from typing import Any


@dataclasses.dataclass(frozen=True)
class Fault:
    """``lines``: module, old, new text; ``reach`` says which scenarios the fault can touch."""

    says: str
    lines: tuple[tuple[str, str, str], ...]
    reach: Callable[[Any], bool] = lambda s: True


def _surfaces(s):
    return len(s.blocks) > 1 and s.floor != "none"


FAULTS = {
    "noh-bathe-limit": Fault(
        "the critical step of Noh-Bathe forgets damping",
        (("integrators.noh_bathe", "cls._ratio(system, critical) * critical", "1.77 * critical"),),
        lambda s: s.scheme == "NohBathe" and (s.rate > 0 or s.beta > 0),
    ),
    "noh-bathe-held": Fault(
        "damping forces of held points are those of a velocity that contact prevents",
        (
            (
                "integrators.noh_bathe",
                "self._inverse, f_position[:n])",
                "self._inverse, (self.f if s is self.substep_states[0] else self.substep_states[0].f)[:n])",
            ),
        ),
        lambda s: s.scheme == "NohBathe" and s.motion == "rest",
    ),
    "reactions": Fault(
        "reactions of a tool leave out the contact",
        (("integrators.central_differences", " - self.moved_impulses(self.r, self.r_t) / self.dt", ""),),
        lambda s: s.scheme == "CDLagrange" and s.floor == "tool" and s.friction > 0,
    ),
    "missing-of-substeps": Fault(
        "the work of a tool leaves out the contact, in substeps",
        (("integrators.noh_bathe", " - s.impulse[dofs] - s.moved", " - s.impulse[dofs]"),),
        lambda s: s.scheme == "NohBathe" and s.floor == "tool" and s.friction > 0,
    ),
    "reactions-of-newton": Fault(
        "reactions of a tool leave out the contact, in implicit schemes",
        (("integrators.theta_newton", " - s.moved_impulses(s.r, s.r_t) / s.dt", ""),),
        lambda s: s.scheme == "MoreauJean" and s.floor == "tool" and s.friction > 0,
    ),
    "order-of-points": Fault(
        "the columns of a run are in another order than the points of the contact",
        (("simulation.recorder", "[:, points]", "[:, points[::-1]]"),),
        lambda s: s.floor != "none",
    ),
    "directions-of-a-run": Fault(
        "a run that continues another has other directions",
        (
            (
                "contact.rigid_contact",
                "return self._approach",
                "return SparseRows(self.L.dofs, -self.L.weights, self.L.order)",
            ),
        ),
        lambda s: s.floor == "sphere",
    ),
    "passing": Fault(
        "surfaces pass through each other within a step",
        (("contact.surfaces.surface_contact", "self._passing.accept_step(self._evaluated_at)", "None"),),
        lambda s: _surfaces(s) and s.part > 2,
    ),
    "newton-at-rest": Fault(
        "Newton's method has no scale where velocities are zero",
        (("integrators.theta_newton", "kicks = s.dt", "kicks = 0 * s.dt"),),
        lambda s: s.motion == "rest" and not s.explicit and s.rate > 0,
    ),
    "states-of-lists": Fault(
        "states of lists with drift correction",
        (
            (
                "contact.contact_set",
                "elif not self._stacked:\n            history = super",
                "else:\n            history = super",
            ),
        ),
        lambda s: s.drift and len(s.blocks) > 1,
    ),
    "overlap": Fault(
        "parts that touch overlap at the start",
        (("contact.surfaces.checks", "pairs[opposite.any(axis=1), 0]", "pairs[:, 0]"),),
        lambda s: _surfaces(s) and s.motion == "rest",
    ),
    "smooth-beside-rough": Fault(
        "surfaces without friction have no tangents",
        (
            (
                "contact.surfaces.surface_contact",
                "        return np.concatenate([normals[:, None, :], coulomb",
                "        if self.friction == 0:\n            return normals[:, None, :]\n"
                "        return np.concatenate([normals[:, None, :], coulomb",
            ),
        ),
        lambda s: s.friction > 0 and (s.rough == "floor" or s.joint == "tie"),
    ),
    "one-side": Fault(
        "a node has one point, whatever edges meet there",
        (("contact.surfaces.facets", "_SHARP = np.pi / 4 + 1e-9", "_SHARP = 4.0"),),
        lambda s: s.floor == "corner" or _surfaces(s),
    ),
    "thickness-in-space": Fault(
        "a thickness of a body in space",
        (("systems.continuum", 'self.hypothesis in ("3d", "axisymmetric") and', "False and"),),
        lambda s: s.gdim == 3,
    ),
    "radial-ground": Fault(
        "a body of revolution is blown up by its ground",
        (("systems.nodes", 'if self.hypothesis == "axisymmetric" and value[0] != 0.0:', "if False:"),),
        lambda s: s.hypothesis == "axisymmetric",
    ),
    "dashpots": Fault(
        "the critical step of point masses forgets a user's damping",
        (("systems.system", "if not (values > 0.0).any():", "if True:"),),
    ),
    "guard": Fault(
        "no energy is too large",
        (("simulation.energy_guard", "MOST, MOST_BEYOND = 1e3, 10.0", "MOST, MOST_BEYOND = 1e300, 1e300"),),
    ),
    "rest-of-points": Fault(
        "forces of held points of a user's system",
        (
            (
                "integrators.noh_bathe",
                "self._inverse, f_position[:n])",
                "self._inverse, (self.f if s is self.substep_states[0] else self.substep_states[0].f)[:n])",
            ),
        ),
    ),
    "load-of-others": Fault(
        "a load on facets of a part that is left out is nothing, without a word",
        (("systems.continuum", "if inside or not outside:", "if False:"),),
        lambda s: len(s.blocks) > 1,
    ),
    "curved": Fault(
        "a rotation strains a body with cells more curved than its displacements",
        (("mesh.quality", "    if degree <= scalar.degree:", "    if True:"),),
    ),
    "folded": Fault(
        "cells are folded inside", (("mesh.quality", "positions += _folded_cells(mesh, chosen, x)", "pass"),)
    ),
    "moving-lists": Fault(
        "a list with a moving obstacle cannot be stored",
        (("simulation.run_fingerprint", "contact.obstacle.faces", "contact.faces"),),
        lambda s: s.floor == "moving" and len(s.blocks) > 1,
    ),
}


class _Faulty(importlib.machinery.SourceFileLoader):
    """Reads a module with some of its lines replaced."""

    lines: tuple[tuple[str, str], ...] = ()

    def get_code(self, fullname):
        path = self.get_filename(fullname)
        text = self.get_data(path).decode()
        for old, new in self.lines:
            if old not in text:
                raise ImportError(f"the fault has to follow the code: {fullname} has no line {old!r}")
            text = text.replace(old, new)
        return self.source_to_code(text.encode(), path)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, fault: Fault):
        self.modules: dict[str, list[tuple[str, str]]] = {}
        for module, old, new in fault.lines:
            self.modules.setdefault(f"dolfinx_impact.{module}", []).append((old, new))

    def find_spec(self, name, path, target=None):
        if name not in self.modules:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        spec.loader = _Faulty(name, spec.origin)
        spec.loader.lines = tuple(self.modules[name])
        return spec


def install(name: str) -> Fault:
    """Put a fault back into the package, which must not be imported yet."""
    if "dolfinx_impact" in sys.modules:
        raise RuntimeError("the package is imported already")
    sys.meta_path.insert(0, _Finder(FAULTS[name]))
    return FAULTS[name]
