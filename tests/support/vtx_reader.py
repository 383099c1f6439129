"""Reads VTX files through the C library of ADIOS2, which DOLFINx needs anyway."""

from __future__ import annotations

import ctypes
import glob
from ctypes import POINTER, byref, c_double, c_int, c_int64, c_size_t, c_uint8, c_uint32, c_void_p
from types import SimpleNamespace

import numpy as np

_READ, _SYNC, _NEXT = 2, 5, 2
_TYPES = {2: c_double, 8: c_int64, 9: c_uint8, 11: c_uint32}


class _VariableInfo(ctypes.Structure):
    _fields_ = [
        ("dims", c_int),
        ("shape", POINTER(c_size_t)),
        ("is_value", c_int),
        ("reverse", c_int),
        ("nblocks", c_size_t),
        ("blocks", c_void_p),
    ]


def _library():
    found = sorted(glob.glob("/usr/lib/*/libadios2*_c.so*"))
    if not found:
        return None
    library = ctypes.CDLL(found[0])
    for name in ("init_serial", "declare_io", "open", "inquire_variable", "inquire_attribute"):
        getattr(library, f"adios2_{name}").restype = c_void_p
    library.adios2_inquire_blockinfo.restype = POINTER(_VariableInfo)
    return library


def available():
    """Whether there is such a library."""
    return _library() is not None


class _Reader:
    def __init__(self, path):
        self.library = _library()
        self.adios = c_void_p(self("init_serial"))
        self.io = c_void_p(self("declare_io", self.adios, b"read"))
        self.engine = c_void_p(self("open", self.io, str(path).encode(), _READ))
        assert self.engine.value, f"{path} cannot be opened"

    def __call__(self, name, *arguments):
        return getattr(self.library, f"adios2_{name}")(*arguments)

    def next_step(self):
        status = c_int(-1)
        assert self("begin_step", self.engine, _NEXT, ctypes.c_float(0.0), byref(status)) == 0
        return status.value == 0

    def blocks(self, name):
        """Values of a variable that each rank wrote in this step, flat; None where there are none."""
        variable = c_void_p(self("inquire_variable", self.io, name.encode()))
        if not variable.value:
            return None
        kind, step = c_int(), c_size_t()
        self("variable_type", byref(kind), variable)
        self("current_step", byref(step), self.engine)
        count, found = self("inquire_blockinfo", self.engine, variable, step).contents.nblocks, []
        for block in range(count):
            size = c_size_t()
            single = name in ("step", "NumberOfNodes", "NumberOfCells", "NumberOfEntities", "types")
            if not single:
                assert self("set_block_selection", variable, c_size_t(block)) == 0
            assert self("selection_size", byref(size), variable) == 0
            values = np.zeros(size.value, dtype=_TYPES[kind.value])
            assert self("get", self.engine, variable, values.ctypes.data_as(c_void_p), _SYNC) == 0
            found.append(values)
            if single:
                break
        return found

    def attribute(self, name):
        attribute, text, size = c_void_p(self("inquire_attribute", self.io, name.encode())), None, c_size_t()
        text = ctypes.create_string_buffer(10000)
        assert self("attribute_data", text, byref(size), attribute) == 0
        return text.value.decode()

    def end_step(self):
        self("end_step", self.engine)

    def close(self):
        self("close", self.engine)
        self("finalize", self.adios)


def read(path, names):
    """All steps of a file.

    Returns:
        ``t`` (n,); ``x`` (points, 3); ``cells``, a list of points' numbers for each cell, all ranks' one
        after the other; ``own``, which points no other rank has too; ``fields``: by name (n, points, k);
        ``xml``: what ParaView is told; ``first_mesh``: whether the mesh is in the first step alone.
    """
    reader, t, fields, meshes = _Reader(path), [], {name: [] for name in names}, []
    found = SimpleNamespace()
    while reader.next_step():
        t.append(float(reader.blocks("step")[0][0]))
        geometry = reader.blocks("geometry")
        if not meshes or geometry is not None:
            meshes.append(len(t))
            found.x = np.vstack([block.reshape(-1, 3) for block in geometry])
            starts = np.cumsum([0] + [len(block) // 3 for block in geometry])
            found.cells = []
            for block, start in zip(reader.blocks("connectivity"), starts):
                found.cells += _rows(block, start)
            # What is one-dimensional and empty on a rank comes back with one entry.
            ghosts = reader.blocks("vtkGhostType")
            ghosts = [block[: len(points) // 3] for block, points in zip(ghosts, geometry)]
            found.own = np.concatenate(ghosts) == 0
            found.xml = reader.attribute("vtk.xml")
        for name in names:
            blocks = reader.blocks(name)
            fields[name].append(np.concatenate(blocks).reshape(len(found.x), -1))
        reader.end_step()
    reader.close()
    found.t, found.fields = np.array(t), {name: np.array(values) for name, values in fields.items()}
    found.first_mesh = meshes == [1]
    return found


def _rows(flat, start):
    """Rows of a flat connectivity, each with its length in front."""
    if not len(flat):
        return []
    return [row + start for row in flat.reshape(-1, int(flat[0]) + 1)[:, 1:]]
