"""``simulate``: checks what is asked for, runs it, returns its history; it names no scheme."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Literal, Sequence

from .. import arguments
from ..algebra.operators import Rows
from ..integrators.base import Integrator
from ..integrators.energy import Balance
from ..integrators.step_buffer import CompiledLoop
from ..integrators.user_schemes import as_integrator
from ..output.observer import Follower, Observer, ObserverLike
from ..output.result import Result
from .checkpoint import Checkpoint, Stored
from .progress import Progress
from .run import Run
from .stability_monitor import Interrupted, stop_signals
from .step_control import StepControl

__all__ = ["Follower", "Interrupted", "Observer", "simulate", "stop_signals"]

#: A compiled loop is worth loading for runs of so many steps or more,
_MANY_STEPS = 2000
#: of so many dofs or fewer.
_FEW_DOFS = 20_000


def simulate(
    integrator: Integrator,
    *,
    t_end: float,
    record: Rows | None = None,
    observers: Sequence[ObserverLike] = (),
    energies: bool = True,
    every: int = 1,
    progress: bool | Literal["bar"] | None = None,
    compiled: bool | None = None,
    adapt: StepControl | None = None,
    checkpoint: Checkpoint | None = None,
    restart: str | Path | None = None,
) -> Result:
    """Run a started integrator to ``t_end`` and return its history. Collective.

    Args:
        integrator: A scheme after its ``start``: an :class:`.Integrator`, or any object with ``system``,
            ``dt``, ``contact``, ``t``, ``u``, ``v``, ``r`` and ``step``.
        t_end: End time [s]; the run has ``round((t_end - t) / dt)`` steps.
        record: Which displacements to record; by default all dofs of point masses, and the
            contact points of a solid (their motion towards the obstacle).
        observers: What follows the run: an :class:`.Observer`; an object with some of its methods; a function
            ``f(integrator)``, called after every step; or an energy balance of your own, which takes the
            place of the scheme's.
        energies: Follow the energy balance of the scheme.
        every: Sample every so many steps (and the last one).
        progress: Show a progress bar and, at the end, a summary; by default when the error stream is a
            terminal. ``"bar"`` there shows the bar alone.
        compiled: Whether many steps run in one compiled loop, with the same results; by default where
            that is possible and the run is long.
        adapt: Changes the time step of central differences as the body's critical one changes. Without it
            a body which deforms much is looked at every 100 steps, at the end, and when its energy explodes:
            the run ends where an element is turned inside out, and when it explodes with a step that is above
            the critical one by then.
        checkpoint: Keeps the run in a file, now and then and when it is interrupted.
        restart: Such a file to go on from, in place of ``start``: the history is that of the whole run, the
            same as without a stop. A file of :func:`.checkpoint.save` has no history: this starts there.

    Returns:
        The history, on every rank. Where it continues another (a scheme that has made steps), the impulse of
        the last step before stands there: ``r[0]`` is 0, and sums over both histories are those of one run.

    Raises:
        ValueError: An end before the start or beyond reach, or one that the first step passes or nearly
            does (unless it is just one step long), ``every`` below 1, a history above
            1 GB; ``compiled=True`` where no loop can be compiled (the message says why); a checkpoint of
            another run, or a scheme that has none.
        UnstableTimeStep: A value is not finite; an element is turned inside out; or, with a step above the
            critical one, the energy exceeds ten times what the body was given. (At the very limit the highest
            mode grows linearly, and a scheme may be run to see it blow up: neither stops.)
        Interrupted: Ctrl-C or SIGTERM.
        OSError: A checkpoint that cannot be written; an earlier one is intact.
        RuntimeError: When the integrator was not started.
    """
    integrator = as_integrator(integrator)
    t_end = arguments.number("t_end", t_end, "be a finite time [s]")
    every = arguments.whole("every", every, "be a whole number of steps from 1 on")
    observers = _checked_observers(observers)
    if record is not None and not isinstance(record, Rows):
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
    bar = None
    with ExitStack() as stack:
        stored = None
        if restart is not None:
            stored = stack.enter_context(Stored(restart))
            stored.resume(integrator, adapt is not None)
        run = Run(integrator, t_end, record, observers, energies, every, adapt, stored)
        loop = _compiled_loop(run, False if adapt is not None else compiled)
        stack.enter_context(stop_signals(run.caught))
        if sys.stderr.isatty() if progress in (None, "bar") else progress:
            bar = stack.enter_context(Progress(run.made + run.left, run.made))
        with run.observed():
            run.advance(loop, checkpoint, bar)
        result = run.result()
    if bar is not None and progress != "bar":
        bar.say(result.summary())
    return result


def _checked_observers(observers: Sequence[ObserverLike]) -> Sequence[ObserverLike]:
    if callable(observers) or hasattr(observers, "follow"):
        given = arguments.shown(observers)
        raise ValueError(f"observers must be a list, but is {given}: write observers=[...] around it")
    for each in arguments.sequence("observers", observers, "observers=[film]"):
        known = callable(each) or hasattr(each, "follow") or isinstance(each, Balance)
        if isinstance(each, type) or not known:
            raise ValueError(
                f"observers are functions of the integrator, or have follow(steps), but one is "
                f"{arguments.shown(each)}"
            )
    return observers


def _compiled_loop(run: Run, compiled: bool | None) -> CompiledLoop | None:
    """What makes many steps at once, where it is wanted and possible; None: they are made one by one."""
    s = run.integrator
    s.prefer_compiled(compiled)
    if compiled is False or (compiled is None and (run.made + run.left) * s.substeps < _MANY_STEPS):
        return None
    if run.after_steps:
        loop: CompiledLoop | str = "an observer must be called after every step"
    elif compiled is None and s.system.size > _FEW_DOFS:
        return None
    else:
        loop = s.compiled_loop(run.rows, run.balance)
    if not isinstance(loop, str):
        return loop
    if compiled:
        raise ValueError(f"no compiled loop for this run: {loop}")
    return None
