"""Runs that claims and figures share: each is made once, whichever process asks for it first."""

from __future__ import annotations

import fcntl
import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..output.result import Result
from . import runner
from .cases import CASES
from .runner import describe


@dataclass(frozen=True)
class Run:
    """A run that has ended: its samples and its ``summary.json``."""

    history: Result
    summary: Mapping[str, Any]

    @property
    def results(self) -> Mapping[str, Any]:
        """``results`` of the summary."""
        return self.summary["results"]

    def __getitem__(self, name: str) -> Any:
        """An array of the history."""
        return self.history[name]


class FailedRun(RuntimeError):
    """A run that did not start or reach its end, or gave values that are not finite."""


class NotChosen(LookupError):
    """A run with a scheme that was left out."""


class Runs:
    """Makes runs of the benchmark when they are asked for, and keeps them in a folder, perhaps a shared one.

    ``only`` are the schemes of the catalogue that may run; ``replaced`` as in :meth:`instead`.
    """

    def __init__(
        self, folder: str | Path, replaced: Mapping[str, str] = {}, only: Collection[str] | None = None
    ) -> None:
        self.folder, self._instead, self._only = Path(folder), dict(replaced), only

    def instead(self, schemes: Mapping[str, str]) -> Runs:
        """The same, with schemes replaced by others, by name (``module:Class`` for a class)."""
        return type(self)(self.folder, {**self._instead, **schemes}, self._only)

    def scheme(self, name: str) -> str:
        """The scheme that stands for ``name``."""
        return self._instead.get(name, name)

    def chosen(self, case: str) -> list[str]:
        """The schemes that run a case, less those that were left out; schemes of the user's own come last."""
        known = CASES[case].schemes
        if self._only is None:
            return list(known)
        return [*(s for s in known if s in self._only), *(s for s in self._only if ":" in s)]

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """The value of ``make``, which JSON can hold: made by the first who asks for ``name``, and kept."""
        place = self._place([name, self._instead, None if self._only is None else sorted(self._only)])
        with self._locked(place):
            if not (place / "kept.json").exists():
                (place / "kept.json").write_text(json.dumps(make()))
        return json.loads((place / "kept.json").read_text())

    def __call__(self, case: str, scheme: str, **settings: Any) -> Run:
        """The run of a case with a scheme and these parameters, the others at their defaults.

        Settings that the scheme does not understand are left out where it stands for another one.

        Raises:
            ValueError: A parameter that does not exist, or a value of the wrong kind.
            FailedRun, NotChosen: The run failed, or the scheme does not run the case; it was left out.
        """
        name = self.scheme(scheme)
        if self._only is not None and ":" not in scheme and scheme not in self._only:
            raise NotChosen(f"it takes runs with {scheme}, which was left out")
        try:
            chosen = runner.find(case, name)
        except ValueError as error:
            raise FailedRun(str(error)) from None
        if name != scheme:
            known = runner.options_of(chosen, name)
            settings = {key: value for key, value in settings.items() if key in known}
        values = runner.parse(chosen, name, [f"{key}={value}" for key, value in settings.items()])
        place = self._place([case, name, values])
        with self._locked(place):
            if not (place / "summary.json").exists():
                _make(case, name, values, place)
        summary = json.loads((place / "summary.json").read_text())
        if "failed" in summary:
            raise FailedRun(summary["failed"])
        return Run(Result.load(place / "history.npz"), summary)

    def _place(self, about: Any) -> Path:
        """The folder, by its content, of what is made once."""
        text = json.dumps(about, sort_keys=True)
        place = self.folder / hashlib.sha256(text.encode()).hexdigest()[:24]
        place.mkdir(parents=True, exist_ok=True)
        return place

    @staticmethod
    @contextmanager
    def _locked(place: Path) -> Iterator[None]:
        """One process at a time."""
        with open(place / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _make(case: str, scheme: str, values: dict[str, Any], place: Path) -> None:
    """Run and keep; a failure, whatever a scheme of the user's does, is kept too and not repeated."""
    try:
        problem = runner.find(case, scheme).make(scheme, values, False)
        summary, history = runner.perform(case, scheme, values, problem, progress=False)
        text = json.dumps(summary, allow_nan=False)
        history.save(place / "history.npz")
        for name, content in problem.files.items():
            (place / name).write_bytes(content())
    except (Exception, SystemExit) as error:
        text = json.dumps({"failed": describe(error)})
    (place / "summary.json").write_text(text)
