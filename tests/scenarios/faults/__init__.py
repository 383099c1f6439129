"""Faults put back on purpose: lines of the package as they were, by name, to see that the oracles find them.

``install(name)`` before the package is imported: the modules and the C sources concerned are then read with
these lines. Compiled C code is kept by its text; what numba compiles of a module by its date and its byte
code, so that faults have a cache of their own where they are ``compiled``. A fault whose line is not there
any more is an error: it has to follow the code.
"""

from __future__ import annotations

import hashlib
import importlib.abc
import importlib.machinery
import sys
from pathlib import Path
from typing import Any

from . import bodies, contacts, integrators, runs
from .base import Fault

__all__ = ["FAULTS", "Fault", "install", "path_of", "replaced"]

FAULTS = contacts.FAULTS | integrators.FAULTS | bodies.FAULTS | runs.FAULTS


def path_of(module: str) -> str:
    """Path of a module or a C source in the package."""
    return module if "/" in module else f"{module.replace('.', '/')}.py"


def replaced(text: str, lines: list[tuple[str, str]], where: str) -> str:
    """A source with the lines of a fault."""
    for old, new in lines:
        if old not in text:
            raise ImportError(f"the fault has to follow the code: {where} has no line {old!r}")
        text = text.replace(old, new)
    return text


class _Faulty(importlib.machinery.SourceFileLoader):
    """Reads a module with some of its lines replaced."""

    lines: tuple[tuple[str, str], ...] = ()

    def get_code(self, fullname):
        path = self.get_filename(fullname)
        text = replaced(self.get_data(path).decode(), list(self.lines), fullname)
        return self.source_to_code(text.encode(), path)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, lines: dict[str, list[tuple[str, str]]]):
        self.modules = {f"dolfinx_impact.{name}": each for name, each in lines.items()}

    def find_spec(self, name, path, target=None):
        if name not in self.modules:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        spec.loader = _Faulty(name, spec.origin)
        spec.loader.lines = tuple(self.modules[name])
        return spec


def _read_with(sources: dict[str, list[tuple[str, str]]]) -> None:
    """From now on C sources are read with these lines: the package takes them with ``Path.read_text``."""
    read = Path.read_text

    def faulty(self: Path, *args: Any, **options: Any) -> str:
        text = read(self, *args, **options)
        for name, lines in sources.items():
            if self.as_posix().endswith(f"dolfinx_impact/{name}"):
                text = replaced(text, lines, name)
        return text

    Path.read_text = faulty  # type: ignore[method-assign]


def _cache_apart(fault: Fault) -> None:
    """Let numba keep what it compiles of this fault in a folder of its own, in this process alone."""
    import numba

    key = hashlib.sha256(repr(fault.lines).encode()).hexdigest()[:12]
    numba.config.CACHE_DIR = str(Path(numba.config.CACHE_DIR or Path.home()) / f"fault-{key}")


def install(name: str) -> Fault:
    """Put a fault back into the package, which must not be imported yet."""
    if "dolfinx_impact" in sys.modules:
        raise RuntimeError("the package is imported already")
    fault = FAULTS[name]
    lines: dict[str, list[tuple[str, str]]] = {}
    for module, old, new in fault.lines:
        lines.setdefault(module, []).append((old, new))
    sys.meta_path.insert(0, _Finder({each: lines[each] for each in lines if "/" not in each}))
    if sources := {each: lines[each] for each in lines if "/" in each}:
        _read_with(sources)
    if fault.compiled:
        _cache_apart(fault)
    return fault
