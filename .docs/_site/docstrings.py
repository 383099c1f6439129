"""Docstrings of properties and attributes: sentences with a colon, not ``type: description``."""

from sphinx.application import Sphinx
from sphinx.ext.napoleon.docstring import GoogleDocstring

_parse = GoogleDocstring._parse


def parse(self: GoogleDocstring) -> None:
    """Parse them like those of methods: sections, and no type in front of a colon."""
    if self._what in ("attribute", "data", "property"):
        self._what = "method"
    _parse(self)


def setup(app: Sphinx) -> dict[str, bool]:
    """Replace the parser's method."""
    GoogleDocstring._parse = parse  # type: ignore[method-assign]
    return {"parallel_read_safe": True, "parallel_write_safe": True}
