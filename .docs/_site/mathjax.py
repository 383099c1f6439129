"""MathJax from Debian in the site itself: formulas need no network."""

import shutil
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util import logging

LOG = logging.getLogger(__name__)
SOURCE = Path("/usr/share/javascript/mathjax")
#: What TeX in, HTML out takes of it.
PARTS = (
    "MathJax.js",
    "extensions/tex2jax.js",
    "extensions/MathEvents.js",
    "extensions/TeX",
    "jax/input/TeX",
    "jax/element/mml",
    "jax/output/CommonHTML",
    "fonts/HTML-CSS/TeX/woff",
)
CONFIGURATION = {
    "jax": ["input/TeX", "output/CommonHTML"],
    "extensions": ["tex2jax.js", "TeX/AMSmath.js", "TeX/AMSsymbols.js"],
    "tex2jax": {
        "inlineMath": [["\\(", "\\)"]],
        "displayMath": [["\\[", "\\]"]],
        "ignoreClass": ".*",
        "processClass": "tex2jax_process|mathjax_process|math",
    },
    "CommonHTML": {"linebreaks": {"automatic": False}},
    "showMathMenu": False,
    "messageStyle": "none",
}


def copy(app: Sphinx, error: Exception | None) -> None:
    """Copy the parts into the static files of a site in HTML."""
    if error or app.builder.format != "html":
        return
    if not SOURCE.is_dir():
        LOG.warning("formulas stay source: no MathJax in %s (Debian's libjs-mathjax)", SOURCE)
        return
    for part in PARTS:
        source, target = SOURCE / part, Path(app.outdir) / "_static" / "mathjax" / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        else:
            shutil.copyfile(source, target)


def setup(app: Sphinx) -> dict[str, bool]:
    """Let formulas use the copy."""
    app.config.mathjax_path = "mathjax/MathJax.js"
    app.config.mathjax2_config = CONFIGURATION
    app.config.myst_update_mathjax = False
    app.connect("build-finished", copy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
