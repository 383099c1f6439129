"""What the compiled loop of an explicit scheme takes of its parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._types import FloatArray
from ...algebra import kernels
from ...systems.compiled import Compiled, compiled_forces
from ..impulses.contact_laws import CompiledLaw


@dataclass(frozen=True)
class CompiledParts:
    """Parts of a compiled loop over steps of central differences.

    Attributes:
        forces: The forces of the system.
        law: The contact law, or None without contact.
        diagonal: The diagonal of H, shape (p,) [1/kg].
    """

    forces: Compiled
    law: CompiledLaw | None
    diagonal: FloatArray


def parts_of(scheme: Any) -> CompiledParts:
    """Compiled forms of the forces, the contact law and the Delassus operator of an explicit scheme.

    Args:
        scheme: The scheme.

    Raises:
        NotCompiled: The reason of one of them.
    """
    forces = compiled_forces(scheme.system)
    if scheme.contact is None:
        return CompiledParts(forces, None, np.zeros(0))
    law: CompiledLaw = kernels.ask(scheme.enforcement, "is no contact law of the compiled loop")
    return CompiledParts(forces, law, kernels.ask(scheme._response, "has no compiled form"))
