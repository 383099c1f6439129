"""What a fault is."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any


@dataclasses.dataclass(frozen=True)
class Fault:
    """``lines``: module, or path of a C source in the package, old, new text.

    ``reach`` says which scenarios the fault can touch, ``by`` which oracle alone is asked, to save time.
    ``compiled``: by numba. ``ranks``: it is found by comparing so many with one.
    """

    says: str
    lines: tuple[tuple[str, str, str], ...]
    reach: Callable[[Any], bool] = lambda s: True
    by: str = ""
    compiled: bool = False
    ranks: int = 0
