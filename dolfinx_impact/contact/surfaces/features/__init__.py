"""Vertices, edges and triangles of surfaces: whether they meet on their paths within a step."""

from .paths import FeaturePaths, Hits

__all__ = ["FeaturePaths", "Hits"]
