"""Files and tables of a run hold what an observer of one's own saw in it."""

from __future__ import annotations

import random
import tempfile
import warnings
from pathlib import Path

import numpy as np

import dolfinx_impact as di

from ..observe import Record, build
from .base import Misfit, oracle


def _suits(s):
    """A third of the scenarios; not those of two bodies, or of long steps that end in words."""
    return s.seed % 3 == 1 and "divided" not in s.takes and s.part <= 9.0


def _run(s, end, **options):
    """A scenario made anew and run, with a record of its own beside the observers: run, record, names."""
    left, record = build(s), Record()
    record.look(left["scheme"])
    observers = [record.look, *options.pop("observers", ())]
    adapt = di.StepControl() if s.adapt else None
    run = di.simulate(
        left["scheme"], t_end=end(left["scheme"]), observers=observers, adapt=adapt, progress=False, **options
    )
    record.arrays()
    return run, record, left


def _alone(places, wanted):
    """Which of the wanted places one point of a file alone has, and the numbers of these points."""
    apart = np.linalg.norm(places[None] - wanted[:, None], axis=2)
    near = apart < 1e-6 * np.ptp(wanted, axis=0).max()
    assert near.any(axis=1).all()
    return near.sum(axis=1) == 1, apart.argmin(axis=1)


def _fields(path, body, record, every):
    """Displacements and impulses of a collection, sample by sample, beside the record."""
    import pyvista

    reader, d, taken = pyvista.get_reader(path), body.x.shape[1], -1
    size = np.abs(record.u).max() + 1e-300
    large = np.abs(record.impulse).sum(axis=0).max() + 1e-300
    wrong = {"time": 0.0, "displacement": 0.0, "impulse": 0.0}
    for time in reader.time_values:
        reader.set_active_time_value(time)
        grid = reader.read()[0]
        n = int(np.abs(record.t - time).argmin())
        since, taken = slice(taken + 1, n + 1), n
        places = np.asarray(grid.points)[:, :d]
        gdim = record.u.shape[1] // len(body.x)
        alone, which = _alone(places, body.x)  # glued parts have two points at a place
        names = ("displacement [m]", "impulse [N s]")
        u, impulse = (np.asarray(grid.point_data[name])[which[alone], :gdim] for name in names)
        wrong["time"] = max(wrong["time"], abs(record.t[n] - time) / record.t[-1])
        given = record.impulse[since].sum(axis=0)
        for name, values, right, over in (
            ("displacement", u, record.u[n], size),
            ("impulse", impulse, given, large),
        ):
            off = np.abs(values - right.reshape(-1, gdim)[alone]).max(initial=0.0) / over
            wrong[name] = max(wrong[name], off)
    yield Misfit("samples in a file", len(reader.time_values), len(range(0, len(record.t) - 1, every)) + 1, 0)
    for name, value in wrong.items():
        yield Misfit(f"{name} in a file, largest difference over the largest", value, 0.0, 1e-12)


def _tables(run, record):
    """The table and the row of a run beside the record."""
    table, row, r = run.to_frame(), run.row(), run["r"]
    size = np.abs(r).sum() + 1e-300
    columns = [name for name in table if name.split(":")[0] == "r"]
    yield Misfit("rows of the table", len(table), len(r), 0)
    total = table[columns].to_numpy().sum() if columns else 0.0
    yield Misfit("impulses in the table [N s]", total, r.sum(), 1e-12 * size)
    yield Misfit("steps in the row", row["steps"], len(record.t) - 1, 0)
    seen = sum(values.sum() for values in record.r[1:])
    if len(set(record.dt)) == 1:  # a change of the step adds to them what is no step's
        yield Misfit("impulses of the run [N s]", r[1:].sum(), seen, 1e-12 * size)


@oracle(_suits, runs=True)
def written(s):
    """What a run writes is what its steps left, and a run that stopped halfway has one history with the rest.

    A file has as many samples as were asked for, with the displacements of their times and the impulses since
    the sample before; tables have the sums of the history; a run that is resumed from its checkpoint ends
    with the whole history, step changes included.
    """
    rng = random.Random(f"written {s.seed}")
    every = rng.choice((1, 3, 7))
    steps = min(s.steps, 40)
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as name:
        warnings.simplefilter("ignore")
        folder = Path(name)
        file = di.FieldWriter(folder / "run.pvd", every=every, names=("displacement", "impulse"))
        run, record, left = _run(s, lambda scheme: s.late + steps * scheme.dt, observers=[file])
        yield from _fields(folder / "run.pvd", left["body"], record, every)
        yield from _tables(run, record)
        part = rng.randint(2, max(2, steps - 2))
        end = float(run["t"][-1])
        kept = di.Checkpoint(folder / "half.npz", every=max(part // 2, 1))
        _run(s, lambda scheme: s.late + part * scheme.dt, checkpoint=kept)
        whole, _, again = _run(s, lambda scheme: end, restart=folder / "half.npz")
        size = np.abs(record.u).max() + 1e-300
        wrong = np.abs(record.u[-1] - np.asarray(again["scheme"].u)).max()
        yield Misfit(
            "displacement of a run that went on from its file [m]",
            wrong,
            0.0,
            (1e-11 if s.explicit else 1e-9) * size,
        )
        yield Misfit("samples of its history", len(whole["t"]), len(run["t"]), 0)
        if len(whole["t"]) == len(run["t"]):
            yield Misfit(
                "times of its history [s]",
                np.abs(whole["t"] - run["t"]).max(),
                0.0,
                1e-11 * (abs(end) + 1e-300),
            )
            total = np.abs(run["r"]).sum() + 1e-300
            yield Misfit("impulses of its history [N s]", whole["r"].sum(), run["r"].sum(), 1e-9 * total)
