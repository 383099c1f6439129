"""Entries of the catalogue of schemes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from .. import arguments
from ..contact.contact_set import Contacts
from ..systems.system import System
from .base import Integrator
from .options import Option

#: Parameters of schemes that the contact takes, not the integrator.
OF_THE_CONTACT = ("touching", "restitution", "gap_tolerance")


@dataclass(frozen=True)
class Scheme:
    """An entry of the catalogue.

    Attributes:
        make: The class.
        paper, equations, order, conserves: See :class:`.Integrator`.
        limit: Its ``step_limit``.
        explicit: Whether a step needs no linear system, only the lumped mass.
        contact: Its ``contact_level``.
        parameters: Its ``options``.
        divided: Whether it integrates two subdomains of a body, not one system.
        critical_ratio: See :meth:`.Integrator.critical_ratio`.
        courant: See :attr:`.Integrator.courant`.
    """

    make: Callable[..., Integrator]
    paper: str
    equations: str
    order: str
    conserves: str
    limit: str
    explicit: bool
    contact: str
    parameters: Mapping[str, Option] = field(default_factory=dict)
    divided: bool = False
    critical_ratio: Callable[[System], float] = Integrator.critical_ratio
    courant: float | None = None

    @classmethod
    def of(cls, kind: type[Integrator]) -> Scheme:
        """The entry of a class, read off its attributes."""
        return cls(
            kind,
            paper=kind.paper,
            equations=kind.equations,
            order=kind.order,
            conserves=kind.conserves,
            limit=kind.step_limit,
            explicit=kind.explicit,
            contact=kind.contact_level,
            parameters=kind.options,
            divided=kind.divided,
            critical_ratio=kind.critical_ratio,
            courant=kind.courant,
        )

    def bind(
        self,
        system: System | tuple[System, System],
        dt: float,
        contact: Contacts,
        values: Mapping[str, Any],
        *,
        allow_unstable: bool = False,
    ) -> Integrator:
        """The scheme with its parameters from ``values``, not started.

        Args:
            system: The system; for a divided one its explicit and its implicit subdomain.
        """
        options = {name: values[name] for name in self.parameters if name not in OF_THE_CONTACT}
        if self.explicit:
            options.pop("mass", None)
            options["allow_unstable"] = allow_unstable
        systems = system if isinstance(system, tuple) else (system,)
        return self.make(*systems, dt, contact=contact, **options)


class Catalogue(dict[str, Scheme]):
    """Schemes by name; asked for another one it says which there are."""

    def __missing__(self, name: str) -> NoReturn:
        near = arguments.nearest(name, self)
        raise KeyError(f"no scheme {name!r}: {near}the schemes are {', '.join(self)}")
