"""Number of steps of a run, and whether its end is one that can be meant."""

from __future__ import annotations

import numpy as np

from ..integrators.base import Integrator

_MOST_STEPS = 1e15


def number_of_steps(integrator: Integrator, t_end: float, resumed: bool) -> int:
    """Number of steps of a run to ``t_end``.

    Args:
        integrator: The integrator, started or resumed.
        t_end: End time [s].
        resumed: Whether it continues a history, whose end may be ``t_end`` itself.

    Raises:
        ValueError: An end before the start, less than 1.5 steps after it (except for exactly one step), or
            too far away.
        RuntimeError: The integrator was not started.
    """
    if integrator.n < 0:
        raise RuntimeError("call integrator.start(u0, v0) before simulate()")
    length = (t_end - integrator.t) / integrator.dt
    done = resumed and abs(length) < 0.5
    if not (t_end > integrator.t or done) or not np.isfinite(t_end):
        where = "the checkpoint" if resumed else "the start"
        raise ValueError(f"t_end must come after {where}, t = {integrator.t} s, but is {t_end} s")
    # An end less than 1.5 steps after the start is a mistake, unless it is exactly one step.
    first = integrator.n == 0 and not resumed
    one_step = first and abs(length - 1) < 1e-6
    if not (done or one_step or length >= (1.5 if first else 0.5)):
        raise _few_steps(integrator, t_end, length)
    if length > _MOST_STEPS:
        raise ValueError(f"t_end = {t_end:g} s is {length:.1g} steps of {integrator.dt:g} s away: too many")
    return 0 if done else max(1, round(length))


def _few_steps(integrator: Integrator, t_end: float, length: float) -> ValueError:
    integrator.system.critical_time_step()  # shown by the repr of the system
    return ValueError(
        f"t_end = {t_end:.6g} s is {length:.3g} steps of {integrator.dt:.6g} s after t = "
        f"{integrator.t:.6g} s: take a smaller step or a later end; lengths in mm or moduli in GPa give such "
        f"steps too, all must be in m, kg, s, Pa. {integrator.system!r}"
    )


def refuse_short_records(integrator: Integrator, steps: int) -> None:
    """Raise a ValueError if loads or motions are not known to the end of so many steps."""
    needed, until = integrator.t + steps * integrator.dt + integrator.look_ahead, integrator.system.until
    if needed > until * (1 + 1e-9):
        raise ValueError(
            f"the run needs its loads and motions to t = {needed:.9g} s, but knows them to {until:.9g} s: "
            "give a longer record, or an earlier t_end"
        )
