"""Figure of measured Taylor tests: final lengths over the speed, measured and predicted."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...axes import legend_below, panels
from ...claim import Figure, Runs
from . import taylor_claims as c
from . import taylor_data

_BLUE = "#0b559f"


def draw(runs: Runs, figure: Any) -> None:
    """A panel a set: all measured lengths, those predicted of the shots that were run, the claimed band."""
    axes = panels(figure, 3, 4, size=(13, 9), sharey=True)
    for ax, name in zip(np.ravel(axes), taylor_data.SETS):
        every = taylor_data.shots()[name]
        pairs = c.shots_of(c.run_of(runs, c.CD, name))
        v = np.array([shot.v for shot, _ in pairs])
        found = np.array([each["length_ratio"] for _, each in pairs])
        band = np.array([taylor_data.allowed(shot) or 0.0 for shot, _ in pairs])
        if band.any():
            ax.fill_between(v, found / (1 + band), found / (1 - band), color=_BLUE, alpha=0.15, lw=0,
                            label="claimed band")  # fmt: skip
        ax.plot(v, found, "-", color=_BLUE, lw=1.2, marker=".", label="predicted")
        speeds, lengths = np.array([(shot.v, shot.length_ratio) for shot in every]).T
        ax.plot(speeds, lengths, "o", color="#b3261e", mfc="none", ms=5, label="measured")
        ax.set(title=name if band.any() else f"{name} (not claimed)", xlabel="speed [m/s]")
        ax.set_ylabel("final length / first [-]")
    legend_below(figure, columns=3)


FIGURES = (
    Figure("taylor-tests-lengths", c.CASE, "79 shots of 5 sources", "Taylor tests",
           "Taylor tests: final lengths over the speed, measured and predicted without tuning", draw),
)  # fmt: skip
