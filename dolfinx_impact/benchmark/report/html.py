"""The report as a page to read or print: every case with its drawing, figures, claims and runs."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..cases import CASES
from .markup import VERDICTS, bar, by, document, fold, is_number, listed, table, tally, text, verdict
from .wording import Grid, asked, classification, count, number, properties, title

_Claims = Mapping[str, Sequence[Mapping[str, Any]]]
#: A larger drawing is shown as an image of points: thousands of markers make slow pages.
_MOST_BYTES = 400_000
#: Lists of results with more values are only counted.
_MOST_VALUES = 6


class Drawn(NamedTuple):
    """A figure of the report; ``left_out`` says why it was not drawn."""

    id: str
    case: str
    paper: str
    where: str
    title: str
    left_out: str | None


def html(report: Mapping[str, Any], drawn: list[Drawn], folder: Path, case_of: Mapping[str, str]) -> str:
    """A page that refers to nothing outside itself.

    Args:
        report: The content of ``report.json``.
        drawn: The figures.
        folder: Their folder.
        case_of: The case of each claim by id; those without one are about the user's own schemes.
    """
    claims = {case: [c for c in report["claims"] if case_of.get(c["id"]) == case] for case in report["cases"]}
    own = [c for c in report["claims"] if c["id"] not in case_of]
    ends = {}
    if report.get("classification"):
        content = _grid(classification(report["classification"]))
        ends["classification"] = ("Classification of the schemes", content)
    ends["schemes"] = ("Properties of the schemes", _grid(properties(report["schemes"])))
    if own:
        ends["own"] = ("Schemes of your own", _claims(own))
    parts = [_head(report, claims), _contents(claims, {name: head for name, (head, _) in ends.items()})]
    for case, found in claims.items():
        figures = [each for each in drawn if each.case == case]
        parts.append(_case(case, found, _figures(figures, folder), report["cases"][case]))
    for name, (head, content) in ends.items():
        parts.append(f'<section id="{name}"><h2>{head}</h2>\n{content}</section>')
    versions = ", ".join(f"{name} {value}" for name, value in report["versions"].items())
    parts.append(f'<footer><p class="small" id="versions">Versions: {text(versions)}</p></footer>')
    return document("Impact benchmark", parts)


def _head(report: Mapping[str, Any], claims: _Claims) -> str:
    every = [claim for found in claims.values() for claim in found]
    schemes = {name for runs in report["cases"].values() for name, run in runs.items() if "failed" not in run}
    papers = len({claim["paper"] for claim in every})
    return (
        f"<header><h1>Impact benchmark</h1><p>{len(every)} claims from {papers} sources on {len(claims)} "
        f"cases, decided by runs with {len(schemes)} schemes.</p><p>{tally(count(every))}</p></header>"
    )


def _contents(claims: _Claims, ends: Mapping[str, str]) -> str:
    cards = []
    for case, found in claims.items():
        reproduced, failed, unknown = counts = count(found)
        words = f"{reproduced} of {reproduced + failed}" + (f", {unknown} not decidable" if unknown else "")
        cards.append(
            f'<a href="#{text(case)}">{_drawing(case)}<b>{text(title(case))}</b>'
            f'{bar(counts)}<span class="small">{words}</span></a>'
        )
    below = {**ends, "versions": "Versions"}
    links = " · ".join(f'<a href="#{name}">{head}</a>' for name, head in below.items())
    return f'<nav aria-label="Contents">{listed(cards, "cards")}<p>{links}</p></nav>'


# -- a case


def _case(case: str, claims: list[Mapping[str, Any]], figures: str, runs: Mapping[str, Any]) -> str:
    return (
        f'<section id="{text(case)}"><h2>{text(title(case))}</h2>\n<div class="intro">'
        f'<div class="sketch">{_drawing(case)}</div><div><p class="about">{text(CASES[case].about)}</p>'
        f"<p>{tally(count(claims))}</p><p><code>{text(case)}</code></p></div></div>\n"
        f"{figures}\n<h3>Claims</h3>\n{_claims(claims)}\n"
        f"<h3>Runs at the default parameters</h3>\n{_runs(runs)}</section>"
    )


def _drawing(case: str) -> str:
    return CASES[case].drawing().svg(f"The set-up of {title(case)}")


def _figures(figures: list[Drawn], folder: Path) -> str:
    shown, left = [], []
    for each in figures:
        words = f"<b>{text(each.where)}</b> {text(each.title)}"
        if each.left_out is not None:
            left.append(f"{words}: not drawn, {text(each.left_out)}")
            continue
        file, kind = folder / f"{each.id}.svg", "svg+xml"
        if file.stat().st_size > _MOST_BYTES:
            file, kind = folder / f"{each.id}.png", "png"
        data = f"data:image/{kind};base64,{base64.b64encode(file.read_bytes()).decode()}"
        image = f'<div class="scroll"><img alt="{text(each.title)}" src="{data}"></div>'
        caption = f"<figcaption>{words} ({text(each.paper)})</figcaption>"
        shown.append(f"<figure>{image}{caption}</figure>")
    below = fold(f"Figures not drawn: {len(left)}", listed(left)) if left else ""
    return ('<div class="figures">' + "\n".join(shown) + "</div>" if shown else "") + below


def _claims(claims: list[Mapping[str, Any]]) -> str:
    """Claims by paper, folded; those that cannot be decided stand at the end, by reason."""
    folds = []
    for paper, found in by(claims, "paper").items():
        known = [_claim(claim) for claim in found if claim["reproduced"] is not None]
        unknown = [claim for claim in found if claim["reproduced"] is None]
        content = f'<ul class="claims">{"".join(known)}</ul>' if known else ""
        reasons = ""
        for why, left in by(unknown, "why").items():
            words = (f"{text(c['where'])}: {text(c['claim'])} <code>{text(c['id'])}</code>" for c in left)
            reasons += f'<p class="why">{text(why)}:</p>{listed(words)}'
        content += fold(f"Not decidable: {len(unknown)}", reasons) if unknown else ""
        folds.append(fold(f"<b>{text(paper)}</b> {tally(count(found))}", content))
    return "\n".join(folds) or '<p class="small">None.</p>'


def _claim(claim: Mapping[str, Any]) -> str:
    numbers, question = "", asked(claim)
    if claim["measured"] is not None or question:
        beside = f", {text(question)}" if question else ""
        numbers = f"<p>measured <b>{number(claim['measured'])}</b>{beside}</p>"
    return (
        f'<li id="{text(claim["id"])}"><div class="badge">'
        f"{verdict(claim['reproduced'], VERDICTS[claim['reproduced']])}</div>"
        f'<div class="where">{text(claim["where"])}</div><div class="words"><p>{text(claim["claim"])}</p>'
        f'{numbers}<p class="why">{text(claim["why"])}</p><code>{text(claim["id"])}</code></div></li>\n'
    )


def _runs(runs: Mapping[str, Any]) -> str:
    """Results of the schemes that ran, one a row, and below them why the others did not."""
    ran = {scheme: run for scheme, run in runs.items() if "failed" not in run}
    reasons = {scheme: run["failed"] for scheme, run in runs.items() if "failed" in run}
    failed = [f"<b>{text(scheme)}</b> failed: {text(reason)}" for scheme, reason in reasons.items()]
    names = list(dict.fromkeys(name for run in ran.values() for name in run["results"]))
    rows = []
    for scheme, run in ran.items():
        energy = "closes" if run["balance"] else "has a defect"
        results = (_short(run["results"].get(name)) for name in names)
        rows.append([text(scheme), run["steps"], run["seconds"], energy, *results])
    head = ["scheme", "steps", "seconds", "energy balance", *(name.replace("_", " ") for name in names)]
    content = (table(head, rows) if rows else "") + (listed(failed) if failed else "")
    words = f"{len(ran)} scheme{'' if len(ran) == 1 else 's'}" + (f", {len(failed)} failed" if failed else "")
    return fold(f"<b>{words}</b>", content)


def _short(value: Any) -> Any:
    """A cell: a number, or markup."""
    if isinstance(value, list):
        if len(value) > _MOST_VALUES:
            return f"{len(value)} values"
        return ", ".join(number(v) if v is None or isinstance(v, float) else text(v) for v in value) or "-"
    return value if is_number(value) else text(value)


# -- schemes


def _grid(grid: Grid) -> str:
    """A table without the schemes that have no answer, and its notes."""
    if not grid.head:
        return '<p class="small">None is shown by these cases.</p>'
    found = [(name, cells) for name, cells in zip(grid.names, grid.cells) if set(cells) - {"-", "failed"}]
    rows = [[text(name), *map(_answer, cells)] for name, cells in found]
    notes = [note.partition(": ") for note in grid.notes]
    items = (f"<b>{text(a)}</b>{b}{text(c)}" if b else text(a) for a, b, c in notes)
    return table(["scheme", *grid.head], rows) + listed(items)


def _answer(cell: str) -> str:
    word, _, measured = cell.partition(" ")
    if word not in ("yes", "no") or not measured:
        return text(cell)
    return f'<span class="n">{verdict(word == "yes", word)} {measured}</span>'
