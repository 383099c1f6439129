"""Penalty contact: Doyen, Ern and Piperno, SIAM J. Sci. Comput. 33 (2011), section 5, doi:10.1137/100791440.

Contact force ``R(g) = max(-g, 0) / eps`` [N] with the compliance eps [m/N]; the impulse of a step is h times
the force. With ``per_area`` it is ``A max(-g, 0) / eps`` for a point with the area A and eps [m/Pa] of the
surface: a uniform penetration is then a uniform pressure, but for elements of degree 2 with nodes that have
no weight (tetrahedra, quadrilaterals at an axis), although their points have an area.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import arguments, parallel
from ..._types import FloatArray
from ...algebra import complementarity
from ...contact.base import Contact
from ...contact.contact_set import Contacts, as_contact
from ...contact.state import Impulses
from ..requirements import refuse, refuse_restitution
from .contact_laws import FreeEnd
from .delassus import DelassusOperator

_SWEEPS = 20
_NEWTON_STEPS = 40
_ROUNDING = 1e-15
_ACCEPTED = 1e-11


class Penalty:
    """Base class of penalty laws.

    Args:
        contact: The contact, without restitution and friction, or None.
        eps: Compliance of a contact point [m/N], positive; with ``per_area`` of the surface [m/Pa].
        per_area: Whether the compliance of a point is eps over its area when the scheme is made.

    Attributes:
        compliance: Of the points of this rank, shape (p,) [m/N].

    Raises:
        ValueError: A compliance that is not positive; restitution or friction; areas that are unknown, or not
            positive. Collective.
    """

    halves_first_impulse = True
    excludes = ("friction", "surfaces", "moving obstacles")

    def __init__(self, contact: Contacts, eps: float = 1e-4, per_area: bool = False) -> None:
        arguments.number("eps", eps, "be a positive compliance [m/N]", above=0.0)
        contact = as_contact(contact)
        refuse(self.excludes, "contact by penalty", contact=contact)
        refuse_restitution(contact, "contact by penalty")
        self.contact, self.eps, self.per_area = contact, float(eps), arguments.flag("per_area", per_area)
        self.compliance = _compliance(contact, self.eps, self.per_area)


def _compliance(contact: Contact | None, eps: float, per_area: bool) -> FloatArray:
    """See :attr:`Penalty.compliance`. Collective."""
    if contact is None or not per_area:
        return np.full(0 if contact is None else contact.count, eps)
    areas, error = contact.areas(), None
    if areas is None or not np.all(areas > 0):
        error = ValueError(
            "per_area=True takes contact of facets, whose points have areas: give eps of a point [m/N] and "
            "leave it out"
        )
    parallel.agree(contact.comm, error)
    found: FloatArray = eps / np.asarray(areas)
    return found


class ExplicitPenalty(Penalty):
    """``r = h R(g(u_n))``: explicit penalty, Discretization 5.3."""

    of_forces = True

    def impulses(self, s: Any, response: DelassusOperator, *, first: bool = False) -> Impulses:
        """See :class:`~.contact_laws.Enforcement`."""
        assert self.contact is not None
        t, u = s.contact_point()
        state = self.contact.at(u, None, t, every=True)  # (85)
        return Impulses(state, s.dt / self.compliance * np.maximum(-state.gap, 0.0))


class ImplicitPenalty(Penalty):
    """``r = h R(g(u_{n+1}))``: implicit penalty, Discretization 5.1.

    It is the LCP of contact at position level regularised by eps: ``0 <= r  _|_  H r + (eps / (h s)) r +
    g_free / s >= 0`` with the sensitivity s [s] of the gap to the velocity ``H r``.
    """

    def impulses(self, s: FreeEnd, response: Any, *, first: bool = False) -> Impulses:
        """See :class:`~.contact_laws.Enforcement`."""
        assert self.contact is not None
        state = self.contact.at(s.end_position(), None, s.t, every=True)
        free, sensitivity = s.constrained(0.0)
        gap = self.contact.gap(free, s.t)
        regularisation = self.compliance / (s.dt * sensitivity)  # r = h R(g'), (77)

        def law(H: FloatArray, b: FloatArray, added: FloatArray) -> FloatArray:
            return complementarity.solve(H + np.diag(added), b)

        every = np.ones(gap.size, dtype=bool)
        return Impulses(state, response.solve_by(law, state, every, gap / sensitivity, regularisation))


class EnergyConservingPenalty(Penalty):
    """``r = -h (V(g') - V(g)) / (g' - g)`` with ``V = min(g, 0)^2 / (2 eps)``, Discretization 5.2.

    The work of the contact forces in a step is minus the change of the penalty energy V: energy is conserved.
    """

    def impulses(self, s: FreeEnd, response: Any, *, first: bool = False) -> Impulses:
        """See :class:`~.contact_laws.Enforcement`."""
        contact, h = self.contact, s.dt
        assert contact is not None
        state = contact.at(s.end_position(), None, s.t, every=True)
        before = contact.gap(s.u_before, s.t - h)  # type: ignore[attr-defined]
        free, sensitivity = s.constrained(0.0)

        def law(H: FloatArray, *of_points: FloatArray) -> FloatArray:
            return h * _mean_forces(sensitivity * h * H, *of_points)

        every, gap = np.ones(before.size, dtype=bool), contact.gap(free, s.t)
        return Impulses(state, response.solve_by(law, state, every, gap, before, self.compliance))


def _mean_forces(D: FloatArray, free: FloatArray, before: FloatArray, eps: FloatArray) -> FloatArray:
    """Forces R with ``g' = free + D R``, R the mean force of each point between g and g', shape (p,) [N].

    Nonlinear Gauss-Seidel with a closed-form solution per point (the problem minimises a convex energy),
    followed by Newton's method, which converges faster for many coupled points.

    Args:
        D: Change of the gaps per force, shape (p, p) [m/N].
        free: Gaps at the end of the free step, shape (p,) [m].
        before: Gaps g at the beginning of the step, shape (p,) [m].
        eps: Compliances, shape (p,) [m/N].

    Raises:
        NotConverged: A residual above 1e-11 of the largest force.
    """
    R: FloatArray = np.zeros(free.size)
    for _ in range(_SWEEPS):
        for i in range(R.size):
            alone = free[i] + D[i] @ R - D[i, i] * R[i]
            R[i] = _mean_force(before[i], _end_gap(before[i], alone, D[i, i] / (2 * eps[i])), eps[i])
        if R.size == 1:
            return R
    best, least = R, _residual(D, free, before, eps, R)
    for _ in range(_NEWTON_STEPS):
        if least <= _ROUNDING * np.max(best, initial=0.0):
            break
        gap = free + D @ R
        slope = np.array([_slope(g, x, e) for g, x, e in zip(before, gap, eps)])
        force = np.array([_mean_force(g, x, e) for g, x, e in zip(before, gap, eps)])
        R = R - np.linalg.solve(np.eye(R.size) - slope[:, None] * D, R - force)
        residual = _residual(D, free, before, eps, R)
        if residual < least:
            best, least = R, residual
    if not least <= _ACCEPTED * max(1e-300, float(np.max(np.abs(best)))):
        raise complementarity.NotConverged(
            f"the forces of {R.size} points of an energy-conserving penalty were not found: take a smaller "
            "time step or a larger eps"
        )
    return best


def _residual(D: FloatArray, free: FloatArray, before: FloatArray, eps: FloatArray, R: FloatArray) -> float:
    """Largest residual of a force over ``1 + D_ii |dR/dg'|``, the amplification of round-off [N]."""
    worst = 0.0
    for i, x in enumerate(free + D @ R):
        error = abs(R[i] - _mean_force(before[i], x, eps[i]))
        worst = max(worst, error / (1.0 + D[i, i] * abs(_slope(before[i], x, eps[i]))))
    return worst


def _slope(g: float, x: float, eps: float) -> float:
    """Derivative of the mean force with respect to the gap x at the end of the step [N/m]."""
    if g < 0.0 and x < 0.0:
        return -1.0 / (2 * eps)
    if g >= 0.0 and x >= 0.0:
        return 0.0
    if x < 0.0:
        return -x * (x - 2 * g) / (2 * eps * (x - g) ** 2)
    return -g * g / (2 * eps * (x - g) ** 2)


def _end_gap(g: float, f: float, q: float) -> float:
    """Gap g' of one point at the end of the step [m], for the four combinations of signs of g and g'.

    Args:
        g: Gap at the beginning of the step [m].
        f: Gap at the end of the free step [m].
        q: ``D / (2 eps)``.
    """
    if g >= 0.0:
        if f >= 0.0:
            return f
        # (1 + q) x^2 - (f + g) x + f g = 0: the negative root, without cancellation where f + g > 0
        root = np.sqrt((f - g) ** 2 - 4 * q * f * g)
        if f + g > 0.0:
            mean: float = 2 * f * g / (f + g + root)
            return mean
        return float((f + g - root) / (2 * (1 + q)))
    closed = (f - q * g) / (1 + q)
    return closed if closed < 0.0 else float((f + g + np.sqrt((f - g) ** 2 + 4 * q * g * g)) / 2)


def _mean_force(g: float, x: float, eps: float) -> float:
    """Mean force ``-(V(x) - V(g)) / (x - g)`` between the gaps g and x [N], R(g) for x = g."""
    if g < 0.0 and x < 0.0:
        return -(g + x) / (2 * eps)
    if g >= 0.0 and x >= 0.0:
        return 0.0
    low, high = min(g, x), max(g, x)
    return low * low / (2 * eps * (high - low))
