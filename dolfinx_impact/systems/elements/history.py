"""The state of materials with history at the quadrature points of a body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import basix
import numpy as np
from dolfinx import mesh as dmesh

from ... import _compat, parallel
from ..._types import FloatArray, IntArray
from ...algebra.kernels import logger
from .compiler import address

#: Part of a time below which two times are equal: some round-off of ``t0 + n dt``.
_SAME = 16 * np.finfo(np.float64).eps
#: In the place of a time since the state: it is held.
_HELD = -1.0
#: Variables that follow from the others.
_DERIVED = ("yield_stress",)


class QuadraturePoints(NamedTuple):
    """Quadrature points of the owned cells of a material.

    Attributes:
        law: Its law.
        initial: State of a point at the start, shape (k,); none without history.
        cells: The cells, shape (n,).
        places: The points in the reference cell, shape (points, dim).
        weights: Their weights there, shape (points,).
    """

    law: Any
    initial: FloatArray
    cells: IntArray
    places: FloatArray
    weights: FloatArray


class History:
    """State of the material of a body, which forces at later times update.

    Forces at a time t find the state at t from the one that was accepted before, however often they are
    evaluated; :meth:`accept` takes that of the last ones. Schemes do so once for each position that they
    accept.

    Args:
        mesh: The mesh of the body.
        parts: The points of all materials.
        lanes: Cells of a batch of the element kernels.

    Attributes:
        time: Time of the state [s].
    """

    def __init__(self, mesh: dmesh.Mesh, parts: Sequence[QuadraturePoints], lanes: int) -> None:
        self._mesh, self._parts, self._lanes = mesh, parts, lanes
        self.time = 0.0
        # Time since the state [s], negative where that is held; whether a run begins.
        self._h, self._begins = _HELD, True
        self._owner: object = None
        #: Whether forces are those at a time, and the state moves on; and how often it was set by hand.
        self.moves, self.revision = False, 0
        self._states = [tuple(_filled(part, lanes) for _ in range(2)) for part in parts]
        # Of each batch of points the state that is accepted, and whether the other one is new.
        self._sides, self._changed = (
            [np.zeros(of[0].shape[:2], np.uint8) for of in self._states] for _ in range(2)
        )

    # -- called by forces and schemes

    def addresses(self, part: int) -> tuple[Any, ...]:
        """Both states of a material, which is accepted, which has changed, and the time since then [s]."""
        one, other = self._states[part]
        sides = (address(each[part], "uint8_t *") for each in (self._sides, self._changed))
        return address(one), address(other), *sides, self._h

    @contextmanager
    def at(self, t: float) -> Iterator[None]:
        """Context of forces at time t [s], whose state :meth:`accept` takes.

        Raises:
            RuntimeError: A time before that of the state; or after that of forces that were not accepted.
        """
        h = t - self.time
        same = _SAME * max(abs(t), abs(self.time))
        if h < -same:
            raise RuntimeError(
                f"the material of the body has a history up to t = {self.time:.9g} s, but forces are asked "
                f"for at t = {t:.9g} s: another scheme uses the body, make one for each; start() begins anew"
            )
        if self._h > 0.0 and t > self.time + self._h + same:
            raise RuntimeError(
                f"the history of the material at t = {self.time + self._h:.9g} s was not accepted: call "
                "body.history.accept() after the forces of a step, before those of the next one"
            )
        self._h = h if h > same else 0.0 if self._begins else _HELD
        self.moves = True
        try:
            yield
        finally:
            self.moves = False

    def accept(self) -> None:
        """Take the state at the time and displacements of the last forces that had a time."""
        if self._h != _HELD:
            self.time += self._h
            self._h, self._begins = _HELD, False
            for side, changed in zip(self._sides, self._changed):
                np.bitwise_xor(side, changed, out=side)

    def refuse_behind(self, t: float) -> None:
        """Raise a RuntimeError unless the state is that of the end of a step, t [s]."""
        if abs(self.time - t) > _SAME * max(abs(t), abs(self.time)):
            raise RuntimeError(
                f"the material has the state of t = {self.time:.9g} s, but a step ended at {t:.9g} s: a "
                "scheme with follows_history evaluates the force of the system there, and a body whose class "
                "overrides force() calls super().force(t, u, v, out)"
            )

    def start(self, t: float, owner: object = None) -> None:
        """Begin a run of a scheme at time t [s] with the state that is there. Collective."""
        if not self.virgin:
            if self._mesh.comm.rank == 0:
                logger.warning(
                    "the run starts with the history that the material of the body has from an earlier one: "
                    "call body.history.reset() for the material as at first"
                )
        self._owner = owner
        self.time, self._h, self._begins = float(t), _HELD, True

    def refuse_other(self, owner: object) -> None:
        """Raise a RuntimeError unless the last run that began is that of this scheme."""
        if self._owner is not owner:
            raise RuntimeError(
                "another scheme was started on the body, whose material has a history: make a body for each"
            )

    def reset(self, t: float = 0.0) -> None:
        """Set the state to that of the start, of forces from time t [s] on."""
        self.time, self._h, self._begins = float(t), _HELD, True
        self.revision += 1
        for states, side, part in zip(self._states, self._sides, self._parts):
            states[0][:] = part.initial[:, None]
            side[:] = 0

    @property
    def virgin(self) -> bool:
        """Whether the state is that of the start. Collective."""
        changed = False
        for k in self._with_state:
            for name, start in self._variables(k).items():
                changed |= name not in _DERIVED and bool(np.any(self._entries(k, name) != start))
        return not self._mesh.comm.allreduce(changed)

    @contextmanager
    def at_rest(self) -> Iterator[None]:
        """Context in which the state is that of the start, for stiffness at rest."""
        with self._instead([_filled(part, self._lanes) for part in self._parts]):
            yield

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Context in which the accepted state is held: forces before it can still be accepted."""
        with self._instead([self._accepted(k) for k in range(len(self._parts))]):
            yield

    @contextmanager
    def _instead(self, states: Sequence[FloatArray]) -> Iterator[None]:
        """Context in which these states are held."""
        before = self._states, self._sides, self._changed, self._h
        self._states = [(each, _filled(part, self._lanes)) for each, part in zip(states, self._parts)]
        self._sides, self._changed = ([np.zeros_like(each) for each in self._sides] for _ in range(2))
        self._h = _HELD
        try:
            yield
        finally:
            self._states, self._sides, self._changed, self._h = before

    # -- values

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables; ``"dissipated"`` is the work per reference volume [J/m3]."""
        return tuple(dict.fromkeys(name for k in self._with_state for name in self._variables(k)))

    def values(self, name: str) -> list[tuple[IntArray, FloatArray]]:
        """A variable at the quadrature points, at :attr:`time`.

        Args:
            name: One of :attr:`names`.

        Returns:
            For each material that has it the owned cells, shape (n,), and values, shape (n, points, ...).

        Raises:
            ValueError: An unknown name.
        """
        return [(self._parts[k].cells, self._entries(k, name)) for k in self._having(name)]

    def points_with(self, name: str) -> list[QuadraturePoints]:
        """The points of the materials that have a variable, in the order of :meth:`values`."""
        return [self._parts[k] for k in self._having(name)]

    def largest(self, name: str) -> float:
        """Largest value of a variable over all points of the body. Collective."""
        here = np.concatenate([np.zeros(0), *(values.ravel() for _, values in self.values(name))])
        return parallel.largest(self._mesh.comm, here)

    # -- checkpoints

    def state(self) -> dict[str, FloatArray]:
        """The states of the points of this rank, shape (n, k), by number of the material."""
        return {str(k): self._by_cell(k).reshape(-1, self._parts[k].initial.size) for k in self._with_state}

    def resume(self, state: Mapping[str, FloatArray], t: float, owner: object = None) -> None:
        """Restore a :meth:`state` of time t [s] for a scheme."""
        self._owner = owner
        self.time, self._h, self._begins = float(t), _HELD, False
        self.revision += 1
        for k in self._with_state:
            part = self._parts[k]
            shape = part.cells.size, len(part.places), part.initial.size
            values = np.asarray(state[str(k)]).reshape(shape)
            # The last batch is filled up with the last cell: others would change round-off.
            padded = np.concatenate([values, np.repeat(values[-1:], -shape[0] % self._lanes, axis=0)])
            self._states[k][0][:] = padded.reshape(-1, self._lanes, *shape[1:]).transpose(0, 2, 3, 1)
            self._sides[k][:] = 0

    def points(self) -> dict[str, tuple[IntArray, FloatArray]]:
        """Owned cells and the places of their quadrature points, by number of the material.

        Shapes (n,) and (n, points, 3) [m], in the undeformed body.
        """
        parts = {k: self._parts[k] for k in self._with_state}
        return {str(k): (part.cells, _coordinates(self._mesh, part)) for k, part in parts.items()}

    def _having(self, name: str) -> list[int]:
        if name not in self.names:
            raise ValueError(f"the material has no {name!r}; its state is {', '.join(self.names)}")
        return [k for k in self._with_state if name in self._variables(k)]

    @property
    def _with_state(self) -> list[int]:
        return [k for k, part in enumerate(self._parts) if part.initial.size]

    def _variables(self, k: int) -> dict[str, FloatArray]:
        """Variables of a material with their values at the start."""
        return {**self._parts[k].law.initial_state, "dissipated": np.zeros(())}

    def _entries(self, k: int, name: str) -> FloatArray:
        """A variable of a material, shape (cells, points, ...)."""
        first = 0
        for each, start in self._variables(k).items():
            if each == name:
                break
            first += start.size
        entries = self._by_cell(k)[:, :, first : first + start.size]
        return entries.reshape(*entries.shape[:2], *start.shape)

    def _by_cell(self, k: int) -> FloatArray:
        """The states of a material, shape (cells, points, entries)."""
        accepted = self._accepted(k)
        every = accepted.transpose(0, 3, 1, 2).reshape(-1, *accepted.shape[1:3])
        return np.ascontiguousarray(every[: self._parts[k].cells.size])

    def _accepted(self, k: int) -> FloatArray:
        """The states of a material, shape (batches, points, entries, lanes)."""
        one, other = self._states[k]
        found = _filled(self._parts[k], self._lanes)
        found[:] = np.where(self._sides[k][:, :, None, None] == 0, one, other)
        return found


def _filled(part: QuadraturePoints, lanes: int) -> FloatArray:
    """The state at the start, shape (batches, points, entries, lanes), from the beginning of a line on."""
    shape = -(-part.cells.size // lanes), len(part.places), part.initial.size, lanes
    line, size = 64, int(np.prod(shape))
    raw = np.zeros(size + line // 8)
    first = -raw.ctypes.data % line // 8
    found = raw[first : first + size].reshape(shape)
    found[:] = part.initial[:, None]
    return found


def _coordinates(mesh: dmesh.Mesh, part: QuadraturePoints) -> FloatArray:
    """Coordinates of the points of cells with straight edges, shape (cells, points, 3) [m]."""
    element = basix.create_element(basix.ElementFamily.P, mesh.basix_cell(), 1)
    shapes = np.asarray(element.tabulate(0, part.places), dtype=np.float64)[0, :, :, 0]
    corners = mesh.geometry.x[_compat.geometry_dofmap(mesh)[part.cells]]
    found: FloatArray = np.einsum("qa,cai->cqi", shapes, corners)
    return found
