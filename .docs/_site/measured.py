"""Tables of measured costs, from the JSON lines in ``.docs/measured.jsonl``, and of what runs show.

``docker/run python .docs/_site/measured.py`` measures all of it anew with ``benchmark speed --json``, an hour
of a machine without other work; names of cases behind it renew these alone.
"""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / ".docs" / "measured.jsonl"
#: What is measured: cases with numbers of ranks and of dofs.
RUNS = (
    {"case": "elements", "ranks": 1, "dofs": [200_000, 1_000_000]},
    {"case": "elements", "ranks": 2, "dofs": [200_000]},
    {"case": "scaling", "ranks": 1, "dofs": [1_000_000]},
    {"case": "surfaces", "ranks": 1, "dofs": []},
    {"case": "surfaces", "ranks": 2, "dofs": []},
    {"case": "general-contact", "ranks": 1, "dofs": []},
    {"case": "lasting", "ranks": 1, "dofs": []},
    {"case": "contact-ranks", "ranks": 1, "dofs": []},
    {"case": "contact-ranks", "ranks": 2, "dofs": []},
    {"case": "hati-solid", "ranks": 1, "dofs": []},
    {"case": "solid-crane", "ranks": 1, "dofs": []},
)


def blocks(text: str) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """What was measured, when and where, each with the objects that were printed."""
    found: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    for line in map(json.loads, text.splitlines()):
        if "date" in line:
            found.append((line, []))
        else:
            found[-1][1].append(line)
    return found


class Measured:
    """The numbers of a case on some ranks, by what was measured and by name; when and where."""

    def __init__(self, case: str, ranks: int = 1) -> None:
        every = {(about["case"], about["ranks"]): (about, each) for about, each in blocks(FILE.read_text())}
        about, objects = every[case, ranks]
        self.numbers = {(each["what"], each["name"]): each["value"] for each in objects}
        self.place = f"Measured on {about['date']}: {about['machine']}."

    def cell(self, what: str, name: str, form: str = "{:#.2g}", scale: float = 1.0) -> str:
        """The magnitude of a number in a table."""
        return form.format(scale * abs(self.numbers[what, name]))

    def by_ratio(self, what: str, columns: Mapping[str, str], tail: str = "") -> list[list[str]]:
        """A row for each ratio m of HATI, with names of numbers and their formats as columns."""
        start = f"{next(iter(columns))}, m = "
        names = [name for _, name in self.numbers if name.startswith(start) and name.endswith(tail)]
        ratios = [name.removeprefix(start).removesuffix(tail) for name in names]
        return [
            [f"m = {m}", *(self.cell(what, f"{name}, m = {m}{tail}", form) for name, form in columns.items())]
            for m in ratios
        ]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], *places: str) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([*lines, "", *dict.fromkeys(places)])


def elements() -> str:
    """Steps on every kind of element beside their yardstick."""
    one, two = Measured("elements"), Measured("elements", 2)
    large, what = ", cube, 1000000", "elements"

    def row(kind: str) -> list[str]:
        key = f"{kind}, cube, 200000"
        return [
            kind,
            " / ".join(each.cell(what, key) for each in (one, two)),
            one.cell(what, kind + large),
            " / ".join(each.cell(what, f"{key}, ns a dof", "{:.3g}") for each in (one, two)),
            ", ".join(one.cell(what, f"{key}, {each} a dof", "{:.0f}") for each in ("bytes", "flops")),
        ]

    head = ["body", "step over yardstick, 2e5 dofs, 1 / 2 ranks", "1e6 dofs, 1 rank"]
    head += ["ns per dof and step, 2e5 dofs, 1 / 2 ranks", "bytes, flops per dof"]
    kinds = [name.removesuffix(large) for _, name in one.numbers if name.endswith(large)]
    return _table(head, map(row, kinds), one.place, two.place)


def setup() -> str:
    """The set-up of large bodies."""
    found, stages = Measured("scaling"), ("mesh", "forces and masses", "critical step", "set-up")

    def row(what: str) -> list[str]:
        seconds = [found.cell(what, f"{stage}, s, 1 rank", "{:.1f}") for stage in stages]
        most = found.cell(what, "most, bytes a dof, 1 rank", "{:.2f}", 1e-3)
        return [what.rpartition(",")[0], *seconds, most]

    head = ["body", "mesh [s]", "forces and masses [s]", "critical step [s]", "whole set-up [s]"]
    kinds = [what for what, name in found.numbers if name == "set-up, s, 1 rank"]
    return _table([*head, "most memory [kB per dof]"], map(row, kinds), found.place)


