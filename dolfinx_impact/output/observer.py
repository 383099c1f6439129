"""What a run calls besides its integrator: the base class of observers."""

from __future__ import annotations

from typing import Callable, Mapping, Protocol, Union

from numpy.typing import NDArray

from ..integrators.base import Integrator
from ..integrators.energy import Balance
from ..integrators.step_buffer import Steps


class Observer:
    """Base class of what :func:`.simulate` takes as ``observers``; every method does nothing here.

    A derived class overrides what it needs. Only overridden methods are called: an observer without a
    ``__call__`` of its own leaves the choice of a compiled loop to the run. With the state of step n at
    :math:`t_n`, a run calls, in this order:

    1. :meth:`resume` with the stored state, only where the run continues from a checkpoint;
    2. :meth:`begin` once, before the first step;
    3. :meth:`follow` with the state at the start alone, unless the run continues from a checkpoint;
    4. :meth:`__call__` after every step, and :meth:`follow` with the steps made since its last call;
    5. :meth:`state` after a :meth:`follow`, each time a checkpoint is written;
    6. :meth:`end` once, after the last step or after an error.

    Every method is called on all ranks, at the same step; observers are called in the order of the list. What
    ``begin``, ``follow``, ``state`` and ``__call__`` raise on one rank is raised on all ranks afterwards, as
    long as the method has no communication that the other ranks still wait in. Arrays of the integrator and
    of :class:`.Steps` hold this rank's part and are overwritten by later steps: copy what must be kept. An
    observer reads the integrator and does not change it.

    An object that is no ``Observer`` may have any of these methods too; where it has ``follow``, it is not
    called after every step. A plain function ``f(integrator)`` is called after every step.

    Attributes:
        needs_energies: Whether :meth:`follow` reads the stored energy (``internal``) of every step. For
            nonlinear bodies it costs as much as a force; with False on all observers it is computed for the
            samples of the history alone, and other steps repeat an earlier value.
    """

    needs_energies = True

    def begin(self, integrator: Integrator) -> None:
        """Prepare for the first step.

        Args:
            integrator: Started or resumed; ``t``, ``u``, ``v``, ``r`` are those of the start.
        """

    def __call__(self, integrator: Integrator) -> None:
        """See the state after a step.

        A run with such an observer makes its steps one by one, and ``compiled=True`` is refused.

        Args:
            integrator: ``t`` is the end of the step, ``u`` and ``r`` are at ``t``, ``v`` at
                :attr:`~.Integrator.v_time`.
        """

    def follow(self, steps: Steps) -> None:
        """See consecutive steps, many at a time.

        Args:
            steps: Rows 0 to ``steps.count - 1`` of its arrays are the states after these steps (the same
                number on all ranks); later rows are meaningless.
        """

    def end(self) -> None:
        """Complete what was begun, after the last step or an error.

        Called where :meth:`begin` was (also where that failed); not after an error inside a step of several
        ranks, which may be that of one of them. After an error what ``end`` raises is not shown.
        """

    def state(self) -> dict[str, NDArray]:
        """Arrays by name that a restarted run needs, the same on every rank and for any number of ranks."""
        return {}

    def resume(self, state: Mapping[str, NDArray]) -> None:
        """Continue from a :meth:`state`, before :meth:`begin`; the integrator is resumed already.

        Args:
            state: What :meth:`state` returned, on every rank.
        """


class Follower(Protocol):
    """An object with a method ``follow``, see :class:`Observer`."""

    def follow(self, steps: Steps) -> None:
        """See consecutive steps, many at a time."""


#: What ``observers`` may hold: a balance takes the place of the scheme's own.
ObserverLike = Union[Observer, Balance, Follower, Callable[[Integrator], None]]


def overrides(observer: object, method: str) -> bool:
    """Whether an observer has a method of its own, other than the empty one of :class:`Observer`."""
    own = getattr(type(observer), method, None) is not getattr(Observer, method)
    return own and hasattr(observer, method)


def is_called_after_steps(observer: object) -> bool:
    """Whether an observer is called after every step."""
    if isinstance(observer, Balance):
        return False
    if isinstance(observer, Observer):
        return overrides(observer, "__call__")
    return callable(observer) and not hasattr(observer, "follow")
