"""Parameters of schemes and cases as the command line takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Option:
    """A parameter of a scheme or a case: default, unit, meaning, and what is allowed.

    Attributes:
        allowed: The values there are, empty for any.
        words: Words that may stand for a number.
    """

    default: Any
    unit: str
    help: str
    allowed: tuple[Any, ...] = ()
    words: tuple[str, ...] = ()


def mass(*allowed: str) -> dict[str, Option]:
    """The mass matrices that a scheme takes, the first one by default."""
    return {"mass": Option(allowed[0], "-", "mass matrix", allowed)}


#: Mass matrices of explicit schemes; of implicit ones by Di Stasio et al. and by Doyen et al.
LUMPED = mass("lumped")
CONSISTENT = {"mass": Option("consistent", "-", "mass matrix", ("lumped", "consistent"))}
BOTH = mass("consistent", "lumped")
TOUCHING = {
    "touching": Option(
        True, "-", "closed when g <= gap_tolerance; false: when g < -gap_tolerance", (True, False)
    )
}
FORECAST = {"forecast": Option(0.5, "-", "part of the step over which the gap is forecast, 0 to 1")}
THETA = {
    "theta": Option(0.5, "-", "weight of the end of the step, 0 to 1"),
    **FORECAST,
    "force": Option("trapezoid", "-", "mean of both ends or midpoint", ("trapezoid", "midpoint")),
    **CONSISTENT,
    **TOUCHING,
}
