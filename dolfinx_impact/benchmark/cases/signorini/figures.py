"""The dynamic Signorini problem: Doyen, Ern and Piperno (2011), Figures 2, 4 and 6 to 29.

All but the first two have one form: two quantities of runs with one discretization, beside the exact ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import plot
from ....exact import SignoriniBar
from ....integrators import find_scheme
from ....integrators.doyen2011 import PAPER as DOYEN
from ....output.result import Result
from ....simulation.loop import simulate
from ... import runner
from ...claim import Figure
from ...runs import Run, Runs
from .. import CASES
from . import case as signorini

IMPACT, BOUNCES = "signorini-impact", "signorini-bounces"
#: When the stress in the bar is shown [s]: the shock is on its way down, in the middle of the bar.
SNAPSHOT = 1.0
#: Width and height of two panels side by side [inch].
SHEET = (10.0, 4.2)
_SCHEME = {"color": "#0b559f", "ls": "-", "lw": 1.1}
#: On top of the scheme, whose oscillations would hide it.
_EXACT = {**plot.style("exact"), "color": "#d1711a", "lw": 1.8, "zorder": 3}
_NAMES = {IMPACT: "one impact", BOUNCES: "bounces"}

Settings = Mapping[str, float]


@dataclass(frozen=True)
class Shown:
    """A run that a figure shows.

    Attributes:
        runs: Where it comes from.
        case, scheme: What was run.
        run: The run.
    """

    runs: Runs
    case: str
    scheme: str
    run: Run

    @property
    def parameters(self) -> Mapping[str, Any]:
        """All of the run's, its time step and Courant number among them."""
        return self.run.summary["parameters"]

    @property
    def bar(self) -> SignoriniBar:
        """The exact solution."""
        return signorini.exact(self.parameters)

    @property
    def t(self) -> NDArray:
        """Times of the samples [s]."""
        return self.run["t"]

    @property
    def nodes(self) -> NDArray:
        """Heights of the nodes of the undeformed bar [m]."""
        return np.linspace(0.0, self.bar.length, self.parameters["elements"] + 1)

    def in_the_bar(self, t_end: float, every: int = 1) -> Result:
        """The same run again up to ``t_end`` [s], with the displacements of all nodes from bottom to top.

        Other runs keep only the bottom.
        """
        name = self.runs.scheme(self.scheme)
        problem = runner.find(self.case, name).make(name, self.parameters, False)
        rows = problem.integrator.system.rows()
        return simulate(
            problem.integrator, t_end=t_end, record=rows, energies=False, every=every, progress=False
        )


@dataclass(frozen=True)
class Quantity:
    """What a panel shows, over time or, of the profile, over the height.

    Attributes:
        label: Its name and unit.
        curve: Values of a run at its samples, or at the two ends of every element.
        exact: The exact ones at some times [s], or heights [m].
        limits: The range that the axis shows in any case; beyond it the curve decides.
        profile: Whether it is one over the height.
    """

    label: str
    curve: Callable[[Shown], NDArray]
    exact: Callable[[SignoriniBar, NDArray], NDArray]
    limits: tuple[float, float]
    profile: bool = False


def displacement(shown: Shown) -> NDArray:
    """Of the bottom [m]."""
    return shown.run["u"][:, 0]


def pressure(shown: Shown) -> NDArray:
    """Of contact [Pa]: the impulse of a step over the step, on 1 m2."""
    return shown.run["r"][:, 0] / shown.run.results["h"]


def energy(shown: Shown) -> NDArray:
    """E^n - F.u^n with the scheme's mass [J]; the history has the work of the weight F since the start."""
    run = shown.run
    return run["kinetic"] + run["internal"] - run["external"] + _potential(shown.bar)


def bottom_stress(shown: Shown) -> NDArray:
    """(K u)_0 [Pa], positive in compression."""
    u = shown.in_the_bar(shown.parameters["t_end"], shown.parameters["every"])["u"]
    return shown.bar.E * (u[:, 0] - u[:, 1]) / shown.nodes[1]


def stress(shown: Shown) -> NDArray:
    """E du/dx at :data:`SNAPSHOT`, constant in an element, at both ends of each [Pa]."""
    u = shown.in_the_bar(SNAPSHOT)["u"][-1]
    return np.repeat(shown.bar.E * np.diff(u) / np.diff(shown.nodes), 2)


