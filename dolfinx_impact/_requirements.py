"""Looks, when it is imported, whether what the package needs is there: one line says what is not."""

from __future__ import annotations

_NEEDED = "dolfinx_impact needs DOLFINx 0.9 to 0.11 with a PETSc of real numbers"


def check() -> None:
    """Look for DOLFINx and PETSc.

    Raises:
        ImportError: They are not there, or others than those that are supported.
    """
    try:
        import dolfinx
        import numpy as np
        import petsc4py  # noqa: F401
    except ImportError as error:
        said = (str(error).splitlines() or [""])[0]
        raise ImportError(
            f"{_NEEDED}, but importing them fails: {said} (on Debian 13: apt install python3-dolfinx-real)"
        ) from None
    version = str(getattr(dolfinx, "__version__", "of no version"))
    if not version.startswith(("0.9.", "0.10.", "0.11.")):
        raise ImportError(f"{_NEEDED}, but this DOLFINx is {version}")
    if np.issubdtype(getattr(dolfinx, "default_scalar_type", float), np.complexfloating):
        raise ImportError(
            f"{_NEEDED}, but that of this DOLFINx has complex ones: take the real build (on Debian 13: "
            "python3-dolfinx-real, PETSC_DIR=/usr/lib/petscdir/petsc-real)"
        )


check()
