"""Position and velocity together: Acary and Bonnefon's combined scheme."""

from __future__ import annotations

from typing import Callable

import numpy as np
from numpy.typing import NDArray

from .. import arguments, parallel
from ..algebra import complementarity
from ..contact.base import Contact
from ..contact.contact_set import Contacts
from ..systems.system import System
from .base import Integrator
from .energy import Balance, TrapezoidalBalance
from .options import CONSISTENT, FORECAST, TOUCHING
from .requirements import refuse_unsteady


class AcaryBonnefon(Integrator):
    """The combined scheme: Newton's law for the velocity and no penetration at once. Implicit.

    Acary and Bonnefon, ENOC (2011), (6), with theta = 1/2; both laws at the end of the step::

        M (v' - v) = h/2 [F(u) + F(u')] + L^T P
        u' = u + h/2 (v + v') + L^T tau
        0 <= g(u')  _|_  tau >= 0                    at every point
        0 <= L (v' + e v)  _|_  P >= 0               where g(u + forecast h v) <= tolerance

    P [N s] is the impulse, tau [m] moves the point onto the obstacle. With ``A = M + h^2/4 K``:
    ``v' = v_free + A^-1 L^T P - (2/h) (1 - A^-1 M) L^T tau`` and ``u' = u_free + h/2 A^-1 L^T P +
    A^-1 M L^T tau``.

    Args:
        system: A linear system; each contact point has one mass.
        dt: Time step [s].
        contact: The contact, flat and without friction, a list of contacts, or None.
        forecast: Part of the step over which the gap is forecast, in [0, 1]; 1/2 or 1.
        mass: ``"consistent"`` or ``"lumped"``.

    Attributes:
        tau: The corrections of the last step, shape (points of this rank,) [m].

    Raises:
        ValueError: A system that is not linear, a curved obstacle, friction, a forecast
            outside [0, 1].
        NotConverged: (by ``step``) when P and tau are not found.
    """

    paper = "Acary, Bonnefon, ENOC (2011)"
    equations = "(6), theta = 1/2"
    order = "2 without impact, 1 with"
    conserves = "Newton's law and no penetration at once; energy without contact"
    step_limit = "none"
    explicit = False
    contact_level = "position and velocity"
    options = {**FORECAST, **CONSISTENT, **TOUCHING}
    point_records = ("tau",)
    state_names = ("u", "v", "r", "tau")
    r_shift = -0.5

    def __init__(
        self, system: System, dt: float, contact: Contacts = None, *, forecast: float = 0.5,
        mass: str = "consistent",
    ) -> None:  # fmt: skip
        arguments.time_step(dt)
        super().__init__(system, dt, contact)
        contact = self.contact
        refuse_unsteady(system, "the combined scheme")
        if contact is not None and (contact.friction > 0 or not contact.constant):
            raise ValueError("the combined scheme has no friction, and a flat obstacle")
        if not 0 <= forecast <= 1:
            raise ValueError(f"forecast must lie in [0, 1], but is {forecast}")
        self.forecast, self.mass = float(forecast), mass
        self._solver = system.implicit_solver(dt**2 / 4, mass)
        self.tau = np.zeros(contact.count if contact else 0)
        self._f, self._dv = np.zeros(system.size), np.zeros(system.size)
        self._b, self._x = np.zeros(system.size), np.zeros(system.size)
        if contact is not None:
            self._points = _Points(contact)
            pushed = self._columns(self._push)
            self._pushed = (pushed + pushed.T) / 2
            self._moved = self._columns(self._move)

    def begin(self) -> None:
        """Still the held dofs: the first step is like all others."""
        self.v[: self.system.owned][self.system.held] = 0.0
        self.tau[:] = 0.0

    def advance(self) -> None:
        """One step; P is the impulse of the step."""
        h, contact = self.dt, self.contact
        before = self.v.copy()
        forecast = self.u + self.forecast * h * self.v
        closed = contact.closed(contact.evaluate(forecast)) if contact is not None else None
        self.system.force(self.t, self.u + h / 2 * self.v, self.v, self._f)
        self._f *= h
        self._solver.solve(self._f, self._dv)
        self.v += self._dv
        self.u += h / 2 * (before + self.v)
        if contact is not None and closed is not None:
            law: NDArray = contact.rows(self.v) + contact.restitutions * contact.rows(before)
            P, tau = self._solve(closed, law, contact.gap(self.u))
            self.r[:], self.tau[:] = self._points.mine(P), self._points.mine(tau)
            self._apply()

    def _solve(self, closed: NDArray, law: NDArray, gap: NDArray) -> tuple[NDArray, NDArray]:
        """P and tau of all points from one complementarity problem. Collective.

        Its matrix has positive principal minors: for one point the determinant is
        ``L A^-1 L^T  L L^T`` at any step.
        """
        every = parallel.gather_rows(self._points.comm, np.column_stack([closed, law, gap]))
        where, n = np.flatnonzero(every[:, 0]), len(every)
        away = self._points.own - self._moved  # L (1 - A^-1 M) L^T
        matrix: NDArray = np.block([
            [self._moved, self.dt / 2 * self._pushed[:, where]],
            [-2 / self.dt * away[where], self._pushed[np.ix_(where, where)]],
        ])  # fmt: skip
        found = complementarity.solve(matrix, np.concatenate([every[:, 2], every[where, 1]]))
        P, tau = np.zeros(n), found[:n]
        P[where] = found[n:]
        # Each law once more for itself, to its own round-off.
        tau = complementarity.solve(self._moved, every[:, 2] + self.dt / 2 * self._pushed @ P)
        if where.size:
            w = every[where, 1] - 2 / self.dt * away[where] @ tau
            P[where] = complementarity.solve(self._pushed[np.ix_(where, where)], w)
        return P, tau

    def _apply(self) -> None:
        """Let P and tau of this rank's points act on v and u. Collective."""
        h = self.dt
        assert self.contact is not None
        if self._points.comm.allreduce(bool(self.r.any())):
            self._push(self.r)
            self.v += self._x
            self.u += h / 2 * self._x
        if self._points.comm.allreduce(bool(self.tau.any())):
            self._move(self.tau)
            moved = np.zeros_like(self._x)
            self.contact.rows.add_transpose(self.tau, moved)
            self.u += self._x
            self.v -= 2 / h * (moved - self._x)

    def _push(self, P: NDArray) -> None:
        """``x = A^-1 L^T P``."""
        self._spread(P, self._b)
        self._solver.solve(self._b, self._x)

    def _move(self, tau: NDArray) -> None:
        """``x = A^-1 M L^T tau``."""
        spread = np.zeros_like(self._b)
        self._spread(tau, spread)
        self.system.mass_product(spread, self.mass, self._b)
        self._solver.solve(self._b, self._x)

    def _spread(self, r: NDArray, out: NDArray) -> None:
        assert self.contact is not None
        out[:] = 0.0
        self.contact.rows.add_transpose(r, out)

    def _columns(self, act: Callable[[NDArray], None]) -> NDArray:
        """``L x`` for a unit at each point of all ranks, shape (points, points). Collective."""
        assert self.contact is not None
        found = []
        for unit in np.eye(self.contact.total):
            act(self._points.mine(unit))
            found.append(parallel.gather_rows(self._points.comm, self.contact.rows(self._x)))
        return np.array(found).T

    def balance(self) -> Balance:
        """None of its own: tau feeds energy, which the residual shows."""
        return TrapezoidalBalance(self)


class _Points:
    """The points of all ranks in rank order, and which of them are of this rank."""

    def __init__(self, contact: Contact) -> None:
        self.comm = contact.comm
        self._mine = contact.mine
        size = parallel.gather_rows(self.comm, contact.rows.diagonal(np.ones(contact.system.owned)))
        self.own = np.diag(size)

    def mine(self, values: NDArray) -> NDArray:
        """This rank's part."""
        return values[self._mine]
