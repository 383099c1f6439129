"""What reports keep for later ones: runs and measured costs, by code and parameters."""

from __future__ import annotations

import hashlib
import importlib
import os
import platform
import shutil
import site
import sys
import sysconfig
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from .. import runner

_PACKAGE = Path(__file__).resolve().parents[2]
#: Folders of what is installed: the package, Python, and other packages.
_INSTALLED = {
    _PACKAGE,
    *(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    *(Path(name).resolve() for name in (*site.getsitepackages(), site.getusersitepackages())),
}
_DAYS, _BYTES = 14, 2 * 10**9  #: What was not used for so long goes, and the oldest above so much in all.


def folder() -> Path | None:
    """The folder for this code of the package, in the cache of the user; None where it cannot be written."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    place = Path(home) / "dolfinx_impact" / "reports"
    try:
        mine = place / _code_of_the_package()
        mine.mkdir(parents=True, exist_ok=True)
        return mine if os.access(mine, os.W_OK) else None
    except OSError:
        return None


def sweep(place: Path) -> None:
    """Remove what no report has used for long, of any code, and the oldest of what is too much."""
    used = []
    for entry in place.parent.glob("*/*/"):
        with suppress(OSError):  # another process has swept it
            # A report that was killed may have left the folder without files.
            files = [file.stat() for file in entry.iterdir()] or [entry.stat()]
            used.append((max(file.st_mtime for file in files), sum(file.st_size for file in files), entry))
    total, oldest = 0, time.time() - 86400 * _DAYS
    for last, size, entry in sorted(used, reverse=True):
        total += size
        if last < oldest or total > _BYTES:
            shutil.rmtree(entry, ignore_errors=True)
    for code in place.parent.iterdir():
        with suppress(OSError):
            code.rmdir()  # where it is empty


def _code_of_the_package() -> str:
    """A hash of all sources, the versions of what they use, and the processor, on which times depend."""
    names = ("*.py", "*.c", "*.h", "*.geo", "*.npz", "*.csv", "*.AT2", "*.json")
    files = sorted(file for name in names for file in _PACKAGE.rglob(name))
    about = {name: value for name, value in runner.versions().items() if name != "commit"}
    return _hash(files, f"{about} {platform.machine()} {_processor()} {os.cpu_count()}")


def _processor() -> str:
    with suppress(OSError), open("/proc/cpuinfo") as lines:
        return next((line for line in lines if line.startswith(("model name", "CPU part"))), "")
    return ""


def code_of(schemes: Iterable[str]) -> dict[str, str]:
    """Hashes of code of own schemes, ``module:Class``: all modules that are loaded and not installed."""
    hashes = {}
    for scheme in schemes:
        importlib.import_module(scheme.partition(":")[0])
        loaded = (getattr(each, "__file__", None) for each in list(sys.modules.values()))
        files = {Path(name).resolve() for name in loaded if name}
        own = sorted(file for file in files if not _INSTALLED.intersection(file.parents))
        hashes[scheme] = _hash(own, scheme)
    return hashes


def _hash(files: Iterable[Path], words: str) -> str:
    sum_ = hashlib.sha256(words.encode())
    for file in files:
        with suppress(OSError):
            sum_.update(f"{file.name} {file.stat().st_size}\n".encode() + file.read_bytes())
    return sum_.hexdigest()[:24]
