"""Space frames of linear Timoshenko beams with lumped masses."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import ufl
from dolfinx import fem
from dolfinx import mesh as dmesh
from scipy import sparse
from scipy.sparse.linalg import eigsh

from .. import arguments
from .._types import FloatArray, IntArray
from ..mesh import NamedMesh, bare_mesh
from .body import Body
from .critical_step import rough_field
from .loads import Signal, names, vector
from .sections import Section

_PARALLEL = 1e-12  # smaller sines and lengths are round-off
_UP = (0.0, 0.0, 1.0)
_RIGID = 1e-12  # smaller squared frequencies, relative to the largest one, are rigid-body modes


class InflationCost(NamedTuple):
    """Effects of inflated rotary inertia.

    Attributes:
        step_gain: Ratio of the critical time steps with inflated and physical inertia.
        frequency_changes: Relative changes of the lowest natural frequencies, 0 for rigid-body modes.
    """

    step_gain: float
    frequency_changes: FloatArray


class Frame(Body):
    """Straight beams in space, rigidly connected at common nodes: ``M dv = (f - K u) dt + L^T dr``.

    A node has six dofs, displacements [m] and rotations [rad]. The strains of a beam (Timoshenko) are
    ``u', v' - thz, w' + thy, thx', thy', thz'`` in its local axes: x along the beam, z the component of
    ``up`` normal to it, y = z x x. Two-node elements with one-point quadrature of all terms do not lock.

    Half of each element's mass is lumped to each of its nodes, as is the rotary inertia
    ``rho (Iy + Iz), rho Iy, rho Iz`` about the local axes; where these are not parallel to the global axes,
    the largest of the three is used about all axes.

    Args:
        mesh: A line mesh in space, replicated on the ranks; :func:`~dolfinx_impact.mesh.read` does not
            distribute branching ones.
        density: Mass per volume [kg/m3], positive.
        E: Young's modulus [Pa].
        sections: Cross-section of each part, ``{"girders": Section.box(...)}``, or one for all cells.
        nu: Poisson's ratio; or give
        G: Shear modulus [Pa].
        up: Direction that defines the local z axes, for all beams or by part, ``{"columns": (1, 0, 0)}``
            (default (0, 0, 1)); no beam may be parallel to it. The height of sections is along z.
        point_masses: Additional mass of each node of a part [kg], ``{"wheels": 100.0}``.
        inflated_inertia: Raise the rotary inertia per length about y and z to at least
            ``rho A Le^2 shear G / (4 E)``, Le the element length: a larger critical time step at the expense
            of the high frequencies; see :meth:`inflation_cost`.
        gravity: Gravitational acceleration, three numbers [m/s2].
        ground_acceleration: ``(direction, signal)``: acceleration ``signal(t)`` [m/s2] of the ground along
            the direction; displacements are relative to the ground.
        cells, prescribed, damping: See :class:`.Body`. A point mass belongs to every frame with its node.
        fixed: Names of clamped nodes; a mapping selects the constrained dofs, 0 to 2 displacements and
            3 to 5 rotations, ``{"feet": (0, 1, 2)}``.

    Attributes:
        total_mass: Mass of the frame including point masses [kg].

    Raises:
        ValueError: A mesh that is not a line mesh in space, is distributed or has curved cells; cells without
            a section; a beam parallel to ``up``; unknown names; constants out of range.
    """

    compiled, loop_solver = Body.compiled, Body.loop_solver

    def __init__(
        self,
        mesh: NamedMesh | dmesh.Mesh,
        *,
        density: float,
        E: float,
        sections: Mapping[str, Section] | Section,
        nu: float | None = None,
        G: float | None = None,
        up: Sequence[float] | Mapping[str, Sequence[float]] = _UP,
        point_masses: Mapping[str, float] | None = None,
        inflated_inertia: bool = False,
        gravity: Sequence[float] | None = None,
        ground_acceleration: tuple[Sequence[float], Signal] | None = None,
        cells: str | Sequence[str] | None = None,
        fixed: Sequence[str] | Mapping[str, Sequence[int]] = (),
        prescribed: Mapping[str, Mapping[int, Signal]] | None = None,
        damping: float = 0.0,
    ) -> None:
        _check_mesh(bare_mesh(mesh))
        _check_positive(density=density, E=E)
        self.density, self.E, self.G = float(density), float(E), _shear_modulus(E, nu, G)
        self.inflated_inertia = bool(inflated_inertia)
        super().__init__(mesh, block=6, cells=cells, fixed=fixed, prescribed=prescribed, damping=damping)
        self._nodes_of = np.asarray(self.space.dofmap.list)
        self._sections = self._spread(sections)
        self._lengths, self._axes = self._lay_out(self._upwards(up))
        self._point_masses = self._place(point_masses or {})
        self.total_mass = float(self._line_masses().sum() + self._point_masses.sum())
        self._take_accelerations(gravity, ground_acceleration)

    # -- properties

    @property
    def wave_speed(self) -> float:
        """Speed of longitudinal waves in a beam, ``sqrt(E / rho)`` [m/s]."""
        return math.sqrt(self.E / self.density)

    def part_mass(self, parts: str | Iterable[str]) -> float:
        """Mass of the beams in the named parts, without point masses [kg]."""
        found = np.concatenate([self.named.cells(name) for name in names(parts)])
        return float(self._line_masses()[np.intersect1d(found, self._own_cells)].sum())

    def frequencies(self, count: int) -> FloatArray:
        """Lowest natural frequencies with the lumped mass, 0 for rigid-body modes, shape (count,) [Hz].

        Raises:
            ValueError: A count that exceeds the number of free dofs.
        """
        return self._frequencies(count, self.mass)

    def inflation_cost(self, count: int = 3) -> InflationCost:
        """Effects of ``inflated_inertia``, whether it is enabled or not.

        Args:
            count: Number of natural frequencies to compare.
        """
        physical, inflated = self._lumped(False), self._lumped(True)
        steps = [self.critical_time_step(self._inverse(mass)) for mass in (physical, inflated)]
        before, after = self._frequencies(count, physical), self._frequencies(count, inflated)
        changes = np.divide(after - before, before, out=np.zeros(count), where=before > 0)
        return InflationCost(steps[1] / steps[0], changes)

    def _inverse(self, mass: FloatArray) -> FloatArray:
        return np.divide(1.0, mass, out=np.zeros(self.owned), where=~self.constrained)

    def _frequencies(self, count: int, mass: FloatArray) -> FloatArray:
        free = np.flatnonzero(~self.constrained)
        if not 0 < count < free.size:
            raise ValueError(f"of {free.size} free dofs 1 to {free.size - 1} frequencies can be asked for")
        root = sparse.diags(1.0 / np.sqrt(mass[free]))
        matrix = (root @ self.stiffness.scipy()[free][:, free] @ root).tocsc()
        largest = float(abs(matrix).sum(axis=1).max())
        start = rough_field(self)[free]
        squares = eigsh(matrix, count, sigma=-1e-9 * largest, v0=start, return_eigenvectors=False)
        squares[squares < _RIGID * largest] = 0.0
        frequencies: FloatArray = np.sqrt(np.sort(squares)) / (2 * math.pi)
        return frequencies

    # -- the interface of a body

    def _lump(self) -> FloatArray:
        return self._lumped(self.inflated_inertia)

    def _lumped(self, inflated: bool) -> FloatArray:
        """Lumped masses [kg, kg m2], shape (owned,)."""
        masses = np.zeros((self.owned // 6, 6))
        translations = np.repeat(self._line_masses()[:, None], 3, axis=1)
        rotations = self._global_inertia(inflated) * self._lengths[:, None]
        halves = np.hstack([translations, rotations]) / 2
        for end in self._nodes_of.T:
            np.add.at(masses, end, halves)
        masses[:, :3] += self._point_masses[:, None]
        return masses.ravel()

    def inertia(self, direction: Sequence[float] | FloatArray) -> FloatArray:
        """Inertia force per uniform acceleration along ``direction``, shape (owned,) [N s2/m]."""
        forces = np.zeros((self.owned // 6, 6))
        forces[:, :3] = self._lumped(False).reshape(-1, 6)[:, :3] * np.asarray(direction)
        return self._free_of_held(forces.ravel())

    def _stiffness_form(self) -> Any:
        u = fem.Function(self.space)
        x, y, z = self._local_axes()
        rotation = ufl.as_vector([u[i] for i in (3, 4, 5)])
        slope = ufl.dot(ufl.grad(u), x)
        stretch = ufl.as_vector([slope[i] for i in (0, 1, 2)])
        twist = ufl.as_vector([slope[i] for i in (3, 4, 5)])
        shear = (ufl.dot(y, stretch) - ufl.dot(z, rotation), ufl.dot(z, stretch) + ufl.dot(y, rotation))
        strains = (ufl.dot(x, stretch), *shear, *(ufl.dot(axis, twist) for axis in (x, y, z)))
        area, Iy, Iz, J, shear_share = self._sections.T
        sheared = self.G * shear_share * area
        moduli = (self.E * area, sheared, sheared, self.G * J, self.E * Iy, self.E * Iz)
        stiff = self._by_cell(np.column_stack(moduli))
        energy = sum(stiff[i] * strain**2 / 2 for i, strain in enumerate(strains))
        form = energy * self.dx(metadata={"quadrature_degree": 1})
        return ufl.derivative(ufl.derivative(form, u), u)

    def _mass_form(self) -> Any:
        u, w = ufl.TrialFunction(self.space), ufl.TestFunction(self.space)
        inertia = self._local_inertia(self.inflated_inertia)
        heavy = self._by_cell(np.column_stack([self.density * self._sections[:, 0], inertia]))
        ours, others = (ufl.as_vector([f[i] for i in (3, 4, 5)]) for f in (u, w))
        moved = sum(u[i] * w[i] for i in range(3))
        turned = sum(
            heavy[i] * ufl.dot(axis, ours) * ufl.dot(axis, others)
            for i, axis in enumerate(self._local_axes(), start=1)
        )
        return (heavy[0] * moved + turned) * self.dx(metadata={"quadrature_degree": 2})

    def consistent_mass(self) -> Any:
        """See :meth:`.Body.consistent_mass`; with the point masses."""
        matrix = super().consistent_mass()
        diagonal = matrix.getDiagonal()
        diagonal.array[:].reshape(-1, 6)[:, :3] += self._point_masses[:, None]
        matrix.setDiagonal(diagonal)
        return matrix

    # -- properties by cell, in the order of the mesh

    def _line_masses(self) -> FloatArray:
        """Masses of the cells, shape (cells,) [kg]."""
        return self.density * self._sections[:, 0] * self._lengths

    def _local_inertia(self, inflated: bool) -> FloatArray:
        """Rotary inertia per length about the local axes, shape (cells, 3) [kg m]."""
        area, Iy, Iz, _, shear = self._sections.T
        inertia = self.density * np.column_stack([Iy + Iz, Iy, Iz])
        if inflated:
            least = self.density * area * self._lengths**2 * shear * self.G / (4 * self.E)
            inertia[:, 1:] = np.maximum(inertia[:, 1:], least[:, None])
        return inertia

    def _global_inertia(self, inflated: bool) -> FloatArray:
        """Diagonal rotary inertia per length about the global axes, shape (cells, 3) [kg m]."""
        inertia, squares = self._local_inertia(inflated), self._axes**2
        aligned = np.all(squares.max(axis=2) > 1 - _PARALLEL, axis=1)
        turned = np.einsum("cij,ci->cj", np.round(squares), inertia)
        about_axes: FloatArray = np.where(aligned[:, None], turned, inertia.max(axis=1)[:, None])
        return about_axes

    @functools.cached_property
    def _own_cells(self) -> IntArray:
        return np.arange(len(self._nodes_of)) if self.cells is None else self.cells

    def _spread(self, sections: Mapping[str, Section] | Section) -> FloatArray:
        """Area, Iy, Iz, J and shear factor of the cells, 0 outside the frame, shape (cells, 5)."""
        values = np.zeros((len(self._nodes_of), 5))
        pairs = (
            [(self._own_cells, sections)]
            if isinstance(sections, Section)
            else [(self.named.cells(name), section) for name, section in sections.items()]
        )
        for found, section in pairs:
            if not isinstance(section, Section):
                raise ValueError(f"sections holds one Section for each part, not {section!r}")
            values[found] = section.area, section.Iy, section.Iz, section.J, section.shear
        lacking = self._own_cells[values[self._own_cells, 0] == 0.0]
        if lacking.size:
            lines = sorted(name for name, (dim, _) in self.named.names.items() if dim == 1)
            parts = [name for name in lines if np.intersect1d(self.named.cells(name), lacking).size]
            raise ValueError(f"{lacking.size} cells have no section; their parts: {parts or 'nameless'}")
        outside = np.setdiff1d(np.arange(len(values)), self._own_cells)
        values[outside] = 0.0
        return values

    def _upwards(self, up: Sequence[float] | Mapping[str, Sequence[float]]) -> FloatArray:
        """Direction ``up`` of each cell, shape (cells, 3)."""
        given = up if isinstance(up, Mapping) else {}
        values = np.tile(_UP if given is up else vector("up", up, 3), (len(self._nodes_of), 1))
        for name, direction in given.items():
            values[self.named.cells(name)] = vector(f"up[{name!r}]", direction, 3)
        return values

    def _lay_out(self, up: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Lengths, shape (cells,) [m], and local axes as rows, shape (cells, 3, 3)."""
        first, second = (self.x[end] for end in self._nodes_of.T)
        lengths = np.linalg.norm(second - first, axis=1)
        if not np.all(lengths > _PARALLEL * self.length):
            raise ValueError(f"{np.sum(lengths <= _PARALLEL * self.length)} cells of the mesh have no length")
        along = (second - first) / lengths[:, None]
        across = up - np.sum(along * up, axis=1)[:, None] * along
        size = np.linalg.norm(across, axis=1)
        steep = self._own_cells[size[self._own_cells] <= 1e-6 * np.linalg.norm(up[self._own_cells], axis=1)]
        if steep.size:
            raise ValueError(
                f"the beam from {first[steep[0]]} to {second[steep[0]]} is parallel to up = {up[steep[0]]}, "
                'so that its local axes are not known: give another up, for a part up={"columns": (1, 0, 0)}'
            )
        z = np.divide(across, size[:, None], out=np.zeros_like(across), where=size[:, None] > 0)
        return lengths, np.stack([along, np.cross(z, along), z], axis=1)

    def _place(self, point_masses: Mapping[str, float]) -> FloatArray:
        """Point masses of the nodes, shape (nodes,) [kg]."""
        placed = np.zeros(self.owned // 6)
        for name, mass in point_masses.items():
            _check_positive(**{f"point_masses[{name!r}]": mass})
            found = self.nodes(name)
            if not found.size:
                raise ValueError(f"point_masses[{name!r}]: no node of the frame is there")
            placed[found] += mass
        return placed

    def _local_axes(self) -> tuple[Any, Any, Any]:
        flat = self._by_cell(self._axes.reshape(-1, 9))
        x, y, z = (ufl.as_vector([flat[3 * i + j] for j in range(3)]) for i in range(3))
        return x, y, z

    def _by_cell(self, values: FloatArray) -> fem.Function:
        """Piecewise constant function from values of shape (cells, k)."""
        space = fem.functionspace(self.mesh, ("DG", 0, (values.shape[1],)))
        function = fem.Function(space)
        function.x.array.reshape(-1, values.shape[1])[np.asarray(space.dofmap.list)[:, 0]] = values
        return function


def _check_mesh(mesh: dmesh.Mesh) -> None:
    tdim, gdim = mesh.topology.dim, mesh.geometry.dim
    if (tdim, gdim) != (1, 3):
        raise ValueError(f"a Frame is made of lines in space, but its cells have dimension {tdim} of {gdim}")
    if mesh.comm.size > 1:
        raise ValueError(
            f"a frame stays whole: its mesh must not be distributed over {mesh.comm.size} ranks. Read it "
            "with comm=MPI.COMM_SELF on every rank (dolfinx_impact.mesh.read does so when beams branch)"
        )
    if mesh.ufl_domain().ufl_coordinate_element().embedded_superdegree > 1:
        raise ValueError("a Frame is made of straight beams: its mesh must have two-node cells")


def _shear_modulus(E: float, nu: float | None, G: float | None) -> float:
    if (nu is None) == (G is None):
        raise ValueError("a Frame takes either nu or G")
    if G is not None:
        _check_positive(G=G)
        return float(G)
    assert nu is not None
    if not -1 < arguments.number("Poisson's ratio nu", nu, "lie in (-1, 0.5)") < 0.5:
        raise ValueError(f"Poisson's ratio nu must lie in (-1, 0.5), but is {nu}")
    return E / (2 * (1 + nu))


def _check_positive(**values: float) -> None:
    for name, value in values.items():
        arguments.number(name, value, "be positive", above=0.0)
