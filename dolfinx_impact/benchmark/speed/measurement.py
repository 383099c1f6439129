"""A measurement: what is built, what is timed on it by turns, and the one table that tells of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from ..report.wording import faster

Found = dict[str, dict[str, float]]  #: Numbers by name, by what was measured.
Seconds = Mapping[str, NDArray]  #: Of a step, by action, one of every round.
ROUND = 0.4  #: About how long an action takes in a round [s] where it has no number of calls.


class Action(NamedTuple):
    """One of the things that are timed by turns."""

    call: Callable[[], Any]
    calls: int = 0  #: In a round; 0: as many as take about :data:`ROUND`.
    steps: float = 1.0  #: That a call makes.
    name: str = ""  #: Of the number that compares it with the yardstick; without one it is not compared.
    told: bool = False  #: Whether a call returns its seconds, measured elsewhere.


class Number(NamedTuple):
    """A measured number, by its name in ``speed --json``."""

    name: str  #: Empty where it stands in the table alone.
    value: float
    words: str | None = None  #: Its words in the table; None: name and value.
    row: str = ""  #: The action in whose row it stands; by default it has a row of its own.


class Relation(NamedTuple):
    """How the seconds of an action compare with those of the yardstick."""

    middle: Callable[[NDArray], Any]  #: One for all rounds.
    relate: Callable[[Any, Any], Any]  #: The seconds of both to a number.
    words: Callable[[float], str]
    against: str = ""  #: Words after the first number.

    def number(self, row: str, name: str, seconds: NDArray, base: NDArray) -> Number:
        """The number of a row, and in words the least and the largest of the rounds."""
        value = float(self.relate(self.middle(seconds), self.middle(base)))
        if seconds is base:
            return Number(name, value, "", row)
        each, words = self.relate(seconds, base), self.words(value) + self.against
        if each.size > 1:
            words += f" (rounds: {self.words(each.min())} to {self.words(each.max())})"
        return Number(name, value, words, row)


def _times_faster(seconds: Any, base: Any) -> Any:
    return base / seconds


FASTER = Relation(np.median, _times_faster, faster)
OF_THE_WHOLE = Relation(np.mean, _times_faster, faster)  #: Rounds are parts of one run.
OF_THE_BEST = Relation(np.min, _times_faster, faster)
TIMES = Relation(np.median, lambda s, base: s / base, "{:.3f}".format, " of the yardstick")
MORE = Relation(np.median, lambda s, base: s / base - 1, "{:+.1%}".format)


class Turns(NamedTuple):
    """Actions that are timed by turns, and what a table of their own tells of them."""

    head: str  #: What was built.
    actions: Mapping[str, Action] = {}  #: By the words of their rows.
    numbers: Callable[[Seconds], Iterable[Number]] = lambda seconds: ()  #: Besides the comparisons.
    what: str = ""  #: What is measured, in ``speed --json``; by default the measurement.
    dofs: float = 1.0  #: By which the seconds of the rows are divided.


@dataclass(frozen=True)
class Measurement:
    """A row of the table of measurements."""

    name: str  #: Its case on the command line.
    about: str  #: What is measured; ``{sizes}`` are the numbers of dofs.
    build: Callable[[Sequence[int]], Iterator[Turns]]  #: Of numbers of dofs, for each table anew. Collective.
    yardstick: str  #: The action that others are compared with.
    comparison: Relation = TIMES
    unit: tuple[str, float] = ("ns a dof", 1e9)  #: Of the seconds in the rows, and how many are a second.
    rounds: int = 7  #: How often all actions take their turn.
    clock: Callable[[], float] = time.perf_counter
    warm: bool = True  #: Whether a first call of each action is not counted.
    lasts: float = 0.0  #: About how long it takes on a machine without other work [s].
    per_dof: float = 0.0  #: The same for every dof [s].
    ranks: bool = False  #: Whether it is measured on any number of ranks.
    label: str = ""  #: Another name in the plan.

    def measure(self, sizes: Sequence[int]) -> Found:
        """Build, time and print one table after the other; return all numbers. Collective."""
        found: Found = {}
        for turns in self.build(sizes):
            say(turns.head)
            seconds = self._interleaved(turns.actions)
            numbers = [*self._compared(turns.actions, seconds), *turns.numbers(seconds)]
            self._print(turns, seconds, numbers)
            known = {each.name: float(each.value) for each in numbers if each.name}
            found.setdefault(turns.what or self.name, {}).update(known)
            del turns  # before the next one is built
        return found

    def _interleaved(self, actions: Mapping[str, Action]) -> dict[str, NDArray]:
        for action in actions.values():
            if self.warm:
                action.call()
        calls = {row: action.calls or calls_of(action.call) for row, action in actions.items()}
        found: dict[str, list[float]] = {row: [] for row in actions}
        for _ in range(self.rounds):
            for row, action in actions.items():
                MPI.COMM_WORLD.barrier()
                told = action.call() if action.told else seconds_per_call(action.call, calls[row], self.clock)
                found[row].append(told / action.steps)
        return {row: np.array(values) for row, values in found.items()}

    def _compared(self, actions: Mapping[str, Action], seconds: Seconds) -> Iterator[Number]:
        for row, action in actions.items():
            if action.name:
                yield self.comparison.number(row, action.name, seconds[row], seconds[self.yardstick])

    def _print(self, turns: Turns, seconds: Seconds, numbers: Sequence[Number]) -> None:
        texts = [f"{n.name:<50} {digits(n.value):>9}" if n.words is None else n.words for n in numbers]
        for row, each in seconds.items():
            time = self.comparison.middle(each) * self.unit[1] / turns.dofs
            words = [f"{digits(time):>9} {self.unit[0]}", "yardstick" * (row == self.yardstick)]
            words += [text for number, text in zip(numbers, texts) if number.row == row]
            say(f"  {row:<34} " + ", ".join(filter(None, words)))
        for number, text in zip(numbers, texts):
            if text and not number.row:
                say(f"  {text}")


def seconds_per_call(
    call: Callable[[], Any], calls: int, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Seconds of a call, the mean over some."""
    begun = clock()
    for _ in range(calls):
        call()
    return (clock() - begun) / calls


def calls_of(call: Callable[[], Any]) -> int:
    """How many calls take about :data:`ROUND`, the same on every rank. Collective."""
    return max(1, int(MPI.COMM_WORLD.bcast(ROUND / seconds_per_call(call, 3))))


def digits(value: float) -> str:
    """A number with three digits, or without decimals."""
    return f"{value:.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.3g}"


def say(line: str) -> None:
    """Print a line on one rank."""
    if MPI.COMM_WORLD.rank == 0:
        print(line, flush=True)
