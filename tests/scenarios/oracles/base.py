"""What an oracle says: misfits, each a number that is known without the scheme and the one that was seen."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import Any

from ..compose import Scenario


@dataclasses.dataclass(frozen=True)
class Misfit:
    """``found`` where ``right`` is known to ``allowed``."""

    what: str
    found: float
    right: float
    allowed: float

    @property
    def wrong(self) -> bool:
        return not math.isfinite(self.found) or abs(self.found - self.right) > self.allowed

    def __str__(self):
        return f"{self.what}: {self.found:.6g}, right is {self.right:.6g} within {self.allowed:.2g}"


@dataclasses.dataclass(frozen=True)
class Oracle:
    """A judge of scenarios.

    ``applies`` says of which; ``judge`` takes what was seen, or the scenario where it ``runs`` itself. A
    ``small`` one judges a problem of its own, of which the seed alone is the scenario's.
    """

    name: str
    judge: Callable[[Any], Iterator[Misfit]]
    applies: Callable[[Scenario], bool]
    runs: bool = False
    small: bool = False


ORACLES: dict[str, Oracle] = {}


def oracle(applies: Callable[[Scenario], bool], runs: bool = False, small: bool = False):
    """Register a judge by the name of its function."""

    def register(judge):
        name = judge.__name__.rstrip("_")
        ORACLES[name] = Oracle(name, judge, applies, runs, small)
        return judge

    return register


def small_problem(first: int, every: int):
    """Register a judge of a small problem of its own, for the seeds ``first``, ``first + every``, ..."""
    return oracle(lambda s: s.seed % every == first, runs=True, small=True)
