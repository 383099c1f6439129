"""``simulate``: validates arguments, runs an integrator to the end time, returns the history."""

from __future__ import annotations

import functools
import gc
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal

from .. import arguments, parallel
from ..algebra.kernels import NotCompiled, NotDeclared, logger
from ..algebra.operators import SparseRows
from ..contact.base import left_out
from ..integrators.base import Integrator
from ..integrators.energy import EnergyBalance
from ..integrators.step_buffer import CompiledLoop, compiled_loop
from ..integrators.user_schemes import as_integrator
from ..output.observer import Follower, Observer, ObserverLike
from ..output.result import Result
from .checkpoint import Checkpoint, resume
from .progress import Progress
from .run import ChunkedRun
from .run_history import RunHistory
from .stability_monitor import Interrupted, stop_signals
from .step_control import StepControl

__all__ = ["Follower", "Interrupted", "Observer", "simulate", "stop_signals"]

#: Number of steps from which on a run uses a compiled loop by default,
_MANY_STEPS = 2000
#: with at most this number of dofs.
_FEW_DOFS = 20_000
#: Number of steps above which a run tells that a class of the user's keeps it from that.
_LONG = 100_000


def simulate(
    integrator: Integrator,
    *,
    t_end: float,
    record: SparseRows | None = None,
    observers: Sequence[ObserverLike] = (),
    energies: bool = True,
    every: int | None = None,
    progress: bool | Literal["bar"] | None = None,
    compiled: bool | None = None,
    adapt: StepControl | None = None,
    checkpoint: Checkpoint | None = None,
    history: RunHistory | None = None,
    restart: str | Path | None = None,
) -> Result:
    """Run a started integrator to ``t_end`` and return its history. Collective.

    Args:
        integrator: A scheme after its ``start``: an :class:`.Integrator`, or any object with ``system``,
            ``dt``, ``contact``, ``t``, ``u``, ``v``, ``r`` and ``step``.
        t_end: End time [s]; the run has ``round((t_end - t) / dt)`` steps.
        record: Rows of the displacements to record; by default all dofs of point masses, and of a solid the
            displacements of the contact points towards the obstacle.
        observers: Each an :class:`.Observer`, an object with some of its methods, a function
            ``f(integrator)`` that is called after every step, or an energy balance, which replaces that of
            the scheme.
        energies: Whether to compute the energy balance. Without it the energy is looked at every 60 to 100
            steps, in a compiled loop every 64 to 1000.
        every: Steps between two samples; the last step is always a sample. By default 1, or as that of the
            history that is continued; more where the history, which is kept in memory, would take more than
            1 GB, and samples are merged if an adapted step leads to more of them. The log tells then.
        progress: Whether to show a progress bar and a summary at the end; by default if the error stream is a
            terminal. ``"bar"`` there shows the bar only.
        compiled: Whether blocks of steps run in a compiled loop, with the same results; by default for long
            runs where it is possible.
        adapt: Adapts the time step of an explicit scheme to the critical one of the deformed body. Without
            it a body whose critical step changes is checked every 100 steps, at the end, and if its energy
            exceeds the limit below: the run stops if an element is inverted, or if the limit is exceeded with
            a step above the current critical one.
        checkpoint: File to which the run is stored periodically and on interruption.
        history: The run so far, of :func:`.checkpoint.resume`: the returned history is that of the complete
            run, as without interruption. None: it begins here.
        restart: Checkpoint to continue from, instead of ``start``: short for
            ``history=checkpoint.resume(restart, integrator)``.

    Returns:
        The history, replicated. If the integrator has advanced before, ``r[0]`` is 0 since the impulse of its
        last step belongs to the earlier history: sums over both histories are those of a single run.

    Raises:
        ValueError: ``t_end`` before the start, too many steps away, or less than 1.5 steps after it (except
            for exactly one step); ``every`` below 1; a history above 1 GB with the given ``every``, or
            another ``every`` than that of the history that is continued; ``compiled=True`` without a
            compiled loop (the message has the reason); a checkpoint of another run, or a scheme without
            checkpoints.
        UnstableTimeStep: A value is not finite; an element is inverted; or kinetic and internal energy exceed
            1000 times, with a step above the critical one 10 times what the system was given: the energy at
            the start, works of loads, motions and obstacles, and of damping that drives. (At the critical
            step the highest mode grows linearly, which does not stop the run.)
        Interrupted: Ctrl-C or SIGTERM.
        OSError: A checkpoint that cannot be written; an earlier one is intact.
        RuntimeError: The integrator was not started.
    """
    integrator = as_integrator(integrator)
    t_end = arguments.number("t_end", t_end, "be a finite time [s]")
    if every is not None:
        every = arguments.whole("every", every, "be a whole number of steps from 1 on")
    observers = _checked_observers(observers)
    if record is not None and not isinstance(record, SparseRows):
        raise ValueError(
            f"record must be rows of the system, as record=body.rows(body.nodes('tip')), but is "
            f"{arguments.shown(record)}: everything else of a run is recorded anyway"
        )
    for name, value, kind in (("adapt", adapt, StepControl), ("checkpoint", checkpoint, Checkpoint)):
        if value is not None and not isinstance(value, kind):
            kinds = kind.__name__
            raise ValueError(f"{name} must be a {kinds}, not {value!r}: give {name}={kinds}(...)")
    if adapt is not None:
        adapt.check(integrator)
    if checkpoint is not None:
        checkpoint.check(integrator)
    history = _history(integrator, history, restart, adapt is not None)
    if integrator.outdated:
        integrator.renew()
    _tell_of_contacts_left_out(integrator)
    run = ChunkedRun(integrator, t_end, record, observers, energies, every, adapt, history)
    with ExitStack() as stack:
        writer = None
        if checkpoint is not None:
            writer = stack.enter_context(checkpoint.writer(integrator, history))
        bar = history = None  # what the run has read need not be kept
        loop = _compiled_loop(run, False if adapt is not None else compiled)
        stack.enter_context(stop_signals(run.caught))
        shown = sys.stderr.isatty() if progress in (None, "bar") else progress
        group = parallel.current_group()
        if shown and group is None:  # a study has one line for all its runs
            bar = stack.enter_context(Progress(run.made + run.left, run.made))
        with run.observed():
            run.advance(loop, writer, bar)
        result = run.result()
        run.end(writer)
    if group is not None:
        group.steps += result.steps
    if bar is not None and progress != "bar":
        bar.say(result.summary())
    return result


