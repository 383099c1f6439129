"""Entries of the catalogue of schemes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
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
    """An entry of the catalogue: what a class says of itself, under the same names.

    It is not the class itself: one of a user's that derives from a scheme inherits what is said of that one,
    of which nothing is claimed for the user's.

    Attributes:
        make: The class.
        others: See :class:`.Integrator`.
    """

    make: Callable[..., Integrator]
    paper: str
    equations: str
    order: str = Integrator.order
    conserves: str = Integrator.conserves
    step_limit: str = Integrator.step_limit
    explicit: bool = Integrator.explicit
    contact_level: str = Integrator.contact_level
    options: Mapping[str, Option] = field(default_factory=dict)
    divided: bool = Integrator.divided
    static: bool = Integrator.static
    critical_ratio: Callable[[System], float] = Integrator.critical_ratio
    courant: float | None = Integrator.courant

    @classmethod
    def of(cls, kind: type[Integrator]) -> Scheme:
        """The entry of a class."""
        return cls(kind, **{each.name: getattr(kind, each.name) for each in fields(cls)[1:]})

    def facts(self) -> dict[str, str]:
        """What a listing shows, by its headings."""
        names = ("paper", "equations", "order", "conserves")
        return {**{name: getattr(self, name) for name in names}, "limit": self.step_limit}

    def bind(
        self,
        system: System | tuple[System, System],
        dt: float,
        contact: Contacts,
        values: Mapping[str, Any],
        *,
        allow_unstable: bool = False,
    ) -> Integrator:
        """The scheme with its options from ``values``, not started.

        Args:
            system: The system; for a divided one its explicit and its implicit subdomain.
        """
        options = {name: values[name] for name in self.options if name not in OF_THE_CONTACT}
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
