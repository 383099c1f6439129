"""The loop: step, follow the energies, record; it knows nothing of any scheme."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Callable, Literal, Protocol, Sequence, Union

from .. import arguments
from ..algebra.operators import Rows
from ..integrators.base import Integrator
from ..integrators.compiled.central import Block, NotCompiled
from ..integrators.energy import Balance
from ..integrators.hati import HATI
from ..integrators.hati.compiled import HATIBlock
from ..integrators.step_buffer import Steps
from ..integrators.user_schemes import as_integrator
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


class Follower(Protocol):
    """What wants the rows of all steps, many at a time."""

    def follow(self, steps: Steps) -> None:
        """Look at consecutive steps; the first call has the start alone. Collective."""


Observer = Union[Balance, Follower, Callable[[Integrator], None]]


def simulate(
    integrator: Integrator,
    *,
    t_end: float,
    record: Rows | None = None,
    observers: Sequence[Observer] = (),
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
        observers: Callables ``f(integrator)``, called after every step; objects with
            ``follow(steps)``, which are given the recorded rows of all steps, many at a time
            (:class:`.Steps`, the start first; with ``needs_energies = False`` the stored energy of nonlinear
            bodies is that of the samples alone); an energy balance of your own takes the place of the
            scheme's. ``begin(integrator)`` is called before the first step and ``end()`` after the last,
            or after an error, where an observer has them; ``state()`` (arrays by name, the same on every
            rank) and ``resume(state)``, called before ``begin``, take it through a checkpoint.
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
    with ExitStack() as stack:
        stored = None
        if restart is not None:
            stored = stack.enter_context(Stored(restart))
            stored.resume(integrator, adapt is not None)
        run = Run(integrator, t_end, record, observers, energies, every, adapt, stored)
        block = _compiled_block(run, False if adapt is not None else compiled)
        caught = stack.enter_context(stop_signals())
        shown = None if progress == "bar" else progress
        bar = stack.enter_context(Progress(run.made + run.left, run.made, shown))
        result = run.go(block, checkpoint, caught, bar)
    if progress != "bar":
        bar.say(result.summary())
    return result


def _checked_observers(observers: Sequence[Observer]) -> Sequence[Observer]:
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


def _compiled_block(run: Run, compiled: bool | None) -> Block | HATIBlock | None:
    """What makes many steps at once, where it is wanted and possible."""
    integrator, steps = run.integrator, run.made + run.left
    if isinstance(integrator, HATI):
        integrator.compiled = compiled  # where its steps are made one by one, their fine ones may be many
    if compiled is False or (compiled is None and steps * integrator.substeps < _MANY_STEPS):
        return None
    try:
        if run.callables:
            raise NotCompiled("an observer must be called after every step")
        if isinstance(integrator, HATI) and type(integrator) is not HATI:
            raise NotCompiled(f"{type(integrator).__name__} makes its steps one by one")
        if compiled is None and integrator.system.size > _FEW_DOFS:
            return None
        kind = HATIBlock if isinstance(integrator, HATI) else Block
        return kind(integrator, run.rows, run.balance)
    except NotCompiled as reason:
        if compiled:
            raise ValueError(f"no compiled loop for this run: {reason}") from None
        return None
