"""What makes no sense is refused in words."""

from __future__ import annotations

import random

from ..observe import build
from ..program import names
from .base import Misfit, oracle

#: A curved triangle: place of the node in the middle of its longest edge, degree of the displacements. One
#: rank gives it; of several all but one have no cell, and must refuse it too.
_CURVED = (
    "import basix.ufl; e = basix.ufl.element('Lagrange', 'triangle', 2, shape=(2,));"
    "n = int(MPI.COMM_WORLD.rank == 0);"
    "x = np.array([[0, 0], [1, 0], [0, 1], [{0}, {0}], [0, 0.5], [0.5, 0.0]])[: 6 * n];"
    "parts = dm.create_mesh(MPI.COMM_WORLD, cells=np.array([[0, 1, 2, 3, 4, 5]])[:n], x=x, e=e);"
    "options = dict(density=1, law=di.LinearElastic(1, 0), degree={1})"
)
#: The least that is a sentence.
WORDS = 5
#: What is given, to which scenarios, and the line of the program before the body is made.
NONSENSE = (
    ("a thickness of a body in space", lambda s: s.gdim == 3, "options['cross_section'] = 0.01"),
    (
        "radial motion of the ground under a body of revolution",
        lambda s: s.hypothesis == "axisymmetric",
        "options['ground_acceleration'] = ((1, 0), np.cos)",
    ),
    (
        "an acceleration for a displacement",
        lambda s: s.hypothesis != "axisymmetric",
        "options['prescribed'] = {'%s/top': {0: di.signals.Signal(0.1, np.ones(50), unit='m/s2')}}",
    ),
    (
        "a displacement for an acceleration",
        lambda s: s.hypothesis != "axisymmetric",
        "options['ground_acceleration'] = ((1, 0, 0)[:%d], di.signals.Signal(0.1, np.ones(50), unit='m'))",
    ),
    ("curved cells with straight displacements", lambda s: True, _CURVED.format(0.6, 1)),
    ("a curved cell that is folded inside", lambda s: True, _CURVED.format(0.05, 2)),
    (
        "a yield stress that is no number at the start",
        lambda s: s.gdim == 2 and s.degree == 1,
        "late = lambda self, strain, rate, work: 4e4 + 1e4 * (strain - 1e-3) ** 0.3;"
        "own = type('Late', (), {'flow_stress': late})();"
        "options['law'] = di.J2Plasticity(1e6, 0.3, hardening=own)",
    ),
    (
        "a law that is called linear",
        lambda s: s.gdim == 2 and s.degree == 1 and s.cell == "quadrilateral",
        "import ufl; options['law'] = di.EnergyLaw(lambda F: 1e6 * ufl.inner(F, F) ** 2, linear=True)",
    ),
    (
        "a support without nodes of the body",
        lambda s: len(s.blocks) > 1 and s.hypothesis != "axisymmetric" and s.floor in ("none", "box"),
        "options.update(cells='a', density=1, law=di.LinearElastic(1, 0), fixed=['b/top'])",
    ),
    ("a name that is not there", lambda s: True, "options['fixed'] = ['nowhere']"),
    ("gravity with too many directions", lambda s: True, "options['gravity'] = (0, 0, 0, -10)"),
    ("a density below zero", lambda s: True, "options['density'] = -1"),
    ("gravity that is not a number", lambda s: True, "options['gravity'] = (float('nan'),) * %d"),
    ("a thickness of nothing", lambda s: s.gdim == 2, "options['cross_section'] = 0"),
    ("damping below zero", lambda s: True, "options['damping'] = -1"),
    (
        "a load on facets of a part that is left out",
        lambda s: (
            len(s.blocks) > 1 and s.hypothesis != "axisymmetric" and s.floor in ("none", "plane", "box")
        ),
        "options.update(cells='a', density=1, law=di.LinearElastic(1, 0), traction={'b/top': (1,) * %d})",
    ),
    (
        "a law for one part of two",
        lambda s: len(s.blocks) > 1,
        "options['law'] = {'%s': di.LinearElastic(1, 0)}",
    ),
)


def nonsense(s):
    """What is given for a scenario, and the line for it; no line for a step that is too long."""
    rng = random.Random(f"nonsense {s.seed}")
    known = [each for each in NONSENSE if each[1](s)]
    if s.explicit and s.scheme != "CDLagrangeSingular":
        known.append(("a step above the critical one", None, None))
    what, _, line = rng.choice(known)
    return what, line


def refusal(s) -> str:
    """The words of the ValueError that the nonsense of a scenario ends with, or none. Collective."""
    _, line = nonsense(s)
    try:
        if line is None:
            build(s.changed(part=1.5 if s.scheme == "CDLagrange" else 3.0))
        else:
            build(s, line.replace("%s", names(s)[-1]).replace("%d", str(s.gdim)))
    except ValueError as error:
        return str(error)
    return ""


@oracle(lambda s: True, runs=True)
def refused(s):
    """A ValueError with a sentence, before anything runs: one kind of nonsense for each scenario."""
    words = len(refusal(s).split())
    yield Misfit(f"{nonsense(s)[0]}: words of the error (or none)", min(words, WORDS), WORDS, 0)
