"""The page about the benchmark report: as it lies in ``results/report``, or how to make one."""

from __future__ import annotations

import datetime
import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "results" / "report"
COMMAND = "docker/run python -m dolfinx_impact.benchmark report"
WORDS = {True: "reproduced", False: "not reproduced", None: "not decidable"}


def missing() -> str:
    """What the page says without a report."""
    return (
        "This site was built without a report: a build takes the one in `results/report`.\n\n"
        f"```sh\n{COMMAND}\n```\n\nwrites it; the next build of the site shows it here."
    )


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    text = "-" if value is None else str(value)
    return (
        text.replace("|", "\\|")
        .replace("\n", " ")
        .replace("*", "\\*")
        .replace("_", "\\_")
        .replace("$", "\\$")
    )


def _table(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    head = list(head)
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(map(_cell, row)) + " |" for row in rows])


def describe(report: Mapping[str, Any], date: datetime.datetime) -> str:
    """The report in Markdown: where it comes from, the claims of each paper, those that do not hold."""
    versions = ", ".join(f"{name} {value}" for name, value in report["versions"].items())
    claims = report["claims"]
    papers: dict[str, list[Mapping[str, Any]]] = {}
    for claim in claims:
        papers.setdefault(claim["paper"], []).append(claim)
    counts = [
        [paper, len(found), *(sum(each["reproduced"] is verdict for each in found) for verdict in WORDS)]
        for paper, found in papers.items()
    ]
    parts = [
        f"Report of {date:%Y-%m-%d}, commit {report['versions'].get('commit') or 'unknown'} ({versions}).",
        '<a href="report/report.html">The whole report</a>, with all figures and the reason of each verdict.',
        "## Claims by source",
        _table(["source", "claims", *WORDS.values()], counts),
    ]
    for verdict in (False, None):
        found = [claim for claim in claims if claim["reproduced"] is verdict]
        if found:
            head = "Claims that do not hold" if verdict is False else "Claims that no run decides"
            rows = [
                [c["paper"], c["where"], c["claim"], c["measured"], c["expected"], c["why"]] for c in found
            ]
            names = ["source", "where", "claim", "measured", "expected", "reason"]
            parts += [f"## {head}", _table(names, rows)]
    return "\n\n".join(parts)


def copy(app: Sphinx, error: Exception | None) -> None:
    """Put the report itself into a site in HTML."""
    source = FOLDER / "report.html"
    if not error and app.builder.format == "html" and source.exists():
        target = Path(app.outdir) / "report"
        target.mkdir(exist_ok=True)
        shutil.copy(source, target)


def page(_: str) -> str:
    """The text of the page."""
    source = FOLDER / "report.json"
    if not source.exists():
        return missing()
    date = datetime.datetime.fromtimestamp(source.stat().st_mtime, tz=datetime.UTC)
    return describe(json.loads(source.read_text()), date)
