"""Two repairs of the theme as Debian builds it: its script starts, and pages are dark where the reader's are.

Debian compiles furo without the bundler that it is written for: the import of Gumshoe gives no constructor,
which ends the script, and a nested media query is lost, so that only the button makes pages dark.
"""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util import logging

LOG = logging.getLogger(__name__)
_IMPORT, _GLOBAL = "import * as Gumshoe from", "import"
_DARK = re.compile(r'body\[data-theme="dark"\] \{\s*--color[^}]*\}')
_AUTOMATIC = "body:not([data-theme="


def script(text: str) -> str:
    """The script with an import that lets Gumshoe define itself, and without remarks in the console."""
    return re.sub(r"\n *console\.log\(.*?\);", "", text.replace(_IMPORT, _GLOBAL))


def style(text: str) -> str:
    """The style sheet with the dark colours for readers who prefer them too."""
    found = _DARK.search(text)
    if _AUTOMATIC in text or found is None:
        return text
    colours = found[0].replace('body[data-theme="dark"]', 'body:not([data-theme="light"])')
    return f"{text}\n@media screen and (prefers-color-scheme: dark) {{\n{colours}\n}}\n"


def repair(app: Sphinx, error: Exception | None) -> None:
    """Repair the files of a site in HTML."""
    if error or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    for file, change in (("scripts/furo.js", script), ("styles/furo.css", style)):
        path = static / file
        if not path.exists():
            LOG.warning("the theme has no %s: see .docs/_site/theme.py", file)
        else:
            path.write_text(change(path.read_text()))


def setup(app: Sphinx) -> dict[str, bool]:
    """Repair at the end."""
    app.connect("build-finished", repair)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
