"""Internal forces of a body by element kernels."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from importlib import resources
from typing import Any, NamedTuple

import numpy as np
from dolfinx import fem, la
from dolfinx import mesh as dmesh

from ..._types import AnyArray, FloatArray, Int32Array, IntArray
from ...algebra import kernels
from ...algebra.kernels import logger
from ..forces.stiffness import StoredStiffness
from .compiler import address, compiled
from .element import Element
from .history import History, QuadraturePoints
from .history_code import code_of
from .lanes import flags_of, lanes_of
from .law_code import MEAN_DILATATION, NODAL_PRESSURE
from .nodal_pressure import NodalPressure

#: The functions of ``transfer.c``.
_DECLARATIONS = """
void take(ptrdiff_t, const double *, double *, ptrdiff_t);
void add(ptrdiff_t, double, const double *, double *);
int same(ptrdiff_t, const double *, const double *);
double internal_forces(ptrdiff_t, const int32_t *, const double *, const double *, double *, const double *,
                       double, const double *, double *, double *, const uint8_t *, uint8_t *, double,
                       double *);
"""
#: Those of ``simplex.c`` for nodal pressures.
_OF_NODES = """
void nodal_volumes(ptrdiff_t, const int32_t *, const double *, const double *, double *, const double *,
                   double, const double *);