def _history(
    integrator: Integrator, history: RunHistory | None, restart: str | Path | None, adapted: bool
) -> RunHistory | None:
    """The history that a run continues, given or of a checkpoint. Collective."""
    given = integrator.system.comm.allgather((history is not None, restart is not None))
    if len(set(given)) > 1:
        raise ValueError("history= or restart= is given on some ranks only: give it on all")
    if not any(given[0]):
        return None
    # Files are those of all ranks, also where each has a system of its own.
    parallel.agree(parallel.world(), _misfit(integrator, history, restart))
    return history if restart is None else resume(restart, integrator, new_step=adapted)


def _misfit(integrator: Integrator, history: Any, restart: Any) -> ValueError | None:
    """The error of a history that a scheme does not continue, on this rank."""
    if history is None:
        return None
    if restart is not None:
        return ValueError("give history= or restart=, not both: each continues a run")
    if not isinstance(history, RunHistory):
        return ValueError(
            "history must be that of checkpoint.resume(path, scheme), but is "
            f"{arguments.shown(history)}; for a file there is restart="
        )
    return history.misfit(integrator)


def _tell_of_contacts_left_out(integrator: Integrator) -> None:
    """Warn of contacts of the system that exist, but that no scheme has. Collective."""
    comm = integrator.system.comm
    if parallel.anywhere(comm, bool(left_out(integrator.system))):
        gc.collect()  # contacts refer to themselves: one that nobody has any more may still be there
    idle = left_out(integrator.system)
    if idle and comm.rank == 0:
        shown = "; ".join(repr(each) for each in idle[:3])
        logger.warning(
            f"{len(idle)} contact(s) of the system were made, but given to no scheme, and do nothing: "
            f"{shown}; give them to the scheme, contact=..."
        )


def _checked_observers(observers: Sequence[ObserverLike]) -> Sequence[ObserverLike]:
    if callable(observers) or hasattr(observers, "follow"):
        shown = arguments.shown(observers)
        raise ValueError(f"observers must be a list, but is {shown}: write observers=[...] around it")
    for each in arguments.sequence("observers", observers, "observers=[film]"):
        supported = callable(each) or hasattr(each, "follow") or isinstance(each, EnergyBalance)
        if isinstance(each, type) or not supported:
            raise ValueError(
                f"observers are functions of the integrator, or have follow(steps), but one is "
                f"{arguments.shown(each)}"
            )
    return observers


def _compiled_loop(run: ChunkedRun, compiled: bool | None) -> CompiledLoop | None:
    """The compiled loop of a run, None where it is not requested or not possible."""
    s, steps = run.integrator, (run.made + run.left) * run.integrator.substeps
    s.prefer_compiled(compiled)
    if compiled is False or (compiled is None and (steps < _MANY_STEPS or s.system.size > _FEW_DOFS)):
        return None
    try:
        if run.after_steps:
            raise NotCompiled("an observer must be called after every step")
        return compiled_loop(s, run.rows, run.balance)
    except NotCompiled as reason:
        if compiled:
            raise ValueError(f"no compiled loop for this run: {reason}") from None
        if isinstance(reason, NotDeclared) and steps > _LONG:
            _tell_once(str(reason), s.system.comm.rank)
        return None


@functools.cache
def _tell_once(reason: str, rank: int) -> None:
    """Tell why a long run takes its steps one by one, where a line in a class would change that."""
    if rank == 0:
        logger.warning("this long run makes its steps one by one, not in a compiled loop: %s", reason)
