"""A bar thrown aslant at a wall, all of it turned in space: the solution must turn with it.

The bar of ``impacting-bar`` in 3D, with mesh, wall and velocity turned by ``R = R_y(angle2) R_z(angle1)``, is
compared with the bar that was not, at every sample.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from dolfinx import fem
from numpy.typing import NDArray

from .... import Plane, Result, mesh, parallel
from ....algebra.operators import SparseRows, coordinate_order
from ....integrators import Option, Scheme
from ...case import EXPLICIT, Problem, Results, Setup, Values, Verdict
from . import common
from .common import FINITE, NOT_NEGATIVE, POSITIVE

PARAMETERS = {
    "angle1": Option(30.0, "deg", "first turn, about z", interval=FINITE),
    "angle2": Option(50.0, "deg", "second turn, about y", interval=FINITE),
    "elements": Option(20, "-", "elements along the bar", interval="[1, 10000]"),
    "lateral": Option(3, "-", "elements along each side of the section", interval="[1, 100]"),
    "cell": Option("hexahedron", "-", "cells", ("hexahedron", "tetrahedron")),
    **common.material(2.1e11, 7847.0),
    "length": Option(0.254, "m", "length of the bar", interval=POSITIVE),
    "area": Option(0.645e-3, "m2", "cross-section", interval=POSITIVE),
    "gap": Option(2e-4, "m", "distance to the wall at t = 0", interval=NOT_NEGATIVE),
    "v0": Option(5.0, "m/s", "speed towards the wall", interval=NOT_NEGATIVE),
    "v_along": Option(2.0, "m/s", "speed along the wall, in the direction that was y", interval=FINITE),
    **common.RESTITUTION,
    **common.friction(0.2),
    **common.times(0.7, 3e-4),
}
SAME = 1e-10  #: Largest relative difference that counts as the same solution.


def rotation(p: Values) -> NDArray:
    """``R = R_y(angle2) R_z(angle1)``, shape (3, 3)."""
    a1, a2 = math.radians(p["angle1"]), math.radians(p["angle2"])
    (c1, s1), (c2, s2) = ((math.cos(a), math.sin(a)) for a in (a1, a2))
    about_z = np.array([[c1, -s1, 0.0], [s1, c1, 0.0], [0.0, 0.0, 1.0]])
    about_y = np.array([[c2, 0.0, s2], [0.0, 1.0, 0.0], [-s2, 0.0, c2]])
    return about_y @ about_z


def differences(turned_back: dict[str, NDArray], reference: dict[str, NDArray]) -> dict[str, float]:
    """Largest difference of each kind of vector over the largest vector; 0 where there is none."""
    largest = {}
    for name, true in reference.items():
        scale = float(np.max(np.linalg.norm(true, axis=2)))
        off = float(np.max(np.linalg.norm(turned_back[name] - true, axis=2)))
        largest[name] = off / scale if scale > 0 else off
    return largest


@dataclass(frozen=True, kw_only=True, repr=False)
class Turned(Setup):
    """The bar and its wall, turned."""

    R: NDArray  #: The rotation, shape (3, 3).
    order: NDArray  #: Keys that sort the local nodes by their coordinates before the turn, shape (nodes, 3).

    def turned_back(self, result: Result) -> dict[str, NDArray]:
        """``u``, ``v`` and impulses ``r`` of a run, turned back, shape (n, points, 3) each. Collective."""
        bar, wall = self.body, self.contact
        every = self._places(bar.rows(), np.repeat(np.arange(bar.owned // 3), 3))[::3] // 3
        vectors = {name: result[name].reshape(len(result["t"]), -1, 3)[:, every] for name in ("u", "v")}
        # The wall's normal is the turned x axis.
        impulses = result["r"][:, :, None] * self.R[:, 0]
        if wall.friction > 0:
            impulses = impulses + result["r_t"]
        vectors["r"] = impulses[:, self._places(wall.L, wall.L.dofs[:, 0] // 3)]
        return {name: each @ self.R for name, each in vectors.items()}

    def _places(self, rows: SparseRows, nodes: NDArray) -> NDArray:
        """Where the columns of a history of ``rows``, one for each of ``nodes``, are in :attr:`order`."""
        keys = parallel.gather_rows(self.body.comm, self.order[nodes])
        return np.lexsort(keys[rows.sorting(self.body.comm)].T)


class ObliqueBar(common.SolidCase):
    """A bar thrown aslant at a wall, all of it turned in space: the solution must turn with it."""

    parameters = PARAMETERS

    def build(self, p: Values, scheme: Scheme = EXPLICIT) -> Turned:
        """Bar and wall, turned; a ValueError for parameters that describe no bar. Collective."""
        side, R = math.sqrt(p["area"]), rotation(p)
        if not 1e-5 < side / p["length"] < 1e5:
            size = f"a section of {p['area']:.3g} m2 and a length of {p['length']:g} m"
            raise ValueError(f"{size} cannot be meshed")
        parameters = {"dimension": 3, "side": side, "tetrahedra": p["cell"] == "tetrahedron"}
        parameters |= {name: p[name] for name in ("length", "elements", "lateral")}
        named = mesh.read(mesh.package_mesh("bar.geo"), parameters=parameters)
        # A space like that of the body: their nodes have the same numbers.
        before = fem.functionspace(named.mesh, ("Lagrange", 1, (3,))).tabulate_dof_coordinates()
        named.mesh.geometry.x[:] = named.mesh.geometry.x @ R.T
        bar = common.elastic(named, p)
        wall = common.contact(bar, "contact", Plane(list(-p["gap"] * R[:, 0]), list(R[:, 0])), p)
        order = coordinate_order(before, p["length"])
        v0 = np.tile(R @ np.array([-p["v0"], p["v_along"], 0.0]), bar.size // 3)
        return Turned(system=bar, contact=wall, record=bar.rows(), R=R, order=order, v0=v0)

    def measure(self, run: Problem) -> Results:
        """Differences to the bar that is not turned. Collective."""
        straight = {**run.p, "angle1": 0.0, "angle2": 0.0}
        plain = self.make(run.scheme, straight, run.integrator.beyond_limit)
        reference = plain.setup.turned_back(plain.simulate([], energies=False))
        off = differences(run.setup.turned_back(run.result), reference)
        largest = {"difference": max(off.values()), **{f"difference_{name}": off[name] for name in off}}
        return {**largest, **run.log.numbers()}

    def verdicts(self, run: Problem) -> list[Verdict]:
        """Whether the solution turns."""
        words = "bar, wall and velocity turned give the solution turned (largest relative difference)"
        return [Verdict.below(words, run.results["difference"], SAME)]
