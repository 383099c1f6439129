"""Cost of contact of everything with everything: where nothing is near, and in a pile of small bodies."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
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
from .surfaces import CELLS, YARDSTICK, blocks_of_one_width, closed, stack

NAMED, ALL = "named pair", "all surfaces"
PILE, MORTAR, SWEPT = "pile without contact", "pile, no tests of paths", "pile"
_SPEED, _STEPS, _SEARCHES = 1e-2, 8, 8  #: Of parts over that of waves; of a round; that are timed.
_PILE_STEPS = 16  #: Of a round, all before cubes part again; they move half as far as between two searches.
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
    """Steps of a pile whose lowest cubes touch each other in pairs, with and without tests of paths."""
    body = Solid(join(_cubes(stacks, layers)), density=1.0, law=LinearElastic(1.0, 0.3))
    swept = SurfaceContact(body)
    contacts = {PILE: None, MORTAR: SurfaceContact(body, swept=False), SWEPT: swept}
    v = np.zeros(body.size)
    for k in range(layers):
        v += body.rigid_velocity((0.0, 0.0, -k * _SPEED), cells=_layer(stacks, k))
    step = 0.3 * body.critical_time_step()
    runs = {row: started(body, step, each, 0.0, v) for row, each in contacts.items()}
    near = swept.assembly
    facets = int(np.count_nonzero(near.all_facets().surface >= 0))

    def numbers(seconds: Seconds) -> Iterator[Number]:
        yield closed(runs[SWEPT], SWEPT)
        large = "over a large free step"
        pairs = {f"{MORTAR}, contact": (MORTAR, PILE), "pile, contact": (SWEPT, PILE)}
        pairs["pile, tests of paths"] = (SWEPT, MORTAR)
        for name, (row, without) in pairs.items():
            part = _middle(seconds[row], seconds[YARDSTICK]) - _middle(seconds[without], seconds[YARDSTICK])
            words = f"{name.rpartition(', ')[2]}: {part:.1%} of a free step of {dofs} dofs"
            yield Number(f"{name} {large}", part, words, row)
        search = seconds_per_call(lambda: near.search(runs[SWEPT].u), _SEARCHES, time.process_time)
        yield Number("pile, search, ms", 1e3 * search, f"a search takes {1e3 * search:.3g} ms")

    touching = 2 * _CUBE**2 * _pairs(stacks) / facets
    head = f"{np.prod(stacks) * layers} cubes, {body.dof_count} dofs, {facets} facets, {touching:.1%} touch:"
    actions = {YARDSTICK: Action(free.step, _STEPS)} | {
        row: Action(partial(_impact, s, v), 1, _PILE_STEPS, told=True) for row, s in runs.items()
    }
    return Turns(head, actions, numbers)


def _impact(s: CentralDifferences, v: NDArray) -> float:
    """Seconds of steps from the first contact on: cubes would part again in the rounds of one run."""
    s.start(0.0, v)
    while _SPEED * s.t <= _GAP:
        s.step()
    return _PILE_STEPS * seconds_per_call(s.step, _PILE_STEPS, time.process_time)


def _pairs(stacks: tuple[int, int]) -> int:
    """Of how many stacks the lowest two cubes touch: of three in four, 5 % of the facets of five layers."""
    return max(1, 3 * int(np.prod(stacks)) // 4)


def _layer(stacks: tuple[int, int], k: int) -> list[str]:
    """Names of the cubes of a layer."""
    return [f"cube {i} {j} {k}" for i, j in np.ndindex(*stacks)]


def _cubes(stacks: tuple[int, int], layers: int) -> dict[str, Any]:
    """Meshes of the cubes of stacks; each other layer is a little aside, so that edges cross."""
    made = {}
    for number, (i, j) in enumerate(np.ndindex(*stacks)):
        low = np.array([_APART * i, _APART * j, 0.0])
        for k, name in enumerate(_layer(stacks, layer)[number] for layer in range(layers)):
            aside = [0.5 * _CLEAR * (k % 2), 0.0, 0.0]
            corners = [low + aside, low + aside + 1.0]
            made[name] = dmesh.create_box(MPI.COMM_WORLD, corners, [_CUBE] * 3, HEXAHEDRON)
            low[2] += 1.0 + (_GAP if k == 0 and number < _pairs(stacks) else _CLEAR)
    return made


def _middle(seconds: NDArray, base: NDArray) -> float:
    return float(np.median(seconds) / np.median(base))
