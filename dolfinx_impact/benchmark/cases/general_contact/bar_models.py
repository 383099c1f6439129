"""Two bars that cross, edge on edge, and their rigid motions and impulses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import Integrator, NamedMesh, NeoHookean, Solid, mesh
from ....exact.edge_impact import FreeBody
from ...boxes import box
from ...case import Values

BARS = "first", "second"
#: Distance of the edges at the start over the smaller side.
APART = 1e-3
#: First eigenvalue ``(k l)^2`` of bending of a free bar.
FREE = 22.3733


def vector(p: Values, name: str) -> NDArray:
    """A parameter of three numbers with commas."""
    words = str(p[name]).split(",")
    try:
        found = np.array([float(word) for word in words])
    except ValueError:
        found = np.zeros(0)
    if found.size != 3 or not np.all(np.isfinite(found)):
        raise ValueError(f"{name} must be three numbers with commas between them, not {p[name]!r}")
    return found


def axes(p: Values) -> tuple[NDArray, NDArray]:
    """Unit vectors along both bars, shape (3,) each."""
    a = math.radians(p["angle"])
    return np.array([1.0, 0.0, 0.0]), np.array([math.cos(a), math.sin(a), 0.0])


def apart(p: Values) -> float:
    """Distance of the edges at the start [m]."""
    return float(APART * min(p["side1"], p["side2"]))


def period(p: Values) -> float:
    """The longer first period of bending of the bars, free and slender [s]."""
    each = [
        p[f"length{k}"] ** 2 / (p[f"side{k}"] / math.sqrt(12) * math.sqrt(p["E"] / p[f"rho{k}"]))
        for k in (1, 2)
    ]
    return 2 * math.pi / FREE * max(each)


def _bar(length: float, side: float, cells: int, axis: NDArray, centre: NDArray) -> NamedMesh:
    """A bar along an axis at right angles to z, an edge below and one above. Collective."""
    half = np.array([length, side, side]) / 2
    named = box([-half, half], [max(1, round(cells * length / side)), cells, cells])
    across, up = np.cross([0.0, 0.0, 1.0], axis), np.array([0.0, 0.0, 1.0])
    turned = np.stack([axis, (across + up) / math.sqrt(2), (up - across) / math.sqrt(2)])
    named.mesh.geometry.x[:] = named.mesh.geometry.x @ turned + centre
    return named


def make_bars(p: Values) -> Solid:
    """Both bars, the first one above; their edges cross at the origin. Collective."""
    parts = {}
    for k, (name, axis, sign) in enumerate(zip(BARS, axes(p), (1.0, -1.0)), start=1):
        length, side = p[f"length{k}"], p[f"side{k}"]
        height = sign * (side / math.sqrt(2) + apart(p) / 2)
        parts[name] = _bar(length, side, p["cells"], axis, np.array([0, 0, height]) - p[f"place{k}"] * axis)
    density = {name: p[f"rho{k}"] for k, name in enumerate(BARS, start=1)}
    return Solid(mesh.join(parts), density=density, law=NeoHookean(p["E"], p["nu"]))


def velocities(body: Solid, p: Values) -> NDArray:
    """Velocities of both bars at the start, rigid, shape (size,) [m/s]. Collective."""
    fields = [
        body.rigid_velocity([*vector(p, f"v{k}")], [*vector(p, f"spin{k}")], cells=name)
        for k, name in enumerate(BARS, start=1)
    ]
    return np.asarray(fields[0] + fields[1])


def normal(p: Values) -> NDArray:
    """Common normal of both edges, from the lower to the upper bar, shape (3,)."""
    n = np.cross(*axes(p))
    return np.asarray(n / np.linalg.norm(n))


def differs(
    before: tuple[FreeBody, FreeBody],
    after: tuple[FreeBody, FreeBody],
    other: tuple[FreeBody, FreeBody],
    reach: float,
) -> float:
    """Largest difference of velocities and spins of ``other`` from ``after``, over the largest change.

    Spins count as velocities at a distance ``reach`` [m], where they hardly change beside those.
    """
    scale = {"velocity": 1.0, "spin": reach}
    start, end, rigid = (
        {name: size * np.stack([getattr(each, name) for each in bodies]) for name, size in scale.items()}
        for bodies in (before, after, other)
    )
    change = {name: float(np.abs(end[name] - start[name]).max()) for name in scale}
    change["spin"] = max(change["spin"], change["velocity"])
    return max(float(np.abs(rigid[name] - end[name]).max()) / change[name] for name in scale)


class BarMotions:
    """Masses, places, momenta and impulses of both bars of a scheme that has started; methods are collective.

    Attributes:
        masses: Those of the bars, shape (2,) [kg].
    """

    def __init__(self, scheme: Integrator) -> None:
        self._scheme: Any = scheme
        body = self._scheme.system
        nodes, dofs = body.owned // 3, self._scheme.contact.nodes.loaded.dofs
        self._comm, self._x, self._loaded = body.comm, body.x[:nodes], dofs[:, 0] // 3
        inside = np.stack([body._nodes_in(name)[:nodes] for name in BARS])
        self._m = inside * body.mass[: body.owned : 3]  # (2, nodes)
        self._hit = inside[:, self._loaded].astype(np.float64)
        self.masses: NDArray = self._comm.allreduce(self._m.sum(axis=1))
        self._impulses = np.zeros(dofs.shape)

    def _present(self, values: NDArray) -> NDArray:
        return values[: 3 * len(self._x)].reshape(-1, 3)

    def places(self) -> tuple[NDArray, NDArray]:
        """Centres of mass, shape (2, 3) [m], inertias about them, shape (2, 3, 3) [kg m2]."""
        x = self._x + self._present(self._scheme.u)
        first, second = self._m @ x, np.einsum("bi,ij,ik->bjk", self._m, x, x)
        first, second = self._comm.allreduce(first), self._comm.allreduce(second)
        centres = first / self.masses[:, None]
        second -= self.masses[:, None, None] * centres[:, :, None] * centres[:, None, :]
        return centres, np.trace(second, axis1=1, axis2=2)[:, None, None] * np.eye(3) - second

    def momenta(self) -> NDArray:
        """Linear momenta and angular momenta about the origin, shape (2, 2, 3) [kg m/s, kg m2/s]."""
        x, v = (self._present(each) for each in (self._scheme.u, self._scheme.v))
        found = np.stack([self._m @ v, self._m @ np.cross(self._x + x, v)])
        return np.asarray(self._comm.allreduce(found))

    def motion(self) -> float:
        """``sum m |v|`` over the nodes of both bars [N s]."""
        speeds = np.linalg.norm(self._present(self._scheme.v), axis=1)
        return float(self._comm.allreduce(float((self._m @ speeds).sum())))

    def impulses(self) -> tuple[NDArray, NDArray]:
        """Impulses of the last step on both bars, shape (2, 3) [N s], and the place where they act, (3,) [m].

        The place is the mean of those of both bars, of their nodes weighted by their impulses along the sum.
        """
        self._impulses[:] = 0.0
        self._scheme.add_nodal_impulses(self._impulses)
        sums = self._comm.allreduce(self._hit @ self._impulses)
        size = np.linalg.norm(sums, axis=1)
        if not size.min() > 0:
            return sums, np.zeros(3)
        x = (self._x + self._present(self._scheme.u))[self._loaded]
        along = self._hit * np.einsum("ij,bj->bi", self._impulses, sums / size[:, None] ** 2)
        return sums, self._comm.allreduce(along @ x).mean(axis=0)


@dataclass(frozen=True, eq=False)
class Meeting:
    """Means over the impulses of a run, weighted by their size along the mean normal.

    Attributes:
        impulse: Sum on the first bar, shape (3,) [N s].
        place: Where the bars meet, shape (3,) [m].
        centres, inertias: As of :meth:`BarMotions.places`.
    """

    impulse: NDArray
    place: NDArray
    centres: NDArray
    inertias: NDArray

    def bodies(self, masses: NDArray, momenta: NDArray) -> tuple[FreeBody, FreeBody]:
        """Both bars, rigid, with momenta as of :meth:`BarMotions.momenta`."""
        found = []
        for m, centre, inertia, linear, angular in zip(masses, self.centres, self.inertias, *momenta):
            spin = np.linalg.solve(inertia, angular - np.cross(centre, linear))
            found.append(FreeBody(float(m), inertia, self.place - centre, linear / m, spin))
        return found[0], found[1]


def row_impulses(scheme: Any) -> tuple[NDArray, NDArray]:
    """Sizes of the normal and of the tangential impulses of all rows of the last step of a rank [N s].

    Rows of features, which all ranks know, count on the first one.
    """
    r, r_t = [scheme.r], [np.linalg.norm(scheme.r_t.reshape(scheme.r.size, -1), axis=1)]
    features = scheme.contact.features()
    if features is not None and scheme.system.comm.rank == 0:
        r.append(features.r)
        r_t.append(np.linalg.norm(features.r_t, axis=1))
    return np.concatenate(r), np.concatenate(r_t)
