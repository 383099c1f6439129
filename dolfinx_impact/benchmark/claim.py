"""The table of claims of a case, and the figures of a paper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

# Claims and figures import what they need of runs and verdicts from here.
from .runs import FailedRun as FailedRun
from .runs import NotChosen
from .runs import Run as Run
from .runs import Runs as Runs
from .verdict import Verdict as Verdict
from .verdict import listing as listing

DI_STASIO = "Di Stasio et al., Adv. Model. Simul. Eng. Sci. 6 (2019)"
CSMA = "Di Stasio et al., CSMA (2019)"
ACARY = "Acary, Bonnefon, ENOC (2011)"
FEKAK = "Fekak et al., Comput. Mech. 60 (2017)"


@dataclass(frozen=True)
class Claim:
    """A statement of a paper, and how runs decide it."""

    id: str  #: Short name, unique in the report.
    case: str  #: The case whose runs decide it.
    paper: str
    where: str  #: Section, figure or equation.
    claim: str  #: The statement, in our words.
    measure: Callable[[Runs], Any]
    compare: Comparison | None = None  #: None where the measure returns a verdict.
    why: str = ""  #: Meaning of the number, and the reason of the bound.
    kind: str = "verified"  #: Against papers and solutions; ``"validated"``: against measurements.

    def decide(self, runs: Runs) -> Verdict:
        """The verdict; a run that failed leaves the claim not reproduced, one left out not decided."""
        try:
            measured = self.measure(runs)
            return measured if self.compare is None else self.compare(measured, self.why)
        except NotChosen as missing:
            return Verdict.undecided(str(missing))
        except FailedRun as failed:
            return Verdict(f"a run failed: {failed}", None, None, None, False)


@dataclass(frozen=True)
class Measured:
    """A measured value with more than the value itself; ``bound`` and ``tolerance`` where runs give them."""

    value: Any  #: A number, several, or several by name: the one that fits worst decides.
    bound: float | None = None
    tolerance: float | None = None
    holds: bool = True  #: A further condition of the claim.
    note: str = ""  #: Further findings, in words.


@dataclass(frozen=True)
class Comparison:
    """A comparison of a measured value with a bound; a :class:`Measured` may bring bound and tolerance."""

    relation: str  #: As in :class:`.Verdict`.
    bound: float = np.nan
    tolerance: float = 0.0  #: Of ``=`` and ``>=``.

    def __call__(self, found: Any, why: str) -> Verdict:
        """The verdict on numbers, numbers by name, or :class:`Measured`."""
        m = found if isinstance(found, Measured) else Measured(found)
        several = isinstance(m.value, (Mapping, Sequence, np.ndarray)) and np.size(list(m.value)) > 1
        words = f"{why}: {listing(m.value)}" if several else why
        words = f"{words}. {m.note}" if m.note else words
        bound = self.bound if m.bound is None else m.bound
        tolerance = self.tolerance if m.tolerance is None else m.tolerance
        return Verdict.of(self.relation, words, m.value, bound, tolerance).only_if(m.holds)


#: Comparisons of a bound and an absolute tolerance: within the tolerance of the bound; of at most its
#: magnitude; larger; at least the bound less the tolerance.
equal, below, above, at_least = (partial(Comparison, relation) for relation in ("=", "<=", ">", ">="))

Row = list[Claim]  #: A row of a table: one claim, or one per scheme.


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
    """A row of a table of claims: the statement of a paper, how it is measured and compared.

    Args:
        id: Short name, without the prefix of the table.
        where, claim, why: As in :class:`Claim`.
        measure: Takes runs and the ``options``, and returns a number; several, or several by name, of which
            the one that fits worst decides; :class:`Measured`; without comparison a :class:`.Verdict`.
        compare: One of ``equal``, ``below``, ``above`` and ``at_least``.
        per: Schemes for a claim each: ``-scheme`` is behind the id, and the measure gets ``scheme=``.
        case, paper: Others than those of the table.
    """
    claims = []
    for scheme in per or ("",):
        name, words, given = id, claim, options
        if scheme:
            name, words = f"{id}-{scheme}", f"{claim.removesuffix('.')} ({scheme})."
            given = {**options, "scheme": scheme}
        claims.append(Claim(name, case, paper, where, words, partial(measure, **given), compare, why))
    return claims


def table(
    case: str, paper: str, rows: Iterable[Row], prefix: str = "", *, kind: str = "verified"
) -> tuple[Claim, ...]:
    """All claims of the rows, made by :func:`row`; ``prefix`` stands in front of all ids."""
    claims = (claim for each in rows for claim in each)
    return tuple(
        replace(c, id=prefix + c.id, case=c.case or case, paper=c.paper or paper, kind=kind) for c in claims
    )


@dataclass(frozen=True)
class Figure:
    """A figure of a paper, drawn again from runs."""

    id: str  #: File name without its ending, as ``distasio-fig03``.
    case: str  #: The case whose runs it shows.
    paper: str
    where: str  #: Its number in the paper.
    title: str
    #: Draws into an empty matplotlib figure; units on all axes, a legend, schemes told apart in grey by
    #: :func:`~dolfinx_impact.plot.style`.
    draw: Callable[[Runs, Any], None]
