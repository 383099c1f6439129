"""The package installs with pip and works without its checkout."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PARTS = ["pyproject.toml", "README.md", "LICENSE", "dolfinx_impact", "meshes"]


@pytest.mark.serial
def test_installed_package_runs_a_case(tmp_path):
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    for name in PARTS:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name)
    pip = ["-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--target", str(target)]
    subprocess.run([sys.executable, *pip, str(source)], check=True, timeout=120)
    assert (target / "dolfinx_impact" / "py.typed").is_file()
    shutil.rmtree(source)
    # In front of everything else; what the checkout adds to the path comes after it.
    environment = {**os.environ, "PYTHONPATH": f"{target}:{os.environ.get('PYTHONPATH', '')}"}
    run = ["-m", "dolfinx_impact.benchmark", "run", "impacting-bar", "cd-lagrange", "--out", "out"]
    done = subprocess.run([sys.executable, *run], cwd=tmp_path, env=environment, timeout=120,
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "history.npz").is_file()
    where = "import dolfinx_impact; print(dolfinx_impact.__file__)"
    found = subprocess.run([sys.executable, "-c", where], cwd=tmp_path, env=environment, text=True,
                           capture_output=True, check=True)  # fmt: skip
    assert found.stdout.startswith(str(target))
