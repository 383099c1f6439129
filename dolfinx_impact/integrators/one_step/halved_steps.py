"""Steps that are made in parts where no equilibrium of contact is found in one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..._types import FloatArray
from ...algebra.complementarity import NotConverged
from ...contact.tunnelling import Tunnelled

#: A step is made in at most so many parts, a power of 2.
PARTS = 256
#: Parts found at once after which they are doubled.
_EASY = 4


class HalvedSteps:
    """Makes the steps of a scheme: at once, or where that fails in 2, 4, ... 256 equal parts.

    Parts are doubled again after four that were found; every step begins with the whole. Impulses add up over
    the parts, each with the contact at its own end; without mass they are forces at the end times the step.

    Args:
        scheme: The :class:`.OneStepMethod`.

    Attributes:
        steps, halved: Number of steps, and of those that were made in parts.
        smallest: Number of the smallest parts in a step.
        iterations: Newton iterations of all steps.
        most: Largest number of them in a step.
        after_part: Called after every part, as by the energy balance.
    """

    def __init__(self, scheme: Any) -> None:
        self._scheme, contact = scheme, scheme.contact
        self.reset()
        self.after_part: Callable[[], None] = lambda: None
        self._nodal: FloatArray | None = None
        #: Sum of the reactions over the parts so far.
        self._reacted = np.zeros(scheme.system.prescribed.dofs.size)
        self._sums = np.zeros_like(scheme.r), np.zeros_like(scheme.r_t)
        #: Size of the part whose reactions those of the position problem are.
        self._of = PARTS
        self._loaded = np.zeros((0, 0) if contact is None else contact.nodes.loaded.dofs.shape)

    def reset(self, counts: Sequence[float] = (0, 0, 1, 0, 0)) -> None:
        """Set the counts to 0, or to those of :meth:`state`: a run begins, or goes on."""
        self.steps, self.halved, self.smallest, self.iterations, self.most = map(int, counts)
        #: Reactions of the last step at moved dofs [N], where it was made in parts.
        self.reactions: FloatArray | None = None

    def state(self) -> FloatArray:
        """The counts, for :meth:`reset`, shape (5,)."""
        counts = self.steps, self.halved, self.smallest, self.iterations, self.most
        return np.array(counts, dtype=np.float64)

    def counts(self) -> dict[str, float]:
        """What a result tells: see ``Result.newton``."""
        mean = self.iterations / max(self.steps, 1)
        counts = {"steps": self.steps, "halved": self.halved, "parts": self.smallest}
        return {**counts, "newton_mean": mean, "newton_max": self.most}

    def advance(self) -> None:
        """One step of the scheme. Collective.

        Raises:
            NotConverged: Not even in the smallest parts; the state is that after the last part found.
        """
        s, self._nodal, self.reactions, before = self._scheme, None, None, self.iterations
        try:
            self.halved += self._advance(s, s.t)
        finally:
            s.h, s.part_end = s.dt, None
        self.steps, self.most = self.steps + 1, max(self.most, self.iterations - before)

    def _advance(self, s: Any, end: float) -> bool:
        """Make all parts of the step to the time ``end``; whether there were several. Collective."""
        done, parts, easy, halved = 0, 1, 0, False
        self._of = PARTS
        while done < PARTS:
            size = PARTS // parts
            if self._made(end, done, size):
                halved = halved or size < PARTS
                done, easy = done + size, easy + 1
                self._add(first=done == size, last=done == PARTS)
                if done == PARTS:
                    self._scale(PARTS)
                if easy >= _EASY and parts > 1 and done % (2 * size) == 0:
                    parts, easy = parts // 2, 0
            elif parts == PARTS:
                raise NotConverged(
                    f"no equilibrium of contact at t = {s.t:.6g} s with steps of {s.h:.3g} s: does the body "
                    "buckle, is a part free to move, or are surfaces far inside each other?"
                )
            else:
                parts, easy = 2 * parts, 0
        return halved

    def _scale(self, size: int) -> None:
        """Scale the reactions that an iteration starts from, forces times time, to a part of ``size``."""
        for reactions in (self._scheme.r_position, self._scheme.r_t_position):
            reactions *= size / self._of
        self._of = size

    def _made(self, end: float, done: int, size: int) -> bool:
        """Make a part of the step; whether an equilibrium was found. The state stays where not."""
        s = self._scheme
        s.h, start = s.dt * (size / PARTS), end - s.dt
        s.part_end = None if done + size == PARTS else start + s.dt * ((done + size) / PARTS)
        of = self._of
        kept = {name: getattr(s, name).copy() for name in (*s.state_names, "w") if np.ndim(getattr(s, name))}
        for each in s.contact.members if s.contact is not None else ():
            each.failure = None
        self._scale(size)
        try:
            s.make_part()
        except (NotConverged, Tunnelled):
            for name, values in kept.items():
                getattr(s, name)[...] = values
            self._of = of
            return False
        self.iterations += s.iterations
        self.smallest = max(self.smallest, PARTS // size)
        self.after_part()
        return True

    def _add(self, *, first: bool, last: bool) -> None:
        """Add impulses and reactions of a part to those of the step; nothing for the whole. Collective."""
        s = self._scheme
        if first and last:
            return
        reactions = s.reactions()
        self._reacted[:] = reactions * (s.h / s.dt) + (0.0 if first else self._reacted)
        if last:  # means over the step; without mass those at its end
            self.reactions = self._reacted.copy() if s.step_solver.inertia else reactions
        if s.contact is None:
            return
        if first:
            self._nodal = self._loaded
        assert self._nodal is not None
        part = 1.0
        if first or not s.step_solver.inertia:  # without mass forces at the end count, over the whole step
            for each in (*self._sums, self._nodal):
                each[:] = 0.0
            part = 1.0 if s.step_solver.inertia else s.dt / s.h
        self._sums[0][:] += part * s.r
        self._sums[1][:] += part * s.r_t
        s.contact.nodes.add_impulses(s.impulses, self._nodal)
        self._nodal *= part
        if last:
            s.r[:], s.r_t[:] = self._sums
        else:
            s.contact.accept(s.contact_state)

    def add_nodal_impulses(self, out: FloatArray) -> bool:
        """Add the impulses of the parts at the loaded dofs; whether the last step has any."""
        if self._nodal is None:
            return False
        out += self._nodal
        return True
