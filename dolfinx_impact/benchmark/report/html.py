"""The report as a page to read or print: every case with its drawing, figures, claims and runs."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..cases import CASES
from .markup import VERDICTS, bar, by, document, fold, listed, table, tally, text, verdict
from .wording import ANSWERS, NO_ANSWER, asked, classification, count, criteria, number, title

#: A larger drawing is shown as an image of points: thousands of markers make slow pages.
_MOST_BYTES = 400_000
#: Lists of results with more values are only counted.
_MOST_VALUES = 6


@dataclass(frozen=True)
class Drawn:
    """A figure of the report.

    Attributes:
        left_out: Why it was not drawn, or None.
    """

    id: str
    case: str
    paper: str
    where: str
    title: str
    left_out: str | None


def html(report: Mapping[str, Any], drawn: list[Drawn], folder: Path, case_of: Mapping[str, str]) -> str:
    """A page that refers to nothing outside itself.

    Args:
        report: What ``report.json`` holds.
        drawn: The figures.
        folder: Where their files are.
        case_of: The case of each claim by id; those without one are about the user's own schemes.
    """
    claims = {case: [c for c in report["claims"] if case_of.get(c["id"]) == case] for case in report["cases"]}
    own = [c for c in report["claims"] if c["id"] not in case_of]
    ends = _ends(report, own)
    parts = [_head(report, claims), _contents(claims, {name: head for name, head, _ in ends})]
    for case, found in claims.items():
        figures = [each for each in drawn if each.case == case]
        parts.append(_case(case, found, figures, folder, report["cases"][case]))
    parts += [f'<section id="{name}"><h2>{head}</h2>\n{content}</section>' for name, head, content in ends]
    versions = ", ".join(f"{name} {value}" for name, value in report["versions"].items())
    parts.append(f'<footer><p class="small" id="versions">Versions: {text(versions)}</p></footer>')
    return document("Impact benchmark", parts)


def _ends(report: Mapping[str, Any], own: list[Mapping[str, Any]]) -> list[tuple[str, str, str]]:
    """The sections about schemes: where they are, what they are called and hold."""
    found = []
    if report.get("classification"):
        content = _classified(report["classification"])
        found.append(("classification", "Classification of the schemes", content))
    found.append(("schemes", "Properties of the schemes", _properties(report["schemes"])))
    if own:
        found.append(("own", "Schemes of your own", _claims(own)))
    return found


def _head(report: Mapping[str, Any], claims: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    every = [claim for found in claims.values() for claim in found]
    schemes = {name for runs in report["cases"].values() for name, run in runs.items() if "failed" not in run}
    papers = len({claim["paper"] for claim in every})
    return (
        f"<header><h1>Impact benchmark</h1><p>{len(every)} claims from {papers} sources on {len(claims)} "
        f"cases, decided by runs with {len(schemes)} schemes.</p><p>{tally(count(every))}</p></header>"
    )


def _contents(claims: Mapping[str, Sequence[Mapping[str, Any]]], ends: Mapping[str, str]) -> str:
    cards = []
    for case, found in claims.items():
        reproduced, failed, unknown = count(found)
        words = [f"{reproduced} of {reproduced + failed}"] + ([f"{unknown} not decidable"] if unknown else [])
        cards.append(
            f'<a href="#{text(case)}">{_drawing(case)}<b>{text(title(case))}</b>'
            f'{bar((reproduced, failed, unknown))}<span class="small">{", ".join(words)}</span></a>'
        )
    below = {**ends, "versions": "Versions"}
    links = " · ".join(f'<a href="#{name}">{head}</a>' for name, head in below.items())
    items = "".join(f"<li>{card}</li>" for card in cards)
    return f'<nav aria-label="Contents"><ul class="cards">{items}</ul><p>{links}</p></nav>'


# -- a case


def _case(
    case: str, claims: list[Mapping[str, Any]], figures: list[Drawn], folder: Path, runs: Mapping[str, Any]
) -> str:
    return (
        f'<section id="{text(case)}"><h2>{text(title(case))}</h2>\n<div class="intro">'
        f'<div class="sketch">{_drawing(case)}</div><div><p class="about">{text(CASES[case].about)}</p>'
        f"<p>{tally(count(claims))}</p><p><code>{text(case)}</code></p></div></div>\n"
        f"{_figures(figures, folder)}\n<h3>Claims</h3>\n{_claims(claims)}\n"
        f"<h3>Runs at the default parameters</h3>\n{_runs(runs)}</section>"
    )


def _drawing(case: str) -> str:
    return CASES[case].drawing().svg(f"The set-up of {title(case)}")


def _figures(figures: list[Drawn], folder: Path) -> str:
    shown = "\n".join(_figure(each, folder) for each in figures if each.left_out is None)
    left = [
        f"<b>{text(each.where)}</b> {text(each.title)}: not drawn, {text(each.left_out)}"
        for each in figures
        if each.left_out is not None
    ]
    below = fold(f"Figures not drawn: {len(left)}", listed(left)) if left else ""
    return (f'<div class="figures">{shown}</div>' if shown else "") + below


def _figure(figure: Drawn, folder: Path) -> str:
    file, kind = folder / f"{figure.id}.svg", "svg+xml"
    if file.stat().st_size > _MOST_BYTES:
        file, kind = folder / f"{figure.id}.png", "png"
    data = base64.b64encode(file.read_bytes()).decode()
    return (
        f'<figure><div class="scroll"><img alt="{text(figure.title)}" src="data:image/{kind};base64,{data}">'
        f"</div><figcaption><b>{text(figure.where)}</b> {text(figure.title)} ({text(figure.paper)})"
        "</figcaption></figure>"
    )


def _claims(claims: list[Mapping[str, Any]]) -> str:
    """Claims by paper, folded; what cannot be decided stands at the end, by reason."""
    folds = []
    for paper, found in by(claims, "paper").items():
        known = [claim for claim in found if claim["reproduced"] is not None]
        unknown = [claim for claim in found if claim["reproduced"] is None]
        content = f'<ul class="claims">{"".join(map(_claim, known))}</ul>' if known else ""
        content += fold(f"Not decidable: {len(unknown)}", _undecided(unknown)) if unknown else ""
        folds.append(fold(f"<b>{text(paper)}</b> {tally(count(found))}", content))
    return "\n".join(folds) or '<p class="small">None.</p>'


def _claim(claim: Mapping[str, Any]) -> str:
    numbers = ""
    if claim["measured"] is not None or asked(claim):
        question = f", {text(asked(claim))}" if asked(claim) else ""
        numbers = f"<p>measured <b>{number(claim['measured'])}</b>{question}</p>"
    return (
        f'<li id="{text(claim["id"])}"><div class="badge">'
        f"{verdict(claim['reproduced'], VERDICTS[claim['reproduced']])}</div>"
        f'<div class="where">{text(claim["where"])}</div><div class="words"><p>{text(claim["claim"])}</p>'
        f'{numbers}<p class="why">{text(claim["why"])}</p><code>{text(claim["id"])}</code></div></li>\n'
    )


def _undecided(claims: list[Mapping[str, Any]]) -> str:
    """Each reason with the claims that it leaves open."""
    return "".join(
        f'<p class="why">{text(why)}:</p>'
        + listed(f"{text(c['where'])}: {text(c['claim'])} <code>{text(c['id'])}</code>" for c in left)
        for why, left in by(claims, "why").items()
    )


def _runs(runs: Mapping[str, Any]) -> str:
    """Results of the schemes that ran, one a row, and below them why the others did not."""
    ran = {scheme: run for scheme, run in runs.items() if "failed" not in run}
    failed = [
        f"<b>{text(name)}</b> failed: {text(run['failed'])}" for name, run in runs.items() if "failed" in run
    ]
    names = list(dict.fromkeys(name for run in ran.values() for name in run["results"]))
    rows = [
        [
            text(scheme),
            run["steps"],
            run["seconds"],
            "closes" if run["balance"] else "has a defect",
            *(_short(run["results"].get(name)) for name in names),
        ]
        for scheme, run in ran.items()
    ]
    head = ["scheme", "steps", "seconds", "energy balance", *(name.replace("_", " ") for name in names)]
    content = table(head, rows) if rows else ""
    content += listed(failed) if failed else ""
    schemes = "scheme" if len(ran) == 1 else "schemes"
    more = f", {len(failed)} failed" if failed else ""
    return fold(f"<b>{len(ran)} {schemes}{more}</b>", content)


def _short(value: Any) -> Any:
    """A cell: a number, or markup."""
    if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        return value
    if isinstance(value, list):
        if len(value) > _MOST_VALUES:
            return f"{len(value)} values"
        return ", ".join(number(v) if v is None or isinstance(v, float) else text(v) for v in value) or "-"
    return text(value)


# -- schemes


def _classified(classified: Mapping[str, Any]) -> str:
    rows = classified["rows"]
    head, cells = classification(rows)
    lines = [[text(row["name"]), *map(text, c)] for row, c in zip(rows, cells) if set(c) - {"-", "failed"}]
    failed = [f"{row['name']}: failed: {row['failed']}" for row in rows if "failed" in row]
    return table(["scheme", *head], lines) + listed(map(text, [*classified["criteria"], *failed]))


def _properties(schemes: Mapping[str, list[Mapping[str, Any]]]) -> str:
    question = list(criteria(schemes))
    if not question:
        return '<p class="small">None is shown by these cases.</p>'
    rows = [
        [text(scheme), *map(_answer, found)]
        for scheme, found in schemes.items()
        if any(row["reproduced"] is not None for row in found)
    ]
    notes = [
        f"<b>{text(row['name'])}</b> ({text(title(row['case']))}{_unit(row['unit'])}): {text(criterion)}"
        for row, criterion in question
    ]
    dash = f'<p class="small">A dash: {NO_ANSWER}.</p>' if _has_dash(rows) else ""
    return table(["scheme", *(row["name"] for row, _ in question)], rows) + listed(notes) + dash


def _unit(unit: str) -> str:
    return "" if unit == "-" else f", [{text(unit)}]"


def _has_dash(rows: Iterable[Sequence[str]]) -> bool:
    return any("-" in row for row in rows)


def _answer(row: Mapping[str, Any]) -> str:
    if row["reproduced"] is None:
        return ANSWERS[None]
    words = f"{verdict(row['reproduced'], ANSWERS[row['reproduced']])} {number(row['measured'])}"
    return f'<span class="n">{words}</span>'
