"""Demos: run the short ones whose results are not there, show what each drew and printed."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jupytext
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.util import logging

from . import programs

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "results"
LOG = logging.getLogger(__name__)
#: Demos that a build runs, of seconds to a minute each; the drop test writes 70 MB.
SHORT = (
    "by_hand",
    "impacting_bar",
    "own_scheme",
    "cradle",
    "obstacles",
    "colliding_parts",
    "taylor_bar",
    "bridge_crane",
)
PRINTED = "printed.txt"


def notebook(text: str) -> NotebookNode:
    """The notebook of a script in the percent format, with the language of its cells."""
    found = jupytext.reads(text, fmt="py:percent")
    found.metadata["language_info"] = {"name": "python", "pygments_lexer": "python"}
    return found


def run(name: str) -> None:
    """Run a demo as a user would, into ``results/NAME``, with what it prints in a file there."""
    LOG.info("running demos/%s.py", name)
    done = subprocess.run(
        [sys.executable, f"demos/{name}.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env=programs.environment(),
    )
    if done.returncode:
        LOG.warning("demos/%s.py failed: %s", name, done.stderr)
    else:
        (RESULTS / name / PRINTED).write_text(done.stdout)


def run_missing(app: Sphinx) -> None:
    """Run the short demos that have printed nothing yet, two at a time; none with the tag ``pages``."""
    if app.builder.format == "html" and not app.tags.has("pages"):
        missing = [name for name in SHORT if not (RESULTS / name / PRINTED).exists()]
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(run, missing))


def film(names: str) -> str:
    """The film that a demo wrote, ``demo file``; without it the small picture of the front page."""
    demo, file = names.split()
    written = RESULTS / demo / f"{file}.gif"
    source = f"../results/{demo}/{file}.gif" if written.exists() else f"{demo}.png"
    return f"```{{image}} {source}\n:alt: Film of the demo {demo}\n:align: center\n:width: 560px\n```"


def results(name: str) -> str:
    """A cell below a demo with what it printed, its pictures and films, as far as they are there."""
    folder = RESULTS / name
    lines = ["", "# %% [markdown]", "# ## What it prints and draws", "#"]
    if (folder / PRINTED).exists():
        printed = (folder / PRINTED).read_text().rstrip().splitlines()
        lines += ["# ```text", *(f"# {line}" for line in printed), "# ```", "#"]
    pictures = sorted([*folder.glob("*.png"), *folder.glob("*.gif")])
    for picture in pictures:
        lines += [f"# ![{picture.stem.replace('_', ' ')}](../../results/{name}/{picture.name})", "#"]
    if not pictures:
        lines.append(f"# This site was built without them: the demo writes them into `results/{name}`.")
    return "\n".join(lines) + "\n"
