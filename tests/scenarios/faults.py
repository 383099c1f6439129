"""Faults put back on purpose: lines of the package as they were, by name, to see that the oracles find them.

``install(name)`` before the package is imported: the modules and the C sources concerned are then read with
these lines. Compiled C code is kept by its text; what numba compiles of a module by its date and its byte
code, so that faults have a cache of their own where they are ``compiled``. A fault whose line is not there
any more is an error: it has to follow the code.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


@dataclasses.dataclass(frozen=True)
class Fault:
    """``lines``: module, or path of a C source in the package, old, new text.

    ``reach`` says which scenarios the fault can touch, ``by`` which oracle alone is asked, to save time.
    ``compiled``: by numba.
    """

    says: str
    lines: tuple[tuple[str, str, str], ...]
    reach: Callable[[Any], bool] = lambda s: True
    by: str = ""
    compiled: bool = False


def _surfaces(s):
    return len(s.blocks) > 1 and s.floor != "none"


#: The smooth acceleration in the place of that with contact.
_SMOOTH = "self._inverse, (self.f if s is self.substep_states[0] else self.substep_states[0].f)[:n])"
_PRESENT = "return SparseRows(self.L.dofs, -self.L.weights, self.L.order)"
_TANGENTS = "        return np.concatenate([normals[:, None, :], coulomb"
_NO_TANGENTS = "        if self.friction == 0:\n            return normals[:, None, :]\n"

_BY_AREA = "quotient(r, at_points * dt[:, None])"
_ALL_AXES = "return np.repeat(pressure.reshape(-1, gdim).sum(axis=1), gdim)"

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
        lambda s: s.scheme == "MoreauJean" and s.floor == "tool" and s.friction > 0 and s.gdim == 2,
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
        (
            ("integrators.theta_newton", "kicks = s.dt", "kicks = 0 * s.dt"),
            ("integrators.theta_newton", "0.0 if s.system.linear else s.system.length", "0.0"),
        ),
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
    "yield-stress-below-zero": Fault(
        "a yield stress below zero gives plastic work back",
        (("systems/elements/j2.h", "negative = (mask)(sigma < 0.0);", "negative = (mask)(sigma < -1e300);"),),
        by="softening",
    ),
    "yield-stress-lost": Fault(
        "a metal whose yield stress becomes no number in a run does not yield any more",
        (("systems/elements/j2.h", "~(mask)(square <= 2.0", "(mask)(square > 2.0"),),
        by="softening",
    ),
    "stiffer-in-a-run": Fault(
        "the step does not follow coefficients of laws",
        (("simulation.step_control", "return max(stretched, self._values.change())", "return stretched"),),
        by="rising",
    ),
    "thickness-not-found": Fault(
        "six of Newton's steps for the thickness in plane stress are taken as they come",
        (("materials.reduced_dimension", "_LAST = 3e-3", "_LAST = 1e3"),),
        by="thin",
    ),
    "flattened": Fault(
        "what is read is projected on the plane",
        (("mesh.reading", "    _refuse_flattening(model, gdim)\n", ""),),
        by="read",
    ),
    "other-constants": Fault(
        "a run goes on with a user's law of other constants",
        (("simulation.run_fingerprint", "{_in_words(law, HistoryLaw)} with", "{type(law).__name__} with"),),
        by="resumed",
    ),
    "locking": Fault(
        "linear laws lock without a word",
        (("systems.locking", "        _warn(solid, law, way, ratio)\n", ""),),
        by="locks",
    ),
    "stress-of-another-time": Fault(
        "pictures take the coefficients of a law at the end",
        (("plot.snapshots", "has_stress(body) and has_coefficients(body)", "False"),),
        by="drawn",
    ),
    "far-from-the-origin": Fault(
        "pictures have places in single precision",
        (
            (
                "plot.skin",
                "np.ascontiguousarray(x, dtype=np.float64)",
                "np.ascontiguousarray(x, dtype=np.float32)",
            ),
        ),
        by="drawn",
    ),
    "small-on-large": Fault(
        "a small body on a large facet has a single point",
        (("contact.surfaces._rows", "if beside or not set_ends(", "if axes.size > 0 or not set_ends("),),
        by="stands",
        compiled=True,
    ),
    "pressure-of-points": Fault(
        "a pressure is an impulse over the area of a point, on obstacles",
        (("contact.pressure", "return pressure, at_points", f"return {_BY_AREA}, at_points"),),
        lambda s: s.motion == "rest" and s.degree == 2,
        "pressure",
    ),
    "pressure-of-points-between": Fault(
        "the same, between surfaces",
        (("contact.pressure", "return pressure, at_points", f"return {_BY_AREA}, at_points"),),
        lambda s: s.degree == 2,
        "between",
    ),
    "areas-not-covered": Fault(
        "points with nothing opposite have areas",
        (("contact.pressure", "1.0, covered)[:, self.point]", "1.0, 1.0)[:, self.point]"),),
        by="between",
    ),
    "areas-of-other-sides": Fault(
        "corners on an obstacle have the areas of both their sides",
        (("contact.pressure", "leaning <= least + _ALIKE", "leaning <= np.inf"),),
        lambda s: s.motion == "rest" and s.facets == "boundary",
        "pressure",
    ),
    "areas-of-revolution": Fault(
        "areas of bodies of revolution are those of a radian",
        (("systems.outer_facets", "dA * 2.0 * np.pi * x[..., 0]", "dA * x[..., 0]"),),
        lambda s: s.motion == "rest" and s.hypothesis == "axisymmetric",
        "pressure",
    ),
    "pressure-of-ties": Fault(
        "the pressure of a tie is the sum of its tractions along the axes",
        (("contact.surfaces.surface_contact", "return np.repeat(-along, gdim)", _ALL_AXES),),
        lambda s: s.joint == "tie",
        "tied",
    ),
    "stored-energy": Fault(
        "linear materials are as stiff as others in compression",
        (("materials.elastic", "lame * ufl.tr(strain) ** 2 / 2", "lame * ufl.tr(strain) ** 2 / 2.2"),),
        lambda s: s.law == "linear" and s.nu > 0,
        "stored",
    ),
    "ground": Fault(
        "the ground accelerates the other way",
        (("systems.body", "self.loads.add(-self.inertia(pattern)", "self.loads.add(self.inertia(pattern)"),),
        lambda s: s.ground > 0,
        "loads",
    ),
    "stiffness-damping": Fault(
        "stiffness-proportional damping is larger than given",
        (("systems.body", "out *= -self.stiffness_damping", "out *= -1.01 * self.stiffness_damping"),),
        lambda s: s.beta > 0 and s.law == "linear" and s.scheme == "CDLagrange",
        "damped",
    ),
    "viscosity": Fault(
        "the size of a cell is that of its longest side",
        (("systems.bulk_viscosity", "return volume ** (1 / tdim)", "return 1.1 * volume ** (1 / tdim)"),),
        lambda s: s.bulk > 0 and s.law == "linear" and s.scheme in ("CDLagrange", "MoreauJean"),
        "damped",
    ),
    "no-drag-in-substeps": Fault(
        "damping by the mass is half of what was given",
        (("systems.body", "+= self.damping_rate * self.mass", "+= 0.5 * self.damping_rate * self.mass"),),
        lambda s: s.rate > 0 and s.scheme in ("NohBathe", "GeneralizedAlpha", "PaoliSchatzman"),
        "lost",
    ),
    "plastic-work": Fault(
        "a metal is warm from half of its plastic work",
        (
            (
                "systems.solid",
                "return 0.0 if self.elements is None else self.elements.dissipated",
                "return 0.0 if self.elements is None else 0.5 * self.elements.dissipated",
            ),
        ),
        lambda s: s.law == "metal" and s.scheme == "CDLagrange" and not (s.beta or s.bulk or s.adapt),
        "worked",
    ),
    "hardening": Fault(
        "a metal hardens less than given",
        (("materials.hardening", "stress + modulus * strain", "stress + 0.99 * modulus * strain"),),
        lambda s: s.law == "metal" and s.scheme in ("CDLagrange", "PaoliSchatzman", "Carpenter"),
        "metal",
    ),
}


def path_of(module: str) -> str:
    """Path of a module or a C source in the package."""
    return module if "/" in module else f"{module.replace('.', '/')}.py"


def replaced(text: str, lines: list[tuple[str, str]], where: str) -> str:
    """A source with the lines of a fault."""
    for old, new in lines:
        if old not in text:
            raise ImportError(f"the fault has to follow the code: {where} has no line {old!r}")
        text = text.replace(old, new)
    return text


class _Faulty(importlib.machinery.SourceFileLoader):
    """Reads a module with some of its lines replaced."""

    lines: tuple[tuple[str, str], ...] = ()

    def get_code(self, fullname):
        path = self.get_filename(fullname)
        text = replaced(self.get_data(path).decode(), list(self.lines), fullname)
        return self.source_to_code(text.encode(), path)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, lines: dict[str, list[tuple[str, str]]]):
        self.modules = {f"dolfinx_impact.{name}": each for name, each in lines.items()}

    def find_spec(self, name, path, target=None):
        if name not in self.modules:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        spec.loader = _Faulty(name, spec.origin)
        spec.loader.lines = tuple(self.modules[name])
        return spec


def _read_with(sources: dict[str, list[tuple[str, str]]]) -> None:
    """From now on C sources are read with these lines: the package takes them with ``Path.read_text``."""
    read = Path.read_text

    def faulty(self: Path, *args: Any, **options: Any) -> str:
        text = read(self, *args, **options)
        for name, lines in sources.items():
            if self.as_posix().endswith(f"dolfinx_impact/{name}"):
                text = replaced(text, lines, name)
        return text

    Path.read_text = faulty  # type: ignore[method-assign]


def _cache_apart(fault: Fault) -> None:
    """Let numba keep what it compiles of this fault in a folder of its own, in this process alone."""
    import numba

    key = hashlib.sha256(repr(fault.lines).encode()).hexdigest()[:12]
    numba.config.CACHE_DIR = str(Path(numba.config.CACHE_DIR or Path.home()) / f"fault-{key}")


def install(name: str) -> Fault:
    """Put a fault back into the package, which must not be imported yet."""
    if "dolfinx_impact" in sys.modules:
        raise RuntimeError("the package is imported already")
    fault = FAULTS[name]
    lines: dict[str, list[tuple[str, str]]] = {}
    for module, old, new in fault.lines:
        lines.setdefault(module, []).append((old, new))
    sys.meta_path.insert(0, _Finder({each: lines[each] for each in lines if "/" not in each}))
    if sources := {each: lines[each] for each in lines if "/" in each}:
        _read_with(sources)
    if fault.compiled:
        _cache_apart(fault)
    return fault
