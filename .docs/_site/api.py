"""The reference: directives of autodoc for every name, each once, under the shortest name that is public."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from types import ModuleType
from typing import Any

from sphinx.pycode import ModuleAnalyzer

import dolfinx_impact

#: Subpackages and modules that have a page; the page ``api/NAME.md`` inserts ``api NAME``.
PAGES = (
    "systems",
    "materials",
    "mesh",
    "contact",
    "integrators",
    "simulation",
    "studies",
    "output",
    "plot",
    "exact",
    "algebra",
    "signals",
    "parallel",
    "benchmark",
)
_PACKAGE = "dolfinx_impact"
#: Pages of what some modules export for scripts, not of what all modules share among themselves.
_EXPORTS_ONLY = {
    "plot": ("plot", "plot.frames"),
    "benchmark": ("benchmark", "benchmark.report", "benchmark.cases.bridge_crane", "benchmark.run_log"),
}


def modules(page: str) -> list[ModuleType]:
    """The modules of a page, packages before what is in them, without those with an underscore."""
    if page in _EXPORTS_ONLY:
        return [importlib.import_module(f"{_PACKAGE}.{name}") for name in _EXPORTS_ONLY[page]]
    top = importlib.import_module(f"{_PACKAGE}.{page}")
    found = [top]
    for each in pkgutil.walk_packages(getattr(top, "__path__", ()), f"{top.__name__}."):
        if not any(part.startswith("_") for part in each.name.split(".")):
            found.append(importlib.import_module(each.name))
    return found


def is_public_module(name: str) -> bool:
    """Whether a module, by its name in the package, is one whose names scripts use."""
    return name in _exported() or name in _public_modules()


def _exported() -> list[str]:
    return [name for several in _EXPORTS_ONLY.values() for name in several if "." in name]


def _public_modules() -> dict[str, ModuleType]:
    found = (getattr(dolfinx_impact, name) for name in dolfinx_impact.__all__)
    return {each.__name__.removeprefix(f"{_PACKAGE}."): each for each in found if inspect.ismodule(each)}


def is_public(path: str) -> bool:
    """Whether scripts use what the reference has under a path: names of the package, of public modules."""
    name = path.removeprefix(f"{_PACKAGE}.")
    first = name.partition(".")[0]
    if first in dolfinx_impact.__all__ and not inspect.ismodule(getattr(dolfinx_impact, first)):
        return True
    for module, thing in _public_modules().items():
        if name.startswith(f"{module}."):
            return name.removeprefix(f"{module}.").partition(".")[0] in getattr(thing, "__all__", vars(thing))
    return is_public_module(name) or any(name.startswith(f"{each}.") for each in _exported())


def home(thing: Any) -> str:
    """The module that defines a class or function."""
    return getattr(thing, "__module__", "") or ""


def public_names(page: str) -> list[str]:
    """Names of the package that a page documents: classes, functions and constants, no modules."""
    here = f"{_PACKAGE}.{page}"
    names = []
    for name in dolfinx_impact.__all__:
        thing = getattr(dolfinx_impact, name)
        where = f"{_PACKAGE}.integrators" if name == "SCHEMES" else home(thing)
        if not inspect.ismodule(thing) and f"{where}.".startswith(f"{here}."):
            names.append(name)
    return names


def _directive(path: str, thing: Any) -> list[str]:
    kind = "autoclass" if inspect.isclass(thing) else "autofunction" if callable(thing) else "autodata"
    lines = [f".. {kind}:: {path}"]
    if kind == "autoclass":
        lines += ["   :members:", "   :show-inheritance:", "   :special-members: __call__"]
    if kind == "autodata":
        lines.append("   :no-value:")
    return [*lines, ""]


def _own(module: ModuleType) -> dict[str, Any]:
    """Classes and functions that a module defines or, as a package, exports; none with an underscore."""
    exported = getattr(module, "__all__", ()) if hasattr(module, "__path__") else ()
    found = {}
    for name, thing in vars(module).items():
        of_package = name in exported and home(thing).startswith(f"{module.__name__}.")
        defined = home(thing) == module.__name__ or of_package
        if not name.startswith("_") and defined and (inspect.isclass(thing) or inspect.isroutine(thing)):
            found[name] = thing
    return found


def _constants(module: ModuleType) -> list[str]:
    """Data of a module with a comment ``#:``, without an underscore."""
    if "#:" not in inspect.getsource(module):
        return []  # parsing takes long
    described = ModuleAnalyzer.for_module(module.__name__)
    described.analyze()
    return [
        name
        for owner, name in described.attr_docs
        if not owner and not name.startswith("_") and name not in dolfinx_impact.__all__
    ]


def _is_documented(thing: Any) -> bool:
    return bool(thing.__dict__.get("__doc__") if inspect.isclass(thing) else thing.__doc__)


def reference(page: str) -> str:
    """The text of a page: first the names of the package itself, then module by module."""
    seen: set[Any] = set()
    lines = []
    for name in public_names(page):
        thing = getattr(dolfinx_impact, name)
        lines += _directive(f"{_PACKAGE}.{name}", thing)
        seen.add(name if name == "SCHEMES" else thing)
    text = ["## Names of the package", "", "```{eval-rst}", *lines, "```", ""] if lines else []
    for module in modules(page):
        below = []
        for name, thing in _own(module).items():
            if thing not in seen and _is_documented(thing):
                seen.add(thing)
                below += _directive(f"{module.__name__}.{name}", thing)
        for name in _constants(module):
            below += [f".. autodata:: {module.__name__}.{name}", "   :no-value:", ""]
        title = module.__name__.removeprefix(f"{_PACKAGE}.")
        text += [
            f"## Module `{title}`",
            "",
            "```{eval-rst}",
            f".. automodule:: {module.__name__}",
            "",
            *below,
        ]
        text += ["```", ""]
    return "\n".join(text)
