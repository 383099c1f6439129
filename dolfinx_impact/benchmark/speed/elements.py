"""Cost of a step on every kind of element, against the best of DOLFINx and PETSc, in cube and bar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from dolfinx import mesh as dmesh
from mpi4py import MPI

from ... import parallel
from ...integrators import Integrator
from ...integrators.energy import EnergyBalance
from ...materials import LinearElastic, NeoHookean
from ...systems.solid import Solid
from ..boxes import box
from . import machine, yardsticks
from .timing import calls_of, interleave, ratio, say, spread, started

ROUNDS = 7
_SECONDS = 0.4  #: About how long a round of an action takes.
#: Edges of the bodies, in cells of equal edges.
SHAPES = {"cube": (1, 1, 1), "slender bar": (10, 1, 1)}
_TETRAHEDRON, _HEXAHEDRON = dmesh.CellType.tetrahedron, dmesh.CellType.hexahedron


class Kind(NamedTuple):
    """A law and an element."""

    law: Any
    cell: dmesh.CellType
    degree: int


_LINEAR, _RUBBER = LinearElastic(1.0, 0.3), NeoHookean(1.0, 0.3)
KINDS = {
    "linear P1 tetrahedra": Kind(_LINEAR, _TETRAHEDRON, 1),
    "linear Q1 hexahedra": Kind(_LINEAR, _HEXAHEDRON, 1),
    "linear Q2 GLL hexahedra": Kind(_LINEAR, _HEXAHEDRON, 2),
    "linear Q3 GLL hexahedra": Kind(_LINEAR, _HEXAHEDRON, 3),
    "neo-Hookean P1 tetrahedra": Kind(_RUBBER, _TETRAHEDRON, 1),
    "neo-Hookean P2 tetrahedra": Kind(_RUBBER, _TETRAHEDRON, 2),
    "neo-Hookean Q1 hexahedra": Kind(_RUBBER, _HEXAHEDRON, 1),
    "neo-Hookean Q2 GLL hexahedra": Kind(_RUBBER, _HEXAHEDRON, 2),
    "neo-Hookean Q3 GLL hexahedra": Kind(_RUBBER, _HEXAHEDRON, 3),
}


def measure(
    sizes: Sequence[int], kinds: Sequence[str] = tuple(KINDS), shapes: Sequence[str] = tuple(SHAPES)
) -> dict[str, float]:
    """Print and return ratios by kind, number of dofs and shape. Collective."""
    comm = MPI.COMM_WORLD
    bandwidth, flops = machine.rates(comm)
    rates = f"{bandwidth / 1e9:.1f} GB/s in a triad out of cache, {flops / 1e9:.0f} Gflop/s"
    if comm.rank == 0:
        print(f"{comm.size} ranks together: {rates}", flush=True)
        print(f"step() of CD-Lagrange without contact, medians of {ROUNDS} rounds by turns:", flush=True)
    found: dict[str, float] = {}
    for size in sizes:
        for shape in shapes:
            for name in kinds:
                found |= _ratios(name, shape, size, (bandwidth, flops))
    return found


def body_of(kind: Kind, shape: str, size: int, comm: MPI.Comm = MPI.COMM_WORLD) -> Solid:
    """A body of about ``size`` dofs. Collective."""
    edges = np.array(SHAPES[shape])
    side = (size / 3 / edges.prod()) ** (1 / 3) / kind.degree
    cells = np.maximum(1, np.round(side * edges - 1 / kind.degree)).astype(int)
    mesh = box([np.zeros(3), cells / cells[1]], cells.tolist(), kind.cell, comm=comm)
    return Solid(mesh, density=1.0, law=kind.law, degree=kind.degree)


def _ratios(name: str, shape: str, size: int, rates: tuple[float, float]) -> dict[str, float]:
    kind = KINDS[name]
    body = body_of(kind, shape, size)
    wave = yardsticks.random_wave(body)
    body.__dict__["_critical"] = 1.0  # finding it takes longer than all else
    runs = [started(body, 1e-9, None, wave, 0.0) for _ in range(2)]
    balance = runs[1].balance()
    balance.start()
    yardstick, what = yardsticks.linear_step(body) if body.linear else yardsticks.residual(body, wave)
    actions = {
        "yardstick": yardstick,
        "step": runs[0].step,
        "energies": lambda: _followed(runs[1], balance),
        "force": lambda: body.subtract_internal(runs[0].u, runs[0].f),
    }
    calls = {each: calls_of(action, body.comm, _SECONDS) for each, action in actions.items()}
    seconds = interleave(actions, ROUNDS, calls, body.comm)
    dofs, base, step = int(parallel.total(body.comm, body.owned)), seconds["yardstick"], seconds["step"]
    found, more = ratio(step, base), ratio(seconds["energies"], step) - 1
    parts = [f"{np.median(each) / dofs * 1e9:.1f}" for each in (step, seconds["force"], base)]
    say(body, f"  {name}, {shape}, {dofs} dofs: {found:.3f} of {what} ({spread(step / base)})")
    say(body, f"    ns a dof: step {parts[0]}, force {parts[1]}, yardstick {parts[2]}; energies {more:+.0%}")
    say(body, f"    the force {_use(body, float(np.median(seconds['force'])), rates)}")
    key = f"{name}, {shape}, {size}"
    return {key: found, f"{key}, energies": more}


def _followed(s: Integrator, balance: EnergyBalance) -> None:
    s.step()
    balance.step()


def _use(body: Solid, seconds: float, rates: tuple[float, float]) -> str:
    """Bytes moved and flops computed by a force, as parts of what the machine gives."""
    totals = [parallel.total(body.comm, each) for each in _cost(body)]
    dofs = parallel.total(body.comm, body.owned)
    moved, computed = (total / seconds / rate for total, rate in zip(totals, rates))
    return (
        f"moves {totals[0] / dofs:.0f} bytes ({moved:.0%} of the bandwidth) and computes "
        f"{totals[1] / dofs:.0f} flops a dof ({computed:.0%})"
    )


def _cost(body: Solid) -> tuple[int, int]:
    """Bytes that a force reads and writes on this rank, and its arithmetic operations."""
    dofs = 3 * 8 * body.owned
    if body.elements is not None:
        return dofs + body.elements.nbytes, body.elements.flops
    pairs = body.stiffness.pairs
    if pairs is None:
        raise RuntimeError("sums over pairs of nodes need numba: install it")
    return dofs + sum(
        each.nbytes for each in pairs
    ), 3 * pairs.blocks.size + 3 * body.block * pairs.column.size
