"""The dynamic Signorini problem: Doyen, Ern and Piperno (2011), Figures 2, 4 and 6 to 29."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .... import plot
from ....exact import SignoriniBar
from ....integrators import find_scheme
from ....integrators.doyen2011 import PAPER
from ... import runner
from ...axes import legend_below, panels
from ...claim import Figure, Runs
from .. import CASES
from .case import exact
from .measures import BAR, BOUNCES, BOUNCING, IMPACT, force

#: When the stress in the bar is shown [s]: the shock is on its way down, in the middle of the bar.
SNAPSHOT = 1.0
SHEET = (10.0, 4.2)  #: Width and height of two panels side by side [inch].
_SCHEME = {"color": "#0b559f", "ls": "-", "lw": 1.1}
#: On top of the scheme, whose oscillations would hide it.
_EXACT = {**plot.style("exact"), "color": "#d1711a", "lw": 1.8, "zorder": 3}
_NAMES = {IMPACT: "one impact", BOUNCES: "bounces"}

Settings = Mapping[str, float]
Names = Sequence[str]


class Shown:
    """A run that a figure shows, its parameters, exact solution, and heights of the undeformed nodes [m]."""

    def __init__(self, runs: Runs, case: str, scheme: str, settings: Settings) -> None:
        self.runs, self.case, self.scheme, self.run = runs, case, scheme, runs(case, scheme, **settings)
        self.parameters: Mapping[str, Any] = self.run.summary["parameters"]
        self.bar = exact(self.parameters)
        self.nodes: NDArray = np.linspace(0.0, self.bar.length, self.parameters["elements"] + 1)

    def in_the_bar(self, t_end: float, every: int = 1) -> NDArray:
        """Displacements of all nodes from bottom to top, of the same run again up to ``t_end`` [s]."""
        name = self.runs.scheme(self.scheme)
        problem = runner.find(self.case, name).make(name, {**self.parameters, "t_end": t_end})
        return problem.simulate([], record=problem.setup.body.rows(), energies=False, every=every)["u"]

    def displacement(self) -> NDArray:
        """Of the bottom [m]."""
        return self.run["u"][:, 0]

    def pressure(self) -> NDArray:
        """Contact force over the section of 1 m2 [Pa]."""
        return force(self.run)

    def energy(self) -> NDArray:
        """E^n - F.u^n with the scheme's mass [J]; the history has the work of the weight F."""
        run, bar = self.run, self.bar
        return run["kinetic"] + run["internal"] - run["external"] + bar.rho * bar.g0 * bar.length * bar.h0

    def bottom_stress(self) -> NDArray:
        """(K u)_0 [Pa], positive in compression."""
        u = self.in_the_bar(self.parameters["t_end"], self.parameters["every"])
        return self.bar.E * (u[:, 0] - u[:, 1]) / self.nodes[1]

    def stress(self) -> NDArray:
        """E du/dx at :data:`SNAPSHOT`, constant in an element, at both ends of each [Pa]."""
        return np.repeat(self.bar.E * np.diff(self.in_the_bar(SNAPSHOT)[-1]) / np.diff(self.nodes), 2)


class Quantity(NamedTuple):
    """The values of a panel, over time or, of the ``profile``, over the height."""

    label: str
    curve: Callable[[Shown], NDArray]  #: At the samples of the run, or at the two ends of every element.
    exact: Callable[[SignoriniBar, NDArray], NDArray]  #: At times [s], or heights [m].
    limits: tuple[float, float]  #: Of the axis, at least.
    profile: bool = False


def _exact_stress(bar: SignoriniBar, x: NDArray) -> NDArray:
    return bar.E * np.gradient(bar.displacement(x, SNAPSHOT), x)


def _exact_energy(bar: SignoriniBar, t: NDArray) -> NDArray:
    return np.full_like(t, bar.rho * bar.length * (bar.v0**2 / 2 + bar.g0 * bar.h0))


_U, _R, _KU = "displacement of the bottom $u_0$ [m]", "contact pressure $r$ [Pa]", "$(Ku)_0$ [Pa]"
_DU = "stress $E \\, \\partial_x u$ [Pa]"
_HOLD, _RANGE = SignoriniBar.force, (-20.0, 430.0)
QUANTITIES = {
    "displacement": Quantity(_U, Shown.displacement, lambda bar, t: bar.displacement(0.0, t), (-0.3, 5.3)),
    "pressure": Quantity(_R, Shown.pressure, _HOLD, _RANGE),
    "bottom stress": Quantity(f"stress at the bottom {_KU}", Shown.bottom_stress, _HOLD, _RANGE),
    "energy": Quantity("energy $E - F \\cdot u$ [J]", Shown.energy, _exact_energy, (440.0, 510.0)),
    "stress": Quantity(_DU, Shown.stress, _exact_stress, (-450.0, 150.0), True),
}


