"""An order of scenarios in which every oracle, floor, joint and scheme comes early."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .compose import STEADY, Scenario
from .oracles import ORACLES

#: Fields that are aspects where they are set.
MORE = (
    "friction",
    "restitution",
    "drift",
    "push",
    "wave",
    "dashpots",
    "bend",
    "locking",
    "stretch",
    "laws",
    "forms",
    "position",
    "closing",
    "general",
    "sharp",
)


def aspects(s: Scenario) -> set[tuple[str, str]]:
    """What a scenario has that others may lack: kinds of contact, its scheme, the oracles that judge it.

    Of the schemes for steady forces one of each kind is enough.
    """
    own = {
        ("floor", s.floor),
        ("scheme", STEADY.get(s.scheme, s.scheme)),
        ("motion", s.motion),
        ("facets", s.facets),
    }
    if len(s.blocks) > 1:
        own.add(("joint", s.joint))
    own |= {("law", name) for name in MORE if getattr(s, name)}
    return own | {("oracle", each.name) for each in ORACLES.values() if each.applies(s)}


def cost(s: Scenario) -> float:
    """Time that a scenario takes, roughly, over that of a short explicit run in the plane."""
    rest = 2.0 if s.motion == "rest" else 1.0
    both = 4.0 if s.position and s.motion != "pressed" and len(s.blocks) > 1 else 1.0
    return (
        both
        * rest
        * (1.0 if s.explicit else 3.0)
        * (1.0 if s.degree == 1 else 3.0)
        * (1.0 if s.gdim == 2 else 4.0)
    )


def covering(scenarios: Sequence[Scenario]) -> list[Scenario]:
    """The scenarios, those first that together have every aspect, the cheapest for what they add."""
    rest = {s.seed: (s, aspects(s)) for s in scenarios}
    missing, first = wanted(scenarios), []
    while missing:
        s, own = max(rest.values(), key=lambda each: len(each[1] & missing) / cost(each[0]))
        missing -= own
        first.append(rest.pop(s.seed)[0])
    return first + [s for s, _ in rest.values()]


def wanted(scenarios: Iterable[Scenario]) -> set[tuple[str, str]]:
    """All aspects of the scenarios."""
    every: set[tuple[str, str]] = set()
    return every.union(*map(aspects, scenarios))


def left_out(ran: Iterable[Scenario], asked: Iterable[str], scenarios: Iterable[Scenario]) -> list[str]:
    """Aspects that no scenario had which ran, and oracles that said nothing of what they apply to."""
    have = {aspect for aspect in wanted(ran) if aspect[0] != "oracle"} | {("oracle", name) for name in asked}
    every = wanted(scenarios) | {("oracle", "runs")}
    return sorted(" ".join(aspect) for aspect in every - have)
