"""The Van der Pol oscillator, free or against a wall: Di Stasio et al. (2019), case 2.

``x'' = xi omega0 (1 - x^2/X0^2) x' - omega0^2 x``, (36), mass 1; ``dissipated`` is negative at ``|x| < X0``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import DofBound, PointMasses
from ....algebra import kernels
from ....integrators import Option, Scheme
from ....integrators.step_buffer import Steps
from ...case import COMMON, EXPLICIT, Case, Problem, Results, RunLog, Setup, Values, Verdict, contact_law

PARAMETERS = {
    "xi": Option(5.0, "-", "weight of the nonlinear term"),
    "omega0": Option(1.0, "1/s", "angular frequency of the linear oscillator", interval="(0, inf)"),
    "X0": Option(1.0, "m", "amplitude above which the nonlinear term takes energy", interval="(0, inf)"),
    "x0": Option(1.0, "m", "position at t = 0"),
    "v0": Option(1.0, "m/s", "velocity at t = 0"),
    "wall": Option(-1.0, "m", "position of the wall, on the left, or none", words=("none",)),
    "restitution": Option(0.0, "-", "Newton's coefficient of the wall", interval="[0, 1]"),
    "courant": Option(None, "-", "time step over 2 / omega0"),
    **COMMON,
    "h": Option(1e-3, "s", "time step; the other way to give it is courant"),
    "t_end": Option(30.0, "s", "end time"),
}
#: Schemes that take forces of any kind; Moreau-Jean's in the form (38).
SCHEME_NAMES = ("cd-lagrange", "cd-lagrange-implicit", "moreau-jean", "moreau-jean-decoupled",
                "paoli-schatzman", "carpenter", "noh-bathe", "generalized-alpha")  # fmt: skip
#: "both schemes stay on it for more than forty cycles", in the 300 s of Figure 11.
MANY_CYCLES, LONG = 40, 300.0


def wall_position(p: Values) -> float | None:
    """Where the wall is [m], None for nowhere; one that the oscillator starts behind is refused."""
    if str(p["wall"]).lower() == "none":
        return None
    wall = float(p["wall"])
    if p["x0"] < wall:
        raise ValueError(f"x0 must not lie behind the wall at {wall:g} m, but is {p['x0']:g} m")
    return wall


class CycleLog(RunLog):
    """The log of every step with the cycles, which begin where x passes 0 upwards.

    Attributes:
        largest_jump: Largest change of the velocity over a step with an impulse [m/s]; after :meth:`close`.
        fastest: Largest speed [m/s]; after :meth:`close`.
    """

    state_names = (*RunLog.state_names, "crossings", "amplitudes", "_state")

    def _prepare(self, setup: Any, p: Any) -> None:
        self.crossings: list[float] = []  #: Times at which cycles begin, x interpolated linearly [s].
        self.amplitudes: list[float] = []  #: Largest ``|x|`` of each complete cycle [m].
        self._kernel, self._h = kernels.jit(_cycles), self._scheme.dt
        #: x and v of the step before (x is none at first), largest |x| of the cycle, jump, speed.
        self._state = np.array([np.nan, 0.0, 0.0, 0.0, 0.0])

    def _follow(self, steps: Steps) -> None:
        n, cycles = steps.count, np.zeros((steps.count, 2))
        r = steps.r[:n, 0] if steps.r.shape[1] else np.zeros(n)
        count = self._kernel(steps.t[:n], self._h, steps.u[:n, 0], steps.v[:n, 0], r, self._state, cycles)
        for crossing, reach in cycles[:count]:
            self.amplitudes += [float(reach)] if self.crossings else []
            self.crossings.append(float(crossing))

    def _close(self) -> None:
        self.largest_jump, self.fastest = map(float, self._state[3:])

    def late(self, t_end: float) -> int:
        """Number of the first cycle of the second half of a run to ``t_end``."""
        return int(np.searchsorted(self.crossings, 0.5 * t_end))

    def period(self, t_end: float) -> float | None:
        """Mean over the second half of the run, of the last cycle if none lies there whole [s]."""
        if len(self.crossings) < 2:
            return None
        first = min(self.late(t_end), len(self.crossings) - 2)
        return (self.crossings[-1] - self.crossings[first]) / (len(self.crossings) - 1 - first)


def _cycles(t: NDArray, h: float, x: NDArray, v: NDArray, r: NDArray, state: NDArray, found: NDArray) -> int:
    """Follow the cycles; rows (time, largest |x| before it) of ``found``, whose number is returned."""
    before, v_before, reach, jump, fastest = state
    count = 0
    for i in range(x.size):
        if before < 0.0 <= x[i]:
            found[count, 0] = t[i] - h * x[i] / (x[i] - before)
            found[count, 1] = reach
            reach = 0.0
            count += 1
        if r[i] != 0.0 and before == before:
            jump = max(jump, abs(v[i] - v_before))
        reach, fastest = max(reach, abs(x[i])), max(fastest, abs(v[i]))
        before, v_before = x[i], v[i]
    state[0], state[1], state[2], state[3], state[4] = before, v_before, reach, jump, fastest
    return count


class Oscillator(Case):
    """An oscillator that feeds itself energy at small amplitudes swings against a wall.

    What a scheme adds or takes by itself shows in its limit cycle.
    """

    parameters, schemes = PARAMETERS, SCHEME_NAMES
    balance_limits = (1e-11, 1e-11)
    log_type = CycleLog
    amplifies_rounding = True
    defaults = {"force": "midpoint"}

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Setup:
        """The oscillator, and its wall if there is one."""
        strength, inverse = p["xi"] * p["omega0"], 1.0 / p["X0"] ** 2

        def damping(t: float, u: NDArray, v: NDArray, out: NDArray) -> None:
            out[0] = -strength * (1.0 - inverse * u[0] * u[0]) * v[0]

        spring, force = [[p["omega0"] ** 2]], kernels.jit(damping)
        oscillator = PointMasses(1.0, stiffness=spring, damping=force, labels=["x"], length=p["X0"])
        place = wall_position(p)
        wall = None if place is None else DofBound(oscillator, 0, lower=place, **contact_law(p))
        state = {"u0": p["x0"], "v0": p["v0"]}
        return Setup(system=oscillator, contact=wall, record=oscillator.rows(), **state)

    def measure(self, run: Problem) -> Results:
        """Cycles, their period and amplitude."""
        log = run.log
        return {
            **log.numbers("largest_jump"),
            "cycles": max(0, len(log.crossings) - 1),
            "period": log.period(run.integrator.t),
            "amplitude": log.amplitudes[-1] if log.amplitudes else None,
            "impacts": log.contact_phases,
        }

    def verdicts(self, run: Problem) -> list[Verdict]:
        """Whether the limit cycle lasts and keeps its amplitude."""
        rows, log = list[Verdict](), run.log
        if run.p["t_end"] >= LONG and run.setup.contact is not None:
            words = "the limit cycle lasts for more than forty cycles"
            rows.append(Verdict.above(words, run.results["cycles"], MANY_CYCLES))
        late = log.amplitudes[log.late(float(run.result["t"][-1])) :]
        if len(late) > 1:
            # An impact is seen up to a step late: each cycle starts from a place up to h v off.
            words = "the amplitude of the limit cycle is constant but for h v [m]"
            rows.append(Verdict.below(words, max(late) - min(late), run.p["h"] * log.fastest))
        return rows
