"""Runs that claims and figures share: each is made once, whichever process asks for it first."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..output.atomic_file import locked, whole_file
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

    ``only`` are the schemes of the catalogue that may run; ``replaced`` as in :meth:`instead`. Runs of
    schemes in ``code`` are kept by that, too. In a folder that outlives a report, runs that failed before it
    had ``begun`` and all that was made before ``since`` are made again (as ``time.time`` [s]), and so is what
    cannot be read.
    """

    def __init__(
        self,
        folder: str | Path,
        replaced: Mapping[str, str] = {},
        only: Collection[str] | None = None,
        *,
        code: Mapping[str, str] = {},
        begun: float = 0.0,
        since: float = 0.0,
    ) -> None:
        self.folder, self._instead, self._only = Path(folder), dict(replaced), only
        self._code, self._begun, self._since = dict(code), begun, since

    def instead(self, schemes: Mapping[str, str]) -> Runs:
        """The same, with schemes replaced by others, by name (``module:Class`` for a class)."""
        how: Any = {"code": self._code, "begun": self._begun, "since": self._since}
        return type(self)(self.folder, {**self._instead, **schemes}, self._only, **how)

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
        only = None if self._only is None else sorted(self._only)
        place = self._place([name, self._instead, only], *(only or ()))
        with locked(place):
            if (kept := self._kept(place / "kept.json")) is None:
                kept = [json.loads(json.dumps(make()))]
                _replace(place / "kept.json", json.dumps(kept))
        return kept[0]

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
        place = self._place([case, name, values], name)
        with locked(place):
            found = self._found(place)
            if found is None:
                _make(case, name, values, place)
                found = self._found(place)
        if isinstance(found, Run):
            return found
        raise FailedRun(found or "its files cannot be read")

    def _found(self, place: Path) -> Run | str | None:
        """The run, or why it failed; None where it must be made."""
        summary = self._kept(place / "summary.json")
        if summary is None:
            return None
        if "failed" in summary:
            made = (place / "summary.json").stat().st_mtime
            return str(summary["failed"]) if made >= self._begun else None
        try:
            return Run(Result.load(place / "history.npz"), summary)
        except Exception:  # whatever a damaged file does
            return None

    def _kept(self, file: Path) -> Any:
        """The content of a file that is there, whole, and not too old; else None. It counts as used."""
        try:
            if file.stat().st_mtime < self._since:
                return None
            found = json.loads(file.read_text())
            (file.parent / "lock").touch()
        except (OSError, ValueError):
            return None
        return found or None

    def _place(self, about: Any, *schemes: str) -> Path:
        """The folder, by its content and the code of the schemes, of what is made once."""
        text = json.dumps(
            [about, *(self._code[name] for name in schemes if name in self._code)], sort_keys=True
        )
        place = self.folder / hashlib.sha256(text.encode()).hexdigest()[:24]
        place.mkdir(parents=True, exist_ok=True)
        return place


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
    _replace(place / "summary.json", text)


def _replace(file: Path, text: str) -> None:
    """Write a file whole: a process that is killed leaves none, or the one before."""
    with whole_file(file) as stream:
        stream.write(text.encode())
