"""The pieces of the report's page: its style, tables that scroll, folds, verdicts."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .wording import number

VERDICTS = {True: "reproduced", False: "not reproduced", None: "not decidable"}
_KINDS = {True: "true", False: "false", None: "null"}

STYLE = """
:root { color-scheme: light; --ink: #1b2733; --soft: #51606d; --line: #d5dce2; --pale: #f4f7f9;
        --yes: #1d6b3a; --no: #b3261e; --open: #6b7782; }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { font: 16px/1.5 "Liberation Sans", Arial, sans-serif; color: var(--ink); background: #fff;
       max-width: 72rem; margin: 0 auto; padding: 1rem clamp(0.8rem, 3vw, 2rem) 3rem;
       overflow-wrap: break-word; }
h1 { font-size: 1.8rem; line-height: 1.2; margin: 1rem 0 0.3rem; }
h2 { font-size: 1.45rem; line-height: 1.25; margin: 0 0 0.6rem; }
h3 { font-size: 1.05rem; margin: 1.6rem 0 0.5rem; }
a { color: #0b57a4; } p { margin: 0.4rem 0; }
code { font: 0.82rem "Liberation Mono", monospace; color: var(--soft); overflow-wrap: anywhere; }
section { border-top: 2px solid var(--ink); margin-top: 2.6rem; padding-top: 1rem; }
svg, img { display: block; width: 100%; height: auto; }
.small, .why { font-size: 0.88rem; color: var(--soft); }
.cards { list-style: none; margin: 1.2rem 0; padding: 0; display: grid; gap: 0.8rem;
         grid-template-columns: repeat(auto-fill, minmax(min(100%, 10.5rem), 1fr)); }
.cards a { display: block; height: 100%; padding: 0.4rem 0.6rem 0.6rem; border: 1px solid var(--line);
           border-radius: 6px; color: inherit; text-decoration: none; }
.cards a:hover, .cards a:focus { border-color: var(--ink); background: var(--pale); }
.cards b { display: block; font-size: 0.95rem; }
.bar { display: flex; height: 5px; margin: 0.35rem 0 0.2rem; background: var(--line); }
.bar i.true { background: var(--yes); } .bar i.false { background: var(--no); }
.intro { display: flex; flex-wrap: wrap; gap: 0.5rem 2rem; align-items: center; }
.intro > div { flex: 1 1 18rem; } .intro > .sketch { flex: 0 1 20rem; margin: 0 auto; }
.intro .about { font-size: 1.1rem; }
.figures { display: grid; gap: 1.4rem; margin-top: 1rem;
           grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); }
.figures figure { max-width: 48rem; min-width: 0; } .figures .scroll { margin: 0; }
figure { margin: 0; break-inside: avoid; } figcaption { font-size: 0.88rem; margin-top: 0.3rem; }
.v { display: inline-block; white-space: nowrap; padding: 0 0.5em; border-radius: 1em; font-size: 0.82rem;
     line-height: 1.6; border: 1px solid; }
