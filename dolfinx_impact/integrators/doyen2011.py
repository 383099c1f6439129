"""The discretizations of Doyen, Ern and Piperno (2011) by their numbers: combinations of parts."""

from __future__ import annotations

import math
from typing import Any, Callable, Mapping

from .. import parallel
from ..contact.base import Contact
from ..contact.contact_set import Contacts, as_contact
from ..systems.system import System
from .base import Integrator
from .catalogue_entry import Option, Scheme
from .central_differences import CentralDifferences
from .contact_laws import PositionLevel, VelocityLevel
from .modified_mass import MasslessContact, StaticContact, StaticLevel
from .newmark import Newmark
from .penalty import EnergyConservingPenalty, ExplicitPenalty, ImplicitPenalty
from .theta_method import ThetaMethod

Make = Callable[..., Integrator]
PAPER = "Doyen, Ern, Piperno, SIAM J. Sci. Comput. 33 (2011)"


def hht(
    law: Callable[..., Any] = PositionLevel, massless: bool = False, **fixed: Any
) -> Make:
    """HHT-Newmark with a contact law; ``beta = (1-alpha)^2/4`` and ``gamma = 1/2 - alpha`` unless given."""
    def make(
        system: System, dt: float, contact: Contacts = None, *, alpha: float = 0.0,
        beta: float | None = None, gamma: float | None = None, mass: str = "consistent", **law_options: Any,
    ) -> Integrator:  # fmt: skip
        contact = as_contact(contact)
        return Newmark(
            MasslessContact(system, contact) if massless else system,  # type: ignore[arg-type]
            dt, law(contact, **law_options), alpha=alpha,
            beta=(1 - alpha) ** 2 / 4 if beta is None else beta,
            gamma=0.5 - alpha if gamma is None else gamma, mass=mass, **fixed,
        )  # fmt: skip

    return make


def theta_method(law: Callable[..., Any], theta: float | None = None, **fixed: Any) -> Make:
    """The theta method, the midpoint rule where ``theta`` is fixed, with a contact law."""
    def make(
        system: System, dt: float, contact: Contacts = None, *, mass: str = "consistent",
        **options: Any,
    ) -> Integrator:  # fmt: skip
        weight = options.pop("theta", 0.6) if theta is None else theta
        if not 0 <= weight <= 1:
            raise ValueError(f"theta must lie in [0, 1], but is {weight}")
        return ThetaMethod(system, dt, law(contact, **options), theta=weight, mass=mass, **fixed)

    return make


def central(law: Callable[..., Any]) -> Make:
    """Central differences with the lumped mass and a contact law."""
    def make(
        system: System, dt: float, contact: Contacts = None, *, allow_unstable: bool = False,
        **options: Any,
    ) -> Integrator:  # fmt: skip
        contact = as_contact(contact)
        made = CentralDifferences(system, dt, law(contact, **options), allow_unstable=allow_unstable)
        if contact is not None and "eps" in options:
            made.beyond_limit |= dt > _penalty_limit(system, contact, options["eps"])
        return made

    return make


def _penalty_limit(system: System, contact: Contact, eps: float) -> float:
    """A step that is stable for sure with the penalty's stiffness: ``omega^2 <= omega_K^2 + H / eps`` [s].

    Above it a run is watched, and stopped should its energy explode.
    """
    rows = contact.rows
    H = parallel.largest(system.comm, rows.diagonal(system.inverse_mass))
    return 2.0 / math.sqrt((2.0 / system.critical_time_step()) ** 2 + H / eps)


def semi_explicit(
    system: System, dt: float, contact: Contacts = None, *, allow_unstable: bool = False
) -> Integrator:
    """7.2: central differences of the dofs with mass, contact dofs in static equilibrium."""
    contact = as_contact(contact)
    static: Any = StaticContact(system, contact)
    return CentralDifferences(static, dt, StaticLevel(contact), allow_unstable=allow_unstable)


def free(make: Make) -> Make:
    """The formula without contact."""
    def without(system: System, dt: float, contact: Contacts = None, **options: Any) -> Integrator:
        if contact is not None:
            raise ValueError("this formula is the one without contact: give none, or take one of the others")
        return make(system, dt, **options)

    return without


def _mass(*allowed: str) -> dict[str, Option]:
    return {"mass": Option(allowed[0], "-", "mass matrix", allowed)}


_BOTH, _LUMPED = _mass("consistent", "lumped"), _mass("lumped")
_HHT = {
    "alpha": Option(0.0, "-", "Hilber, Hughes and Taylor's alpha, -1/3 to 0"),
    "beta": Option(None, "-", "Newmark's beta (default: (1 - alpha)^2 / 4)"),
    "gamma": Option(None, "-", "Newmark's gamma (default: 1/2 - alpha)"),
    **_BOTH,
}
_NEWMARK = {**{name: _HHT[name] for name in ("beta", "gamma")}, **_BOTH}
_THETA = {"theta": Option(0.6, "-", "weight of the end of the step, 0 to 1"), **_BOTH}
_EPS = {"eps": Option(1e-4, "m/N", "compliance of a point of the penalty")}