def surfaces() -> str:
    """Steps with contact between surfaces beside steps without, on one rank and on two."""
    one, two, what = Measured("surfaces"), Measured("surfaces", 2), "surfaces"
    labels = {
        "friction 0": "two blocks, 5041 points",
        "friction 0.3": "the same, friction 0.3",
        "few points": "a small block on a large one, 484 points",
        "many points": "two plates, 20 164 points",
    }

    def row(told: str, label: str) -> list[str]:
        each = (f"surfaces, {part}, {told}" for part in ("step", "rows", "solution", "search"))
        per_point = one.cell(what, f"surfaces, per point, {told}", "{:.0f}")
        ratios = [" / ".join(of.cell(what, name, "{:.2f}") for of in (one, two)) for name in each]
        return [label, *ratios, per_point]

    head = ["1e6 dofs", "step over free step, 1 / 2 ranks", "of it gaps and rows", "solution", "search"]
    return _table(
        [*head, "ns per closed point"], [row(*each) for each in labels.items()], one.place, two.place
    )


def everything() -> str:
    """Contact of everything with everything: nothing near, and a pile, with and without tests of paths."""
    found, what = Measured("general-contact"), "general-contact"
    parts = {
        "pile, 5 % of the facets touch, no tests of paths: contact": "pile, no tests of paths, contact",
        "the same pile, with tests of paths: contact": "pile, contact",
        "of it the tests of paths": "pile, tests of paths",
    }
    far = "nothing near, over the named pair"
    rows = [["two blocks far apart, a step over one with the named pair", found.cell(what, far, "{:.2f}")]]
    for label, name in parts.items():
        rows.append([label, found.cell(what, f"{name} over a large free step", "{:.2f}")])
    return _table(["contact of everything with everything", "ratio"], rows, found.place)


def lasting() -> str:
    """From how many critical steps on an implicit step at both levels costs less than explicit ones."""
    found, what = Measured("lasting"), "lasting"
    steps = ("step of 20 critical", "step of 100 critical")
    rows = []
    for body in [name.removesuffix(", dofs") for _, name in found.numbers if name.endswith(", dofs")]:
        counted = [found.cell(what, f"{body}, {name}", "{:.0f}") for name in ("dofs", *steps)]
        each = [found.cell(what, f"{body}, {step}, iterations", "{:.1f}") for step in steps]
        explicit = found.cell(what, f"{body}, explicit step, ms", "{:.2g}")
        rows.append([body, counted[0], explicit, *counted[1:], " / ".join(each)])
    head = ["body", "dofs", "explicit step [ms]", "a step of 20 critical over it", "of 100 critical"]
    return _table([*head, "iterations a step"], rows, found.place)


#: Products with H in a step of the counted blocks.
_PRODUCTS = 20


def contact_ranks() -> str:
    """What contact between surfaces asks of each rank, and steps where costs are known."""
    found = Measured("contact-ranks")
    keys = [name.split(", ") for _, name in found.numbers if name.startswith("segments, ")]
    whats = dict.fromkeys(what for what, name in found.numbers if name.startswith("segments, "))
    head = ["dofs", "ranks", "segments", "points", "facets near and own", "neighbours", "nodes exchanged"]
    rows = []
    for what in whats:
        for _, ranks in keys:
            if (what, f"segments, {ranks}") not in found.numbers:
                continue
            names = ("segments", "points", "held", "neighbours", "nodes")
            counted = [found.cell(what, f"{name}, {ranks}", "{:.0f}") for name in names]
            rows.append([f"{_dofs(what):.1e}", ranks.split()[0], *counted])
    costs = _Costs()
    for row in rows:
        row += [f"{1e3 * value:.2f}" for value in costs.of(float(row[0]), *map(float, row[1:4]))]
    return _table(
        [*head, "free step [ms]", "rows and solution [ms]", "messages [ms]"], rows, found.place, costs.place
    )


def _dofs(what: str) -> float:
    from dolfinx_impact.benchmark.speed.contact_ranks import dofs

    return float(dofs(int(what.split()[0])))


class _Costs:
    """Seconds of a step on many ranks, extrapolated from those of one core and of two ranks."""

    def __init__(self) -> None:
        counted, surfaces, two = Measured("contact-ranks"), Measured("surfaces"), Measured("contact-ranks", 2)
        what = next(what for what, name in counted.numbers if name == "segments, 1 ranks")
        segments, points = (counted.numbers[what, f"{name}, 1 ranks"] for name in ("segments", "points"))
        names = ("step", "rows", "solution", "per point")
        ratio, rows, solution, per_point = (
            surfaces.numbers["surfaces", f"surfaces, {name}, friction 0"] for name in names
        )
        step = 1e-9 * per_point * points / (ratio - 1.0)
        self._per_dof, self._per_segment = step / _dofs(what), step * rows / segments
        self._per_point = step * solution / points
        self._message = 1e-6 * two.numbers["messages", "exchange and sum, us"]
        self.place = surfaces.place

    def of(self, dofs: float, ranks: float, segments: float, points: float) -> tuple[float, float, float]:
        """A step without contact, the work of contact, and its messages, by the log2 of ranks."""
        work = self._per_segment * segments + self._per_point * points
        return self._per_dof * dofs / ranks, work, _PRODUCTS * self._message * float(np.log2(ranks))


