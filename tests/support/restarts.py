"""Bodies and schemes that tests interrupt and resume.

``python restarts.py FOLDER`` writes a checkpoint of every setup to ``FOLDER/NAME-RANKS``.
"""

import functools
import sys
from pathlib import Path

import numpy as np
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact import Checkpoint, checkpoint, materials, simulate
from support.colliding import discs
from support.surfaces import against_each_other

STEEL = {"density": 7847.0, "law": di.LinearElastic(2.1e11), "cross_section": 0.645e-3}
STEPS, KEPT = 27, 7


@functools.cache
def block(kind, size):
    """A box of cells on several ranks, its whole surface named; once, since partitioners throw dice."""
    make = dmesh.create_rectangle if len(size) == 2 else dmesh.create_box
    corners = [np.zeros(len(size)), 0.1 * np.array(size) / max(size)]
    cells = make(MPI.COMM_WORLD, corners, size, kind)
    fdim = len(size) - 1
    skin = dmesh.locate_entities_boundary(cells, fdim, lambda x: np.full(x.shape[1], True))
    tags = dmesh.meshtags(cells, fdim, skin, np.ones(skin.size, np.int32))
    return di.NamedMesh(cells, None, tags, {"skin": (fdim, 1)})


@functools.cache
def line(name):
    """A bar of the package."""
    return di.mesh.read(di.mesh.package_mesh(name), gdim=1)


def falling(
    make,
    *,
    law,
    kind=dmesh.CellType.tetrahedron,
    size=(3, 3, 4),
    obstacle=None,
    courant=0.6,
    e=0.2,
    friction=0.3,
    density=1100.0,
    **body,
):
    """A block that falls askew onto a floor, with friction."""
    n = len(size)
    up = np.eye(n)[-1]
    solid = di.Solid(block(kind, size), density=density, law=law, **body)
    floor = di.Plane(-1e-4 * up, up) if obstacle is None else obstacle
    contact = di.RigidContact(solid, "skin", floor, friction=friction, restitution=e)
    scheme = make(solid, courant * solid.critical_time_step(), contact=contact)
    v0 = solid.rigid_velocity([2.0] + [0.0] * (n - 2) + [-6.0], spin=8.0 if n == 2 else (0.0, 8.0, 3.0))
    return scheme, v0


def rubber(**options):
    """Explicit, nonlinear, with friction and damping."""
    options = {"law": di.NeoHookean(1e6, 0.4), "stiffness_damping": 1e-6, "damping": 3.0, **options}
    return falling(options.pop("make", di.CDLagrange), **options)


def implicit_rubber(make=di.MoreauJean):
    """Newton's method with friction; steps twice the critical one."""
    return falling(
        make, law=di.NeoHookean(1e7, 0.4), size=(3, 4), kind=dmesh.CellType.quadrilateral, courant=2.0
    )


def corner():
    """A box that moves, whose corner the block hits."""
    step = di.Box.between((0.05, -1.0), (1.0, -2e-4))
    box = di.MovingObstacle(step, translation=((0.0, 1.0), lambda t: 0.3 * t))
    return falling(
        di.CDLagrange,
        law=di.LinearElastic(1e6, 0.3),
        size=(4, 4),
        kind=dmesh.CellType.triangle,
        obstacle=box,
        degree=2,
    )


def implicit_solid():
    """A linear body, factorised once, friction in the full Delassus operator."""
    return falling(di.MoreauJean, law=di.LinearElastic(1e6, 0.3), size=(2, 2, 3), courant=3.0, e=0.0)


def massless_nodes():
    """A linear body whose contact nodes have no mass, on a floor across an axis."""
    make = di.SCHEMES["dep-7.2"].make
    return falling(make, law=di.LinearElastic(1e6, 0.3), size=(2, 2, 3), e=0.0, friction=0.0)


