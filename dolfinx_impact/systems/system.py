"""Semi-discrete mechanics ``M dv = F(t, u, v) dt + L^T dr`` as the schemes see it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Callable, Protocol, Sequence, runtime_checkable

import numpy as np
from mpi4py import MPI
from numpy.typing import ArrayLike, NDArray

from .. import arguments, descriptions
from ..algebra import kernels
from ..algebra.dense_solver import DenseSolver, DenseTangent
from ..algebra.operators import Rows
from .loads import Motion
from .user_forces import try_out

Force = Callable[[float, NDArray, NDArray, NDArray], None]


_FORCES = ("force", "external", "damping", "stored_energy")


@dataclass
class Compiled:
    """The forces of a system by kinds that compiled loops know.

    Attributes:
        external, internal, damping: Compiled force callables, or None; see :class:`PointMasses`.
        energy: Compiled stored energy of ``internal``, or None where the forces come from matrices.
        load: Constant loads, shape (size,) [N].
        stiffness: Dense K, shape (size, size) [N/m], or (0, 0).
        pairs: Starts, columns and values of the blocks of -K right of the diagonal; empty for none.
        block: Size of those blocks, 0 for none.
        csr: Starts, columns and values of the rows of K; empty for none.
        patterns: Loads that follow signals, shape (k, size) [N].
        amplitudes: Their signals at times (n,), shape (n, k); None for none.
        rate: alpha of the damping force ``alpha M v`` [1/s].
    """

    external: Force | None
    internal: Force | None
    damping: Force | None
    energy: Callable[[NDArray], float] | None
    load: NDArray
    stiffness: NDArray = field(default_factory=lambda: np.zeros((0, 0)))
    pairs: tuple[NDArray, NDArray, NDArray] = field(
        default_factory=lambda: (np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0))
    )
    block: int = 0
    csr: tuple[NDArray, NDArray, NDArray] = field(
        default_factory=lambda: (np.zeros(0, np.uint32), np.zeros(0, np.uint32), np.zeros(0))
    )
    patterns: NDArray | None = None
    amplitudes: Callable[[NDArray], NDArray] | None = None
    rate: float = 0.0


@runtime_checkable
class System(Protocol):
    """What an integrator needs to know of a body.

    Arrays over dofs have ``size`` entries: the ``owned`` ones first, then the ghosts of
    other ranks. Schemes compute on owned entries; ghosts are refreshed by the system.

    Attributes:
        comm: The ranks that share the system.
        owned: Number of dofs that this rank owns.
        size: Owned dofs and ghosts.
        length: A length of the system [m], the scale of the default gap tolerance.
        linear: Whether the internal forces are ``K u``.
        steady: Whether all forces are ``f - K u`` with a constant f, and no dof is moved.
        has_loads: Whether :meth:`external` is ever different from zero.
        has_damping: Whether :meth:`damping` is ever different from zero.
        held: Which owned dofs do not answer to forces, shape (owned,).
        moved: Prescribed motion of some of them; ``any`` is False for none.
        until: Time up to which loads and motions are known [s].
    """

    comm: MPI.Comm
    owned: int
    size: int
    length: float
    linear: bool
    held: NDArray
    moved: Motion

    @property
    def steady(self) -> bool:
        """See the attributes."""

    @property
    def has_loads(self) -> bool:
        """See the attributes."""

    @property
    def has_damping(self) -> bool:
        """See the attributes."""

    @property
    def until(self) -> float:
        """See the attributes."""

    @property
    def mass(self) -> NDArray:
        """Lumped masses of the owned dofs, shape (owned,) [kg]."""

    @property
    def inverse_mass(self) -> NDArray:
        """Their inverses, 0 at held dofs, shape (owned,) [1/kg]."""

    def force(self, t: float, u: NDArray, v: NDArray, out: NDArray) -> None:
        """Write all smooth forces F(t, u, v) into ``out``, shape (size,) [N]. Collective."""

    def external(self, t: float, u: NDArray, v: NDArray, out: NDArray) -> None:
        """Write the loads alone (their work is ``external``), shape (size,) [N]."""

    def damping(self, t: float, u: NDArray, v: NDArray, out: NDArray) -> None:
        """Write what damping takes from the forces (its work is ``dissipated``), shape (size,) [N]."""

    def stored_energy(self, u: NDArray) -> float:
        """This rank's share of the elastic energy at ``u`` [J]. Collective."""

    def critical_time_step(self) -> float:
        """Largest stable step of central differences [s]; inf where unknown. Collective."""

    def implicit_solver(self, factor: float, mass: str) -> Any:
        """Something that solves ``(M + factor K) x = b``, made once. Collective."""

    def mass_product(self, v: NDArray, mass: str, out: NDArray) -> None:
        """Write ``M v`` with the lumped or consistent mass, shape (size,). Collective."""

    def rows(self) -> Rows:
        """What a run records when nothing else is asked for."""

    def global_dofs(self) -> NDArray:
        """Global number of each local dof, shape (size,)."""


