"""What a claim of a paper and a figure of it are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from .runs import FailedRun, NotChosen, Runs

DI_STASIO = "Di Stasio et al., Adv. Model. Simul. Eng. Sci. 6 (2019)"
CSMA = "Di Stasio et al., CSMA (2019)"
ACARY = "Acary, Bonnefon, ENOC (2011)"
FEKAK = "Fekak et al., Comput. Mech. 60 (2017)"


@dataclass(frozen=True)
class Finding:
    """What was measured of a claim.

    Attributes:
        measured: The number that decides.
        expected: What it is compared with.
        tolerance: How far off it may be.
        reproduced: Whether the claim holds; None where no run can decide it.
        why: The reason in words: what the number is, and what makes it so.
        relation: How it is compared: ``=`` within the tolerance of what is expected, ``<=`` its magnitude at
            most that far above it, ``>=`` at most that far below, ``>`` strictly; None where ``why`` says.
    """

    measured: float | None
    expected: float | None
    tolerance: float | None
    reproduced: bool | None
    why: str
    relation: str | None = None

    @classmethod
    def equal(cls, measured: float, expected: float, tolerance: float, why: str) -> Finding:
        """Measured within ``tolerance`` of what is expected."""
        fits = bool(abs(measured - expected) <= tolerance)
        return cls(float(measured), float(expected), float(tolerance), fits, why, "=")

    @classmethod
    def below(cls, measured: float, limit: float, why: str) -> Finding:
        """Measured magnitude at most ``limit``."""
        return cls(float(measured), 0.0, float(limit), bool(abs(measured) <= limit), why, "<=")

    @classmethod
    def above(cls, measured: float, limit: float, why: str) -> Finding:
        """Measured larger than ``limit``."""
        return cls(float(measured), float(limit), 0.0, bool(measured > limit), why, ">")

    @classmethod
    def undecided(cls, why: str) -> Finding:
        """Nothing that runs can decide, or a run that failed."""
        return cls(None, None, None, None, why)


def also(condition: bool, finding: Finding) -> Finding:
    """The finding, reproduced only under a further condition."""
    return replace(finding, reproduced=bool(finding.reproduced and condition))


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper, and how runs decide it.

    Attributes:
        id: Short name, unique in the report.
        case: The case whose runs decide it.
        paper: The paper.
        where: Section, figure or equation.
        claim: What the paper says, in our words.
        judge: Measures it.
    """

    id: str
    case: str
    paper: str
    where: str
    claim: str
    judge: Callable[[Runs], Finding]

    def decide(self, runs: Runs) -> Finding:
        """The finding; a run that failed leaves the claim not reproduced, one left out not decided."""
        try:
            return self.judge(runs)
        except NotChosen as missing:
            return Finding.undecided(str(missing))
        except FailedRun as failed:
            return Finding(None, None, None, False, f"a run failed: {failed}")


@dataclass(frozen=True)
class Figure:
    """A figure of a paper, drawn again from runs.

    Attributes:
        id: File name without its ending, as ``distasio-fig03``.
        case: The case whose runs it shows.
        paper: The paper.
        where: Its number there.
        title: What it shows.
        draw: Draws into an empty matplotlib figure; units on all axes, a legend, schemes told apart
            in grey by :func:`~dolfinx_impact.plot.style`.
    """

    id: str
    case: str
    paper: str
    where: str
    title: str
    draw: Callable[[Runs, Any], None]