def two_bars():
    """Node pairs across ranks."""
    named = line("two_bars.geo")
    bars = di.Solid(named, **STEEL)
    pairs = di.NodePairs(bars, "left tip", "right tip", [1.0])
    speeds = bars.rigid_velocity([5.0], cells="left bar") + bars.rigid_velocity([-5.0], cells="right bar")
    return di.CDLagrange(bars, 0.7 * bars.critical_time_step(), contact=pairs), speeds


def divided(make=di.HATI):
    """HATI on a divided bar."""
    named = line("split_bar.geo")
    near, far = di.Solid(named, cells="explicit", **STEEL), di.Solid(named, cells="implicit", **STEEL)
    wall = di.RigidContact(near, "tip", di.Plane([-1e-5], [1.0]))
    return make(near, far, 0.2 * near.critical_time_step(), wall, ratio=4), -5.0


@functools.cache
def cubes():
    """Two cubes on several ranks, one upon the other: the nodes between them coincide."""
    boxes = [[[0.0, 0.0, z], [0.1, 0.1, z + 0.1]] for z in (0.0, 0.1)]
    lower, upper = (dmesh.create_box(MPI.COMM_WORLD, each, (2, 2, 2)) for each in boxes)
    return di.mesh.join({"lower": lower, "upper": upper})


def touching_cubes():
    """Coincident nodes that move apart, since only the lower cube meets the floor."""
    laws = {"lower": di.LinearElastic(1e6, 0.3), "upper": di.LinearElastic(3e6, 0.2)}
    body = di.Solid(cubes(), density=1100.0, law=laws)
    contact = di.RigidContact(body, "lower/boundary", di.Plane([0.0, 0.0, -1e-4], [0.0, 0.0, 1.0]))
    v0 = body.rigid_velocity([2.0, 0.0, -6.0], spin=(0.0, 8.0, 3.0), cells="lower")
    v0 += body.rigid_velocity([0.0, 1.0, 3.0], spin=(5.0, 0.0, 0.0), cells="upper")
    return di.CDLagrange(body, 0.6 * body.critical_time_step(), contact=contact), v0


def colliding_discs():
    """Two rubber discs that have met, with friction and correction of the drift."""
    body = discs(5, 4, gap=0.0)
    contact = di.SurfaceContact(body, "upper/boundary", "lower/boundary", friction=0.3, drift_correction=True)
    return di.CDLagrange(body, 0.4 * body.critical_time_step(), contact=contact), against_each_other(
        body, 0.15
    )


#: Hardening of copper, with cells that do not lock.
COPPER = {
    dmesh.CellType.quadrilateral: materials.LinearHardening(4e8, 1e8),
    dmesh.CellType.triangle: materials.JohnsonCook(
        9e7, 2.9e8, 0.31, 0.025, m=1.09, melting_temperature=1356.0, heat_capacity=3.4e6
    ),
}


@functools.cache
def section(kind):
    """The section of a short rod."""
    cells = dmesh.create_rectangle(MPI.COMM_WORLD, [[0.0, 0.0], [3.2e-3, 6.4e-3]], [4, 8], kind)
    return di.named(cells, face=lambda x: np.isclose(x[1], 0.0), axis=lambda x: np.isclose(x[0], 0.0))


def rod(kind=dmesh.CellType.triangle):
    """A rod of copper that hits a wall and yields."""
    law = materials.J2Plasticity(117e9, 0.35, hardening=COPPER[kind])
    named = section(kind)
    body = di.Solid(named, density=8930.0, law=law, hypothesis="axisymmetric", fixed={"axis": (0,)})
    wall = di.RigidContact(body, "face", di.Plane((0.0, 0.0), (0.0, 1.0)))
    return di.CDLagrange(body, 0.5 * body.critical_time_step(), contact=wall), body.rigid_velocity([0, -190])


