"""A run: its steps one after another, and what of it is kept between two of them."""

from __future__ import annotations

import time
from typing import Any, Callable, Sequence

import numpy as np

from .. import parallel
from ..algebra.complementarity import NotConverged
from ..algebra.operators import Rows
from ..algebra.sparse_solver import LinearSolverFailed
from ..integrators.base import Integrator
from ..integrators.compiled.central import Block
from ..integrators.energy import Balance
from ..integrators.hati.compiled import HATIBlock
from ..integrators.step_buffer import Steps
from ..output.result import Result
from ..systems.body import Body
from .checkpoint import Checkpoint, Stored, Writer
from .parallel_layout import Points
from .progress import Progress
from .recorder import Recorder
from .stability_monitor import Guard, Interrupted
from .step_control import StepControl, Watch, deforms

_MOST_STEPS = 1e15


class Run:
    """Makes steps, hands them on in parts, and keeps what a run is between two of them.

    Attributes:
        integrator, balance, rows: What is run, what follows its energies (or None), what is recorded.
        callables: Observers that are called after every step.
        made: Number of steps since the run began, before a restart or after.
        left: Number of steps to come.
    """

    def __init__(
        self, integrator: Integrator, t_end: float, record: Rows | None, observers: Sequence[Any],
        energies: bool, every: int, adapt: StepControl | None, stored: Stored | None,
    ) -> None:  # fmt: skip
        s = self.integrator = integrator
        self._adapt, self._observers, self._t_end = adapt, observers, float(t_end)
        goes_on = stored is not None and "run/counts" in stored
        self.made, self.left = 0, _number_of_steps(s, t_end, goes_on)
        self._earlier, self._begun = 0.0, time.perf_counter()
        balance = next((o for o in observers if isinstance(o, Balance)), None)
        self.balance = s.balance() if balance is None and energies else balance
        self.rows = _default_rows(s) if record is None else record
        self.callables: list[Any] = [
            o for o in observers if not isinstance(o, Balance) and not hasattr(o, "follow")
        ]
        if goes_on:
            assert stored is not None
            self._read_counts(stored)
        _refuse_short_records(s, self.left)
        self._recorder = Recorder(s, self.made + self.left, every, self.rows, self.balance)
        self._followers: list[Any] = [self._recorder, *(o for o in observers if hasattr(o, "follow"))]
        self._part = Steps(s, self.rows, self.balance)
        if self.balance is not None:
            self.balance.start()
        self._watch = Watch(s, adapt) if adapt is not None or deforms(s) else None
        self._guard = Guard(s, self.balance, self._watch)
        if goes_on:
            assert stored is not None
            self._resume(stored)
        self._every, self._in_step = every, False
        self._all_energies = any(getattr(o, "needs_energies", True) for o in self._followers[1:])

    def go(
        self, block: Block | HATIBlock | None, checkpoint: Checkpoint | None, caught: list[int],
        bar: Progress,
    ) -> Result:  # fmt: skip
        """All steps; the history. Collective."""
        self._guard.caught, self._bar = caught, bar
        begun: list[Any] = []
        try:
            for observer in self._observers:
                begun.append(observer)
                self._together(getattr(observer, "begin", _nothing), self.integrator)
            self._make_steps(block, checkpoint)
        except BaseException as error:
            # Where one rank may have failed alone, the others do not come to an end with it.
            alone = self._in_step and self.integrator.system.comm.size > 1
            if not alone or isinstance(error, (NotConverged, LinearSolverFailed)):
                self._end(begun)  # what goes wrong there as well is not said
            raise
        parallel.agree(self.integrator.system.comm, self._end(begun))
        result = self._recorder.result(self._seconds())
        result.about, result.turned = str(self.integrator), _turned(self.integrator)
        return result

    def _end(self, observers: Sequence[Any]) -> Exception | None:
        """End all observers; the first error of them."""
        failed = None
        for observer in observers:
            try:
                getattr(observer, "end", _nothing)()
            except Exception as error:
                failed = failed or error
        return failed

    def _make_steps(self, block: Block | HATIBlock | None, checkpoint: Checkpoint | None) -> None:
        if self.made == 0:
            self._part.append()
            if self.integrator.n > 0:  # the impulse stands in the history that this one continues
                self._part.r[0], self._part.r_t[0] = 0.0, 0.0
            self._follow()
        while self.left > 0:
            stop = self._make_part(block, checkpoint)
            self._follow()
            if checkpoint is not None and (stop or self.made % checkpoint.every == 0):
                self._write(checkpoint)
            if stop:
                interrupted = Interrupted(stop)
                if checkpoint is not None:
                    interrupted.left = f"go on from {str(checkpoint.path)!r}"
                raise interrupted
        if self._watch is not None:
            self._watch.refuse_inside_out()

    def _make_part(self, block: Block | HATIBlock | None, checkpoint: Checkpoint | None) -> int:
        """Some steps, kept in the part; the signal to stop for, 0 for none."""
        s, part, made = self.integrator, self._part, self.made
        watch = self._watch if block is None else None
        if watch is not None and (watch.due or made % watch.every == 0):
            self._look(watch)
        wanted = min(part.capacity, self.left)
        for period in (watch.every if watch else 0, checkpoint.every if checkpoint else 0):
            wanted = min(wanted, period - made % period if period else wanted)
        part.count = 0
        if block is not None:
            block.fill(part, wanted)
            stop = self._guard.check_part(part)
            self.left -= part.count
            self._bar.update(part.count, s.t, self._guard.drift, self.left)
        else:
            stop = self._step_by_step(wanted)
        self.made += part.count
        return stop

    def _step_by_step(self, wanted: int) -> int:
        s, balance, part, watch, stop = self.integrator, self.balance, self._part, self._watch, 0
        for _ in range(wanted):
            self._in_step = True
            s.step()
            if balance is not None:
                number = self.made + part.count + 1
                balance.sampled = self._all_energies or number % self._every == 0 or self.left == 1
                balance.step()
            self._in_step = False
            failed = None
            try:
                for observer in self.callables:
                    observer(s)
            except Exception as error:  # whatever an observer raises, on this rank alone or on all
                failed = error
            part.append()
            if watch is not None:
                watch.follow()
            looked = watch is not None and watch.due
            stop = self._guard.check(looked or part.count == wanted, failed)
            self.left -= 1
            self._bar.update(1, s.t, self._guard.drift, self.left)
            if stop or looked:
                break
        return stop

    def _follow(self) -> None:
        self._recorder.follow(self._part)
        for follower in self._followers[1:]:
            self._together(follower.follow, self._part)

    def _look(self, watch: Watch) -> None:
        """Look at the body and its critical time step, and change the step where that is wanted."""
        s, before = self.integrator, self.integrator.dt
        watch.look(self.balance, self.made)
        if s.dt != before:
            self.left = max(1, round(self.left * before / s.dt))

    def _together(self, work: Callable[..., Any], *given: Any) -> Any:
        """Call what may fail on one rank alone. Collective."""
        return parallel.together(self.integrator.system.comm, lambda: work(*given))

    def _seconds(self) -> float:
        return self._earlier + time.perf_counter() - self._begun

    # -- checkpoints

    def _kept_by_observers(self) -> dict[int, Any]:
        return {i: o for i, o in enumerate(self._observers) if hasattr(o, "state") and hasattr(o, "resume")
                and not isinstance(o, Balance)}  # fmt: skip

    def _write(self, checkpoint: Checkpoint) -> None:
        """The whole run into the file. Collective."""
        s, adapt = self.integrator, self._adapt
        common, share = self._guard.state()
        counts = [self.made, self.left, self._t_end, s.beyond_limit, adapt.changes if adapt else 0]
        with Writer(checkpoint.path, s, checkpoint.about) as file:
            for name, value in (("counts", np.array(counts, dtype=np.float64)), ("guard", common)):
                file.add(f"run/{name}", "number", value)
            if self._watch is not None:
                file.add("run/watch", "number", self._watch.state())
            file.add("run/seconds", "number", np.array(self._seconds()))
            file.add("run/internal", "shares", share)
            file.places["rows"] = Points(s.system.comm, self.rows)
            for name, (place, values) in self._recorder.state().items():
                file.add(f"history/{name}", place, values)
            for name, values in (self.balance.state() if self.balance is not None else {}).items():
                place = "dofs" if name in self.balance.at_dofs else "shares"  # type: ignore[union-attr]
                file.add(f"balance/{name}", place, values)
            for i, observer in self._kept_by_observers().items():
                for name, values in self._together(observer.state).items():
                    file.add(f"observer-{i}/{name}", "number", np.asarray(values))

    def _read_counts(self, stored: Stored) -> None:
        s, adapt = self.integrator, self._adapt
        made, left, t_end, beyond, changes = stored.read("run/counts", "number")
        self.made, s.beyond_limit = int(made), bool(beyond)
        if t_end == self._t_end:
            self.left = int(left)
        if adapt is not None:
            adapt.changes = int(changes)
        self._earlier = float(stored.read("run/seconds", "number"))

    def _resume(self, stored: Stored) -> None:
        """What :meth:`_write` wrote. Collective."""
        s, balance = self.integrator, self.balance
        if self._watch is not None and "run/watch" in stored:
            self._watch.resume(stored.read("run/watch", "number"))
        self._guard.resume(stored.read("run/guard", "number"), stored.read("run/internal", "shares"))
        stored.places["rows"] = Points(s.system.comm, self.rows)
        self._recorder.resume(lambda name, place: stored.read(f"history/{name}", place))
        if (balance is not None) != bool(stored.below("balance")):
            raise ValueError("with energies or without: give energies= as for the run that was kept")
        if balance is not None:
            state = {}
            for name in stored.below("balance"):
                place = "dofs" if name in balance.at_dofs else "shares"
                state[name] = stored.read(f"balance/{name}", place)
            balance.resume(state)
        for i, observer in self._kept_by_observers().items():
            names = stored.below(f"observer-{i}")
            if not names:
                kind = type(observer).__name__
                raise ValueError(
                    f"the checkpoint knows nothing of observer {i + 1}, a {kind}: give the observers of the "
                    "run that was kept, in their order"
                )
            observer.resume({name: stored.read(f"observer-{i}/{name}", "number") for name in names})


