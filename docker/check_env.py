"""Build-time check of the image: BLAS/LAPACK is OpenBLAS, DOLFINx is in range.

A dense factorisation runs through numpy and through PETSc, a sparse one
through MUMPS; then the dynamic linker is asked which file their LAPACK and
BLAS calls end in.
"""

import ctypes
import pathlib
import sys

import dolfinx
import numpy as np
from mpi4py import MPI
from petsc4py import PETSc

SUPPORTED = ((0, 9), (0, 12))  # from, below
NOTE = pathlib.Path("/usr/local/lib/dolfinx_impact/unsupported")


class DlInfo(ctypes.Structure):
    _fields_ = [
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("symbol", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    ]


def file_that_answers(library: str, function: str) -> str:
    """Real path of the shared object in which `library` finds `function`."""
    address = ctypes.cast(getattr(ctypes.CDLL(library), function), ctypes.c_void_p)
    info = DlInfo()
    ctypes.CDLL(None).dladdr(address, ctypes.byref(info))
    return str(pathlib.Path(info.file.decode()).resolve())


def loaded(part: str) -> str:
    """Path of the loaded shared object whose file name contains `part`."""
    lines = pathlib.Path("/proc/self/maps").read_text().splitlines()
    paths = {line.split()[-1] for line in lines if part in line.rsplit("/", 1)[-1]}
    return min(paths, key=len)


def factorise() -> None:
    rng = np.random.default_rng(0)
    n = 300
    a = rng.standard_normal((n, n))
    spd = a @ a.T + n * np.eye(n)
    lower = np.linalg.cholesky(spd)
    assert np.allclose(lower @ lower.T, spd)
    dense = PETSc.Mat().createDense((n, n), array=spd, comm=MPI.COMM_SELF)
    dense.assemble()
    for matrix, solver in ((dense, "petsc"), (dense.convert("aij"), "mumps")):
        pc = PETSc.PC().create(MPI.COMM_SELF)
        pc.setOperators(matrix)
        pc.setType("lu")
        pc.setFactorSolverType(solver)
        pc.setUp()
        x, b = matrix.createVecs()
        b.set(1.0)
        pc.apply(b, x)
        assert np.allclose(spd @ x.array, 1.0)


factorise()
for part, function in (
    ("_umath_linalg", "dpotrf_"),
    ("libpetsc", "dgetrf_"),
    ("libpetsc", "dpotrf_"),
    ("libdmumps", "dgemm_"),
    ("libdmumps", "dtrsm_"),
):
    where = file_that_answers(loaded(part), function)
    print(f"{part}: {function} is in {where}")
    if "openblas" not in where:
        sys.exit(f"BLAS/LAPACK is not OpenBLAS: {part} calls {function} of {where}")

version = tuple(int(number) for number in dolfinx.__version__.split(".")[:2])
if not SUPPORTED[0] <= version < SUPPORTED[1]:
    NOTE.write_text(
        f"docker/run: this suite has DOLFINx {dolfinx.__version__},"
        " outside the supported range (>=0.9, <0.12)\n"
    )
