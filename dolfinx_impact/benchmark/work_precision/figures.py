"""Work-precision diagrams, a line for each scheme, and the costs of an error as tables show them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from ...plot import style
from ..claim import Figure, Runs
from .measure import Study, front, measured, ranking
from .studies import STUDIES

SOURCE = "dolfinx_impact"  #: In the place of a paper.
#: Of a table of costs.
HEAD = ("case", "error", "least time", "others, times as much", "not reached by")
_COLUMNS = 4  #: Of a legend below the panels.


def draw(runs: Runs, figure: Any, study: Study) -> None:
    """A panel for each quantity; in the legend the scheme that reaches the goal first stands first."""
    points = measured(runs, study)
    axes = figure.subplots(1, len(study.quantities), squeeze=False)[0]
    handles: dict[str, Any] = {}
    for ax, (quantity, goal) in zip(axes, study.quantities.items()):
        for scheme in ranking(points, quantity, goal):
            (handles[scheme],) = ax.loglog(*front(points[scheme], quantity), label=scheme, **_look(scheme))
        ax.axhline(goal, color="0.6", lw=0.8, ls=":")
        ax.set(xlabel="processor time [s]", ylabel=f"error of the {quantity} [-]")
        # Labels between powers of ten would overlap in narrow panels.
        ax.tick_params(axis="x", which="minor", labelbottom=False)
        ax.grid(alpha=0.3)
    if len(axes) == 1:
        place, columns = "outside right center", 1
    else:
        place, columns = "outside lower center", _COLUMNS
        figure.set_size_inches(8.0, 4.2 + 0.2 * (len(handles) // columns))
    figure.legend(handles.values(), handles, loc=place, ncols=columns, frameon=False, fontsize="small")


def _look(scheme: str) -> dict[str, Any]:
    """Schemes that have a number in their paper are marked by it."""
    look = {**style(scheme), "markevery": 1, "ms": 3.5, "lw": 1.0}
    if not scheme.startswith("dep-"):
        return look
    number = scheme.removeprefix("dep-")
    return {**look, "marker": f"${number}$", "ms": 10.0, "mew": 0.3, "mfc": "0.2", "lw": 0.6, "color": "0.5"}


def _figure(study: Study) -> Figure:
    words = f"What a smaller error costs; errors in norm (35) against {study.truth}, dotted: compared below"
    id, where = f"work-precision-{study.case}", "Work and precision"
    return Figure(id, study.case, SOURCE, where, words, partial(draw, study=study))


FIGURES: tuple[Figure, ...] = tuple(_figure(study) for study in STUDIES.values())


# -- the table


def rows(runs: Runs, case: str) -> list[dict[str, Any]]:
    """One row for each quantity of a case: its goal and the seconds of each scheme, the least first.

    Seconds are None for a scheme that runs the case but does not reach the goal with the steps and meshes of
    the study; schemes that did not run at all are not named.
    """
    study = STUDIES[case]
    points = measured(runs, study)
    return [
        {"case": case, "quantity": name, "goal": goal, "seconds": ranking(points, name, goal)}
        for name, goal in study.quantities.items()
    ]


def cells(row: Mapping[str, Any]) -> list[str]:
    """Case, quantity with its goal, the first scheme with its time, the others over it, and the rest."""
    reached = {scheme: s for scheme, s in row["seconds"].items() if s is not None}
    others = [scheme for scheme in row["seconds"] if scheme not in reached]
    first, *behind = reached or [""]
    best = reached.get(first, 0.0)
    ratios = (f"{scheme} {ratio(reached[scheme] / best)}" for scheme in behind)
    leader = f"{first} ({1e3 * best:.2g} ms)" if first else "none"
    quantity = f"{row['quantity']} within {row['goal']:g}"
    return [row["case"], quantity, leader, ", ".join(ratios) or "-", ", ".join(others) or "-"]


def ratio(value: float) -> str:
    """A ratio of times, which are not known to more than two digits."""
    return f"{value:.1f}" if value < 9.95 else f"{float(f'{value:.2g}'):.0f}"
