"""What a step costs, as ratios of medians of interleaved rounds against the best alternative.

For an explicit step of a solid: the product in the best PETSc format plus a fused vector update.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from mpi4py import MPI

from ... import parallel
from ...algebra import kernels
from ...algebra.operators import SparseRows
from ...integrators import Integrator
from ...integrators.step_buffer import Steps
from ...simulation.recorder import Recorder
from ..case import Values, defaults
from ..cases.impacting_bar.case import IMPACTING_BAR, PARAMETERS
from . import crane, divided, elements, plasticity, scaling, small, solid_crane, solids, surfaces
from .timing import interleave, ratio, say, spread, started
from .yardsticks import best_product

ROUNDS = 7
STEPS = 200


def measure(case: str | None, sizes: list[int]) -> dict[str, dict[str, float]]:
    """Print and return the ratios of the explicit step. Collective.

    Args:
        case: A case of :data:`_PLANS`, or ``scaling``, which starts ``mpirun`` itself; by default all small
            systems (on one rank), and the bar as a solid.
        sizes: Numbers of dofs of the solid bar, and of the bodies of ``scaling``.

    Raises:
        ValueError: A case without a speed measurement, or sizes that are no sizes.
        RuntimeError: Without ``mpirun``, or when one of the jobs of ``scaling`` fails.
    """
    known, ranks = (*_PLANS, "elements", "scaling"), MPI.COMM_WORLD.size
    if case is not None and case not in known:
        raise ValueError(f"speed is measured for: {', '.join(known)}; not for {case!r}")
    if min(sizes) < 1000:
        raise ValueError(f"the numbers of dofs must be at least 1000, not {min(sizes)}")
    if case == "scaling":
        scaling.check()
    elif case not in (None, "impacting-bar", "elements", *_PARALLEL) and ranks > 1:
        raise ValueError(f"{case} is measured on one rank, not on {ranks}")
    if MPI.COMM_WORLD.rank == 0:
        print(plan(case, sizes), flush=True)
    if case == "scaling":
        return scaling.measure(sizes)
    if case == "bridge-crane":
        return {case: crane.measure()}
    if case == "hati-solid":
        return {case: divided.measure()}
    if case == "solid-crane":
        return {case: solid_crane.measure()}
    if case == "elements":
        return {case: elements.measure(sizes)}
    if case in _PARALLEL:
        return {case: _PARALLEL[case]()}
    names = () if ranks > 1 else (case,) if case else small.CASES
    found = {name: small.measure(name) for name in names}
    if case in (None, "impacting-bar"):
        found |= {str(size): _bar_ratios(size) for size in sizes}
    return found


#: Measurements of bodies on any number of ranks.
_PARALLEL: dict[str, Callable[[], dict[str, float]]] = {
    "solids": solids.measure,
    "surfaces": surfaces.measure,
    "plasticity": plasticity.measure,
}
#: What is measured, and about how long that takes on a machine without other work [s].
_SMALL = ("a compiled step of a small system against one through petsc4py calls", 5.0)
_PLANS = {
    **dict.fromkeys(small.CASES, _SMALL),
    "bridge-crane": ("whole runs with HATI against the explicit run", 150.0),
    "hati-solid": ("whole runs of a beam on a fine pin with HATI against the explicit run", 240.0),
    "solid-crane": ("runs of the crane as a solid with HATI against the explicit run", 120.0),
    "solids": ("what obstacles cost as a part of a step of 1e6 dofs", 60.0),
    "surfaces": ("contact between two bodies of 1e6 dofs as a part of a step", 120.0),
    "plasticity": ("steps of metals on elements of degree 1 against neo-Hookean ones", 60.0),
}
#: The same for a dof of the solid bar and of a body of ``scaling``, all kinds together [s].
_BAR_PER_DOF, _SCALING_PER_DOF, _ELEMENTS_PER_DOF = 1.2e-4, 5e-4, 1.2e-3


def plan(case: str | None, sizes: list[int]) -> str:
    """What will be measured, and about how long it takes."""
    names = [name for name in _PLANS if name == case or (case is None and name in small.CASES)]
    parts = [(name, *_PLANS[name]) for name in names if MPI.COMM_WORLD.size == 1 or name in _PARALLEL]
    numbers = " and ".join(map(str, sizes))
    if case in (None, "impacting-bar"):
        what = f"a step with {numbers} dofs against a matrix product and an update"
        parts.append(("impacting-bar in 3D", what, _BAR_PER_DOF * sum(sizes)))
    if case == "elements":
        what = f"steps on every kind of element with {numbers} dofs against DOLFINx and PETSc"
        parts.append((case, what, _ELEMENTS_PER_DOF * sum(sizes)))
    if case == "scaling":
        what = f"bodies with {numbers} dofs on one rank and on two"
        parts.append(("scaling", what, _SCALING_PER_DOF * sum(sizes)))
    whole = _duration(sum(seconds for *_, seconds in parts))
    lines = [f"This takes {whole} without other work on the machine, which would disturb it:"]
    return "\n".join(lines + [f"  {name}: {what}, {_duration(seconds)}" for name, what, seconds in parts])


def _duration(seconds: float) -> str:
    return f"about {seconds / 60:.0f} min" if seconds >= 90 else f"about {max(5, 5 * round(seconds / 5))} s"


def _bar_ratios(size: int) -> dict[str, float]:
    begun, p = time.perf_counter(), _values(size)
    setup = IMPACTING_BAR.build(p)
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


def _values(size: int) -> Values:
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
