"""Comparisons of each case: quantities, refinements, starts, and the error at which schemes compete."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from ...integrators import find_scheme
from ..cases.bouncing_ball import case as bouncing_ball
from ..cases.bouncing_ball.measures import drop_heights
from ..cases.impacting_bar import case as impacting_bar
from ..cases.impacting_bar.measures import exact_force
from ..cases.signorini import case as signorini
from ..cases.two_bars import measures as two_bars
from ..cases.van_der_pol import measures as van_der_pol
from ..convergence import at_times, norm35
from ..runs import Run, Runs
from .measure import Errors, Settings, Study

_MESHES = (25, 50, 100, 200, 400)
_IMPLICIT = (0.7, 2.8)  #: Courant numbers of implicit schemes, whose steps are bounded by accuracy alone.


def steps(h: float, by: int, times: int) -> Callable[[str], list[Settings]]:
    """Steps from ``h`` [s] on, each one ``by`` times smaller than the one before; two less if implicit.

    One less if implicit in the velocity alone.
    """

    def of(scheme: str) -> list[Settings]:
        less = 1 if scheme == "cd-lagrange-implicit" else 0 if find_scheme(scheme).explicit else 2
        return [{"h": h / by**k} for k in range(times + 1 - less)]

    return of


def meshes(count: int) -> Callable[[str], list[Settings]]:
    """So many refined bars with the Courant numbers of a scheme; one less if implicit."""

    def of(scheme: str) -> list[Settings]:
        if (chosen := find_scheme(scheme)).explicit:
            courant = chosen.courant or 0.7
            return [{"elements": n, "courant": courant} for n in _MESHES[:count]]
        return [{"elements": n, "courant": c} for n in _MESHES[: count - 1] for c in _IMPLICIT]

    return of


# -- small systems


def ball(_: Runs, run: Run) -> Errors:
    """Of the position over two impacts."""
    true = bouncing_ball.exact(run.summary["parameters"]).position(run["t"])
    return {"position": norm35(run["u"][:, 0], true)}


_OSCILLATORS = van_der_pol.Extent(steps=(1.6e-2,), starts=3)


def oscillator(_: Runs, run: Run) -> Errors:
    """Of the position over two impacts; it starts outside of the wall."""
    true = van_der_pol.exact(run["t"][1:], run.summary["parameters"]["v0"])
    return {"position": norm35(run["u"][1:, 0], true)}


def spring(_: Runs, run: Run) -> Errors:
    """Of the position over elastic impacts."""
    p = run.summary["parameters"]
    names = ("m", "k", "l0", "radius", "x0", "y0", "vx0", "vy0")
    return {"position": norm35(run["u"], swung(tuple(run["t"]), *(p[name] for name in names)))}


@cache
def swung(t: tuple[float, ...], m: float, k: float, l0: float, radius: float, *state: float) -> NDArray:
    """Positions of a mass on a spring in a round wall that reflects it, shape (n, 2) [m]."""

    def motion(_: float, y: NDArray) -> list[float]:
        pull = -k / m * (1 - l0 / math.hypot(y[0], y[1]))
        return [y[2], y[3], pull * y[0], pull * y[1]]

    def gap(_: float, y: NDArray) -> float:
        return radius - math.hypot(y[0], y[1])

    gap.terminal, gap.direction = True, -1.0  # type: ignore[attr-defined]
    times, positions, start, y = np.array(t), np.empty((len(t), 2)), 0.0, np.array(state)
    while True:
        flight: Any = solve_ivp(motion, (start, times[-1] + 1e-9), y, "DOP853", events=gap,
                                dense_output=True, rtol=1e-12, atol=1e-12)  # fmt: skip
        inside = (times >= start) & (times <= flight.t[-1])
        positions[inside] = flight.sol(times[inside])[:2].T
        if flight.status != 1:
            return positions
        start, y = flight.t[-1], flight.y[:, -1].copy()
        normal = y[:2] / np.linalg.norm(y[:2])
        y[2:] -= 2 * (y[2:] @ normal) * normal


def arch(runs: Runs, run: Run) -> Errors:
    """Of all positions against CD-Lagrange with a small step."""
    fine = Runs(runs.folder)("discrete-arch", "cd-lagrange", h=_ARCH / 128, every=16)
    times = run["t"][run["t"] <= fine["t"][-1]]
    return {"positions": norm35(at_times(run["t"], run["u"], times), at_times(fine["t"], fine["u"], times))}


_ARCH = 0.6  #: Largest step of the arch [s].

# -- bars


def _of_node(run: Run, exact: Any, force: Callable[[NDArray], NDArray], known: Any = slice(None)) -> Errors:
    """Of displacement and velocity of the contact node, and of the contact force, over the known samples."""
    t = run["t"]
    # The samples of HATI, at coarse times, have the impulses of all fine steps in between.
    pairs = {
        "displacement": (run["u"], exact.displacement(0.0, t[known])),
        "velocity": (run["v_t"], exact.velocity(0.0, t[known])),
        "contact force": (run["r"] / (t[1] - t[0]), force(t[known])),
    }
    return {name: norm35(values[known, 0], true) for name, (values, true) in pairs.items()}


def bar(_: Runs, run: Run) -> Errors:
    """Of the bar at the wall, whose force is constant while it touches."""
    exact = impacting_bar.exact(run.summary["parameters"])
    return _of_node(run, exact, partial(exact_force, exact))


def fallen(_: Runs, run: Run) -> Errors:
    """Of the Signorini bar."""
    exact = signorini.exact(run.summary["parameters"])
    return _of_node(run, exact, exact.force, run["t"] < exact.known_until)


def met(_: Runs, run: Run) -> Errors:
    """Of the tip of the left one of two bars, as of the others."""
    errors = two_bars.errors(run)
    return {"contact force": errors.pop("force"), **errors}


def divided(scheme: str) -> list[Settings]:
    """Refined bars, a quarter explicit, with two ratios of the steps where the scheme has some."""
    ratios: list[Settings] = [{"ratio": m} for m in (2, 10)] if find_scheme(scheme).divided else [{}]
    return [{"elements": n, "explicit_elements": n // 4, **ratio} for n in _MESHES[1:] for ratio in ratios]


# -- solids


def sphere(_: Runs, run: Run) -> Errors:
    """Of largest force and duration of the contact, beside Hertz's; a run without rebound has none."""
    results, names = run.results, {"peak force": "peak_force", "duration": "duration"}
    known = {what: results[name] / results[f"{name}_hertz"] for what, name in names.items() if results[name]}
    return {what: abs(known[what] - 1) if what in known else math.nan for what in names}


