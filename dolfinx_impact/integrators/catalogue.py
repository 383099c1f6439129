"""The named schemes; each entry is read off the attributes of its class."""

from __future__ import annotations

from collections.abc import Mapping

from . import doyen2011, doyen2011_central
from .acary_bonnefon import AcaryBonnefon
from .base import Integrator
from .catalogue_entry import Catalogue, Scheme
from .central.implicit_velocity import CDLagrangeImplicit
from .central.noh_bathe import NohBathe
from .hati import HATI
from .one_step.generalized_alpha import GeneralizedAlpha
from .one_step.quasi_static import Static
from .schemes import Carpenter, CarpenterImplicit, CDLagrange, MoreauJean, MoreauJeanDecoupled, PaoliSchatzman
from .static.static_contact import CDLagrangeSingular

#: The classes by name; adding a scheme is one line.
CLASSES: Mapping[str, type[Integrator]] = {
    "cd-lagrange": CDLagrange,
    "cd-lagrange-implicit": CDLagrangeImplicit,
    "cd-lagrange-singular": CDLagrangeSingular,
    "paoli-schatzman": PaoliSchatzman,
    "carpenter": Carpenter,
    "noh-bathe": NohBathe,
    "moreau-jean": MoreauJean,
    "moreau-jean-decoupled": MoreauJeanDecoupled,
    "generalized-alpha": GeneralizedAlpha,
    "static": Static,
    "carpenter-implicit": CarpenterImplicit,
    "combined": AcaryBonnefon,
    "dep-2.1": doyen2011.DEP21,
    "dep-2.2": doyen2011.DEP22,
    "dep-2.3": doyen2011_central.DEP23,
    "dep-4.1": doyen2011.DEP41,
    "dep-4.2": doyen2011.DEP42,
    "dep-4.3": doyen2011.DEP43,
    "dep-4.4": doyen2011.DEP44,
    "dep-4.5": doyen2011.DEP45,
    "dep-4.6": doyen2011.DEP46,
    "dep-4.7": doyen2011_central.DEP47,
    "dep-4.8": doyen2011_central.DEP48,
    "dep-5.1": doyen2011.DEP51,
    "dep-5.2": doyen2011.DEP52,
    "dep-5.3": doyen2011_central.DEP53,
    "dep-6.1": doyen2011.DEP61,
    "dep-6.2": doyen2011_central.DEP62,
    "dep-7.1": doyen2011.DEP71,
    "dep-7.2": doyen2011_central.DEP72,
    "hati": HATI,
}
SCHEMES: Mapping[str, Scheme] = Catalogue({name: Scheme.of(kind) for name, kind in CLASSES.items()})


def table(*names: str, papers: bool = True) -> str:
    """The entries of some schemes, or of all, as a table in Markdown, with or without their papers."""
    header = "| name | in Python | source | order | conserves | limit | contact |"
    lines = [header, "|" + " --- |" * 7]
    for name in names or SCHEMES:
        s = SCHEMES[name]
        source = f"{s.paper}; {s.equations}" if papers else s.equations
        cells = f"`{name}`", f"`{s.make.__name__}`", source
        lines.append("| " + " | ".join((*cells, s.order, s.conserves, s.step_limit, s.contact_level)) + " |")
    return "\n".join(lines)
