"""Cost of contact at both levels: implicit steps far above the critical one over explicit steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from dolfinx import mesh as dmesh
from mpi4py import MPI

from ... import (
    CDLagrange,
    Frame,
    LinearElastic,
    NamedMesh,
    NeoHookean,
    Plane,
    RigidContact,
    Solid,
    SparseRows,
    SurfaceContact,
)
from ...algebra.kernels import NotCompiled
from ...integrators import Integrator, MoreauJean
from ...mesh import join, named
from ...systems.body import Body
from ...systems.sections import Section
from ..boxes import create
from .measurement import Action, Number, Seconds, Turns
from .small import filled
from .solids import HEXAHEDRON

YARDSTICK = "explicit step"
CELLS = 20  #: Along an edge of the block, for 3e4 dofs.
#: Implicit steps in critical ones.
_STEPS = (20, 100)
_FRICTION, _EXPLICIT, _SPEED = 0.1, 0.9, 2e-4  #: Explicit step in critical ones; speed over that of waves.
_COMPILED = 16_384  #: Explicit steps of a round in a compiled loop.


class Pressed(NamedTuple):
    """A body that is pressed with a constant speed, in units in which waves run at about 1."""

    body: Body
    contact: RigidContact | SurfaceContact
    settle: int  #: Explicit steps until it is pressed.
    calls: int  #: Implicit steps of a round.


def bodies(_: Sequence[int], cells: int = CELLS) -> Iterator[Turns]:
    """A peg in the plane, blocks in space against rigid planes and each other, a frame. Collective."""
    half = 4 * cells // 5
    yield _turns("peg, neo-Hookean", _peg)
    yield _turns("block, linear", lambda: _block(cells, LinearElastic(1.0, 0.3)))
    yield _turns("block, neo-Hookean", lambda: _block(cells, NeoHookean(1.0, 0.3)))
    yield _turns("two blocks, neo-Hookean", lambda: _two_blocks(half, NeoHookean(1.0, 0.3)))
    if MPI.COMM_WORLD.size == 1:
        yield _turns("frame, linear", _frame)


def _turns(what: str, make: Callable[[], Pressed]) -> Turns:
    """Explicit steps, and implicit ones of the same body under the same speed."""
    pressed = make()
    body, critical = pressed.body, pressed.body.critical_time_step()
    explicit = CDLagrange(body, _EXPLICIT * critical, contact=pressed.contact)
    explicit.start(0.0, 0.0)
    for _ in range(pressed.settle):
        explicit.step()
    implicit: dict[str, Integrator] = {}
    for n in _STEPS:
        like = make()
        scheme = MoreauJean(like.body, n * critical, theta=1.0, contact=like.contact, position=True)
        scheme.start(0.0, 0.0)
        implicit[f"step of {n} critical"] = scheme
    actions = {YARDSTICK: _explicit(explicit)}
    actions |= {
        row: Action(scheme.step, pressed.calls, name=f"{what}, {row}") for row, scheme in implicit.items()
    }

    def numbers(seconds: Seconds) -> Iterator[Number]:
        for row, scheme in implicit.items():
            counts: Any = scheme.halved.counts()  # type: ignore[attr-defined]
            words = f"{counts['newton_mean']:.1f} iterations a step"
            yield Number(f"{what}, {row}, iterations", counts["newton_mean"], words, row)
        yield Number(f"{what}, explicit step, ms", 1e3 * float(np.median(seconds[YARDSTICK])), "")
        yield Number(f"{what}, dofs", body.dof_count, "")

    return Turns(f"{what}, {body.dof_count} dofs, {pressed.contact.total} points:", actions, numbers)


def _explicit(scheme: Integrator) -> Action:
    """Its steps, in a compiled loop where there is one, as in runs."""
    none = np.zeros((0, 1), dtype=np.intp)
    nothing = SparseRows(none, np.zeros((0, 1)), none, [])
    try:
        return Action(filled(scheme, nothing, False, _COMPILED), 1, _COMPILED)
    except NotCompiled:
        return Action(scheme.step, 50)


def _solid(mesh: Any, law: Any, top: str, held: dict[str, tuple[int, ...]]) -> Solid:
    """A body of density 1 whose top moves down with the speed of all of them."""
    down = mesh.mesh.geometry.dim - 1
    return Solid(mesh, density=1.0, law=law, fixed=held, prescribed={top: {down: lambda t: -_SPEED * t}})


def _peg() -> Pressed:
    """4 x 12 cells in the plane with friction on a rigid plane."""
    cells = dmesh.create_rectangle(MPI.COMM_WORLD, [[0, 0], [1, 3]], [4, 12], dmesh.CellType.quadrilateral)
    mesh = named(cells, top=lambda x: np.isclose(x[1], 3), foot=lambda x: np.isclose(x[1], 0))
    body = _solid(mesh, NeoHookean(1.0, 0.3), "top", {"top": (0,)})
    return Pressed(body, RigidContact(body, "foot", Plane((0, 0), (0, 1)), friction=_FRICTION), 60, 20)


def _cube(low: float, cells: int) -> NamedMesh:
    corners = [[0.0, 0.0, low], [1.0, 1.0, low + 1.0]]
    cube = dmesh.create_box(MPI.COMM_WORLD, corners, [cells] * 3, HEXAHEDRON)
    return named(cube, top=lambda x: np.isclose(x[2], low + 1.0), foot=lambda x: np.isclose(x[2], low))


def _block(cells: int, law: Any) -> Pressed:
    """A cube with friction on a rigid plane."""
    body = _solid(_cube(0.0, cells), law, "top", {"top": (0, 1)})
    contact = RigidContact(body, "foot", Plane((0, 0, 0), (0, 0, 1)), friction=_FRICTION)
    return Pressed(body, contact, 4 * cells, 2)


def _two_blocks(cells: int, law: Any) -> Pressed:
    """Two cubes whose meshes do not match, one on the other, with friction."""
    mesh = join({"lower": _cube(0.0, cells), "upper": _cube(1.0, cells - 1)})
    body = _solid(mesh, law, "upper/top", {"lower/foot": (0, 1, 2), "upper/top": (0, 1)})
    contact = SurfaceContact(body, "upper/foot", "lower/top", friction=_FRICTION)
    return Pressed(body, contact, 4 * cells, 1)


def _frame(beams: int = 100) -> Pressed:
    """A beam that is pressed on a rigid plane along its length."""
    x = np.linspace(0.0, 10.0, beams + 1)
    line = create(np.column_stack([x, 0 * x, 0 * x]), np.column_stack([range(beams), range(1, beams + 1)]),
                  "interval")  # fmt: skip
    mesh = named(line, foot=lambda x: np.isclose(x[2], 0.0))
    body = Frame(mesh, density=1.0, E=1.0, nu=0.3, sections=Section.circle(0.1), gravity=(0, 0, -1e-6))
    return Pressed(body, RigidContact(body, "foot", Plane((0, 0, 0), (0, 0, 1)), friction=_FRICTION), 60, 20)
