"""Semi-discrete mechanics ``M dv = F(t, u, v) dt + L^T dr`` as the schemes see it."""

from __future__ import annotations

from typing import Any, Callable, Protocol, Sequence, runtime_checkable

import numpy as np
from mpi4py import MPI
from numpy.typing import ArrayLike, NDArray

from .rows import Rows

Force = Callable[[float, NDArray, NDArray, NDArray], None]


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
        has_loads: Whether :meth:`external` is ever different from zero.
        steady: Whether the loads do not depend on time.
    """

    comm: MPI.Comm
    owned: int
    size: int
    length: float
    has_loads: bool
    steady: bool

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
    """A small mechanical system given by its masses and a force.

    It lives whole on every rank (each computes the same).

    Example:
        A ball under gravity::

            def weight(t, u, v, out):
                out[:] = -9.81

            ball = PointMasses(1.0, weight)

    Args:
        mass: Mass of each dof, a number or shape (k,) [kg].
        force: ``force(t, u, v, out)`` writes the loads into ``out``, shape (k,) [N]
            (None: no load). Everything it does is counted as external work.
        stiffness: Symmetric matrix K, shape (k, k) [N/m]: adds the internal force -K u,
            whose energy is counted as internal. Also says to implicit schemes that
            ``force`` does not depend on u or v.
        labels: Names of the dofs in results; ``x0, x1, ...`` by default.
        length: A length of the system [m], the scale of the default gap tolerance.

    Raises:
        ValueError: A mass that is not positive, or shapes that do not fit.
    """

    def __init__(
        self,
        mass: ArrayLike,
        force: Force | None = None,
        *,
        stiffness: ArrayLike | None = None,
        labels: Sequence[str] | None = None,
        length: float = 1.0,
    ) -> None:
        masses = np.atleast_1d(np.array(mass, dtype=np.float64))
        if masses.ndim != 1 or not np.all(np.isfinite(masses) & (masses > 0)):
            raise ValueError(f"mass must be positive numbers, one a dof, but is {mass!r}")
        if force is not None and not callable(force):
            raise TypeError(f"force must be callable as force(t, u, v, out), not {force!r}")
        self.comm, self.mass, self.inverse_mass = MPI.COMM_SELF, masses, 1.0 / masses
        self.owned = self.size = masses.size
        self.length = float(length)
        self.labels = [f"x{i}" for i in range(self.size)] if labels is None else list(labels)
        if len(self.labels) != self.size:
            raise ValueError(f"{len(self.labels)} labels for {self.size} dofs: give one each")
        self._load, self.has_loads, self.steady = force, force is not None, force is None
        self.stiffness = None if stiffness is None else _symmetric(stiffness, self.size)

    def force(self, t: float, u: NDArray, v: NDArray, out: NDArray) -> None:
        """Loads less K u."""
        self.external(t, u, v, out)
        if self.stiffness is not None:
            out -= self.stiffness @ u

    def external(self, t: float, u: NDArray, v: NDArray, out: NDArray) -> None:
        """The force callable."""
        if self._load is None:
            out[:] = 0.0
        else:
            self._load(t, u, v, out)

    def critical_time_step(self) -> float:
        """``2 / omega_max`` of K [s]; inf without a stiffness."""
        if self.stiffness is None:
            return np.inf
        root = np.sqrt(self.inverse_mass)
        largest = np.linalg.eigvalsh(self.stiffness * np.outer(root, root))[-1]
        return 2.0 / np.sqrt(largest) if largest > 0 else np.inf

    def implicit_solver(self, factor: float, mass: str) -> "DenseSolver":
        """Dense factorisation of ``M + factor K``.

        Raises:
            ValueError: Without a stiffness, when the force may depend on u.
        """
        if self.stiffness is None and self._load is not None:
            raise ValueError(
                "an implicit scheme must know how the force depends on u: give PointMasses(..., "
                "stiffness=K), zeros((k, k)) for a force that depends on time only"
            )
        K = np.zeros((self.size, self.size)) if self.stiffness is None else self.stiffness
        return DenseSolver(np.diag(self.mass) + factor * K)

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


class DenseSolver:
    """Solves with a small symmetric positive definite matrix."""

    def __init__(self, matrix: NDArray) -> None:
        from scipy.linalg import cho_factor, cho_solve

        self._factor, self._solve = cho_factor(matrix), cho_solve

    def solve(self, b: NDArray, out: NDArray) -> None:
        """Write the solution for ``b`` into ``out``, both shape (size,)."""
        out[:] = self._solve(self._factor, b)


def _symmetric(matrix: ArrayLike, size: int) -> NDArray:
    K = np.array(matrix, dtype=np.float64)
    if K.shape != (size, size) or not np.allclose(K, K.T, rtol=1e-12, atol=0.0):
        raise ValueError(f"stiffness must be symmetric with shape {(size, size)}, not {K.shape}")
    return K
