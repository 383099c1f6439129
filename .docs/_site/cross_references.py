"""Cross references of docstrings: by the end of a name, as written in the source; none may be left over."""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import re
import sys
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.domains.python import ObjectEntry
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.nodes import make_refnode

LOG = logging.getLogger(__name__)


def is_of_another_package(target: str) -> bool:
    """Whether a name is one of Python itself, or begins with the name of another installed package."""
    first = target.lstrip(".").split(".")[0]
    if "." not in target:
        return hasattr(builtins, target)
    return first != "dolfinx_impact" and importlib.util.find_spec(first) is not None


def classes_around(node: addnodes.pending_xref) -> list[type]:
    """The class in whose docstring the reference stands, and its bases."""
    if not (module := node.get("py:module")) or not (name := node.get("py:class")):
        return []
    kind: Any = importlib.import_module(module)
    for part in name.split("."):
        kind = getattr(kind, part, None)
    return list(getattr(kind, "__mro__", ()))


def is_private(node: addnodes.pending_xref) -> bool:
    """Whether the reference names a private member that is there: it has no page, and is shown as code."""
    name = node["reftarget"].lstrip(".")
    holders = [*classes_around(node), sys.modules.get(node.get("py:module") or "")]
    return name.startswith("_") and any(hasattr(holder, name) for holder in holders)


def endings(node: addnodes.pending_xref) -> list[str]:
    """Ends of names that the reference may mean, the nearest first.

    They are members of the class around it; the name as written; the class whose section of attributes has
    it; the object that a module of the package knows under the name.
    """
    target = node["reftarget"].lstrip(".")
    around = [kind for kind in classes_around(node) if kind.__module__ != "builtins"]
    names = [*(f"{kind.__name__}.{target}" for kind in around), target]
    entry = re.compile(rf"Attributes:.*?^ +(\w+, )*{re.escape(target)}(, \w+)*:", re.S | re.M)
    names += [kind.__name__ for kind in around if entry.search(kind.__doc__ or "")]
    prefix, _, last = target.rpartition(".")
    for name, module in sys.modules.items():
        if prefix and name.startswith("dolfinx_impact") and f".{name}".endswith(f".{prefix}"):
            names += [last] if last in vars(module) else []
    return names


def find(env: BuildEnvironment, node: addnodes.pending_xref) -> list[tuple[str, ObjectEntry]]:
    """The objects that a reference may mean."""
    objects = env.get_domain("py").objects
    for ending in endings(node):
        found = {e.node_id: (name, e) for name, e in objects.items() if f".{name}".endswith(f".{ending}")}
        found = {key: value for key, value in found.items() if not value[1].aliased} or found
        if found:
            here = [value for value in found.values() if value[1].docname == node.get("refdoc")]
            return here if len(here) == 1 else list(found.values())
    return []


def resolve(
    app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, content: nodes.Element
) -> nodes.Element | None:
    """A reference to the one object that is meant; a warning if there is none."""
    if node.get("refdomain") != "py" or not isinstance(content, nodes.literal):
        return None  # annotations: links where their names are known
    found = find(env, node)
    if len(found) == 1:
        name, entry = found[0]
        return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, content, name)
    if not is_of_another_package(node["reftarget"]) and not is_private(node):
        several = f" ({len(found)} of this name)" if found else ""
        LOG.warning("cross reference to %r leads nowhere%s", node["reftarget"], several, location=node)
    return content


def hide_private_bases(app: Sphinx, name: str, kind: type, options: Any, bases: list[type]) -> None:
    """Show no bases that are not documented; their own bases instead."""

    def is_private(base: type) -> bool:
        return any(part.startswith("_") for part in (*base.__module__.split("."), base.__name__))

    shown: list[type] = []
    for base in bases:
        above = [b for b in getattr(base, "__mro__", ())[1:] if not is_private(b)]
        shown.extend(above[:1] if isinstance(base, type) and is_private(base) else [base])
    bases[:] = [base for base in shown if base is not object] or [object]


def setup(app: Sphinx) -> dict[str, bool]:
    """Resolve what Sphinx does not."""
    app.connect("missing-reference", resolve)
    app.connect("autodoc-process-bases", hide_private_bases)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
