"""Runs that are kept in a file, and go on from one."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from ..simulation.checkpoint import Checkpoint, Stored


class Keep(NamedTuple):
    """How a run is kept.

    Attributes:
        path: File of the checkpoints, or None.
        every: Steps between two of them (coarse ones with HATI).
        restart: A checkpoint to go on from, or None.
    """

    path: Path | None = None
    every: int | None = None
    restart: Path | None = None

    def checkpoint(self, about: dict[str, Any]) -> Checkpoint | None:
        """What :func:`.simulate` takes.

        Raises:
            ValueError: A file without a number of steps, or the other way round.
        """
        if (self.path is None) != (self.every is None):
            raise ValueError("give --checkpoint FILE and --checkpoint-every N together")
        if self.path is None or self.every is None:
            return None
        if self.every < 1:
            raise ValueError(f"--checkpoint-every takes a number of steps from 1 on, not {self.every}")
        return Checkpoint(self.path, every=self.every, about=about)

    def refuse_other(self, about: dict[str, Any]) -> None:
        """Raise a ValueError unless the run to go on from was the same but for its end. Collective."""
        if self.restart is None:
            return
        file = repr(str(self.restart))
        with Stored(self.restart) as stored:
            said = stored.about.get("about", {})
        for name in ("case", "scheme"):
            if said.get(name) != about[name]:
                raise ValueError(
                    f"{file} is a checkpoint of the {name} {said.get(name)!r}, not of {about[name]!r}"
                )
        before, now = said.get("parameters", {}), about["parameters"]
        for name in sorted((before.keys() | now.keys()) - {"t_end"}):
            if before.get(name) != now.get(name):
                raise ValueError(
                    f"{file} belongs to a run with {name} = {before.get(name)}, not {now.get(name)}: "
                    "give the same parameters; t_end may be another one"
                )
