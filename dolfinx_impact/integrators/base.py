"""What every scheme offers: ``start`` and ``step``, and the state between them."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Mapping

import numpy as np
from numpy.typing import NDArray

from .. import arguments, descriptions, parallel
from ..algebra import kernels
from ..algebra.operators import Rows
from ..contact.base import Contact, refuse_penetration
from ..contact.contact_set import Contacts, as_contact
from ..systems.system import System
from .constants import scheme_constants
from .energy import Balance, TrapezoidalBalance
from .initial_values import Initial, initial_field
from .options import Option
from .step_buffer import CompiledLoop


class UnstableTimeStep(RuntimeError):
    """The energy of a run exploded, or its values are no longer finite."""


class Integrator:
    """A scheme bound to a system, a step and a contact.

    A scheme of your own derives from this class, writes :meth:`begin` and :meth:`advance`
    and keeps ``u``, ``v`` and ``r``; everything else (loop, records, energies of the
    trapezoidal form) then works.

    Args:
        system: The system.
        dt: Time step [s], positive.
        contact: The contact, a list of contacts (one system of rows), or None.

    Attributes:
        t: Time of ``u`` [s].
        n: Number of steps made.
        u: Displacements at ``t``, shape (size,) [m]; owned entries first, ghosts not fresh.
        v: Velocities at the scheme's own time :attr:`v_time`, shape (size,) [m/s].
        r: Normal impulses of the last step, shape (points of this rank,) [N s].
        r_t: Tangential impulses of the last step on the body, shape (points of this rank, gdim)
            [N s]; without friction shape (0,).
        beyond_limit: Whether ``dt`` is above the scheme's stability limit.

    Raises:
        ValueError: A step that is not positive.
    """

    #: Source: authors, journal, volume, year; empty where a class does not say, as all facts below.
    paper = ""
    #: Numbers of the equations or the algorithm in the source.
    equations = ""
    #: Order of accuracy in time.
    order = ""
    #: Conserved quantities.
    conserves = ""
    #: Bound of the time step.
    step_limit = ""
    #: Whether a step needs no linear system, only the lumped mass.
    explicit = True
    #: Where contact is enforced: ``"velocity"``, ``"position"``, ``"position and velocity"``, ``"penalty"``,
    #: ``"none"``, or ``"own"``, of which nothing is claimed.
    contact_level = "own"
    #: Whether it integrates two subdomains of a body, not one system.
    divided = False
    #: Parameters on the command line, by name: of the constructor, and those of the contact that it fixes.
    options: Mapping[str, Option] = MappingProxyType({})
    #: ``v`` is at ``t + v_shift * dt``.
    v_shift = 0.0
    #: The impulse of a step stands in the balance of forces at ``t + r_shift * dt``.
    r_shift = 0.0
    #: Names of further attributes of shape (points of this rank,) that a run records.
    point_records: tuple[str, ...] = ()
    #: How far beyond ``t`` prescribed motions must be known [s].
    look_ahead = 0.0
    #: Time steps of the scheme in one :meth:`step`.
    substeps = 1
    #: Attributes that the next step depends on, besides ``t``: ``"r"``, ``"r_t"`` and
    #: :attr:`point_records` at points, numbers, arrays over dofs; empty where a scheme does not say.
    state_names: tuple[str, ...] = ()
    #: The mass matrix of the scheme's momentum, ``"lumped"`` or ``"consistent"``.
    mass = "lumped"
    #: The contact law in discrete time; None for schemes that keep none.
    enforcement: Any = None

    def __init__(self, system: System, dt: float, contact: Contacts = None) -> None:
        arguments.system(system)
        dt = arguments.time_step(dt)
        contact = as_contact(contact)
        if isinstance(contact, Contact) and not contact.belongs_to(system):
            raise ValueError(
                f"the {type(contact).__name__} was made for another system than the one that is integrated: "
                "make it from that"
            )
        self.system, self.dt, self.contact = system, dt, contact
        self.t0, self.n, self.beyond_limit = 0.0, -1, False
        self.u, self.v = np.zeros(system.size), np.zeros(system.size)
        self.r = np.zeros(contact.count if contact else 0)
        rubs = contact is not None and contact.friction > 0
        self.r_t = np.zeros(contact.rows.dofs.shape if contact and rubs else 0)

    def __repr__(self) -> str:
        return descriptions.of_integrator(self)

    def __str__(self) -> str:
        return descriptions.of_all(self)

    @property
    def body(self) -> System:
        """The system that the scheme was made for: :attr:`system`, or what that contains."""
        return self.system

    @property
    def t(self) -> float:
        """Time of ``u`` [s], free of the sum's rounding."""
        return self.t0 + max(self.n, 0) * self.dt

    @property
    def v_time(self) -> float:
        """Time of ``v`` [s]."""
        return self.t + self.v_shift * self.dt

    @property
    def contact_time(self) -> float:
        """Time at which contact at velocity level looks at the gap: ``t`` [s]."""
        return self.t

    @property
    def v_mean(self) -> NDArray:
        """Velocities at ``t``, shape (size,) [m/s]."""
        return self.v

    @property
    def fine_records(self) -> dict[str, NDArray]:
        """What a run keeps of the time steps within one :meth:`step`, by name, shape (substeps, p) each."""
        return {}

    def v_mean_at(self, dofs: NDArray) -> NDArray:
        """Velocities at ``t`` of some dofs [m/s]."""
        return self.v[dofs]

    def gap(self) -> NDArray:
        """Gap at ``u``, shape (points of this rank,) [m]."""
        if self.contact is None:
            return np.zeros(0)
        self.contact.time = self.t
        return self.contact.gap(self.u)

    def start(self, u0: Initial, v0: Initial, t0: float = 0.0, *, allow_penetration: bool = False) -> None:
        """Set the state at ``t0``. Collective.

        Args:
            u0: Displacements at ``t0`` [m]: 0; on a line and for point masses any number; a vector of one
                number a direction of space (a frame's rotations are then zero, a rigid body's angle too); one
                number a dof, shape (size,), (owned,) or (nodes, dofs of a node); a ``fem.Function`` of the
                body's space; a function of x, shape (3, n) [m], that gives shape (gdim, n).
            v0: Velocities at ``t0`` [m/s], likewise.
            t0: Time [s].
            allow_penetration: Accept contact points that lie inside of the other side at ``u0``; contact at
                position level throws them out within one step.

        Raises:
            ValueError: Anything else, on all ranks; values that are not finite; contact points inside of the
                other side at ``u0``.
        """
        u, v, contact = self._field("u0", u0), self._field("v0", v0), self.contact
        t0 = arguments.number("t0", t0, "be a finite time [s]")
        if contact is not None:
            contact.start(u, t0)
            if not (allow_penetration or contact.allow_penetration):
                refuse_penetration(contact, contact.gap(u), contact.places(u), "contact points")
            contact.warn_of_long_steps(u, v, self.dt / self.substeps)
        self.t0, self.n = t0, 0
        self.u[:], self.v[:] = u, v
        self.r[:], self.r_t[:] = 0.0, 0.0
        self.begin()
        if contact is not None:
            contact.keep()

    def step(self) -> None:
        """Go from ``t`` to ``t + dt``. Collective.

        Raises:
            RuntimeError: Before :meth:`start`.
        """
        if self.n < 0:
            raise RuntimeError("call start(u0, v0) before step()")
        self.n += 1
        self.advance()
        if self.contact is not None:
            self.contact.keep()
            self.contact.agree_on_failure()

    def state(self) -> dict[str, NDArray]:
        """Copies of all that the next step depends on, this rank's part.

        Raises:
            ValueError: A scheme that does not name it.
        """
        self.state_places()
        kept = {name: np.array(getattr(self, name)) for name in self.state_names}
        past = {} if self.contact is None else self.contact.past()
        kept |= {f"contact.{name}": values for name, values in past.items()}
        return {"t0": np.array(self.t0), "n": np.array(self.n), "dt": np.array(self.dt), **kept}

    def state_places(self) -> dict[str, str]:
        """What each entry of :meth:`state` lies on: ``"dofs"``, ``"points"``, ``"pairs"`` or ``"number"``.

        Without friction there is no ``r_t`` to keep.

        Raises:
            ValueError: A scheme that does not name its state.
        """
        if not self.state_names:
            raise ValueError(
                f"a {type(self).__name__} cannot be stopped and resumed: its class has no state_names, the "
                "arrays that its next step depends on"
            )
        at_points = ("r", "r_t", "r_start", "r_t_start", *self.point_records)
        places = dict.fromkeys(("t0", "n", "dt"), "number")
        for name in self.state_names:
            value = getattr(self, name)
            if np.ndim(value) == 0:
                places[name] = "number"
            elif name not in at_points:
                places[name] = "dofs"
            elif self.contact is not None and (not name.startswith("r_t") or self.r_t.ndim == 2):
                places[name] = "points"
        past = {} if self.contact is None else self.contact.past()
        return places | {f"contact.{name}": "points" for name in past}

    def resume(self, state: Mapping[str, NDArray]) -> None:
        """Go on from a :meth:`state`, in place of :meth:`start`. Collective.

        Raises:
            ValueError: A state of another scheme, system or number of ranks; nothing has changed then.
        """
        self.check_state(state)
        self.t0, self.n = float(state["t0"]), int(state["n"])
        for name in self.state_names:
            if np.ndim(getattr(self, name)) == 0:
                setattr(self, name, float(state[name]))
            else:
                getattr(self, name)[...] = state[name]
        if self.contact is not None:
            self.contact.start(self.u, self.t)
            past = [name for name in state if name.startswith("contact.")]
            self.contact.resume({name.removeprefix("contact."): state[name] for name in past})

    def check_state(self, state: Mapping[str, NDArray]) -> None:
        """Raise a ValueError on all ranks unless ``state`` is one of this run. Collective."""
        error = None
        lacking = [name for name in ("t0", "n", "dt") if name not in state]
        if lacking:
            error = ValueError(f"this is no state of a run: it has no {lacking[0]}")
        elif abs(float(state["dt"]) / self.dt - 1) > 1e-9:
            error = ValueError(f"the state has time step {state['dt']} s, this run {self.dt} s: give that")
        mine = {name: np.shape(getattr(self, name)) for name in self.state_names}
        past = {} if self.contact is None else self.contact.past()
        mine |= {f"contact.{name}": values.shape for name, values in past.items()}
        for name, needed in mine.items():
            there = np.shape(state[name]) if name in state else None
            if there != needed:
                error = ValueError(f"this is no state of the run: {name} has shape {there}, not {needed}")
        parallel.agree(self.system.comm, error)

    def contact_work(self, v: NDArray, r: NDArray | None = None, r_t: NDArray | None = None) -> float:
        """``r.L v + r_t.v`` over the points of this rank, L that of the last step [J].

        Args:
            v: Velocities [m/s].
            r, r_t: Impulses [N s]; by default those of the last step.
        """
        r, r_t = self.r if r is None else r, self.r_t if r_t is None else r_t
        if self.contact is None or not (r.any() or self.contact.rows.collective):
            return 0.0
        work = float(kernels.load().dot(r, self.contact.rows(v)))
        return work + float(np.sum(r_t * v[self.contact.rows.dofs])) if r_t.size else work

    def begin(self) -> None:
        """Prepare the first step from ``u`` and ``v`` at ``t0``."""

    def advance(self) -> None:
        """Make one step; :attr:`t` is its end already."""
        raise NotImplementedError(f"{type(self).__name__} has no advance(): it says what a step does")

    def balance(self) -> Balance:
        """The energy balance that belongs to the scheme."""
        return TrapezoidalBalance(self)

    def parameters(self) -> dict[str, bool | int | float | str]:
        """Constants of the scheme: a checkpoint is resumed only by a scheme with the same ones.

        Numbers and words among the attributes that have the names of the constructor's arguments (a leading
        underscore aside), and in a user-defined class those that the class declares. A class whose constants
        have other names overrides this.

        Raises:
            ValueError: An argument of a user-defined constructor that is kept under no such name.
        """
        return scheme_constants(self, Integrator)

    def compiled_loop(self, rows: Rows, balance: Balance | None) -> CompiledLoop | str:
        """A loop that makes many steps at once, or the reason why there is none.

        A scheme with such a loop overrides this; here there is none.

        Args:
            rows: What is recorded of ``u`` and ``v``.
            balance: What follows the energies, or None; started before the loop makes its first step.
        """
        return f"{type(self).__name__} makes its steps one by one"

    def prefer_compiled(self, compiled: bool | None) -> None:
        """Choose between compiled and plain loops inside a step; without effect where there are none.

        Args:
            compiled: Whether to use them; None: where possible.
        """

    def _field(self, name: str, value: Initial) -> NDArray:
        """Values of all dofs, shape (size,). Collective."""
        found: NDArray = np.zeros(0)
        error = None
        try:
            found = self._read_field(name, value)
        except ValueError as caught:
            error = caught
        parallel.agree(self.system.comm, error)
        return found

    def _read_field(self, name: str, value: Initial) -> NDArray:
        """What :meth:`_field` gives; an error may be that of this rank alone."""
        return initial_field(self.system, name, value)
