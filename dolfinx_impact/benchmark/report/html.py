"""The report as a page to read or print: every case with its drawing, figures, claims and runs."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from .. import drawings
from ..cases import CASES
from ..claims import Figure
from ..work_precision import figures as work
from .wording import KINDS, Grid, asked, by_kind, count, number, properties, title

STYLE = resources.files(__package__).joinpath("page.css").read_text(encoding="utf-8")
#: A larger drawing is shown as an image of points: thousands of markers make slow pages.
_MOST_BYTES = 400_000
_MOST_VALUES = 6  #: Lists of results with more values are only counted.
_VERDICTS = {True: "reproduced", False: "not reproduced", None: "not decidable"}
_KINDS = {True: "true", False: "false", None: "null"}

_Row = Mapping[str, Any]
Drawn = tuple[Figure, str | None]  #: A figure, and why it was not drawn.


def html(report: _Row, drawn: Sequence[Drawn], folder: Path, case_of: Mapping[str, str]) -> str:
    """A page that refers to nothing outside itself.

    Args:
        report: The content of ``report.json``.
        drawn: The figures, with the reason of each that is not in their ``folder``.
        folder: The folder of the figures.
        case_of: The case of each claim by id; those without one are about the user's own schemes.
    """
    claims = {case: [c for c in report["claims"] if case_of.get(c["id"]) == case] for case in report["cases"]}
    ends = {"schemes": ("Properties of the schemes", _grid(properties(report["schemes"])))}
    if several := report.get("work_precision"):
        cells = [[_text(cell) for cell in work.cells(row)] for row in several]
        ends = {"which-scheme": ("Which scheme for me", _table(work.HEAD, cells)), **ends}
    if own := [c for c in report["claims"] if c["id"] not in case_of]:
        ends["own"] = ("Schemes of your own", _claims(own))
    links = {**{name: head for name, (head, _) in ends.items()}, "versions": "Versions"}
    parts = [_head(report, claims), _contents(claims, links)]
    for case, found in claims.items():
        figures = _figures([each for each in drawn if each[0].case == case], folder)
        parts.append(_case(case, found, figures, report["cases"][case]))
    for name, (head, content) in ends.items():
        parts.append(f'<section id="{name}"><h2>{head}</h2>\n{content}</section>')
    versions = ", ".join(f"{name} {value}" for name, value in report["versions"].items())
    body = "\n".join(parts)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Impact benchmark</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>\n{STYLE}</style></head>\n<body>\n{body}\n"
        f'<footer><p class="small" id="versions">Versions: {_text(versions)}</p></footer>\n</body></html>\n'
    )


def _head(report: _Row, claims: Mapping[str, Sequence[_Row]]) -> str:
    every = [claim for found in claims.values() for claim in found]
    schemes = {name for runs in report["cases"].values() for name, run in runs.items() if "failed" not in run}
    papers = len({claim["paper"] for claim in every})
    words = f"{len(claims)} cases, run with {len(schemes)} schemes.</p>"
    if every:
        words = f"{len(every)} claims from {papers} sources on {len(claims)} cases, decided by runs with "
        words += f"{len(schemes)} schemes.</p>"
        for kind, found in by_kind(every).items():
            words += f"<p><b>{kind.capitalize()}</b> {KINDS[kind]}: {_tally(found)}</p>"
    if part := report.get("interrupted"):
        words += f"<p><b>Interrupted: {part['done']} of {part['of']} tasks were finished.</b></p>"
    return f"<header><h1>Impact benchmark</h1><p>{words}</header>"


def _contents(claims: Mapping[str, Sequence[_Row]], below: Mapping[str, str]) -> str:
    """A card for each case, with its drawing and the parts that are reproduced and not as a bar."""
    cards = []
    for case, found in claims.items():
        bars = "".join(_bar(kind, some) for kind, some in by_kind(found).items())
        cards.append(f'<a href="#{_text(case)}">{_drawing(case)}<b>{_text(title(case))}</b>{bars}</a>')
    links = " · ".join(f'<a href="#{name}">{head}</a>' for name, head in below.items())
    return f'<nav aria-label="Contents">{_listed(cards, "cards")}<p>{links}</p></nav>'


def _bar(kind: str, claims: Sequence[_Row]) -> str:
    yes, no, unknown = count(claims)
    words = f"{yes} of {yes + no} {kind}" + (f", {unknown} not decidable" if unknown else "")
    widths = {verdict: 100 * n / len(claims) for verdict, n in (("true", yes), ("false", no))}
    parts = (f'<i class="{verdict}" style="width:{width:.1f}%"></i>' for verdict, width in widths.items())
    return f'<span class="bar">{"".join(parts)}</span><span class="small">{words}</span>'


# -- a case


def _case(case: str, claims: Sequence[_Row], figures: str, runs: _Row) -> str:
    return (
        f'<section id="{_text(case)}"><h2>{_text(title(case))}</h2>\n<div class="intro">'
        f'<div class="sketch">{_drawing(case)}</div><div><p class="about">{_text(CASES[case].about)}</p>'
        f"{_tallies(claims)}<p><code>{_text(case)}</code></p></div></div>\n"
        f"{figures}\n<h3>Claims</h3>\n{_kinds(claims)}\n"
        f"<h3>Runs at the default parameters{_but_for(case)}</h3>\n{_runs(runs)}</section>"
    )


def _but_for(case: str) -> str:
    """What runs of the report have in the place of defaults, in words."""
    others = ", ".join(f"{name} {value}" for name, value in CASES[case].reported.items())
    return f" but for {_text(others)}" if others else ""


def _drawing(case: str) -> str:
    """The picture of a case, with a title for those who cannot see it."""
    svg = resources.files(drawings).joinpath(f"{case}.svg").read_text(encoding="utf-8")
    return svg.replace("<svg ", f'<svg role="img" aria-label="The set-up of {_text(title(case))}" ', 1)


def _figures(drawn: Sequence[Drawn], folder: Path) -> str:
    shown, left = [], []
    for figure, left_out in drawn:
        words = f"<b>{_text(figure.where)}</b> {_text(figure.title)}"
        if left_out is not None:
            left.append(f"{words}: not drawn, {_text(left_out)}")
            continue
        file, kind = folder / f"{figure.id}.svg", "svg+xml"
        if file.stat().st_size > _MOST_BYTES:
            file, kind = folder / f"{figure.id}.png", "png"
        data = f"data:image/{kind};base64,{base64.b64encode(file.read_bytes()).decode()}"
        image = f'<div class="scroll"><img alt="{_text(figure.title)}" src="{data}"></div>'
        caption = f"<figcaption>{words} ({_text(figure.paper)})</figcaption>"
        shown.append(f"<figure>{image}{caption}</figure>")
    below = _fold(f"Figures not drawn: {len(left)}", _listed(left)) if left else ""
    return ('<div class="figures">' + "\n".join(shown) + "</div>" if shown else "") + below


def _tallies(claims: Sequence[_Row]) -> str:
    """The counts of each kind of claims."""
    kinds = (f"<p>{kind.capitalize()} {_tally(found)}</p>" for kind, found in by_kind(claims).items())
    return "".join(kinds) or f"<p>{_tally(claims)}</p>"


def _kinds(claims: Sequence[_Row]) -> str:
    """Claims under the word of their kind."""
    kinds = (
        f"<h4>{kind.capitalize()}, {KINDS[kind]}</h4>\n{_claims(found)}"
        for kind, found in by_kind(claims).items()
    )
    return "\n".join(kinds) or _claims(claims)


def _claims(claims: Sequence[_Row]) -> str:
    """Claims by paper, folded; those that cannot be decided stand folded at the end, by reason."""
    decided = [claim for claim in claims if claim["reproduced"] is not None]
    unknown = [claim for claim in claims if claim["reproduced"] is None]
    folds = [
        _fold(
            f"<b>{_text(paper)}</b> {_tally(found)}", f'<ul class="claims">{"".join(map(_claim, found))}</ul>'
        )
        for paper, found in _by(decided, "paper").items()
    ]
    if unknown:
        reasons = (
            f'<p class="why">{_text(why)}:</p>{_listed(map(_left, found))}'
            for why, found in _by(unknown, "why").items()
        )
        folds.append(_fold(f"Not decidable: {len(unknown)}", "".join(reasons)))
    return "\n".join(folds) or '<p class="small">None.</p>'


def _left(claim: _Row) -> str:
    paper, where, words, name = (_text(claim[key]) for key in ("paper", "where", "claim", "id"))
    return f"{paper}, {where}: {words} <code>{name}</code>"


def _claim(claim: _Row) -> str:
    numbers, question = "", asked(claim)
    if claim["measured"] is not None or question:
        beside = f", {_text(question)}" if question else ""
        numbers = f"<p>measured <b>{number(claim['measured'])}</b>{beside}</p>"
    where, words, why, name = (_text(claim[key]) for key in ("where", "claim", "why", "id"))
    badge = _badge(claim["reproduced"], _VERDICTS[claim["reproduced"]])
    return (
        f'<li id="{name}"><div class="badge">{badge}</div><div class="where">{where}</div>'
        f'<div class="words"><p>{words}</p>{numbers}<p class="why">{why}</p><code>{name}</code></div></li>\n'
    )


def _runs(runs: _Row) -> str:
    """Results of the schemes that ran, one a row, and below them why the others did not."""
    ran = {scheme: run for scheme, run in runs.items() if "failed" not in run}
    reasons = {scheme: run["failed"] for scheme, run in runs.items() if "failed" in run}
    failed = [f"<b>{_text(scheme)}</b> failed: {_text(reason)}" for scheme, reason in reasons.items()]
    names = list(dict.fromkeys(name for run in ran.values() for name in run["results"]))
    rows = []
    for scheme, run in ran.items():
        energy = "closes" if run["balance"] else "has a defect"
        results = (_short(run["results"].get(name)) for name in names)
        rows.append([_text(scheme), run["steps"], run["seconds"], energy, *results])
    head = ["scheme", "steps", "seconds", "energy balance", *(name.replace("_", " ") for name in names)]
    content = (_table(head, rows) if rows else "") + (_listed(failed) if failed else "")
    words = f"{len(ran)} scheme{'' if len(ran) == 1 else 's'}" + (f", {len(failed)} failed" if failed else "")
    return _fold(f"<b>{words}</b>", content)


def _short(value: Any) -> Any:
    if isinstance(value, list):
        if len(value) > _MOST_VALUES:
            return f"{len(value)} values"
        return ", ".join(number(v) if v is None or isinstance(v, float) else _text(v) for v in value) or "-"
    return value if _is_number(value) else _text(value)


def _grid(grid: Grid) -> str:
    """A table without the schemes that have no answer, and its notes."""
    if not grid.head:
        return '<p class="small">None is shown by these cases.</p>'
    shown = [(name, cells) for name, cells in zip(grid.names, grid.cells) if set(cells) - {"-", "failed"}]
    rows = [[_text(name), *map(_answer, cells)] for name, cells in shown]
    notes = [note.partition(": ") for note in grid.notes]
    items = (f"<b>{_text(a)}</b>{b}{_text(c)}" if b else _text(a) for a, b, c in notes)
    return _table(["scheme", *grid.head], rows) + _listed(items)


def _answer(cell: str) -> str:
    word, _, measured = cell.partition(" ")
    if word not in ("yes", "no") or not measured:
        return _text(cell)
    return f'<span class="n">{_badge(word == "yes", word)} {measured}</span>'


# -- pieces of markup


def _text(value: Any) -> str:
    return escape(str(value))


def _badge(reproduced: bool | None, words: str) -> str:
    return f'<span class="v {_KINDS[reproduced]}">{_text(words)}</span>'


def _tally(claims: Iterable[_Row]) -> str:
    """Badges with the numbers reproduced, not reproduced and not decidable, without those that are 0."""
    badges = [_badge(kind, f"{n} {_VERDICTS[kind]}") for kind, n in zip(_VERDICTS, count(claims)) if n]
    return f'<span class="tally">{"".join(badges) or "no claims"}</span>'


def _fold(summary: str, content: str) -> str:
    return f"<details><summary>{summary}</summary>\n{content}</details>"


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table that scrolls beside the page: words (markup) on the left, numbers on the right with heads."""
    kinds = [' class="n"' if all(_is_number(row[k]) for row in rows) else "" for k in range(len(head))]
    top = "".join(f"<th{kind}>{_text(name)}</th>" for kind, name in zip(kinds, head))
    lines = ([number(cell) if _is_number(cell) else str(cell) for cell in row] for row in rows)
    cells = ("".join(f"<td{kind}>{cell}</td>" for kind, cell in zip(kinds, line)) for line in lines)
    body = "\n".join(f"<tr>{line}</tr>" for line in cells)
    whole = f"<table><thead><tr>{top}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"
    return f'<div class="scroll">{whole}</div>'


def _is_number(cell: Any) -> bool:
    """Whether a cell is a number or a dash."""
    return cell is None or (isinstance(cell, (int, float)) and not isinstance(cell, bool))


def _listed(items: Iterable[str], kind: str = "") -> str:
    of_class = f' class="{kind}"' if kind else ""
    return f"<ul{of_class}>{''.join(f'<li>{item}</li>' for item in items)}</ul>"


def _by(rows: Sequence[_Row], name: str) -> dict[Any, list[_Row]]:
    """Rows in groups with the same value of ``name``, in the order in which they come."""
    values = dict.fromkeys(row[name] for row in rows)
    return {value: [row for row in rows if row[name] == value] for value in values}
