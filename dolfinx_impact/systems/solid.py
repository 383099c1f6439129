"""Finite element solids of one or several materials with linear or nonlinear laws."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import ufl
from dolfinx import fem, la
from dolfinx import mesh as dmesh

from .. import arguments, parallel
from .._types import FloatArray
from ..materials import AnyLaw, HistoryLaw, Law, kinematics
from ..materials.temperature import at_temperature
from ..mesh import NamedMesh
from ..mesh.named_mesh import as_named
from ..mesh.quality import refuse_inverted
from .body import Body
from .continuum import Continuum
from .elements.batch_code import NotGenerated
from .elements.compiler import NoCompiler
from .elements.element import element_of
from .elements.element_forces import ElementForces, Part
from .elements.history import History
from .forces import bulk_viscosity as viscosity
from .forces.element_forms import compile_form
from .forces.locking import ways
from .forces.rest_state import internal_form, own_linear, rest_state
from .forces.stored_coefficients import StoredCoefficients
from .loads import Signal, checked_signal, vector
from .masses import mass_lumping
from .masses.mass_scaling import added_mass
from .material_regions import Material, find_materials, wave_speed

#: A constant force per area (or volume), or a vector with its signal in time.
Traction: TypeAlias = Sequence[float] | tuple[Sequence[float], Signal]


logger = logging.getLogger("dolfinx_impact")
#: An extent [m] above and a wave speed [m/s] below which units may be mixed up: a mesh in mm, moduli in MPa.
_LARGE, _SLOW = 100.0, 50.0
#: From so many dofs on, linear bodies with points at the nodes store no stiffness.
_MATRIX_FREE = 10_000
#: Methods of a body that element kernels replace.
_FORMS = ("_energy_form", "_internal_form", "_stiffness_form", "assembled_forces")
#: Methods that classes with forces or masses of their own override.
_METHODS = (*_FORMS[:3], "subtract_internal", "subtract_tangent", "_lump", "_mass_form", "inertia")


class Solid(Continuum):
    """An elastic solid, topological = geometric dimension: ``M dv = (f - F_int(u) - D v) dt + L^T dr``.

    For linear laws the stiffness K is stored, with forces f_0 and energy W_0 at rest (of a thermal strain, an
    initial stress): ``F_int = f_0 + K u``, ``W = W_0 + f_0.u + u.K u / 2``; otherwise internal forces are
    assembled in every step. Loads are dead loads: constant directions, on the undeformed body.

    ``mass_scaling`` multiplies the masses of a cell by ``w^2 / W`` where that is above 1: ``w^2`` is the
    largest eigenvalue of the cell alone, with its stiffness at rest, and W that whose critical step is
    ``mass_scaling``, ``(2 / mass_scaling)^2`` without damping. No frequency of a body is above the largest of
    its cells (Irons and Treharne, 1971), and mostly all are below: ``critical_time_step()`` of the body with
    the added mass is often 1.1 to 1.3 times ``mass_scaling``. Deformation that stiffens or flattens cells
    lowers it later, as of any body. The added mass is inertia alone: momenta, energies, ``damping`` and
    ``ground_acceleration`` include it, while ``gravity``, ``density`` and ``total_mass`` do not (a free body
    falls slower by its share). A warning is logged where no mass is needed, and above 5 % of the body's; more
    than the body's own is an error.

    Args:
        mesh: The mesh; a :class:`~dolfinx_impact.mesh.NamedMesh` where parts are named.
        density: Mass per volume [kg/m3], positive; or a mapping from the cell names of all parts.
        law: The constitutive law; or a mapping from the cell names of all parts.
        degree: Degree of the Lagrange elements. Quadrilaterals and hexahedra have GLL points, from degree 2
            on with GLL quadrature; the masses of simplices from degree 2 on are lumped by HRZ.
        hypothesis: Kinematic hypothesis in 2D: ``"plane-strain"`` (default), ``"plane-stress"`` or
            ``"axisymmetric"``, with coordinates (r, z) and masses, forces and energies of the full
            revolution; constrain the axis by ``fixed={"axis": (0,)}``.
        cross_section: Cross-sectional area of a line mesh [m2], or thickness of a plane mesh [m];
            not in space or of a body of revolution.
        cells: Names of the cells of the body; all by default.
        gravity: Gravitational acceleration, one number per direction [m/s2].
        body_force: Force per volume, one number per direction [N/m3], or with a signal in time.
        traction: Force per area on named facets with one cell of the body [N/m2]: ``{"end": (0, 0, -1e5)}``,
            or with a signal in time ``{"end": ((0, 0, -1e5), signal)}``.
        ground_acceleration: ``(direction, signal)``: acceleration ``signal(t)`` [m/s2] of the ground along
            the direction, z on a body of revolution; displacements are relative to the ground. A
            :class:`.signals.Signal` in g is converted.
        fixed: Names of facets with zero displacement; a mapping selects the constrained directions of each,
            ``{"foot": (0, 2)}``.
        prescribed: Facets with prescribed displacement; see :class:`.Body`.
        damping: alpha of the damping force ``alpha M v`` [1/s].
        stiffness_damping: beta of the damping force ``beta dF_int/dt`` [s].
        bulk_viscosity: ``(b1, b2)`` of the mean stress ``rho l tr D (b1 c + b2^2 l |tr D|)``, the second
            term in compression only, with the element size l; Von Neumann and Richtmyer, J. Appl. Phys. 21
            (1950); common values are (0.06, 1.2).
        locking: How elements of degree 1 are kept from locking where a law is nearly incompressible:
            ``"mean-dilatation"`` for quadrilaterals and hexahedra, with one volume ratio for each cell (Simo,
            Taylor, Pister, CMAME 51 (1985)); ``"nodal-pressure"`` for triangles and tetrahedra, with one for
            each node and law (Bonet, Burton, Commun. Numer. Meth. Eng. 14 (1998)), for laws with a volumetric
            and an isochoric energy: ``MooneyRivlin``, ``NeoHookean(E, nu, isochoric=True)``,
            ``LinearElastic``, ``EnergyLaw(..., volumetric=...)``; or ``"none"``. By default every law that
            yields, and every nonlinear one whose Poisson's ratio at rest is 0.49 or more, gets the one of its
            elements, if it allows it. It needs a C compiler and an explicit scheme. Bending remains stiff.
        mass_scaling: Time step [s] that the body is to allow: the lumped masses of the cells that limit the
            step are raised until the critical step at rest, without bulk viscosity, is at least this one.
        start_temperature: Temperature of the whole body at the start [K], above 0, of metals whose yield
            stress depends on it: :class:`.JohnsonCook` with ``m``. By default each law has its own.

    Attributes:
        space: The vector-valued function space.
        x: Coordinates of the local nodes, shape (nodes, 3) [m].
        constrained: Mask of the constrained owned dofs, shape (owned,).
        linear: Whether all laws are linear.
        locking: How elements are kept from locking, None where they are not.
        displacement: The function that represents u in the forms.
        velocity: The function that represents v in the forms.
        total_mass: Mass of the body [kg], without that of mass scaling.
        law: The law, or the laws by name, with ``start_temperature``.
        mass_scaling: The time step of mass scaling [s], None without.
        added_mass: Mass added by mass scaling [kg].
        added_share: The same over ``total_mass``.
        scaled_cells: Number of cells with added mass, over all ranks.

    Raises:
        ValueError: Constants out of range, an unknown name, cells without material, inverted elements, a law
            with values that are not finite at rest, or that is not linear with ``linear=True``; ``locking``
            that does not suit elements or laws; ``mass_scaling`` that is not positive, or would more than
            double the mass; ``start_temperature`` that is not positive or not below a melting temperature,
            that a law contradicts, or that none depends on.
    """

    compiled, loop_solver = Continuum.compiled, Body.loop_solver

    def __init__(
        self,
        mesh: NamedMesh | dmesh.Mesh,
        *,
        density: float | Mapping[str, float],
        law: AnyLaw | Mapping[str, AnyLaw],
        degree: int = 1,
        hypothesis: str | None = None,
        cross_section: float = 1.0,
        cells: str | Sequence[str] | None = None,
        gravity: Sequence[float] | None = None,
        body_force: Traction | None = None,
        traction: Mapping[str, Traction] | None = None,
        ground_acceleration: tuple[Sequence[float], Signal] | None = None,
        fixed: Sequence[str] | Mapping[str, Sequence[int]] = (),
        prescribed: Mapping[str, Mapping[int, Signal]] | None = None,
        damping: float = 0.0,
        stiffness_damping: float = 0.0,
        bulk_viscosity: tuple[float, float] = (0.0, 0.0),
        locking: str | None = None,
        mass_scaling: float | None = None,
        start_temperature: float | None = None,
    ) -> None:
        for value in density.values() if isinstance(density, Mapping) else [density]:
            arguments.number("density", value, "be positive [kg/m3]", above=0.0)
        law = at_temperature(law, start_temperature)
        _refuse_cells(as_named(mesh).mesh.topology.cell_name())
        self.viscosity = viscosity.checked(bulk_viscosity)
        super().__init__(
            mesh,
            hypothesis=hypothesis,
            cross_section=cross_section,
            degree=degree,
            cells=cells,
            fixed=fixed,
            prescribed=prescribed,
            damping=damping,
            stiffness_damping=stiffness_damping,
        )
        refuse_inverted(self.mesh, self.cells)
        self.law, self.density, gdim = law, density, self.gdim
        self.materials = find_materials(self, law, density)
        if self.cells is None:  # its measure may stand in a form with theirs
            data = self.materials[0].dx.subdomain_data()
            self.dx = ufl.Measure("dx", domain=self.mesh, subdomain_data=data)
        self.linear = all(material.law.linear for material in self.materials)
        self._has_history = any(isinstance(material.law, HistoryLaw) for material in self.materials)
        if any(self.viscosity):
            for material in self.materials:
                viscosity.wave_modulus(material.law)
        self._ways = ways(self, locking)
        self.locking = next(filter(None, self._ways), None)
        self._take_linear_laws()
        if self.locking or not self.linear:
            self._check_at_rest()
        elif not self.energy_known:
            self._check_symmetry()
        masses = (fem.form(m.density * self._weight * m.alone) for m in self.materials)
        self.total_mass = parallel.total(self.comm, sum(map(fem.assemble_scalar, masses)))
        self._added = added_mass(self, mass_scaling)
        self.mass_scaling = None if mass_scaling is None else float(mass_scaling)
        self.added_mass, self.scaled_cells = self._added.mass, self._added.cells
        self.added_share = self.added_mass / self.total_mass
        self._take_accelerations(gravity, ground_acceleration)
        if body_force is not None:
            value, signal = _with_signal("body_force", body_force)
            force = vector("body_force", value, gdim)
            if force.any():
                self.loads.add(self._assemble_load([(force, self.dx)]), signal)
        for name, given in arguments.mapping("traction", traction or {}, "{'end': (0, 0, -1e5)}").items():
            value, signal = _with_signal(f"traction[{name!r}]", given)
            where = [(vector(f"traction[{name!r}]", value, gdim), self._facet_measure(name))]
            self.loads.add(self._assemble_load(where), signal)

        self._tell_of_units()

    def _tell_of_units(self) -> None:
        """Log a line where size or wave speed are unlikely in m, kg and s."""
        speed, found = self.wave_speed, []
        if self.length > _LARGE:
            found.append(f"an extent of {self.length:.4g} m")
        if speed is not None and speed < _SLOW:
            found.append(f"a wave speed of {speed:.3g} m/s")
        if found and self.comm.rank == 0:
            logger.info(
                "the body has %s: are its mesh in m, its density in kg/m3 and its moduli in Pa?",
                " and ".join(found),
            )

    @property
    def wave_speed(self) -> float | None:
        """Largest P-wave speed at rest [m/s]; None where a law does not define it."""
        return wave_speed(self.materials)

    # -- forces

    def _take_linear_laws(self) -> None:
        """Store what forces of linear laws need, with the coefficients of now. Collective."""
        self.rest = None
        materials = [] if self.own_forms else own_linear(self.materials)
        if materials:
            form, energy = internal_form(self, materials)
            rest = rest_state(self, form, energy)
            if self.linear:
                self.rest, self._stored = rest, StoredCoefficients([form])
                self.forces  # noqa: B018  those of now

    def reassemble(self) -> None:
        """Read the coefficients of linear laws anew: stiffness, forces at rest, critical step. Collective.

        Schemes go on as with :meth:`.FormSystem.reassemble`. Nonlinear laws read theirs at every evaluation.
        """
        self.revision += 1
        self._critical = None
        for name in ("stiffness", "forces") if self.linear else ():
            self.__dict__.pop(name, None)
        self._take_linear_laws()

    def _check_at_rest(self) -> None:
        """Raise a ValueError where a law is not finite for the undeformed body. Collective."""
        rest, forces = np.zeros(self.size), np.zeros(self.size)
        self.subtract_internal(rest, forces)
        energy = self.stored_energy(rest)
        error = None
        if not (np.all(np.isfinite(forces)) and math.isfinite(energy)):
            laws = ", ".join(repr(m.law) for m in self.materials)
            error = ValueError(f"a law gives values that are not finite for the undeformed body: {laws}")
        parallel.agree(self.comm, error)

    def _check_symmetry(self) -> None:
        """Raise a ValueError where the stiffness of a linear law is not symmetric. Collective."""
        waves = np.sin(self.x @ np.array([[7.0, 3.0], [5.0, 9.0], [4.0, 8.0]]) / self.length)
        signs = (1.0, -0.5) ** np.arange(self.block)[:, None]
        one, other = (np.outer(wave, sign).ravel() for wave, sign in zip(waves.T, signs.T))
        left, right = fem.Function(self.space), fem.Function(self.space)
        form = compile_form(ufl.action(ufl.action(self._stiffness_form(), left), right))

        def product(a: FloatArray, b: FloatArray) -> float:
            left.x.array[:], right.x.array[:] = a, b
            return parallel.total(self.comm, fem.assemble_scalar(form))

        products = [product(a, b) for a, b in ((one, other), (other, one), (one, one), (other, other))]
        if abs(products[0] - products[1]) > 1e-9 * (abs(products[2]) + abs(products[3])):
            raise ValueError(
                "the stress of a linear law is not the derivative of an energy, its stiffness is not "
                "symmetric: declare the law with linear=False"
            )

    @property
    def own_forms(self) -> bool:
        """Whether this is a class with forms of its own."""
        return _overrides(type(self), _FORMS)

    @property
    def history(self) -> History | None:
        """State of the material at the quadrature points, None where no law has history."""
        forces = self.forces if self._has_history else None  # others may never need theirs
        return forces.history if isinstance(forces, ElementForces) else None

    @property
    def own_masses(self) -> bool:
        """Whether this is a class with forces or lumped masses of its own."""
        return _overrides(type(self), _METHODS)

    def element_forces(self, space: fem.FunctionSpace) -> ElementForces | None:
        """See :meth:`.Body.element_forces`; None where DOLFINx assembles them, or K is stored. Collective."""
        if self.linear and not self.locking and (not self._at_nodes or self.dof_count < _MATRIX_FREE):
            return None
        if self.own_forms and self._has_history:
            raise ValueError(
                f"{type(self).__name__} has forms of its own, but laws with history have element kernels, "
                "which do not read them: take Solid, or a HistoryLaw of your own"
            )
        if self.own_forms:
            return None
        try:
            parts = [self._kernel_part(m, way) for m, way in zip(self.materials, self._ways)]
            return ElementForces(space, parts, self.cross_section)
        except (NotGenerated, NoCompiler) as reason:
            if self._has_history:
                raise ValueError(f"a law with history needs element kernels, but {reason}") from None
            if self.locking:
                raise ValueError(
                    f"locking={self.locking!r} needs element kernels of all laws, but {reason}; "
                    "otherwise take locking='none'"
                ) from None
            self._tell(reason)
        return None

    def _tell(self, reason: Exception) -> None:
        """Log why there are no element kernels."""
        if isinstance(reason, NotGenerated):
            logger.info("internal forces are assembled by DOLFINx: %s", reason)
        elif self.comm.rank == 0:
            logger.warning("internal forces are assembled by DOLFINx, which takes longer: %s", reason)

    def _kernel_part(self, m: Material, way: str | None) -> Part:
        # Beside elements that do not lock, or have history, linear laws have the quadrature of the others.
        linear = m.law.linear and not self.locking and not self._has_history
        element = element_of(self.space, self.degree, self.hypothesis, linear)
        return Part(element, m.law, self._by_stress(m.law), self.linear, m.cells, way)

    @property
    def _at_nodes(self) -> bool:
        """Whether the quadrature points of the internal forces are the nodes, which makes kernels fast."""
        return "quadrature_rule" in kinematics.quadrature(
            self.mesh, self.degree, self.hypothesis, self.linear
        )

    def _by_stress(self, law: Law) -> bool:
        # W is stationary with respect to the free stretches: the stress needs no derivative of these.
        thin = not law.linear and self.hypothesis in ("plane-stress", "line")
        return thin or not getattr(law, "has_energy", True)

    def plastic_work(self) -> float:
        """This rank's plastic work, or what other laws dissipated, up to the last forces [J]. Collective."""
        return self.forces.dissipated

    def _energy_form(self) -> Any:
        F = kinematics.deformation_gradient(self.displacement, self.hypothesis)
        return sum(self._weight * m.law.energy_density(F) * m.dx for m in self.materials)

    def _internal_form(self) -> Any:
        """Linear form ``F_int . w`` at :attr:`displacement`."""
        if self._has_history:
            raise ValueError(
                "the stiffness matrix of a body with history is not assembled: take an explicit scheme, for "
                "example CDLagrange"
            )
        if self.locking:
            raise ValueError(
                f"the stiffness matrix of a body with locking={self.locking!r}, the default of nonlinear "
                "laws with nu >= 0.49, is not assembled: take an explicit scheme, for example CDLagrange, or "
                "Solid(..., locking='none')"
            )
        if not any(self._by_stress(m.law) for m in self.materials):
            return ufl.derivative(self._energy_form(), self.displacement, self._w)
        F = kinematics.deformation_gradient(self.displacement, self.hypothesis)
        change = ufl.derivative(F, self.displacement, self._w)
        return sum(self._weight * ufl.inner(m.law.stress(F), change) * m.dx for m in self.materials)

    def _mass_form(self) -> Any:
        if self.mass_scaling is not None:
            raise ValueError(
                "mass_scaling is for lumped masses: take mass='lumped', or leave it out, since implicit "
                "schemes need no mass for a larger step"
            )
        u, w = ufl.TrialFunction(self.space), ufl.TestFunction(self.space)
        product = ufl.inner(u, w)
        return sum(m.density * self._weight * product * self._exact(m.dx) for m in self.materials)

    def _exact(self, dx: Any) -> Any:
        """The measure with exact quadrature instead of that of the forces."""
        return dx.reconstruct(metadata={})

    def _lump(self) -> FloatArray:
        parts = [
            mass_lumping.lump(self.space, m.density * self._weight, self._exact(m.alone), m.inside)
            for m in self.materials
        ]
        lumped: FloatArray = np.sum([*parts, self._added.nodal[: self.owned]], axis=0)
        return lumped

    def cell_masses(self) -> FloatArray:
        """See :meth:`.Body.cell_masses`."""
        parts = [
            mass_lumping.cell_masses(self.space, m.density * self._weight, self._exact(m.alone))
            for m in self.materials
        ]
        summed: FloatArray = np.sum(parts, axis=0)
        return summed

    @property
    def energy_known(self) -> bool:
        """See :attr:`.Continuum.energy_known`."""
        return all(getattr(m.law, "has_energy", True) for m in self.materials)

    @property
    def has_viscosity(self) -> bool:
        """Whether there is bulk viscosity."""
        return any(self.viscosity)

    def _viscous_form(self) -> Any:
        return viscosity.power(self, self._w, self.viscosity)

    def is_viscous(self, v: FloatArray | None) -> bool:
        """See :meth:`.Body.is_viscous`; the quadratic term has no tangent at rest."""
        b1, b2 = self.viscosity
        return b1 > 0 or (v is not None and b2 > 0)

    # -- loads

    def inertia(self, direction: Sequence[float] | FloatArray) -> FloatArray:
        """See :meth:`.Body.inertia`."""
        parts = [(m.density * np.asarray(direction), m.alone) for m in self.materials]
        return self._assemble_load(parts) + self._added_inertia(direction)

    def _weight_of(self, acceleration: Sequence[float] | FloatArray) -> FloatArray:
        """See :meth:`.Body._weight_of`."""
        return self.inertia(acceleration) - self._added_inertia(acceleration)

    def _added_inertia(self, direction: Sequence[float] | FloatArray) -> FloatArray:
        """The part of :meth:`inertia` of the mass added by mass scaling, shape (size,) [N s2/m]."""
        each = np.resize(np.asarray(direction, dtype=np.float64), self.size)
        return self._free_of_held(self._added.nodal * each)

    def _assemble_load(self, parts: Sequence[tuple[Any, Any]]) -> FloatArray:
        """Nodal forces of force densities over measures, shape (size,) [N]. Collective."""
        total = np.zeros(self.size)
        for density, measure in parts:
            load = fem.Constant(self.mesh, np.asarray(density, dtype=np.float64))
            part = fem.assemble_vector(fem.form(self._weight * ufl.inner(load, self._w) * measure))
            part.scatter_reverse(la.InsertMode.add)
            part.scatter_forward()
            total += part.array
        return self._free_of_held(total)


def _refuse_cells(kind: str) -> None:
    if kind not in ("interval", "triangle", "quadrilateral", "tetrahedron", "hexahedron"):
        raise ValueError(
            f"a Solid has triangles, quadrilaterals, tetrahedra or hexahedra, but the mesh has {kind} cells: "
            "mesh it anew, or give its forms to FormSystem"
        )


def _with_signal(name: str, given: Any) -> tuple[Any, Signal | None]:
    """A load and its signal, None for a constant load."""
    if isinstance(given, (tuple, list)) and len(given) == 2 and callable(given[1]):
        return given[0], checked_signal(name, given[1])
    return given, None


def _overrides(kind: type[Solid], names: Sequence[str]) -> bool:
    return any(getattr(kind, name) is not getattr(Solid, name) for name in names)
