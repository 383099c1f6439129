"""Rows of the closed points, packed, and the projected iteration for their impulses in compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from typing import Any, NamedTuple

import cffi
import numpy as np
from mpi4py import MPI

from ..._types import AnyArray, BoolArray, FloatArray, IntArray
from ...algebra import projected_iteration
from ...algebra.projected_iteration import AdmissibleImpulses, Progress, QuotientRange
from ...contact.surfaces.ranks.messages import Gathering, succeed
from ...systems.elements.compiler import address, compiled
from .packable_rows import PackableRows, Part

#: Nothing is contracted or reordered: sums are those of NumPy to round-off, and the same on each processor.
_FLAGS = ["-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"]
_TYPES = """#include <stdint.h>
typedef enum {ONWARD, SOLVED, LEFT} verdict;
typedef int (*call)(const void *, double *);
"""
_SOLVED, _NONE = 1, cffi.FFI().NULL
_CONSTANTS = ("SOUGHT", "ACCEPTED", "PATIENCE", "FREE", "TELLING", "SHORTEST", "LONGEST")
_DECLARATIONS = """
void share(void *, ptrdiff_t, const double *, int32_t *);
double pack(void *, ptrdiff_t, int64_t, int64_t, int64_t, const int64_t *, const int32_t *, const int32_t *,
            const double *, const double *, const double *, int32_t *);
void unmark(const void *, int32_t *);
double begin(void *, ptrdiff_t, const double *, const double *, const double *, const double *,
             const double *);
