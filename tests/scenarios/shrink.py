"""A failing scenario made smaller: fewer parts, plainer meshes, default options."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator

from .compose import MESHED, RIGID, Scenario, settling_rate
from .judge import judge
from .oracles import ORACLES

#: Values that a plain problem has.
_PLAIN = {
    **dict.fromkeys(
        (
            "friction",
            "restitution",
            "spin",
            "tilt",
            "ground",
            "traction",
            "beta",
            "bulk",
            "nu",
            "push",
            "bend",
            "stretch",
        ),
        0.0,
    ),
    **dict.fromkeys(
        ("drift", "adapt", "scaled", "mirror", "backwards", "swapped", "wave", "dashpots", "forms"), False
    ),
    **{"hypothesis": None, "degree": 1, "cell": "quadrilateral", "law": "linear", "part": 0.5},
    **{"joint": "surfaces", "facets": "boundary", "turn": 0.0, "shift": 0.0, "locking": None, "laws": ()},
}


def smaller(s: Scenario) -> Iterator[Scenario]:
    """Scenarios that are simpler in one respect."""
    held = s.floor in MESHED
    if len(s.movable) > 1:
        yield s.changed(blocks=s.blocks[:-1])
        if not held:
            yield s.changed(blocks=s.blocks[1:])
    if s.floor in RIGID[1:] and s.floor != "plane":
        yield s.changed(floor="plane", drive=0.0)
    if s.floor in ("tool", "corner"):
        yield s.changed(floor="base", drive=0.0)
    for name, value in _PLAIN.items():
        if getattr(s, name) != value:
            yield s.changed(**{name: value})
    if s.motion != "rest" and s.rate:
        yield s.changed(rate=0.0)
    if s.motion != "rest" and s.gravity:
        yield s.changed(gravity=0.0)
    for i, b in enumerate(s.blocks):
        for name, value in (("distort", 0.0), ("density", 1.0), ("modulus", 1.0), ("offset", 0.0)):
            if getattr(b, name) != value:
                yield _with(s, i, **{name: value})
        for name in ("up", "across"):
            if getattr(b, name) > 1:
                yield _with(s, i, **{name: getattr(b, name) - 1})
    if s.steps > 10 and s.motion != "rest":
        yield s.changed(steps=s.steps // 2)


def _with(s, i, **fields):
    blocks = list(s.blocks)
    blocks[i] = dataclasses.replace(blocks[i], **fields)
    return s.changed(blocks=tuple(blocks))


def shrunk(s: Scenario, name: str, text: str, seconds: float = 30.0) -> tuple[Scenario, str]:
    """The smallest scenario that was found to fail the same oracle in the same quantity, and what it says."""
    begun, kind = time.monotonic(), _kind(text)
    again = name == "runs" or not ORACLES[name].small
    while again:
        again = False
        for each in smaller(s):
            if time.monotonic() - begun > seconds:
                return s, text
            if each.motion == "rest":
                each = each.changed(rate=settling_rate(each))
            wrong = [t for n, t in judge(each, [name]).wrong if n == name and _kind(t) == kind]
            if wrong:
                s, text, again = each, wrong[0], True
                break
    return s, text


def _kind(text):
    """What failed, without numbers."""
    head = text.split(":")[0]
    return "".join(c for c in head if not c.isdigit())
