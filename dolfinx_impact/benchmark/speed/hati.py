"""Gain of HATI: CPU time of whole runs against the explicit run of the same mesh and step.

The bridge crane is shaken as a frame; as a solid, its trolley, at rest on its rails, is thrown up and comes
down again, with friction. The beam of ``pin-drop`` is compared at equal error: against a mesh twice as fine
in every direction of the beam, explicit throughout, over its largest motion beside the free fall. The layers
of the tip are ten times as thick there, which in the motion of the beam is 2e-4.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...algebra import kernels
from ...integrators import find_scheme
from ...simulation.loop import simulate
from .. import runner
from ..case import Values, defaults
from ..cases import CASES
from ..cases.bridge_crane import model as frame
from ..cases.pin_drop.case import bent
from ..cases.solid_crane import model
from ..report.wording import faster
from .measurement import Action, Number, Seconds, Turns
from .small import filled

WHOLE = "explicit throughout"


class WholeRun:
    """A case with changed parameters, explicit throughout or by HATI with the ratio ``m``, started.

    Attributes:
        p, setup: Its parameters and what it built.
        integrator, factors: The scheme; CPU time of its factors and H [s].
        rows, every: What is recorded, and every how many steps.
        result: The history of the steps made last.
    """

    def __init__(self, name: str, changes: Values, m: int = 0, samples: int = 1000, setup: Any = 0) -> None:
        case, scheme = CASES[name], "hati" if m else "cd-lagrange"
        usual, chosen = defaults(runner.options_of(case, scheme)), find_scheme(scheme)
        self.p = p = case.settled({**usual, "ratio": max(1, m), **changes}, chosen)
        self.setup: Any = setup or case.build(p, chosen)
        p["h"] = case.time_step(p, chosen, self.setup)
        begun = time.process_time()
        self.integrator: Any = case.bind(chosen, self.setup, p, False)
        self.factors = time.process_time() - begun
        case.start(self.integrator, self.setup, p)
        self.every = max(1, round(p["t_end"] / samples / self.integrator.dt))
        self.rows = case.record(self.integrator, self.setup, p)

    def go_on(self, t_end: float | None = None) -> None:
        """Make the steps until ``t_end`` [s], by default all that are left."""
        how: Any = {"record": self.rows, "every": self.every, "progress": False}
        self.result = simulate(self.integrator, t_end=self.p["t_end"] if t_end is None else t_end, **how)

    def u(self, times: NDArray) -> NDArray:
        """The recorded displacements at the times, shape (n, k) [m]."""
        t, u = self.result["t"], self.result["u"]
        return np.column_stack([np.interp(times, t, column) for column in u.T])


Runs = dict[int, WholeRun]  #: By their ratio, 0 for the explicit one.


def runs(
    name: str, changes: Values, ratios: Callable[[float], Sequence[int]], samples: int, divide: Any = None
) -> Runs:
    """The explicit run and those of HATI, with ratios for the fine step that all have.

    ``divide`` makes what HATI takes of what the explicit run has; by default the case builds it.
    """
    whole = WholeRun(name, changes, 0, samples)
    pair = whole, WholeRun(name, changes, 1, samples, divide and divide(whole.setup))
    h = min(run.p["h"] for run in pair)
    same = {**changes, "h": h}
    return {m: WholeRun(name, same, m, samples, pair[m > 0].setup) for m in (0, *ratios(h))}


# -- the crane as a frame, whose runs are made in parts

PAPER_STEP, STEP = 1e-3 / 3500, 1e-5  #: The paper's explicit step, and the one that these elements allow [s].
#: Groups of runs: refinement, explicit step, and partitions with ratios beside the undivided, explicit crane.
GROUPS = (
    (1, PAPER_STEP, (("small", 350), ("paper", 100))),
    (2, PAPER_STEP, (("small", 350),)),
    (1, STEP, (("small", 10), ("small", 350), ("paper", 100))),
)
PARTS = 8  #: Of every run, in turn with the others.
_PRODUCTS, _STEPS = 2000, 10_000
_BARE, _OURS, _UPDATE = "step without energies", "our CSR product", "fused update"


def frames(_: Sequence[int], t_end: float = 1.0) -> Iterator[Turns]:
    """Groups of cranes that are shaken until ``t_end`` [s], energies followed."""
    for refine, dt, divided in GROUPS:
        yield _frames(refine, dt, divided, t_end)
    critical = frame.crane_frame(frame.crane_mesh()).critical_time_step()
    yield Turns(
        f"The paper's step {PAPER_STEP:.3g} s is not needed with these elements: the crane's critical step "
        f"is {critical:.3g} s, so that {STEP:g} s is enough."
    )


def _frames(refine: int, dt: float, divided: Sequence[tuple[str, int]], t_end: float) -> Turns:
    crane, group = {"refine": refine, "h": dt, "t_end": t_end}, f"refine {refine} h {dt:.3g}"
    whole, bare = (WholeRun("bridge-crane", crane) for _ in range(2))
    actions = {WHOLE: _part(whole)}
    for partition, m in divided:
        run = WholeRun("bridge-crane", {**crane, "partition": partition}, m)
        actions[f"HATI, partition {partition}, m = {m}"] = _part(run, f"{partition} {m} {group}")
    none = bare.rows.select(np.zeros(0, dtype=np.intp))
    actions[_BARE] = Action(filled(bare.integrator, none, False, _STEPS), 1, _STEPS)
    actions |= _products(whole.integrator.system, dt)

    def numbers(seconds: Seconds) -> Iterator[Number]:
        least = sum(np.median(seconds[row]) for row in (_OURS, _UPDATE))
        ratio, plain = np.mean(seconds[WHOLE]) / least, np.median(seconds[_BARE]) / least
        words = (
            f"an explicit step with contact is {plain:.2f} times the CSR product that all runs use plus a "
            f"fused update, with energies and records {ratio:.2f} times"
        )
        yield Number(f"step over product and update, {group}", plain, words)
        yield Number(f"with energies, {group}", ratio, "")

    dofs = np.sum(~whole.integrator.system.constrained)
    head = f"refine {refine} ({dofs} free dofs), explicit step {dt:.4g} s, {t_end:g} s in {PARTS} parts:"
    return Turns(head, actions, numbers)


def _part(run: WholeRun, name: str = "") -> Action:
    """A part of a run, by its fine steps."""
    s = run.integrator
    steps = max(PARTS, round(run.p["t_end"] / s.dt)) // PARTS
    return Action(filled(s, run.rows, True, steps, run.every), 1, steps * s.substeps, name)


def _products(body: Any, dt: float) -> dict[str, Action]:
    """The least that an explicit step could cost: K u by all sparse formats at hand, and one fused update.

    Our own product is what both kinds of runs use.
    """
    from petsc4py import PETSc

    K, loops, rows = body.stiffness.scipy(), kernels.load(), body.stiffness.csr
    x, u, v, f, out = (np.full(body.size, 1e-9) for _ in range(5))
    petsc = PETSc.Mat().createAIJ(K.shape, csr=(K.indptr, K.indices, K.data))
    a, b = petsc.createVecs()
    a.array[:], kick = x, dt * body.inverse_mass
    calls: dict[str, Callable[[], Any]] = {
        _OURS: lambda: loops.subtract_rows(*rows, x, out),
        "PETSc AIJ product, inodes": lambda: petsc.mult(a, b),
        "SciPy CSR product": lambda: K @ x,
        _UPDATE: lambda: loops.fused_update(u, v, f, kick, 1e-9),
    }
    return {row: Action(call, _PRODUCTS) for row, call in calls.items()}


# -- solids, whose runs are made as a whole


def _row(m: int) -> str:
    return f"HATI, m = {m}" if m else WHOLE


def _actions(made: Runs, of: str = "") -> dict[str, Action]:
    return {_row(m): Action(run.go_on, 1, name=f"faster, m = {m}{of}" * (m > 0)) for m, run in made.items()}


def _gains(seconds: Seconds, made: Runs, of: str = "") -> Iterator[Number]:
    for m, run in made.items():
        alone, s = seconds[WHOLE][0], run.integrator
        if m:
            gain = alone / (seconds[_row(m)][0] + run.factors)
            words = f"{faster(gain)} with its set-up of {run.factors:.2f} s"
            yield Number(f"faster with set-up, m = {m}{of}", gain, words, _row(m))
        else:
            each = 1e6 * alone / run.result.steps
            yield Number(f"dofs{of}", s.system.dof_count, "")
            yield Number(f"explicit, us a step{of}", each, f"{each:.0f} us a step of {s.dt:.3g} s", WHOLE)


def _apart(found: NDArray, true: NDArray, start: Any = 0.0) -> float:
    return float(np.abs(found - true).max() / np.abs(true - start).max())


#: The beam that is measured, and changes that make the mesh of the reference, with larger explicit steps.
BEAM: Values = {"along": 200, "across": 4, "layers": 10, "tip": 1e-4, "t_end": 2e-3}
FINER: Values = {"along": 400, "across": 8, "layers": 8, "tip": 1e-3}
EQUAL = 1.1  #: Errors count as equal up to so much of the explicit run's.
RATIOS = (200, 400, 800, 1600)


def beams(
    _: Sequence[int], beam: Values = BEAM, finer: Values = FINER, ratios: Sequence[int] = RATIOS
) -> Iterator[Turns]:
    """The beam that falls on a pin, the same on a finer mesh, and with HATI."""
    reference = WholeRun("pin-drop", {**beam, **finer}, samples=320)
    made = runs("pin-drop", beam, lambda _: ratios, 320)
    p, last = made[0].p, made[max(made)].integrator
    b, out = np.ones(last.coarse.system.size), np.zeros(last.coarse.system.size)
    solve = Action(lambda: last.coarse.solver.solve(b, out), 10)
    actions = {"reference": Action(reference.go_on, 1), **_actions(made), "an implicit solve": solve}
    times = np.linspace(0.0, p["t_end"], 81)[1:]

    def numbers(seconds: Seconds) -> Iterator[Number]:
        yield from _gains(seconds, made)
        true, explicit = (bent(times, run.u(times), p) for run in (reference, made[0]))
        least, best = _apart(explicit, true), 0.0
        yield Number("error, explicit", least, f"error {least:.2%}", WHOLE)
        for m in ratios:
            u, row, result = bent(times, made[m].u(times), p), _row(m), made[m].result
            error, apart = _apart(u, true), _apart(u, explicit)
            if equal := error <= EQUAL * least:
                best = max(best, seconds[WHOLE][0] / (seconds[row][0] + made[m].factors))
            taken = float(result["interface"][-1] / result["kinetic"][0])
            yield Number(f"error, m = {m}", error, f"error {error:.2%}{'' if equal else ' (larger)'}", row)
            yield Number(f"difference, m = {m}", apart, f"{apart:.2%} from the explicit run", row)
            yield Number(f"interface energy, m = {m}", taken, f"interface {taken:.1e} of the kinetic", row)
        solved = seconds["an implicit solve"][0]
        yield Number("solve, ms", 1e3 * solved, "")
        yield Number("solve, explicit steps", solved * made[0].result.steps / seconds[WHOLE][0])
        yield Number("explicit dofs", last.fine.system.dof_count)
        yield Number("interface dofs", last.interface.total)
        yield Number("faster at equal error", best)

    dofs, finest = (run.integrator.system.dof_count for run in (made[0], reference))
    head = f"pin-drop, {dofs} dofs, {p['t_end']:g} s with energies; the reference has {finest} dofs:"
    yield Turns(head, actions, numbers)


LAYERS, COARSE = (2, 8), (5e-5, 1e-4, 2e-4, 4e-4)  #: Of rails and wheels; coarse steps [s].


def cranes(
    _: Sequence[int], layers: Sequence[int] = LAYERS, steps: Sequence[float] = COARSE, **changes: Any
) -> Iterator[Turns]:
    """The solid crane by layers of rails and wheels, with coarse steps of a whole number of fine ones."""
    for each in layers:
        yield _cranes({"layers": each, "t_end": 0.04, **changes}, f", {each} layers", steps)


def _cranes(crane: Values, of: str, steps: Sequence[float]) -> Turns:
    def divide(setup: Any) -> Any:
        """The same crane at rest, which takes long to find."""
        return setup.beside.setup(divided=True)

    made = runs("solid-crane", crane, lambda h: [max(1, round(dt / h)) for dt in steps], 160, divide)
    lowest = model.HEIGHTS["girders"] / 2 + model.RAIL + model.CLEARANCE / 2
    for run in made.values():
        run.integrator.start(run.setup.u0, lambda x: np.outer([0.0, 0.0, 0.1], x[2] > lowest))
        run.go_on(run.integrator.dt)  # compiles
    times = np.linspace(0.0, crane["t_end"], 41)[1:-1]

    def numbers(seconds: Seconds) -> Iterator[Number]:
        yield from _gains(seconds, made, of)
        true = made[0].u(times)
        for m, run in list(made.items())[1:]:
            apart, result, row = _apart(run.u(times), true, true[0]), run.result, _row(m)
            taken = float(abs(result["interface"][-1]) / result["kinetic"].max())
            yield Number(f"difference, m = {m}{of}", apart, f"{apart:.2%} from the explicit run", row)
            yield Number(f"interface, m = {m}{of}", taken, f"interface {taken:.1e} of the kinetic", row)

    dofs, fine = (run.setup.body.dof_count for run in (made[0], made[max(made)]))
    head = f"solid-crane{of}, {crane['t_end']:g} s with an impact and friction, {dofs} dofs, {fine} explicit:"
    return Turns(head, _actions(made, of), numbers)
