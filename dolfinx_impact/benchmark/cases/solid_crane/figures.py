"""Gaps and flights of the wheels of the solid crane beside those of the frame, under one record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...axes import panels
from ...claim import FEKAK, Figure, Runs
from ..bridge_crane.measures import CASE as FRAME
from .case import FRAME_STEP

CASE, CD, HATI = "solid-crane", "cd-lagrange", "hati"
#: Labels and looks of the frame, the solid crane with HATI, and explicit throughout.
_LOOKS: tuple[dict[str, Any], ...] = (
    {"label": "frame, explicit", "color": "0.35"},
    {"label": "solid, HATI", "color": "#0b559f"},
    {"label": "solid, explicit", "color": "#d1711a"},
)


def draw_flights(runs: Runs, figure: Any, settings: Mapping[str, Any] = {}) -> None:
    """The gap of a wheel over time, and the flights of all wheels of 10 ms and more.

    ``settings`` are those of the solid crane; the frame has the same record and end.
    """
    solid = runs(CASE, HATI, **settings)
    same = {name: solid.summary["parameters"][name] for name in ("record", "trolley", "t_end")}
    shown = runs(FRAME, CD, h=FRAME_STEP, every=100, **same), solid, runs(CASE, CD, **settings)
    gaps, flights = panels(figure, 2, 1, size=(11, 6.5), sharex=True, height_ratios=(1.3, 1))
    for run, look, line in zip(shown, _LOOKS, ("-", "-", "--")):
        gap = run["u"][:, 0] - run["u"][:, 4]
        gaps.plot(run["t"], 1e3 * (gap - gap[0]), ls=line, lw=1.2, **look)
    landings = shown[1].results["landings_frame"], *(run.results["landings"] for run in shown[1:])
    draw_bars(flights, landings)
    end = float(shown[1]["t"][-1])
    first = min((time - length for each in landings for time, length, _ in each), default=0.0)
    gaps.set(ylabel="gap of wheel 1 [mm]", xlim=(max(0.0, first - 0.03 * end), end))
    gaps.legend(frameon=False, loc="upper left")
    flights.set(xlabel="time [s]", ylabel="wheel", yticks=(1, 2, 3, 4), ylim=(4.6, 0.4))
    flights.set_title("flights of 10 ms and more", fontsize=9, loc="right")
    for ax in (gaps, flights):
        ax.set_axisbelow(True)
    p = shown[1].summary["parameters"]
    words = f"our record, vertical; friction {p['friction']:g}, ratio of HATI {p['ratio']}"
    figure.suptitle(words, fontsize=10)


def draw_bars(ax: Any, landings: Sequence[Sequence[Any]]) -> None:
    """A bar for every flight, wheel by wheel; landings of the runs in the order of the looks."""
    for place, (each, look) in enumerate(zip(landings, _LOOKS)):
        for time, length, wheels in each:
            for wheel in wheels:
                ax.barh(wheel + 0.25 * (place - 1), length, 0.2, time - length, color=look["color"])


FIGURES = (
    Figure("solid-crane-flights", CASE, FEKAK, "Sect. 4, announced",
           "Bridge crane as a solid: gaps and flights of the wheels beside those of the frame", draw_flights),
)  # fmt: skip
