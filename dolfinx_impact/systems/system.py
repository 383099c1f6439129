"""Interface of semi-discrete systems ``M dv = F(t, u, v) dt + L^T dr``; systems of point masses."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from mpi4py import MPI
from numpy.typing import ArrayLike
from scipy import sparse

from .. import arguments, descriptions
from .._types import BoolArray, FloatArray, Int64Array, IntArray
from ..algebra import kernels
from ..algebra.dense_solver import DenseSolver, DenseTangent
from ..algebra.operators import SparseRows
from ..algebra.sparse_solver import SymmetricSolver
from .compiled import Compiled, Force
from .critical_step import damped_step, largest_step, unsymmetric_step
from .loads import Motion
from .masses import mass_handover
from .user_forces import drag_at_rest, try_out


@runtime_checkable
class System(Protocol):
    """Interface of systems to the integrators.

    Arrays over dofs have ``size`` entries: first the ``owned`` ones, then ghosts. Schemes compute owned
    entries; the system updates the ghosts that it needs.

    Attributes:
        comm: The ranks that share the system.
        owned: Number of dofs that this rank owns.
        size: Owned dofs and ghosts.
        length: A length of the system [m], the scale of the default gap tolerance.
        linear: Whether the internal forces are ``K u``, with constant ones where ``stressed_at_rest``.
        steady: Whether all forces are ``f - K u`` with a constant f, without prescribed motion.
        has_loads: Whether :meth:`external` may be nonzero.
        has_damping: Whether :meth:`damping` may be nonzero.
        constrained: Mask of the constrained owned dofs, shape (owned,).
        prescribed: Prescribed motion of constrained dofs; ``prescribed.any`` is False without.
        until: Time up to which loads and prescribed motions are defined [s].
    """

    comm: MPI.Comm
    owned: int
    size: int
    length: float
    linear: bool
    constrained: BoolArray
    prescribed: Motion

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
    def mass(self) -> FloatArray:
        """Lumped masses of the owned dofs, shape (owned,) [kg]."""

    @property
    def inverse_mass(self) -> FloatArray:
        """Inverse lumped masses, 0 at constrained dofs, shape (owned,) [1/kg]."""

    def force(self, t: float, u: FloatArray, v: FloatArray, out: FloatArray) -> None:
        """Write all smooth forces F(t, u, v) into ``out``, shape (size,) [N]. Collective."""

    def external(self, t: float, u: FloatArray, v: FloatArray, out: FloatArray) -> None:
        """Write the loads into ``out``, shape (size,) [N]; their work is ``external`` in results."""

    def damping(self, t: float, u: FloatArray, v: FloatArray, out: FloatArray) -> None:
        """Write the damping forces, which F subtracts, shape (size,) [N]; their work is ``dissipated``."""

    def stored_energy(self, u: FloatArray) -> float:
        """This rank's contribution to the elastic energy at ``u`` [J]. Collective."""

    def critical_time_step(self) -> float:
        """Largest stable step of central differences [s]; inf where unknown. Collective."""

    def implicit_solver(self, factor: float, mass: str) -> Any:
        """Solver of ``(M + factor K) x = b`` with ``solve(b, out)``. Collective."""

    def mass_product(self, v: FloatArray, mass: str, out: FloatArray) -> None:
        """Write ``M v`` with the lumped or consistent mass, shape (size,). Collective."""

    def rows(self) -> SparseRows:
        """Rows of the displacements that a run records by default."""

    def global_dofs(self) -> Int64Array:
        """Global number of each local dof, shape (size,)."""


def system_and_parts(system: Any) -> list[Any]:
    """A system and all those that it consists of: ``contains`` of one that is made of others."""
    return [system, *(each for part in getattr(system, "contains", ()) for each in system_and_parts(part))]


def parts(system: Any) -> tuple[Any, ...]:
    """The bodies of a divided system, between which its ``split`` divides arrays; another system itself."""
    return tuple(system.contains) if hasattr(system, "split") else (system,)


def split(system: Any, x: FloatArray) -> tuple[FloatArray, ...]:
    """Arrays over the dofs of the :func:`parts`, from one over those of the system."""
    return tuple(system.split(x)) if hasattr(system, "split") else (x,)


