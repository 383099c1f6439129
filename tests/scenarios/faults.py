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
    """``lines``: module, old, new text.

    ``reach`` says which scenarios the fault can touch, ``by`` which oracle alone is asked, to save time.
    """

    says: str
    lines: tuple[tuple[str, str, str], ...]
    reach: Callable[[Any], bool] = lambda s: True
    by: str = ""


def _surfaces(s):
    return len(s.blocks) > 1 and s.floor != "none"


#: The smooth acceleration in the place of that with contact.
_SMOOTH = "self._inverse, (self.f if s is self.substep_states[0] else self.substep_states[0].f)[:n])"
_PRESENT = "return SparseRows(self.L.dofs, -self.L.weights, self.L.order)"
_TANGENTS = "        return np.concatenate([normals[:, None, :], coulomb"
_NO_TANGENTS = "        if self.friction == 0:\n            return normals[:, None, :]\n"

FAULTS = {
    "noh-bathe-limit": Fault(
        "the critical step of Noh-Bathe forgets damping",
        (("integrators.noh_bathe", "cls._ratio(system, critical) * critical", "1.77 * critical"),),
        lambda s: s.scheme == "NohBathe" and (s.rate > 0 or s.beta > 0),
        "spectrum",
    ),
    "noh-bathe-held": Fault(
        "damping forces of held points are those of a velocity that contact prevents",
        (("integrators.noh_bathe", "self._inverse, f_position[:n])", _SMOOTH),),
        lambda s: s.scheme == "NohBathe" and s.motion == "rest",
        "carried",
    ),
    "noh-bathe-points": Fault(
        "the same, of a user's own system",
        (("integrators.noh_bathe", "self._inverse, f_position[:n])", _SMOOTH),),
        by="chain",
    ),
    "reactions": Fault(
        "reactions of a tool leave out the contact",
        (("integrators.central_differences", " - self.moved_impulses(self.r, self.r_t) / self.dt", ""),),
        lambda s: s.scheme == "CDLagrange" and s.floor == "tool" and s.friction > 0,
        "works",
    ),
    "reactions-of-substeps": Fault(
        "the same, in substeps",
        (("integrators.noh_bathe", " - s.impulse[dofs] - s.moved", " - s.impulse[dofs]"),),
        lambda s: s.scheme == "NohBathe" and s.floor == "tool" and s.friction > 0,
        "balance",
    ),
    "reactions-of-newton": Fault(
        "the same, in implicit schemes",
        (("integrators.theta_newton", " - s.moved_impulses(s.r, s.r_t) / s.dt", ""),),
        lambda s: s.scheme == "MoreauJean" and s.floor == "tool" and s.friction > 0,
        "works",
    ),
    "order-of-points": Fault(
        "the columns of a run are in another order than the points of the contact",
        (("simulation.recorder", "[:, points]", "[:, points[::-1]]"),),
        lambda s: s.floor != "none",
        "points",
    ),
    "directions-of-a-run": Fault(
        "a run that continues another has other directions",
        (("contact.rigid_contact", "return self._approach", _PRESENT),),
        lambda s: s.floor == "sphere",
        "ways",
    ),
    "passing": Fault(
        "surfaces pass through each other within a step",
        (("contact.surfaces.passing", "raise self._error(before, now, node, facet, other)", "pass"),),
        lambda s: _surfaces(s) and s.part > 2 and s.motion == "thrown",
        "above",
    ),
    "newton-at-rest": Fault(
        "Newton's method has no scale where velocities are zero",
        (("integrators.theta_newton", "kicks = s.dt", "kicks = 0 * s.dt"),),
        by="chain",
    ),
    "states-of-lists": Fault(
        "states of lists with drift correction",
        (
            ("contact.contact_set", "if self._stacked and self.drift_correction > 0 and", "if False and"),
            ("contact.contact_set", "elif not self._stacked:", "else:"),
        ),
        lambda s: s.drift and len(s.blocks) > 1 and s.joint != "together",
        "ways",
    ),
    "moving-lists": Fault(
        "a list with a moving obstacle cannot be stored",
        (("simulation.run_fingerprint", "contact.obstacle.faces", "contact.faces"),),
        lambda s: s.floor == "moving" and len(s.blocks) > 1,
        "ways",
    ),
    "overlap": Fault(
        "parts that touch overlap at the start",
        (("contact.surfaces.checks", "pairs[opposite.any(axis=1), 0]", "pairs[:, 0]"),),
        lambda s: len(s.blocks) > 2 and s.motion == "rest" and s.joint != "together",
        "runs",
    ),
    "smooth-beside-rough": Fault(
        "surfaces without friction have no tangents",
        (("contact.surfaces.surface_contact", _TANGENTS, _NO_TANGENTS + _TANGENTS),),
        lambda s: s.friction > 0 and len(s.blocks) > 1 and (s.rough == "floor" or s.joint == "tie"),
        "runs",
    ),
    "one-side": Fault(
        "a node has one point, whatever edges meet there",
        (("contact.surfaces.facets", "_SHARP = np.pi / 4 + 1e-9", "_SHARP = 4.0"),),
        lambda s: s.floor == "corner" and s.motion == "rest",
        "still",
    ),
    "dashpots": Fault(
        "the critical step of point masses forgets a user's damping",
        (("systems.system", "if not (values > 0.0).any():", "if True:"),),
        by="chain",
    ),
    "guard": Fault(
        "no energy is too large",
        (("simulation.energy_guard", "MOST, MOST_BEYOND = 1e3, 10.0", "MOST, MOST_BEYOND = 1e300, 1e300"),),
        by="ended",
    ),
    "thickness-in-space": Fault(
        "a thickness of a body in space",
        (("systems.continuum", 'self.hypothesis in ("3d", "axisymmetric") and', "False and"),),
        lambda s: s.gdim == 3,
        "refused",
    ),
    "radial-ground": Fault(
        "a body of revolution is blown up by its ground",
        (("systems.nodes", 'if self.hypothesis == "axisymmetric" and value[0] != 0.0:', "if False:"),),
        lambda s: s.hypothesis == "axisymmetric",
        "refused",
    ),
    "units": Fault(
        "an acceleration is taken for a displacement",
        (("signals", "if unit not in (None, own):", "if False:"),),
        by="refused",
    ),
    "load-of-others": Fault(
        "a load on facets of a part that is left out is nothing",
        (
            ("systems.continuum", "if not inside and not outside:", "if False:"),
            ("systems.continuum", "if inside or not outside:", "if False:"),
        ),
        lambda s: len(s.blocks) > 1 and s.floor in ("none", "box"),
        "refused",
    ),
    "support-of-others": Fault(
        "a support on facets of a part that is left out is none",
        (("systems.body", "if not self.comm.allreduce(int(nodes.size)):", "if False:"),),
        lambda s: len(s.blocks) > 1 and s.floor in ("none", "box"),
        "refused",
    ),
    "curved": Fault(
        "a rotation strains a body with cells more curved than its displacements",
        (("mesh.quality", "    if degree <= scalar.degree:", "    if True:"),),
        by="refused",
    ),
    "folded": Fault(
        "cells are folded inside",
        (("mesh.quality", "positions += _folded_cells(mesh, chosen, x)", "pass"),),
        by="refused",
    ),
    "no-yield-stress": Fault(
        "a metal whose yield stress is no number never yields",
        (("systems.elements.history_code", "if not 0.0 < self.at_first < np.inf:", "if False:"),),
        lambda s: s.gdim == 2 and s.degree == 1,
        "refused",
    ),
    "called-linear": Fault(
        "a law that is called linear is linearised",
        (("systems.rest_state", "if not difference <= _LINEAR", "if False and not difference <= _LINEAR"),),
        lambda s: s.gdim == 2 and s.degree == 1 and s.cell == "quadrilateral",
        "refused",
    ),
    "short-steps": Fault(
        "steps that are short against the time are none for the material",
        (("systems.elements.history", "_SAME = 16 * np.finfo(np.float64).eps", "_SAME = 1e-12"),),
        lambda s: s.law == "metal" and not (s.adapt or s.drive or s.ground),
        "frame",
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
