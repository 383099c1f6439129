"""Cost of contact between deformable bodies: search, rows and solution as parts of a step."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from dolfinx import mesh as dmesh
from mpi4py import MPI

from ... import LinearElastic, Solid, SurfaceContact, parallel
from ...integrators import CentralDifferences
from ...mesh import join
from .measurement import Action, Number, Seconds, Turns, seconds_per_call
from .solids import HEXAHEDRON, started, with_step

CELLS = 70  #: Across the lower block, for 1e4 facets on the faces and 1e6 dofs.
YARDSTICK = "without contact"
_SPEED = 1e-2  #: Of the impact over that of waves.
_STEPS, _SEARCHES = 8, 5  #: Steps of a round, searches that are timed.
_Block = tuple[tuple[int, int, int], float, float]  #: Cells, width and height [m].
_SMALL: list[_Block] = [((n, n, 2), 1.0, 0.5) for n in (2, 3, 2, 3)]


def bodies(_: Sequence[int], cells: int = CELLS) -> Iterator[Turns]:
    """Large blocks without and with friction, few and many points, and stacks of small ones. Collective."""
    tenth, halves = max(1, cells * 3 // 10), blocks_of_one_width(cells)
    per_point: dict[str, float] = {}
    for friction in (0.0, 0.3):
        yield _large(halves, cells, f"friction {friction:g}", per_point, friction)
    yield _large([_cubes(cells, cells), _cubes(tenth, tenth, 0.3)], cells, "few points", per_point)
    wide, flat = 2 * cells, max(3, cells // 8)
    plates = [_cubes(wide, flat), _cubes(wide * 13 // 14, flat)]
    yield _large(plates, wide, "many points", per_point)
    yield _small()


def blocks_of_one_width(cells: int) -> list[_Block]:
    """Two blocks of half their width's height, of which the upper one is a little coarser."""
    return [_cubes(each, each // 2) for each in (cells, cells * 13 // 14)]


def _cubes(across: int, high: int, width: float = 1.0) -> _Block:
    """A block of so many cubic cells."""
    return (across, across, high), width, width * high / across


def _large(
    blocks: Sequence[_Block], cells: int, told: str, per_point: dict[str, float], friction: float = 0.0
) -> Turns:
    """A step of two blocks, and its parts; seconds more per closed point are kept by what is ``told``."""
    step = 0.25 / cells
    body, contact = stack(blocks, 1e-5, friction)
    with_step(body, 2 * step)
    v = body.rigid_velocity((0.0, 0.0, -_SPEED), cells="part 1")
    free, hit = (started(body, step, each, 0.0, v) for each in (None, contact))
    _touch(hit)
    names = {"rows": (contact, "_active_set"), "solution": (hit._response, "solve")}
    spent = {name: _timed(*each) for name, each in names.items()}
    begun = hit.n

    def numbers(seconds: Seconds) -> Iterator[Number]:
        base, path = np.median(seconds[YARDSTICK]), contact.assembly.path_between_searches
        search = seconds_per_call(lambda: contact.assembly.search(hit.u), _SEARCHES)
        parts = {"search": search * _SPEED * step / path}
        parts |= {name: sum(each) / (hit.n - begun) for name, each in spent.items()}
        yield closed(hit, "step")
        for name, each in parts.items():
            words = f"{name} takes {each / base:.1%} of a step without contact"
            yield Number(f"surfaces, {name}, {told}", each / base, words)
        yield Number("", search, f"a search takes {1e3 * search:.3g} ms")
        per_point[told] = (np.median(seconds["step"]) - base) / _points(hit)
        each, first = 1e9 * per_point[told], 1e9 * next(iter(per_point.values()))
        words = f"{each:.0f} ns more per closed point, {each / first:.2f} of that of the first blocks"
        yield Number(f"surfaces, per point, {told}", each, words)

    facets = int(np.count_nonzero(contact.assembly.all_facets().surface >= 0))
    actions = {YARDSTICK: free.step, "step": hit.step}
    row = {"step": f"surfaces, step, {told}"}
    timed = {name: Action(call, _STEPS, name=row.get(name, "")) for name, call in actions.items()}
    return Turns(f"{body.dof_count} dofs, {facets} facets, {told}:", timed, numbers)


def _small() -> Turns:
    """Stacks that are pressed, and whose blocks are far from each other; all pairs may touch."""
    runs, h = {}, 0.01
    for row, gap in {"small surfaces": 1e-5, "small surfaces, nothing near": 10.0}.items():
        body, contact = stack(_SMALL, gap, 0.3)
        with_step(body, 2 * h)
        runs[row] = started(body, h, contact, 0.0, lambda x: -_SPEED * x * [[0.0], [0.0], [1.0]])
    pressed = runs["small surfaces"]
    free = started(pressed.system, h, None, pressed.u, pressed.v)
    _touch(pressed)

    def numbers(seconds: Seconds) -> Iterator[Number]:
        yield closed(pressed, "small surfaces")
        for row in runs:
            yield Number(row, 1e6 * np.median(seconds[row]), "")

    head = f"{len(_SMALL)} blocks, {body.dof_count} dofs, each a surface for each other, friction 0.3:"
    actions = {row: Action(s.step, _STEPS) for row, s in {YARDSTICK: free, **runs}.items()}
    return Turns(head, actions, numbers)


def stack(blocks: Sequence[_Block], gap: float, friction: float) -> tuple[Solid, SurfaceContact]:
    """Blocks above each other, on the middle of the first one, and contact of all pairs."""
    meshes, low = {}, 0.0
    for k, (cells, width, height) in enumerate(blocks):
        corners = [[0.5 - 0.5 * width] * 2 + [low], [0.5 + 0.5 * width] * 2 + [low + height]]
        meshes[f"part {k}"] = dmesh.create_box(MPI.COMM_WORLD, corners, cells, HEXAHEDRON)
        low += height + gap
    body = Solid(join(meshes), density=1.0, law=LinearElastic(1.0, 0.3))
    return body, SurfaceContact(body, *(f"{name}/boundary" for name in meshes), friction=friction)


def _points(s: CentralDifferences) -> int:
    """Points with impulses in the last step. Collective."""
    return int(parallel.total(s.system.comm, np.count_nonzero(s.r)))


def _touch(s: CentralDifferences) -> None:
    while not _points(s):
        s.step()


def closed(s: CentralDifferences, row: str) -> Number:
    """How many points have impulses, in the row of an action. Collective."""
    return Number("", _points(s), f"{_points(s)} points closed", row)


def _timed(owner: Any, name: str) -> list[float]:
    """Seconds of all calls of a method of an object from here on."""
    method, spent = getattr(owner, name), []

    def timed(*args: Any, **options: Any) -> Any:
        begun = time.perf_counter()
        try:
            return method(*args, **options)
        finally:
            spent.append(time.perf_counter() - begun)

    setattr(owner, name, timed)
    return spent
