"""What a report shows in the terminal: how far it is, and a summary at the end."""

from __future__ import annotations

import sys
import textwrap
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .wording import ANSWERS, NO_ANSWER, classification, count, criteria, number
from .workers import Task

#: After so many seconds without an answer it is said what is being done.
_QUIET = 60.0
#: Narrower than that no table is legible.
_NARROWEST = 60
#: Characters of a reason; the report has all of it.
_MOST = 240


class Progress:
    """A bar on a terminal (with tqdm), else a line every tenth; and what takes long.

    Args:
        total: Number of tasks.
        shown: Whether to say anything.
    """

    def __init__(self, total: int, shown: bool) -> None:
        self._total, self._done, self._shown = total, 0, shown
        self._begun = self._heard = time.perf_counter()
        self._patience = _QUIET
        self._bar = _bar(total) if shown and sys.stderr.isatty() else None

    def __enter__(self) -> Progress:
        return self

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
            self._say("still at: " + "; ".join(f"{_name(task)} ({s:.0f} s)" for task, s in running))

    def _say(self, words: str) -> None:
        if self._bar is not None:
            self._bar.write(f"report: {words}", file=sys.stderr)
        elif self._shown:
            print(f"report: {words}", file=sys.stderr, flush=True)


def _bar(total: int) -> Any:
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm(total=total, unit=" tasks", desc="report", mininterval=0.3)


def _name(task: Task) -> str:
    """For example ``run bouncing-ball with carpenter``."""
    return " with ".join([" ".join(task[:2]), *task[2:]])


def say(words: str) -> None:
    """Print, whatever the terminal cannot show."""
    encoding = sys.stdout.encoding or "utf-8"
    print(words.encode(encoding, "backslashreplace").decode(encoding), flush=True)


def summary(report: Mapping[str, Any], case_of: Mapping[str, str], width: int) -> str:
    """What is reproduced and what not, failed runs, classes and properties of the schemes.

    Args:
        report: What ``report.json`` holds.
        case_of: The case of each claim by id; those without one are about the user's own schemes.
        width: Columns of the terminal.
    """
    width = max(width, _NARROWEST)
    found = [
        count(claim for claim in report["claims"] if case_of.get(claim["id"]) == case)
        for case in report["cases"]
    ]
    head = ["reproduced", "not", "undecided"]
    (lines,) = _blocks("case", list(report["cases"]), head, [list(map(str, row)) for row in found], width)
    for case, runs in report["cases"].items():
        for scheme, run in runs.items():
            if "failed" in run:
                lines += _wrapped(f"failed: {case} with {scheme}: {run['failed']}", width)
    for claim in report["claims"]:
        if claim["reproduced"] is False and claim["id"] in case_of:
            lines += _wrapped(f"NOT reproduced: {claim['id']}: {claim['why']}", width)
    if "classification" in report:
        lines += _classified(report["classification"], width)
    return "\n".join(lines + _properties(report["schemes"], width))


def _wrapped(words: str, width: int) -> list[str]:
    words = _cut(" ".join(words.split()))
    return textwrap.wrap(words, width, subsequent_indent="    ", break_on_hyphens=False)


def _cut(words: str) -> str:
    """At most so many characters, up to the end of a word unless that is far."""
    if len(words) <= _MOST:
        return words
    kept = words[: _MOST - 4]
    return kept[: max(kept.rfind(" "), _MOST * 3 // 4)].rstrip() + " ..."


def _classified(classified: Mapping[str, Any], width: int) -> list[str]:
    """The classification with what its cells are."""
    rows = classified["rows"]
    names = [_tail(row["name"], max(width // 3, len("dep-5.3 eps=0.001"))) for row in rows]
    blocks = _blocks("scheme", names, *classification(rows), width)
    notes = [*classified["criteria"]]
    notes += [f"failed: {row['name']}: {row['failed']}" for row in rows if "failed" in row]
    below = [line for note in notes for line in _wrapped(note, width)]
    return [line for block in blocks for line in ("", *block)] + ["", *below]


def _properties(schemes: Mapping[str, Sequence[Mapping[str, Any]]], width: int) -> list[str]:
    """A table with the schemes as columns where they fit, else as rows; and what is asked for."""
    asked = list(criteria(schemes))
    if not asked:
        return []
    properties = [row["name"] for row, _ in asked]
    # Of a long name the class at its end says most.
    names = [_tail(name, max(width // 3, len("moreau-jean-decoupled"))) for name in schemes]
    cells = [[_answer(row) for row in found] for found in schemes.values()]
    turned = [list(column) for column in zip(*cells)]
    blocks = _blocks("property", properties, names, turned, width)
    if len(blocks) > 1:
        blocks = _blocks("scheme", names, properties, cells, width)
    notes = [f"{row['name']}{_unit(row['unit'])}: {criterion}" for row, criterion in asked]
    notes += [f"-: {NO_ANSWER}"] if any("-" in row for row in cells) else []
    below = [line for note in notes for line in _wrapped(note, width)]
    return [line for block in blocks for line in ("", *block)] + ["", *below]


def _answer(row: Mapping[str, Any]) -> str:
    if row["reproduced"] is None:
        return ANSWERS[None]
    return f"{ANSWERS[row['reproduced']]} {number(row['measured'])}"


def _tail(name: str, most: int) -> str:
    return name if len(name) <= most else "..." + name[3 - most :]


def _unit(unit: str) -> str:
    return "" if unit == "-" else f" [{unit}]"


def _blocks(
    corner: str, names: Sequence[str], head: Sequence[str], cells: Sequence[Sequence[str]], width: int
) -> list[list[str]]:
    """The lines of a table; columns that do not fit beside the others are a block of their own."""
    first = max(map(len, [corner, *names])) + 2
    wide = [max(map(len, column)) + 2 for column in zip(head, *cells)]
    blocks, begin = [], 0
    while begin < len(head):
        end = begin + 1
        while end < len(head) and first + sum(wide[begin : end + 1]) <= width:
            end += 1
        rows = [(corner, head), *zip(names, cells)]
        blocks.append([f"{name:<{first}}" + _right(row[begin:end], wide[begin:end]) for name, row in rows])
        begin = end
    return blocks


def _right(cells: Iterable[str], wide: Iterable[int]) -> str:
    return "".join(f"{cell:>{size}}" for cell, size in zip(cells, wide))