@functools.cache
def halves():
    """A plate in two parts, that of the tip below."""
    cells = dmesh.create_rectangle(MPI.COMM_WORLD, [[0.0, 0.0], [0.1, 0.1]], [4, 8])
    lower, upper = (lambda x: x[1] < 0.05 + 1e-9), (lambda x: x[1] > 0.05 - 1e-9)
    return di.named(cells, tip=lambda x: np.isclose(x[1], 0.0), cells={"near": lower, "far": upper})


def divided_metal():
    """HATI on a plate whose lower half yields."""
    named, elastic = halves(), di.LinearElastic(117e9, 0.35)
    metal = materials.J2Plasticity(117e9, 0.35, hardening=materials.LinearHardening(1e8, 1e8))
    near, far = (
        di.Solid(named, density=8930.0, law=law, cells=cells)
        for law, cells in ((metal, "near"), (elastic, "far"))
    )
    wall = di.RigidContact(near, "tip", di.Plane((0.0, 0.0), (0.0, 1.0)), friction=0.2)
    return di.HATI(near, far, 0.4 * near.critical_time_step(), wall, ratio=3), (
        lambda x: np.outer((5, -20), x[0] ** 0)
    )


#: By name: what makes a scheme and its initial velocity, whether the solver sums in one order on all ranks.
SETUPS = {
    "rubber": (rubber, True),
    "implicit-rubber": (implicit_rubber, False),
    "corner": (corner, True),
    "implicit-solid": (implicit_solid, False),
    "damped-rubber": (lambda: implicit_rubber(di.GeneralizedAlpha), False),
    "massless-nodes": (massless_nodes, True),
    "two-bars": (two_bars, True),
    "divided": (divided, False),
    "touching-cubes": (touching_cubes, True),
    "colliding-discs": (colliding_discs, True),
    "yielding-rod": (rod, True),
    "divided-metal": (divided_metal, False),
}


def whole(make, steps=STEPS, **options):
    """A run from its start."""
    scheme, v0 = make()
    scheme.start(0.0, v0)
    return simulate(scheme, t_end=steps * scheme.dt, progress=False, **options)


def kept(make, path, steps=STEPS, at=KEPT, **options):
    """A run from its start to the checkpoint, and from there to the end by a scheme that was not started."""
    scheme, v0 = make()
    scheme.start(0.0, v0)
    simulate(scheme, t_end=at * scheme.dt, checkpoint=Checkpoint(path, every=at), progress=False, **options)
    return go_on(make, path, steps, **options)


def go_on(make, path, steps=STEPS, **options):
    """The end of a run from a checkpoint."""
    scheme, _ = make()
    history = checkpoint.resume(path, scheme)
    return simulate(scheme, t_end=steps * scheme.dt, history=history, progress=False, **options)


def difference(one, other):
    """Largest difference of two histories, each array over its largest entry; inf for other shapes."""
    assert set(one) == set(other) and one.steps == other.steps
    worst = 0.0
    for name in one:
        a, b = one[name], other[name]
        if a.shape != b.shape:
            return np.inf
        if a.dtype.kind != "f":
            assert np.array_equal(a, b), name
        elif not np.array_equal(a, b, equal_nan=True):
            scale = one["kinetic"].max() if name in ("residual", "interface") else np.nanmax(np.abs(a))
            worst = max(worst, float(np.nanmax(np.abs(a - b)) / scale) if scale > 0 else np.inf)
    return worst


def same_bits(one, other):
    """Whether two histories are equal to the last bit, signs of zeros included."""
    return all(one[name].tobytes() == other[name].tobytes() for name in one)


@functools.cache
def reference(name):
    """The whole run of a setup."""
    return whole(SETUPS[name][0], every=7)


def main(folder):
    """See the module."""
    for name, (make, _) in SETUPS.items():
        kept(make, Path(folder) / f"{name}-{MPI.COMM_WORLD.size}", at=KEPT, steps=KEPT + 1, every=7)


if __name__ == "__main__":
    main(sys.argv[1])
