"""The rooms of the package: imports between its folders go one way, and the wheel has all of them."""

import ast
import tomllib
from pathlib import Path

import pytest

import dolfinx_impact

PACKAGE = Path(dolfinx_impact.__file__).resolve().parent
CHECKOUT = PACKAGE.parent
ROOT_MODULES = 10


def name_of(path):
    parts = path.relative_to(CHECKOUT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path, names, root):
    """Modules that a file imports, inside functions too, but not for type checkers alone."""
    here = name_of(path).split(".")
    here = here if path.name == "__init__.py" else here[:-1]
    stack = [ast.parse(path.read_text())]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            stack += node.orelse
            continue
        stack += (each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.expr))
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name in names)
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) + 1 - node.level] if node.level else []
            base = ".".join(base + (node.module or "").split(".") if node.module else base)
            for each in node.names:
                full = f"{base}.{each.name}"
                # What the root hands on belongs to the folder that it comes from.
                if base == "dolfinx_impact":
                    full = root.get(each.name, full)
                yield full if full in names else base


def room(module, folders):
    """The folder of a module; modules of the root are a room each."""
    parts = module.split(".")
    return ".".join(parts[:2]) if len(parts) > 1 and parts[1] in folders or len(parts) == 2 else module


def graph(package=PACKAGE):
    files = {name_of(path): path for path in package.rglob("*.py")}
    tops = [(name, path) for name, path in files.items() if name.count(".") == 1]
    folders = {name.split(".")[1] for name, path in tops if path.stem == "__init__"}
    root = {}
    for node in ast.walk(ast.parse((package / "__init__.py").read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            root.update({each.asname or each.name: f"dolfinx_impact.{node.module}" for each in node.names})
    found = {}
    for name, path in files.items():
        if name == "dolfinx_impact":
            continue
        for target in imported(path, files, root):
            here, there = room(name, folders), room(target, folders)
            if there.startswith("dolfinx_impact.") and here != there:
                found.setdefault(here, set()).add(there)
    return found


def circles(edges):
    """Folders that reach themselves."""

    def reached(start):
        seen, stack = set(), [start]
        while stack:
            for each in edges.get(stack.pop(), ()):
                if each not in seen:
                    seen.add(each)
                    stack.append(each)
        return seen

    return sorted(each for each in edges if each in reached(each))


def test_imports_between_folders_go_one_way():
    edges = graph()
    assert {"dolfinx_impact.contact", "dolfinx_impact.parallel"} <= edges["dolfinx_impact.integrators"]
    assert circles(edges) == []


def test_circles_of_any_length_are_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == ["a", "b", "c"]


@pytest.mark.parametrize(
    "text, circle",
    [
        ("from .integrators import base\n", True),
        ("def later():\n    from . import simulate\n", True),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .simulation import loop\n", False),
    ],
)
def test_names_of_the_root_and_imports_in_functions_count(text, circle, tmp_path, monkeypatch):
    """In a package of two folders that import the module ``parallel``, which has the text."""
    files = {
        "__init__.py": "from .simulation.loop import simulate\n",
        "parallel.py": text,
        "integrators/__init__.py": "",
        "integrators/base.py": "from .. import parallel\n",
        "simulation/__init__.py": "",
        "simulation/loop.py": "from ..parallel import total\n",
    }
    package = tmp_path / "dolfinx_impact"
    for name, content in files.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(content)
    monkeypatch.setitem(globals(), "CHECKOUT", tmp_path)
    edges = graph(package)
    folders = {"dolfinx_impact.integrators", "dolfinx_impact.simulation"}
    assert folders <= edges.keys() and bool(circles(edges)) == circle


def test_the_root_holds_what_belongs_to_no_folder():
    assert len(list(PACKAGE.glob("*.py"))) <= ROOT_MODULES


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("__init__.py")), ids=name_of)
def test_no_folder_is_too_long_to_be_read_at_a_glance(path):
    assert len(list(path.parent.glob("*.py"))) <= 20


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("__init__.py")), ids=name_of)
def test_every_folder_says_what_lives_there(path):
    assert len((ast.get_docstring(ast.parse(path.read_text())) or "").strip()) > 60


@pytest.mark.skipif(not (CHECKOUT / "pyproject.toml").is_file(), reason="needs a checkout")
def test_the_wheel_has_all_packages():
    listed = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    there = {name_of(path) for path in PACKAGE.rglob("__init__.py")}
    assert set(listed) == there | {"dolfinx_impact.meshes"}
    assert len(listed) == len(set(listed))


@pytest.mark.skipif(not (CHECKOUT / "pyproject.toml").is_file(), reason="needs a checkout")
def test_the_wheel_has_the_files_beside_the_modules():
    """The style sheet of the report and others: each is named for the package in whose folder it stands."""
    data = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    paths = (path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix != ".py")
    files = [path for path in paths if "__pycache__" not in path.parts]
    assert PACKAGE / "benchmark" / "report" / "page.css" in files
    for path in files:
        package = ".".join(path.relative_to(CHECKOUT).parent.parts)
        assert any(path.match(pattern) for pattern in data.get(package, [])), path
