"""Common parts of all pictures: plotting libraries, units, atomic files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..output.atomic_file import whole_file

_PREFIXES = {1e-9: "n", 1e-6: "µ", 1e-3: "m", 1.0: "", 1e3: "k", 1e6: "M", 1e9: "G"}
#: Units without prefixes above one.
_SMALL = ("s", "m", "m/s")


def pyplot() -> Any:
    """``matplotlib.pyplot`` with the backend Agg, which draws into files.

    Raises:
        ImportError: matplotlib is missing (extra ``plot``).
    """
    try:
        import matplotlib
    except ImportError as missing:
        raise ImportError("plots need matplotlib: install the extra 'plot'") from missing
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def load_pyvista() -> Any:
    """pyvista, unless VTK would crash without a display (versions below 9.4).

    Raises:
        ImportError: pyvista is missing (extra ``plot``).
        RuntimeError: No display, and a VTK that crashes without one.
    """
    try:
        from vtkmodules.vtkCommonCore import vtkVersion
    except ImportError as missing:
        raise ImportError("pictures of bodies need pyvista: install the extra 'plot'") from missing
    version = (vtkVersion.GetVTKMajorVersion(), vtkVersion.GetVTKMinorVersion())
    if version < (9, 4) and not os.environ.get("DISPLAY"):
        raise RuntimeError("this VTK draws only with a display: start under xvfb-run, or set DISPLAY")
    import pyvista

    return pyvista


def unit(size: float, name: str) -> tuple[float, str]:
    """Factor and unit with a prefix suited to the magnitude of a quantity.

    Args:
        size: Largest magnitude of the quantity, in ``name``.
        name: The SI unit without prefix.

    Returns:
        ``(factor, unit)``: the quantity times the factor is in the unit, between 1 and 1000 where a prefix
        allows it.
    """
    prefixes = [p for p in _PREFIXES if p <= 1.0 or name not in _SMALL]
    if not (size > 0 and np.isfinite(size)):
        return 1.0, name
    fitting = [p for p in prefixes if size >= p * (1 - 1e-9)]
    prefix = max(fitting, default=min(prefixes))
    return 1.0 / prefix, _PREFIXES[prefix] + name


def round_down(length: float) -> float:
    """Largest number of the form 1, 2 or 5 times a power of ten that does not exceed ``length``."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(power * max(digit for digit in (1, 2, 5) if digit * power <= length * (1 + 1e-9)))


def check_path(path: str | Path, kinds: Sequence[str]) -> None:
    """Raise if a picture cannot be written.

    Raises:
        ValueError: A suffix that is not one of ``kinds``.
        FileNotFoundError: The folder does not exist.
    """
    file = Path(path)
    if file.suffix.lower() not in kinds:
        raise ValueError(f"the name of the picture must end in {' or '.join(kinds)}, but is {file.name!r}")
    if not file.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(file.parent)!r} for the picture {file.name!r}")


def save(figure: Any, path: str | Path, *, dpi: int) -> None:
    """Write a matplotlib figure atomically and close it. On one rank."""
    kind = Path(path).suffix[1:].lower()
    try:
        with whole_file(Path(path)) as file:
            figure.savefig(file, dpi=dpi, format=kind)
    finally:
        pyplot().close(figure)
