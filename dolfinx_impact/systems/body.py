"""What finite element bodies share: space, masses, loads, stored stiffness, solvers."""

from __future__ import annotations

import functools
import math
from typing import Any, Callable, Mapping, Sequence

import numpy as np
from dolfinx import fem
from dolfinx import mesh as dmesh
from numpy.typing import NDArray

from .. import arguments, descriptions
from ..mesh import NamedMesh
from .loads import Loads, Motion, Signal, checked_signal, vector
from .matrices import Assembled
from .nodes import Nodes
from .stiffness import StoredStiffness, largest_eigenvalue
from .system import Compiled


class Body(Nodes, Assembled):
    """A body on a mesh or a part of it: ``M dv = (f - F_int(u) - D v) dt + L^T dr``.

    ``F_int = K u`` and ``D = alpha M + beta K`` where :attr:`linear`. What a kind of body adds:
    :meth:`_stiffness_form`, :meth:`_lump`, :meth:`_mass_form` and :meth:`inertia`.

    Args:
        mesh: The mesh; a :class:`~dolfinx_impact.mesh.NamedMesh` where parts are named.
        block: Number of dofs of a node; the first ones are its displacements.
        degree: Degree of the Lagrange elements.
        cells: Names of the cells that the body consists of; all by default. Two bodies on parts of
            one mesh have the same numbers of dofs, and share those on cells of both.
        fixed: Facet names whose dofs are held at zero; a mapping gives the held ones of each node,
            ``{"foot": (0, 2)}``.
        moved: Motions of facets, ``{"foot": {2: signal}}``: dof 2 of each of its nodes follows
            ``signal(t)`` [m]. At the start give the velocity of the motion in ``v0``.
        damping: alpha of the damping force ``alpha M v`` [1/s], lumped M.
        stiffness_damping: beta of the damping force ``beta K v`` [s]. Explicit schemes take the velocity
            half a step before, which lowers the critical step.

    Attributes:
        space: The function space, blocked.
        gdim: Directions of space; the first dofs of a node are those.
        length: Diagonal of the box around the mesh [m].
        node_count, dof_count: Of the body, on all ranks.
        x: Coordinates of the local nodes, shape (nodes, 3) [m].
        cells: Local numbers of its cells, None for all.
        inside: Which owned dofs belong to cells of the body, shape (owned,).
        held: Which owned dofs do not answer to forces (fixed, moved, not inside), shape (owned,).
        moved: The prescribed motion.
        loads: The loads.

    Raises:
        ValueError: An unknown name, a part without cells, bad constants.
    """

    linear = True

    def __init__(
        self,
        mesh: NamedMesh | dmesh.Mesh,
        *,
        block: int,
        degree: int = 1,
        cells: str | Sequence[str] | None = None,
        fixed: Sequence[str] | Mapping[str, Sequence[int]] = (),
        moved: Mapping[str, Mapping[int, Signal]] | None = None,
        damping: float = 0.0,
        stiffness_damping: float = 0.0,
    ) -> None:
        self.degree = arguments.whole("degree", degree)
        arguments.number("damping", damping, "be a rate of at least 0 [1/s]", least=0.0)
        arguments.number("stiffness_damping", stiffness_damping, "be a time of at least 0 [s]", least=0.0)
        self.named = mesh if isinstance(mesh, NamedMesh) else NamedMesh(mesh, None, None, {})
        self.mesh, self.comm = self.named.mesh, self.named.mesh.comm
        self.parts = None if cells is None else arguments.words("cells", cells)
        self.cells = self._find_cells()
        self.dx = self._measure()
        self.space = fem.functionspace(self.mesh, ("Lagrange", self.degree, (block,)))
        index_map, self.block, self.gdim = self.space.dofmap.index_map, block, self.mesh.geometry.dim
        self.owned = index_map.size_local * block
        self.size = self.owned + index_map.num_ghosts * block
        self.x = self.space.tabulate_dof_coordinates()
        self.length = self._extent()
        self.inside = self._find_inside()
        self.node_count: int = self.comm.allreduce(int(np.count_nonzero(self.inside)) // block)
        self.moved, self.loads = Motion(self.comm), Loads(self.size, self.comm)
        self.damping_rate, self.stiffness_damping = float(damping), float(stiffness_damping)
        self.held = self._hold(fixed, {} if moved is None else moved) | ~self.inside
        self._part: NDArray = np.zeros(self.size)
        self._critical: float | None = None

    def __repr__(self) -> str:
        return descriptions.of_body(self)

    @property
    def dof_count(self) -> int:
        """Number of dofs of the body, on all ranks."""
        return self.node_count * self.block

    # -- what a kind of body adds

    def _lump(self) -> NDArray:
        """Lumped masses of the owned dofs, 0 where not :attr:`inside`, shape (owned,). Collective."""
        raise NotImplementedError

    def inertia(self, direction: Sequence[float] | NDArray) -> NDArray:
        """Force of a uniform acceleration of 1 m/s2 along ``direction``, shape (size,) [N]. Collective."""
        raise NotImplementedError

    # -- what the schemes need

    @property
    def steady(self) -> bool:
        """Whether the forces are ``f - K u`` with a constant f, and nothing is moved."""
        return self.linear and not (self.loads.signals or self.has_damping or self.moved.any)

    @property
    def has_damping(self) -> bool:
        """Whether there is any damping."""
        return self.damping_rate > 0 or self.stiffness_damping > 0

    @property
    def mass_damped(self) -> bool:
        """Whether there is no other damping than ``alpha M v``."""
        return not self.stiffness_damping > 0

    @property
    def has_loads(self) -> bool:
        """Whether there is any load."""
        return self.loads.any

    @property
    def until(self) -> float:
        """Time up to which loads and motions are known [s]."""
        return min(self.loads.until, self.moved.until)

    def _add_viscosity(self, u: NDArray, v: NDArray, out: NDArray) -> None:
        """Further damping forces, added to the owned entries of ``out``, shape (size,) [N]. Collective."""

    @functools.cached_property
    def mass(self) -> NDArray:
        """Lumped masses of the owned dofs, shape (owned,) [kg] (rotations [kg m2]). Collective."""
        return self._lump()

    @functools.cached_property
    def inverse_mass(self) -> NDArray:
        """Inverse lumped masses, 0 at held dofs, shape (owned,) [1/kg]. Collective."""
        inverse = np.zeros(self.owned)
        free = ~self.held
        inverse[free] = 1.0 / self.mass[free]
        return inverse

    def force(self, t: float, u: NDArray, v: NDArray, out: NDArray) -> None:
        """Loads less F_int less damping, shape (size,) [N]; only owned entries mean something. Collective."""
        self.external(t, u, v, out)
        self.subtract_internal(u, out)
        if self.has_damping:
            self.damping(t, u, v, self._part)
            out -= self._part

    def subtract_internal(self, u: NDArray, out: NDArray) -> None:
        """``out -= F_int(u)`` on the owned entries, shape (size,) [N]. Collective."""
        self.stiffness.subtract_product(u, out)

    def subtract_tangent(self, u: NDArray, x: NDArray, out: NDArray) -> None:
        """``out -= dF_int/du(u) x`` on the owned entries, shape (size,). Collective."""
        self.stiffness.subtract_product(x, out)

    def compiled(self) -> Compiled | None:
        """Stored stiffness and loads for compiled loops; None on several ranks, and for other forces.

        Also None where a class of its own computes its forces in another way.
        """
        kind = type(self)
        own = any(getattr(kind, name) is not getattr(Body, name) for name in ("force", "external", "damping"))
        if self.comm.size > 1 or own or not self.linear or not self.mass_damped:
            return None
        stored = self.stiffness
        if stored.pairs is None and stored.csr is None:
            return None
        matrix: dict[str, Any] = {"pairs": stored.pairs, "block": self.block}
        if stored.pairs is None:
            matrix = {"csr": stored.csr}
        loads = self.loads
        return Compiled(
            None, None, None, None, loads.constant, **matrix,
            patterns=loads.patterns, amplitudes=loads.amplitudes, rate=self.damping_rate,
        )  # fmt: skip

    def external(self, t: float, u: NDArray, v: NDArray, out: NDArray) -> None:
        """The loads at ``t``, shape (size,) [N]."""
        self.loads(t, out)

    def damping(self, t: float, u: NDArray, v: NDArray, out: NDArray) -> None:
        """``alpha M v + beta K(u) v``, shape (size,) [N]. Collective."""
        out[:] = 0.0
        if self.stiffness_damping > 0:
            self.subtract_tangent(u, v, out)
            out *= -self.stiffness_damping
        self._add_viscosity(u, v, out)
        if self.damping_rate > 0:
            out[: self.owned] += self.damping_rate * self.mass * v[: self.owned]

    def stored_energy(self, u: NDArray) -> float:
        """This rank's share of ``u.K u / 2`` [J]. Collective."""
        product = np.zeros(self.size)
        self.stiffness.subtract_product(u, product)
        return -0.5 * float(u[: self.owned] @ product[: self.owned])

    @functools.cached_property
    def stiffness(self) -> StoredStiffness:
        """The stored stiffness. Collective when first asked for."""
        return StoredStiffness(fem.form(self._stiffness_form()), self.space)

    def critical_time_step(
        self, inverse_mass: NDArray | None = None, *, u: NDArray | None = None, v: NDArray | None = None,
        tolerance: float = 1e-7,
    ) -> float:  # fmt: skip
        """``2 / omega_max`` of the lumped model [s], to 1e-6 or better; less with damping. Collective.

        Damping is taken at the half-step velocity before: ``omega^2 h^2 + 2 c h <= 4`` with
        ``c = alpha + beta omega^2``, and the largest rate of the bulk viscosity, its quadratic term
        linearised at ``v``: without ``v`` what is given holds as long as nothing is compressed fast.

        Args:
            inverse_mass: Other inverse masses than its own, shape (owned,) [1/kg].
            u: Displacements at which the body is stiff as it is there, shape (size,) [m]; zero by default.
            v: Velocities at which the quadratic bulk viscosity damps as it does there, shape (size,) [m/s];
                zero by default.
            tolerance: Of the frequency, for other arguments than the default ones.

        Raises:
            ValueError: Displacements ``u`` that turn an element of a nonlinear law inside out.
        """
        if inverse_mass is None and v is None and (u is None or self.linear):
            return self._critical_at_rest()
        masses = self.inverse_mass if inverse_mass is None else inverse_mass
        if u is not None:
            self._refuse_inside_out(u)
        return self._critical_of(masses, u, v, tolerance)

    def _critical_at_rest(self) -> float:
        if self._law_changed() or self._critical is None:
            self._critical = self._critical_of(self.inverse_mass, None, None, 1e-7)
        return self._critical

    def _refuse_inside_out(self, u: NDArray) -> None:
        """Raise a ValueError where ``u`` turns an element inside out. Collective."""

    def _law_changed(self) -> bool:
        """Whether the law is another one than when this was asked last. Collective."""
        return False

    def _critical_of(
        self, inverse_mass: NDArray, u: NDArray | None, v: NDArray | None, tolerance: float
    ) -> float:
        at = np.zeros(self.size) if u is None else u

        def add(x: NDArray, out: NDArray) -> None:
            self.subtract_tangent(at, x, out)
            np.negative(out, out=out)

        if not self.comm.allreduce(bool(inverse_mass.any())):
            return math.inf
        square = self._largest_of(add, inverse_mass, tolerance)
        damped = self.damping_rate + self.stiffness_damping * square
        damped += self._viscous_rate(inverse_mass, at, v, tolerance)
        return 4.0 / (damped + math.hypot(damped, 2 * math.sqrt(square)))

    def _viscous_rate(
        self, inverse_mass: NDArray, u: NDArray, v: NDArray | None, tolerance: float
    ) -> float:
        """Largest ``v.D v / v.M v`` of what a kind of body damps further [1/s]. Collective."""
        return 0.0

    def _largest_of(
        self, add: Callable[[NDArray, NDArray], None], inverse_mass: NDArray, tolerance: float
    ) -> float:
        """Largest eigenvalue of ``M^-1 A``; ``add(x, out)`` adds ``A x`` to a zero ``out``. Collective."""
        root = np.sqrt(inverse_mass)
        x, y = np.zeros(self.size), np.zeros(self.size)

        def apply(q: NDArray, out: NDArray) -> None:
            x[: self.owned] = root * q
            y[:] = 0.0
            add(x, y)
            np.multiply(root, y[: self.owned], out=out)

        return largest_eigenvalue(self.comm, apply, root * self._rough_field(), tolerance=tolerance)

    # -- preparation

    def _hold(
        self, fixed: Sequence[str] | Mapping[str, Sequence[int]], moved: Mapping[str, Mapping[int, Signal]]
    ) -> NDArray:
        """Which dofs are fixed or moved; notes the motions. Collective."""
        held = np.zeros(self.owned, dtype=bool)
        for name in arguments.words("fixed", fixed):
            chosen = fixed[name] if isinstance(fixed, Mapping) else range(self.block)
            for i in arguments.sequence(f"fixed[{name!r}]", chosen, f"fixed={{{name!r}: (0, 2)}}"):
                held[self._dofs_of(f"fixed[{name!r}]", name, i)] = True
        example = "{'foot': {2: signal}}"
        for name, motions in arguments.mapping("moved", moved, f"moved={example}").items():
            for i, signal in arguments.mapping(f"moved[{name!r}]", motions, f"moved={example}").items():
                dofs = self._dofs_of(f"moved[{name!r}]", name, i)
                if self.comm.allreduce(bool(np.any(held[dofs]))):
                    raise ValueError(f"moved[{name!r}]: dof {i} is held or moved already: leave one out")
                held[dofs] = True
                self.moved.add(dofs, checked_signal(f"moved[{name!r}]", signal))
        return held

    def _dofs_of(self, what: str, name: str, i: int) -> NDArray:
        if isinstance(i, bool) or not isinstance(i, (int, np.integer)) or i not in range(self.block):
            raise ValueError(f"{what}: directions are 0 to {self.block - 1}, not {i}")
        return self._nodes_on(self.named.facets(name)) * self.block + i

    def _take_accelerations(
        self, gravity: Sequence[float] | None, shaken: tuple[Sequence[float], Signal] | None
    ) -> None:
        """Loads of gravity, and of a ground that accelerates: seen from it ``-rho a(t)``. Collective."""
        gdim = self.mesh.geometry.dim
        if gravity is not None:
            pattern = vector("gravity", gravity, gdim)
            if pattern.any():
                self.loads.add(self.inertia(pattern))
        if shaken is not None:
            try:
                direction, signal = shaken
            except (TypeError, ValueError):
                raise ValueError(
                    f"shaken must be (direction, signal), not {arguments.shown(shaken)}"
                ) from None
            pattern = vector("the direction of shaken", direction, gdim)
            self.loads.add(-self.inertia(pattern), checked_signal("shaken", signal))

    def _free_of_held(self, pattern: NDArray) -> NDArray:
        pattern[: self.owned][self.held] = 0.0
        return pattern

    def _rough_field(self) -> NDArray:
        """A start vector that holds all modes and does not depend on the partition."""
        x = self.x[: self.owned // self.block] / self.length
        phase = x @ np.array([[1297.0, 911.0, 1103.0], [1471.0, 1031.0, 787.0], [853.0, 1289.0, 1187.0]])
        # Shifted: an odd field is blind to half the modes of a body that is symmetric about the origin.
        waves = np.sin(1e3 * phase + 1.0)
        if self.block > 3:
            waves = np.hstack([waves, np.sin(1.7e3 * phase + 1.0)])
        return np.ascontiguousarray(waves[:, : self.block]).ravel()
