"""Sphinx configuration: ``docker/run sphinx-build -W --keep-going .docs results/site``.

Nothing is fetched from a network, and nothing is written but the output folder.
"""

import gc
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent))

from sphinx.application import Sphinx  # noqa: E402

from dolfinx_impact import __version__  # noqa: E402

# Every page copies the tree of all pages: with the usual thresholds more than half of the time of a build was
# spent on collections that find nothing, as these trees persist.
gc.set_threshold(100_000, 20, 10)

project = "dolfinx_impact"
author = "The dolfinx_impact developers"
copyright = author
version = release = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinxcontrib.bibtex",
    "_site.mathjax",
    "_site.insertions",
    "_site.cross_references",
    "_site.docstrings",
    "_site.figures",
    "_site.search",
    "_site.theme",
]
# The demos are linked as a folder; this file and the parts of the site are no pages.
exclude_patterns = ["conf.py", "_site", "stored", "**.gz", "demos/*.sh"]
nb_custom_formats = {".py": "_site.demos.notebook"}
# Demos take options, MPI and minutes: they run as programs of their own, and the site shows what is stored.
nb_execution_mode = "off"

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
suppress_warnings = ["myst.strikethrough"]

autodoc_member_order = "bysource"
#: Names of types that say more than what they stand for.
ALIASES = "AnyArray ArrayLike BoolArray Contacts FloatArray Forces Int32Array Int64Array IntArray Vector"
autodoc_type_aliases = {name: name for name in ALIASES.split()}
napoleon_numpy_docstring = False
napoleon_preprocess_types = False
napoleon_use_ivar = True
python_maximum_signature_line_length = 88
highlight_language = "none"
add_module_names = False
toc_object_entries_show_parents = "hide"

bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"
bibtex_reference_style = "author_year"

html_theme = "furo"
html_title = f"dolfinx_impact {version}"
html_static_path = ["_static", "stored"]
html_css_files = ["site.css"]
html_copy_source = False
html_scaled_image_link = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}

linkcheck_anchors = False
linkcheck_timeout = 30
linkcheck_retries = 3


def registered(app: Sphinx, uri: str) -> str | None:
    """The registry's entry of a DOI: publishers refuse programs, which says nothing about the link."""
    doi = uri.removeprefix("https://doi.org/")
    return f"https://doi.org/api/handles/{doi}" if doi != uri else None


def setup(app: Sphinx) -> None:
    """Look up DOIs where they are registered."""
    app.connect("linkcheck-process-uri", registered)
