"""A frame that every rank has."""

import basix.ufl
import numpy as np
from dolfinx import mesh as dmesh
from mpi4py import MPI

import dolfinx_impact as di
from dolfinx_impact import _compat


def falling_frame():
    """A beam in space of four elements, which falls freely, started."""
    mesh = dmesh.create_interval(MPI.COMM_SELF, 4, [0.0, 1.0])
    cells = np.asarray(_compat.geometry_dofmap(mesh), dtype=np.int64)
    element = basix.ufl.element("Lagrange", "interval", 1, shape=(3,))
    line = dmesh.create_mesh(MPI.COMM_SELF, cells=cells, e=element, x=mesh.geometry.x.copy())
    frame = di.Frame(line, density=1e3, E=1e9, nu=0.3, sections=di.Section.circle(0.1), gravity=(0, 0, -9.81))
    s = di.CDLagrange(frame, 0.5 * frame.critical_time_step())
    s.start(0.0, 0.0)
    return s
