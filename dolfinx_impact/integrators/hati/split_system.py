"""System of two subdomains on parts of one mesh."""

from __future__ import annotations

import numpy as np

from ..._types import AnyArray, FloatArray, Int64Array, IntArray
from ...algebra.operators import SparseRows
from ...systems.body import Body
from ...systems.loads import Motion


class Divided:
    """An explicit and an implicit subdomain as one system, with two copies of each interface dof.

    Arrays hold the owned dofs of ``fine``, the owned ones of ``coarse``, the ghosts of ``fine``, the ghosts
    of ``coarse``.
    """

    linear, has_damping = True, False

    def __init__(self, fine: Body, coarse: Body) -> None:
        self.fine, self.coarse, self.comm = fine, coarse, fine.comm
        self.contains = (fine, coarse)
        self.owned, self.size = fine.owned + coarse.owned, fine.size + coarse.size
        self.length, self.gdim, self.block = max(fine.length, coarse.length), fine.gdim, fine.block
        self.mass = np.concatenate([fine.mass, coarse.mass])
        self.inverse_mass = np.concatenate([fine.inverse_mass, coarse.inverse_mass])
        self.constrained = np.concatenate([fine.constrained, coarse.constrained])
        self.has_loads = fine.has_loads or coarse.has_loads
        self.until = min(fine.until, coarse.until)
        self.prescribed = Motion()  # the subdomains have their own prescribed motions
        self.steady = False

    def __repr__(self) -> str:
        return f"explicit {self.fine!r}; implicit {self.coarse!r}"

    def join(self, of_fine: AnyArray, of_coarse: AnyArray, out: AnyArray) -> None:
        """Combine arrays over the local dofs of both subdomains into ``out``, shape (size,)."""
        f, c = self.fine.owned, self.coarse.owned
        ghosts = self.owned + self.fine.size - f
        out[:f], out[f : f + c] = of_fine[:f], of_coarse[:c]
        out[self.owned : ghosts], out[ghosts:] = of_fine[f:], of_coarse[c:]

    def split(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Arrays of ``fine`` and ``coarse``, owned dofs then ghosts, from an array of shape (size,)."""
        f, ghosts = self.fine.owned, self.owned + self.fine.size - self.fine.owned
        fine = np.concatenate([x[:f], x[self.owned : ghosts]])
        return fine, np.concatenate([x[f : self.owned], x[ghosts:]])

    def coarse_dofs(self, dofs: IntArray) -> IntArray:
        """Numbers in this system of local dofs of ``coarse``."""
        ghost = dofs >= self.coarse.owned
        places: IntArray = dofs + np.where(ghost, self.fine.size, self.fine.owned)
        return places

    def fine_dofs(self, dofs: IntArray) -> IntArray:
        """Numbers in this system of local dofs of ``fine``."""
        places: IntArray = dofs + np.where(dofs >= self.fine.owned, self.coarse.owned, 0)
        return places

    def rows(self) -> SparseRows:
        """Rows of the displacements of both subdomains."""
        fine, coarse = self.fine.rows(), self.coarse.rows()
        keys = [np.column_stack([r.order, np.full(r.count, i)]) for i, r in enumerate((fine, coarse))]
        return SparseRows(
            np.concatenate([self.fine_dofs(fine.dofs), self.coarse_dofs(coarse.dofs)]),
            np.concatenate([fine.weights, coarse.weights]),
            np.concatenate(keys),
            [*fine.labels, *coarse.labels],
        )

    def global_dofs(self) -> Int64Array:
        """Unique global numbers of the dofs, those of ``coarse`` after all of ``fine``, shape (size,)."""
        fine, coarse = self.fine.global_dofs(), self.coarse.global_dofs()
        out = np.zeros(self.size, dtype=np.int64)
        self.join(fine, coarse + self.fine.space.dofmap.index_map.size_global * self.fine.block, out)
        return out

    def critical_time_step(self) -> float:
        """Critical time step of the explicit subdomain [s]. Collective."""
        return self.fine.critical_time_step()

    def external(self, t: float, u: FloatArray, v: FloatArray, out: FloatArray) -> None:
        """Loads of both subdomains, shape (size,) [N]."""
        self._both("external", t, u, v, out)

    def force(self, t: float, u: FloatArray, v: FloatArray, out: FloatArray) -> None:
        """Forces of both subdomains without interface forces, shape (size,) [N]. Collective."""
        self._both("force", t, u, v, out)

    def damping(self, t: float, u: FloatArray, v: FloatArray, out: FloatArray) -> None:
        """Damping forces of both subdomains, shape (size,) [N]."""
        self._both("damping", t, u, v, out)

    def _both(self, name: str, t: float, u: FloatArray, v: FloatArray, out: FloatArray) -> None:
        of_fine, of_coarse = np.zeros(self.fine.size), np.zeros(self.coarse.size)
        (u_E, u_I), (v_E, v_I) = self.split(u), self.split(v)
        getattr(self.fine, name)(t, u_E, v_E, of_fine)
        getattr(self.coarse, name)(t, u_I, v_I, of_coarse)
        self.join(of_fine, of_coarse, out)

    def stored_energy(self, u: FloatArray) -> float:
        """This rank's contribution to the elastic energy of both subdomains [J]. Collective."""
        u_fine, u_coarse = self.split(u)
        return self.fine.stored_energy(u_fine) + self.coarse.stored_energy(u_coarse)

    def mass_product(self, v: FloatArray, mass: str, out: FloatArray) -> None:
        """``M v`` with the lumped masses, shape (size,)."""
        out[: self.owned] = self.mass * v[: self.owned]

    def implicit_solver(self, factor: float, mass: str) -> None:
        """Not available: the subdomains have separate solvers.

        Raises:
            ValueError: Always.
        """
        raise ValueError("a divided body is integrated by HATI: other schemes take an undivided one")
