"""Costs of steps of solids: every kind of element, metals, contact with obstacles, the bar."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from dolfinx import mesh as dmesh
from mpi4py import MPI

from ... import Contact, RigidContact, Solid, parallel, simulate
from ...algebra import kernels
from ...contact.obstacles import (
    Box,
    Cylinder,
    MovingObstacle,
    Plane,
    SignedDistance,
    Sphere,
    Torus,
    UnionObstacle,
)
from ...integrators import CDLagrange, CentralDifferences, Integrator
from ...materials import J2Plasticity, LinearElastic, LinearHardening, NeoHookean
from ...systems.elements.element_forces import ElementForces
from ...systems.elements.lanes import lanes_of
from ..boxes import box
from ..case import EXPLICIT, Values, defaults
from ..cases import CASES
from ..cases.impacting_bar.case import PARAMETERS
from . import yardsticks
from .measurement import MORE, Action, Number, Seconds, Turns

TETRAHEDRON, HEXAHEDRON = dmesh.CellType.tetrahedron, dmesh.CellType.hexahedron
#: Edges of the bodies, in cells of equal edges.
SHAPES = {"cube": (1, 1, 1), "slender bar": (10, 1, 1)}


class Kind(NamedTuple):
    """A law and an element."""

    law: Any
    cell: dmesh.CellType
    degree: int


_LINEAR, _RUBBER = LinearElastic(1.0, 0.3), NeoHookean(1.0, 0.3)
KINDS = {
    "linear P1 tetrahedra": Kind(_LINEAR, TETRAHEDRON, 1),
    "linear Q1 hexahedra": Kind(_LINEAR, HEXAHEDRON, 1),
    "linear Q2 GLL hexahedra": Kind(_LINEAR, HEXAHEDRON, 2),
    "linear Q3 GLL hexahedra": Kind(_LINEAR, HEXAHEDRON, 3),
    "neo-Hookean P1 tetrahedra": Kind(_RUBBER, TETRAHEDRON, 1),
    "neo-Hookean P2 tetrahedra": Kind(_RUBBER, TETRAHEDRON, 2),
    "neo-Hookean Q1 hexahedra": Kind(_RUBBER, HEXAHEDRON, 1),
    "neo-Hookean Q2 GLL hexahedra": Kind(_RUBBER, HEXAHEDRON, 2),
    "neo-Hookean Q3 GLL hexahedra": Kind(_RUBBER, HEXAHEDRON, 3),
}


def body_of(kind: Kind, shape: str, size: int) -> Solid:
    """A body of about ``size`` dofs, its width 1 and its lower side ``"bottom"``. Collective."""
    edges = np.array(SHAPES[shape])
    side = (size / 3 / edges.prod()) ** (1 / 3) / kind.degree
    cells = np.maximum(1, np.round(side * edges - 1 / kind.degree)).astype(int)
    mesh = box([np.zeros(3), cells / cells[1]], cells.tolist(), kind.cell)
    return with_step(Solid(mesh, density=1.0, law=kind.law, degree=kind.degree), 1.0)


def with_step(body: Solid, critical: float) -> Solid:
    """The body with its critical step [s], which takes longer to find than all else."""
    body.__dict__["_critical"] = critical
    return body


def started(system: Any, h: float, contact: Contact | None, u0: Any, v0: Any) -> CentralDifferences:
    """CD-Lagrange with a time step and an initial state. Collective."""
    integrator = CDLagrange(system, h, contact=contact)
    integrator.start(u0, v0)
    return integrator


def with_energies(s: Integrator) -> Callable[[], None]:
    """A step that is followed by its energy balance."""
    balance = s.balance()
    balance.start()

    def step() -> None:
        s.step()
        balance.step()

    return step


# -- every kind of element, against the best of DOLFINx and PETSc


def elements(sizes: Sequence[int], kinds: Sequence[str] = tuple(KINDS)) -> Iterator[Turns]:
    """What the machine gives, then bodies of all sizes, shapes and kinds, without contact. Collective."""
    bandwidth, flops = rates = yardsticks.rates()
    speeds = f"{bandwidth / 1e9:.1f} GB/s in a triad out of cache, {flops / 1e9:.0f} Gflop/s"
    yield Turns(
        f"{MPI.COMM_WORLD.size} ranks together: {speeds}; kernels of {lanes_of(MPI.COMM_WORLD)} cells"
    )
    for size in sizes:
        for shape in SHAPES:
            for name in kinds:
                yield _element(name, shape, size, rates)


def _element(name: str, shape: str, size: int, rates: tuple[float, float]) -> Turns:
    body, key = body_of(KINDS[name], shape, size), f"{name}, {shape}, {size}"
    wave = yardsticks.random_wave(body)
    plain, followed = (started(body, 1e-9, None, wave, 0.0) for _ in range(2))
    yardstick, what = yardsticks.linear_step(body) if body.linear else yardsticks.residual(body, wave)
    dofs = parallel.total(body.comm, body.owned)
    moved, computed = (parallel.total(body.comm, each) / dofs for each in _cost(body))
    actions = {
        "yardstick": Action(yardstick),
        "step": Action(plain.step, name=key),
        "step, energies": Action(with_energies(followed)),
        "force": Action(lambda: body.subtract_internal(plain.u, plain.f)),
    }

    def numbers(seconds: Seconds) -> Iterator[Number]:
        step, force = (np.median(seconds[row]) / dofs for row in ("step", "force"))
        moves = f"{moved:.0f} bytes ({moved / force / rates[0]:.0%} of the bandwidth)"
        computes = f"{computed:.0f} flops a dof ({computed / force / rates[1]:.0%})"
        yield MORE.number("step, energies", f"{key}, energies", seconds["step, energies"], seconds["step"])
        yield Number(f"{key}, ns a dof", 1e9 * step, "")
        yield Number(f"{key}, bytes a dof", moved, moves, "force")
        yield Number(f"{key}, flops a dof", computed, computes, "force")

    return Turns(f"{name}, {shape}, {dofs:.0f} dofs, against {what}:", actions, numbers, dofs=dofs)


def _cost(body: Solid) -> tuple[int, int]:
    """Bytes that a force reads and writes on this rank, and its arithmetic operations."""
    dofs = 3 * 8 * body.owned
    if isinstance(body.forces, ElementForces):
        return dofs + body.forces.nbytes, body.forces.flops
    pairs = body.stiffness.pairs
    if pairs is None:
        raise RuntimeError("sums over pairs of nodes need numba: install it")
    moved = dofs + sum(each.nbytes for each in pairs)
    return moved, 3 * pairs.blocks.size + 3 * body.block * pairs.column.size


# -- metals, against rubber

#: The step [s], so small that the prescribed rates hardly change, and the strain in it where all points flow.
_STEP, _STRAIN = 1e-9, 1e-5
_YIELD = 1e-3  #: Yield stress over Young's modulus.
_METAL = J2Plasticity(1.0, 0.35, hardening=LinearHardening(_YIELD, _YIELD))


def metals(_: Sequence[int], size: int = 300_000) -> Iterator[Turns]:
    """Cubes of about ``size`` dofs, of elements of degree 1. Collective."""
    yield _metal("P1 tetrahedra", TETRAHEDRON, size)
    yield _metal("Q1 hexahedra", HEXAHEDRON, size)


def _metal(name: str, cell: dmesh.CellType, size: int) -> Turns:
    def stretched(law: Any, rate: float) -> CentralDifferences:
        """A run that stretches a cube at a rate [1/s], its volume kept."""
        body, factors = body_of(Kind(law, cell, 1), "cube", size), np.array([[1.0], [-0.5], [-0.5]])
        return started(body, _STEP, None, 0.0, lambda x: rate * factors * (x - 0.5))

    rubber, elastic = stretched(NeoHookean(1.0, 0.35), 0.0), stretched(_METAL, 0.0)
    flowing = stretched(_METAL, _STRAIN / _STEP)
    while flowing.t * _STRAIN / _STEP < 3 * _YIELD:
        flowing.step()
    actions = {
        "neo-Hookean": Action(rubber.step),
        "metal, no point flows": Action(elastic.step, name=f"{name}, elastic"),
        "metal, all points flow": Action(flowing.step, name=f"{name}, flowing"),
    }
    dofs = parallel.total(MPI.COMM_WORLD, rubber.system.owned)
    return Turns(f"{name}, {dofs:.0f} dofs:", actions, dofs=dofs)


# -- contact with obstacles


_MU = 0.3  #: Coulomb's coefficient.


def obstacles(_: Sequence[int], cells: int = 69) -> Iterator[Turns]:
    """Cubes of ``cells`` along an edge, their feet on obstacles, with friction. Collective."""
    yield _tetrahedra(cells)
    yield _hexahedra(cells)


def _tetrahedra(cells: int) -> Turns:
    """A cube that falls on obstacles of all kinds: of most of them few points are closed."""
    body = body_of(KINDS["linear P1 tetrahedra"], "cube", 3 * (cells + 1) ** 3)
    shapes: dict[str, Any] = {
        "plane": Plane((0, 0, 0), (0, 0, 1)),
        "sphere": Sphere((0.5, 0.5, -1.0), 1.0),
        "cylinder": Cylinder((0.5, 0.5, -0.3), (0, 1, 0), 0.3),
        "box": Box.between((0.2, 0.2, -1.0), (0.8, 0.8, 0.0)),
        "torus": Torus((0.5, 0.5, -0.1), (0, 0, 1), 0.3, 0.1),
        "two spheres": UnionObstacle([Sphere((x, 0.5, -0.2), 0.2) for x in (0.2, 0.8)]),
        "callable": SignedDistance(lambda x: x[:, 2] + 0.05 * (1 - np.sin(6 * x[:, 0])), 3),
    }
    contacts = {name: RigidContact(body, "bottom", shape, friction=_MU) for name, shape in shapes.items()}
    return _on_obstacles(body, contacts, cells, body.rigid_velocity((0.0, 0.0, -0.1)), "contact, {}")


def _hexahedra(cells: int) -> Turns:
    """A cube that presses the whole of its foot on obstacles: some of the points slide, others stick."""
    body = body_of(KINDS["linear Q1 hexahedra"], "cube", 3 * (cells + 1) ** 3)
    plane, curved = Plane((0, 0, 0), (0, 0, 1)), 3e-3  # a gap up to which all points are closed
    rising = MovingObstacle(plane, translation=((0, 0, 1), lambda t: 1e-3 * math.sin(t)))
    shapes: dict[str, tuple[Any, float]] = {
        "plane": (plane, 0.0),
        "sphere": (Sphere((0.5, 0.5, -100.0), 100.0), curved),
        "cylinder": (Cylinder((0.5, 0.5, -100.0), (0, 1, 0), 100.0), curved),
        "moving plane": (rising, 0.0),
    }
    contacts = {
        name: RigidContact(body, "bottom", shape, friction=_MU, gap_tolerance=tolerance)
        for name, (shape, tolerance) in shapes.items()
    }
    sheared = lambda x: np.array([0.06 * x[0], 0.0 * x[1], 0.0 * x[2] - 0.1])  # noqa: E731
    return _on_obstacles(body, contacts, cells, sheared, "pressed, {}")


def _on_obstacles(body: Solid, contacts: dict[str, RigidContact], cells: int, v0: Any, key: str) -> Turns:
    """Steps with each of the contacts beside steps without one."""
    step = 0.3 / cells  # below the critical one
    runs = {name: started(body, step, contact, 0.0, v0) for name, contact in contacts.items()}
    actions = {"no contact": Action(started(body, step, None, 0.0, v0).step, 10)}
    actions |= {name: Action(s.step, 10, name=key.format(name)) for name, s in runs.items()}

    def numbers(seconds: Seconds) -> Iterator[Number]:
        for name, s in runs.items():
            slides = (s.r > 0.0) & (np.linalg.norm(s.r_t, axis=1) > (1 - 1e-9) * _MU * s.r)
            closed, sliding = (int(parallel.total(body.comm, each.sum())) for each in (s.r > 0.0, slides))
            yield Number("", closed, f"{closed} points closed, {sliding} of them slide", name)

    dofs = parallel.total(body.comm, body.owned)
    part = 3 * contacts["plane"].total / dofs
    head = f"contact with friction, {dofs:.0f} dofs, {part:.1%} of them candidates:"
    return Turns(head, actions, numbers, dofs=dofs)


# -- the bar, against the best product and a fused update

_ROUND = 200  #: Steps.


def bars(sizes: Sequence[int]) -> Iterator[Turns]:
    """Bars of about so many dofs that touch the wall from the start, so that contact acts. Collective."""
    return map(_bar, sizes)


def bar_values(size: int) -> Values:
    """A bar of about ``size`` dofs whose cells are the default ones, refined evenly."""
    lateral = max(1, round((size / 30) ** (1 / 3)) - 1)
    count = max(2, round(size / 3 / (lateral + 1) ** 2) - 1)
    return {**defaults(PARAMETERS), "dimension": 3, "elements": count, "lateral": lateral}


def _bar(size: int) -> Turns:
    begun, p = time.perf_counter(), bar_values(size)
    setup: Any = CASES["impacting-bar"].build(p, EXPLICIT)
    bar, wall, critical = setup.system, setup.contact, setup.body.critical_time_step()
    state = np.zeros((2, bar.size))
    state[:, ::3] = [[-p["gap"]], [-p["v0"]]]
    plain, full, free = (started(bar, 0.7 * critical, contact, *state) for contact in (wall, wall, None))
    built, dofs = time.perf_counter() - begun, parallel.total(bar.comm, bar.owned)
    matrix, name, product = yardsticks.best_product(bar)
    x, y = matrix.createVecs()
    arrays, loops = [np.zeros(bar.owned) for _ in range(4)], kernels.load()
    rows, recorded = wall.approach(), "step, energies and recorder"

    def simulated() -> None:
        simulate(full, t_end=full.t + _ROUND * full.dt, record=rows, progress=False)

    actions = {
        # The product, and v += w f; u += h v in one compiled loop where numba is installed.
        "product and update": Action(lambda: (matrix.mult(x, y), loops.fused_update(*arrays, 1e-9)), _ROUND),
        "step": Action(plain.step, _ROUND, name="step"),
        "step without contact": Action(free.step, _ROUND),
        recorded: Action(simulated, 1, _ROUND, name=recorded),
    }

    def numbers(seconds: Seconds) -> Iterator[Number]:
        step, without = (np.median(seconds[row]) for row in ("step", "step without contact"))
        words = f"{name}, {product / dofs * 1e9:.2f} ns a dof for the product alone"
        yield Number("", product, words, "product and update")
        yield Number("contact", 1 - without / step, f"contact takes {1 - without / step:.1%} of the step")

    about = f"{dofs:.0f} dofs, {wall.total} contact points, {bar.comm.size} ranks: set-up {built:.1f} s"
    return Turns(f"3D bar, {about}", actions, numbers, str(size), dofs)
