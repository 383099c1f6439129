"""Cost of a step of the bar as a solid, against the best PETSc product and a fused update."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from ... import parallel
from ...algebra import kernels
from ...algebra.operators import SparseRows
from ...integrators import Integrator
from ...integrators.step_buffer import Steps
from ...simulation.recorder import Recorder
from ..case import Values, defaults
from ..cases.impacting_bar.case import PARAMETERS, Bar
from .timing import interleave, ratio, say, spread, started
from .yardsticks import best_product

ROUNDS = 7
STEPS = 200


def measure(size: int) -> dict[str, float]:
    """Print and return ratios for a bar of about ``size`` dofs, which touches the wall. Collective."""
    begun, p = time.perf_counter(), values(size)
    setup = Bar().build(p)
    bar, wall, critical = setup.system, setup.contact, setup.body.critical_time_step()
    # It touches the wall from the start: contact is measured while it acts.
    state = np.zeros((2, bar.size))
    state[:, ::3] = [[-p["gap"]], [-p["v0"]]]
    plain, full, free = (started(bar, 0.7 * critical, contact, *state) for contact in (wall, wall, None))
    dofs, seconds = int(parallel.total(bar.comm, bar.owned)), time.perf_counter() - begun
    head = f"3D bar, {dofs} dofs, {wall.total} contact points, {bar.comm.size} ranks: set-up {seconds:.1f} s"
    say(bar, f"{head}, {ROUNDS} rounds of {STEPS} steps")
    matrix, name, product = best_product(bar)
    x, y = matrix.createVecs()
    arrays, loops = [np.zeros(bar.owned) for _ in range(4)], kernels.load()
    actions = {
        # The product, and v += w f; u += h v in one compiled loop where numba is installed.
        "yardstick": lambda: (matrix.mult(x, y), loops.fused_update(*arrays, 1e-9)),
        "step": plain.step,
        "step without contact": free.step,
        "step, energies and recorder": _recorded_step(full, wall.approach()),
    }
    found = interleave(actions, ROUNDS, STEPS, bar.comm)
    base = found["yardstick"]
    each = f"{np.median(base) / dofs * 1e9:.2f} ns per dof (product alone {product / dofs * 1e9:.2f})"
    say(bar, f"  yardstick: {name} product and fused update, {each}")
    ratios = {}
    for what in ("step", "step, energies and recorder"):
        ratios[what] = ratio(found[what], base)
        say(bar, f"  {what + ' / yardstick':<44} {ratios[what]:5.2f}  ({spread(found[what] / base)})")
    ratios["contact"] = ratio(found["step"] - found["step without contact"], found["step"])
    say(bar, f"  {'contact, part of the step':<44} {ratios['contact']:5.3f}")
    return ratios


def values(size: int) -> Values:
    """A bar of about ``size`` dofs whose cells are the default ones, refined evenly."""
    lateral = max(1, round((size / 30) ** (1 / 3)) - 1)
    elements = max(2, round(size / 3 / (lateral + 1) ** 2) - 1)
    return {**defaults(PARAMETERS), "dimension": 3, "elements": elements, "lateral": lateral}


def _recorded_step(integrator: Integrator, rows: SparseRows) -> Callable[[], None]:
    """A step with the energy balance and the recorder of a run, each step sampled."""
    balance = integrator.balance()
    balance.start()
    recorder = Recorder(integrator, ROUNDS * STEPS + STEPS, 1, rows, balance)
    part = Steps(integrator, rows, balance)
    part.append()

    def step() -> None:
        integrator.step()
        balance.step()
        part.append()
        if part.count == part.capacity:
            recorder.follow(part)
            part.count = 0

    return step