def _turned(integrator: Integrator) -> float:
    """How far a body of linear laws has turned at the end, which they do not allow [rad]. Collective."""
    body = integrator.system
    if not isinstance(body, Body) or body.gdim == 1 or not body.linear:
        return 0.0
    return 0.0 if getattr(body, "state", None) == "axisymmetric" else body.rigid_rotation(integrator.u)


def _nothing(*given: Any) -> None:
    pass


def _number_of_steps(integrator: Integrator, t_end: float, resumed: bool) -> int:
    if integrator.n < 0:
        raise RuntimeError("call integrator.start(u0, v0) before simulate()")
    length = (t_end - integrator.t) / integrator.dt
    done = resumed and abs(length) < 0.5
    if not (t_end > integrator.t or done) or not np.isfinite(t_end):
        where = "the checkpoint" if resumed else "the start"
        raise ValueError(f"t_end must come after {where}, t = {integrator.t} s, but is {t_end} s")
    if not done:
        _refuse_few_steps(integrator, t_end, length, resumed)
    if length > _MOST_STEPS:
        raise ValueError(f"t_end = {t_end:g} s is {length:.1g} steps of {integrator.dt:g} s away: too many")
    return 0 if done else max(1, round(length))


def _refuse_few_steps(integrator: Integrator, t_end: float, length: float, resumed: bool) -> None:
    """Refuse an end that the first step passes or nearly does, unless it is just one step. Collective."""
    first = integrator.n == 0 and not resumed
    if length >= (1.5 if first else 0.5) or (first and abs(length - 1) < 1e-6):
        return
    integrator.system.critical_time_step()  # so that the system knows it
    raise ValueError(
        f"t_end = {t_end:.6g} s is {length:.3g} steps of {integrator.dt:.6g} s after t = "
        f"{integrator.t:.6g} s: take a smaller step or a later end; lengths in mm or moduli in GPa give such "
        f"steps too, all must be in m, kg, s, Pa. {integrator.system!r}"
    )


def _refuse_short_records(integrator: Integrator, steps: int) -> None:
    needed, until = integrator.t + steps * integrator.dt + integrator.look_ahead, integrator.system.until
    if needed > until * (1 + 1e-9):
        raise ValueError(
            f"the run needs its loads and motions to t = {needed:.9g} s, but knows them to {until:.9g} s: "
            "give a longer record, or an earlier t_end"
        )


def _default_rows(integrator: Integrator) -> Rows:
    rows = None if integrator.contact is None else integrator.contact.approach()
    return integrator.system.rows() if rows is None else rows
