"""Faults of bodies: meshes, materials, loads, damping, their critical steps and what they refuse."""

from .base import Fault


def _given(s):
    from ..oracles.refused import nonsense  # which imports the package: after the fault is there

    return nonsense(s)[0]


FAULTS = {
    "dashpots": Fault(
        "the critical step of point masses forgets a user's damping",
        (("systems.system", "if not (values > 0.0).any():", "if True:"),),
        by="chain",
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
    "folded-on-one-rank": Fault(
        "the rank that has a folded cell refuses it, and the others wait for it",
        (
            ("mesh.quality", "parallel.agree(mesh.comm, error)", "parallel.agree(MPI.COMM_SELF, error)"),
            ("mesh.quality", "import basix\n", "import basix\nfrom mpi4py import MPI\n"),
        ),
        lambda s: _given(s) == "a curved cell that is folded inside",
        ranks=2,
    ),
    "no-yield-stress": Fault(
        "a metal whose yield stress is no number never yields",
        (("systems.elements.history_code", "if not 0.0 < self.at_first < np.inf:", "if False:"),),
        lambda s: s.gdim == 2 and s.degree == 1,
        "refused",
    ),
    "called-linear": Fault(
        "a law that is called linear is linearised",
        (
            (
                "systems.forces.rest_state",
                "if not difference <= _LINEAR",
                "if False and not difference <= _LINEAR",
            ),
        ),
        lambda s: s.gdim == 2 and s.degree == 1 and s.cell == "quadrilateral",
        "refused",
    ),
    "cold": Fault(
        "linear laws forget their stress at rest",
        (("systems.forces.rest_state", "return RestState(at_rest, stored)", "return None"),),
        by="heated",
    ),
    "never-hot": Fault(
        "a metal starts at its reference temperature",
        (
            (
                "materials.temperature",
                'return {**laws, **hot} if isinstance(law, Mapping) else hot[""]',
                "return law",
            ),
        ),
        by="hot",
    ),
    "one-compliance": Fault(
        "every point of a yielding floor has its compliance, whatever its area",
        (
            (
                "integrators.impulses.penalty",
                "found: FloatArray = eps / np.asarray(areas)",
                "found = np.full(contact.count, eps)",
            ),
        ),
        by="evenly",
    ),
    "groups": Fault(
        "facets of several physical groups belong to none of them",
        (("mesh.gmsh_groups", "d == dim and tag in old))", "d == dim and (tag,) == old))"),),
        by="grouped",
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
    "locking": Fault(
        "linear laws lock without a word",
        (("systems.forces.locking", "        _warn(solid, law, way, ratio)\n", ""),),
        by="locks",
    ),
    "areas-of-revolution": Fault(
        "areas of bodies of revolution are those of a radian",
        (("systems.outer_facets", "dA * 2.0 * np.pi * x[..., 0]", "dA * x[..., 0]"),),
        lambda s: s.motion == "rest" and s.hypothesis == "axisymmetric",
        "pressure",
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
        (
            (
                "systems.forces.bulk_viscosity",
                "return volume ** (1 / tdim)",
                "return 1.1 * volume ** (1 / tdim)",
            ),
        ),
        lambda s: s.bulk > 0 and s.law == "linear" and s.scheme in ("CDLagrange", "MoreauJean"),
        "damped",
    ),
    "no-drag-in-substeps": Fault(
        "damping by the mass is half of what was given",
        (("systems.body", "+= self.damping_rate * self.mass", "+= 0.5 * self.damping_rate * self.mass"),),
        lambda s: s.rate > 0 and s.scheme in ("NohBathe", "GeneralizedAlpha", "PaoliSchatzman"),
        "lost",
    ),
    "drag-of-nodes": Fault(
        "the drag of a node does not know its mass: that of a body grows with its nodes",
        (("systems.body", "+= self.damping_rate * self.mass", "+= self.damping_rate * 5.0"),),
        lambda s: s.rate > 0 and s.scheme == "CDLagrange" and not s.dashpots,
        "refined",
    ),
    "plastic-work": Fault(
        "a metal is warm from half of its plastic work",
        (("systems.solid", "return self.forces.dissipated", "return 0.5 * self.forces.dissipated"),),
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
