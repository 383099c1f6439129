"""Measures of the claims on the impacting bar, and a scheme that damps high frequencies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .... import Contact, System
from ....exact import ImpactingBar
from ....integrators.central.central_differences import CentralDifferences
from ....integrators.impulses.contact_laws import VelocityLevel
from ...convergence import at_times, norm35, order
from ...runs import Run, Runs
from .case import PARAMETERS
from .case import exact as exact_bar

CASE = "impacting-bar"
BOTH = CD, MJ = "cd-lagrange", "moreau-jean"
COMBINED, PAOLI, NEWMARK = "combined", "paoli-schatzman", "carpenter-implicit"
DISSIPATIVE = f"{__name__}:TchamwaWielgosz"
#: Elements, refined with the step; forecasts of the combined scheme.
MESHES, FORECASTS = (25, 50, 100, 200, 400), (0.5, 1.0)
#: Where within a step the bar reaches the wall is an accident: the wall is moved by these parts of a step.
PARTS, PLACES = (0.0, 0.25, 0.5, 0.75), "four places of the impact in its step"
COURANT = PARAMETERS["courant"].default
BAR = exact_bar({name: option.default for name, option in PARAMETERS.items()})
TRANSIT = BAR.length / BAR.wave_speed
ENERGY = BAR.impulse * BAR.v0 / 4


class TchamwaWielgosz(CentralDifferences):
    """CD-Lagrange with the displacement of Tchamwa and Wielgosz: explicit, dissipates high frequencies.

    ``u_{n+1} = u_n + h v_{n+1/2} + (phi - 1) h (v_{n+1/2} - v_{n-1/2})``, stable for ``h omega_max`` up to
    ``2 / sqrt(2 phi - 1)``; a step multiplies a mode by ``|lambda|^2 = 1 - (phi - 1) (omega h)^2``.
    """

    phi = 1.1

    def __init__(self, system: System, dt: float, contact: Contact | None = None) -> None:
        super().__init__(system, dt, VelocityLevel(contact), allow_unstable=True)

    def advance(self) -> None:
        """One step; the change of velocity includes the impulse."""
        self.u += (self.phi - 1) * self.dt * (self.v - self.v_before)
        super().advance()


def exact_force(bar: ImpactingBar, t: NDArray) -> NDArray:
    """The contact force of the exact bar [N]."""
    return np.where((t >= bar.contact_start) & (t < bar.contact_end), bar.force, 0.0)


def each(runs: Runs, of: Callable[[Run], float], **settings: Any) -> dict[str, float]:
    """A number of the runs of both schemes, by scheme."""
    return {scheme: of(runs(CASE, scheme, **settings)) for scheme in BOTH}


def on_meshes(runs: Runs, scheme: str = CD, **settings: Any) -> list[Run]:
    """Runs on refined meshes."""
    return [runs(CASE, scheme, elements=n, **settings) for n in MESHES]


def hits(runs: Runs, scheme: str, elements: int = 50, courant: float = COURANT, **settings: Any) -> list[Run]:
    """Runs that reach the wall at different parts of a step."""
    step = courant * BAR.length / elements / BAR.wave_speed
    gaps = [BAR.gap - part * step * BAR.v0 for part in PARTS]
    return [runs(CASE, scheme, elements=elements, courant=courant, gap=gap, **settings) for gap in gaps]


def rate(found: Sequence[Run], values: ArrayLike, floor: float = 1e-15) -> float:
    """Order in h of a positive number of refined runs, values below ``floor`` raised to it."""
    return order([run.results["h"] for run in found], np.maximum(values, floor))


def error(run: Run, name: str, times: NDArray | None = None) -> float:
    """Norm (35) of ``u`` or ``v_t`` of the contact node against the exact solution with the run's gap."""
    t = run["t"] if times is None else times
    bar = replace(BAR, gap=run.summary["parameters"]["gap"])
    true = bar.displacement(0.0, t) if name == "u" else bar.velocity(0.0, t)
    return norm35(at_times(run["t"], run[name], t), true)


def in_contact(run: Run) -> NDArray:
    """The samples of the lasting contact, less a tenth of it at both ends."""
    part = (run["t"] - BAR.contact_start) / (2 * TRANSIT)
    return (part > 0.1) & (part < 0.9)


def position_ripple(run: Run) -> float:
    """RMS deviation of the node's position from its mean in the lasting contact, over h v0."""
    return float(np.std(run["gap"][in_contact(run)])) / (run.results["h"] * BAR.v0)


def ringing(run: Run) -> tuple[float, float]:
    """RMS [m/s] and frequency [1/s] of the contact node's velocity L/c to 1.8 L/c after the exact release."""
    # The front has passed, and its reflection at the far end comes back after 2 L/c only.
    since = (run["t"] - BAR.contact_end) / TRANSIT
    v = run["v_t"][(since > 1) & (since < 1.8), 0]
    turns = np.count_nonzero(np.diff(np.sign(v - v.mean())))
    return float(np.std(v)), turns / 2 / (0.8 * TRANSIT)


def energy(run: Run) -> NDArray:
    """Kinetic, complementary and internal energy, shape (n,) [J]."""
    return np.asarray(run["kinetic"] + run["complementary"] + run["internal"])


def highest_energy(run: Run) -> float:
    """Largest energy of a run over the initial one."""
    return float(np.max(energy(run)) / energy(run)[0])


def lost(run: Run) -> float:
    """Part of the energy that a run loses."""
    return float(run.results["energy_lost"])
