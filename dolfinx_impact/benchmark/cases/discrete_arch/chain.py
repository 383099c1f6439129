"""Chain of bars and torsion springs on an arc: the discrete arch of Di Stasio et al. (2019).

The energy is defined in UFL on an interval mesh from gmsh::

    V = sum over bars k (l - l0)^2 / 2  +  sum over internal nodes kappa (a - a0)^2 / 2

with the signed angle ``a`` between successive bars; index 0 denotes the unloaded arch. Time steps use the
same energy in a loop (:func:`chain_force`); tangents come from the UFL form.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import ufl
from dolfinx import fem
from mpi4py import MPI

from .... import PointMasses, mesh
from ...._types import FloatArray, Int64Array, IntArray
from ....algebra import kernels
from ....arguments import number
from ...case import Values

Tangent = Callable[[FloatArray], FloatArray]
#: Time for which a rank waits for another one that compiles the same form [s].
_JIT = {"timeout": 120}


def chain_force(
    x: FloatArray, k: float, kappa: float, length: FloatArray, angle: FloatArray, out: FloatArray
) -> None:
    """Gradient of :func:`chain_energy`; a loop that numba can compile.

    Args:
        x: Positions x0, y0, x1, y1, ... of the nodes, shape (2 n,) [m].
        k: Stiffness of a bar [N/m].
        kappa: Stiffness of a torsion spring [N m].
        length: Lengths of the unloaded bars, shape (n - 1,) [m].
        angle: Angles of the unloaded chain at its internal nodes, shape (n - 2,) [rad].
        out: Receives the internal force, shape (2 n,) [N].
    """
    out[:] = 0.0
    ax = ay = a2 = 0.0
    for i in range(length.size):
        bx, by = x[2 * i + 2] - x[2 * i], x[2 * i + 3] - x[2 * i + 1]
        b2 = bx * bx + by * by
        l = math.sqrt(b2)  # noqa: E741
        pull = k * (l - length[i]) / l
        px, py = pull * bx, pull * by
        if i > 0:
            torque = kappa * (math.atan2(ax * by - ay * bx, ax * bx + ay * by) - angle[i - 1])
            # The angle of a bar turns by (-by, bx)/|b|^2 times the motion of its end.
            px -= torque * by / b2
            py += torque * bx / b2
            qx, qy = torque * ay / a2, -torque * ax / a2
            out[2 * i - 2] -= qx
            out[2 * i - 1] -= qy
            out[2 * i] += qx
            out[2 * i + 1] += qy
        out[2 * i] -= px
        out[2 * i + 1] -= py
        out[2 * i + 2] += px
        out[2 * i + 3] += py
        ax, ay, a2 = bx, by, b2


def chain_energy(x: FloatArray, k: float, kappa: float, length: FloatArray, angle: FloatArray) -> float:
    """Stored energy [J] at the positions ``x``; arguments as :func:`chain_force`."""
    energy = ax = ay = 0.0
    for i in range(length.size):
        bx, by = x[2 * i + 2] - x[2 * i], x[2 * i + 3] - x[2 * i + 1]
        energy += 0.5 * k * (math.sqrt(bx * bx + by * by) - length[i]) ** 2
        if i > 0:
            turn = math.atan2(ax * by - ay * bx, ax * bx + ay * by) - angle[i - 1]
            energy += 0.5 * kappa * turn**2
        ax, ay = bx, by
    return energy


def load_factor(t: float, ramp: float, release: float) -> float:
    """Load factor at ``t``: linear over [0, ramp], then 1, and 0 from ``release`` on."""
    if t >= release or t <= 0.0:
        return 0.0
    return t / ramp if t < ramp else 1.0


def _tangent(space: fem.FunctionSpace, order: IntArray, k: float, kappa: float) -> Tangent:
    """The derivative of the internal force from the UFL form, nodes in the ``order`` of the chain."""
    x, dofs = fem.Function(space), (2 * order[:, None] + np.arange(2)).ravel().astype(np.int32)
    energy = _energy(x, *(fem.Constant(space.mesh, value) for value in (k, kappa)))
    form = fem.form(ufl.derivative(ufl.derivative(energy, x), x), jit_options=_JIT)
    matrix = fem.create_matrix(form)

    def tangent(positions: FloatArray) -> FloatArray:
        x.x.array[dofs] = positions
        matrix.data[:] = 0.0
        dense: FloatArray = fem.assemble_matrix(matrix, form).to_dense()
        return dense[np.ix_(dofs, dofs)]

    return tangent


def _energy(x: fem.Function, k: fem.Constant, kappa: fem.Constant) -> Any:
    """Bars over the cells, torsion springs over the internal vertices."""
    domain = x.function_space.mesh
    length, outward = ufl.CellVolume(domain), ufl.FacetNormal(domain)
    stretch = ufl.sqrt(ufl.inner(ufl.grad(x), ufl.grad(x)))

    def angle(position: Any) -> Any:
        # Both bars point away from the vertex, so that the orientation of the cells has no effect; the
        # choice of '+' only changes the sign of the angle and of its initial value.
        a, b = (ufl.dot(ufl.grad(position), outward)(side) for side in "+-")
        return ufl.atan2(a[1] * b[0] - a[0] * b[1], -ufl.dot(a, b))

    turn = angle(x) - angle(ufl.SpatialCoordinate(domain))
    return k / 2 * length * (stretch - 1) ** 2 * ufl.dx + kappa / 2 * turn**2 * ufl.dS


class Chain(PointMasses):
    """Equal bars on a circular arc with torsion springs between them, both ends constrained.

    Dofs are **positions** x0, y0, x1, y1, ... of the nodes from left to right, supports included; the
    supports are at y = 0. The chain is replicated on every rank.

    Args:
        p: Parameters of the case; R, k and m are in their intervals.
        bars: Number of bars, odd: there are two middle nodes.

    Attributes:
        rest: Positions of the unloaded arch, shape (2 (bars + 1),) [m].
        middle: Numbers of the two middle nodes.
        tangent: From positions to the derivative of the internal force, shape (size, size) [N/m].

    Raises:
        ValueError: A parameter out of range.
        ImportError: When gmsh is not installed.
    """

    compiled, loop_solver = PointMasses.compiled, PointMasses.loop_solver

    def __init__(self, p: Values, bars: int = 11) -> None:
        _check(p)
        space, nodes, held = _arc(float(p["R"]), float(p["opening"]), bars)
        self.k, self.kappa, self.mu = float(p["k"]), float(p["kappa"]), float(p["damping"])
        self.tangent = _tangent(space, nodes, self.k, self.kappa)
        self.rest: FloatArray = space.tabulate_dof_coordinates()[nodes, :2].ravel().copy()
        self.middle = (bars // 2, bars // 2 + 1)
        sides = np.diff(self.rest.reshape(-1, 2), axis=0)
        a, b = sides[:-1], sides[1:]
        turn = np.arctan2(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0], np.einsum("ni,ni->n", a, b))
        self._shape = np.hypot(*sides.T), turn  # lengths and angles
        super().__init__(
            np.full(self.rest.size, float(p["m"])),
            **self._forces(p),
            fixed=[2 * node + i for node in held for i in (0, 1)],
            labels=[f"{axis}{node}" for node in range(bars + 1) for axis in "xy"],
            length=p["R"],
        )

    @property
    def heights(self) -> Int64Array:
        """Dofs of the heights y of the internal nodes 1, 2, ..., shape (bars - 1,)."""
        return np.arange(3, self.size - 2, 2)

    def internal_force(self, x: FloatArray) -> FloatArray:
        """Internal force at the positions ``x``, shape (size,) [N], from :func:`chain_force`."""
        out = np.zeros(self.size)
        assert self._internal is not None
        self._internal(0.0, x, x, out)
        return out

    def tangents(self, t: float, u: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """``-dF/du`` [N/m] from the UFL form and ``-dF/dv`` [N s/m]."""
        return self.tangent(u), self.damping_tangent(t, u, v)

    def damping_tangent(self, t: float, u: FloatArray, v: FloatArray) -> FloatArray:
        """``-dF/dv = mu M`` [N s/m]."""
        tangent: FloatArray = np.diag(self.mu * self.mass)
        return tangent

    def neighbours(self) -> IntArray:
        """Pairs of dofs that may take each other's mass: equal directions of the ends of each bar."""
        first = np.arange(self.size - 2)
        return np.column_stack([first, first + 2])

    @property
    def rayleigh(self) -> tuple[float, float]:
        """(mu, 0)."""
        return self.mu, 0.0

    def critical_time_step(self, inverse_mass: FloatArray | None = None, *, damped: bool = True) -> float:
        """Critical time step of central differences with lagged damping, at the unloaded arch [s].

        ``(omega h)^2 + 2 mu h < 4`` for the highest frequency omega.
        """
        root, mu = np.sqrt(self.inverse_mass if inverse_mass is None else inverse_mass), self.mu * damped
        square = float(np.linalg.eigvalsh(self.tangent(self.rest) * np.outer(root, root))[-1])
        return (math.sqrt(mu**2 + 4 * square) - mu) / square

    def _forces(self, p: Values) -> dict[str, Any]:
        """The forces of a :class:`.PointMasses` and its energy, for compiled loops."""
        k, kappa, (lengths, angles), drag = self.k, self.kappa, self._shape, self.mu * float(p["m"])
        load, ramp, release = (float(p[name]) for name in ("load", "ramp", "release"))
        left, right = (2 * node + 1 for node in self.middle)

        def force(t: float, u: FloatArray, v: FloatArray, out: FloatArray) -> None:
            out[:] = 0.0
            out[left] = out[right] = -load * load_factor(t, ramp, release)

        def internal(t: float, u: FloatArray, v: FloatArray, out: FloatArray) -> None:
            chain_force(u, k, kappa, lengths, angles, out)

        def energy(u: FloatArray) -> float:
            return chain_energy(u, k, kappa, lengths, angles)

        def damping(t: float, u: FloatArray, v: FloatArray, out: FloatArray) -> None:
            for i in range(v.size):
                out[i] = drag * v[i]

        stored: dict[str, Any] = {"internal": kernels.jit(internal, chain_force)}
        stored["energy"] = kernels.jit(energy, chain_energy)
        others = {"force": kernels.jit(force, load_factor)} if load else {}
        return stored | others | ({"damping": kernels.jit(damping)} if drag else {})


