"""What a scheme of the catalogue is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, NoReturn

from .. import arguments
from ..contact.contact_set import Contacts
from ..systems.system import System
from .base import Integrator

#: Parameters of schemes that the contact takes, not the integrator.
OF_THE_CONTACT = ("touching", "restitution", "gap_tolerance")


@dataclass(frozen=True)
class Option:
    """A parameter of a scheme or a case: default, unit, meaning, and what is allowed.

    Attributes:
        allowed: The values there are, empty for any.
        words: Words that may stand for a number.
    """

    default: Any
    unit: str
    help: str
    allowed: tuple = ()
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scheme:
    """An entry of the catalogue.

    Attributes:
        explicit: Whether it makes its step without a linear system, from lumped masses.
        contact: Where contact is enforced: ``"velocity"``, ``"position"`` or both, ``"penalty"``,
            ``"none"``; ``"own"`` for a class of the user's, of which nothing is claimed.
        divided: Whether it integrates two subdomains of a body, not one system.
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

    def bind(
        self, system: System | tuple[System, System], dt: float, contact: Contacts,
        values: Mapping[str, Any], *, allow_unstable: bool = False,
    ) -> Integrator:  # fmt: skip
        """The scheme with its parameters taken from ``values``, not started.

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