def wave(_: Runs, run: Run) -> Errors:
    """Of the displacement after a period of Lame's mode, in the L2 norm."""
    return {"displacement": run.results["error_displacement"]}


def _gaps(gap: float, step: float) -> list[Settings]:
    """Distances of the wall [m] that spread the impact over a step of the coarsest bar."""
    return [{"gap": gap + step * part} for part in (0.0, 0.4, 0.8)]


_BAR = impacting_bar.exact({name: option.default for name, option in impacting_bar.PARAMETERS.items()})
_ADVANCE = 0.7 * _BAR.length / _MESHES[0] / _BAR.wave_speed * _BAR.v0  #: Of that bar in a step [m].
_WAVES = {"displacement": 1e-2, "velocity": 0.03, "contact force": 0.01}
_COARSE = {**_WAVES, "velocity": 0.06}
_BOUNCES = {"displacement": 0.03, "velocity": 0.15, "contact force": 0.06}
_FAR = replace(_BAR, gap=_BAR.gap + _ADVANCE)
_END = 2 * _FAR.contact_end - _FAR.contact_start  #: Some flight after the latest impact [s].

_WAVE_MESHES = ((1, 8), (1, 16), (1, 32), (2, 4), (2, 8), (2, 16))  #: Degrees, and elements along a side.

STUDIES: dict[str, Study] = {
    study.case: study
    for study in (
        Study(
            "bouncing-ball", {"position": 3e-3}, ball, steps(4e-2, 4, 5),
            [{"z0": z0, "t_end": 1.5} for z0 in drop_heights(3, 4e-2)],
        ),
        Study(
            "van-der-pol", {"position": 1e-2}, oscillator, steps(1.6e-2, 2, 5),
            [{"v0": van_der_pol.start(k, _OSCILLATORS), "t_end": 10.0} for k in range(3)],
        ),
        Study(
            "rotating-spring", {"position": 1e-2}, spring, steps(5e-2, 4, 4),
            [{"vx0": vx0, "t_end": 5.0} for vx0 in (1.0, 0.9)],
        ),
        Study(
            "discrete-arch", {"positions": 1e-3}, arch, steps(_ARCH, 2, 3),
            truth="CD-Lagrange with a step a hundred times smaller",
        ),
        Study(
            "impacting-bar", _WAVES, bar, meshes(5),
            [{**gap, "t_end": _END} for gap in _gaps(_BAR.gap, _ADVANCE)],
        ),
        Study("signorini-impact", _COARSE, fallen, meshes(4)),
        Study("signorini-bounces", _BOUNCES, fallen, meshes(3), [{"t_end": 1 + 16 / 3}]),
        Study("two-bars", _WAVES, met, meshes(5), _gaps(2e-4, 2 * _ADVANCE)),
        Study(
            "hertz-sphere", {"peak force": 0.03, "duration": 0.012}, sphere,
            lambda scheme: [{"resolution": n} for n in (1, 2, 3, 4)], truth="Hertz's impact",
        ),
        Study(
            "wave-block", {"displacement": 1e-3}, wave,
            lambda scheme: [{"degree": d, "elements": n} for d, n in _WAVE_MESHES],
        ),
        Study("split-bar", _COARSE, bar, divided, _gaps(1e-4, _ADVANCE)),
    )
}  # fmt: skip
