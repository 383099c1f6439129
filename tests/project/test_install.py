"""The package installs with pip and works without its checkout."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.paths import ROOT

PARTS = ["pyproject.toml", "README.md", "LICENSE", "dolfinx_impact", "meshes"]


ENTRY_POINT = Path("dolfinx_impact", "benchmark", "__main__.py")
EVERY_MODULE = """
import importlib, pkgutil, dolfinx_impact
print(dolfinx_impact.__file__)
for each in pkgutil.walk_packages(dolfinx_impact.__path__, "dolfinx_impact."):
    if not each.name.endswith("__main__") and not each.name.startswith("dolfinx_impact.meshes"):
        print(importlib.import_module(each.name).__file__)
"""


@pytest.mark.slow
def test_installed_package_runs_a_case(tmp_path):
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    for name in PARTS:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name)
    pip = ["-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--target", str(target)]
    subprocess.run([sys.executable, *pip, str(source)], check=True, timeout=600)
    assert (target / "dolfinx_impact" / "py.typed").is_file()
    shutil.rmtree(source)
    # In front of everything else; what the checkout adds to the path comes after it.
    environment = {**os.environ, "PYTHONPATH": f"{target}:{os.environ.get('PYTHONPATH', '')}"}
    run = ["-m", "dolfinx_impact.benchmark", "run", "impacting-bar", "cd-lagrange", "--out", "out"]
    done = subprocess.run(
        [sys.executable, *run], cwd=tmp_path, env=environment, timeout=600, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "history.npz").is_file()
    found = subprocess.run(
        [sys.executable, "-c", EVERY_MODULE],
        cwd=tmp_path,
        env=environment,
        text=True,
        capture_output=True,
        check=True,
    )
    files = found.stdout.split()
    there = {path.relative_to(ROOT) for path in (ROOT / "dolfinx_impact").rglob("*.py")}
    assert {Path(each).relative_to(target) for each in files} == there - {ENTRY_POINT}
