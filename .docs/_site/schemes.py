"""Tables of the schemes, from the catalogue of the package."""

from __future__ import annotations

import re
from collections.abc import Callable

from dolfinx_impact.benchmark.work_precision import figures as work_table
from dolfinx_impact.integrators import SCHEMES
from dolfinx_impact.integrators.catalogue import CLASSES
from dolfinx_impact.integrators.catalogue import table as table_of_classes
from dolfinx_impact.integrators.features import FEATURES, takes

from . import report


def _code(text: str) -> str:
    return re.sub(r"([_*|])", r"\\\1", text)


def _rows(head: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def facts() -> str:
    """Every scheme with what decides the choice: explicit or not, where contact is enforced, order, limit."""
    rows = []
    for name, scheme in SCHEMES.items():
        kind = "HATI" if scheme.divided else "explicit" if scheme.explicit else "implicit"
        cells = [scheme.contact_level, scheme.order, scheme.conserves, scheme.step_limit]
        rows.append([f"`{name}`", kind, *map(_code, cells)])
    return _rows(["scheme", "step", "contact", "order", "conserves", "time step"], rows)


def ticks() -> str:
    """Scheme by feature, from the declarations of the classes; conditions stand below, by number."""
    found = {name: takes(kind) for name, kind in CLASSES.items()}
    conditions = list(dict.fromkeys(w for row in found.values() for w in row.values() if len(w) > 3))
    marks = {"yes": "✓", "no": "–"} | {words: f"✓{'¹²³⁴⁵⁶⁷⁸⁹'[i]}" for i, words in enumerate(conditions)}
    rows = [[f"`{name}`", *(marks[word] for word in row.values())] for name, row in found.items()]
    notes = "; ".join(f"{marks[words][1]} {words}" for words in conditions)
    table = _rows(["scheme", *FEATURES], rows)
    return f"```{{table}}\n:class: ticks\n\n{table}\n```\n\n✓ yes, – no, refused in words; {notes}."


def properties() -> str:
    """The measured properties of the schemes from the stored report."""
    schemes = report.stored()["schemes"]
    names = [each["name"] for each in next(iter(schemes.values()), [])]
    rows = [[f"`{scheme}`", *(_verdict(each) for each in found)] for scheme, found in schemes.items()]
    return _rows(["scheme", *names], rows)


def _verdict(found: dict) -> str:
    word = {True: "yes", False: "no", None: "-"}[found["reproduced"]]
    return word if found["measured"] is None else f"{word} ({found['measured']:.3g})"


def work() -> str:
    """What an error costs with each scheme, case by case, from the stored report."""
    rows = report.stored().get("work_precision", [])
    grid = [work_table.cells(row) for row in rows]
    return _rows(list(work_table.HEAD), [[f"`{case}`", *map(_code, cells)] for case, *cells in grid])


def catalogue() -> str:
    """All schemes but those of Doyen, Ern and Piperno, with their papers."""
    return _listed(lambda name: not name.startswith("dep-"))


def numbered() -> str:
    """The schemes of Doyen, Ern and Piperno."""
    return _listed(lambda name: name.startswith("dep-"), papers=False)


def _listed(chosen: Callable[[str], bool], papers: bool = True) -> str:
    listed = table_of_classes(*filter(chosen, CLASSES), papers=papers)
    return listed.replace("_|_", "⊥")


def classes() -> str:
    """The classes of Doyen, Ern and Piperno's discretizations in Python, by number."""
    numbered = {name: kind for name, kind in CLASSES.items() if name.startswith("dep-")}
    rows = [
        [f"`{name}`", f"{{py:class}}`.{kind.__name__}`", _code(kind.equations)]
        for name, kind in numbered.items()
    ]
    return _rows(["scheme", "class", "in the paper"], rows)


TABLES = {
    "catalogue": catalogue,
    "numbered": numbered,
    "facts": facts,
    "ticks": ticks,
    "properties": properties,
    "classes": classes,
    "work": work,
}


def table(which: str) -> str:
    """One of the tables by name."""
    return TABLES[which]()