def draw_exact(runs: Runs, figure: Any, case: str, quantities: Names) -> None:
    """The exact solution alone, Figs. 2 and 4."""
    bar, end = BAR if case == IMPACT else BOUNCING, CASES[case].parameters["t_end"].default
    t = np.linspace(0.0, end, 8001)
    for ax, name in zip(_axes(figure, len(quantities)), quantities):
        ax.plot(t, QUANTITIES[name].exact(bar, t), label="exact", **plot.style("exact"))
        _label(ax, QUANTITIES[name], end)
    legend_below(figure)  # bounces fill their panel


def draw_pair(runs: Runs, figure: Any, case: str, scheme: str, quantities: Names, settings: Any) -> None:
    """Two quantities, each of a run with its settings, beside the exact ones."""
    shown = [Shown(runs, case, scheme, each) for each in settings]
    said = [_words(one) for one in shown]
    common = [text for text in said[0] if text in said[1]]
    for ax, name, one, texts in zip(_axes(figure, 2), quantities, shown, said):
        quantity = QUANTITIES[name]
        end = one.bar.length if quantity.profile else one.parameters["t_end"]
        at = np.repeat(one.nodes, 2)[1:-1] if quantity.profile else one.run["t"]
        fine = np.linspace(0.0, end, 8001)
        ax.plot(at, quantity.curve(one), label=scheme, **_SCHEME)
        ax.plot(fine, quantity.exact(one.bar, fine), label="exact", **_EXACT)
        _label(ax, quantity, end)
        ax.set_title(", ".join(text for text in texts if text not in common), fontsize=10)
    figure.suptitle(f"{find_scheme(scheme).equations}\n{', '.join(common)}", fontsize=10)
    legend_below(figure)


def _axes(figure: Any, count: int) -> Any:
    axes = panels(figure, 1, count, size=SHEET, squeeze=False)[0]
    figure.set_layout_engine("constrained", w_pad=0.1)
    return axes


def _label(ax: Any, quantity: Quantity, end: float) -> None:
    low, high = ax.get_ylim()
    ax.set(xlim=(0.0, end), ylim=(min(low, quantity.limits[0]), max(high, quantity.limits[1])))
    ax.set(xlabel="height x [m]" if quantity.profile else "time [s]", ylabel=quantity.label)


def _words(shown: Shown) -> list[str]:
    """The constants of the formula, the mesh and the step."""
    p, texts = shown.parameters, []
    if p.get("alpha"):
        texts.append(f"α = {p['alpha']:g}, β = (1 − α)²/4, γ = 1/2 − α".replace("-", "−"))
    elif "beta" in p:
        texts.append("α = 0, β = 1/4, γ = 1/2")
    texts += [f"ε = {p['eps']:g} m/N"] if "eps" in p else []
    texts += ["lumped mass"] if p.get("mass") == "lumped" else []
    return [*texts, f"Δx = {shown.nodes[1]:g} m", f"Δt = {p['h']:g} s, Courant number {p['courant']:g}"]


_BOUNCED, _STRUCK, _STRESS = ("displacement", "energy"), ("displacement", "pressure"), ("stress", "stress")


def _exact(number: int, case: str, quantities: Names, what: str = "Exact solution", **more: Any) -> Figure:
    title = f"{what}: {' and '.join(dict.fromkeys(quantities))}, {_NAMES[case]}"
    draw = partial(draw_pair if more else draw_exact, case=case, quantities=quantities, **more)
    return Figure(f"doyen-fig{number:02}", case, PAPER, f"Fig. {number}", title, draw)


def _pair(number: int, case: str, scheme: str, quantities: Names, *settings: Settings) -> Figure:
    """A row of the table; both panels have the same settings, or the right one other values of them."""
    left, right = settings if len(settings) == 2 else 2 * (settings or ({},))
    values = {name: dict.fromkeys((f"{left[name]:g}", f"{right[name]:g}")) for name in left}
    said = "".join(f", {name} = {' and '.join(both)}" for name, both in values.items())
    what = f"Discretization {scheme.removeprefix('dep-')}{said}"
    return _exact(number, case, quantities, what, scheme=scheme, settings=(left, right))


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
    _pair(28, IMPACT, "dep-7.1", _STRESS, {"alpha": 0.0, "h": 5e-3}, {"alpha": 0.0, "h": 1.25e-3}),
    _pair(29, IMPACT, "dep-7.1", _STRESS, {"alpha": -0.06, "h": 5e-3}, {"alpha": -0.06, "h": 1.25e-3}),
)
