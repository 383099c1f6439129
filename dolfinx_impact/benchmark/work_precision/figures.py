"""Work-precision diagrams, a line for each scheme, and the costs of an error as tables show them.

The work is processor time, and beside it the number of force evaluations.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from ...plot import style
from ..claim import Figure, Runs
from .measure import FORCES, SECONDS, Study, front, measured, ranking
from .studies import STUDIES

SOURCE = "dolfinx_impact"  #: In the place of a paper.
#: Of a table of costs.
HEAD = ("case", "error", "least time", "others, times as much", "fewest forces", "not reached by")
_LABELS = {SECONDS: "processor time [s]", FORCES: "force evaluations [-]"}
_COLUMNS = 4  #: Of a legend below the panels.


def draw(runs: Runs, figure: Any, study: Study) -> None:
    """A row of panels over time, one over force evaluations, with a panel for each quantity.

    In the legend the scheme that reaches the goal in the least time stands first.
    """
    points = measured(runs, study)
    axes = figure.subplots(len(_LABELS), len(study.quantities), squeeze=False, sharey="col")
    handles: dict[str, Any] = {}
    for (quantity, goal), column in zip(study.quantities.items(), axes.T):
        order = ranking(points, quantity, goal)
        column[0].set_title(quantity, fontsize="medium")
        for ax, (work, label) in zip(column, _LABELS.items()):
            for scheme in order:
                costs = front(points[scheme], quantity, work)
                (handles[scheme],) = ax.loglog(*costs, label=scheme, **_look(scheme))
            ax.axhline(goal, color="0.6", lw=0.8, ls=":")
            ax.set(xlabel=label, ylabel="error [-]" if ax in axes[:, 0] else "")
            # Labels between powers of ten would overlap in narrow panels.
            ax.tick_params(axis="x", which="minor", labelbottom=False)
            ax.grid(alpha=0.3)
    place, columns = "outside lower center", _COLUMNS
    if axes.shape[1] == 1:
        place, columns = "outside right center", 1
    figure.set_size_inches(8.0, 7.0 + 0.2 * (len(handles) // columns) * (columns > 1))
    figure.legend(handles.values(), handles, loc=place, ncols=columns, frameon=False, fontsize="small")


def _look(scheme: str) -> dict[str, Any]:
    """Schemes that have a number in their paper are marked by it."""
    look = {**style(scheme), "markevery": 1, "ms": 3.5, "lw": 1.0}
    if not scheme.startswith("dep-"):
        return look
    number = scheme.removeprefix("dep-")
    return {**look, "marker": f"${number}$", "ms": 10.0, "mew": 0.3, "mfc": "0.2", "lw": 0.6, "color": "0.5"}


def _figure(study: Study) -> Figure:
    words = (
        "What a smaller error costs, in time and in force evaluations; errors in norm (35) against "
        f"{study.truth}, dotted: compared below"
    )
    id, where = f"work-precision-{study.case}", "Work and precision"
    return Figure(id, study.case, SOURCE, where, words, partial(draw, study=study))


FIGURES: tuple[Figure, ...] = tuple(_figure(study) for study in STUDIES.values())


# -- the table


def rows(runs: Runs, case: str) -> list[dict[str, Any]]:
    """One row for each quantity of a case: its goal and what it takes each scheme, the least first.

    ``seconds`` and ``forces`` (evaluations) are None for a scheme that runs the case but does not reach the
    goal with the steps and meshes of the study; schemes that did not run at all are not named.
    """
    study = STUDIES[case]
    points = measured(runs, study)
    return [
        {"case": case, "quantity": name, "goal": goal}
        | {work: ranking(points, name, goal, work) for work in _LABELS}
        for name, goal in study.quantities.items()
    ]


def cells(row: Mapping[str, Any]) -> list[str]:
    """Case, quantity with its goal, who takes least time, the others over it, fewest forces, and the rest."""
    reached = {scheme: s for scheme, s in row["seconds"].items() if s is not None}
    others = [scheme for scheme in row["seconds"] if scheme not in reached]
    first, *behind = reached or [""]
    best = reached.get(first, 0.0)
    ratios = (f"{scheme} {ratio(reached[scheme] / best)}" for scheme in behind)
    leader = f"{first} ({1e3 * best:.2g} ms)" if first else "none"
    quantity = f"{row['quantity']} within {row['goal']:g}"
    return [row["case"], quantity, leader, ", ".join(ratios) or "-", _fewest(row), ", ".join(others) or "-"]


def _fewest(row: Mapping[str, Any]) -> str:
    """The scheme that evaluates the force least often: its name, and how often; a dash in older reports."""
    scheme, count = next(iter(row.get("forces", {}).items()), ("", None))
    return "-" if count is None else f"{scheme} ({float(f'{count:.2g}'):.0f})"


def ratio(value: float) -> str:
    """A ratio of times, which are not known to more than two digits."""
    return f"{value:.1f}" if value < 9.95 else f"{float(f'{value:.2g}'):.0f}"
