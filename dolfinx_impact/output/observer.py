"""Base class of observers, which a run calls at its start, after steps and at its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, TypeAlias

from .._types import AnyArray
from ..integrators.base import Integrator
from ..integrators.energy import EnergyBalance
from ..integrators.step_buffer import Steps


class Observer:
    """Base class of the ``observers`` of :func:`.simulate`; its methods do nothing.

    Subclasses override the methods they need, and only these are called: an observer without ``__call__``
    allows compiled loops. With the state of step n at :math:`t_n`, a run calls, in this order:

    1. :meth:`resume` with the stored state, only where the run continues from a checkpoint;
    2. :meth:`begin` once, before the first step;
    3. :meth:`follow` with the state at the start alone, unless the run continues from a checkpoint;
    4. :meth:`__call__` after every step, and :meth:`follow` with the steps since its last call;
    5. :meth:`state` after a :meth:`follow`, each time a checkpoint is written;
    6. :meth:`end` once, after the last step or after an error.

    Every method is called on all ranks, at the same step; observers are called in the order of the list. An
    exception of ``begin``, ``follow``, ``state`` or ``__call__`` on one rank is raised on all ranks
    afterwards, unless other ranks wait in a communication of that method. Arrays of the integrator and of
    :class:`.Steps` hold the rank-local part and are overwritten by later steps: copy them to store them. An
    observer must not modify the integrator.

    Objects of other classes may have any of these methods too; with ``follow``, they are not called after
    every step. A plain function ``f(integrator)`` is called after every step.

    Attributes:
        needs_energies: Whether :meth:`follow` reads the stored energy (``internal``) of every step. For
            nonlinear bodies it costs as much as a force; with False on all observers it is computed for the
            samples of the history alone, and other steps repeat an earlier value.
    """

    needs_energies = True

    def begin(self, integrator: Integrator) -> None:
        """Prepare for the first step.

        Args:
            integrator: Started or resumed; ``t``, ``u``, ``v``, ``r`` have their initial values.
        """

    def __call__(self, integrator: Integrator) -> None:
        """Process the state after a step.

        A run with such an observer advances step by step, and ``compiled=True`` is refused.

        Args:
            integrator: ``t`` is the end of the step, ``u`` and ``r`` are at ``t``, ``v`` at
                :attr:`~.Integrator.v_time`.
        """

    def follow(self, steps: Steps) -> None:
        """Process a block of consecutive steps.

        Args:
            steps: Rows 0 to ``steps.count - 1`` of its arrays are the states after these steps (the same
                number on all ranks); later rows are undefined.
        """

    def end(self) -> None:
        """Release resources and complete files, after the last step or an error.

        Called if :meth:`begin` was called, also if that failed; not after an error inside a step on several
        ranks, which may have occurred on one of them only. After an error, exceptions of ``end`` are dropped.
        """

    def state(self) -> dict[str, AnyArray]:
        """Arrays by name for a restart, replicated and independent of the number of ranks."""
        return {}

    def resume(self, state: Mapping[str, AnyArray]) -> None:
        """Restore a :meth:`state`, before :meth:`begin`; the integrator is resumed already.

        Args:
            state: The return value of :meth:`state`, on every rank.
        """


class Follower(Protocol):
    """An object with a method ``follow``, see :class:`Observer`."""

    def follow(self, steps: Steps) -> None:
        """Process a block of consecutive steps."""


#: Elements of ``observers``; a balance replaces that of the scheme.
ObserverLike: TypeAlias = Observer | EnergyBalance | Follower | Callable[[Integrator], None]


def overrides(observer: object, method: str) -> bool:
    """Whether an observer defines a method, other than the empty one of :class:`Observer`."""
    overridden = getattr(type(observer), method, None) is not getattr(Observer, method)
    return overridden and hasattr(observer, method)


def is_called_after_steps(observer: object) -> bool:
    """Whether an observer is called after every step."""
    if isinstance(observer, EnergyBalance):
        return False
    if isinstance(observer, Observer):
        return overrides(observer, "__call__")
    return callable(observer) and not hasattr(observer, "follow")
