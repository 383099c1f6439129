"""Numbers and findings in words, as the report's page and the terminal show them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

ANSWERS = {True: "yes", False: "no", None: "-"}
NO_ANSWER = "the scheme does not run the case, or its run failed"
#: Words that a heading leaves small.
_SMALL = ("der", "in")
_SIGNS = {"<=": "≤", ">=": "≥", ">": ">"}


def number(value: Any) -> str:
    """A number with four digits, or a dash."""
    return "-" if value is None else format(value, ".4g")


def asked(finding: Mapping[str, Any]) -> str:
    """What the measured value was asked to be: ``asked for ≤ 0.02``, ``> 0.1`` or ``2 ± 0.1``.

    Where the reason alone says how they compare, ``beside 2``; nothing where nothing was asked.
    """
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


def count(claims: Iterable[Mapping[str, Any]]) -> tuple[int, int, int]:
    """How many are reproduced, not reproduced, undecided."""
    found = Counter(claim["reproduced"] for claim in claims)
    return found[True], found[False], found[None]


def criteria(schemes: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Each property that the schemes were asked for: its row for one of them, the criterion for all."""
    for rows in zip(*schemes.values()):
        words, found = rows[0]["criterion"], [row for row in rows if row["tolerance"] is not None]
        if found:
            spans = {name: _span([row[name] for row in found]) for name in ("expected", "tolerance")}
            words += "; " + rows[0]["bound"].format(**spans)
        yield rows[0], words


def _span(values: Sequence[float]) -> str:
    """A number, or the smallest and the largest of several that differ."""
    return " to ".join(dict.fromkeys(number(value) for value in (min(values), max(values))))


#: Heads of the classification with the keys of their cells; unknown to a scheme where there is None.
_CLASSIFICATION = {
    "force std [N]": "force_std",
    "largest [N]": "force_max_deviation",
    "m_i v_i/h [N]": "force_predicted",
    "oscillation": "oscillation",
    "energy, 1 period": "energy_change_1",
    "energy, 4 periods": "energy_change_4",
    "energy": "energy",
    "largest Courant": "courant",
    "predicted": "courant_predicted",
    "force error": "force_error",
    "displacement error": "displacement_error",
    "changes class with phase": "changes",
}


def classification(rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Head and cells of the classification in words; a row that failed has the reason in its last cell."""
    return list(_CLASSIFICATION), [[_class(row, key) for key in _CLASSIFICATION.values()] for row in rows]


def _class(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    if "failed" in row or value is None:
        return "failed" if "failed" in row and key == "changes" else "-"
    if key == "changes":
        return ", ".join(value) or "no"
    if key == "oscillation" or key == "energy":
        return " to ".join(value)
    ends = value if isinstance(value, list) else [value]
    return " to ".join(dict.fromkeys(format(end, ".3g") for end in ends))