int multiply(void *);
int iterate(void *);
void finish(const void *, ptrdiff_t, double *, double *);
"""


#: Bytes of a line of the cache.
_LINE = 64


class _Array(NamedTuple):
    """An array of the C structure: how many numbers each point, entry or node has in it."""

    width: int
    of: str
    type: str = "double"


_NUMBERS = {
    **dict.fromkeys(("points", "components", "shared", "slots", "since", "sweeps", "ranks"), "int64_t"),
    **dict.fromkeys(("largest", "least", "step", "shortest", "least_quotient", "largest_quotient"), "double"),
}
#: The calls between the ranks, what is given to them, and what they write.
_MESSAGES = {
    "add_shared": "call",
    "sums": "void *",
    "gather": "call",
    "numbers": "void *",
    "of_all": "double *",
}
_ARRAYS = {
    "which": _Array(1, "point", "int64_t"),
    "start": _Array(1, "point", "int64_t"),
    "bilateral": _Array(1, "point", "uint8_t"),
    **dict.fromkeys(("friction", "diagonal", "scale"), _Array(1, "point")),
    "tangents": _Array(8, "point"),
    **dict.fromkeys(("c", "x", "x_old", "g", "g_old", "best"), _Array(3, "point")),
    "slot": _Array(1, "entry", "int32_t"),
    "entries": _Array(4, "entry"),
    "nodes": _Array(1, "node", "int32_t"),
    **dict.fromkeys(("inverse", "y", "at"), _Array(4, "node")),
}


def _source() -> str:
    """The C code, with its structure and constants."""
    fields = [f"{kind} {name};" for name, kind in {**_NUMBERS, **_MESSAGES}.items()]
    fields += [f"{each.type} *{name};" for name, each in _ARRAYS.items()]
    constants = [f"#define {name} {getattr(projected_iteration, name)!r}" for name in _CONSTANTS]
    structure = f"{_TYPES}typedef struct {{{' '.join(fields)}}} closed_rows;"
    code = resources.files(__package__).joinpath("closed_rows.c").read_text(encoding="utf-8")
    return "\n".join([*constants, structure, code])


class ClosedRows:
    """The contact problem of the closed points, whose rows lie over nodes of this rank and of others.

    ``S x + c`` is the scaled velocity after impulses x, with ``S = D L M^-1 L^T D`` of unit diagonal in the
    normal directions; see :mod:`.projected_iteration`. It is set by :meth:`pack` and :meth:`begin`, solved
    by :meth:`solve` and read by :meth:`finish`. The iteration is one call of compiled code, with the messages
    of several ranks. Collective.

    Args:
        comm: Communicator.
    """

    def __init__(self, comm: MPI.Comm) -> None:
        self._comm, self._code = comm, compiled(_source(), _FLAGS, comm, _DECLARATIONS)
        kinds = [(name, "i8" if kind == "int64_t" else "f8") for name, kind in _NUMBERS.items()]
        self._problem: Any = np.zeros(1, [*kinds, *((name, "u8") for name in (*_MESSAGES, *_ARRAYS))])
        self._at, self._p = address(self._problem, "void *"), self._problem[0]
        self._p["ranks"] = comm.size
        self._numbers = Gathering(comm, 3)
        self._p["gather"], self._p["numbers"] = self._numbers.call
        self._p["of_all"] = self._numbers.all.ctypes.data
        self._arrays: dict[str, AnyArray] = {}
        self._room = dict.fromkeys(("point", "entry", "node"), 0)
        self._place = np.zeros(0, dtype=np.int32)
        self._exchange: Any = None
        self._gdim = 0

    # -- the problem

    def pack(
        self, rows: PackableRows, which: IntArray, inverse: FloatArray, components: int, held: float = 0.0
    ) -> bool:
        """Take rows; those that impulses do not move are left out.

        Args:
            rows: The rows of all points.
            which: The closed points, shape (n,).
            inverse: Inverse masses at the owned dofs, shape (owned,).
            components: Number of components of a point, 1 or, with friction, gdim.
            held: Part of the largest diagonal entry of H of all ranks up to which a row is round-off.

        Returns:
            Whether any rank has a row.
        """
        parts, self._exchange = rows.parts(), rows.exchange
        self._gdim = rows.gdim
        self._p["add_shared"], self._p["sums"] = self._exchange.add_shared
        largest = self._largest(self._pack(parts, which, inverse, components))
        if largest <= 0.0:
            return False
        moved = self._arrays["diagonal"][: which.size] > held * largest
        if not moved.all():
            self._pack(parts, which[moved], inverse, components)
        return True

    def _pack(self, parts: Sequence[Part], which: IntArray, inverse: FloatArray, components: int) -> float:
        shared, p, n, largest = self._exchange.shared, self._p, which.size, 0.0
        entries = sum(int(each.start[-1]) for each in parts)
        self._reserve(point=n + 1, entry=entries + 1, node=self._exchange.count)
        p["points"], p["components"], p["shared"] = n, components, shared.size
        self._arrays["which"][:n], self._arrays["nodes"][: shared.size] = which, shared
        masses, place = address(self._exchange.at_nodes(inverse)), address(self._place, "int32_t *")
        self._code.share(self._at, self._gdim, masses, place)
        end = 0
        for each in parts:
            first, end = end, int(np.searchsorted(which, each.before + each.start.size - 1))
            found = self._code.pack(
                self._at, self._gdim, first, end, each.before,
                address(each.start, "int64_t *"), address(each.nodes, "int32_t *"),
                _address(each.number, "int32_t *"), address(each.B), address(each.W), masses, place,
            )  # fmt: skip
            largest = max(largest, found)
        self._code.unmark(self._at, place)
        return largest

    def _reserve(self, **sizes: int) -> None:
        """Make the arrays large enough."""
        if all(size <= self._room[of] for of, size in sizes.items()):
            return
        self._room = {of: max(self._room[of], 3 * size // 2) for of, size in sizes.items()}
        self._place = np.full(self._room["node"], -1, dtype=np.int32)
        for name, each in _ARRAYS.items():
            kind = np.dtype(each.type.removesuffix("_t"))
            self._arrays[name] = array = _aligned(each.width * self._room[each.of], kind)
            self._p[name] = array.ctypes.data

    def begin(
        self,
        b: FloatArray,
        bilateral: BoolArray,
        friction: FloatArray,
        velocities: FloatArray | None = None,
        obstacle: FloatArray | None = None,
        last: tuple[FloatArray | None, FloatArray | None] = (None, None),
    ) -> bool:
        """Set the free velocities and the start of the iteration, by arrays of all points.

        Args:
            b: Normal free velocities, shape (p,) [m/s].
            bilateral: Mask of the points whose impulses have any sign, shape (p,).
            friction: Coulomb's coefficients, shape (p,).
            velocities: Free velocities over the dofs, from which those of the tangents follow, with friction.
            obstacle: Velocities of the obstacle that are subtracted, shape (p, gdim) [m/s]; None for none.
            last: Normal impulses at the start, shape (p,), and tangential ones, shape (p, gdim) [N s].

        Returns:
            Whether something is to be solved: all impulses vanish with the free velocities.

        Raises:
            NotConverged: Values that are not finite, on all ranks.
        """
        p, n = self._p, int(self._p["points"])
        which = self._arrays["which"][:n]
        np.take(bilateral, which, out=self._arrays["bilateral"][:n].view(np.bool_), mode="clip")
        np.take(friction, which, out=self._arrays["friction"][:n], mode="clip")
        at = None
        if velocities is not None:
            size = self._exchange.count * self._gdim
            at = self._arrays["at"][:size].reshape(-1, self._gdim)
            self._exchange.gather(velocities, at)
        given = [_address(each) for each in (b, at, obstacle, *last)]
        p["largest"] = self._largest(self._code.begin(self._at, self._gdim, *given))
        p["since"], p["sweeps"], p["least"], p["step"], p["shortest"] = 0, 0, np.inf, 1.0, 1.0
        p["least_quotient"], p["largest_quotient"] = np.inf, 0.0
        projected_iteration.refuse_infinite(float(p["largest"]))
        return bool(p["largest"] > 0.0)

    # -- the iteration

    def solve(self) -> tuple[int, float]:
        """Number of products of the solution, and the lower bound of the condition number of S.

        Raises:
            NotConverged: On all ranks.
        """
        verdict = self._code.iterate(self._at)
        succeed(max(0, -verdict))
        p = self._p
        quotients = QuotientRange(float(p["least_quotient"]), float(p["largest_quotient"]))
        return int(p["sweeps"]) if verdict == _SOLVED else self._go_on(), quotients.condition

    def _go_on(self) -> int:
        """Products of a solution by what is slower and finds more, from the last free iterate."""
        n, d, p = int(self._p["points"]), int(self._p["components"]), self._p
        c, x, g, best = (self._arrays[name][: n * d].reshape(n, d) for name in ("c", "x", "g", "best"))
        bilateral = self._arrays["bilateral"][:n].view(np.bool_)
        cone = AdmissibleImpulses(np.ones(n, dtype=bool), bilateral, self._arrays["friction"][:n])

        def product(given: FloatArray) -> FloatArray:
            x[:] = given
            succeed(self._code.multiply(self._at))
            return g.copy()

        reached = float(p["least"]), int(p["since"]), float(p["shortest"]), int(p["sweeps"])
        progress = Progress(x.copy(), best.copy(), float(p["largest"]), *reached)
        best[:], sweeps = projected_iteration.go_on(product, c, cone, self._comm, progress)
        return sweeps

    def finish(self, r: FloatArray, r_t: FloatArray | None) -> None:
        """Write the impulses of the closed points, shape (p,) and (p, gdim) [N s]."""
        self._code.finish(self._at, self._gdim, address(r), _address(r_t))

    def _largest(self, value: float) -> float:
        if self._comm.size == 1:
            return value
        self._numbers.gather(np.full(3, value))
        return float(self._numbers.all[:, 0].max())


def _aligned(size: int, kind: np.dtype[Any]) -> AnyArray:
    """An array whose vectors of four numbers lie in one cache line each."""
    whole = np.empty(size * kind.itemsize + _LINE, dtype=np.uint8)
    first = -whole.ctypes.data % _LINE
    return whole[first : first + size * kind.itemsize].view(kind)


def _address(array: AnyArray | None, kind: str = "double *") -> Any:
    """Pointer to an array, null for none."""
    return _NONE if array is None else address(np.ascontiguousarray(array), kind)
