"""Nodes and dofs of a body: numbering, selection by name, coordinates, rigid motions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import ufl
from dolfinx import fem, la

from .. import arguments, parallel
from .._types import BoolArray, FloatArray, Int32Array, Int64Array, IntArray
from ..algebra.operators import SparseRows, coordinate_order
from ..mesh.named_mesh import as_named, measures
from .loads import names, vector


class Nodes:
    """Lagrange nodes on a mesh or a part of it, with the dofs of a body: its base class.

    Args:
        mesh, block, degree, space, cells: See :class:`.Body`.
    """

    #: Kinematic hypothesis, empty where a class has none.
    hypothesis = ""

    def __init__(
        self,
        mesh: Any,
        *,
        block: int,
        degree: int,
        space: fem.FunctionSpace | None,
        cells: str | Sequence[str] | None,
    ) -> None:
        self.degree = arguments.whole("degree", degree)
        self.named = as_named(mesh)
        self.mesh, self.comm = self.named.mesh, self.named.mesh.comm
        parallel.refuse_other_ranks(self.comm)
        if self.mesh.geometry.x.dtype != np.float64:
            raise ValueError(f"the mesh has coordinates of type {self.mesh.geometry.x.dtype}: take float64")
        self.parts = None if cells is None else arguments.words("cells", cells)
        self.cells = self._find_cells()
        self.dx = ufl.dx if self.cells is None else measures(self.mesh, [self.cells])[0]
        element = ("Lagrange", self.degree, (block,))
        self.space = fem.functionspace(self.mesh, element) if space is None else space
        index_map, self.block, self.gdim = self.space.dofmap.index_map, block, self.mesh.geometry.dim
        self.owned = index_map.size_local * block
        self.size = self.owned + index_map.num_ghosts * block
        self.x = self.space.tabulate_dof_coordinates()
        self.length = self._extent()
        self.active = self._find_inside()
        self._cell_tag = self._find_cell_tag()
        self.node_count: int = self.comm.allreduce(int(np.count_nonzero(self.active)) // block)

    @property
    def mass(self) -> FloatArray:
        """Lumped masses of the owned dofs, shape (owned,) [kg]. Collective."""
        raise NotImplementedError

    def rigid_velocity(
        self,
        translation: Sequence[float],
        spin: float | Sequence[float] | None = None,
        *,
        center: Sequence[float] | None = None,
        cells: str | Sequence[str] | None = None,
    ) -> FloatArray:
        """Velocity field of a rigid motion, an argument of ``start``, shape (size,) [m/s]. Collective.

        Args:
            translation: Velocity of the center, one number per direction [m/s].
            spin: Angular velocity [rad/s]: one number in the plane, three in space.
            center: Center of rotation [m]; by default the center of mass of these cells.
            cells: Names of the cells that move; zero at the dofs of others. All by default. Sum the fields of
                several bodies on one mesh.

        Raises:
            ValueError: Vectors of other sizes; a spin of a body on a line; on a body of revolution a spin, or
                a translation along r.
        """
        gdim = self.mesh.geometry.dim
        field, moving = np.zeros((self.size // self.block, self.block)), self._nodes_in(cells)
        field[moving, :gdim] = self.along_axis("translation", vector("translation", translation, gdim))
        if self.hypothesis == "axisymmetric" and spin is not None and np.any(spin):
            raise ValueError(
                f"a body of revolution moves in (r, z) and does not spin, but spin is {spin}: take one "
                "in space"
            )
        if spin is not None and gdim > 1:
            rates = vector("spin", np.atleast_1d(np.asarray(spin, dtype=np.float64)), 1 if gdim == 2 else 3)
            owned = moving & (np.arange(moving.size) < self.owned // self.block)
            about = self._center(owned) if center is None else vector("center", center, gdim)
            arm = self.x[moving, :gdim] - about
            omega = np.array([0.0, 0.0, rates[0]]) if gdim == 2 else rates
            field[moving, :gdim] += np.cross(omega, np.pad(arm, ((0, 0), (0, 3 - gdim))))[:, :gdim]
            if self.block == 6:
                field[moving, 3:] = omega
        elif spin is not None and np.any(spin):
            raise ValueError(f"a body on a line does not spin, but spin is {spin}")
        return field.ravel()

    def along_axis(self, what: str, value: FloatArray) -> FloatArray:
        """The vector, uniform over the body, shape (gdim,).

        Raises:
            ValueError: One with a radial part on a body of revolution, which it would blow up.
        """
        if self.hypothesis == "axisymmetric" and value[0] != 0.0:
            given = ", ".join(f"{each:g}" for each in value)
            raise ValueError(f"{what} of a body of revolution is along z, but is ({given}) in (r, z)")
        return value

    def rigid_rotation(self, u: FloatArray) -> float:
        """Mean rotation angle of the body at displacements ``u``, 0 to pi [rad]. Collective.

        It belongs to the rotation closest to the mass-weighted mean deformation gradient.
        """
        gdim, n = self.mesh.geometry.dim, self.owned // self.block
        inside = self.active[:: self.block]
        m, x = self.mass[:: self.block][inside], self.x[:n, :gdim][inside]
        arm = x - self._center(inside)
        d = u[: self.owned].reshape(n, self.block)[inside, :gdim]
        sums = self.comm.allreduce(np.stack([(m[:, None] * (arm + d)).T @ arm, (m[:, None] * arm).T @ arm]))
        left, _, right = np.linalg.svd(sums[0])
        rotation = left @ np.diag([*np.ones(gdim - 1), np.linalg.det(left @ right)]) @ right
        cosine = (np.trace(rotation) - 1) / 2 if gdim == 3 else rotation[0, 0]
        return float(np.arccos(np.clip(cosine, -1.0, 1.0)))

    def _nodes_in(self, cells: str | Sequence[str] | None) -> BoolArray:
        """Mask of the local nodes on the named cells, shape (nodes,). Collective."""
        if cells is None:
            return np.ones(self.size // self.block, dtype=bool)
        found: Int32Array = np.unique(np.concatenate([self.named.cells(name) for name in names(cells)]))
        touched = la.vector(self.space.dofmap.index_map, 1)
        touched.array[np.unique(self.space.dofmap.list[found])] = 1.0
        touched.scatter_reverse(la.InsertMode.add)
        touched.scatter_forward()
        inside: BoolArray = touched.array > 0
        return inside

    def _center(self, owned: BoolArray) -> FloatArray:
        """Center of the lumped masses of the nodes in the mask, shape (gdim,) [m]. Collective."""
        gdim, owned = self.mesh.geometry.dim, owned[: self.owned // self.block]
        mass, x = self.mass[:: self.block][owned], self.x[: owned.size, :gdim][owned]
        sums = self.comm.allreduce(np.append(mass @ x, mass.sum()))
        center: FloatArray = sums[:gdim] / sums[gdim]
        return center

    def nodes(self, name: str | int) -> Int32Array:
        """Owned nodes of the body on the facets of this name or tag, empty on ranks without. Collective."""
        return self._nodes_on(self.named.facets(name))

    def _nodes_on(self, facets: Int32Array) -> Int32Array:
        fdim = self.mesh.topology.dim - 1
        self.mesh.topology.create_connectivity(fdim, fdim + 1)
        nodes = fem.locate_dofs_topological(self.space, fdim, facets)
        nodes = nodes[nodes < self.space.dofmap.index_map.size_local]
        found: Int32Array = nodes[self.active[nodes * self.block]]
        return found

    def rows(self, nodes: IntArray | None = None) -> SparseRows:
        """Rows that select the displacements of ``nodes`` (default: all owned nodes of the body).

        They are sorted by the coordinates of the nodes and by directions; nodes that coincide, as where parts
        of a joined mesh touch, by the tags of their cells.
        """
        gdim = self.mesh.geometry.dim
        every = np.flatnonzero(self.active[:: self.block])
        picked = every if nodes is None else np.asarray(nodes)
        dofs = (picked[:, None] * self.block + np.arange(gdim)).reshape(-1, 1)
        keys = coordinate_order(self.x[picked], self.length)
        if self._cell_tag is not None:  # coincident nodes of two parts
            keys = np.column_stack([keys, self._cell_tag[picked]])
        order = np.column_stack([np.repeat(keys, gdim, axis=0), np.tile(np.arange(gdim), picked.size)])
        labels = [f"u{'xyz'[i]}" for i in range(gdim)] * picked.size
        return SparseRows(dofs, np.ones(dofs.shape), order, labels)

    def global_dofs(self) -> Int64Array:
        """Global number of each local dof, shape (size,)."""
        index_map, bs = self.space.dofmap.index_map, self.block
        nodes = index_map.local_to_global(np.arange(self.size // bs, dtype=np.int32))
        dofs: Int64Array = (nodes[:, None] * bs + np.arange(bs)).ravel()
        return dofs

    def _find_cells(self) -> Int32Array | None:
        """Local cells of the named parts, None for all. Collective."""
        if self.parts is None:
            return None
        if not self.parts:
            raise ValueError("cells names no part: give the names of the body's cells, or None for all")
        found: Int32Array = np.unique(np.concatenate([self.named.cells(name) for name in self.parts]))
        if not self.comm.allreduce(bool(found.size)):
            raise ValueError(
                f"the parts {', '.join(map(str, self.parts))} have no cells in the mesh: nothing is there"
            )
        return found

    def _find_cell_tag(self) -> FloatArray | None:
        """Mean tag of the cells at each owned node, None on meshes without; independent of the partition.

        Collective. The mean, since DOLFINx exchanges sums: parts of a joined mesh have consecutive tags.
        """
        tags = self.named.cell_tags
        if tags is None or tags.dim != self.mesh.topology.dim:
            return None
        owned = self.mesh.topology.index_map(tags.dim).size_local
        tag_of_cell = np.zeros((owned, 2))
        tag_of_cell[:, 1] = 1.0
        here = tags.indices < owned
        tag_of_cell[tags.indices[here], 0] = tags.values[here]
        index_map, cells = self.space.dofmap.index_map, self.space.dofmap.list[:owned]
        sums = la.vector(index_map, 2)
        np.add.at(sums.array.reshape(-1, 2), cells.ravel(), np.repeat(tag_of_cell, cells.shape[1], axis=0))
        sums.scatter_reverse(la.InsertMode.add)
        tag, count = sums.array.reshape(-1, 2)[: index_map.size_local].T
        mean: FloatArray = tag / count
        return mean

    def _find_inside(self) -> BoolArray:
        """Mask of the owned dofs on cells of the body, on any rank, shape (owned,). Collective."""
        if self.cells is None:
            return np.ones(self.owned, dtype=bool)
        assert self.parts is not None
        return np.repeat(self._nodes_in(self.parts)[: self.owned // self.block], self.block)

    def _extent(self) -> float:
        x = self.mesh.geometry.x
        top = np.array([parallel.largest(self.comm, x[:, i]) for i in range(3)])
        bottom = np.array([-parallel.largest(self.comm, -x[:, i]) for i in range(3)])
        return float(np.linalg.norm(top - bottom))
