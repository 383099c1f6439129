"""Tables of what runs show that take longer than a build of the site: stored in ``.docs/studies.json``.

``docker/run python .docs/_site/studies.py [NAME ...]`` computes some of them anew, by default all (minutes).
"""

from __future__ import annotations

import datetime
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

if __package__:
    from . import measured
else:  # run by the name of the file
    import measured

FILE = Path(__file__).resolve().parents[1] / "studies.json"
#: Where studies keep their rows.
_RESULTS = FILE.parents[1] / "results/studies"
#: Head and rows of a table.
Table = tuple[list[str], list[list[str]]]


def _results(case: str, scheme: str = "cd-lagrange", **p: Any) -> dict[str, Any]:
    """Results of a case of the benchmark with some parameters."""
    from dolfinx_impact.benchmark import runner
    from dolfinx_impact.benchmark.case import defaults
    from dolfinx_impact.benchmark.cases import CASES

    made = CASES[case].make(scheme, {**defaults(runner.options_of(CASES[case], scheme)), **p})
    return made.judge(made.simulate())[0]


def _square(kind: str, n: int, degree: int = 1, **options: Any) -> Any:
    """A unit square or cube of regular cells of one kind."""
    from dolfinx import mesh
    from mpi4py import MPI

    import dolfinx_impact as di

    cell = getattr(mesh.CellType, kind)
    make = mesh.create_unit_square if kind in ("triangle", "quadrilateral") else mesh.create_unit_cube
    cells = make(MPI.COMM_WORLD, *[n] * (2 if make is mesh.create_unit_square else 3), cell)
    return di.Solid(cells, density=1.0, degree=degree, **options)


def cook() -> Table:
    """Deflection of Cook's membrane with and without the remedy against locking."""
    sizes = (12, 24, 40)
    rows = []
    for kind, remedy in (("quadrilateral", "mean dilatation"), ("triangle", "nodal pressure")):
        for name, locking in ((remedy, "default"), ("plain", "none")):
            ratios = [
                _results("cook-membrane", cell=kind, locking=locking, elements=n)["tip_ratio"] for n in sizes
            ]
            rows.append([f"{kind}s, {name}", *(f"{ratio:.0%}" for ratio in ratios)])
    return ["cells along a side", *map(str, sizes)], rows


def cells() -> Table:
    """The least step of the cells of a regular mesh, each alone, over that of the body."""
    import dolfinx_impact as di

    rows = []
    for kind in ("triangle", "quadrilateral", "tetrahedron", "hexahedron"):
        row = [kind]
        for law in (di.LinearElastic(1.0, 0.3), di.NeoHookean(1.0, 0.49, isochoric=True)):
            body = _square(kind, 6, law=law)
            step, low, high = body.critical_time_step(), 0.2, 1.2
            while high - low > 2e-3:  # the largest step for which no cell needs mass
                middle = (low + high) / 2
                scaled = _square(kind, 6, law=law, mass_scaling=middle * step).scaled_cells
                low, high = (low, middle) if scaled else (middle, high)
            row.append(f"{low:.2f}")
        rows.append(row)
    return ["cells", "linear elastic, nu = 0.3", "neo-Hookean, nu = 0.49, with `locking=`"], rows


def viscosity() -> Table:
    """The critical step while the velocity jumps across one layer of cells, over that at rest."""
    import dolfinx_impact as di

    rows, speeds = [], (0.02, 0.05, 0.1)
    for degree in (1, 2):
        body = _square("quadrilateral", 8, degree, law=di.NeoHookean(1.0, 0.3), bulk_viscosity=(0.06, 1.2))
        v = np.zeros(body.size)
        v[::2] = -1.0 * (body.x[:, 0] > 0.51)  # what has hit a wall stands, what follows does not know it yet
        rest, row = body.critical_time_step(), [f"quadrilaterals of degree {degree}"]
        for part in speeds:
            row.append(f"{body.critical_time_step(v=part * body.wave_speed * v) / rest:.2f}")
        rows.append(row)
    return ["speed of a flat impact, of the wave speed", *map(str, speeds)], rows


