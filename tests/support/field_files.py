"""Files of fields as their readers show them, and what they should show: sorted by places."""

from types import SimpleNamespace

import numpy as np
from mpi4py import MPI

from dolfinx_impact import VonMises, parallel
from dolfinx_impact.output.fields import LABELS
from support import vtx_reader

COMM = MPI.COMM_WORLD
#: Fields that are written by default.
NAMES = ("displacement", "velocity", "stress", "impulse", "gap")


def gathered(s, values):
    """Values at the owned nodes of all ranks with their coordinates in front, in their order."""
    body = getattr(s.system, "fine", s.system)
    own = body.owned // body.block
    values = np.asarray(values).reshape(body.size // body.block, -1)
    return in_order(parallel.gather_rows(COMM, np.column_stack([body.x[:own], values[:own]])))


def in_order(table):
    return table[np.lexsort(np.round(table[:, :3], 9).T)]


def shown(s):
    """Expected values of a sample, without impulses."""
    body = s.system
    g = np.full(body.size // body.block, np.nan)
    if s.contact is not None:
        np.fmin.at(g, s.contact.L.dofs[:, 0] // body.block, s.gap())
    fields = {"displacement": s.u, "velocity": s.v_mean, "stress": VonMises(body)(s.u), "gap": g}
    return s.t, {name: gathered(s, values) for name, values in fields.items()}


def read(path, names=NAMES):
    """A file as rank 0 reads it: ``t``, and ``tables`` by name, with coordinates in front, for each time.

    VTX by the library of ADIOS2, VTU by PyVista, XDMF by meshio. Of points that several ranks have, one.
    """
    COMM.barrier()
    reader = {".bp": vtx_reader.read, ".pvd": _pieces, ".xdmf": _series}[path.suffix]
    file = parallel.on_root(COMM, lambda: reader(path, [LABELS[name] for name in names]))
    file.points = file.x[file.own]
    file.tables = {
        name: [in_order(np.column_stack([file.points, step[file.own]])) for step in file.fields[LABELS[name]]]
        for name in names
    }
    return file


def _pieces(path, names):
    import pyvista

    reader = pyvista.get_reader(path)
    fields = {name: [] for name in names}
    for t in reader.time_values:
        reader.set_active_time_value(t)
        (grid,) = reader.read()
        for name in names:
            fields[name].append(np.array(grid.point_data[name]).reshape(grid.n_points, -1))
    own = np.array(grid.point_data.get("vtkGhostType", np.zeros(grid.n_points))) == 0
    all_names = set(grid.point_data.keys()) - {"vtkGhostType"}
    return SimpleNamespace(
        t=np.array(reader.time_values), x=grid.points, own=own, fields=fields, names=all_names
    )


def _series(path, names):
    import meshio

    t, fields = [], {name: [] for name in names}
    with meshio.xdmf.TimeSeriesReader(path) as reader:
        x, _ = reader.read_points_cells()
        for k in range(reader.num_steps):
            time, values, _ = reader.read_data(k)
            t.append(time)
            for name in names:
                fields[name].append(values[name].reshape(len(x), -1))
    x = np.column_stack([x, np.zeros((len(x), 3 - x.shape[1]))])
    return SimpleNamespace(t=np.array(t), x=x, own=np.ones(len(x), bool), fields=fields, names=set(values))
