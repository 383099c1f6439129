"""Runs that are kept in a file, and go on from one."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from ..simulation.checkpoint import Checkpoint, Stored


class Keep(NamedTuple):
    """How a run is kept."""

    path: Path | None = None  #: File of the checkpoints.
    every: int | None = None  #: Steps between two of them (coarse ones with HATI).
    restart: Path | None = None  #: A checkpoint to go on from.

    def checkpoint(self, about: dict[str, Any]) -> Checkpoint | None:
        """The argument of :func:`.simulate`.

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
            was, now = said.get(name), about[name]
            if was != now:
                raise ValueError(f"{file} is a checkpoint of the {name} {was!r}, not of {now!r}")
        before, given = said.get("parameters", {}), about["parameters"]
        for name in sorted((before.keys() | given.keys()) - {"t_end"}):
            was, now = before.get(name), given.get(name)
            if was != now:
                same = "give the same parameters; t_end may be another one"
                raise ValueError(f"{file} belongs to a run with {name} = {was}, not {now}: {same}")
