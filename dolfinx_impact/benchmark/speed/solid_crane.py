"""Gain of HATI on the crane as a solid, rails and wheels of thin layers: CPU time and difference.

The trolley, at rest on its rails, is thrown up and comes down again within the run.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...integrators import SCHEMES
from ...simulation.loop import simulate
from ..case import Values, defaults
from ..cases.solid_crane import case, model

THROWN = 0.1  #: Speed of the trolley at the start [m/s].
T_END = 0.04
#: Layers of rails and wheels, and coarse steps [s], of which each is a whole number of fine ones.
LAYERS, COARSE = (2, 8), (5e-5, 1e-4, 2e-4, 4e-4)
_TIMES = 40  #: At so many times displacements are compared.


@dataclass
class _Run:
    """Displacements of the wheels at the times, (n, 8) [m], CPU times [s], energies over the largest."""

    u: NDArray
    setup: float
    seconds: float
    interface: float = 0.0


def measure(t_end: float = T_END, changes: Values | None = None) -> dict[str, float]:
    """Print and return speed-ups against the explicit run of the same mesh and step, by layers.

    Args:
        t_end: End of all runs [s].
        changes: Parameters of the case other than its defaults.
    """
    found: dict[str, float] = {}
    print(f"solid-crane, {t_end:g} s with an impact, friction, energies followed: CPU time of whole runs")
    for layers in LAYERS:
        p: Any = {**defaults(case.PARAMETERS), "touching": True, "layers": layers, **(changes or {})}
        found |= _group(case.SolidCrane(p), p, f"{layers} layers", t_end)
    return found


def _group(crane: case.SolidCrane, p: Values, name: str, t_end: float) -> dict[str, float]:
    whole, parts = crane.bodies(divided=False)[0], crane.bodies(divided=True)
    h = 0.9 * min(whole.critical_time_step(), parts[0].critical_time_step())
    true = _run(crane, (whole,), p, h, 1, t_end)
    each = 1e6 * true.seconds * h / t_end
    print(
        f"\n{name}: {whole.dof_count} dofs, {parts[0].dof_count} of them explicit\n"
        f"  explicit throughout: {true.seconds:.1f} s, {each:.0f} us a step of {h:.3g} s",
        flush=True,
    )
    found = {f"dofs, {name}": float(whole.dof_count), f"explicit, us a step, {name}": each}
    for step in COARSE:
        m = max(1, round(step / h))
        ours = _run(crane, parts, p, h, m, t_end)
        gain, with_setup = true.seconds / ours.seconds, true.seconds / (ours.seconds + ours.setup)
        apart = float(np.abs(ours.u - true.u).max() / np.abs(true.u - true.u[0]).max())
        found |= {f"faster, m = {m}, {name}": gain, f"faster with set-up, m = {m}, {name}": with_setup}
        found |= {f"difference, m = {m}, {name}": apart, f"interface, m = {m}, {name}": ours.interface}
        print(
            f"  HATI, m = {m:>4}: {ours.seconds:5.1f} s, set-up {ours.setup:.1f} s, {gain:.1f} times faster "
            f"({with_setup:.1f} with set-up), {apart:.2%} from the explicit run, interface energy "
            f"{ours.interface:.1e} of the largest kinetic",
            flush=True,
        )
    return found


def _run(crane: case.SolidCrane, parts: Any, p: Values, h: float, m: int, t_end: float) -> _Run:
    scheme, options = ("hati", {"ratio": m}) if len(parts) > 1 else ("cd-lagrange", {})
    contact, rows = crane.wheels(parts[0]), model.wheel_rows(parts[0], p)
    begun = time.process_time()
    s = SCHEMES[scheme].make(*parts, h, contact, **options)
    setup = time.process_time() - begun
    lowest = model.HEIGHTS["girders"] / 2 + model.RAIL + model.CLEARANCE / 2
    s.start(crane.start, lambda x: np.outer([0.0, 0.0, THROWN], x[2] > lowest))
    every = max(1, round(t_end / _TIMES / (h * m) / 4))
    simulate(s, t_end=s.dt, record=rows, progress=False)  # compiles
    begun = time.process_time()
    result = simulate(s, t_end=t_end, record=rows, every=every, progress=False)
    seconds = time.process_time() - begun
    times = np.linspace(0.0, t_end, _TIMES + 1)[1:-1]
    u = np.column_stack([np.interp(times, result["t"], column) for column in result["u"].T])
    interface = abs(float(result["interface"][-1])) / float(result["kinetic"].max())
    return _Run(u, setup, seconds, interface)
