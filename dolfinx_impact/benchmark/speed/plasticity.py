"""Cost of a step of a metal against one of a neo-Hookean body, on elements of degree 1."""

from __future__ import annotations

import numpy as np
from dolfinx import mesh as dmesh
from numpy.typing import NDArray

from ...integrators import CentralDifferences
from ...materials import J2Plasticity, LinearHardening, NeoHookean
from ...systems.solid import Solid
from .elements import ROUNDS, Kind, body_of
from .timing import calls_of, interleave, ratio, say, spread, started

DOFS = 300_000
_SECONDS = 0.4  #: About how long a round of an action takes.
#: The step [s], so small that the prescribed rates hardly change, and the strain in it where all points flow.
_STEP, _STRAIN = 1e-9, 1e-5
_YIELD = 1e-3  #: Yield stress over Young's modulus.
_METAL = J2Plasticity(1.0, 0.35, hardening=LinearHardening(_YIELD, _YIELD))
CELLS = {"P1 tetrahedra": dmesh.CellType.tetrahedron, "Q1 hexahedra": dmesh.CellType.hexahedron}


def measure() -> dict[str, float]:
    """Print and return ratios of steps by element. Collective."""
    found: dict[str, float] = {}
    for name, cell in CELLS.items():
        rubber, metal = (body_of(Kind(law, cell, 1), "cube", DOFS) for law in (NeoHookean(1.0, 0.35), _METAL))
        runs = {"neo-Hookean": _started(rubber, 0.0), "elastic": _started(metal, 0.0)}
        flowing = body_of(Kind(_METAL, cell, 1), "cube", DOFS)
        runs["flowing"] = _started(flowing, _STRAIN / _STEP)
        while runs["flowing"].t * _STRAIN / _STEP < 3 * _YIELD:
            runs["flowing"].step()
        calls = {each: calls_of(run.step, rubber.comm, _SECONDS) for each, run in runs.items()}
        seconds = interleave({each: run.step for each, run in runs.items()}, ROUNDS, calls, rubber.comm)
        base = seconds["neo-Hookean"]
        say(rubber, f"  {name}, {rubber.dof_count} dofs, {_per_dof(rubber, base)} for neo-Hookean:")
        for state, words in (("elastic", "no point flows"), ("flowing", "all points flow")):
            found[f"{name}, {state}"] = ratio(seconds[state], base)
            more = f"{found[f'{name}, {state}']:.2f} of it ({spread(seconds[state] / base)})"
            say(rubber, f"    where {words} {_per_dof(rubber, seconds[state])}, {more}")
    return found


def _started(body: Solid, rate: float) -> CentralDifferences:
    """A run that stretches the body at a rate [1/s], its volume kept."""
    body.__dict__["_critical"] = 1.0  # finding it takes longer than all else
    factors = np.array([1.0, -0.5, -0.5])[:, None]
    return started(body, _STEP, None, 0.0, lambda x: rate * factors * (x - 0.5))


def _per_dof(body: Solid, seconds: NDArray) -> str:
    return f"{np.median(seconds) / body.dof_count * 1e9:.0f} ns a dof"