.v.true { color: var(--yes); background: #e9f5ed; } .v.null { color: var(--open); background: #fff; }
.v.false { color: #fff; background: var(--no); border-color: var(--no); font-weight: bold; }
.tally .v { margin: 0 0.35em 0.2em 0; }
details { border: 1px solid var(--line); border-radius: 6px; margin: 0.6rem 0; }
details details { margin: 0.6rem 0.9rem; }
summary { cursor: pointer; padding: 0.5rem 0.9rem; }
summary:hover { background: var(--pale); }
details[open] > summary { border-bottom: 1px solid var(--line); }
summary b { margin-right: 0.6em; }
details > p, details > ul { margin: 0.6rem 0.9rem; }
ul.claims { list-style: none; margin: 0; padding: 0; }
.claims > li { display: grid; gap: 0.1rem 1rem; padding: 0.7rem 0.9rem;
               grid-template-columns: 8.5rem 1fr; grid-template-rows: auto 1fr;
               grid-template-areas: "badge words" "where words"; }
.claims > li + li { border-top: 1px solid var(--line); }
.claims .badge { grid-area: badge; } .claims .where { grid-area: where; font-size: 0.88rem; }
.claims .words { grid-area: words; min-width: 0; } .claims p { margin: 0 0 0.2rem; }
.scroll { overflow-x: auto; margin: 0.6rem 0; }
details > .scroll { margin: 0; }
table { border-collapse: collapse; font-size: 0.84rem; min-width: 100%; }
th, td { padding: 0.3rem 0.7rem; text-align: left; vertical-align: top; }
td { border-bottom: 1px solid var(--line); }
th { vertical-align: bottom; border-bottom: 1.5px solid var(--ink); line-height: 1.25; }
td:first-child { position: sticky; left: 0; background: #fff; overflow-wrap: anywhere; min-width: 7rem; }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
th.n { white-space: normal; }
footer { border-top: 2px solid var(--ink); margin-top: 2.6rem; }
@media (max-width: 40rem) {
  .claims > li { grid-template-columns: 1fr; grid-template-areas: "badge" "where" "words"; }
  .cards { grid-template-columns: repeat(2, minmax(0, 1fr)); } .cards b { font-size: 0.85rem; }
  .figures .scroll > img { min-width: 32rem; }
}
@page { size: A4; margin: 14mm; }
@media print {
  body { font-size: 10pt; max-width: none; padding: 0; } tr, .claims > li { break-inside: avoid; }
  details::details-content { content-visibility: visible; } a { color: inherit; }
  .v, .bar i { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""


def text(value: Any) -> str:
    """As it stands, whatever it holds."""
    return html.escape(str(value))


def document(heading: str, parts: Iterable[str]) -> str:
    """A page that refers to nothing outside itself."""
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{text(heading)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE}</style></head>\n<body>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


def verdict(reproduced: bool | None, words: str) -> str:
    """Words in the colour of a verdict."""
    return f'<span class="v {_KINDS[reproduced]}">{text(words)}</span>'


def tally(found: Sequence[int]) -> str:
    """Badges with the numbers reproduced, not reproduced and not decidable, without those that are 0."""
    badges = [verdict(kind, f"{n} {VERDICTS[kind]}") for kind, n in zip(VERDICTS, found) if n]
    return f'<span class="tally">{"".join(badges) or "no claims"}</span>'


def bar(found: Sequence[int]) -> str:
    """The same as a bar."""
    parts = zip(("true", "false"), (100 * n / max(1, sum(found)) for n in found))
    items = (f'<i class="{kind}" style="width:{width:.1f}%"></i>' for kind, width in parts)
    return f'<span class="bar">{"".join(items)}</span>'


def fold(summary: str, content: str) -> str:
    """Content that is opened by its summary; both are markup."""
    return f"<details><summary>{summary}</summary>\n{content}</details>"


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table that scrolls beside the page: words on the left, numbers on the right, below heads alike.

    Args:
        head: Names of the columns.
        rows: Cells: numbers, None for a dash, or markup.
    """
    kinds = [' class="n"' if all(is_number(row[k]) for row in rows) else "" for k in range(len(head))]
    top = "".join(f"<th{kind}>{text(name)}</th>" for kind, name in zip(kinds, head))
    lines = ("".join(f"<td{kind}>{_cell(cell)}</td>" for kind, cell in zip(kinds, row)) for row in rows)
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    whole = f"<table><thead><tr>{top}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"
    return f'<div class="scroll">{whole}</div>'


def is_number(cell: Any) -> bool:
    """Whether a cell is a number or a dash."""
    return cell is None or (isinstance(cell, (int, float)) and not isinstance(cell, bool))


def _cell(cell: Any) -> str:
    return number(cell) if is_number(cell) else str(cell)


def listed(items: Iterable[str], kind: str = "") -> str:
    """A list of items, which are markup, perhaps with a class."""
    of_class = f' class="{kind}"' if kind else ""
    return f"<ul{of_class}>{''.join(f'<li>{item}</li>' for item in items)}</ul>"


def by(rows: Iterable[Mapping[str, Any]], name: str) -> dict[Any, list[Mapping[str, Any]]]:
    """Rows in groups with the same value of ``name``, in the order in which they come."""
    groups: dict[Any, list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row[name], []).append(row)
    return groups