def _law(restitution: float) -> dict[str, Option]:
    fixed = f"Newton's coefficient, {restitution:g} with this scheme"
    return {"restitution": Option(restitution, "-", fixed, (restitution,))}


#: 6.1 and 6.2 close what lies below the obstacle, not what touches it.
_BELOW = {
    "touching": Option(False, "-", "closed when g < -gap_tolerance", (False,)),
    "gap_tolerance": Option(1e-9, "m", "a gap down to minus this counts as open"),
}


def _scheme(
    number: str, make: Make, what: str, conserves: str, limit: str, contact: str,
    parameters: Mapping[str, Option], *, order: str = "2 without impact, 1 with", restitution: float = 0.0,
) -> tuple[str, Scheme]:  # fmt: skip
    explicit = limit.startswith("h")
    laws = {} if contact == "none" else _law(restitution)
    return f"dep-{number}", Scheme(
        make, PAPER, f"{number}: {what}", order, conserves, limit, explicit, contact, {**laws, **parameters}
    )


_LIMIT, _ANY = "h <= 2 / omega_max", "none"
_PUSHES = "E' - E = (r' + r)/2 . dg"
#: The catalogue's entries; adding a combination is one line.
SCHEMES: Mapping[str, Scheme] = dict((
    _scheme("2.1", free(hht()), "HHT-Newmark", "energy (alpha = 0)", _ANY, "none", _HHT, order="2"),
    _scheme("2.2", free(theta_method(PositionLevel, 0.5)), "midpoint", "energy", _ANY, "none", _BOTH,
            order="2"),
    _scheme("2.3", free(central(PositionLevel)), "central differences", "Eq", _LIMIT, "none", _LUMPED,
            order="2"),
    _scheme("4.1", hht(), "HHT-Newmark, exact contact", _PUSHES, _ANY, "position", _HHT),
    _scheme("4.2", theta_method(PositionLevel), "theta method, exact contact", "it dissipates", _ANY,
            "position", _THETA, order="1"),
    _scheme("4.3", hht(reset=True), "Newmark, exact contact, kinematics put to zero", "nothing", _ANY,
            "position", _NEWMARK),
    _scheme("4.4", theta_method(PositionLevel, 0.5), "midpoint, exact contact", "E' - E = r' . dg <= 0",
            _ANY, "position", _BOTH),
    _scheme("4.5", hht(dissipative=True), "Newmark, dissipative contact", "E' - E = r' . dg <= 0", _ANY,
            "position", _NEWMARK),
    _scheme("4.6", hht(dissipative=True, projected=True), "contact-stabilized Newmark", "it dissipates",
            _ANY, "position", {**_NEWMARK, **_LUMPED}),
    _scheme("4.7", central(PositionLevel), "central differences, implicit contact", f"Eq: {_PUSHES}",
            _LIMIT, "position", _LUMPED),
    _scheme("4.8", central(PositionLevel), "central differences, projected", f"Eq: {_PUSHES}", _LIMIT,
            "position", _LUMPED),
    _scheme("5.1", hht(ImplicitPenalty), "Newmark, penalty", _PUSHES, _ANY, "penalty", {**_HHT, **_EPS}),
    _scheme("5.2", theta_method(EnergyConservingPenalty, 0.5), "midpoint, energy-conserving penalty",
            "energy with that of the penalty", _ANY, "penalty", {**_BOTH, **_EPS}),
    _scheme("5.3", central(ExplicitPenalty), "central differences, penalty", f"Eq: {_PUSHES}",
            "h below 2 / omega_max, the penalty's stiffness included", "penalty", {**_LUMPED, **_EPS}),
    _scheme("6.1", theta_method(VelocityLevel, 0.5, forecast=0.0), "midpoint, contact in velocity",
            "energy", _ANY, "velocity", {**_BELOW, **_BOTH}, restitution=1.0),
    _scheme("6.2", central(VelocityLevel), "central differences, contact in velocity", f"Eq: {_PUSHES}",
            _LIMIT, "velocity", {**_BELOW, **_LUMPED}),
    _scheme("7.1", hht(massless=True), "Newmark, modified mass", _PUSHES, _ANY, "position", _HHT),
    _scheme("7.2", semi_explicit, "semi-explicit, modified mass", f"Eq: {_PUSHES}", _LIMIT, "position",
            _LUMPED),
))  # fmt: skip
