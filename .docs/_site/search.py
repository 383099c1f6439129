"""What the search of the site knows: guides first, and no internals of the package."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.domains.python import PythonDomain
from sphinx.search import IndexBuilder

from . import api

_feed, _get_objects = IndexBuilder.feed, PythonDomain.get_objects
_NOT_SHOWN = -1  #: The priority of objects that a search does not show.


def _without_internals(doctree: nodes.document) -> nodes.document:
    """A page of the reference with the sections about public names; the nodes are those of the page."""
    whole, top = doctree.copy(), doctree[0].copy()
    top.children = [node for node in doctree[0].children if not _is_internal(node)]
    whole.children = [top]
    return whole


def _is_internal(node: nodes.Node) -> bool:
    if not isinstance(node, nodes.section):
        return False
    kind, _, module = node[0].astext().partition(" ")
    return kind == "Module" and not api.is_public_module(module)


def feed(self: IndexBuilder, docname: str, filename: str, title: str, doctree: nodes.document) -> None:
    """Take the words of a page."""
    if docname.startswith("api/") and docname != "api/index":
        doctree = _without_internals(doctree)
    _feed(self, docname, filename, title, doctree)


def get_objects(self: PythonDomain) -> Iterator[tuple[str, str, str, str, str, int]]:
    """All objects, those of the internals not to be shown."""
    for name, shown, kind, page, anchor, priority in _get_objects(self):
        yield name, shown, kind, page, anchor, priority if api.is_public(name) else _NOT_SHOWN


def setup(app: Sphinx) -> dict[str, Any]:
    """Replace both methods; the order of what is found is that of a script."""
    IndexBuilder.feed = feed  # type: ignore[method-assign]
    PythonDomain.get_objects = get_objects  # type: ignore[method-assign]
    app.config.html_search_scorer = str(Path(__file__).with_name("scorer.js"))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
