"""Measures of the claims on HATI on the split bar, and other constants of Newmark for its coarse side."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import HATI, Contact, simulate
from ....integrators.hati.balance import HATIBalance
from ....integrators.hati.implicit_side import Implicit
from ....integrators.hati.interface import Interface
from ....systems.body import Body
from ...runs import Run, Runs
from ..impacting_bar.measures import energy
from . import case

CASE, CD, SCHEME = "split-bar", "cd-lagrange", "hati"
COURANT, FINE = 0.8, 0.08  #: Fine steps over the critical one: of the two bars, and a tenth of it.
RATIOS = (1, 2, 10, 100)
V0 = float(case.PARAMETERS["v0"].default)  #: Speed towards the wall [m/s].
LINE = 0.01


def taken(run: Run) -> float:
    """Interface energy at the end over the largest energy of the run."""
    return float(run["interface"][-1] / energy(run).max())


def made(runs: Runs, **settings: Any) -> Any:
    """HATI on the split bar, started, as the run with these settings has it."""
    parameters = runs(CASE, SCHEME, **settings).summary["parameters"]
    return case.SplitBar().make(runs.scheme(SCHEME), parameters).integrator


class Seam:
    """Largest difference of both copies' velocities over fine steps of HATI [m/s]: (60), (61b), (74)."""

    def __init__(self, integrator: Any) -> None:
        self._integrator, self.largest = integrator, 0.0

    def before_step(self) -> None:
        """Nothing."""

    def fine_step(self) -> None:
        """Compare after a fine step."""
        fine, g = self._integrator.fine, self._integrator.interface.dofs
        implicit = fine.target - self._integrator.coarse.compliance @ fine.multipliers
        self.largest = max(self.largest, float(np.abs(fine.v_mean[g] - implicit).max()))


def fine_jump(runs: Runs, ratio: int) -> float:
    """Largest difference of the copies' velocities at fine times of the impact, over v0."""
    integrator = made(runs, ratio=ratio, courant=COURANT)
    integrator.compiled, seam = False, Seam(integrator)
    integrator.following = seam
    for _ in range(max(1, 160 // ratio)):
        integrator.step()
    return seam.largest / V0


class Printed(HATIBalance):
    """The balance with (93) as it is printed: increments of the multipliers, not their means."""

    def fine_step(self) -> None:
        """Add what a fine step did."""
        self.fine.step()
        s = self.integrator.fine
        self.interface += s.dt * float(s.v_before[self._at] @ (s.multipliers - self._before))
        self._before[:] = s.multipliers

    def step(self) -> None:
        """Add what the implicit side did in the coarse step."""
        way, before = (self._side.u - self._u)[self._at], float(self.interface)
        super().step()
        self.interface = before - float(way @ (self.integrator.fine.multipliers - self._began))


def residual_as_printed(runs: Runs, ratio: int) -> float:
    """Residual of the balance (91) with (93) as it is printed, over the largest energy."""
    integrator = made(runs, ratio=ratio, courant=COURANT)
    end, printed = 160 * integrator.dt / ratio, Printed(integrator)
    result = simulate(integrator, t_end=end, observers=[printed], progress=False)
    stored = result["kinetic"] + result["complementary"] + result["internal"]
    left = stored - stored[0] - result["external"] - result["contact"] - result["interface"]
    return float(np.abs(left).max() / stored.max())


def solves(runs: Runs, ratio: int, steps: int) -> list[int]:
    """Linear systems of the implicit part in each of the first coarse steps."""
    integrator, counts = made(runs, ratio=ratio, courant=COURANT), list[int]()
    solver = integrator.coarse.solver
    solve = solver.solve

    def counted(*arguments: Any) -> Any:
        counts[-1] += 1
        return solve(*arguments)

    solver.solve = counted
    for _ in range(steps):
        counts.append(0)
        integrator.step()
    return counts


class Newmark(Implicit):
    """An implicit side with other constants of Newmark than (1/4, 1/2)."""

    def __init__(self, system: Body, dt: float, interface: Interface, beta: float, gamma: float) -> None:
        super().__init__(system, dt, interface)
        self.beta, self.gamma = beta, gamma
        weight = 1 + gamma * dt * system.damping_rate
        lumped: dict[str, Any] = {"mass": "lumped", "mass_factor": weight, "prefix": "impact_newmark_"}
        self._solver = system.implicit_solver(beta * dt**2, **lumped)
        self.compliance = gamma * dt * interface.compliance(self._solver, system.size)[0]

    def free_velocity(self, t: float) -> NDArray:
        """See :meth:`.Implicit.free_velocity`."""
        h, g = self.dt, self._at
        self.u += h * self.v + (0.5 - self.beta) * h**2 * self.a  # (63)
        self.v += (1 - self.gamma) * h * self.a
        self.system.force(t, self.u, self.v, self.f)
        self._solver.solve(self.f, self.a)
        return np.asarray(self.v[g] + self.gamma * h * self.a[g])

    def finish(self, multipliers: NDArray) -> None:
        """See :meth:`.Implicit.finish`."""
        self.f[self._at] -= multipliers
        self._solver.solve(self.f, self.a)
        self.u += self.beta * self.dt**2 * self.a
        self.v += self.gamma * self.dt * self.a


class TotalVelocity(HATI):
    """(74) read otherwise: linear from the total velocity at the beginning of the coarse step."""

    def advance(self) -> None:
        """One coarse step; the next begins with the total velocity."""
        super().advance()
        self.free_velocity[:] = self.coarse.v[self.interface.dofs]


class OtherNewmark(HATI):
    """HATI with other constants of Newmark on its coarse side."""

    beta, gamma = 1 / 6, 1 / 2

    def __init__(
        self, fine: Body, coarse: Body, dt: float, contact: Contact | None = None, **options: Any
    ) -> None:
        super().__init__(fine, coarse, dt, contact, **options)
        self.coarse = Newmark(coarse, self.dt, self.interface, self.beta, self.gamma)
        self.fine.glue(self.coarse.compliance)


class CentralDifferences(OtherNewmark):
    """Explicit on both sides, each with its own step: Newmark (0, 1/2) where it is coarse."""

    beta = 0.0


class Dissipative(OtherNewmark):
    """Newmark (0.3025, 0.6) on the coarse side, which damps."""

    beta, gamma = 0.3025, 0.6


TOTAL = f"{__name__}:{TotalVelocity.__name__}"
#: Other members of Newmark's family, by what is said of them.
_KINDS = (OtherNewmark, CentralDifferences, Dissipative)
OTHERS = {f"{__name__}:{kind.__name__}": f"({kind.beta:.4g}, {kind.gamma:g})" for kind in _KINDS}