def interface() -> Table:
    """What the interface of HATI costs where an impact is shorter than a few coarse steps."""
    from dolfinx import mesh
    from mpi4py import MPI

    import dolfinx_impact as di

    block = di.named(
        mesh.create_rectangle(MPI.COMM_WORLD, [[0.0, 0.0], [4.0, 1.0]], [24, 6], mesh.CellType.quadrilateral),
        tip=lambda x: np.isclose(x[0], 0.0),
        cells={"near": lambda x: x[0] <= 1.0 + 1e-9, "far": lambda x: x[0] >= 1.0 - 1e-9},
    )
    steel = {"density": 7850.0, "law": di.LinearElastic(2.1e11, 0.3)}
    rows = []
    for ratio in (1, 2, 10, 40):
        near, far = (di.Solid(block, cells=name, **steel) for name in ("near", "far"))
        wall = di.RigidContact(near, "tip", di.Plane((-1e-6, 0.0), (1.0, 0.0)))
        scheme = di.HATI(near, far, 0.9 * near.critical_time_step(), wall, ratio=ratio)
        scheme.start(0.0, (-1.0, 0.0))
        run = di.simulate(scheme, t_end=3e-3, progress=False)
        mass, v = scheme.system.mass, scheme.v_mean
        rows.append([str(ratio)])
        p = 4.0 * 7850.0
        momentum = (mass * v[: mass.size]).reshape(-1, 2)[:, 0].sum()
        lost = -run["interface"][-1] / run["kinetic"][0]
        error = abs(momentum + p - run["r"].sum()) / p
        rows[-1] += [f"{lost:.1%}", f"{error:.1g}"]
    return [
        "m",
        "energy lost at the interface, of the kinetic",
        "error of the balance of momentum, of m v",
    ], rows


def restitution() -> Table:
    """Rebound of an elastic cube with several coefficients of restitution of its nodes."""
    rows = []
    for n in (8, 16, 32):
        ratios = [_results("cube-drop", elements=n, restitution=e)["rebound_ratio"] for e in (0.0, 0.5, 1.0)]
        rows.append([str(n), *(f"{ratio:.3f}" for ratio in ratios)])
    return ["elements along a side", "e = 0", "e = 0.5", "e = 1"], rows


def quiet() -> Table:
    """How quiet the impacting bar is after its release with Noh-Bathe and CD-Lagrange, and at what cost."""
    rows = []
    for name, courant in (("cd-lagrange", 0.7), ("cd-lagrange", 0.9), ("noh-bathe", 0.9)):
        rms, lost, steps = measured.released(name, 50, courant)
        forces = (2 if name == "noh-bathe" else 1) * steps
        rows.append([f"`{name}`", str(courant), f"{rms:.4f}", f"{lost:.1%}", str(forces)])
    head = ["scheme", "step over the critical one", "rms of $(v - v_0)/v_0$ after release", "energy lost"]
    return [*head, "force evaluations"], rows


def damping() -> Table:
    """What Noh-Bathe does with a mode: its factor in a step without damping, and its limit with damping."""
    import dolfinx_impact as di

    parts = (0.5, 0.7, 0.9, 0.99)
    free = di.PointMasses(1.0, stiffness=[[1.0]])
    factors = []
    for part in parts:
        scheme = di.NohBathe(free, part * di.NohBathe.critical_step(free))
        columns = []
        for u, v in ((1.0, 0.0), (0.0, 1.0)):
            scheme.start(u, v)
            scheme.step()
            columns.append([scheme.u[0], scheme.v[0]])
        factors.append(f"{np.abs(np.linalg.eigvals(np.array(columns).T)).max():.2f}")
    return ["step over the limit", *map(str, parts)], [["factor of the highest mode in a step", *factors]]


def taylor() -> Table:
    """Radius and length of a Taylor bar of tetrahedra after its impact, with the remedy and without."""
    rows = []
    for name, locking in (("nodal pressure", "default"), ("plain", "none")):
        found = _results("taylor-bar", geometry="tetrahedra", size=8e-4, locking=locking)
        lengths = (found["face_radius"], found["length_end"])
        rows.append([f"tetrahedra, {name}", *(f"{1e3 * length:.2f} mm" for length in lengths)])
    axis = _results("taylor-bar", size=8e-4)
    lengths = (axis["face_radius"], axis["length_end"])
    rows.append(["axisymmetric quadrilaterals", *(f"{1e3 * length:.2f} mm" for length in lengths)])
    return ["", "largest radius", "length"], rows


def lengths(p: Mapping[str, Any], comm: Any, folder: Path) -> dict[str, float]:
    """Predicted final lengths of a set of Taylor tests over the first, by the number of the shot."""
    found = _results("taylor-tests", set=p["set"], cells=p["cells"])["shots"]
    return {f"shot {k}": shot["length_ratio"] for k, shot in enumerate(found)}


def bounce(p: Mapping[str, Any], comm: Any, folder: Path) -> dict[str, float]:
    """What a sphere does on a plate, and what it does in Zener's theory."""
    found = _results("sphere-plate", **p)
    names = ("restitution", "peak_force", "duration")
    return {name: found[name] for each in names for name in (each, f"{each}_zener")} | {
        "lambda": found["lambda"]
    }


def _study(function: Any, parameters: Mapping[str, Any]) -> Any:
    """The table of a study, whose rows are kept in a folder of its own."""
    import dolfinx_impact as di

    return di.study(function, parameters, _RESULTS / function.__name__, strict=True)


