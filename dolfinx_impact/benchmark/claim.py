"""The table of claims of a case, and the figures of a paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import cleandoc
from typing import Any, TypeVar

import numpy as np

from .runs import FailedRun, NotChosen, Runs
from .verdict import Verdict, listing

DI_STASIO = "Di Stasio et al., Adv. Model. Simul. Eng. Sci. 6 (2019)"
CSMA = "Di Stasio et al., CSMA (2019)"
ACARY = "Acary, Bonnefon, ENOC (2011)"
FEKAK = "Fekak et al., Comput. Mech. 60 (2017)"

Measure = TypeVar("Measure", bound=Callable[..., Any])


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper, and how runs decide it.

    Attributes:
        id: Short name, unique in the report.
        case: The case whose runs decide it.
        paper: The paper.
        where: Section, figure or equation.
        claim: What the paper says, in our words.
        judge: Measures and compares.
    """

    id: str
    case: str
    paper: str
    where: str
    claim: str
    judge: Callable[[Runs], Verdict]

    def decide(self, runs: Runs) -> Verdict:
        """The verdict; a run that failed leaves the claim not reproduced, one left out not decided."""
        try:
            return self.judge(runs)
        except NotChosen as missing:
            return Verdict.undecided(str(missing))
        except FailedRun as failed:
            return Verdict(f"a run failed: {failed}", None, None, None, False)


@dataclass(frozen=True)
class Measured:
    """What a measure returns where a number, or numbers by name, are not all.

    Attributes:
        value: A number, several, or several by name: the one that fits worst decides.
        bound: The limit or the expected value, where it comes from the runs.
        tolerance: The tolerance, where it comes from the runs.
        holds: A further condition of the claim.
        note: What else the runs show.
    """

    value: Any
    bound: float | None = None
    tolerance: float | None = None
    holds: bool = True
    note: str = ""


class Claims(list[Claim]):
    """The claims on a case, each entered with the comparison that decides it: a decorator of its measure.

    A measure takes runs and options, and returns a number, an array or a mapping of numbers (of which the
    one that fits worst decides, and all are listed), or :class:`Measured`. Its docstring says in one clause
    what the number is::

        claims = Claims("impacting-bar", DI_STASIO)

        @claims.below("distasio-bar-lost", "Fig. 20", "The lost energy is tiny.", limit=0.005, per=BOTH)
        def lost(runs: Runs, scheme: str) -> float:
            \"\"\"Part of the energy that is lost.\"\"\"
            return runs(CASE, scheme).results["energy_lost"]

    Further claims of the same measure: ``claims.below(..., limit=0.01, elements=200)(lost)``. Keywords of all
    comparisons: ``per``, schemes for a claim each, which have ``-scheme`` behind the id and get ``scheme=``;
    ``why`` in the place of the docstring; ``case`` and ``paper``; all others are options of the measure.

    Args:
        case: The case whose runs decide.
        paper: The paper.
        prefix: What stands in front of all ids.
    """

    def __init__(self, case: str, paper: str, prefix: str = "") -> None:
        super().__init__()
        self._case, self._paper, self._prefix = case, paper, prefix

    def equal(
        self,
        id: str,
        where: str,
        claim: str,
        expected: float = np.nan,
        tolerance: float = 0.0,
        **options: Any,
    ) -> Callable[[Measure], Measure]:
        """Within ``tolerance`` of ``expected``, or as the measure says."""
        return self._entered("=", id, where, claim, expected, tolerance, **options)

    def below(
        self, id: str, where: str, claim: str, limit: float = np.nan, **options: Any
    ) -> Callable[[Measure], Measure]:
        """Of magnitude ``limit`` at most."""
        return self._entered("<=", id, where, claim, limit, **options)

    def above(
        self, id: str, where: str, claim: str, limit: float = np.nan, **options: Any
    ) -> Callable[[Measure], Measure]:
        """Larger than ``limit``."""
        return self._entered(">", id, where, claim, limit, **options)

    def at_least(
        self,
        id: str,
        where: str,
        claim: str,
        expected: float = np.nan,
        tolerance: float = 0.0,
        **options: Any,
    ) -> Callable[[Measure], Measure]:
        """At least ``expected``, or less by ``tolerance``."""
        return self._entered(">=", id, where, claim, expected, tolerance, **options)

    def judged(self, id: str, where: str, claim: str, **options: Any) -> Callable[[Measure], Measure]:
        """By a function that returns a :class:`.Verdict` itself."""
        return self._entered("", id, where, claim, **options)

    def _entered(
        self,
        relation: str,
        id: str,
        where: str,
        claim: str,
        bound: float = np.nan,
        tolerance: float = 0.0,
        *,
        per: Sequence[str] = (),
        why: str = "",
        case: str = "",
        paper: str = "",
        **options: Any,
    ) -> Callable[[Measure], Measure]:
        def enter(measure: Measure) -> Measure:
            for scheme in per or ("",):
                given = {**options, **({"scheme": scheme} if scheme else {})}
                judge: Callable[[Runs], Verdict] = partial(measure, **given)
                if relation:
                    words = why or " ".join(cleandoc(measure.__doc__ or "").split())
                    judge = partial(_compare, judge, relation, words, bound, tolerance)
                name = f"{self._prefix}{id}-{scheme}" if scheme else f"{self._prefix}{id}"
                text = f"{claim.removesuffix('.')} ({scheme})." if scheme else claim
                self.append(Claim(name, case or self._case, paper or self._paper, where, text, judge))
            return measure

        return enter


def _compare(
    measure: Callable[[Runs], Any], relation: str, why: str, bound: float, tolerance: float, runs: Runs
) -> Verdict:
    found = measure(runs)
    m = found if isinstance(found, Measured) else Measured(found)
    words = [why.removesuffix(".")]
    if isinstance(m.value, (Mapping, Sequence, np.ndarray)):
        words.append(listing(m.value))
    words = [": ".join(words), *([m.note] if m.note else [])]
    bound = bound if m.bound is None else m.bound
    tolerance = tolerance if m.tolerance is None else m.tolerance
    return Verdict.of(relation, ". ".join(words), m.value, bound, tolerance).only_if(m.holds)


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
