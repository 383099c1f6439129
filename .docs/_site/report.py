"""The page about the benchmark report: the stored one, claims by source, reasons, and figures."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any

from dolfinx_impact.benchmark.claims import CLAIMS, FIGURES
from dolfinx_impact.benchmark.report.wording import KINDS, asked, by_kind, title

ROOT = Path(__file__).resolve().parents[2]
STORED = ROOT / ".docs" / "stored" / "report"
WORDS = {True: "reproduced", False: "not reproduced", None: "not decidable"}
PAGES = {"verified": "verification", "validated": "experiments"}  #: Of the kinds of claims.

_Row = Mapping[str, Any]


def stored() -> dict[str, Any]:
    """The stored report."""
    return json.loads((STORED / "report.json").read_text())


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    text = "-" if value is None else str(value).replace("\n", " ")
    for letter in "\\|*_$<":
        text = text.replace(letter, f"\\{letter}")
    return text


def markdown(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A table in Markdown; numbers have four digits, a dash stands for None."""
    head = list(head)
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(map(_cell, row)) + " |" for row in rows])


def _folded(words: str, text: str) -> str:
    return f"<details>\n<summary>{escape(words)}</summary>\n\n{text}\n\n</details>"


def _by_paper(claims: Iterable[_Row]) -> dict[str, list[_Row]]:
    papers: dict[str, list[_Row]] = {}
    for claim in claims:
        papers.setdefault(claim["paper"], []).append(claim)
    return papers


def _number(claims: Iterable[_Row]) -> list[int]:
    """How many claims there are, and how many of each verdict."""
    verdicts = [claim["reproduced"] for claim in claims]
    return [len(verdicts), *map(verdicts.count, WORDS)]


def _sources(claims: Iterable[_Row]) -> str:
    """How many claims of each source hold, and of all."""
    papers = {**_by_paper(claims), "all": list(claims)}
    rows = [[paper, *_number(found)] for paper, found in papers.items()]
    return markdown(["source", "claims", *WORDS.values()], rows)


def _all(claims: Iterable[_Row]) -> list[str]:
    """Every claim, those of a source folded."""
    head = ["where", "claim", "measured", "expected", "verdict"]
    folded = []
    for paper, found in _by_paper(claims).items():
        rows = [[c["where"], c["claim"], c["measured"], c["expected"], WORDS[c["reproduced"]]] for c in found]
        folded.append(_folded(f"{paper}: {len(found)}", markdown(head, rows)))
    return folded


def figure(name: str, root: str = "") -> str:
    """A stored figure of the report; ``root`` is the way from the page to the top of the site."""
    (found,) = (each for each in FIGURES if each.id == name)
    words = found.title if found.title.startswith(found.where) else f"{found.where}: {found.title}"
    words = escape(f"{words} ({found.paper})")
    return (
        f'<figure class="drawn"><img alt="{escape(found.title)}" loading="lazy" '
        f'src="{root}_static/report/{name}.svg"><figcaption>{words}</figcaption></figure>'
    )


def _figures() -> list[str]:
    """The figures that are stored, case by case."""
    parts, case = [], None
    for each in sorted(FIGURES, key=lambda each: each.case):
        if (STORED / f"{each.id}.svg.gz").exists():
            parts += [f"### {title(each.case)}"] if case != each.case else []
            parts.append(figure(each.id))
            case = each.case
    return parts


def _kind(kind: str, claims: list[_Row]) -> list[str]:
    """The claims of a kind: by source, those that do not hold, all."""
    parts = [f"## {kind.capitalize()} {KINDS[kind]}", _sources(claims)]
    names = ["source", "where", "claim", "measured", "expected", "reason"]
    for verdict, head in ((False, "Claims that do not hold"), (None, "Claims that no run decides")):
        found = [claim for claim in claims if claim["reproduced"] is verdict]
        rows = [[c["paper"], c["where"], c["claim"], c["measured"], c["expected"], c["why"]] for c in found]
        if found and verdict is False:
            parts += [f"### {head}", markdown(names, rows)]
        elif found:
            parts += [f"### {head}", _folded(f"{len(found)}, with the reasons", markdown(names, rows))]
    return [*parts, "### All claims", *_all(claims)]


def describe(report: _Row) -> str:
    """A report in Markdown: where it comes from, its claims by kind and source, figures."""
    versions = ", ".join(f"{name} {value}" for name, value in report["versions"].items())
    parts = [f"Report of {report['date']} ({versions})."]
    for kind, claims in by_kind(report["claims"]).items():
        parts += _kind(kind, claims)
    if figures := _figures():
        parts += ["## Figures", *figures]
    return "\n\n".join(parts)


def page(_: str) -> str:
    """The text of the page."""
    return describe(stored())


def counts(_: str) -> str:
    """How many claims of each kind hold, with the pages about them."""
    kinds = by_kind(stored()["claims"])
    rows = [[f"[{kind}]({PAGES[kind]}.md) {KINDS[kind]}", *_number(found)] for kind, found in kinds.items()]
    return markdown(["", "claims", *WORDS.values()], rows)


def validated(case: str) -> str:
    """The claims on a case that compare it with measurements: verdicts and bounds, and the reasons folded."""
    of_case = {claim.id for claim in CLAIMS if claim.case == case}
    found = [c for c in by_kind(stored()["claims"]).get("validated", ()) if c["id"] in of_case]
    if not found:
        return "The stored report was made before these claims."
    words = {**WORDS, None: "reported"}
    bounds = [asked(c).removeprefix("asked for ") for c in found]
    rows = [
        [c["where"], c["claim"], c["measured"], bound, words[c["reproduced"]]]
        for c, bound in zip(found, bounds)
    ]
    reasons = markdown(["where", "claim", "reason"], [[c["where"], c["claim"], c["why"]] for c in found])
    table = markdown(["where", "claim", "found", "bound", "verdict"], rows)
    return f"{table}\n\n{_folded('Each shot, and the reasons of the bounds', reasons)}"
