"""Cost of contact between deformable bodies: search, rows and solution as parts of a step."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from dolfinx import mesh as dmesh
from mpi4py import MPI
from numpy.typing import NDArray

from ... import parallel
from ...contact.surfaces import SurfaceContact
from ...integrators import CDLagrange
from ...materials import LinearElastic
from ...mesh import join
from ...systems.solid import Solid
from .timing import interleave, ratio, say, spread

#: Cells across the lower block, for 1e4 facets on the faces and 1e6 dofs.
LARGE = 70
#: Speed of the impact over the speed of waves.
_SPEED = 1e-2
_ROUNDS, _STEPS = 5, 8


def measure(cells: int = LARGE) -> dict[str, float]:
    """Print and return parts of a step; ``cells`` across the larger face. Collective."""
    found: dict[str, float] = {}
    for friction in (0.0, 0.3):
        found |= _parts(cells, friction)
    return found


def _parts(cells: int, friction: float) -> dict[str, float]:
    body = _blocks(cells)
    contact = SurfaceContact(body, "upper/boundary", "lower/boundary", friction=friction)
    step, v = 0.5 * body.critical_time_step(), body.rigid_velocity((0.0, 0.0, -_SPEED), cells="upper")
    free, hit = CDLagrange(body, step), CDLagrange(body, step, contact)
    free.start(0.0, v)
    hit.start(0.0, v)
    while not parallel.total(body.comm, np.count_nonzero(hit.r)):
        hit.step()
    spent = {"rows": 0.0, "solution": 0.0}
    _timed(contact, "active_set", spent, "rows")
    _timed(hit._response, "solve", spent, "solution")
    seconds = interleave({"free": free.step, "hit": hit.step}, _ROUNDS, _STEPS, body.comm)
    base, steps = float(np.median(seconds["free"])), _ROUNDS * _STEPS + 1
    dofs, closed = body.dof_count, int(parallel.total(body.comm, np.count_nonzero(hit.r)))
    facets = int(np.count_nonzero(contact.facets.surface >= 0))
    say(
        body,
        f"  {dofs} dofs, {facets} facets, {closed} points closed, friction {friction:g}, parts of a step:",
    )
    found = {"search": _search(contact, hit.u, step) / base}
    found |= {name: value / steps / base for name, value in spent.items()}
    for name, value in found.items():
        say(body, f"    {name:<10} {value:7.1%}")
    whole = ratio(seconds["hit"], seconds["free"])
    spreads = spread(seconds["hit"] / seconds["free"])
    say(body, f"    whole step {whole:7.2f}  ({spreads}; {1e3 * base:.1f} ms without)")
    found["step"] = whole
    return {f"surfaces, {name}, friction {friction:g}": value for name, value in found.items()}


def _search(contact: SurfaceContact, u: NDArray, step: float) -> float:
    """Seconds of a search over the number of steps from one to the next at the speed of the impact."""
    begun = time.perf_counter()
    for _ in range(_ROUNDS):
        contact.assembly.search(u)
    return (time.perf_counter() - begun) / _ROUNDS * _SPEED * step / contact.assembly.path_between_searches


def _blocks(cells: int) -> Solid:
    """Two blocks of hexahedra with meshes that do not match, one above the other."""
    comm, finer = MPI.COMM_WORLD, cells * 13 // 14
    make, kind = dmesh.create_box, dmesh.CellType.hexahedron
    lower = make(comm, [[0.0, 0.0, -0.5], [1.0, 1.0, 0.0]], [cells, cells, cells // 2], kind)
    upper = make(comm, [[0.0, 0.0, 1e-5], [1.0, 1.0, 0.5]], [finer, finer, finer // 2], kind)
    body = Solid(join({"upper": upper, "lower": lower}), density=1.0, law=LinearElastic(1.0, 0.3))
    # Below the critical one; finding that takes longer than all else.
    body.__dict__["_critical"] = 0.5 / cells
    return body


def _timed(owner: Any, name: str, spent: dict[str, float], key: str) -> None:
    """Replace a method of an object by one that adds its seconds to ``spent[key]``."""
    method: Callable[..., Any] = getattr(owner, name)

    def timed(*args: Any, **options: Any) -> Any:
        begun = time.perf_counter()
        try:
            return method(*args, **options)
        finally:
            spent[key] += time.perf_counter() - begun

    setattr(owner, name, timed)
