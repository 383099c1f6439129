# SPDX-License-Identifier: MIT
"""Recipe for Spack. The owner fills in the address of the source and the hash of its archive."""

from spack.package import *


class PyDolfinxImpact(PythonPackage):
    """Nonsmooth impact dynamics for FEniCSx: time integration with unilateral contact, as published."""

    license("MIT")

    version("0.3.0")

    variant("mesh", default=True, description="Read and generate meshes by gmsh")
    variant("compiled", default=True, description="Compiled loops by numba")
    variant("plot", default=False, description="Pictures and films")
    variant("tables", default=False, description="Histories as tables of pandas and xarray")

    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-setuptools@61:", type="build")
    depends_on("py-fenics-dolfinx@0.9:0.11", type=("build", "run"))
    depends_on("petsc~complex", type=("build", "run"))
    depends_on("py-petsc4py", type=("build", "run"))
    depends_on("py-mpi4py", type=("build", "run"))
    depends_on("py-numpy", type=("build", "run"))
    depends_on("py-scipy", type=("build", "run"))
    depends_on("py-cffi", type=("build", "run"))

    depends_on("gmsh", type="run", when="+mesh")
    depends_on("py-numba", type="run", when="+compiled")
    depends_on("py-matplotlib", type="run", when="+plot")
    depends_on("py-pyvista", type="run", when="+plot")
    depends_on("py-pandas", type="run", when="+tables")
    depends_on("py-xarray", type="run", when="+tables")

    import_modules = ["dolfinx_impact", "dolfinx_impact.benchmark"]