def _arc(radius: float, opening: float, bars: int) -> tuple[fem.FunctionSpace, IntArray, list[int]]:
    """Function space of the positions, its nodes in the order of the chain, and the supports among these."""
    parameters = {"R": radius, "opening": opening, "bars": bars}
    named = mesh.read(mesh.package_mesh("arch.geo"), gdim=2, parameters=parameters, comm=MPI.COMM_SELF)
    space = fem.functionspace(named.mesh, ("Lagrange", 1, (2,)))
    x = space.tabulate_dof_coordinates()
    # Angle about the center of the arc, at the height -R cos(opening / 2).
    order = np.argsort(np.arctan2(x[:, 0], x[:, 1] + radius * math.cos(opening / 2)))
    named.mesh.topology.create_connectivity(0, 1)
    supports = fem.locate_dofs_topological(space, 0, named.facets("supports"))
    return space, order, [int(place) for place in np.flatnonzero(np.isin(order, supports))]


def _check(p: Values) -> None:
    if not 0 < p["opening"] < 2 * math.pi:
        raise ValueError(f"opening must lie between 0 and 2 pi, but is {p['opening']}")
    for name in ("kappa", "ramp", "release", "damping"):
        number(name, p[name], "be at least 0", least=0.0)
    number("load", p["load"])
