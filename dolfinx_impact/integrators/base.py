"""Base class of schemes: ``start`` and ``step``, and the state between steps."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from dolfinx import fem

from .. import arguments, descriptions, parallel
from .._types import AnyArray, FloatArray, Int32Array
from ..algebra import kernels
from ..contact.base import Contact
from ..contact.contact_set import Contacts, as_contact
from ..contact.state import Impulses
from ..systems.system import System, system_and_parts
from .constants import scheme_constants
from .energy import EnergyBalance
from .impulses.contact_impulses import MovedImpulses
from .initial_values import Initial, initial_field
from .one_step.one_step_energy import TrapezoidalBalance
from .options import Option
from .requirements import refuse, refuse_friction_without_tangents, refuse_swept

#: An explicit step may exceed the critical one by the accuracy of the latter.
STEP_ROUNDING = 1e-6
#: Smallest step over the time of the start that the history of a material tells from none.
_RESOLVED = 1e-14


def revision(system: Any) -> int:
    """How often the stored matrices and masses of a system, or of those in it, were assembled anew."""
    return sum(getattr(each, "revision", 0) for each in system_and_parts(system))


def bodies_with_history(system: Any) -> list[Any]:
    """The system and those in it that have a material with history."""
    return [each for each in system_and_parts(system) if getattr(each, "history", None) is not None]


class UnstableTimeStep(RuntimeError):
    """The energy of a run has diverged, or values are not finite."""


class Integrator:
    """A scheme bound to a system, a time step and a contact.

    A user-defined scheme derives from this class, implements :meth:`begin` and :meth:`advance` and updates
    ``u``, ``v`` and ``r``; runs, records and the energies of :class:`.TrapezoidalBalance` are then available.

    Args:
        system: The system.
        dt: Time step [s], positive.
        contact: The contact, a list of contacts (stacked to one contact operator), or None.
        allow_unstable: Whether a step above :meth:`critical_step` is accepted; None for a scheme whose step
            has no such limit.

    Attributes:
        t: Time of ``u`` [s].
        n: Number of completed steps, -1 before :meth:`start`.
        u: Displacements at ``t``, shape (size,) [m]; owned entries first, ghosts are not updated.
        v: Velocities at the time :attr:`v_time` of the scheme, shape (size,) [m/s].
        r: Normal impulses of the last step, shape (points of this rank,) [N s].
        r_t: Tangential impulses of the last step on the body, shape (points of this rank, gdim) [N s];
            without friction shape (0,).
        has_friction: Whether the contact has friction: ``r_t`` has a row for each point.
        contact_state: The contact as it was when ``r`` was found; None without one.
        moved_impulses: Impulses of the contact at dofs with prescribed motion.
        beyond_limit: Whether ``dt`` is above the stability limit of the scheme.

    Raises:
        ValueError: A time step that is not positive, or above the critical one; a contact of another system.
    """

    #: Authors, journal, volume and year of the source; empty where a class does not say, as all facts below.
    paper = ""
    #: Numbers of the equations or the algorithm in the source.
    equations = ""
    #: Order of accuracy in time.
    order = ""
    #: Conserved quantities.
    conserves = ""
    #: Upper bound of the time step.
    step_limit = ""
    #: Whether a step needs no linear system, only the lumped mass.
    explicit = True
    #: Where contact is enforced: ``"velocity"``, ``"position"``, ``"position and velocity"``, ``"penalty"``,
    #: ``"none"``, or ``"own"``, of which nothing is claimed.
    contact_level = "own"
    #: Whether it integrates two subdomains of a body, not one system.
    divided = False
    #: Whether nothing has mass, as in statics: there is no impact.
    static = False
    #: Parameters on the command line, by name: of the constructor, and those of the contact that it fixes.
    options: Mapping[str, Option] = MappingProxyType({})
    #: Time step over the critical one in benchmark cases that give such a part; None for theirs.
    courant: float | None = None
    #: ``v`` is at ``t + v_shift * dt``.
    v_shift = 0.0
    #: The impulse of a step enters the balance of forces at ``t + r_shift * dt``.
    r_shift = 0.0
    #: Names of further attributes of shape (points of this rank,) that a run records.
    point_records: tuple[str, ...] = ()
    #: Time beyond ``t`` up to which prescribed motions are evaluated [s].
    look_ahead = 0.0
    #: Time steps of the scheme in one :meth:`step`.
    substeps = 1
    #: Attributes other than ``t`` that the next step depends on: ``"r"``, ``"r_t"`` and
    #: :attr:`point_records` at contact points, numbers, arrays over dofs; empty if not declared.
    state_names: tuple[str, ...] = ()
    #: Mass matrix of the scheme, ``"lumped"`` or ``"consistent"``.
    mass = "lumped"
    #: The contact law in discrete time; None for schemes that keep none.
    enforcement: Any = None
    #: What makes steps in parts where they fail at once, and counts them; None for schemes of whole steps.
    halved: Any = None
    #: The class of that law, where a class of schemes has one alone.
    law: Any = None
    #: What systems and contacts may not have, some of :data:`.requirements.NAMES`: refused in words.
    excludes: tuple[str, ...] = ()
    #: Conditions of what is taken, by the features of :mod:`.integrators.features`.
    remarks: Mapping[str, str] = MappingProxyType({})
    #: Whether the paths of features within a step are tested, as contacts with ``swept=True`` ask.
    sweeps = False
    #: Sum of the normal impulses of features in the last step, the same on all ranks [N s].
    r_features: float = 0.0
    #: Whether materials with history are allowed: the last forces of a step are those at its end.
    follows_history = False

    def __init__(
        self, system: System, dt: float, contact: Contacts = None, *, allow_unstable: bool | None = None
    ) -> None:
        arguments.system(system)
        dt = arguments.time_step(dt)
        contact = as_contact(contact)
        if isinstance(contact, Contact) and not contact.belongs_to(system):
            raise ValueError(
                f"the {type(contact).__name__} was made for another system than the one that is integrated: "
                "create it for that"
            )
        self._histories = [body.history for body in bodies_with_history(system)]
        if self._histories and not self.follows_history:
            raise ValueError(
                f"{arguments.a(type(self).__name__)} does not follow the history of a material: take an "
                "explicit scheme, for example CDLagrange; a class declares follows_history = True where the "
                "last forces of a step are those at its end"
            )
        refuse(self.excludes, arguments.a(type(self).__name__), system=system, contact=contact)
        if isinstance(contact, Contact):
            if not self.sweeps:
                refuse_swept(contact, arguments.a(type(self).__name__))
            contact.take()
            refuse_friction_without_tangents(contact)
        self.system, self.dt, self.contact = system, dt, contact
        if contact is not None:
            contact.nodes.used_by(self)
        self.t0, self.n, self.beyond_limit = 0.0, -1, False
        self._has_impulses, self._acting = False, True
        self.u, self.v = np.zeros(system.size), np.zeros(system.size)
        self._revision = revision(system)
        self._functions: dict[str, fem.Function] = {}
        self.r = np.zeros(contact.count if contact else 0)
        self.has_friction = contact is not None and contact.friction > 0
        self.r_t = np.zeros((contact.count, contact.L.components) if contact and self.has_friction else 0)
        self.contact_state: Any = None if contact is None else contact.now(0.0)
        self.moved_impulses = MovedImpulses(system, contact)
        if allow_unstable is not None:
            self._check_step(allow_unstable)

    def _check_step(self, allow_unstable: bool) -> None:
        """Raise a ValueError for a step above the critical one, unless that is allowed. Collective."""
        critical = self.critical_step(self.system)
        self.beyond_limit = self.dt > (1 + STEP_ROUNDING) * critical
        if self.beyond_limit and not allow_unstable:
            raise ValueError(
                f"the time step {self.dt:.6g} s is above the critical one, {critical:.6g} s: take a smaller "
                "one, or allow it (allow_unstable=True, --allow-unstable) to see the run explode"
            )

    def __repr__(self) -> str:
        return descriptions.of_integrator(self)

    def __str__(self) -> str:
        return descriptions.of_all(self)

    @property
    def body(self) -> System:
        """The system given by the user: :attr:`system`, or the one that it contains."""
        return self.system

    @property
    def explicit_part(self) -> Integrator:
        """The scheme whose step the critical one limits: this one, or that of a subdomain."""
        return self

    def of_contact(self, x: FloatArray) -> FloatArray:
        """The entries of an array over the dofs that belong to the system of the contact, ghosts last."""
        return x

    @property
    def t(self) -> float:
        """Time of ``u`` [s], ``t0 + n dt`` without accumulated round-off."""
        return self.t0 + max(self.n, 0) * self.dt

    @property
    def v_time(self) -> float:
        """Time of ``v`` [s]."""
        return self.t + self.v_shift * self.dt

    @property
    def v_mean(self) -> FloatArray:
        """Velocities at ``t``, shape (size,) [m/s]."""
        return self.v

    @property
    def fine_records(self) -> dict[str, FloatArray]:
        """Records of the time steps within one :meth:`step`, by name, shape (substeps, p) each."""
        return {}

    @property
    def impulses(self) -> Impulses:
        """Impulses of the last step, with the contact."""
        impulses = self.impulses_of(self.r, self.r_t)
        impulses.acting = self._acting or self.n == 0  # at the start, those of an impact too
        return impulses

    def impulses_of(self, r: FloatArray, r_t: FloatArray, swept: FloatArray | None = None) -> Impulses:
        """Impulses shaped as :attr:`r` and :attr:`r_t`, with the contact of the last step.

        Args:
            r, r_t: Normal and tangential impulses [N s].
            swept: See :class:`.Impulses`.
        """
        return Impulses(self.contact_state, r, r_t if self.has_friction else None, swept=swept)

    def set_impulses(self, impulses: Impulses) -> None:
        """Keep the impulses of the step with their state: ``r``, ``r_t`` and ``contact_state``.

        The contact is not asked for another state in this step after it.
        """
        self.contact_state, self._has_impulses, self._acting = impulses.state, True, impulses.acting
        self.r[:] = impulses.r if impulses.acting else 0.0
        if self.has_friction:
            self.r_t[:] = 0.0 if impulses.r_t is None or not impulses.acting else impulses.r_t

    def v_mean_at(self, dofs: Int32Array) -> FloatArray:
        """Velocities at ``t`` of the given local dofs, with the shape of ``dofs`` [m/s]."""
        return self.v[dofs]

    def gap(self) -> FloatArray:
        """Gap at ``u``, shape (points of this rank,) [m]."""
        if self.contact is None:
            return np.zeros(0)
        return self.contact.gap_on_all_ranks(self.u, self.t)

    def start(self, u0: Initial, v0: Initial, t0: float = 0.0, *, allow_penetration: bool = False) -> None:
        """Set the initial state. Collective.

        Args:
            u0: Displacements at ``t0`` [m]: 0; any number in one dimension and for point masses; a vector,
                shape (gdim,), the same at all nodes (rotations of frames and rigid bodies are zero); a value
                per dof, shape (size,), (owned,) or (nodes, block size); a ``fem.Function`` on the space of
                the body; a function of x, shape (3, n) [m], that returns shape (gdim, n).
            v0: Velocities at ``t0`` [m/s], likewise.
            t0: Initial time [s].
            allow_penetration: Accept contact points with ``g(u0) < 0``; contact at position level removes the
                penetration within one step.

        Raises:
            ValueError: Anything else, on all ranks; values that are not finite; penetration at ``u0``.
        """
        u, v, contact = self._field("u0", u0), self._field("v0", v0), self.contact
        t0 = arguments.number("t0", t0, "be a finite time [s]")
        if self._histories and self.dt < _RESOLVED * abs(t0):
            raise ValueError(
                f"at t0 = {t0:.6g} s a time step of {self.dt:.6g} s is lost in the round-off of times, but "
                "the material has a history: start nearer to t = 0"
            )
        if contact is not None:
            at, speeds = self.of_contact(u), self.of_contact(v)
            self._start_contact(contact, at, t0)
            self.contact_state = contact.now(t0)
            for each in contact.members:
                if not (allow_penetration or each.allow_penetration):
                    each.refuse_penetration(at, t0)
                each.warn_of_long_steps(at, speeds, self.dt / self.substeps, t0)
        if self.system.prescribed.any:
            self._warn_of_moved(u, t0)
        self.t0, self.n, self._acting = t0, 0, True
        self.u[:], self.v[:] = u, v
        self.r[:], self.r_t[:] = 0.0, 0.0
        for history in self._histories:
            history.start(t0, self)
        self.begin()
        self.accept_material()
        if contact is not None:
            self._accept_contact(contact)

    def _start_contact(self, contact: Contact, u: FloatArray, t: float) -> None:
        """Begin contact at ``u``; its members may have stood in the list of another scheme. Collective."""
        for each in contact.members:
            each.respect(contact.members)
        contact.start(u, t)

    def _accept_contact(self, contact: Contact) -> None:
        """Tell the contact the state that holds now. Collective."""
        if self.contact_state.outdated:  # begin() or advance() asked the contact and kept no state
            if self._has_impulses:
                raise RuntimeError(
                    f"{type(self).__name__}.advance() asks the contact for another state after "
                    "set_impulses(): the rows of L are those of that one, not of the impulses; ask before it"
                )
            self.contact_state = contact.now(self.t)
        contact.accept(self.contact_state)

    def accept_material(self) -> None:
        """Take the states of materials at the last forces: at the end of a step, and of each substep."""
        for history in self._histories:
            history.accept()

    def _warn_of_moved(self, u: FloatArray, t0: float) -> None:
        """Warn where prescribed motions do not begin at the initial displacements. Collective."""
        moved, comm = self.system.prescribed, self.system.comm
        apart = parallel.largest(comm, np.abs(moved(t0) - u[moved.dofs]))
        if apart > 1e-9 * self.system.length and comm.rank == 0:
            kernels.logger.warning(
                f"prescribed motions begin at t0 = {t0:.6g} s up to {apart:.3g} m from u0 there: these nodes "
                "are put where the motions are, which strains the cells beside them; give u0 that fits, or "
                "motions that begin at u0"
            )

    def step(self) -> None:
        """Advance from ``t`` to ``t + dt``. Collective.

        Raises:
            RuntimeError: Called before :meth:`start`.
        """
        if self.n < 0:
            raise RuntimeError("call start(u0, v0) before step()")
        if self.outdated:
            self.renew()
        for history in self._histories:
            history.refuse_other(self)
        self.n, self._has_impulses, self._acting = self.n + 1, False, True
        self.advance()
        self.accept_material()
        for history in self._histories:
            history.refuse_behind(self.t)
        if self.contact is not None:
            self._accept_contact(self.contact)
            self.contact.agree_on_failure()

    def state(self) -> dict[str, AnyArray]:
        """Copies of all variables that the next step depends on, rank-local.

        Raises:
            ValueError: A scheme that does not declare its state.
        """
        self.state_places()
        arrays = {name: np.array(getattr(self, name)) for name in self.state_names}
        past = {} if self.contact is None else self.contact.past()
        # Rows and sides as of the last step, which nobody else has changed.
        if past and self.contact is not None and self.contact.remembers:
            self.contact_state.present()
        arrays |= {f"contact.{name}": values for name, values in past.items()} | self._of_material()
        return {"t0": np.array(self.t0), "n": np.array(self.n), "dt": np.array(self.dt), **arrays}

    def state_places(self) -> dict[str, str]:
        """Parallel layout of each entry of :meth:`state`.

        One of ``"dofs"``, ``"points"``, ``"pairs"``, ``"number"`` and, for the state of a material, its own
        name; without friction ``r_t`` is not stored.

        Raises:
            ValueError: A scheme that does not declare its state.
        """
        if not self.state_names:
            raise ValueError(
                f"a {type(self).__name__} cannot be stopped and resumed: its class has no state_names, the "
                "arrays that its next step depends on"
            )
        at_points = (
            "r",
            "r_t",
            "r_start",
            "r_t_start",
            "r_position",
            "r_t_position",
            "gap_start",
            *self.point_records,
        )
        places = dict.fromkeys(("t0", "n", "dt"), "number")
        for name in self.state_names:
            value = getattr(self, name)
            if np.ndim(value) == 0:
                places[name] = "number"
            elif name not in at_points:
                places[name] = "dofs"
            elif self.contact is not None and (not name.startswith("r_t") or self.has_friction):
                places[name] = "points"
        past = {} if self.contact is None else self.contact.past()
        places |= {f"contact.{name}": "points" for name in past}
        return places | {name: name for name in self._of_material()}

    def _of_material(self) -> dict[str, AnyArray]:
        """States of materials with history, by name."""
        return {
            f"material.{i}.{name}": values
            for i, history in enumerate(self._histories)
            for name, values in history.state().items()
        }

    def resume(self, state: Mapping[str, AnyArray]) -> None:
        """Restore a :meth:`state`, instead of :meth:`start`. Collective.

        Raises:
            ValueError: A state of another scheme, system or number of ranks; nothing is changed then.
        """
        self.check_state(state)
        self.t0, self.n, self._acting = float(state["t0"]), int(state["n"]), True
        for name in self.state_names:
            if np.ndim(getattr(self, name)) == 0:
                setattr(self, name, float(state[name]))
            else:
                getattr(self, name)[...] = state[name]
        for i, history in enumerate(self._histories):
            start = f"material.{i}."
            parts = {name.removeprefix(start): state[name] for name in state if name.startswith(start)}
            history.resume(parts, self.t, self)
        if self.contact is not None:
            self._start_contact(self.contact, self.of_contact(self.u), self.t)
            past = [name for name in state if name.startswith("contact.")]
            self.contact.resume({name.removeprefix("contact."): state[name] for name in past})
            self.contact_state = self.contact.now(self.t)

    def check_state(self, state: Mapping[str, AnyArray]) -> None:
        """Raise a ValueError on all ranks unless names, shapes and time step of ``state`` fit. Collective."""
        error = None
        lacking = [name for name in ("t0", "n", "dt") if name not in state]
        if lacking:
            error = ValueError(f"this is no state of a run: it has no {lacking[0]}")
        elif abs(float(state["dt"]) / self.dt - 1) > 1e-9:
            error = ValueError(f"the state has time step {state['dt']} s, this run {self.dt} s: give that")
        shapes = {name: np.shape(getattr(self, name)) for name in self.state_names}
        past = {} if self.contact is None else self.contact.past()
        shapes |= {f"contact.{name}": values.shape for name, values in past.items()}
        shapes |= {name: values.shape for name, values in self._of_material().items()}
        for name, needed in shapes.items():
            shape = np.shape(state[name]) if name in state else None
            if shape != needed:
                error = ValueError(f"this is no state of the run: {name} has shape {shape}, not {needed}")
        parallel.agree(self.system.comm, error)

    def add_nodal_impulses(self, out: FloatArray) -> None:
        """Add the contact impulses of the last step at the dofs of ``contact.nodes.loaded``, each with its L.

        Collective.

        Args:
            out: Updated, shape (n, k) [N s].
        """
        if self.contact is not None and (impulses := self.impulses).acting:
            self.contact.nodes.add_impulses(impulses, out)

    def contact_work(self, v: FloatArray, impulses: Impulses | None = None) -> float:
        """Work of impulses, by default those of the last step, with the velocities ``v`` [m/s]; see there.

        The share of this rank [J]; 0 without contact.
        """
        return (self.impulses if impulses is None else impulses).work(self.of_contact(v))

    @property
    def outdated(self) -> bool:
        """Whether the system was assembled anew since the scheme has taken its matrices and masses."""
        return revision(self.system) != self._revision

    def renew(self) -> None:
        """Take the matrices and masses of a system that was assembled anew. Collective.

        Raises:
            RuntimeError: A scheme that keeps factors or copies of them.
        """
        raise RuntimeError(
            f"the system was reassembled: make the {type(self).__name__} anew and go "
            "on by new.resume(old.state()); SurfaceContact anew before"
        )

    @property
    def u_function(self) -> fem.Function:
        """Displacements at ``t`` as a Function of the body's space [m], one object, updated when read."""
        return self._function("u", self.u)

    @property
    def v_function(self) -> fem.Function:
        """Velocities at ``t``, :attr:`v_mean`, likewise, updated when read [m/s]. Collective."""
        return self._function("v", self.v_mean)

    def _function(self, name: str, values: FloatArray) -> fem.Function:
        space = getattr(self.body, "space", None)
        if space is None:
            raise ValueError(f"a {type(self.body).__name__} has no function space: read scheme.{name}")
        if name not in self._functions:
            self._functions[name] = fem.Function(space, name=name)
        function, n = self._functions[name], self.system.owned
        function.x.array[:n] = values[:n]
        function.x.scatter_forward()
        return function

    def begin(self) -> None:
        """Prepare the first step from ``u`` and ``v`` at ``t0``."""

    def advance(self) -> None:
        """Advance ``u``, ``v`` and ``r`` by one step; :attr:`t` is the end of the step already."""
        raise NotImplementedError(f"{type(self).__name__} has no advance(): it defines a step")

    @classmethod
    def critical_ratio(cls, system: System) -> float:
        """Critical time step of an explicit scheme over that of central differences."""
        return 1.0

    @classmethod
    def critical_step(cls, system: System, **state: Any) -> float:
        """Largest stable time step of an explicit scheme on a system [s]. Collective.

        Args:
            system: The system.
            state: Displacements ``u`` and more, as ``system.critical_time_step`` takes them.
        """
        return cls.critical_ratio(system) * system.critical_time_step(**state)

    def reactions(self) -> FloatArray:
        """Forces that make the dofs with prescribed motion move, against contact too, shape (k,) [N].

        Those at ``t`` or means over the last step, as the scheme says, at ``system.prescribed.dofs``. Their
        work is in ``external``. Collective.
        """
        raise NotImplementedError(f"{type(self).__name__} has no reactions(): forces of prescribed motions")

    def balance(self) -> EnergyBalance:
        """The discrete energy balance of the scheme, not started."""
        return TrapezoidalBalance(self)

    def parameters(self) -> dict[str, bool | int | float | str]:
        """Constants of the scheme: a checkpoint is resumed only by a scheme with the same ones.

        Numbers and words among the attributes that have the names of the constructor's arguments (a leading
        underscore aside), and in a user-defined class those that the class declares. A class whose constants
        have other names overrides this.

        Raises:
            ValueError: An argument of a user-defined constructor that no attribute has the name of.
        """
        return scheme_constants(self, Integrator)

    def prefer_compiled(self, compiled: bool | None) -> None:
        """Choose between compiled and Python loops inside a step; without effect for schemes without them.

        Args:
            compiled: Whether to use compiled loops; None: where possible.
        """

    def _field(self, name: str, value: Initial) -> FloatArray:
        """Values of all dofs, shape (size,); an error of one rank is raised on all. Collective."""
        field: FloatArray = np.zeros(0)
        error = None
        try:
            field = self._read_field(name, value)
        except ValueError as caught:
            error = caught
        parallel.agree(self.system.comm, error)
        return field

    def _read_field(self, name: str, value: Initial) -> FloatArray:
        """Values of all dofs, shape (size,); errors are raised on this rank only."""
        return initial_field(self.system, name, value)
