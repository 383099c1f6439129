"""Cost of contact of everything with everything: where nothing is near, and in a pile of small bodies."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from dolfinx import mesh as dmesh
from mpi4py import MPI
from numpy.typing import NDArray

from ... import LinearElastic, Solid, SurfaceContact
from ...integrators import CentralDifferences
from ...mesh import join
from .measurement import Action, Number, Seconds, Turns, seconds_per_call
from .solids import HEXAHEDRON, started, with_step
from .surfaces import CELLS, YARDSTICK, blocks_of_one_width, stack

NAMED, ALL = "named pair", "all surfaces"
PILE, MORTAR, SWEPT = "pile without contact", "pile, no tests of paths", "pile"
_SPEED, _STEPS = 1e-2, 8  #: Of parts over that of waves; of a round.
_CUBE = 4  #: Cells across a cube, whose edge is 1.
_APART, _CLEAR, _GAP = 1.2, 0.1, 1e-3  #: Distances of axes, of cubes above each other, of those that touch.


def bodies(
    _: Sequence[int], cells: int = CELLS, stacks: tuple[int, int] = (5, 4), layers: int = 5
) -> Iterator[Turns]:
    """Two large blocks far from each other, stacks of cubes whose lowest two touch. Collective."""
    body, named = stack(blocks_of_one_width(cells), 0.3, 0.0)
    contacts = {YARDSTICK: None, NAMED: named, ALL: SurfaceContact(body)}
    step = 0.25 / cells
    with_step(body, 2 * step)
    v = body.rigid_velocity((0.0, 0.0, -_SPEED), cells="part 1")
    runs = {row: started(body, step, each, 0.0, v) for row, each in contacts.items()}
    yield _far(body, runs)
    yield _pile(runs[YARDSTICK], body.dof_count, stacks, layers)


def _far(body: Solid, runs: Mapping[str, CentralDifferences]) -> Turns:
    """Steps without contact, with that of a named pair and with that of all surfaces."""

    def numbers(seconds: Seconds) -> Iterator[Number]:
        ratio = _middle(seconds[ALL], seconds[NAMED])
        yield Number(
            "nothing near, over the named pair", ratio, f"{ratio:.2f} of a step with the named pair", ALL
        )

    actions = {row: Action(s.step, _STEPS) for row, s in runs.items()}
    return Turns(f"Two blocks far from each other, {body.dof_count} dofs:", actions, numbers)


def _pile(free: CentralDifferences, dofs: int, stacks: tuple[int, int], layers: int) -> Turns:
    """Steps of a pile whose cubes touch each other in pairs, with and without tests of paths."""
    body = Solid(join(_cubes(stacks, layers)), density=1.0, law=LinearElastic(1.0, 0.3))
    contacts = {MORTAR: SurfaceContact(body, swept=False), SWEPT: SurfaceContact(body)}
    v = np.zeros((body.size // 3, 3))
    v[:, 2] = -_SPEED * np.floor(body.x[: len(v), 2] / (1.0 + 0.5 * _GAP))
    step = 0.3 * body.critical_time_step()
    runs = {row: started(body, step, each, 0.0, v.ravel()) for row, each in {PILE: None, **contacts}.items()}
    near = contacts[SWEPT].assembly
    facets = int(np.count_nonzero(near.all_facets().surface >= 0))

    def numbers(seconds: Seconds) -> Iterator[Number]:
        for row, name in {MORTAR: "pile without tests of paths", SWEPT: "pile"}.items():
            part = _middle(seconds[row] - seconds[PILE], seconds[YARDSTICK])
            words = f"contact takes {part:.1%} of a free step of {dofs} dofs"
            yield Number(f"{name}, contact over a large free step", part, words, row)
        search = seconds_per_call(lambda: near.search(runs[SWEPT].u), _STEPS, time.process_time)
        yield Number("pile, search, ms", 1e3 * search, f"a search takes {1e3 * search:.3g} ms")

    head = f"{stacks[0] * stacks[1] * layers} cubes, {body.dof_count} dofs, {facets} facets:"
    actions = {YARDSTICK: Action(free.step, _STEPS)} | {
        row: Action(s.step, _STEPS) for row, s in runs.items()
    }
    return Turns(head, actions, numbers)


def _cubes(stacks: tuple[int, int], layers: int) -> dict[str, Any]:
    """Meshes of the cubes of stacks; each other layer is a little aside, so that edges cross."""
    heights = np.cumsum([0.0, 1.0 + _GAP] + [1.0 + _CLEAR] * (layers - 2))
    made = {}
    for i, j, k in np.ndindex(*stacks, layers):
        low = np.array([_APART * i + 0.5 * _CLEAR * (k % 2), _APART * j, heights[k]])
        made[f"cube {i} {j} {k}"] = dmesh.create_box(
            MPI.COMM_WORLD, [low, low + 1.0], [_CUBE] * 3, HEXAHEDRON
        )
    return made


def _middle(seconds: NDArray, base: NDArray) -> float:
    return float(np.median(seconds) / np.median(base))
