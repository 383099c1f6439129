"""A system from the forms of a DOLFINx script."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import ufl
from dolfinx import fem
from ufl.core.expr import Expr

from .. import parallel
from .._types import FloatArray
from ..algebra import kernels
from .body import Body
from .boundary_values import BoundaryValues, checked_conditions, held_dofs
from .compiled import Compiled
from .continuum import Continuum
from .forces import forms as checks
from .forces.element_forms import ElementForm, is_matrix
from .forces.stiffness import StoredStiffness
from .forces.stored_coefficients import StoredCoefficients
from .loads import Motion
from .masses import mass_lumping
from .matrices import Matrices


class FormSystem(Continuum):
    """The system ``M u'' + C u' + K u = L`` or ``M u'' + F(u) = L`` of a script's own forms.

    The forms are UFL forms over the function space of the script; stiffness, mass and damping of linear
    systems may also be PETSc matrices, assembled without Dirichlet conditions. Loads and nonlinear forms read
    their coefficients and constants at every evaluation. Stored are those of construction, until
    :meth:`reassemble`: a linear stiffness and damping, the masses, the critical time step.

    Example:
        Linear elasticity that meets a floor, with the script's ``V, a, L, rho, bcs``::

            system = di.FormSystem(V, stiffness=a, density=rho, load=L, bcs=bcs)
            floor = di.RigidContact(system, "boundary", di.Plane((0, 0, 0), (0, 0, 1)), friction=0.3)
            scheme = di.CDLagrange(system, 0.9 * system.critical_time_step(), contact=floor)

    Args:
        space: Vector-valued Lagrange space, scalar on a line, of any degree and variant.
        stiffness: Symmetric bilinear form ``a(u, w)`` of a linear system, or a PETSc matrix.
        u: The Function that is the displacement in ``internal`` and ``energy``. It is never written.
        internal: Linear form ``F(u; w)``; by default the derivative of ``energy``.
        energy: The stored energy [J], a functional of ``u``; without it results have no stored energy.
        v: The Function that is the velocity in ``internal`` or ``damping``.
        density: Mass per volume [kg/m3], a number or UFL scalar; lumped as that of a :class:`.Solid`: row
            sums, GLL quadrature or HRZ.
        mass: Instead, a bilinear form or PETSc matrix, lumped by row sums.
        lumped_mass: Nodal masses instead of the row sums, one a dof of this rank or a Function [kg].
        load: Linear form ``L(w)``, not of u.
        damping: Symmetric bilinear form ``c(v, w)`` or a PETSc matrix; or, with ``v``, a linear form in v.
        bcs: Conditions of ``dolfinx.fem.dirichletbc``. Where values are not zero at construction, or with
            ``update``, the dofs follow them, and their reactions' work is part of ``external``.
        update: ``update(t)`` sets the script's Functions and Constants for the time t [s]; it is called
            wherever loads, forces or prescribed values are evaluated, at any times in any order. What is
            stored is that of t = 0.
        stress: Stress for pictures and :class:`.FieldWriter`: a function of u, or an expression in ``u``,
            that is a 3x3 tensor (shown by von Mises) or a scalar [Pa].
        parts: Names for parts of the mesh, of :func:`.mesh.named` or what ``dolfinx.io`` returns.
        cells: Names of the cells of the system, where the forms are integrated over these alone.
        hypothesis: ``"axisymmetric"`` if the forms are of a body of revolution, with their own factor 2 pi r;
            it is the measure for ``density`` and the areas of contact.
        cross_section: Area or thickness of a line or plane mesh [m2, m], likewise.

    Attributes:
        revision: Number of calls of :meth:`reassemble`.

    Raises:
        ValueError: Another space; forms that do not fit together or are of other spaces; no mass, or one that
            is not positive (with what to give); conditions of another space.
    """

    loop_solver = Body.loop_solver

    one_pattern = False

    def __init__(
        self,
        space: fem.FunctionSpace,
        *,
        stiffness: Any = None,
        u: fem.Function | None = None,
        internal: Any = None,
        energy: Any = None,
        v: fem.Function | None = None,
        density: Any = None,
        mass: Any = None,
        lumped_mass: Any = None,
        load: Any = None,
        damping: Any = None,
        bcs: Sequence[Any] = (),
        update: Callable[[float], None] | None = None,
        stress: Any = None,
        parts: Any = None,
        cells: str | Sequence[str] | None = None,
        hypothesis: str | None = None,
        cross_section: float = 1.0,
    ) -> None:
        checks.space(space)
        checks.combination(stiffness, u, internal, energy, density, mass, lumped_mass)
        forms = {"stiffness": stiffness, "internal": internal, "energy": energy, "mass": mass, "load": load}
        forms["damping"] = damping
        checks.forms(forms, space, u, v)
        conditions = checked_conditions(bcs, space)
        named = checks.parts(parts, space)
        checks.stress(stress, u)
        degree = mass_lumping.scalar_element(space).degree
        options = {"degree": degree, "space": space, "cells": cells}
        super().__init__(named, hypothesis=hypothesis, cross_section=cross_section, **options)
        self.linear, self.revision, self._update = stiffness is not None, 0, checks.update(update)
        self._now: float | None = None
        self._take_conditions(conditions)
        own = {each: mine for each, mine in ((u, self.displacement), (v, self.velocity)) if each is not None}
        self._forms = {name: checks.with_own(form, own) for name, form in forms.items()}
        if self.linear and isinstance(self._forms["damping"], ufl.Form):
            self._forms["damping"] = checks.bilinear(self._forms["damping"], self.velocity)
        self._matrices = {name: form for name, form in self._forms.items() if is_matrix(form)}
        self._density, self._given_mass = density, lumped_mass
        self.stress, self._own = stress, own
        self._at(0.0)
        self._store()
        for name in ("stiffness", "mass", "damping") if self.linear else ("mass",):
            checks.symmetric(name, self, self._forms[name])
        self.mass  # noqa: B018  errors at construction
        self.total_mass = parallel.total(self.comm, self.mass.sum()) / self.block
        checks.forces(self)

    def _store(self) -> None:
        """Keep the coefficients of what is stored, and the stiffness and damping. Collective."""
        # A script may change its matrices in place.
        self._forms |= {name: matrix.copy() for name, matrix in self._matrices.items()}
        stored = [
            self._forms[name] for name in ("stiffness", "mass", "damping") if self.linear or name == "mass"
        ]
        if self._density is not None:
            stored.append(self._mass_form())
        if not self.linear:
            stored.append(self._internal_form())
            stored += [self._viscous_form()] if self.has_viscosity else []
        self._stored = StoredCoefficients(stored)
        if self.linear:
            self.forces  # noqa: B018  now, and not when a scheme first needs it

    def _take_conditions(self, conditions: tuple[Any, ...]) -> None:
        """Constrain the dofs of the conditions; they move unless all values are zero. Collective."""
        held = held_dofs(conditions, self.owned)
        self.constrained[held] = True
        values = BoundaryValues(conditions, self.space, self._at_time)
        self._still: BoundaryValues | None = values if values.any else None
        if values.any and (self._update is not None or not values.are_zero()):
            self.prescribed: Motion = values
            self._still = None

    # -- time and coefficients

    def _at(self, t: float) -> None:
        """Set the script's Functions and Constants for the time t. Collective."""
        update = self._update
        if update is not None:
            parallel.together(self.comm, lambda: update(float(t)))

    @contextmanager
    def _at_time(self, t: float) -> Iterator[None]:
        """The script's Functions and Constants at t; afterwards at the time of the last forces again."""
        self._at(t)
        yield
        self._return_to_now()

    def _return_to_now(self) -> None:
        """Set them for the time of the last forces, whoever has changed them since. Collective."""
        if self._now is not None:
            self._at(self._now)

    def reassemble(self) -> None:
        """Read the coefficients of the stored stiffness, masses and critical time step anew. Collective.

        Explicit schemes of this system go on with the new ones, if their time step allows it, from the forces
        of their last step; others say that they must be made anew, as contact between surfaces.
        """
        self.revision += 1
        self._critical = None
        for name in ("stiffness", "forces", "_damping_matrix"):
            self.__dict__.pop(name, None)
        self.matrices = Matrices(self)
        self._store()
        # In place: contact and schemes hold these arrays.
        self.mass[:] = self._lump()
        free = ~self.constrained
        self.inverse_mass[free] = 1.0 / self.mass[free]
        self.total_mass = parallel.total(self.comm, self.mass.sum()) / self.block

    # -- loads

    @property
    def has_loads(self) -> bool:
        """Whether there are loads."""
        return self._forms["load"] is not None

    @property
    def steady(self) -> bool:
        """Whether the forces are ``f - K u`` with a load that changes by the script's hand alone."""
        return self.linear and self._update is None and not (self.has_damping or self.prescribed.any)

    @functools.cached_property
    def _load(self) -> ElementForm:
        return ElementForm(self._forms["load"], self.space, [])

    def external(self, t: float, u: FloatArray, v: FloatArray, out: FloatArray) -> None:
        """Loads L at ``t``, shape (size,) [N]. Collective."""
        self._at(t)
        self._now = t
        if self._still is not None:
            self._still.refuse_motion()
        out[:] = 0.0
        if self._forms["load"] is not None:
            out[: self.owned] = self._loads_now()

    def _loads_now(self) -> FloatArray:
        """The load, assembled anew where its coefficients changed, shape (owned,) [N]. Collective."""
        now, seen = self._load.parameters(), getattr(self, "_load_seen", None)
        changed = seen is None or not np.array_equal(now, seen[0])
        if self.comm.size > 1:
            changed = self.comm.allreduce(changed)
        if changed:
            values = np.where(self.fixed_dofs, 0.0, self._load.vector())
            self._load_seen = seen = (now, values)
        assert seen is not None
        load: FloatArray = seen[1]
        return load

    def inertia(self, direction: Sequence[float] | FloatArray) -> FloatArray:
        """See :meth:`.Body.inertia`; with lumped masses."""
        out = np.zeros(self.size)
        out[: self.owned] = self.mass * np.tile(np.asarray(direction), self.owned // self.block)
        return self._free_of_held(out)

    # -- forces

    def _internal_form(self) -> Any:
        """Linear form ``F_int . w`` at :attr:`displacement`, without damping."""
        if self.linear:
            return ufl.action(self._forms["stiffness"], self.displacement)
        if self._forms["internal"] is None:
            return ufl.derivative(self._forms["energy"], self.displacement, self._w)
        return self._without_velocity(self._forms["internal"])

    def _without_velocity(self, form: Any) -> Any:
        """The form at rest."""
        return (
            ufl.replace(form, {self.velocity: fem.Function(self.space)}) if self._has_velocity(form) else form
        )

    def _has_velocity(self, form: Any) -> bool:
        return form is not None and not is_matrix(form) and self.velocity in form.coefficients()

    def _energy_form(self) -> Any:
        return self._forms["energy"]

    def stored_energy(self, u: FloatArray) -> float:
        """See :meth:`.Body.stored_energy`; with coefficients at the time of the last forces. Collective."""
        if not self.linear:
            self._return_to_now()
        return super().stored_energy(u)

    @property
    def energy_known(self) -> bool:
        """See :attr:`.Continuum.energy_known`."""
        return self.linear or self._forms["energy"] is not None

    @property
    def conservative(self) -> bool:
        """Whether all forces have a potential, and thus symmetric tangents."""
        derived = self.linear or self._forms["internal"] is None
        return derived and not self.has_viscosity

    @property
    def has_viscosity(self) -> bool:
        """Whether there is damping."""
        return self._forms["damping"] is not None or self._has_velocity(self._forms["internal"])

    def _viscous_form(self) -> Any:
        damping, internal = self._forms["damping"], self._forms["internal"]
        parts = [] if damping is None else [damping]
        if self._has_velocity(internal):
            parts.append(internal - self._without_velocity(internal))
        return sum(parts[1:], parts[0])

    def damping(self, t: float, u: FloatArray, v: FloatArray, out: FloatArray) -> None:
        """Damping forces at ``t``, shape (size,) [N]. Collective."""
        self._at(t)
        self._now = t
        super().damping(t, u, v, out)

    def _add_viscosity(self, u: FloatArray, v: FloatArray, out: FloatArray) -> None:
        if not self.linear:
            super()._add_viscosity(u, v, out)
        elif self.has_viscosity:
            product = np.zeros(self.size)
            self._damping_matrix.subtract_product(v, product)
            out -= product

    @functools.cached_property
    def _damping_matrix(self) -> StoredStiffness:
        with self._stored():
            form = self._forms["damping"]
            return StoredStiffness(form if is_matrix(form) else fem.form(form), self.space)

    def add_viscous_tangent(
        self, u: FloatArray, v: FloatArray | None, x: FloatArray, out: FloatArray
    ) -> None:
        """See :meth:`.Body.add_viscous_tangent`."""
        if self.linear:
            self._add_viscosity(u, x, out)
        else:
            super().add_viscous_tangent(u, v, x, out)

    # -- what is stored

    def tangent_forms(self) -> tuple[Any, Any]:
        """See :meth:`.Body.tangent_forms`; matrices of a linear system."""
        if not self.linear:
            return super().tangent_forms()
        damping = self._forms["damping"]
        viscous = None if damping is None else self.matrices.assemble(damping)
        return self.matrices.assemble(self.matrices.square_form()), viscous

    def _critical_at_rest(self) -> float:
        with self._stored():
            return super()._critical_at_rest()

    def _law_changed(self) -> bool:
        """False: the critical time step is that of construction until :meth:`reassemble`."""
        return False

    def _stiffness_form(self) -> Any:
        return self._forms["stiffness"] if self.linear else super()._stiffness_form()

    @functools.cached_property
    def stiffness(self) -> StoredStiffness:
        """The stored stiffness. Collective at the first access."""
        form = self._stiffness_form()
        with self._stored():
            return StoredStiffness(form if is_matrix(form) else fem.form(form), self.space)

    def compiled(self) -> Compiled:
        """See :meth:`.Body.compiled`.

        Raises:
            NotCompiled: As there; ``update``; a load with Functions or Constants, which may change in a run.
        """
        if self._update is not None:
            raise kernels.NotCompiled("update= is called at every time")
        load = self._forms["load"]
        if load is not None and self._load.parameters().size:
            raise kernels.NotCompiled(
                "the load has Functions or Constants, which are read at every evaluation"
            )
        self.loads.constant[: self.owned] = 0.0 if load is None else self._loads_now()
        return super().compiled()

    # -- masses

    def _lump(self) -> FloatArray:
        if self._given_mass is not None:
            return checks.masses(self, self._given_mass)
        if self._density is not None:
            density = ufl.as_ufl(self._density) * self._weight
            return mass_lumping.lump(self.space, density, self.dx, self.active)
        return checks.row_sums(self, self._forms["mass"])

    def cell_masses(self) -> FloatArray:
        """See :meth:`.Body.cell_masses`; by ``density`` where that is given."""
        density = 1.0 if self._density is None else self._density
        return mass_lumping.cell_masses(self.space, ufl.as_ufl(density) * self._weight, self.dx)

    def _mass_form(self) -> Any:
        if self._forms["mass"] is not None:
            return self._forms["mass"]
        if self._density is None:
            raise ValueError(
                "mass='consistent' needs mass= or density= of the system, which has lumped_mass="
            )
        product = ufl.inner(ufl.TrialFunction(self.space), self._w)
        return ufl.as_ufl(self._density) * self._weight * product * self.dx

    # -- stress

    def stress_at(self, u: fem.Function) -> Any:
        """The stress at ``u``, a UFL scalar or 3x3 tensor [Pa]."""
        given = isinstance(self.stress, Expr) or not callable(self.stress)
        expression = ufl.as_ufl(self.stress if given else self.stress(u))
        old = {each: u for each, mine in self._own.items() if mine is self.displacement}
        expression = ufl.replace(expression, old) if old else expression
        if expression.ufl_shape not in ((), (3, 3)):
            raise ValueError(
                f"stress= must be a scalar or a 3x3 tensor, but has shape {expression.ufl_shape}: embed a "
                "plane one, with its normal stress, or give a scalar measure of it"
            )
        return expression
