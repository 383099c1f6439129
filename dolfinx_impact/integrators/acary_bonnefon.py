"""Combined scheme of Acary and Bonnefon: contact at position and velocity level."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .. import arguments, parallel
from .._types import BoolArray, FloatArray
from ..algebra import complementarity
from ..contact.base import Contact
from ..contact.contact_set import Contacts
from ..contact.state import Impulses
from ..systems.system import System
from .base import Integrator
from .energy import EnergyBalance
from .one_step.one_step_energy import TrapezoidalBalance
from .options import CONSISTENT, FORECAST, TOUCHING
from .requirements import OF_CONTACT, UNSTEADY


class AcaryBonnefon(Integrator):
    """The combined scheme: Newton's law for the velocity and no penetration at once. Implicit.

    Acary and Bonnefon, ENOC 2011 (HAL inria-00609885), (6), with theta = 1/2; both at the end of a step::

        M (v' - v) = h/2 [F(u) + F(u')] + L^T P
        u' = u + h/2 (v + v') + L^T tau
        0 <= g(u')  _|_  tau >= 0                    at every point
        0 <= L (v' + e v)  _|_  P >= 0               where g(u + forecast h v) <= tolerance

    with the impulse P [N s] and the multiplier tau [m] of the position correction. With ``A = M + h^2/4 K``:
    ``v' = v_free + A^-1 L^T P - (2/h) (1 - A^-1 M) L^T tau`` and ``u' = u_free + h/2 A^-1 L^T P +
    A^-1 M L^T tau``.

    Where the forecast is open and tau closes the point, P = 0 and the velocity points into the obstacle: that
    creates energy at steps far above the critical one. ``MoreauJean(position=True)`` is without a forecast,
    for nonlinear bodies, friction and moving obstacles too.

    Args:
        system: A linear system with constant loads; each contact point acts on one mass.
        dt: Time step [s].
        contact: The contact, its gap linear in u, without friction, a list of contacts, or None.
        forecast: The gap is forecast at ``u + forecast h v``, in [0, 1].
        mass: ``"consistent"`` or ``"lumped"``.

    Attributes:
        tau: Position corrections of the last step, shape (points of this rank,) [m].

    Raises:
        ValueError: A system that is not linear, a curved obstacle, friction, a forecast outside [0, 1].
        NotConverged: (by ``step``) P and tau do not satisfy the complementarity conditions.
    """

    paper = "Acary, Bonnefon, ENOC (2011)"
    equations = "(6), theta = 1/2"
    order = "2 without impact, 1 with"
    conserves = "Newton's law and no penetration at once; energy without contact"
    step_limit = "none"
    explicit = False
    contact_level = "position and velocity"
    options = {**FORECAST, **CONSISTENT, **TOUCHING}
    excludes = (*UNSTEADY, *OF_CONTACT)
    point_records = ("tau",)
    state_names = ("u", "v", "r", "tau")
    r_shift = -0.5

    def __init__(
        self,
        system: System,
        dt: float,
        contact: Contacts = None,
        *,
        forecast: float = 0.5,
        mass: str = "consistent",
    ) -> None:
        arguments.time_step(dt)
        super().__init__(system, dt, contact)
        contact = self.contact
        if not 0 <= forecast <= 1:
            raise ValueError(f"forecast must lie in [0, 1], but is {forecast}")
        self.forecast, self.mass = float(forecast), mass
        self._solver = system.implicit_solver(dt**2 / 4, mass)
        self.tau = np.zeros(contact.count if contact else 0)
        self._f, self._dv = np.zeros(system.size), np.zeros(system.size)
        self._b, self._x = np.zeros(system.size), np.zeros(system.size)
        if contact is not None:
            self._points = _GatheredPoints(contact)
            H = self._columns(self._push)
            self._delassus = (H + H.T) / 2  # L A^-1 L^T
            self._position_delassus = self._columns(self._move)  # L A^-1 M L^T

    def begin(self) -> None:
        """Set the velocities of constrained dofs and the position corrections to zero."""
        self.v[: self.system.owned][self.system.constrained] = 0.0
        self.tau[:] = 0.0

    def advance(self) -> None:
        """One step of (6); ``r`` is P."""
        h, contact = self.dt, self.contact
        before = self.v.copy()
        forecast, t = self.u + self.forecast * h * self.v, self.t - (1 - self.forecast) * h
        state = None if contact is None else contact.at(forecast, None, t)
        self.system.force(self.t, self.u + h / 2 * self.v, self.v, self._f)
        self._f *= h
        self._solver.solve(self._f, self._dv)  # first line of (6), free
        self.v += self._dv
        self.u += h / 2 * (before + self.v)  # second line of (6), free
        if contact is not None and state is not None:
            velocity: FloatArray = state.L(self.v) + state.restitutions * state.L(before)
            P, tau = self._solve(state.closed, velocity, contact.gap(self.u, self.t))
            self.set_impulses(Impulses(state, self._points.mine(P)))
            self.tau[:] = self._points.mine(tau)
            self._apply()

    def _solve(
        self, closed: BoolArray, velocity: FloatArray, gap: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """P and tau of the points of all ranks from a single LCP, shape (points,) each. Collective.

        Its matrix has positive principal minors: for one point the determinant is
        ``L A^-1 L^T  L L^T`` for any step.

        Args:
            closed: Mask of the active points of this rank, shape (p,).
            velocity: ``L (v_free + e v)``, shape (p,) [m/s].
            gap: ``g(u_free)``, shape (p,) [m].
        """
        gathered = parallel.gather_rows(self._points.comm, np.column_stack([closed, velocity, gap]))
        active, n = np.flatnonzero(gathered[:, 0]), len(gathered)
        H, G = self._delassus, self._position_delassus
        difference = self._points.own - G  # L (1 - A^-1 M) L^T
        matrix: FloatArray = np.block(
            [[G, self.dt / 2 * H[:, active]], [-2 / self.dt * difference[active], H[np.ix_(active, active)]]]
        )
        solution = complementarity.solve(matrix, np.concatenate([gathered[:, 2], gathered[active, 1]]))
        P, tau = np.zeros(n), solution[:n]
        P[active] = solution[n:]
        # Solved again one after the other, each to its own round-off.
        tau = complementarity.solve(G, gathered[:, 2] + self.dt / 2 * H @ P)
        if active.size:
            w = gathered[active, 1] - 2 / self.dt * difference[active] @ tau
            P[active] = complementarity.solve(H[np.ix_(active, active)], w)
        return P, tau

    def _apply(self) -> None:
        """Apply P and tau of the points of this rank to v and u. Collective."""
        h = self.dt
        assert self.contact is not None
        if self._points.comm.allreduce(bool(self.r.any())):
            self._push(self.r)
            self.v += self._x
            self.u += h / 2 * self._x
        if self._points.comm.allreduce(bool(self.tau.any())):
            self._move(self.tau)
            correction = np.zeros_like(self._x)
            self.contact.L.add_transpose(self.tau, correction)
            self.u += self._x
            self.v -= 2 / h * (correction - self._x)

    def _push(self, P: FloatArray) -> None:
        """``x = A^-1 L^T P``."""
        self._spread(P, self._b)
        self._solver.solve(self._b, self._x)

    def _move(self, tau: FloatArray) -> None:
        """``x = A^-1 M L^T tau``."""
        spread = np.zeros_like(self._b)
        self._spread(tau, spread)
        self.system.mass_product(spread, self.mass, self._b)
        self._solver.solve(self._b, self._x)

    def _spread(self, r: FloatArray, out: FloatArray) -> None:
        assert self.contact is not None
        out[:] = 0.0
        self.contact.L.add_transpose(r, out)

    def _columns(self, act: Callable[[FloatArray], None]) -> FloatArray:
        """``L x`` after ``act`` on a unit value at each point of all ranks, one per column. Collective."""
        assert self.contact is not None
        columns = []
        for unit in np.eye(self.contact.total):
            act(self._points.mine(unit))
            columns.append(parallel.gather_rows(self._points.comm, self.contact.L(self._x)))
        return np.array(columns).T

    def balance(self) -> EnergyBalance:
        """Trapezoidal works; the residual contains the energy added by tau."""
        return TrapezoidalBalance(self)


class _GatheredPoints:
    """Contact points of all ranks in rank order, with the diagonal of ``L L^T``."""

    def __init__(self, contact: Contact) -> None:
        self.comm = contact.comm
        self._mine = contact.mine
        size = parallel.gather_rows(self.comm, contact.L.diagonal(np.ones(contact.system.owned)))
        self.own = np.diag(size)

    def mine(self, values: FloatArray) -> FloatArray:
        """Values of the points of this rank."""
        return values[self._mine]
