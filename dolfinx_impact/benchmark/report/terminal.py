"""The terminal's part of a report: its progress, and a summary at the end."""

from __future__ import annotations

import sys
import textwrap
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from typing import Any

from .wording import KINDS, Grid, count, properties
from .workers import Task

_QUIET = 60.0  #: Seconds without an answer after which the running tasks are named.
_NARROWEST = 60  #: Narrower than that no table is legible.
_MOST = 240  #: Characters of a reason; the report has all of it.


class Progress(AbstractContextManager["Progress"]):
    """A bar on a terminal (with tqdm), else a line every tenth of ``total``; and the tasks that take long."""

    def __init__(self, total: int, shown: bool) -> None:
        self._total, self._done, self._shown = total, 0, shown
        self._begun = self._heard = time.perf_counter()
        self._patience = _QUIET
        self._bar: Any = None
        if shown and sys.stderr.isatty():
            with suppress(ImportError):
                from tqdm import tqdm

                self._bar = tqdm(total=total, unit=" tasks", desc="report", mininterval=0.3)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def one_more(self) -> None:
        """A task has been answered."""
        self._done += 1
        self._heard, self._patience = time.perf_counter(), _QUIET
        if self._bar is not None:
            self._bar.update()
        elif 10 * self._done // self._total > 10 * (self._done - 1) // self._total:
            self._say(f"{self._done} of {self._total} tasks, {self._heard - self._begun:.0f} s")

    def look(self, running: Sequence[tuple[Task, float]]) -> None:
        """Name the running tasks and their seconds, when there was no answer for long."""
        quiet = time.perf_counter() - self._heard
        if quiet >= self._patience:
            self._patience = 2 * quiet
            names = (" with ".join([" ".join(task[:2]), *task[2:]]) + f" ({s:.0f} s)" for task, s in running)
            self._say("still at: " + "; ".join(names))

    def _say(self, words: str) -> None:
        if self._bar is not None:
            self._bar.write(f"report: {words}", file=sys.stderr)
        elif self._shown:
            print(f"report: {words}", file=sys.stderr, flush=True)


def say(words: str) -> None:
    """Print, whatever the terminal cannot show."""
    encoding = sys.stdout.encoding or "utf-8"
    print(words.encode(encoding, "backslashreplace").decode(encoding), flush=True)


def summary(report: Mapping[str, Any], case_of: Mapping[str, str], width: int) -> str:
    """Verdicts by kind and case, failures and properties, in ``width`` columns; own schemes have no case."""
    width, cases, claims = max(width, _NARROWEST), report["cases"], report["claims"]
    found = {case: [c for c in claims if case_of.get(c["id"]) == case] for case in cases}
    lines: list[str] = []
    for kind in KINDS:
        # What was run and has no claims stands with the verified ones.
        of_kind = {case: [c for c in some if c["kind"] == kind] for case, some in found.items()}
        shown = [case for case in cases if of_kind[case] or kind == "verified" and not found[case]]
        counts = [[*map(str, count(of_kind[case]))] for case in shown]
        if shown:
            (block,) = _blocks(kind, shown, ["reproduced", "not", "undecided"], counts, width)
            lines += ["", *block] if lines else block
    every = [(f"{case} with {s}", run) for case, runs in cases.items() for s, run in runs.items()]
    notes = [f"failed: {name}: {run['failed']}" for name, run in every if "failed" in run]
    missed = [c for c in claims if c["reproduced"] is False and c["id"] in case_of]
    lines += _wrapped([*notes, *(f"NOT reproduced: {c['id']}: {c['why']}" for c in missed)], width)
    asked = properties(report["schemes"])
    return "\n".join(lines + (_grid(asked, width, "property") if asked.head else []))


def _grid(grid: Grid, width: int, columns: str = "") -> list[str]:
    """A table with its notes; the schemes as columns where these have a name and fit, else as rows."""
    # Of a long name the class at its end says most.
    most = max(width // 3, len("moreau-jean-decoupled"))
    names = [name if len(name) <= most else "..." + name[3 - most :] for name in grid.names]
    turned = [list(column) for column in zip(*grid.cells)]
    blocks = _blocks(columns, grid.head, names, turned, width) if columns else []
    if len(blocks) != 1:
        blocks = _blocks("scheme", names, grid.head, grid.cells, width)
    return [line for block in blocks for line in ("", *block)] + ["", *_wrapped(grid.notes, width)]


def _wrapped(notes: Sequence[str], width: int) -> list[str]:
    lines = []
    for note in notes:
        words = " ".join(note.split())
        if len(words) > _MOST:
            kept = words[: _MOST - 4]
            # Up to the end of a word unless that is far.
            words = kept[: max(kept.rfind(" "), _MOST * 3 // 4)].rstrip() + " ..."
        lines += textwrap.wrap(words, width, subsequent_indent="    ", break_on_hyphens=False)
    return lines


_Words = Sequence[str]


def _blocks(corner: str, names: _Words, head: _Words, cells: Sequence[_Words], width: int) -> list[list[str]]:
    """The lines of a table; columns that do not fit beside the others are a block of their own."""
    first = max(map(len, [corner, *names])) + 2
    wide = [max(map(len, column)) + 2 for column in zip(head, *cells)]
    blocks, begin = [], 0
    while begin < len(head):
        end = begin + 1
        while end < len(head) and first + sum(wide[begin : end + 1]) <= width:
            end += 1
        rows = [(corner, head), *zip(names, cells)]
        part = [(name, zip(row[begin:end], wide[begin:end])) for name, row in rows]
        blocks.append([f"{name:<{first}}" + "".join(f"{c:>{w}}" for c, w in row) for name, row in part])
        begin = end
    return blocks
