"""Meshes with named parts, from a ``.geo`` script with parameters, a ``.msh`` or STEP file, a gmsh model.

Reading, joining, distribution and checks of cells; bodies on meshes are in ``systems``.
"""

from .joined import join
from .named_mesh import NamedMesh, bare_mesh
from .naming import named
from .reading import package_mesh, read

__all__ = ["NamedMesh", "bare_mesh", "join", "named", "package_mesh", "read"]
