"""Numbers and findings in words, as the report's page and the terminal show them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

NO_ANSWER = "the scheme does not run the case, or its run failed"
#: Kinds of claims, in the order of a report, and what they are compared with.
KINDS = {"verified": "against papers, exact and computed solutions", "validated": "against measurements"}
_SMALL = ("der", "in")  #: Words that a heading leaves small.
_BOUND = ("expected", "tolerance")
_SIGNS = {"<=": "≤", ">=": "≥", ">": ">"}


class Grid(NamedTuple):
    """A table with the schemes as rows, and notes below it as ``subject: words``; a dash is no answer."""

    names: list[str]
    head: list[str]
    cells: list[list[str]]
    notes: list[str]


def number(value: Any) -> str:
    """A number with four digits, or a dash."""
    return "-" if value is None else format(value, ".4g")


def asked(finding: Mapping[str, Any]) -> str:
    """The bound of a finding, as ``asked for ≤ 0.02``, ``beside 2`` without a relation, or nothing."""
    expected, tolerance, relation = (finding.get(name) for name in ("expected", "tolerance", "relation"))
    if expected is None:
        return ""
    if relation is None or tolerance is None:
        return f"beside {number(expected)}"
    if relation == "=":
        return f"asked for {number(expected)} ± {number(tolerance)}"
    limit = expected + tolerance if relation == "<=" else expected - tolerance
    size = " in magnitude" if relation == "<=" and (finding["measured"] or 0.0) < 0 else ""
    return f"asked for {_SIGNS[relation]} {number(limit)}{size}"


def title(case: str) -> str:
    """The name of a case as a heading: ``Van der Pol``."""
    return " ".join(w if w in _SMALL else w.capitalize() for w in case.split("-"))


def faster(ratio: float) -> str:
    """How a speed compares: ``4.2 times faster``, ``3.6 times slower`` or ``as fast``."""
    if format(ratio, ".3g") == "1":
        return "as fast"
    times = max(ratio, 1 / ratio)
    return f"{times:{'.3g' if times < 1000 else '.0f'}} times {'faster' if ratio > 1 else 'slower'}"


def listed(words: Sequence[str]) -> str:
    """Words as a list in a sentence: ``a, b and c``."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def count(claims: Iterable[Mapping[str, Any]]) -> tuple[int, int, int]:
    """How many are reproduced, not reproduced, undecided."""
    counts = Counter(claim["reproduced"] for claim in claims)
    return counts[True], counts[False], counts[None]


def by_kind(claims: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Claims by kind, without the kinds that have none."""
    every = list(claims)
    found = {kind: [claim for claim in every if claim["kind"] == kind] for kind in KINDS}
    return {kind: some for kind, some in found.items() if some}


def criteria(schemes: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Each property that the schemes were asked for: its row for one of them, the criterion for all."""
    for rows in zip(*schemes.values()):
        words, found = rows[0]["criterion"], [row for row in rows if row["tolerance"] is not None]
        if found:
            ends = {name: [f(row[name] for row in found) for f in (min, max)] for name in _BOUND}
            words += "; " + rows[0]["bound"].format(**{k: _span(map(number, v)) for k, v in ends.items()})
        yield rows[0], words


def _span(ends: Iterable[str]) -> str:
    """The smallest and the largest in words, once where they are the same."""
    return " to ".join(dict.fromkeys(ends))


def properties(schemes: Mapping[str, Sequence[Mapping[str, Any]]]) -> Grid:
    """The answers of the schemes: ``yes`` or ``no`` with what was measured."""
    question = list(criteria(schemes))
    cells, notes = [[_answer(row) for row in found] for found in schemes.values()], []
    for row, words in question:
        unit = "" if row["unit"] == "-" else f" [{row['unit']}]"
        notes.append(f"{row['name']}{unit}: {words} ({title(row['case'])})")
    notes += [f"-: {NO_ANSWER}"] if any("-" in row for row in cells) else []
    return Grid(list(schemes), [row["name"] for row, _ in question], cells, notes)


def _answer(row: Mapping[str, Any]) -> str:
    words = {True: "yes", False: "no"}.get(row["reproduced"])
    return f"{words} {number(row['measured'])}" if words else "-"