class PointMasses:
    """A small mechanical system given by its masses and forces.

    It lives whole on every rank (each computes the same). Its callables are tried when it is made, twice
    each, at t = 0 and displacements of the order of ``length``: one that keeps something between calls
    begins with its first step.

    Example:
        A ball under gravity::

            def weight(t, u, v, out):
                out[:] = -9.81

            ball = PointMasses(1.0, weight)

    Args:
        mass: Mass of each dof, a number or shape (k,) [kg].
        force: ``force(t, u, v, out)`` writes the loads into all of ``out``, shape (k,) [N], and returns
            nothing (None: no load). All that it does is counted as external work.
        load: Constant loads, shape (k,) [N], external too; they leave the system linear.
        stiffness: Symmetric matrix K, shape (k, k) [N/m]: adds the internal force -K u.
        internal: ``internal(t, u, v, out)`` writes internal forces, which are subtracted [N].
        energy: ``energy(u)``, their stored energy [J].
        damping: ``damping(t, u, v, out)`` writes damping forces, which are subtracted [N].
        held: Numbers of the dofs that do not move.
        labels: Names of the dofs in results; ``x0, x1, ...`` by default.
        length: A length of the system [m], the scale of the default gap tolerance.

    Attributes:
        held: Which dofs do not move, shape (k,).

    Raises:
        ValueError: A mass that is not positive, shapes that do not fit, stiffness together
            with other internal forces; a force that does not write all of ``out``, adds to what is there,
            or returns something; an energy that is no number.
        TypeError: A force that cannot be called so.
    """

    def __init__(
        self,
        mass: ArrayLike,
        force: Force | None = None,
        *,
        load: ArrayLike | None = None,
        stiffness: ArrayLike | None = None,
        internal: Force | None = None,
        energy: Callable[[NDArray], float] | None = None,
        damping: Force | None = None,
        held: Sequence[int] = (),
        labels: Sequence[str] | None = None,
        length: float = 1.0,
    ) -> None:
        masses = np.atleast_1d(arguments.floats(mass))
        if masses.ndim != 1 or not masses.size or not np.all(np.isfinite(masses) & (masses > 0)):
            shown = arguments.shown(mass)
            raise ValueError(f"mass must be positive numbers, one a dof [kg], but is {shown}")
        if stiffness is not None and (internal is not None or energy is not None):
            raise ValueError("give either stiffness= or internal= with energy=")
        self.comm: MPI.Comm = MPI.COMM_SELF
        self.mass, self.inverse_mass = masses, 1.0 / masses
        self.owned = self.size = masses.size
        self.held = _held(held, self.size)
        self.inverse_mass[self.held] = 0.0
        self.length = arguments.number("length", length, "be positive [m]", above=0.0)
        self.labels = [f"x{i}" for i in range(self.size)] if labels is None else list(labels)
        if len(self.labels) != self.size:
            raise ValueError(f"{len(self.labels)} labels for {self.size} dofs: give one each")
        self._constant = np.zeros(self.size) if load is None else arguments.floats(load)
        if self._constant.shape != (self.size,) or not np.all(np.isfinite(self._constant)):
            shown = arguments.shown(load)
            raise ValueError(f"load must be {self.size} numbers, one a dof [N], but is {shown}")
        self._force, self.has_loads = force, force is not None or load is not None
        self._internal, self._energy = internal, energy
        self._damping, self.has_damping = damping, damping is not None
        self.stiffness = None if stiffness is None else _symmetric(stiffness, self.size)
        self.linear = self.steady = force is None and internal is None and damping is None
        self.moved, self.until = Motion(), math.inf
        self._part = np.zeros(self.size)
        try_out(self.length, self.size, force=force, internal=internal, damping=damping, energy=energy)

    def __repr__(self) -> str:
        return descriptions.of_points(self)

    def force(self, t: float, u: NDArray, v: NDArray, out: NDArray) -> None:
        """Loads less internal forces and damping."""
        out[:] = 0.0
        self.external(t, u, v, out)
        if self.stiffness is not None:
            out -= self.stiffness @ u
        for part in (self._internal, self._damping):
            if part is not None:
                self._part[:] = 0.0
                part(t, u, v, self._part)
                out -= self._part

    def compiled(self) -> Compiled | None:
        """The forces for compiled loops; None when one of them is not compiled by numba.

        Also None where a class of its own computes its forces in another way.
        """
        parts = (self._force, self._internal, self._damping, self._energy)
        if any(part is not None and not kernels.is_compiled(part) for part in parts):
            return None
        if any(getattr(type(self), name) is not getattr(PointMasses, name) for name in _FORCES):
            return None
        K = np.zeros((0, 0)) if self.stiffness is None else self.stiffness
        return Compiled(*parts, load=self._constant, stiffness=K)

    def external(self, t: float, u: NDArray, v: NDArray, out: NDArray) -> None:
        """The force callable and the constant loads."""
        if self._force is None:
            out[:] = self._constant
        else:
            out[:] = 0.0
            self._force(t, u, v, out)
            out += self._constant

    def damping(self, t: float, u: NDArray, v: NDArray, out: NDArray) -> None:
        """The damping callable."""
        out[:] = 0.0
        if self._damping is not None:
            self._damping(t, u, v, out)

    def stored_energy(self, u: NDArray) -> float:
        """The energy callable, or ``u.K u / 2`` [J]."""
        if self._energy is not None:
            return float(self._energy(u))
        return 0.5 * float(u @ self.stiffness @ u) if self.stiffness is not None else 0.0

    def tangents(self, t: float, u: NDArray, v: NDArray) -> tuple[NDArray, NDArray]:
        """``-dF/du`` [N/m] and ``-dF/dv`` [N s/m] by central differences, each shape (k, k)."""
        stiffness = self._slopes(lambda y, out: self.force(t, y, v, out), u)
        return stiffness, self._slopes(lambda y, out: self.force(t, u, y, out), v)

    def _slopes(self, force: Callable[[NDArray, NDArray], None], x: NDArray) -> NDArray:
        slopes = np.zeros((self.size, self.size))
        up, down = np.zeros(self.size), np.zeros(self.size)
        for k in range(self.size):
            step = 1e-6 * max(self.length, abs(x[k]))
            y = x.copy()
            y[k] = x[k] + step
            force(y, up)
            y[k] = x[k] - step
            force(y, down)
            slopes[:, k] = (down - up) / (2 * step)
        return slopes

    def critical_time_step(self, inverse_mass: NDArray | None = None) -> float:
        """``2 / omega_max`` of K [s]; inf without a stiffness. With other inverse masses, if given."""
        if self.stiffness is None:
            return np.inf
        root = np.sqrt(self.inverse_mass if inverse_mass is None else inverse_mass)
        largest = np.linalg.eigvalsh(self.stiffness * np.outer(root, root))[-1]
        return 2.0 / np.sqrt(largest) if largest > 0 else np.inf

    def implicit_solver(
        self, factor: float, mass: str, massless: NDArray | None = None
    ) -> DenseSolver:
        """Dense factorisation of ``M + factor K``; the mass of the dofs ``massless`` counts as zero.

        Without stiffness the solution is zero there.
        """
        K = np.zeros((self.size, self.size)) if self.stiffness is None else self.stiffness
        masses, held = self.mass.copy(), self.held.copy()
        if massless is not None:
            masses[massless] = 0.0
            held[massless] |= factor == 0.0
        return DenseSolver(np.diag(masses) + factor * K, held)

    def linearised(self, mass: str) -> DenseTangent:
        """Solver of the linearised step of an implicit scheme; the mass is diagonal whatever is asked for."""
        return DenseTangent(self)

    def mass_product(self, v: NDArray, mass: str, out: NDArray) -> None:
        """``M v``; the mass is diagonal whatever is asked for."""
        np.multiply(self.mass, v, out=out)

    def rows(self) -> Rows:
        """One row a dof."""
        numbers = np.arange(self.size).reshape(-1, 1)
        return Rows(numbers, np.ones((self.size, 1)), numbers.astype(np.float64), self.labels)

    def global_dofs(self) -> NDArray:
        """Every rank has all dofs: the local numbers."""
        return np.arange(self.size)


def _held(given: Sequence[int], size: int) -> NDArray:
    """Which dofs are held, shape (size,)."""
    found = np.atleast_1d(arguments.floats(given))
    if not np.all((found >= 0) & (found < size) & (found == np.floor(found))):
        raise ValueError(f"held must name dofs 0 to {size - 1}, not {arguments.shown(given)}")
    return np.isin(np.arange(size), found)


def _symmetric(matrix: ArrayLike, size: int) -> NDArray:
    K = arguments.floats(matrix)
    if K.shape != (size, size) or not np.allclose(K, K.T, rtol=1e-12, atol=0.0):
        raise ValueError(f"stiffness must be symmetric with shape {(size, size)}, not {K.shape}")
    return K
