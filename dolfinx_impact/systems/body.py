"""Base class of finite element bodies: function space, masses, loads, stored stiffness, solvers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from dolfinx import fem

from .. import arguments, descriptions
from .._types import BoolArray, FloatArray, Int32Array, IntArray
from ..algebra import kernels
from ..algebra.sparse_solver import FactorisedSolver, SymmetricSolver
from .compiled import Compiled
from .critical_step import critical_step
from .forces.element_forms import compile_form
from .forces.internal_forces import AssembledForms, InternalForces, StoredForces
from .forces.rest_state import RestState
from .forces.stiffness import StoredStiffness
from .forces.tangent import TangentSolver
from .loads import Loads, Motion, Signal, checked_signal, vector
from .masses import mass_handover, mass_lumping
from .matrices import Matrices
from .nodes import Nodes


class Body(Nodes):
    """A body on a mesh or a part of it: ``M dv = (f - F_int(u) - D v) dt + L^T dr``.

    ``F_int = K u`` and ``D = alpha M + beta K`` where ``linear``. Subclasses define
    ``_stiffness_form``, ``_lump``, ``_mass_form`` and :meth:`inertia`.

    Args:
        mesh: The mesh; a :class:`~dolfinx_impact.mesh.NamedMesh` where parts are named, or what
            ``dolfinx.io`` returns for a mesh. Parts without a name go by the numbers of their tags.
        block: Number of dofs per node (block size); the first ones are displacements.
        degree: Degree of the Lagrange elements.
        space: A function space of Lagrange elements instead, with these dofs per node.
        cells: Names of the cells of the body; all by default. Bodies on parts of one mesh have the same dof
            numbering, and share the dofs of cells that belong to both.
        fixed: Names of facets whose dofs are constrained to zero; a mapping selects dofs of each node,
            ``{"foot": (0, 2)}``.
        prescribed: Prescribed motions of facets, ``{"foot": {2: signal}}``: dof 2 of each of their nodes is
            ``signal(t)`` [m]. The initial velocity ``v0`` must contain the velocity of the motion.
        damping: alpha of the damping force ``alpha M v`` [1/s], lumped M.
        stiffness_damping: beta of the damping force ``beta K v`` [s]. Explicit schemes evaluate it at the
            velocity half a step before, which lowers the critical time step.

    Attributes:
        space: The blocked function space.
        gdim: Geometric dimension; the first dofs of a node are its displacements.
        length: Diagonal of the bounding box of the mesh [m].
        node_count, dof_count: Numbers of nodes and dofs of the body, over all ranks.
        x: Coordinates of the local nodes, shape (nodes, 3) [m].
        cells: Local numbers of the cells of the body, None for all.
        active: Mask of the owned dofs on cells of the body, shape (owned,).
        constrained: Mask of the owned dofs that are constrained (fixed, prescribed or not on the body), shape
            (owned,).
        prescribed: The prescribed motion.
        loads: The loads.

    Raises:
        ValueError: An unknown name, ``fixed`` or ``prescribed`` facets without nodes of the body, a part
            without cells, bad constants.
    """

    linear = True
    #: Whether the pattern of M is that of K.
    one_pattern = True
    #: Context in which Functions and Constants have the values that stored matrices have.
    _stored: Callable[[], AbstractContextManager[None]] = nullcontext
    #: State of materials with history, None without.
    history: Any = None
    #: Internal forces and energy at zero displacement of :attr:`linear` bodies, None without.
    rest: RestState | None = None
    #: Number of times that stored matrices and masses were assembled anew.
    revision = 0
    #: Coefficients (b1, b2) of the bulk viscosity.
    viscosity = (0.0, 0.0)

    def __init__(
        self,
        mesh: Any,
        *,
        block: int,
        degree: int = 1,
        space: fem.FunctionSpace | None = None,
        cells: str | Sequence[str] | None = None,
        fixed: Sequence[str] | Mapping[str, Sequence[int]] = (),
        prescribed: Mapping[str, Mapping[int, Signal]] | None = None,
        damping: float = 0.0,
        stiffness_damping: float = 0.0,
    ) -> None:
        arguments.number("damping", damping, "be a rate of at least 0 [1/s]", least=0.0)
        arguments.number("stiffness_damping", stiffness_damping, "be a time of at least 0 [s]", least=0.0)
        super().__init__(mesh, block=block, degree=degree, space=space, cells=cells)
        self.prescribed, self.loads = Motion(self.comm), Loads(self.size, self.comm)
        self.damping_rate, self.stiffness_damping = float(damping), float(stiffness_damping)
        self.constrained = self._hold(fixed, {} if prescribed is None else prescribed) | ~self.active
        self._part: FloatArray = np.zeros(self.size)
        self._critical: float | None = None
        self.matrices = Matrices(self)

    def __repr__(self) -> str:
        return descriptions.of_body(self)

    @property
    def dof_count(self) -> int:
        """Number of dofs of the body, over all ranks."""
        return self.node_count * self.block

    # -- defined by subclasses

    def _lump(self) -> FloatArray:
        """Lumped masses of the owned dofs, 0 where not :attr:`active`, shape (owned,) [kg]. Collective."""
        raise NotImplementedError

    def _stiffness_form(self) -> Any:
        """Bilinear form of the stiffness over the body's cells."""
        raise NotImplementedError

    def _mass_form(self) -> Any:
        """Bilinear form of the consistent mass over the body's cells."""
        raise NotImplementedError

    def consistent_mass(self) -> Any:
        """The consistent mass as a PETSc matrix. Collective."""
        return self.matrices.assemble(self._mass_form())

    def tangent_forms(self) -> tuple[Any, Any]:
        """Form of K with all diagonal entries; that of damping beyond ``alpha M + beta K``, or None."""
        return self.matrices.square_form(), None

    def inertia(self, direction: Sequence[float] | FloatArray) -> FloatArray:
        """Inertia force per uniform acceleration along ``direction``, shape (size,) [N s2/m]. Collective."""
        raise NotImplementedError

    def _weight_of(self, acceleration: Sequence[float] | FloatArray) -> FloatArray:
        """Weight in a uniform gravitational acceleration, shape (size,) [N]. Collective."""
        return self.inertia(acceleration)

    # -- interface to the schemes

    @property
    def steady(self) -> bool:
        """Whether the forces are ``f - K u`` with a constant f, without prescribed motion."""
        return self.linear and not (self.loads.signals or self.has_damping or self.prescribed.any)

    @property
    def fixed_dofs(self) -> BoolArray:
        """Mask of the constrained owned dofs without prescribed motion, shape (owned,)."""
        fixed = self.constrained.copy()
        fixed[self.prescribed.dofs] = False
        return fixed

    @property
    def has_damping(self) -> bool:
        """Whether there are damping forces."""
        return self.damping_rate > 0 or self.stiffness_damping > 0 or self.has_viscosity

    @property
    def rayleigh(self) -> tuple[float, float] | None:
        """(alpha, beta) of the damping [1/s, s]; None where there is other damping."""
        return None if self.has_viscosity else (self.damping_rate, self.stiffness_damping)

    @property
    def mass_damped(self) -> bool:
        """Whether damping is at most mass-proportional, ``alpha M v``."""
        return not (self.stiffness_damping > 0 or self.has_viscosity)

    @property
    def has_viscosity(self) -> bool:
        """Whether there are damping forces beyond ``alpha M + beta K``."""
        return False

    @property
    def has_loads(self) -> bool:
        """Whether there are loads."""
        return self.loads.any

    @property
    def until(self) -> float:
        """Time up to which loads and prescribed motions are defined [s]."""
        return min(self.loads.until, self.prescribed.until)

    def _add_viscosity(self, u: FloatArray, v: FloatArray, out: FloatArray) -> None:
        """Add further damping forces to the owned entries of ``out``, shape (size,) [N]. Collective."""

    @functools.cached_property
    def mass(self) -> FloatArray:
        """Lumped masses of the owned dofs, shape (owned,) [kg] (rotations [kg m2]). Collective."""
        return self._lump()

    @functools.cached_property
    def inverse_mass(self) -> FloatArray:
        """Inverse lumped masses, 0 at constrained dofs, shape (owned,) [1/kg]. Collective."""
        inverse = np.zeros(self.owned)
        free = ~self.constrained
        inverse[free] = 1.0 / self.mass[free]
        return inverse

    def force(self, t: float, u: FloatArray, v: FloatArray, out: FloatArray) -> None:
        """Total force ``f - F_int - D v``, shape (size,) [N]; ghost entries are undefined. Collective."""
        self.external(t, u, v, out)
        with nullcontext() if self.history is None else self.history.at(t):
            self.subtract_internal(u, out)
        if self.has_damping:
            self.damping(t, u, v, self._part)
            out -= self._part

    @functools.cached_property
    def forces(self) -> InternalForces:
        """The internal forces, in the fastest kind that the laws allow. Collective at the first access."""
        by_kernels: InternalForces | None = self.element_forces(self.space)
        if by_kernels is not None:
            return by_kernels
        return StoredForces(self.stiffness, self.size) if self.linear else self.assembled_forces()

    def element_forces(self, space: fem.FunctionSpace) -> Any:
        """The internal forces by element kernels on a space with these elements; None for no such kernels."""
        return None

    def assembled_forces(self) -> AssembledForms:
        """The internal forces of nonlinear laws from forms."""
        raise NotImplementedError

    @property
    def stressed_at_rest(self) -> bool:
        """Whether there are internal forces or energies at zero displacement, though :attr:`linear`."""
        return self.rest is not None

    def subtract_internal(self, u: FloatArray, out: FloatArray) -> None:
        """``out -= F_int(u)`` on the owned entries, shape (size,) [N]. Collective.

        Within :meth:`force` a material with history takes its state at that time; otherwise it is held.
        """
        self.forces.subtract(u, out)
        if self.rest is not None:
            out[: self.owned] -= self.rest.forces

    def subtract_tangent(self, u: FloatArray, x: FloatArray, out: FloatArray) -> None:
        """``out -= dF_int/du(u) x`` on the owned entries, shape (size,). Collective."""
        self.forces.subtract_tangent(u, x, out)

    def compiled(self) -> Compiled:
        """Stored stiffness and loads for compiled loops.

        Raises:
            NotCompiled: Several ranks, nonlinear forces, stiffness-proportional damping and bulk viscosity.
        """
        if self.comm.size > 1:
            raise kernels.NotCompiled("several ranks share the body")
        stored = kernels.ask(self.forces, "are no stored forces")
        if self.rest is not None:
            raise kernels.NotCompiled("a linear law has a stress at rest")
        if not self.mass_damped:
            raise kernels.NotCompiled(
                "a force of the system is not of a compiled kind: it is damped by more than a rate"
            )
        matrix: dict[str, Any] = {"pairs": stored.pairs, "block": self.block}
        if stored.pairs is None:
            matrix = {"csr": stored.csr}
        loads = self.loads
        return Compiled(
            None,
            None,
            None,
            None,
            loads.constant,
            **matrix,
            patterns=loads.patterns,
            amplitudes=loads.amplitudes,
            rate=self.damping_rate,
        )

    def external(self, t: float, u: FloatArray, v: FloatArray, out: FloatArray) -> None:
        """Loads f(t), shape (size,) [N]."""
        if self.loads.signals:
            self.loads(t, out)
        else:
            out[:] = self.loads.constant

    def damping(self, t: float, u: FloatArray, v: FloatArray, out: FloatArray) -> None:
        """Damping force ``alpha M v + beta K(u) v``, shape (size,) [N]. Collective."""
        out[:] = 0.0
        if self.stiffness_damping > 0:
            self.subtract_tangent(u, v, out)
            out *= -self.stiffness_damping
        self._add_viscosity(u, v, out)
        if self.damping_rate > 0:
            out[: self.owned] += self.damping_rate * self.mass * v[: self.owned]

    def stored_energy(self, u: FloatArray) -> float:
        """This rank's contribution to the stored energy [J]; 0 where a law has none. Collective."""
        return self.forces.energy(u) + (0.0 if self.rest is None else self.rest.stored(u))

    @functools.cached_property
    def stiffness(self) -> StoredStiffness:
        """The stored stiffness. Collective at the first access."""
        with self._stored():
            return StoredStiffness(compile_form(self._stiffness_form()), self.space)

    # -- matrices and solvers, as every system has them

    def implicit_solver(
        self,
        factor: float,
        mass: str,
        massless: IntArray | None = None,
        *,
        mass_factor: float = 1.0,
        prefix: str = "impact_theta_",
    ) -> FactorisedSolver:
        """See :meth:`.Matrices.implicit_solver`."""
        return self.matrices.implicit_solver(factor, mass, massless, mass_factor=mass_factor, prefix=prefix)

    def loop_solver(
        self, factor: float, mass_factor: float, prefix: str, mass: str = "lumped"
    ) -> SymmetricSolver | None:
        """See :meth:`.Matrices.loop_solver`."""
        return self.matrices.loop_solver(factor, mass_factor, prefix, mass)

    def linearised(self, mass: str, *, inertia: bool = True) -> TangentSolver:
        """Solver of the linearised step of an implicit scheme. Collective.

        Args:
            mass: ``"consistent"`` or ``"lumped"``.
            inertia: Whether masses are part of it; else M is zero.
        """
        stiffness, damping = self.tangent_forms()
        without = np.arange(0 if inertia else self.owned, dtype=np.intp)
        mass_copy = self.matrices.mass_copy(mass, without)
        return TangentSolver(self, stiffness, damping, mass_copy)

    def mass_product(self, v: FloatArray, mass: str, out: FloatArray) -> None:
        """See :meth:`.Matrices.mass_product`."""
        self.matrices.mass_product(v, mass, out)

    def masses_without(self, dofs: IntArray) -> FloatArray:
        """Lumped masses, those of the nodes of ``dofs`` handed to neighbours, shape (owned,). Collective.

        Args:
            dofs: Owned dofs, on any rank none or more.

        Raises:
            ValueError: Nodes without a neighbour that keeps its mass.
        """
        return mass_handover.of_body(self, dofs)

    def cell_masses(self) -> FloatArray:
        """Parts of the nodal masses in each owned cell, up to a factor, shape (cells, nodes). Collective.

        By volume, unless a class knows better.
        """
        return mass_lumping.cell_masses(self.space, 1.0, self.dx)

    def critical_time_step(
        self,
        inverse_mass: FloatArray | None = None,
        *,
        u: FloatArray | None = None,
        v: FloatArray | None = None,
        tolerance: float = 1e-7,
    ) -> float:
        """Critical time step of central differences with lumped masses [s], to 1e-6 or better. Collective.

        ``2 / omega_max`` without damping. With damping forces at the velocity half a step before it is the
        largest h with ``M - h/2 C - h^2/4 K >= 0``, C the tangent of all of them, wherever they act; for
        ``C = alpha M + beta K`` the solution of ``omega^2 h^2 + 2 (alpha + beta omega^2) h = 4``. The
        quadratic term of the bulk viscosity is linearised at ``v``: without ``v`` the result is valid for
        slow compression only.

        Args:
            inverse_mass: Inverse masses instead of the body's, shape (owned,) [1/kg].
            u: Displacements at which the tangent stiffness is evaluated, shape (size,) [m]; zero by default.
            v: Velocities at which the quadratic bulk viscosity is linearised, shape (size,) [m/s]; zero by
                default.
            tolerance: Relative tolerance of the frequency, used unless all other arguments are defaults.

        Raises:
            ValueError: Displacements ``u`` that invert an element of a nonlinear law; a stiffness at rest
                that is negative, or a tangent that is not symmetric.
        """
        if inverse_mass is None and v is None and (u is None or self.linear):
            return self._critical_at_rest()
        masses = self.inverse_mass if inverse_mass is None else inverse_mass
        if u is not None:
            self._refuse_inside_out(u)
        return critical_step(self, masses, u, v, tolerance)

    def _critical_at_rest(self) -> float:
        if self._law_changed() or self._critical is None:
            history: Any = self.history
            with nullcontext() if history is None else history.at_rest():
                self._critical = critical_step(self, self.inverse_mass, None, None, 1e-7)
        return self._critical

    def _refuse_inside_out(self, u: FloatArray) -> None:
        """Raise a ValueError where ``u`` inverts an element. Collective."""

    def _law_changed(self) -> bool:
        """Whether parameters of the law have changed since the last call. Collective."""
        return False

    def is_viscous(self, v: FloatArray | None) -> bool:
        """Whether damping forces beyond ``alpha M + beta K`` have a tangent at ``v``; None is at rest."""
        return self.has_viscosity

    def add_viscous_tangent(
        self, u: FloatArray, v: FloatArray | None, x: FloatArray, out: FloatArray
    ) -> None:
        """Add ``D x`` to the owned entries of ``out``, D the tangent of :attr:`has_viscosity`. Collective."""

    # -- preparation

    def _hold(
        self,
        fixed: Sequence[str] | Mapping[str, Sequence[int]],
        prescribed: Mapping[str, Mapping[int, Signal]],
    ) -> BoolArray:
        """Mask of the fixed and prescribed dofs, shape (owned,); stores the motions. Collective."""
        held = np.zeros(self.owned, dtype=bool)
        for name in arguments.words("fixed", fixed):
            chosen = fixed[name] if isinstance(fixed, Mapping) else range(self.block)
            for i in arguments.sequence(f"fixed[{name!r}]", chosen, f"fixed={{{name!r}: (0, 2)}}"):
                held[self._dofs_of(f"fixed[{name!r}]", name, i)] = True
        example = "prescribed={'foot': {2: signal}}"
        for name, motions in arguments.mapping("prescribed", prescribed, example).items():
            what = f"prescribed[{name!r}]"
            for i, signal in arguments.mapping(what, motions, example).items():
                dofs = self._dofs_of(what, name, i)
                if self.comm.allreduce(bool(np.any(held[dofs]))):
                    raise ValueError(f"{what}: dof {i} is fixed or prescribed already: leave one out")
                held[dofs] = True
                unit = "m" if i < self.gdim else "rad"
                self.prescribed.add(dofs, checked_signal(what, signal, unit))
        return held

    def _dofs_of(self, what: str, name: str, i: int) -> Int32Array:
        if isinstance(i, bool) or not isinstance(i, (int, np.integer)) or i not in range(self.block):
            raise ValueError(f"{what}: directions are 0 to {self.block - 1}, not {i}")
        nodes = self._nodes_on(self.named.facets(name))
        if not self.comm.allreduce(int(nodes.size)):
            raise ValueError(f"{what} holds no node: {name!r} has no facets on cells of the body")
        return nodes * self.block + i

    def _take_accelerations(
        self, gravity: Sequence[float] | None, ground_acceleration: tuple[Sequence[float], Signal] | None
    ) -> None:
        """Add the loads of gravity, and ``-rho a(t)`` of the accelerated reference frame. Collective."""
        gdim = self.mesh.geometry.dim
        if gravity is not None:
            pattern = self.along_axis("gravity", vector("gravity", gravity, gdim))
            if pattern.any():
                self.loads.add(self._weight_of(pattern))
        if ground_acceleration is not None:
            try:
                direction, signal = ground_acceleration
            except (TypeError, ValueError):
                given = arguments.shown(ground_acceleration)
                raise ValueError(f"ground_acceleration must be (direction, signal), not {given}") from None
            what = "the direction of ground_acceleration"
            pattern = self.along_axis(what, vector(what, direction, gdim))
            self.loads.add(-self.inertia(pattern), checked_signal("ground_acceleration", signal, "m/s2"))

    def _free_of_held(self, pattern: FloatArray) -> FloatArray:
        """The pattern, 0 at fixed dofs; what acts on moved ones is a part of their reactions."""
        pattern[: self.owned][self.fixed_dofs] = 0.0
        return pattern
