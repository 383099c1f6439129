"""Meshes with named parts: a ``.geo`` script with parameters, a ``.msh`` or STEP file, a gmsh model.

Reading, distributing and checking cells; what is made of a mesh lives in ``systems``.
"""

from .named_mesh import NamedMesh, bare_mesh, package_mesh, read

__all__ = ["NamedMesh", "bare_mesh", "package_mesh", "read"]
