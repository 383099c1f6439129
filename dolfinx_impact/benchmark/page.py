"""The report as a page to read or print."""

from __future__ import annotations

import base64
import html as markup
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterable, Iterator, Mapping, Sequence

#: A larger drawing is shown as an image of points: thousands of markers make slow pages.
_MOST_BYTES = 400_000
_WORDS = {True: "reproduced", False: "not reproduced", None: "undecided"}
ANSWERS = {True: "yes", False: "no", None: "-"}
NO_ANSWER = "the scheme does not run the case, or its run failed"

_STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.45 "Liberation Sans", Arial, sans-serif; color: #111; background: #fff;
       max-width: 75em; margin: 2em auto; padding: 0 1.5em; }
h1 { font-size: 1.7em; } h2 { font-size: 1.35em; margin-top: 2em; border-bottom: 2px solid #111; }
h3 { font-size: 1.1em; }
table { border-collapse: collapse; width: 100%; margin: 0.6em 0 1.4em; font-size: 0.87em; }
th, td { border-bottom: 1px solid #bbb; padding: 0.3em 0.5em; text-align: left; vertical-align: top; }
th { border-bottom: 2px solid #111; } thead { display: table-header-group; }
td.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.id { font-family: monospace; font-size: 0.92em; overflow-wrap: anywhere; }
.v { white-space: nowrap; padding: 0.05em 0.4em; border: 1px solid #111; display: inline-block; }
.v.false { background: #111; color: #fff; font-weight: bold; }
.v.null { border-style: dashed; color: #444; }
figure { margin: 1em 0 1.6em; break-inside: avoid; } figure img { max-width: 100%; }
figcaption { font-size: 0.9em; } p.small, .why { font-size: 0.9em; color: #333; }
nav a { margin-right: 1em; }
@page { size: A4 landscape; margin: 12mm; }
@media print { body { font-size: 10pt; max-width: none; margin: 0; } tr { break-inside: avoid; }
               h2 { break-before: page; } nav { display: none; } a { color: inherit; }
               .v.false { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
"""


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


def number(value: Any) -> str:
    """A number with four digits, or a dash."""
    return "-" if value is None else format(value, ".4g")


def count(claims: Iterable[Mapping[str, Any]]) -> tuple[int, int, int]:
    """How many are reproduced, not reproduced, undecided."""
    found = Counter(claim["reproduced"] for claim in claims)
    return found[True], found[False], found[None]


def criteria(
    schemes: Mapping[str, Sequence[Mapping[str, Any]]],
) -> Iterator[tuple[Mapping[str, Any], str]]:
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
    "force std [N]": "force_std", "largest [N]": "force_max_deviation", "m_i v_i/h [N]": "force_predicted",
    "oscillation": "oscillation", "energy, 1 period": "energy_change_1",
    "energy, 4 periods": "energy_change_4", "energy": "energy", "largest Courant": "courant",
    "predicted": "courant_predicted", "force error": "force_error",
    "displacement error": "displacement_error", "changes class with phase": "changes",
}  # fmt: skip


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


# -- the page


def html(
    report: Mapping[str, Any], drawn: list[Drawn], folder: Path, case_of: Mapping[str, str]
) -> str:  # fmt: skip
    """A page that refers to nothing outside itself.

    Args:
        report: What ``report.json`` holds.
        drawn: The figures.
        folder: Where their files are.
        case_of: The case of each claim by id; those without one are about the user's own schemes.
    """
    cases = list(report["cases"])
    versions = ", ".join(f"{name} {value}" for name, value in report["versions"].items())
    classified = report.get("classification")
    places = [*cases, *(["classification"] if classified else []), "schemes"]
    links = "".join(f'<a href="#{_text(place)}">{_text(place)}</a>' for place in places)
    parts = [
        "<h1>Impact benchmark: what the papers say, and what runs show</h1>",
        f"<p class=small>{_text(versions)}</p><nav>{links}</nav>",
        _overview(report, case_of),
    ]
    for case in cases:
        claims = [c for c in report["claims"] if case_of.get(c["id"]) == case]
        parts += [f"<h2 id={_text(case)}>{_text(case)}</h2>", _claims(claims)]
        parts += [_figure(each, folder) for each in drawn if each.case == case]
        parts += ["<h3>Runs at the default parameters</h3>", _runs(report["cases"][case])]
    if classified:
        parts += ["<h2 id=classification>Classification of the schemes</h2>", _classified(classified)]
    parts += ["<h2 id=schemes>Properties of the schemes</h2>", _properties(report["schemes"])]
    own = [c for c in report["claims"] if c["id"] not in case_of]
    if own:
        parts += ["<h3>Schemes of your own</h3>", _claims(own)]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Impact benchmark</title>'
        f"<style>{_STYLE}</style></head><body>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


def _text(value: Any) -> str:
    return markup.escape(str(value))


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Cells are markup, each a ``<td>`` or what one holds."""
    top = "".join(f"<th>{_text(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>\n" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>\n{body}</tbody></table>"


def _cell(content: str) -> str:
    return content if content.startswith("<td") else f"<td>{content}</td>"


def _n(value: Any) -> str:
    return f"<td class=n>{number(value)}</td>"


def _verdict(reproduced: bool | None, words: Mapping[bool | None, str] = _WORDS) -> str:
    kind = {True: "true", False: "false", None: "null"}[reproduced]
    return f'<span class="v {kind}">{words[reproduced]}</span>'


def _overview(report: Mapping[str, Any], case_of: Mapping[str, str]) -> str:
    rows = []
    for case in report["cases"]:
        found = count(c for c in report["claims"] if case_of.get(c["id"]) == case)
        failed = sum("failed" in run for run in report["cases"][case].values())
        rows.append([_text(case), *map(_n, found), _n(len(report["cases"][case])), _n(failed)])
    return _table(["case", "reproduced", "not reproduced", "undecided", "runs", "failed runs"], rows)


def _claims(claims: list[Mapping[str, Any]]) -> str:
    if not claims:
        return "<p>No claims.</p>"
    rows = [
        [
            f"<td class=id>{_text(c['id'])}</td>", f"{_text(c['paper'])}, {_text(c['where'])}",
            _text(c["claim"]), _n(c["measured"]), _n(c["expected"]), _n(c["tolerance"]),
            _verdict(c["reproduced"]), f'<td class="why">{_text(c["why"])}</td>',
        ]
        for c in claims
    ]  # fmt: skip
    return _table(["", "source", "claim", "measured", "expected", "tolerance", "verdict", "why"], rows)


def _figure(figure: Drawn, folder: Path) -> str:
    caption = f"<b>{_text(figure.where)}</b> {_text(figure.title)} ({_text(figure.paper)})"
    if figure.left_out is not None:
        return f"<p class=small>{caption}: not drawn, {_text(figure.left_out)}</p>"
    file, kind = folder / f"{figure.id}.svg", "svg+xml"
    if file.stat().st_size > _MOST_BYTES:
        file, kind = folder / f"{figure.id}.png", "png"
    data = base64.b64encode(file.read_bytes()).decode()
    return (
        f'<figure><img alt="{_text(figure.title)}" src="data:image/{kind};base64,{data}">'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _runs(runs: Mapping[str, Any]) -> str:
    rows = []
    for scheme, run in runs.items():
        if "failed" in run:
            rows.append([_text(scheme), "<td></td>", "", "", f"<b>failed:</b> {_text(run['failed'])}"])
            continue
        results = "; ".join(f"{_text(n)} {_text(_short(v))}" for n, v in run["results"].items())
        balance = "closes" if run["balance"] else "has a defect"
        residual = number(run["results"].get("balance_residual"))
        rows.append([_text(scheme), _n(run["steps"]), _n(run["seconds"]), f"{balance}, {residual}", results])
    return _table(["scheme", "steps", "seconds", "energy balance", "results"], rows)


def _short(value: Any) -> str:
    if value is None or isinstance(value, float):
        return number(value)
    if isinstance(value, list) and len(value) > 6:
        return f"[{', '.join(map(_short, value[:5]))}, ... {len(value)} values]"
    return f"[{', '.join(map(_short, value))}]" if isinstance(value, list) else str(value)


def _classified(classified: Mapping[str, Any]) -> str:
    rows = classified["rows"]
    head, cells = classification(rows)
    lines = [[_text(row["name"]), *map(_text, found)] for row, found in zip(rows, cells)]
    failed = [f"{row['name']}: failed: {row['failed']}" for row in rows if "failed" in row]
    notes = "".join(f"<li>{_text(words)}</li>" for words in [*classified["criteria"], *failed])
    return _table(["scheme", *head], lines) + f"<ul>{notes}</ul>"


def _properties(schemes: Mapping[str, list[Mapping[str, Any]]]) -> str:
    asked = list(criteria(schemes))
    if not asked:
        return "<p>None is shown by these cases.</p>"
    rows = [[_text(scheme), *map(_answer, found)] for scheme, found in schemes.items()]
    notes = "".join(
        f"<li><b>{_text(row['name'])}</b> ({_text(row['case'])}, [{_text(row['unit'])}]): "
        f"{_text(criterion)}</li>"
        for row, criterion in asked
    )
    dash = f"<p class=small>A dash: {NO_ANSWER}.</p>"
    return _table(["scheme", *(row["name"] for row, _ in asked)], rows) + f"<ul>{notes}</ul>{dash}"


def _answer(row: Mapping[str, Any]) -> str:
    measured = "" if row["reproduced"] is None else f" {number(row['measured'])}"
    return _verdict(row["reproduced"], ANSWERS) + measured
