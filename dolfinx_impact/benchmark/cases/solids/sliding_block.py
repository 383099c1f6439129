"""A block on an inclined plane with Coulomb friction: it slides with g (sin a - mu cos a), or not at all.

The plane is rigid, or a meshed, fixed body. All is tilted by the angle a, gravity along -y. The block starts
at rest from an equilibrium, so that no waves run: the static one where tan a < mu, else that of the block
sliding, all nodes equally accelerated.

Steady sliding of an elastic block is linearly unstable (Martins, Barbarin, Raous, Pinto da Costa, Comput.
Methods Appl. Mech. Eng. 177, 1999): on the default mesh roundings grow e-fold in 7.5 wave transits at mu =
0.3, in 1.6 at mu = 1.5, on finer ones faster; after some 20 of those times the block chatters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from dolfinx import mesh as dmesh
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from .... import Plane, RigidContact, Solid, SurfaceContact, mesh, parallel
from ....algebra.operators import SparseRows, coordinate_order
from ....integrators import Integrator, MoreauJean, Option, Scheme
from ...boxes import box
from ...case import EXPLICIT, Problem, Results, Setup, Values, Verdict, Verdicts, contact_law
from . import common

PARAMETERS = {
    "angle": Option(30.0, "deg", "inclination of the plane", interval="[0, 90)"),
    **common.friction(0.3),
    "gravity": Option(9.81, "m/s2", "acceleration of gravity", interval="(0, inf)"),
    **common.material(1e7, 1000.0),
    "length": Option(0.1, "m", "side of the block along the plane", interval="(0, inf)"),
    "height": Option(0.05, "m", "side of the block across the plane", interval="(0, inf)"),
    "elements": Option(4, "-", "elements across the height; as long along the plane"),
    "cell": Option("quadrilateral", "-", "cells", ("quadrilateral", "triangle")),
    **common.times(0.7, "20 wave transits"),
}
#: The mean acceleration is measured after so many transits of a wave from the bottom to the top,
SETTLING = 10
#: and by default until so many.
TRANSITS = 20
NO_SLIP = 1e-12  #: Slip up to this is none [m].
_MOST_ELEMENTS = 1_000_000
#: A quasi-static step in transits: periods are far shorter, and rounding does not drown the stiffness.
_LONG = 10.0
_ROUNDS = 50
#: Length of the incline beyond the block on both sides, and its depth, over the block's length and height.
_BEYOND, _DEPTH = 0.55, 0.5
#: Cells of the incline for those of the block: they do not match.
_FINER = 1.3


def transit(p: Values) -> float:
    """Time of a wave from the bottom of the block to its top [s]."""
    return p["height"] / math.sqrt(p["E"] / p["rho"])


def axes(p: Values) -> NDArray:
    """Unit vectors down the plane and normal to it, the rows, shape (2, 2)."""
    a = math.radians(p["angle"])
    return np.array([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]])


def excess(p: Values) -> float:
    """``tan a - mu``, by which it slides where it is positive; 0 up to rounding."""
    over = math.tan(math.radians(p["angle"])) - p["friction"]
    return over if abs(over) > 1e-12 * (1 + p["friction"]) else 0.0


def expected_acceleration(p: Values) -> float:
    """Acceleration of a rigid block down the plane [m/s2]."""
    return p["gravity"] * math.cos(math.radians(p["angle"])) * max(0.0, excess(p))


def make_block(p: Values) -> Solid:
    """The block, tilted; a ValueError unless the parameters describe one that rests or slides. Collective."""
    n, length, height = p["elements"], p["length"], p["height"]
    if not (1 <= n <= _MOST_ELEMENTS and n**2 * length / height <= _MOST_ELEMENTS):
        most = f"at most {_MOST_ELEMENTS} in the block"
        raise ValueError(f"elements must be at least 1, with {most}, but is {n}")
    lever = min(p["friction"], math.tan(math.radians(p["angle"])))
    if not length > lever * height:
        size = f"length {length:g} m and height {height:g} m"
        least = f"{lever:.4g} heights, the smaller one of friction and tan(angle)"
        raise ValueError(f"a block of {size} tips over: its length must be more than {least}")
    cells = [max(1, round(n * length / height)), n]
    named = box([[0.0, 0.0], [length, height]], cells, getattr(dmesh.CellType, p["cell"]))
    named.mesh.geometry.x[:, :2] = named.mesh.geometry.x[:, :2] @ axes(p)
    return common.elastic(named, p, gravity=(0.0, -p["gravity"]))


def plane_under(block: Solid, p: Values, friction: float, **options: Any) -> RigidContact:
    """The bottom of the block on the plane. Collective."""
    return RigidContact(block, "bottom", Plane((0.0, 0.0), list(axes(p)[1])), friction=friction, **options)


def equilibrium(block: Solid, p: Values) -> NDArray:
    """Displacements of the block at rest, or sliding without vibration, shape (size,) [m]. Collective.

    One that is to rest slides first, with hardly less friction than holds it: no node is on the edge of slip.
    """
    tangent = math.tan(math.radians(p["angle"]))
    sliding = plane_under(block, p, min(p["friction"], 0.999 * tangent))
    u = _settled(block, sliding, np.zeros(block.size), p)
    return u if excess(p) > 0 else _settled(block, plane_under(block, p, p["friction"]), u, p)


def _settled(block: Solid, plane: RigidContact, u: NDArray, p: Values) -> NDArray:
    """The equilibrium that long steps of backward Euler, each from rest, lead to from ``u``. Collective."""
    integrator = MoreauJean(block, _LONG * transit(p), theta=1.0, contact=plane)
    nodes = block.space.dofmap.index_map.size_global
    down, rest = np.tile(axes(p)[0], block.size // 2), np.zeros(block.size)
    for _ in range(_ROUNDS):
        integrator.start(u, rest)
        integrator.step()
        mean = parallel.total(block.comm, float(np.sum((integrator.u * down)[: block.owned]))) / nodes
        after = integrator.u - mean * down
        change, size = (parallel.largest(block.comm, np.abs(x[: block.owned])) for x in (after - u, after))
        u = after
        if change <= 1e-10 * size:
            break
    return u


def bodies(p: Values) -> tuple[Solid, Solid]:
    """The block alone, and block and incline as one body, tilted. Collective."""
    block = make_block(p)
    beyond, depth = _BEYOND * p["length"], _DEPTH * p["height"]
    across = max(1, round(_FINER * p["elements"] / p["height"] * (p["length"] + 2 * beyond)))
    corners, kind = [[-beyond, -depth], [p["length"] + beyond, 0.0]], getattr(dmesh.CellType, p["cell"])
    incline = box(corners, [across, 1], kind)
    incline.mesh.geometry.x[:, :2] = incline.mesh.geometry.x[:, :2] @ axes(p)
    named = mesh.join({"block": block.named, "incline": incline})
    # All nodes of the incline lie on its boundary, and are fixed.
    return block, common.elastic(named, p, gravity=(0.0, -p["gravity"]), fixed=["incline/boundary"])


def _on_both(block: Solid, body: Solid, u: NDArray) -> NDArray:
    """Displacements of the block alone as those of both parts, shape (size,) [m]. Collective."""
    n, comm = block.owned // 2, block.comm
    rows = parallel.gather_rows(comm, np.column_stack([block.x[:n, :2], u[: block.owned].reshape(n, 2)]))
    moved, inside = np.zeros((body.size // 2, 2)), body._nodes_in("block")
    moved[inside] = rows[cKDTree(rows[:, :2]).query(body.x[inside, :2])[1], 2:]
    return moved.ravel()


@dataclass(frozen=True, kw_only=True, repr=False)
class Sliding(Setup):
    """A block on a plane, whose displacements down the plane are recorded, the bottom first."""

    block: Solid  #: The block alone.
    masses: NDArray  #: Those of its nodes, in the order of the record, shape (nodes,) [kg].
    bottom: int  #: Number of nodes of the bottom.

    @classmethod
    def of(cls, body: Solid, nodes: NDArray, p: Values, **parts: Any) -> Sliding:
        """The set-up of the block on these nodes of a body. Collective."""
        order = coordinate_order((body.x[nodes, :2] @ axes(p).T)[:, ::-1], parts["block"].length)
        down = np.tile(axes(p)[0], (nodes.size, 1))
        dofs, labels = 2 * nodes[:, None] + np.arange(2), ["down the plane"] * nodes.size
        record = SparseRows(dofs, down, order, labels)
        masses = parallel.gather_rows(body.comm, body.mass[2 * nodes])[record.sorting(body.comm)]
        return cls(system=body, record=record, masses=masses, **parts)


class SlidingBlock(common.SolidCase):
    """An elastic block on an inclined plane with friction slides by g (sin α - μ cos α), or not at all."""

    parameters = PARAMETERS

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Sliding:
        """Block and plane. Collective."""
        block = make_block(p)
        plane = common.contact(block, "bottom", Plane((0.0, 0.0), list(axes(p)[1])), p)
        nodes = np.arange(block.owned // 2)
        u0 = equilibrium(block, p)
        return Sliding.of(block, nodes, p, block=block, contact=plane, bottom=plane.total, u0=u0)

    def end(self, p: Values, scheme: Scheme) -> float:
        """Some transits of a wave [s]."""
        return TRANSITS * transit(p)

    def measure(self, run: Problem) -> Results:
        """Acceleration, slip and friction; means are those after the first wave transits."""
        setup, result, p = run.setup, run.result, run.p
        bottom, mass, t = setup.bottom, float(np.sum(setup.masses)), result["t"]
        slid = result["u"][:, :bottom] - result["u"][0, :bottom]
        rubbed = np.linalg.norm(result["r_t"], axis=2) if p["friction"] > 0 else np.zeros(1)
        over = max(0.0, float(np.max(rubbed - p["friction"] * result["r"])))
        acceleration = force = None
        if (begin := int(np.searchsorted(t, SETTLING * transit(p)))) < t.size - 1:
            lasting, velocity = t[-1] - t[begin], result["v_t"][[begin, -1]] @ setup.masses / mass
            acceleration = float(velocity[1] - velocity[0]) / lasting
            force = float(np.sum(result["r"][begin + 1 :])) / lasting
        return {
            "mean_acceleration": acceleration,
            "expected_acceleration": expected_acceleration(p),
            "mean_normal_force": force,
            "slip": float(np.max(np.abs(slid))),
            "friction_excess": over / (mass * p["gravity"] * (t[1] - t[0])),
            "penetration_max": run.log.deepest,
        }

    def verdicts(self, run: Problem) -> Verdicts:
        """Whether it slides, and rubs, as a rigid block."""
        results, p = run.results, run.p
        cone = "no node rubs more than mu times its normal impulse (over m g h)"
        yield Verdict.below(cone, results["friction_excess"], 1e-10)
        if excess(p) < 0:
            yield Verdict.below("the block does not slide at all [m]", results["slip"], NO_SLIP)
        if (acceleration := results["mean_acceleration"]) is None:
            return
        if excess(p) >= 0:
            words, expected = "the block accelerates by g (sin a - mu cos a) [m/s2]", expected_acceleration(p)
            tolerance = 1e-3 * max(expected, 1e-3 * p["gravity"])
            yield Verdict.equal(words, acceleration, expected, tolerance)
        weight = float(np.sum(run.setup.masses)) * p["gravity"]
        carried = weight * math.cos(math.radians(p["angle"]))
        words = "the plane carries m g cos a in the mean [N]"
        yield Verdict.equal(words, results["mean_normal_force"], carried, 1e-3 * carried)


class MeshedIncline(SlidingBlock):
    """An elastic block on a meshed incline with friction slides by g (sin α - μ cos α), or not at all."""

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Sliding:
        """Block and incline; steps are those of the block alone. Collective."""
        block, body = bodies(p)
        contact = SurfaceContact(body, "block/bottom", "incline/boundary", **contact_law(p))
        nodes = np.flatnonzero(body._nodes_in("block")[: body.owned // 2])
        bottom = int(parallel.total(body.comm, body.nodes("block/bottom").size))
        more = {"critical": block.critical_time_step(), "u0": _on_both(block, body, equilibrium(block, p))}
        return Sliding.of(body, nodes, p, block=block, contact=contact, bottom=bottom, **more)

    def start(self, integrator: Integrator, setup: Sliding, p: Values) -> None:
        """Start in the equilibrium of the block alone. Collective."""
        integrator.start(setup.u0, 0.0, allow_penetration=True)
