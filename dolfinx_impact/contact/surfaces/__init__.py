"""Contact between surfaces of deformable bodies by dual mortar rows over segments, and ties.

Facets and their shape functions, search for candidate pairs, integrals over segments, rows of L. The
iteration that solves the contact problem lives in ``algebra`` and ``integrators``.
"""

from .surface_contact import SurfaceContact

__all__ = ["SurfaceContact"]
