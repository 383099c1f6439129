"""Parameters of schemes and cases as the command line takes them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Option:
    """A parameter of a scheme or a case: default, unit, meaning, and what is allowed.

    Attributes:
        interval: Interval of the values, ``"(0, inf)"``, ``"[0, 1]"``, ``"[1, 200]"``; empty for any.
        allowed: The values there are, empty for any.
        words: Words that may stand for a number.
    """

    default: Any
    unit: str
    help: str
    allowed: tuple[Any, ...] = ()
    words: tuple[str, ...] = ()
    interval: str = ""

    @property
    def range(self) -> str:
        """The interval in words: ``"positive"``, ``"at least 0"``, ``"1 to 200"``, ``"in (-1, 0.5)"``."""
        low, high = self._bounds()
        if math.isinf(low):
            return "a finite number"
        if math.isinf(high):
            closed = self.interval.startswith("[")
            return f"at least {low:g}" if closed else "positive" if low == 0 else f"above {low:g}"
        return f"{low:.0f} to {high:.0f}" if isinstance(self.default, int) else f"in {self.interval}"

    def check(self, name: str, value: Any) -> None:
        """Validate a value; words, and None where that is the default, pass.

        Raises:
            ValueError: A number outside of the interval, or one that is not finite.
        """
        if not self.interval or value in self.words or (value is None and self.default is None):
            return
        low, high = self._bounds()
        above = value >= low if self.interval.startswith("[") else value > low
        below = value <= high if self.interval.endswith("]") else value < high
        if not (above and below and math.isfinite(value)):
            verb = "lie" if self.range.startswith("in ") else "be"
            unit = "" if self.unit == "-" else f" [{self.unit}]"
            raise ValueError(f"{name} must {verb} {self.range}{unit}, but is {value}")

    def _bounds(self) -> tuple[float, float]:
        low, high = self.interval.strip("[]()").split(",")
        return float(low), float(high)


def check(options: Mapping[str, Option], values: Mapping[str, Any]) -> None:
    """Validate the values of these options.

    Raises:
        ValueError: (by :meth:`Option.check`) the first one that is not allowed.
    """
    for name, option in options.items():
        option.check(name, values[name])


def mass(*allowed: str) -> dict[str, Option]:
    """The mass matrices that a scheme takes, the first one by default."""
    return {"mass": Option(allowed[0], "-", "mass matrix", allowed)}


def fixed_restitution(e: float) -> dict[str, Option]:
    """The coefficient of restitution that a scheme implies."""
    return {"restitution": Option(e, "-", f"Newton's coefficient, {e:g} with this scheme", (e,))}


#: Mass matrices of explicit schemes; of implicit ones by Di Stasio et al. and by Doyen et al.
LUMPED = mass("lumped")
CONSISTENT = {"mass": Option("consistent", "-", "mass matrix", ("lumped", "consistent"))}
BOTH = mass("consistent", "lumped")
TOUCHING = {
    "touching": Option(
        True, "-", "closed when g <= gap_tolerance; false: when g < -gap_tolerance", (True, False)
    )
}
FORECAST = {
    "forecast": Option(0.5, "-", "part of the step over which the gap is forecast", interval="[0, 1]")
}
CLOSING = {
    "closing": Option(
        None, "s", "time in which penetrations at the start are pushed out", interval="(0, inf)"
    )
}
POSITION = {
    **CLOSING,
    "position": Option(
        False, "-", "contact at position and velocity level; needs mass=lumped, theta from 0.5", (False, True)
    ),
}
THETA = {
    "theta": Option(0.5, "-", "weight of the end of the step", interval="[0, 1]"),
    **FORECAST,
    "force": Option("trapezoid", "-", "mean of both ends or midpoint", ("trapezoid", "midpoint")),
    **CONSISTENT,
    **TOUCHING,
}
