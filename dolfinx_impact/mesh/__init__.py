"""Meshes with named parts, from a ``.geo`` script with parameters, a ``.msh`` or STEP file, a gmsh model.

Reading, joining, rotation, distribution and checks of cells; bodies on meshes are in ``systems``.
"""

from .joined import join
from .named_mesh import NamedMesh, bare_mesh
from .naming import named
from .placement import bounding_box, rotate
from .reading import package_mesh, read

__all__ = ["NamedMesh", "bare_mesh", "bounding_box", "join", "named", "package_mesh", "read", "rotate"]