void nodal_pressures(ptrdiff_t, const double *, double *, const double *);
"""
#: Numbers of a node, as in ``batches.h``, and in arrays of forces.
_NODE, _FORCE = 8, 4


class Part(NamedTuple):
    """Cells of one law.

    Attributes:
        element: The element with the quadrature for the law.
        law: The law, reduced to the hypothesis of the body.
        by_stress: Whether the kernel reads the stress of the law, not the derivative of its energy.
        linear: Whether forces are products with the stiffness, of the constants of now.
        cells: Owned cells, shape (n,).
        locking: ``"mean-dilatation"``, ``"nodal-pressure"`` or None.
    """

    element: Element
    law: Any
    by_stress: bool
    linear: bool
    cells: IntArray
    locking: str | None = None


class _Kernel:
    """A compiled kernel for a part.

    Attributes:
        functions: Its functions.
        constants: Values of the constants of the law in the last evaluation.
        operations: Number of operations of the law at a point.
        initial: Initial state of a point, shape (k,); none without history.
    """

    def __init__(self, part: Part, mesh: dmesh.Mesh, lanes: int, tangent: bool) -> None:
        element = part.element
        modes = {"by_stress": part.by_stress, "tangent": tangent, "linear": part.linear}
        self._law = code_of(part.law, element, mesh, **modes, locking=part.locking)
        self._stored = self._law.parameters() if part.linear else None
        self.operations = self._law.operations
        by_nodes = part.locking == NODAL_PRESSURE
        self.initial = self._law.initial
        sizes = {"LANES": lanes, "FIELDS": 1 + tangent, "LINEAR": part.linear, "NODAL_PRESSURE": by_nodes}
        sizes["STATE"] = self.initial.size
        sizes["MEAN_DILATATION"] = part.locking == MEAN_DILATATION
        fields = "".join(f"#define {name} {int(value)}\n" for name, value in sizes.items())
        files = (_text(name) for name in (f"{element.kind}.c", "transfer.c"))
        source = "\n".join(
            [element.definitions, fields, _text("batches.h"), self._law.source, _text("states.h"), *files]
        )
        self.constants: FloatArray = np.zeros(0)
        declared = _DECLARATIONS + (_OF_NODES if by_nodes else "")
        self.functions = compiled(source, flags_of(lanes), mesh.comm, declared)

    def parameters(self) -> FloatArray:
        """Values of the constants of the law: those of now, but of construction where linear."""
        values: FloatArray = self._law.parameters() if self._stored is None else self._stored
        return values


class ElementForces:
    """Internal forces, stored energy and tangent products of a body, assembled without forms.

    The energy is that of the last forces where it is asked for at the same displacements.

    Args:
        space: The space of the displacements.
        parts: The parts of the body.
        thickness: Cross-sectional area or thickness; volume per measure of the mesh.

    Attributes:
        lanes: Cells of a batch.
        history: The state of the material where a law has history, else None.
        beyond: Whether nodes act on those of cells beside their own, as with nodal pressures.

    Raises:
        NotGenerated: A law without code in element kernels.
        NoCompiler: No C compiler.
    """

    def __init__(self, space: fem.FunctionSpace, parts: Sequence[Part], thickness: float) -> None:
        parts = _merged(parts)
        self._mesh, self._parts, self._thickness = space.mesh, parts, thickness
        self._linear = all(part.linear for part in parts)
        self._has_energy = self._linear or all(getattr(part.law, "has_energy", True) for part in parts)
        index_map, bs = space.dofmap.index_map, space.dofmap.bs
        self._comm, self._bs = space.mesh.comm, bs
        self._owned, self._nodes = index_map.size_local, index_map.size_local + index_map.num_ghosts
        self.lanes = lanes_of(self._comm)
        if self._comm.rank == 0:
            logger.info("internal forces by element kernels, %d cells at a time", self.lanes)
        self._kernels = [_Kernel(part, space.mesh, self.lanes, False) for part in parts]
        nodes = np.asarray(space.dofmap.list)
        self._batches = [_batched(nodes[part.cells][:, part.element.order], self.lanes) for part in parts]
        rows = self._nodes + -self._nodes % self.lanes  # nodal pressures are found in batches of nodes
        self._records, self._forces = _aligned(rows, _NODE), _aligned(rows, _FORCE)
        self._records[: self._nodes, : space.mesh.geometry.dim] = space.tabulate_dof_coordinates()[:, :bs]
        self._nodal = None
        self.beyond = any(part.locking == NODAL_PRESSURE for part in parts)
        if self.beyond:
            self._nodal = NodalPressure(index_map, _aligned(rows, _FORCE))
        if self._comm.size > 1:
            self._u, self._sums = la.vector(index_map, bs), la.vector(index_map, bs)
        self._energy: float | None = None
        self._dissipated, self._lost, self._revision = 0.0, np.zeros(1), 0
        # Pointers are made once: those of many parts took longer than the forces of a small body.
        self._pointers = address(self._records), address(self._forces), address(self._lost)
        self._batch_pointers = [
            (len(cells), address(cells, "int32_t *"), address(tail)) for cells, tail in self._batches
        ]
        none, no_sides = address(np.zeros(1)), address(np.zeros(1, np.uint8), "uint8_t *")
        self._stateless = none, none, no_sides, no_sides, 0.0
        self.history = self._find_history()

    def subtract(self, u: FloatArray, out: FloatArray) -> None:
        """``out -= F_int(u)`` on the owned entries, shape (size,) [N]. Collective."""
        if self.history is None or self.history.moves:
            self._evaluate(u)
        else:
            self._evaluate_aside(u)
        self._give(out)

    def subtract_tangent(self, u: FloatArray, x: FloatArray, out: FloatArray) -> None:
        """``out -= dF_int/du(u) x`` on the owned entries, shape (size,) [N]. Collective."""
        if self._linear:
            self.subtract(x, out)
            return
        self._take(u, self._records[:, 4:], _NODE)
        self._energy = None
        self._take(x, self._changes, _FORCE)
        self._run(self._tangents, self._changes)
        self._give(out)

    def energy(self, u: FloatArray) -> float:
        """This rank's stored energy [J]; 0 where a law has none. Collective."""
        if not self._has_energy:
            return 0.0
        if self._energy is not None and not self._is_stale() and self._holds(u):
            return self._energy
        if self.history is not None:
            return self._evaluate_aside(u)
        return self._evaluate(u)

    @property
    def dissipated(self) -> float:
        """Work that the material of this rank dissipated up to the last forces [J]. Collective."""
        if self.history is not None and self._is_stale():
            with self.history.aside():
                self._run(self._kernels, self._records)
            self._energy, self._revision = None, self.history.revision
        return self._dissipated

    def _is_stale(self) -> bool:
        """Whether the state of the material was set by hand since the last forces."""
        return self.history is not None and self.history.revision != self._revision

    def coefficients(self) -> tuple[FloatArray, ...]:
        """Values of the constants of all laws now, as one array."""
        return (np.concatenate([np.zeros(0), *(each.parameters() for each in self._kernels)]),)

    def compiled(self) -> StoredStiffness:
        """Refused: compiled loops multiply with a stored stiffness."""
        raise kernels.NotCompiled(
            "a force of the system is not of a compiled kind: it is that of element kernels"
        )

    @property
    def nbytes(self) -> int:
        """Size of what an evaluation of the forces reads and writes on this rank, dofs aside [bytes]."""
        arrays: list[AnyArray] = [self._records, self._forces, *(cells for cells, _ in self._batches)]
        volumes = 0 if self._nodal is None else self._nodal.nbytes
        return volumes + sum(each.nbytes for each in arrays)

    @property
    def flops(self) -> int:
        """Arithmetic operations of an evaluation of the forces on this rank, a logarithm counted as one."""
        parts = zip(self._parts, self._kernels)
        return sum(part.cells.size * part.element.flops(kernel.operations) for part, kernel in parts)

    def _find_history(self) -> History | None:
        if not any(kernel.initial.size for kernel in self._kernels):
            return None
        points = [
            QuadraturePoints(part.law, kernel.initial, part.cells, part.element.places, part.element.weights)
            for part, kernel in zip(self._parts, self._kernels)
        ]
        return History(self._mesh, points, self.lanes)

    # -- parts of an evaluation

    @functools.cached_property
    def _tangents(self) -> list[_Kernel]:
        return [_Kernel(part, self._mesh, self.lanes, True) for part in self._parts]

    @functools.cached_property
    def _changes(self) -> FloatArray:
        return _aligned(self._nodes, _FORCE)

    def _holds(self, u: FloatArray) -> bool:
        """Whether the displacements and constants of the last evaluation are these. Collective."""
        same = all(np.array_equal(each.constants, each.parameters()) for each in self._kernels)
        if same and self._owned:
            same = bool(self._any.same(self._owned, address(u), address(self._records)))
        return bool(self._comm.allreduce(int(same)) == self._comm.size) if self._comm.size > 1 else same

    @property
    def _any(self) -> Any:
        return self._kernels[0].functions

    def _take(self, u: FloatArray, nodes: FloatArray, width: int) -> None:
        values = u
        if self._comm.size > 1:
            self._u.array[: self._owned * self._bs] = u[: self._owned * self._bs]
            self._u.scatter_forward()
            values = self._u.array
        self._any.take(self._nodes, address(values), address(nodes), width)

    def _evaluate(self, u: FloatArray) -> float:
        """Forces of all parts and their energy, which is kept for these displacements. Collective."""
        self._take(u, self._records[:, 4:], _NODE)
        self._energy = energy = self._run(self._kernels, self._records)
        self._revision = 0 if self.history is None else self.history.revision
        return energy

    def _evaluate_aside(self, u: FloatArray) -> float:
        """The same with the accepted state of the material, leaving that of the last forces alone."""
        assert self.history is not None
        dissipated, stale = self._dissipated, self._is_stale()
        with self.history.aside():
            energy = self._evaluate(u)
        self._energy = None
        if not stale:
            self._dissipated = dissipated
        return energy

    def _run(self, kernels: Sequence[_Kernel], changes: FloatArray) -> float:
        """Sum the forces of all parts; their energy [J]."""
        self._forces.fill(0.0)
        energy = dissipated = 0.0
        records, forces, lost = self._pointers
        changed = records if changes is self._records else address(changes)
        for k, (part, kernel, (count, cells, tail)) in enumerate(
            zip(self._parts, kernels, self._batch_pointers)
        ):
            kernel.constants = kernel.parameters()
            rest = address(kernel.constants), self._thickness, tail
            if part.locking == NODAL_PRESSURE and self._nodal is not None:
                self._nodal.update(kernel.functions, (count, cells), self._records, changes, rest)
            energy += kernel.functions.internal_forces(
                count,
                cells,
                records,
                changed,
                forces,
                *rest,
                *(self._stateless if self.history is None else self.history.addresses(k)),
                lost,
            )
            dissipated += float(self._lost[0])
        if kernels is self._kernels:
            self._dissipated = dissipated
        return energy

    def _give(self, out: FloatArray) -> None:
        if self._comm.size == 1:
            self._any.add(self._nodes, -1.0, address(self._forces), address(out))
            return
        self._sums.array[:] = 0.0
        self._any.add(self._nodes, 1.0, address(self._forces), address(self._sums.array))
        self._sums.scatter_reverse(la.InsertMode.add)
        owned = self._owned * self._bs
        out[:owned] -= self._sums.array[:owned]


