"""What the papers say of every case, decided by runs; and their figures, drawn again."""

from .claim import Claim, Figure, Finding

__all__ = ["Claim", "Figure", "Finding"]
