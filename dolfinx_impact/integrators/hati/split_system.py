"""Two bodies on parts of one mesh as one system."""

from __future__ import annotations


import numpy as np
from numpy.typing import NDArray

from ...algebra.operators import Rows
from ...systems.body import Body
from ...systems.loads import Motion


class Divided:
    """An explicit and an implicit subdomain side by side; interface dofs exist twice.

    Arrays hold the owned dofs of ``fine``, the owned ones of ``coarse``, then ghosts likewise.
    """

    linear, has_damping = True, False

    def __init__(self, fine: Body, coarse: Body) -> None:
        self.fine, self.coarse, self.comm = fine, coarse, fine.comm
        self.contains = (fine, coarse)
        self.owned, self.size = fine.owned + coarse.owned, fine.size + coarse.size
        self.length, self.gdim, self.block = max(fine.length, coarse.length), fine.gdim, fine.block
        self.mass = np.concatenate([fine.mass, coarse.mass])
        self.inverse_mass = np.concatenate([fine.inverse_mass, coarse.inverse_mass])
        self.held = np.concatenate([fine.held, coarse.held])
        self.has_loads = fine.has_loads or coarse.has_loads
        self.until = min(fine.until, coarse.until)
        self.moved = Motion()  # the sides follow their own
        self.steady = False

    def __repr__(self) -> str:
        return f"explicit {self.fine!r}; implicit {self.coarse!r}"

    def join(self, of_fine: NDArray, of_coarse: NDArray, out: NDArray) -> None:
        """Put arrays of both sides, shape (size,) each, side by side."""
        f, c = self.fine.owned, self.coarse.owned
        ghosts = self.owned + self.fine.size - f
        out[:f], out[f : f + c] = of_fine[:f], of_coarse[:c]
        out[self.owned : ghosts], out[ghosts:] = of_fine[f:], of_coarse[c:]

    def split(self, x: NDArray) -> tuple[NDArray, NDArray]:
        """The arrays of both sides."""
        f, ghosts = self.fine.owned, self.owned + self.fine.size - self.fine.owned
        fine = np.concatenate([x[:f], x[self.owned : ghosts]])
        return fine, np.concatenate([x[f : self.owned], x[ghosts:]])

    def coarse_dofs(self, dofs: NDArray) -> NDArray:
        """Numbers here of dofs of ``coarse``."""
        ghost = dofs >= self.coarse.owned
        return dofs + np.where(ghost, self.fine.size, self.fine.owned)

    def fine_dofs(self, dofs: NDArray) -> NDArray:
        """Numbers here of dofs of ``fine``."""
        return dofs + np.where(dofs >= self.fine.owned, self.coarse.owned, 0)

    def rows(self) -> Rows:
        """The displacements of both sides' nodes."""
        fine, coarse = self.fine.rows(), self.coarse.rows()
        keys = [np.column_stack([r.order, np.full(r.count, i)]) for i, r in enumerate((fine, coarse))]
        return Rows(
            np.concatenate([self.fine_dofs(fine.dofs), self.coarse_dofs(coarse.dofs)]),
            np.concatenate([fine.weights, coarse.weights]),
            np.concatenate(keys),
            [*fine.labels, *coarse.labels],
        )

    def global_dofs(self) -> NDArray:
        """Numbers that no two dofs share, those of ``coarse`` after all of ``fine``, shape (size,)."""
        fine, coarse = self.fine.global_dofs(), self.coarse.global_dofs()
        out = np.zeros(self.size, dtype=np.int64)
        self.join(fine, coarse + self.fine.space.dofmap.index_map.size_global * self.fine.block, out)
        return out

    def critical_time_step(self) -> float:
        """That of the explicit side; the implicit one has none [s]. Collective."""
        return self.fine.critical_time_step()

    def external(self, t: float, u: NDArray, v: NDArray, out: NDArray) -> None:
        """The loads of both sides, shape (size,) [N]."""
        self._both("external", t, u, v, out)

    def force(self, t: float, u: NDArray, v: NDArray, out: NDArray) -> None:
        """The forces of both sides without those between them, shape (size,) [N]. Collective."""
        self._both("force", t, u, v, out)

    def damping(self, t: float, u: NDArray, v: NDArray, out: NDArray) -> None:
        """The damping of both sides, shape (size,) [N]."""
        self._both("damping", t, u, v, out)

    def _both(self, name: str, t: float, u: NDArray, v: NDArray, out: NDArray) -> None:
        of_fine, of_coarse = np.zeros(self.fine.size), np.zeros(self.coarse.size)
        (u_E, u_I), (v_E, v_I) = self.split(u), self.split(v)
        getattr(self.fine, name)(t, u_E, v_E, of_fine)
        getattr(self.coarse, name)(t, u_I, v_I, of_coarse)
        self.join(of_fine, of_coarse, out)

    def stored_energy(self, u: NDArray) -> float:
        """This rank's share of the elastic energy of both sides [J]. Collective."""
        u_fine, u_coarse = self.split(u)
        return self.fine.stored_energy(u_fine) + self.coarse.stored_energy(u_coarse)

    def mass_product(self, v: NDArray, mass: str, out: NDArray) -> None:
        """``M v`` with the lumped masses, shape (size,)."""
        out[: self.owned] = self.mass * v[: self.owned]

    def implicit_solver(self, factor: float, mass: str) -> None:
        """The two sides are solved apart.

        Raises:
            ValueError: Always.
        """
        raise ValueError("a divided body is integrated by HATI: other schemes take an undivided one")
