"""Caches of compiled code while mutants run: none may come from the source before, or from another mutant.

C code and forms are kept by the hash of their text, so that a change is compiled anew; files that a mutant
adds are removed. numba looks at the time of the file of a function, but not at those of the functions that it
compiles into it: what depends on the changed module is dropped, and brought back afterwards.
"""

from __future__ import annotations

import ast
import contextlib
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path


class Caches:
    """The caches of a folder that ``XDG_CACHE_HOME`` names while the tests of a clone run.

    Args:
        cache: The folder.
        clone: The clone.
    """

    def __init__(self, cache: Path, clone: Path) -> None:
        self._cache, self._clone = cache, clone
        self._kept = cache / "kept"

    def prepare(self, name: str) -> bool:
        """Set numba's caches to those kept under a name, else empty them; whether there were any."""
        for folder in self._numba():
            shutil.rmtree(folder)
        kept = self._kept / name
        if kept.exists():
            shutil.copytree(kept, self._cache, dirs_exist_ok=True)
        self._link_kernels()
        return kept.exists()

    def keep(self, name: str) -> None:
        """Keep numba's caches as they are now, and no older ones."""
        shutil.rmtree(self._kept, ignore_errors=True)
        (self._kept / name).mkdir(parents=True)
        for folder in self._numba():
            shutil.copytree(folder, self._kept / name / folder.relative_to(self._cache))

    @contextlib.contextmanager
    def of_mutant(self, name: str, path: str) -> Iterator[Callable[[], bool]]:
        """Caches without what depends on a file; gives whether C code was compiled since.

        Args:
            name: Of the caches of the unmutated source.
            path: The changed file, from the root of the clone.
        """
        self.prepare(name)
        if path.endswith(".py"):
            files = [file for folder in self._numba() for file in folder.glob("*/*")]
            stale = dependents(self._clone, path, {file.name.split(".")[0] for file in files})
            for file in files:
                if file.name.split(".")[0] in stale:
                    file.unlink()
        before = set(self._kernels())
        try:
            yield lambda: any(each.name.startswith("impact_") for each in set(self._kernels()) - before)
        finally:
            for each in set(self._kernels()) - before:
                shutil.rmtree(each) if each.is_dir() else each.unlink()

    def _numba(self) -> list[Path]:
        return list(self._cache.glob("dolfinx_impact/*/checkout-*/numba"))

    def _kernels(self) -> Iterator[Path]:
        return self._cache.glob("dolfinx_impact/*/fenics/*")

    def _link_kernels(self) -> None:
        """Take over what other checkouts have compiled, but nothing that is not finished."""
        for file in self._cache.glob("dolfinx_impact/*/fenics/*.c"):
            if not file.with_suffix(".c.cached").exists():
                file.unlink()  # DOLFINx would wait for its end
        for folder in self._cache.parent.glob("*/fenics"):
            own = self._cache / "dolfinx_impact" / folder.parent.name / "fenics"
            own.mkdir(parents=True, exist_ok=True)
            for file in folder.iterdir():
                whole = (
                    file.name.startswith("impact_")
                    or (folder / f"{file.name.split('.')[0]}.c.cached").exists()
                )
                if whole and file.is_file() and not (own / file.name).exists():
                    with contextlib.suppress(OSError):  # another file system
                        os.link(file, own / file.name)


def dependents(clone: Path, path: str, compiled: set[str]) -> set[str]:
    """Names of modules into whose compiled functions those of a module may be compiled, and its own name.

    Args:
        clone: The clone.
        path: The file of the module, from the root of the clone.
        compiled: Names of modules with functions in the cache; others of which numba is told count too.
    """
    imports: dict[str, set[str]] = {}
    for folder in ("dolfinx_impact", "tests", "demos"):
        for file in (clone / folder).rglob("*.py"):
            text = file.read_bytes()
            if _name(file) in compiled or re.search(rb"numba|\bjit\b", text):
                imports.setdefault(_name(file), set()).update(_imported(text))
    found, stack = set(), [_name(clone / path)]
    while stack:
        name = stack.pop()
        if name not in found:
            found.add(name)
            stack += [each for each, names in imports.items() if name in names]
    return found


def _name(file: Path) -> str:
    """A module without its package, a package by its folder."""
    return file.parent.name if file.stem == "__init__" else file.stem


def _imported(source: bytes) -> Iterator[str]:
    """Every name in the imports of a module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (node.module or "").split(".") if isinstance(node, ast.ImportFrom) else ()
            for each in node.names:
                yield from each.name.split(".")
