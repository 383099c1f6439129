"""Gain of HATI on the bridge crane: CPU time of whole runs against the explicit run of the same step."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...algebra import kernels
from ...integrators import HATI, Integrator
from ...integrators.compiled.central import Block
from ...integrators.hati.compiled import HATIBlock
from ...integrators.step_buffer import Steps
from ...simulation.recorder import Recorder
from ...systems.frame import Frame
from .. import runner
from ..case import defaults
from ..cases.bridge_crane import case
from ..cases.bridge_crane import model as crane
from .timing import faster_spread, seconds_per_call

PAPER_STEP, STEP = 1e-3 / 3500, 1e-5  #: The paper's explicit step, and the one that these elements allow [s].
T_END = 1.0
PARTS = 8  #: Every run is made in so many parts, in turn with the others.
_SAMPLE = 1e-3
_PRODUCTS = 2000
_BARE = "step without energies"


#: Groups of runs: refinement, explicit step, and partitions with ratios beside the undivided, explicit crane.
GROUPS = (
    (1, PAPER_STEP, (("small", 350), ("paper", 100))),
    (2, PAPER_STEP, (("small", 350),)),
    (1, STEP, (("small", 10), ("small", 350), ("paper", 100))),
)


def measure(t_end: float = T_END) -> dict[str, float]:
    """Print and return how many times faster each run to ``t_end`` [s] is than its group's explicit one."""
    found: dict[str, float] = {}
    how = f"CPU time of whole runs, by turns in {PARTS} parts"
    print(f"bridge-crane, {t_end:g} s of shaking, energies followed: {how}")
    for refine, dt, divided in GROUPS:
        runs = [_Run(started(refine, dt, *each), t_end) for each in ((), *divided)]
        yardstick = _Yardstick(runs[0], started(refine, dt))
        for part in range(PARTS):
            for run in runs:
                run.go_on(part)
            yardstick.measure()
        dofs, group = np.sum(~runs[0].integrator.system.constrained), f"refine {refine} h {dt:.3g}"
        print(f"\nrefine {refine} ({dofs} free dofs), explicit step {dt:.4g} s:")
        found |= _table(group, runs, divided) | yardstick.table(group)
    critical = crane.crane_frame(crane.crane_mesh()).critical_time_step()
    print(
        f"The paper's step {PAPER_STEP:.3g} s is not needed with these elements: the crane's critical step "
        f"is {critical:.3g} s, so that {STEP:g} s is enough."
    )
    return found


def started(refine: int, dt: float, partition: str = "", ratio: int = 1) -> Integrator:
    """The crane in its static state, ready to be shaken; undivided without a partition."""
    scheme, own = "hati" if partition else "cd-lagrange", {"partition": partition} if partition else {}
    p = {**defaults(runner.options_of(case.CraneCase(), scheme)), "refine": refine, "h": dt, "ratio": ratio}
    return case.CraneCase().make(scheme, {**p, **own}).integrator


class _Run:
    """A run made in parts; what it needs once (factors, H) counts, meshes and compilation do not."""

    def __init__(self, s: Integrator, t_end: float) -> None:
        self.integrator = s
        body: Any = s.fine.system if isinstance(s, HATI) else s.system
        rows = crane.wheel_rows(body)
        balance = s.balance()
        balance.start()
        self._steps = max(1, round(t_end / s.dt))
        every = max(1, round(_SAMPLE / s.dt))
        self._kept, self._recorder = Steps(s, rows, balance), Recorder(s, self._steps, every, rows, balance)
        kind: Callable[..., Any] = HATIBlock if isinstance(s, HATI) else Block
        self._block = kind(s, rows, balance)
        self._block.fill(self._kept, 1)  # compiles
        begun = time.process_time()
        self._block = kind(s, rows, balance)
        self.seconds = [time.process_time() - begun]

    def go_on(self, part: int) -> None:
        done, end = (self._steps * k // PARTS for k in (part, part + 1))
        begun = time.process_time()
        while done < end:
            self._block.fill(self._kept, min(self._kept.capacity, end - done))
            self._recorder.follow(self._kept)
            done += self._kept.count
        self.seconds.append(time.process_time() - begun)

    def per_step(self) -> float:
        """CPU time per fine step [us]."""
        return 1e6 * sum(self.seconds) / (self._steps * self.integrator.substeps)


def _table(group: str, runs: list[_Run], divided: Sequence[tuple[str, int]]) -> dict[str, float]:
    base, found = runs[0].seconds, {}
    for run, (partition, m) in zip(runs, (("", 0), *divided)):
        name, total, against = "explicit throughout", sum(run.seconds), ""
        if partition:
            name, ratio = f"HATI, partition {partition}, m = {m}", sum(base) / total
            against = faster_spread("parts", ratio, np.array(base[1:]) / np.array(run.seconds[1:]))
            found[f"{partition} {m} {group}"] = ratio
        print(f"  {name:<34} {total:8.2f} s, {run.per_step():7.2f} us a step{against}", flush=True)
    return found


class _Yardstick:
    """The least that an explicit step could cost: a sparse product and one fused update."""

    def __init__(self, run: _Run, bare: Any) -> None:
        self._run = run
        frame: Any = run.integrator.system
        u, v, f = (np.full(frame.size, 1e-9) for _ in range(3))
        kick = run.integrator.dt * frame.inverse_mass
        update = {"fused update": lambda: kernels.load().fused_update(u, v, f, kick, 1e-9)}
        self._calls = _product_calls(frame) | update
        self._kept = Steps(bare, crane.wheel_rows(frame).select(np.zeros(0, dtype=np.intp)), None)
        self._bare = Block(bare, self._kept.rows, None)
        self._bare.fill(self._kept, 1)  # compiles
        self._seconds: dict[str, list[float]] = {name: [] for name in (_BARE, *self._calls)}

    def measure(self) -> None:
        begun = time.process_time()
        self._bare.fill(self._kept, self._kept.capacity)
        self._seconds[_BARE].append((time.process_time() - begun) / self._kept.capacity)
        for name, call in self._calls.items():
            call()
            self._seconds[name].append(seconds_per_call(call, _PRODUCTS, time.process_time))

    def table(self, group: str) -> dict[str, float]:
        """Print and return what a step costs beside them, medians over the parts of the run."""
        calls = {each: 1e6 * float(np.median(values)) for each, values in self._seconds.items()}
        least = calls["our CSR"] + calls["fused update"]
        ratio, bare = self._run.per_step() / least, calls[_BARE] / least
        print(
            f"  an explicit step with contact is {bare:.2f} times the CSR product that all runs use plus a "
            f"fused update, with energies and records {ratio:.2f} times"
        )
        print("  (" + ", ".join(f"{each} {value:.2f} us" for each, value in calls.items()) + ")", flush=True)
        return {f"step over product and update, {group}": bare, f"with energies, {group}": ratio}


def _product_calls(frame: Frame) -> dict[str, Callable[[], Any]]:
    """The product K u by all sparse formats at hand; ours is what both kinds of runs use."""
    from petsc4py import PETSc

    K = frame.stiffness.scipy()
    x, out = np.full(frame.size, 1e-9), np.zeros(frame.size)
    petsc = PETSc.Mat().createAIJ(K.shape, csr=(K.indptr, K.indices, K.data))
    a, b = petsc.createVecs()
    a.array[:] = x
    rows, loops = frame.stiffness.csr, kernels.load()
    assert rows is not None
    return {
        "our CSR": lambda: loops.subtract_rows(*rows, x, out),
        "PETSc AIJ, inodes": lambda: petsc.mult(a, b),
        "SciPy CSR": lambda: K @ x,
    }
