"""The table of claims of a case, and the figures of a paper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .runs import FailedRun, NotChosen, Runs
from .verdict import Verdict, listing

DI_STASIO = "Di Stasio et al., Adv. Model. Simul. Eng. Sci. 6 (2019)"
CSMA = "Di Stasio et al., CSMA (2019)"
ACARY = "Acary, Bonnefon, ENOC (2011)"
FEKAK = "Fekak et al., Comput. Mech. 60 (2017)"


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


@dataclass(frozen=True)
class Comparison:
    """What a measured value is compared with.

    Attributes:
        relation: ``=``, ``<=``, ``>`` or ``>=``, as in :class:`.Verdict`.
        bound: The limit or the expected value; nan where it comes with the measured value.
        tolerance: Of ``=`` and ``>=``; nan where it comes with the measured value.
    """

    relation: str
    bound: float = np.nan
    tolerance: float = 0.0

    def __call__(self, found: Any, why: str) -> Verdict:
        """The verdict on what a measure returned: numbers, numbers by name, or :class:`Measured`."""
        m = found if isinstance(found, Measured) else Measured(found)
        several = isinstance(m.value, (Mapping, Sequence, np.ndarray)) and np.size(list(m.value)) > 1
        words = f"{why}: {listing(m.value)}" if several else why
        words = f"{words}. {m.note}" if m.note else words
        bound = self.bound if m.bound is None else m.bound
        tolerance = self.tolerance if m.tolerance is None else m.tolerance
        return Verdict.of(self.relation, words, m.value, bound, tolerance).only_if(m.holds)


def equal(expected: float = np.nan, tolerance: float = np.nan) -> Comparison:
    """Within a tolerance (absolute) of what is expected."""
    return Comparison("=", expected, tolerance)


def below(limit: float = np.nan) -> Comparison:
    """Of magnitude ``limit`` at most."""
    return Comparison("<=", limit)


def above(limit: float = np.nan) -> Comparison:
    """Larger than ``limit``."""
    return Comparison(">", limit)


def at_least(expected: float = np.nan, tolerance: float = 0.0) -> Comparison:
    """At least what is expected, or less by ``tolerance``."""
    return Comparison(">=", expected, tolerance)


#: A row of a table of claims, one claim or one per scheme, for a case and a paper.
Row = Callable[[str, str, str], Iterator[Claim]]


def row(
    id: str,
    where: str,
    claim: str,
    measure: Callable[..., Any],
    compare: Comparison | None,
    why: str = "",
    *,
    per: Sequence[str] = (),
    case: str = "",
    paper: str = "",
    **options: Any,
) -> Row:
    """A row of a table of claims: what the paper says, how it is measured and compared.

    Args:
        id: Short name, without the prefix of the table.
        where: Section, figure or equation.
        claim: What the paper says, in our words.
        measure: Takes runs and the options, and returns a number; several, or several by name, of which the
            one that fits worst decides; :class:`Measured`; without comparison a :class:`.Verdict`.
        compare: One of :func:`equal`, :func:`below`, :func:`above` and :func:`at_least`.
        why: What the number is, and why the bound, in a clause.
        per: Schemes for a claim each: ``-scheme`` is behind the id, and the measure gets ``scheme=``.
        case: Another case than that of the table.
        paper: Another paper than that of the table.
        options: Further arguments of the measure.
    """

    def claims(prefix: str, default_case: str, default_paper: str) -> Iterator[Claim]:
        for scheme in per or ("",):
            name = f"{prefix}{id}-{scheme}" if scheme else f"{prefix}{id}"
            words = f"{claim.removesuffix('.')} ({scheme})." if scheme else claim
            given = {**options, "scheme": scheme} if scheme else options
            judge = partial(_decide, partial(measure, **given), compare, why)
            yield Claim(name, case or default_case, paper or default_paper, where, words, judge)

    return claims


def table(case: str, paper: str, rows: Iterable[Row], prefix: str = "") -> tuple[Claim, ...]:
    """All claims of a table.

    Args:
        case: The case whose runs decide.
        paper: The paper.
        rows: By :func:`row`.
        prefix: What stands in front of all ids.
    """
    return tuple(claim for each in rows for claim in each(prefix, case, paper))


def _decide(measure: Callable[[Runs], Any], compare: Comparison | None, why: str, runs: Runs) -> Verdict:
    found = measure(runs)
    return found if compare is None else compare(found, why)


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
