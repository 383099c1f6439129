"""What pages take from programs: lines ``<!-- insert: KIND ARGUMENT -->`` become text before parsing."""

from __future__ import annotations

import re
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from . import api, demos, experiments, measured, programs, report, schemes, sketches, studies

ROOT = Path(__file__).resolve().parents[2]
LINE = re.compile(r"^<!-- insert: (\w+) ?(.*?) -->$", re.M)

#: Functions of the argument by kind; ``lines`` and ``output`` depend on the page instead.
MAKERS = {
    "api": api.reference,
    "counts": report.counts,
    "experiment": experiments.table,
    "measured": measured.table,
    "report": report.page,
    "schemes": schemes.table,
    "sketch": sketches.sketch,
    "study": studies.table,
    "validated": report.validated,
}
#: Functions of the argument and the way from the page to the top of the site.
PLACED = {"figure": report.figure, "film": demos.film, "gallery": demos.gallery}


#: What the programs of pages print, by name of the page; they run while other pages are read.
OUTPUTS: dict[str, Future[list[str]]] = {}


def expand(text: str, page: Path, outputs: list[str]) -> str:
    """The text of the file of a page with what its lines ask for; ``outputs`` are those of its programs."""
    blocks = iter(outputs)

    def inserted(found: re.Match[str]) -> str:
        kind, argument = found.groups()
        if kind == "lines":
            return programs.lines(text[: found.start()])
        if kind == "output":
            return next(blocks, "")
        if kind in PLACED:
            return PLACED[kind](argument, "../" * (len(page.relative_to(ROOT / ".docs").parts) - 1))
        return MAKERS[kind](argument)

    return LINE.sub(inserted, text)


def run_programs(app: Sphinx, env: BuildEnvironment, names: list[str]) -> None:
    """Start the programs of the pages that will be read, of two pages at a time; links need none."""

    def run(name: str) -> list[str]:
        page = Path(env.doc2path(name))
        return programs.outputs(page.read_text(), page, Path(app.outdir).parent / "pages")

    if app.builder.name == "linkcheck":
        return
    pool = ThreadPoolExecutor(2)
    OUTPUTS.update({name: pool.submit(run, name) for name in names if not name.startswith("demos/")})
    pool.shutdown(wait=False)


def outputs_of(name: str) -> list[str]:
    """What the programs of a page print, once they have ended; a failure is a warning."""
    try:
        return OUTPUTS[name].result() if name in OUTPUTS else []
    except (OSError, RuntimeError) as error:
        logging.getLogger(__name__).warning("%s", error, location=name)
        return []


def read(app: Sphinx, name: str, source: list[str]) -> None:
    """Expand a page, or give a demo its film and what it printed."""
    if name.startswith("demos/"):
        source[0] = demos.page(name.removeprefix("demos/"), source[0])
    else:
        source[0] = expand(source[0], Path(app.env.doc2path(name)), outputs_of(name))


def setup(app: Sphinx) -> dict[str, bool]:
    """Expand pages when they are read, always: what they take may have changed."""
    app.connect("env-before-read-docs", run_programs)
    app.connect("source-read", read)
    app.connect("env-get-outdated", lambda app, env, *_: sorted(env.found_docs))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
