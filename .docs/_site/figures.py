"""Figures of the stored report, which lie there packed, for the site."""

from __future__ import annotations

import gzip
from pathlib import Path

from sphinx.application import Sphinx

from . import report


def unpack(app: Sphinx, error: Exception | None) -> None:
    """Unpack them into the static files of a site in HTML."""
    if error or app.builder.format != "html":
        return
    target = Path(app.outdir) / "_static" / "report"
    target.mkdir(parents=True, exist_ok=True)
    for figure in report.STORED.glob("*.svg.gz"):
        (target / figure.stem).write_bytes(gzip.decompress(figure.read_bytes()))


def setup(app: Sphinx) -> dict[str, bool]:
    """Unpack at the end."""
    app.connect("build-finished", unpack)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
