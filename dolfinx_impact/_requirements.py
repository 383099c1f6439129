"""Check of the required packages at import, with errors of one line."""

from __future__ import annotations

_NEEDED = "dolfinx_impact needs DOLFINx 0.9 to 0.11 with a PETSc of real numbers"


def check() -> None:
    """Check DOLFINx and PETSc.

    Raises:
        ImportError: DOLFINx or petsc4py is missing or not supported.
    """
    try:
        import dolfinx
        import numpy as np
        import petsc4py  # noqa: F401
    except ImportError as error:
        reason = (str(error).splitlines() or [""])[0]
        raise ImportError(
            f"{_NEEDED}, but importing them fails: {reason} (on Debian 13: apt install python3-dolfinx-real)"
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