def _merged(parts: Sequence[Part]) -> list[Part]:
    """Parts with equal laws as one where they have nodal pressures: names make no interface."""
    merged: list[Part] = []
    for part in parts:
        for k, other in enumerate(merged):
            if part.locking == other.locking == NODAL_PRESSURE and part.law == other.law:
                merged[k] = other._replace(cells=np.concatenate([other.cells, part.cells]))
                break
        else:
            merged.append(part)
    return merged


def _batched(nodes: Int32Array, lanes: int) -> tuple[Int32Array, FloatArray]:
    """Nodes in batches, shape (batches, nodes of a cell, lanes), and 1 for each cell of the last, else 0."""
    missing = -len(nodes) % lanes
    tail = np.ones(lanes)
    if missing:
        nodes, tail[lanes - missing :] = np.vstack([nodes, np.repeat(nodes[-1:], missing, axis=0)]), 0.0
    batches = nodes.reshape(-1, lanes, nodes.shape[1]).transpose(0, 2, 1)
    return np.ascontiguousarray(batches, dtype=np.int32), tail


def _aligned(rows: int, columns: int) -> FloatArray:
    """Zeros, shape (rows, columns), from the beginning of a cache line on."""
    line = 64
    raw = np.zeros(rows * columns + line // 8)
    first = -raw.ctypes.data % line // 8
    return raw[first : first + rows * columns].reshape(rows, columns)


@functools.cache
def _text(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
