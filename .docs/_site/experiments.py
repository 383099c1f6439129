"""Tables of the page about experiments, from the data of the benchmark."""

from __future__ import annotations

from collections.abc import Iterable

from dolfinx_impact.benchmark.cases.experiments import taylor_data as taylor

from .report import markdown


def _range(values: Iterable[float]) -> str:
    """The least and the largest value, once where they are the same."""
    every = list(values)
    return " to ".join(dict.fromkeys(f"{value:.4g}" for value in (min(every), max(every))))


def _sets() -> str:
    """The sets of Taylor tests: what was shot, by whom, and what is claimed."""
    rows = []
    for name, shots in taylor.shots().items():
        first, bounds = shots[0], {taylor.allowed(shot) for shot in shots}
        claimed = ", ".join(f"{bound:.0%}" for bound in sorted(bounds - {None})) or "reported"
        sizes = (_range(1e3 * shot.L0 for shot in shots), _range(shot.v for shot in shots))
        faces = sum(shot.face_ratio is not None for shot in shots)
        warm = _range(shot.temperature for shot in shots)
        rows.append([name, first.heat, first.source, len(shots), faces, *sizes, warm, claimed])
    head = [
        "set",
        "heat",
        "source",
        "shots",
        "faces",
        "length [mm]",
        "speed [m/s]",
        "start [K]",
        "claimed within",
    ]
    return markdown(head, rows)


def _metals() -> str:
    """Constants of the law of Johnson and Cook, and where they were read."""
    rows = [
        [
            name,
            f"{each.E / 1e9:g}, {each.nu:g}, {each.rho:g}",
            ", ".join(f"{value:g}" for value in (each.A / 1e6, each.B / 1e6, each.n, each.C, each.m)),
            f"{each.melting:g}, {each.heat:g}",
            each.source,
        ]
        for name, each in taylor.METALS.items()
    ]
    head = [
        "metal",
        "E [GPa], nu, density [kg/m3]",
        "A, B [MPa], n, C, m",
        "melts at [K], heat [J/(kg K)]",
        "read in",
    ]
    return markdown(head, rows)


def table(which: str) -> str:
    """A table by name."""
    return {"sets": _sets, "metals": _metals}[which]()
