"""Scenarios before their oracles."""

from __future__ import annotations

import dataclasses
import time
import traceback
from collections.abc import Iterable

import dolfinx_impact as di
from dolfinx_impact.contact.tunnelling import Tunnelled

from .compose import Scenario
from .observe import see
from .oracles import ORACLES

#: How runs end, in words, whose steps are many times the critical one: parts would jump over each other.
TOO_LONG = (di.NotConverged, di.UnstableTimeStep, Tunnelled)


@dataclasses.dataclass
class Verdict:
    """What the oracles said of a scenario."""

    scenario: Scenario
    wrong: list[tuple[str, str]]
    judged: list[str]
    seconds: float


def judge(s: Scenario, names: Iterable[str] = ()) -> Verdict:
    """Run a scenario and ask all oracles that know something of it, or those named."""
    begun, wrong, judged, seen = time.monotonic(), [], [], None
    wanted = [ORACLES[name] for name in names or ORACLES if name != "runs"]
    wanted = [each for each in wanted if each.applies(s)]
    if not names or "runs" in names or not all(each.runs for each in wanted):
        judged.append("runs")
        try:
            seen = see(s)
        except Exception as error:
            if not may_end(s, error):
                wrong.append(("runs", told(error)))
    for each in wanted:
        if seen is None and not each.runs:
            continue
        try:
            for misfit in each.judge(s if each.runs else seen):
                if each.name not in judged:  # an oracle that says nothing was not asked
                    judged.append(each.name)
                if misfit.wrong:
                    wrong.append((each.name, str(misfit)))
        except Exception as error:
            if not may_end(s, error):
                wrong.append((each.name, told(error)))
    return Verdict(s, wrong, judged, time.monotonic() - begun)


def may_end(s: Scenario, error: Exception) -> bool:
    """Whether a run may end so, in words: steps too long for parts."""
    return s.part > 9.0 and s.motion != "pressed" and isinstance(error, TOO_LONG)


def told(error: Exception) -> str:
    """An error in a line, with the place where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{frames[-1].filename.rpartition('/')[2]}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__} ({where}): {str(error)[:300]}"
