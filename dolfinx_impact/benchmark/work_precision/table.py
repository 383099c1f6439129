"""The costs of an error by case and scheme, as the report and the documentation show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..runs import Runs
from .measure import measured, ranking
from .studies import STUDIES


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


HEAD = ("case", "error", "least time", "others, times as much", "not reached by")


def grid(several: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """The cells of all rows."""
    return [cells(row) for row in several]
