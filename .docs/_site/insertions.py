"""What pages take from programs: lines ``<!-- insert: KIND ARGUMENT -->`` become text before parsing."""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

from . import api, demos, measured, programs, report, schemes, sketches, studies

ROOT = Path(__file__).resolve().parents[2]
LINE = re.compile(r"^<!-- insert: (\w+) ?(.*?) -->$", re.M)

#: Functions of the argument by kind; ``lines`` and ``output`` depend on the page instead.
MAKERS = {
    "api": api.reference,
    "measured": measured.table,
    "report": report.page,
    "schemes": schemes.table,
    "sketch": sketches.sketch,
    "study": studies.table,
}
#: Functions of the argument and the way from the page to the top of the site.
PLACED = {"figure": report.figure, "film": demos.film, "gallery": demos.gallery}


def expand(text: str, page: Path, pictures: Path) -> str:
    """The text of the file of a page with what its lines ask for; where pictures of its programs go."""

    def inserted(found: re.Match[str]) -> str:
        kind, argument = found.groups()
        if kind == "lines":
            return programs.lines(text[: found.start()])
        if kind == "output":
            return programs.output(text[: found.start()], page, pictures, argument)
        if kind in PLACED:
            return PLACED[kind](argument, "../" * (len(page.relative_to(ROOT / ".docs").parts) - 1))
        return MAKERS[kind](argument)

    return LINE.sub(inserted, text)


def read(app: Sphinx, name: str, source: list[str]) -> None:
    """Expand a page, or give a demo its film and what it printed."""
    if name.startswith("demos/"):
        source[0] = demos.page(name.removeprefix("demos/"), source[0])
    else:
        source[0] = expand(source[0], Path(app.env.doc2path(name)), Path(app.outdir).parent / "pages")


def setup(app: Sphinx) -> dict[str, bool]:
    """Expand pages when they are read, always: what they take may have changed."""
    app.connect("source-read", read)
    app.connect("env-get-outdated", lambda app, env, *_: sorted(env.found_docs))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