def shots() -> Table:
    """Final lengths of all measured Taylor tests, predicted and measured."""
    from dolfinx_impact.benchmark.cases.experiments import taylor_data

    known = taylor_data.shots()
    rows = []
    for (name, every), row in zip(known.items(), _study(lengths, {"set": list(known), "cells": [16]})):
        for k, shot in enumerate(every):
            predicted, measured_, bound = row[f"shot {k}"], shot.length_ratio, taylor_data.allowed(shot)
            off = predicted / measured_ - 1
            verdict = shot.note or "reported" if bound is None else "yes" if abs(off) <= bound else "no"
            size = [f"{1e3 * shot.L0:.4g}", f"{shot.v:g}", f"{shot.temperature:g}"]
            rows.append([name, *size, f"{measured_:.3f}", f"{predicted:.3f}", f"{off:+.1%}", verdict])
    head = [
        "set",
        "length [mm]",
        "speed [m/s]",
        "start [K]",
        "measured",
        "predicted",
        "off",
        "within its bound",
    ]
    return head, rows


def plates() -> Table:
    """Restitution, force and duration of a sphere on plates of several thicknesses, beside Zener's theory."""
    rows = []
    for row in _study(bounce, {"thickness": [5e-3, 3.5e-3, 2.5e-3, 1.8e-3]}):
        pairs = [(row[name], row[f"{name}_zener"]) for name in ("restitution", "peak_force", "duration")]
        (e, theory), *others = pairs
        off = [f"{a / b - 1:+.1%}" for a, b in others]
        rows.append(
            [f"{1e3 * row['thickness']:g}", f"{row['lambda']:.3f}", f"{e:.3f}", f"{theory:.3f}", *off]
        )
    return ["thickness [mm]", "lambda", "restitution", "Zener's", "largest force", "duration"], rows


def ripple() -> Table:
    """Second differences of the force of Hertz's impact from step to step, CD-Lagrange's over the other's."""
    from dolfinx_impact.benchmark import runner
    from dolfinx_impact.benchmark.case import defaults
    from dolfinx_impact.benchmark.cases import CASES

    case, rows = CASES["hertz-sphere"], []
    for courant in (0.7, 0.35):
        sizes = []
        for name in ("cd-lagrange", "cd-lagrange-singular"):
            p = {
                **defaults(runner.options_of(case, name)),
                "v0": 2.0,
                "resolution": 4,
                "courant": courant,
                "every": 1,
            }
            made = case.make(name, p)
            run = made.simulate()
            force = run["r"].sum(axis=1) / made.p["h"]
            sizes.append(np.sqrt(np.mean(np.diff(force, 2) ** 2)) / force.max())
        rows.append([str(courant), *(f"{size:.1e}" for size in sizes), f"{sizes[0] / sizes[1]:.1f}"])
    return ["step over the critical one", "CD-Lagrange", "without mass at the contact", "ratio"], rows


def crane() -> Table:
    """The bridge crane as a solid beside that of beams: natural frequencies, and wheels that come down."""
    return crane_of(_results("solid-crane", "hati"))


def crane_of(found: Mapping[str, Any]) -> Table:
    """The table of :func:`crane` from results of the case."""
    rows = []
    for what, of in (("beams", "_frame"), ("solid", "")):
        times = [each[0] for each in found[f"landings{of}"] if each[1] >= 0.02]
        rows.append(
            [
                what,
                ", ".join(f"{each:.2f} Hz" for each in found[f"frequencies{of}"]),
                ", ".join(f"{each:.2f} Hz" for each in found[f"frequencies_tied{of}"]),
                ", ".join(f"{each:.4f} s" for each in times),
            ]
        )
    head = ["", "frequencies", "with the trolley tied", "wheels come down after flights of 20 ms and more"]
    return head, rows


TABLES: Mapping[str, Callable[[], Table]] = {
    "cook": cook,
    "crane": crane,
    "cells": cells,
    "viscosity": viscosity,
    "interface": interface,
    "restitution": restitution,
    "quiet": quiet,
    "damping": damping,
    "taylor": taylor,
    "shots": shots,
    "plates": plates,
    "ripple": ripple,
}


def table(which: str) -> str:
    """One of the tables by name, in Markdown, as stored."""
    stored = json.loads(FILE.read_text())[which]
    lines = [stored["head"], ["---"] * len(stored["head"]), *stored["rows"]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def renew(names: list[str]) -> None:
    """Compute some tables anew, by default all; the file keeps the others."""
    for name in names or list(TABLES):
        head, rows = TABLES[name]()
        print(name, head, *rows, sep="\n  ", flush=True)
        stored = json.loads(FILE.read_text()) if FILE.exists() else {}
        stored[name] = {"date": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}", "head": head, "rows": rows}
        FILE.write_text(
            json.dumps({each: stored[each] for each in TABLES if each in stored}, indent=1) + "\n"
        )


if __name__ == "__main__":
    renew(sys.argv[1:])
