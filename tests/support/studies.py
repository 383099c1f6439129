"""Functions of studies, which processes of their own import, and scripts that call them."""

import math
import os
import threading
import time

import numpy as np
from dolfinx import mesh
from mpi4py import MPI
from petsc4py import PETSc

import dolfinx_impact as di

WORLD = MPI.COMM_WORLD

#: A script with a study that is killed and resumed; it says when a run begins.
SCRIPT = """
import sys
import dolfinx_impact as di
from support.studies import resumed

if __name__ == "__main__":
    table = di.study(resumed, {"z0": [1.0, 1.5, 2.0, 2.5, 3.0, 3.5]}, sys.argv[1], workers=2)
    print(table.csv.read_text())
"""


def noted(p, comm, folder):
    """Twice a number; who ran stands in a file beside the folder of the study."""
    if comm.rank == 0:
        with (folder.parent.parent / "calls").open("a") as file:
            file.write(f"{p['x']!r}\n")
    return {"y": 2 * p["x"]}


def kinds(p, comm, folder):
    """What came of a parameter, in results of all kinds."""
    value = p["value"]
    if value == "fail":
        raise ArithmeticError("no value\nfor that")
    kind = type(value).__name__
    return {
        "kind": kind,
        "third": np.float64(1 / 3),
        "count": np.int64(2),
        "none": None,
        "seconds": time.time(),
    }


def wrong(p, comm, folder):
    """Results that no table holds."""
    return {
        "none": None,
        "array": {"u": np.zeros(3)},
        "list": {"u": [1.0]},
        "taken": {"case": "other"},
        "error": {"error": 1.0},
        "exit": {},
    }[p["case"]]


class Quiet(BaseException):
    """Caught by nothing that catches errors."""


class Mute(Exception):
    """An error without words."""

    def __str__(self):
        raise RuntimeError


def odd(p, comm, folder):
    """Results that are unusual but right, and errors that are."""
    if p["case"] == "row":
        scheme = di.CDLagrange(di.PointMasses(1.0), 0.1)
        scheme.start(0.0, 1.0)
        return di.simulate(scheme, t_end=0.2).row()
    if p["case"] == "same":
        return {**p, "y": math.nan, "seconds": 0.25, "text": "a\udcff"}
    if p["case"] == "other":
        return {"at": 2.0}
    raise {"quiet": Quiet("no word"), "mute": Mute()}[p["case"]]


def ending(p, comm, folder):
    """The process ends in a run; a study within a run."""
    if isinstance(p["how"], int):
        os._exit(p["how"])
    return {"runs": len(di.study(noted, {"x": [1]}, folder / "inner"))}


def default_ranks(p, comm, folder):
    """Ranks of an object of PETSc that is made on the default communicator."""
    vector = PETSc.Vec().create()
    return {"same": vector.comm.size == comm.size}


def last_fails(p, comm, folder):
    """The last rank fails while the others wait for it; it comes late, so that the test ends."""
    if comm.rank == comm.size - 1:
        threading.Timer(0.3, lambda: comm.Ibarrier().Wait()).start()
        raise ArithmeticError("on the last rank")
    comm.Ibarrier().Wait()
    return {}


def ball(p, comm, folder):
    """Impulse of a ball on a floor."""
    mass = di.PointMasses(p["m"], load=[-9.81 * p["m"]])
    scheme = di.CDLagrange(mass, 1e-3, di.DofBound(mass, 0, lower=0.0, restitution=0.8))
    scheme.start(p["z0"], 0.0)
    return {"impulse": di.simulate(scheme, t_end=1.5, progress=True)["r"].sum()}


class Begun(di.Observer):
    """Says in a step after the first checkpoint that a run has begun."""

    def __init__(self, rank):
        self.rank = rank

    def __call__(self, integrator):
        """After every step."""
        if self.rank == 0 and integrator.n == 300:
            os.write(1, b"begun\n")


def resumed(p, comm, folder):
    """The same for longer, from its checkpoint where there is one."""
    mass = di.PointMasses(1.0, load=[-9.81])
    scheme = di.CDLagrange(mass, 1e-4, di.DofBound(mass, 0, lower=0.0, restitution=0.8))
    file = folder / "state.npz"
    if not file.exists():
        scheme.start(p["z0"], 0.0)
    restart = file if file.exists() else None
    observers = [Begun(comm.rank)] if os.environ.get("STUDY_SAYS") else []
    if os.environ.get("STUDY_SLOW"):
        observers.append(lambda scheme: time.sleep(0.02))
    run = di.simulate(
        scheme,
        t_end=p.get("t_end", 0.6),
        checkpoint=di.Checkpoint(file, every=200),
        restart=restart,
        every=100,
        observers=observers,
    )
    return {"impulse": run["r"].sum(), "z": run["u"][-1, 0]}


def on_mesh(p, comm, folder):
    """A block on the ranks of the run, or on others."""
    ranks = {"own": comm, "bound": WORLD, "world": None}[p["ranks"]] or MPI.COMM_WORLD
    square = mesh.create_unit_square(ranks, 4, 4, mesh.CellType.quadrilateral)
    floor = mesh.locate_entities_boundary(square, 1, lambda x: np.isclose(x[1], 0.0))
    tags = mesh.meshtags(square, 1, floor, np.ones(floor.size, np.int32))
    named = di.NamedMesh(square, None, tags, {"floor": (1, 1)})
    body = di.Solid(named, density=1.0, law=di.LinearElastic(100.0, 0.3))
    contact = di.RigidContact(body, "floor", di.Plane((0, -1e-2), (0, 1)))
    scheme = di.CDLagrange(body, 0.5 * body.critical_time_step(), contact)
    scheme.start(0.0, (0.0, -1.0))
    file = di.Checkpoint(folder / "state.npz", every=5)
    run = di.simulate(scheme, t_end=20.5 * scheme.dt, checkpoint=file)
    return {"ranks_of_it": body.comm.size, "impulse": round(run["r"].sum(), 9)}


def sleeping(p, comm, folder):
    """A run that takes too long."""
    time.sleep(p["seconds_of_it"])
    return {}