def _exact_stress(bar: SignoriniBar, x: NDArray) -> NDArray:
    return bar.E * np.gradient(bar.displacement(x, SNAPSHOT), x)


def _potential(bar: SignoriniBar) -> float:
    """-F.u at the start [J]."""
    return bar.rho * bar.g0 * bar.length * bar.h0


def _exact_energy(bar: SignoriniBar, t: NDArray) -> NDArray:
    kinetic = bar.rho * bar.length * bar.v0**2 / 2
    return np.full_like(t, kinetic + _potential(bar))


QUANTITIES = {
    "displacement": Quantity(
        "displacement of the bottom $u_0$ [m]",
        displacement,
        lambda bar, t: bar.displacement(0.0, t),
        (-0.3, 5.3),
    ),
    "pressure": Quantity("contact pressure $r$ [Pa]", pressure, lambda bar, t: bar.force(t), (-20.0, 430.0)),
    "bottom stress": Quantity(
        "stress at the bottom $(Ku)_0$ [Pa]", bottom_stress, lambda bar, t: bar.force(t), (-20.0, 430.0)
    ),
    "energy": Quantity("energy $E - F \\cdot u$ [J]", energy, _exact_energy, (440.0, 510.0)),
    "stress": Quantity("stress $E \\, \\partial_x u$ [Pa]", stress, _exact_stress, (-450.0, 150.0), True),
}


def draw_exact(runs: Runs, figure: Any, case: str, quantities: Sequence[str]) -> None:
    """The exact solution alone, Figs. 2 and 4."""
    figure.set_layout_engine("constrained", w_pad=0.1)
    parameters = {name: option.default for name, option in CASES[case].parameters.items()}
    bar, t = signorini.exact(parameters), np.linspace(0.0, parameters["t_end"], 8001)
    for ax, name in zip(figure.subplots(1, len(quantities), squeeze=False)[0], quantities):
        quantity = QUANTITIES[name]
        ax.plot(t, quantity.exact(bar, t), label="exact", **plot.style("exact"))
        _label(ax, quantity, t[-1])
    _finish(figure)


def draw_pair(
    runs: Runs, figure: Any, case: str, scheme: str, panels: Sequence[tuple[str, Settings]]
) -> None:
    """Two quantities, each of a run with its settings, beside the exact ones."""
    figure.set_layout_engine("constrained", w_pad=0.1)
    shown = [Shown(runs, case, scheme, runs(case, scheme, **settings)) for _, settings in panels]
    for ax, (name, _), one in zip(figure.subplots(1, len(panels)), panels, shown):
        _draw(ax, QUANTITIES[name], one)
    said = [_settings(one) for one in shown]
    common = [text for text in said[0] if all(text in others for others in said)]
    figure.suptitle(f"{find_scheme(scheme).equations}\n{', '.join(common)}", fontsize=10)
    for ax, texts in zip(figure.axes, said):
        ax.set_title(", ".join(text for text in texts if text not in common), fontsize=10)
    _finish(figure)


def _draw(ax: Any, quantity: Quantity, shown: Shown) -> None:
    end = shown.bar.length if quantity.profile else shown.parameters["t_end"]
    at = np.repeat(shown.nodes, 2)[1:-1] if quantity.profile else shown.t
    fine = np.linspace(0.0, end, 8001)
    ax.plot(at, quantity.curve(shown), label=shown.scheme, **_SCHEME)
    ax.plot(fine, quantity.exact(shown.bar, fine), label="exact", **_EXACT)
    _label(ax, quantity, end)


def _label(ax: Any, quantity: Quantity, end: float) -> None:
    low, high = ax.get_ylim()
    ax.set(xlim=(0.0, end), ylim=(min(low, quantity.limits[0]), max(high, quantity.limits[1])))
    ax.set(xlabel="height x [m]" if quantity.profile else "time [s]", ylabel=quantity.label)
    ax.grid(alpha=0.3)


def _finish(figure: Any) -> None:
    figure.set_size_inches(SHEET)
    # Bounces fill their panel, and leave no room for a legend.
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)


def _settings(shown: Shown) -> list[str]:
    """The constants of the formula, the mesh and the step, each in words."""
    p, texts = shown.parameters, []
    if p.get("alpha"):
        texts.append(f"α = {p['alpha']:g}, β = (1 − α)²/4, γ = 1/2 − α".replace("-", "−"))
    elif "beta" in p:
        texts.append("α = 0, β = 1/4, γ = 1/2")
    if "eps" in p:
        texts.append(f"ε = {p['eps']:g} m/N")
    if p.get("mass") == "lumped":
        texts.append("lumped mass")
    return [*texts, f"Δx = {shown.nodes[1]:g} m", f"Δt = {p['h']:g} s, Courant number {p['courant']:g}"]


