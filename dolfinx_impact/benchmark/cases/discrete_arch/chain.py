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


class ChainForms:
    """Energy of the chain in UFL with its force and tangent.

    Args:
        space: Vector Lagrange space of degree 1 on a line mesh in the plane, replicated.
        order: Number of each node in the space, in the order of the chain.
        k: Stiffness of a bar [N/m].
        kappa: Stiffness of a torsion spring [N m].
    """

    def __init__(self, space: fem.FunctionSpace, order: IntArray, k: float, kappa: float) -> None:
        domain = space.mesh
        self._dofs = (2 * order[:, None] + np.arange(2)).ravel().astype(np.int32)
        self._x = fem.Function(space)
        energy = _energy(self._x, fem.Constant(domain, float(k)), fem.Constant(domain, float(kappa)))
        force = ufl.derivative(energy, self._x)
        self._energy, self._force, self._tangent = (
            fem.form(f, jit_options=_JIT) for f in (energy, force, ufl.derivative(force, self._x))
        )
        self._vector, self._matrix = fem.assemble_vector(self._force), fem.create_matrix(self._tangent)

    def energy(self, x: FloatArray) -> float:
        """Stored energy [J] at the positions ``x``, shape (2 n,) in the order of the chain [m]."""
        self._x.x.array[self._dofs] = x
        return float(np.real(fem.assemble_scalar(self._energy)))

    def force(self, x: FloatArray) -> FloatArray:
        """Internal force, shape (2 n,) [N]."""
        self._x.x.array[self._dofs] = x
        self._vector.array[:] = 0.0
        fem.assemble_vector(self._vector.array, self._force)
        force: FloatArray = self._vector.array[self._dofs]
        return force

    def tangent(self, x: FloatArray) -> FloatArray:
        """Derivative of the internal force, shape (2 n, 2 n) [N/m]."""
        self._x.x.array[self._dofs] = x
        self._matrix.data[:] = 0.0
        tangent: FloatArray = fem.assemble_matrix(self._matrix, self._tangent).to_dense()
        return tangent[np.ix_(self._dofs, self._dofs)]


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
        radius: Radius R of the arc [m].
        opening: Total angle of the arc [rad], below 2 pi.
        bars: Number of bars, odd (there are two middle nodes), at least 3.
        k: Stiffness of a bar [N/m].
        kappa: Stiffness of a torsion spring [N m], may be 0.
        mass: Mass of every node [kg].
        load: Force downwards on each of the two middle nodes [N].
        ramp: Time over which the load grows linearly [s].
        release: Time at which the load is removed instantaneously [s].
        damping: mu of the damping force ``mu M v`` [1/s].

    Attributes:
        rest: Positions of the unloaded arch, shape (2 (bars + 1),) [m].
        middle: Numbers of the two middle nodes.
        forms: Energy, force and tangent from the UFL definition.

    Raises:
        ValueError: A parameter out of range.
        ImportError: When gmsh is not installed.
    """

    def __init__(
        self,
        *,
        radius: float = 1.0,
        opening: float = math.pi / 4,
        bars: int = 11,
        k: float = 1.0,
        kappa: float = 1e-4,
        mass: float = 1.0,
        load: float = 0.0,
        ramp: float = 100.0,
        release: float = 400.0,
        damping: float = 0.0,
    ) -> None:
        _check_shape(radius, opening, bars)
        _check(True, k=k, mass=mass)
        _check(False, kappa=kappa, ramp=ramp, release=release, damping=damping)
        if not math.isfinite(load):
            raise ValueError(f"load must be a finite number, but is {load}")
        space, nodes, held = _arc(float(radius), float(opening), int(bars))
        self.k, self.kappa, self.mu = float(k), float(kappa), float(damping)
        self.load, self.ramp, self.release = float(load), float(ramp), float(release)
        self.forms = ChainForms(space, nodes, k, kappa)
        self.rest: FloatArray = space.tabulate_dof_coordinates()[nodes, :2].ravel().copy()
        self.middle = (bars // 2, bars // 2 + 1)
        self._lengths, self._angles = _lengths_and_angles(self.rest)
        super().__init__(
            np.full(self.rest.size, float(mass)),
            self._pull() if load else None,
            internal=self._resist(),
            energy=self._stored(),
            damping=self._drag(float(mass)) if damping else None,
            fixed=[2 * node + i for node in held for i in (0, 1)],
            labels=[f"{axis}{node}" for node in range(bars + 1) for axis in "xy"],
            length=radius,
        )

    @property
    def heights(self) -> Int64Array:
        """Dofs of the heights y of the internal nodes 1, 2, ..., shape (bars - 1,)."""
        return np.arange(3, self.size - 2, 2)

    def energy(self, x: FloatArray) -> float:
        """Stored energy at the positions ``x`` [J], from :func:`chain_energy`."""
        return self.stored_energy(x)

    def internal_force(self, x: FloatArray) -> FloatArray:
        """Internal force at the positions ``x``, shape (size,) [N], from :func:`chain_force`."""
        out = np.zeros(self.size)
        assert self._internal is not None
        self._internal(0.0, x, x, out)
        return out

    def tangents(self, t: float, u: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """``-dF/du`` [N/m] from the UFL form and ``-dF/dv = mu M`` [N s/m]."""
        return self.forms.tangent(u), np.diag(self.mu * self.mass)

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
        square = float(np.linalg.eigvalsh(self.forms.tangent(self.rest) * np.outer(root, root))[-1])
        return (math.sqrt(mu**2 + 4 * square) - mu) / square

    # -- forces for compiled loops

    def _pull(self) -> Callable[..., None]:
        load, ramp, release = self.load, self.ramp, self.release
        left, right = (2 * node + 1 for node in self.middle)

        def pull(t: float, u: FloatArray, v: FloatArray, out: FloatArray) -> None:
            out[:] = 0.0
            out[left] = out[right] = -load * load_factor(t, ramp, release)

        return kernels.jit(pull, load_factor)

    def _resist(self) -> Callable[..., None]:
        k, kappa, lengths, angles = self.k, self.kappa, self._lengths, self._angles

        def resist(t: float, u: FloatArray, v: FloatArray, out: FloatArray) -> None:
            chain_force(u, k, kappa, lengths, angles, out)

        return kernels.jit(resist, chain_force)

    def _stored(self) -> Callable[[FloatArray], float]:
        k, kappa, lengths, angles = self.k, self.kappa, self._lengths, self._angles

        def stored(u: FloatArray) -> float:
            return chain_energy(u, k, kappa, lengths, angles)

        return kernels.jit(stored, chain_energy)

    def _drag(self, mass: float) -> Callable[..., None]:
        strength = self.mu * mass

        def drag(t: float, u: FloatArray, v: FloatArray, out: FloatArray) -> None:
            for i in range(v.size):
                out[i] = strength * v[i]

        return kernels.jit(drag)


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


def _lengths_and_angles(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    bars = np.diff(x.reshape(-1, 2), axis=0)
    a, b = bars[:-1], bars[1:]
    turn = np.arctan2(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0], np.einsum("ni,ni->n", a, b))
    return np.hypot(*bars.T), turn


def _check_shape(radius: float, opening: float, bars: int) -> None:
    _check(True, radius=radius)
    if not 0 < opening < 2 * math.pi:
        raise ValueError(f"opening must lie between 0 and 2 pi, but is {opening}")
    if bars != int(bars) or bars < 3 or bars % 2 == 0:
        raise ValueError(f"bars must be an odd number of at least 3, but is {bars}")


def _check(positive: bool, **numbers: float) -> None:
    for name, value in numbers.items():
        if not (math.isfinite(value) and (value > 0 if positive else value >= 0)):
            kind = "positive" if positive else "at least 0"
            raise ValueError(f"{name} must be {kind}, but is {value}")