_FASTER = {"faster": "{:.1f}", "faster with set-up": "{:.1f}"}


def beam() -> str:
    """HATI on a beam that falls on a pin."""
    found = Measured("hati-solid")
    columns = {**_FASTER, "error": "{:.2%}", "difference": "{:.2%}", "interface energy": "{:.1%}"}
    explicit = ["explicit", "", "", found.cell("hati-solid", "error, explicit", "{:.2%}"), "", ""]
    head = ["", "times faster", "with set-up", "error", "from the explicit run"]
    rows = [explicit, *found.by_ratio("hati-solid", columns)]
    return _table([*head, "interface energy over the kinetic"], rows, found.place)


def crane() -> str:
    """HATI on the crane as a solid."""
    found, columns = Measured("solid-crane"), {**_FASTER, "difference": "{:.1%}", "interface": "{:.0%}"}
    rows = found.by_ratio("solid-crane", columns, ", 8 layers")
    head = ["", "times faster", "with set-up", "from the explicit run"]
    return _table([*head, "interface energy over the largest kinetic"], rows, found.place)


def release(elements: Sequence[int] = (25, 50, 100, 200)) -> str:
    """How quiet bars are after their release, and what they lost: singular mass, then CD-Lagrange."""
    rows = []
    for n in elements:
        both = [released(scheme, n) for scheme in ("cd-lagrange-singular", "cd-lagrange")]
        rows.append([str(n), *(f"{each[0]:.4f}" for each in both), *(f"{each[1]:.2e}" for each in both)])
    head = ["elements", "rms of $(v - v_0)/v_0$ after release", "CD-Lagrange", "energy lost", "CD-Lagrange"]
    return _table(head, rows)


def released(scheme: str, elements: int, courant: float = 0.7) -> tuple[float, float, int]:
    """The rms of the contact node's deviation from v0 after its release, the energy lost, and the steps."""
    from dolfinx_impact.benchmark import runner
    from dolfinx_impact.benchmark.case import defaults
    from dolfinx_impact.benchmark.cases import CASES

    case = CASES["impacting-bar"]
    p = {**defaults(runner.options_of(case, scheme)), "elements": elements, "courant": courant}
    problem = case.make(scheme, p)
    run = problem.simulate()
    # The velocity of a node without mass is that of the step before.
    steps = 2 if scheme == "cd-lagrange-singular" else 1
    after = run["t_v"] - run["t"][np.flatnonzero(run["r"])[-1]] - steps * problem.p["h"]
    v = -run["v"][(after >= 1e-5) & (after <= 8e-5), 0]
    lost = problem.judge(run)[0]["energy_lost"]
    return float(np.sqrt(np.mean((v / p["v0"] - 1) ** 2))), lost, run.steps


TABLES: Mapping[str, Callable[[], str]] = {
    "elements": elements,
    "setup": setup,
    "surfaces": surfaces,
    "everything": everything,
    "lasting": lasting,
    "contact-ranks": contact_ranks,
    "beam": beam,
    "crane": crane,
    "release": release,
}


def table(which: str) -> str:
    """One of the tables by name."""
    return TABLES[which]()


def _machine() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{(models or ['unknown'])[0]}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before"


def renew(cases: Sequence[str] = ()) -> None:
    """Measure some cases, by default all; the file keeps what it has of others."""
    kept = blocks(FILE.read_text()) if FILE.exists() else []
    for run in RUNS:
        if cases and run["case"] not in cases:
            continue
        about = {**run, "date": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}", "machine": _machine()}
        words = ["mpirun", "-n", str(run["ranks"])] if run["ranks"] != 1 else []
        words += [
            sys.executable,
            "-m",
            *f"dolfinx_impact.benchmark speed --json --case {run['case']}".split(),
        ]
        words += [word for dofs in run["dofs"] for word in ("--dofs", str(dofs))]
        printed = subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
        same = {name: run[name] for name in ("case", "ranks")}
        kept = [each for each in kept if {**each[0], **same} != each[0]]
        kept.append((about, [json.loads(line) for line in printed.splitlines()]))
    lines = [json.dumps(line) for about, objects in kept for line in (about, *objects)]
    FILE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    renew(sys.argv[1:])