_BOUNCED, _STRUCK = ("displacement", "energy"), ("displacement", "pressure")


def _pair(
    number: int,
    case: str,
    scheme: str,
    quantities: tuple[str, str],
    left: Settings | None = None,
    right: Settings | None = None,
) -> Figure:
    """A row of the table; the right panel has the settings of the left one, or other values of them."""
    left = left or {}
    right = left if right is None else right
    panels = tuple(zip(quantities, (left, right)))
    values = {name: dict.fromkeys((f"{left[name]:g}", f"{right[name]:g}")) for name in left}
    said = "".join(f", {name} = {' and '.join(both)}" for name, both in values.items())
    shows = " and ".join(dict.fromkeys(quantities))
    title = f"Discretization {scheme.removeprefix('dep-')}{said}: {shows}, {_NAMES[case]}"
    draw = partial(draw_pair, case=case, scheme=scheme, panels=panels)
    return Figure(f"doyen-fig{number:02}", case, DOYEN, f"Fig. {number}", title, draw)


def _exact(number: int, case: str, quantities: tuple[str, ...]) -> Figure:
    title = f"Exact solution: {' and '.join(quantities)}, {_NAMES[case]}"
    draw = partial(draw_exact, case=case, quantities=quantities)
    return Figure(f"doyen-fig{number:02}", case, DOYEN, f"Fig. {number}", title, draw)


# Where no time step is given it is the paper's: 5 ms implicit, 2.5 ms explicit.
FIGURES: tuple[Figure, ...] = (
    _exact(2, IMPACT, _STRUCK),
    _exact(4, BOUNCES, ("displacement",)),
    _pair(6, IMPACT, "dep-4.1", _STRUCK, {"alpha": 0.0}),
    _pair(7, BOUNCES, "dep-4.1", _BOUNCED, {"alpha": 0.0}),
    _pair(8, IMPACT, "dep-4.1", _STRUCK, {"alpha": -0.2}),
    _pair(9, BOUNCES, "dep-4.1", _BOUNCED, {"alpha": -0.2}),
    _pair(10, IMPACT, "dep-4.3", _STRUCK),
    _pair(11, IMPACT, "dep-4.4", ("pressure", "bottom stress")),
    _pair(12, BOUNCES, "dep-4.4", _BOUNCED),
    _pair(13, IMPACT, "dep-4.6", _STRUCK),
    _pair(14, BOUNCES, "dep-4.6", _BOUNCED),
    _pair(15, IMPACT, "dep-4.7", _STRUCK),
    _pair(16, BOUNCES, "dep-4.7", _BOUNCED),
    _pair(17, IMPACT, "dep-5.1", _STRUCK, {"eps": 1e-4}),
    _pair(18, IMPACT, "dep-5.1", ("pressure", "pressure"), {"eps": 1e-3}, {"eps": 1e-5}),
    _pair(19, BOUNCES, "dep-5.1", _BOUNCED, {"eps": 1e-4}),
    _pair(20, IMPACT, "dep-6.1", ("displacement", "bottom stress")),
    _pair(21, BOUNCES, "dep-6.1", _BOUNCED),
    _pair(22, IMPACT, "dep-6.2", _STRUCK),
    _pair(23, BOUNCES, "dep-6.2", _BOUNCED),
    _pair(24, IMPACT, "dep-7.1", _STRUCK, {"alpha": 0.0}),
    _pair(25, BOUNCES, "dep-7.1", _BOUNCED, {"alpha": 0.0}),
    _pair(26, IMPACT, "dep-7.2", _STRUCK),
    _pair(27, BOUNCES, "dep-7.2", _BOUNCED),
    _pair(
        28, IMPACT, "dep-7.1", ("stress", "stress"), {"alpha": 0.0, "h": 5e-3}, {"alpha": 0.0, "h": 1.25e-3}
    ),
    _pair(
        29,
        IMPACT,
        "dep-7.1",
        ("stress", "stress"),
        {"alpha": -0.06, "h": 5e-3},
        {"alpha": -0.06, "h": 1.25e-3},
    ),
)
