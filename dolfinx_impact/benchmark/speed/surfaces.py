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
_SMALL = [(2, 2, 2), (3, 3, 2), (2, 2, 2), (3, 3, 2)]  #: Cells of the small blocks.


def bodies(_: Sequence[int], cells: int = CELLS) -> Iterator[Turns]:
    """Two large blocks without and with friction, and stacks of four small ones. Collective."""
    for friction in (0.0, 0.3):
        yield _large(cells, friction)
    yield _small()


def _large(cells: int, friction: float) -> Turns:
    finer, step = cells * 13 // 14, 0.25 / cells
    body, contact = _stack([(cells, cells, cells // 2), (finer, finer, finer // 2)], 1e-5, friction)
    with_step(body, 2 * step)
    v = body.rigid_velocity((0.0, 0.0, -_SPEED), cells="part 1")
    free, hit = (started(body, step, each, 0.0, v) for each in (None, contact))
    _touch(hit)
    spent = {"rows": _timed(contact, "_active_set"), "solution": _timed(hit._response, "solve")}
    told, begun = "surfaces, {}, friction " + f"{friction:g}", hit.n

    def numbers(seconds: Seconds) -> Iterator[Number]:
        base, path = np.median(seconds[YARDSTICK]), contact.assembly.path_between_searches
        search = seconds_per_call(lambda: contact.assembly.search(hit.u), _SEARCHES)
        parts = {"search": search * _SPEED * step / path}
        parts |= {name: sum(each) / (hit.n - begun) for name, each in spent.items()}
        yield _closed(hit, "step")
        for name, each in parts.items():
            words = f"{name} takes {each / base:.1%} of a step without contact"
            yield Number(told.format(name), each / base, words)

    facets = int(np.count_nonzero(contact.facets.surface >= 0))
    actions = {YARDSTICK: free.step, "step": hit.step}
    names = {"step": told.format("step")}
    timed = {row: Action(call, _STEPS, name=names.get(row, "")) for row, call in actions.items()}
    return Turns(f"{body.dof_count} dofs, {facets} facets, friction {friction:g}:", timed, numbers)


def _small() -> Turns:
    """Stacks that are pressed, and whose blocks are far from each other; all pairs may touch."""
    runs, h = {}, 0.01
    for row, gap in {"small surfaces": 1e-5, "small surfaces, nothing near": 10.0}.items():
        body, contact = _stack(_SMALL, gap, 0.3)
        with_step(body, 2 * h)
        runs[row] = started(body, h, contact, 0.0, lambda x: -_SPEED * x * [[0.0], [0.0], [1.0]])
    pressed = runs["small surfaces"]
    free = started(pressed.system, h, None, pressed.u, pressed.v)
    _touch(pressed)

    def numbers(seconds: Seconds) -> Iterator[Number]:
        yield _closed(pressed, "small surfaces")
        for row in runs:
            yield Number(row, 1e6 * np.median(seconds[row]), "")

    head = f"{len(_SMALL)} blocks, {body.dof_count} dofs, each a surface for each other, friction 0.3:"
    actions = {row: Action(s.step, _STEPS) for row, s in {YARDSTICK: free, **runs}.items()}
    return Turns(head, actions, numbers)


def _stack(
    sizes: Sequence[tuple[int, int, int]], gap: float, friction: float
) -> tuple[Solid, SurfaceContact]:
    """Blocks of so many cells, one above the other, 1 m wide and 1/2 m high, and contact of all pairs."""
    meshes = {}
    for k, cells in enumerate(sizes):
        low = k * (0.5 + gap)
        corners = [[0.0, 0.0, low], [1.0, 1.0, low + 0.5]]
        meshes[f"part {k}"] = dmesh.create_box(MPI.COMM_WORLD, corners, cells, HEXAHEDRON)
    body = Solid(join(meshes), density=1.0, law=LinearElastic(1.0, 0.3))
    return body, SurfaceContact(body, *(f"{name}/boundary" for name in meshes), friction=friction)


def _points(s: CentralDifferences) -> int:
    """Points with impulses in the last step. Collective."""
    return int(parallel.total(s.system.comm, np.count_nonzero(s.r)))


def _touch(s: CentralDifferences) -> None:
    while not _points(s):
        s.step()


def _closed(s: CentralDifferences, row: str) -> Number:
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