class PointMasses:
    """A small mechanical system defined by its masses and forces, replicated on every rank.

    The callables are tested at construction by two calls each, at t = 0 and displacements of the order of
    ``length``; explicit schemes call them at rest, for their critical time step. Callables with internal
    state must not count these calls.

    Example:
        A ball under gravity::

            def weight(t, u, v, out):
                out[:] = -9.81

            ball = PointMasses(1.0, weight)

    Args:
        mass: Mass of each dof, a number or shape (k,) [kg].
        force: ``force(t, u, v, out)`` writes the loads into all entries of ``out``, shape (k,) [N], and
            returns None (default: no load). Its work counts as external.
        load: Constant loads, shape (k,) [N], also external; the system remains linear.
        stiffness: Symmetric matrix K, shape (k, k) [N/m], of the internal force K u.
        internal: ``internal(t, u, v, out)`` writes internal forces, which are subtracted [N].
        energy: ``energy(u)``, the stored energy of the internal forces [J].
        damping: ``damping(t, u, v, out)`` writes damping forces, which are subtracted [N].
        fixed: Numbers of the constrained dofs, at rest.
        labels: Names of the dofs in results; ``x0, x1, ...`` by default.
        length: A length of the system [m], the scale of the default gap tolerance.

    Attributes:
        constrained: Mask of the constrained dofs, shape (k,).

    Raises:
        ValueError: A mass that is not positive, shapes that do not fit, stiffness together with other
            internal forces; a force that does not write all of ``out``, adds to its content or returns a
            value; an energy that is not a number.
        TypeError: A callable that does not accept these arguments.
    """

    def __init__(
        self,
        mass: ArrayLike,
        force: Force | None = None,
        *,
        load: ArrayLike | None = None,
        stiffness: ArrayLike | None = None,
        internal: Force | None = None,
        energy: Callable[[FloatArray], float] | None = None,
        damping: Force | None = None,
        fixed: Sequence[int] = (),
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
        self.mass, self.inverse_mass = masses, np.asarray(1.0 / masses, dtype=np.float64)
        self.owned = self.size = masses.size
        self.constrained = _held(fixed, self.size)
        self.inverse_mass[self.constrained] = 0.0
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
        self.prescribed, self.until = Motion(), math.inf
        self.energy_known = internal is None or energy is not None
        self._part = np.zeros(self.size)
        try_out(self.length, self.size, force=force, internal=internal, damping=damping, energy=energy)

    def __repr__(self) -> str:
        return descriptions.of_points(self)

    def force(self, t: float, u: FloatArray, v: FloatArray, out: FloatArray) -> None:
        """Total force: loads minus internal and damping forces, shape (k,) [N]."""
        out[:] = 0.0
        self.external(t, u, v, out)
        if self.stiffness is not None:
            out -= self.stiffness @ u
        for part in (self._internal, self._damping):
            if part is not None:
                self._part[:] = 0.0
                part(t, u, v, self._part)
                out -= self._part

    def compiled(self) -> Compiled:
        """The forces for compiled loops; for implicit schemes see :meth:`loop_solver` too.

        Raises:
            NotCompiled: A callable that numba has not compiled.
        """
        parts = (self._force, self._internal, self._damping, self._energy)
        if any(part is not None and not kernels.is_compiled(part) for part in parts):
            raise kernels.NotCompiled(
                "a force of the system is not of a compiled kind: compile it with numba.njit"
            )
        K = np.zeros((0, 0)) if self.stiffness is None else self.stiffness
        return Compiled(*parts, load=self._constant, stiffness=K)

    def external(self, t: float, u: FloatArray, v: FloatArray, out: FloatArray) -> None:
        """Loads: those of the ``force`` callable and the constant ones, shape (k,) [N]."""
        if self._force is None:
            out[:] = self._constant
        else:
            out[:] = 0.0
            self._force(t, u, v, out)
            out += self._constant

    def damping(self, t: float, u: FloatArray, v: FloatArray, out: FloatArray) -> None:
        """Damping forces, shape (k,) [N]."""
        out[:] = 0.0
        if self._damping is not None:
            self._damping(t, u, v, out)

    def stored_energy(self, u: FloatArray) -> float:
        """Stored energy [J]: the ``energy`` callable, or ``u.K u / 2``."""
        if self._energy is not None:
            return float(self._energy(u))
        return 0.5 * float(u @ self.stiffness @ u) if self.stiffness is not None else 0.0

    def tangents(self, t: float, u: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """``-dF/du`` [N/m] and ``-dF/dv`` [N s/m] by central differences, each shape (k, k)."""
        stiffness = self._slopes(lambda y, out: self.force(t, y, v, out), u)
        return stiffness, self.damping_tangent(t, u, v)

    def damping_tangent(self, t: float, u: FloatArray, v: FloatArray) -> FloatArray:
        """``-dF/dv`` by central differences, shape (k, k) [N s/m]."""
        return self._slopes(lambda y, out: self.force(t, u, y, out), v)

    def _slopes(self, force: Callable[[FloatArray, FloatArray], None], x: FloatArray) -> FloatArray:
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

    @property
    def rayleigh(self) -> tuple[float, float] | None:
        """(alpha, beta) of the damping: (0, 0) without, None where it is not ``alpha M + beta K``."""
        return None if self.has_damping or self._drag_at_rest().any() else (0.0, 0.0)

    def critical_time_step(self, inverse_mass: FloatArray | None = None, *, damped: bool = True) -> float:
        """Critical time step of central differences [s], inf without stiffness and damping.

        The largest h with ``M - h/2 C - h^2/4 K >= 0``. C is the tangent of the forces that depend on the
        velocity, at rest, by differences; without what they give to the motion. Where C is not symmetric, by
        forces across the velocity, it is at most the largest step without growth. A force that jumps at rest,
        as dry friction, or is not defined there is left out, and K is ``stiffness`` alone.

        Args:
            inverse_mass: Inverse masses instead of the system's, shape (k,) [1/kg].
            damped: Whether these forces stand at the velocity half a step before; those at the mean velocity
                do not lower the limit.
        """
        root = np.sqrt(self.inverse_mass if inverse_mass is None else inverse_mass)
        scale = np.outer(root, root)
        K = np.zeros_like(scale) if self.stiffness is None else self.stiffness * scale
        largest = max(float(np.linalg.eigvalsh(K)[-1]), 0.0)
        C = self._drag_at_rest() * scale if damped else np.zeros_like(K)
        values, vectors = np.linalg.eigh(0.5 * (C + C.T))
        if not (values > 0.0).any():  # what gives energy does not raise the limit
            return largest_step(largest, 0.0)
        D = (vectors * np.maximum(values, 0.0)) @ vectors.T
        limit = damped_step(lambda s: float(np.linalg.eigvalsh(s * (D + s * K))[-1]), largest, 1e-12)
        return unsymmetric_step(K, D + 0.5 * (C - C.T), limit)

    def _drag_at_rest(self) -> FloatArray:
        """``-dF/dv`` at t = 0 and rest, shape (k, k) [N s/m]; see :meth:`critical_time_step`."""
        if self.linear:
            return np.zeros((self.size, self.size))
        return drag_at_rest(self.force, self.size, self.length)

    def implicit_solver(self, factor: float, mass: str, massless: IntArray | None = None) -> DenseSolver:
        """Dense factorisation of ``M + factor K``, with zero mass at the dofs ``massless``.

        For ``factor = 0`` the solution is zero there.
        """
        K = np.zeros((self.size, self.size)) if self.stiffness is None else self.stiffness
        masses, held = self.mass.copy(), self.constrained.copy()
        if massless is not None:
            masses[massless] = 0.0
            held[massless] |= factor == 0.0
        return DenseSolver(np.diag(masses) + factor * K, held)

    def neighbours(self) -> IntArray:
        """Pairs of dofs that may take each other's mass, shape (n, 2); a class may know others.

        Those that the stiffness couples like a spring along a line: its entry is negative.
        """
        if self.stiffness is None:
            return np.zeros((0, 2), dtype=np.intp)
        return np.argwhere(np.triu(self.stiffness < 0.0, 1))

    def masses_without(self, dofs: IntArray) -> FloatArray:
        """Masses, those of ``dofs`` handed to their :meth:`neighbours`, shape (k,) [kg].

        Raises:
            ValueError: Dofs without a neighbour that keeps its mass.
        """
        return mass_handover.of_pairs(self.mass, self.neighbours(), dofs)

    def loop_solver(
        self, factor: float, mass_factor: float, prefix: str, mass: str = "lumped"
    ) -> SymmetricSolver | None:
        """Factors of ``mass_factor M + factor K`` for compiled loops; None without numba or such factors."""
        if not kernels.load().COMPILED:
            return None
        free = np.flatnonzero(~self.constrained)
        matrix = np.diag(mass_factor * self.mass)
        if self.stiffness is not None:
            matrix += factor * self.stiffness
        return SymmetricSolver.where_it_exists(sparse.csc_matrix(matrix[np.ix_(free, free)]), free, self.size)

    def linearised(self, mass: str, *, inertia: bool = True) -> DenseTangent:
        """Solver of the linearised step of an implicit scheme; the mass is diagonal for any ``mass``."""
        return DenseTangent(self, inertia=inertia)

    def mass_product(self, v: FloatArray, mass: str, out: FloatArray) -> None:
        """Write ``M v`` into ``out``; the mass is diagonal for any ``mass``."""
        np.multiply(self.mass, v, out=out)

    def rows(self) -> SparseRows:
        """One row per dof."""
        numbers = np.arange(self.size).reshape(-1, 1)
        return SparseRows(numbers, np.ones((self.size, 1)), numbers.astype(np.float64), self.labels)

    def global_dofs(self) -> Int64Array:
        """Local numbers, since the system is replicated."""
        return np.arange(self.size)


def _held(given: Sequence[int], size: int) -> BoolArray:
    """Mask of the constrained dofs, shape (size,)."""
    dofs = np.atleast_1d(arguments.floats(given))
    if not np.all((dofs >= 0) & (dofs < size) & (dofs == np.floor(dofs))):
        raise ValueError(f"fixed must name dofs 0 to {size - 1}, not {arguments.shown(given)}")
    return np.isin(np.arange(size), dofs)


def _symmetric(matrix: ArrayLike, size: int) -> FloatArray:
    K = arguments.floats(matrix)
    if K.shape != (size, size) or not np.allclose(K, K.T, rtol=1e-12, atol=0.0):
        raise ValueError(f"stiffness must be symmetric with shape {(size, size)}, not {K.shape}")
    return K
