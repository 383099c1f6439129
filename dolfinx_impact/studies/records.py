"""Parameters of a study, its rows on the disk, a folder for each run, and the table that is made of them."""

from __future__ import annotations

import csv
import hashlib
import io
import itertools
import json
import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .. import arguments
from .._types import AnyArray
from ..output.atomic_file import whole_file
from ..output.tables import imported

Row = dict[str, Any]  #: Of a run: parameters, results, error, traceback, seconds, steps, version, module.
_LOST = {"results": {}, "error": "the process ended in this run", "seconds": math.nan, "steps": math.nan}


def hashed(what: Any) -> str:
    """Twelve digits that stand for the ``repr`` of something."""
    return hashlib.sha256(repr(what).encode()).hexdigest()[:12]


def plain(name: str, value: Any, way_out: str, tuples: bool = False) -> Any:
    """A value of Python that files hold exactly, also of a scalar of NumPy; a ValueError for any other."""
    if isinstance(value, (np.generic, np.ndarray)) and np.ndim(value) == 0:
        value = value.item()
    if tuples and isinstance(value, tuple):
        return tuple(plain(name, each, way_out, tuples) for each in value)
    if value is None or type(value) in (bool, int, float, str):
        return value
    raise ValueError(f"{name} must be a number, a text or None, but is {arguments.shown(value)}: {way_out}")


def combinations(parameters: Any) -> list[dict[str, Any]]:
    """Parameters of each run: all combinations of a dict of lists, or a list of dicts; else a ValueError."""
    if isinstance(parameters, Mapping):
        values = {n: arguments.sequence(repr(n), v, "[1.0, 2.0]") for n, v in parameters.items()}
        parameters = [dict(zip(values, each)) for each in itertools.product(*values.values())]
    found, seen = list[dict[str, Any]](), dict[str, int]()
    for i, run in enumerate(arguments.sequence("parameters", parameters, "{'h': [1e-3, 2e-3]}")):
        if not isinstance(run, Mapping) or not all(isinstance(name, str) for name in run):
            raise ValueError(
                f"the parameters of a run are a dict as {{'h': 1e-3}}, not {arguments.shown(run)}"
            )
        if taken := run.keys() & {"error", "seconds"}:
            raise ValueError(f"no parameter can be named {taken.pop()!r}, which the table has for each run")
        way_out = "give a tuple of these, or a name that the function understands"
        found.append({name: plain(repr(name), value, way_out, True) for name, value in run.items()})
        if (first := seen.setdefault(_key(found[i]), i)) < i:
            raise ValueError(f"runs {first} and {i} have the same parameters, {found[i]}: give them once")
    if not found:
        raise ValueError("there are no parameters: give those of one run at least")
    return found


def _key(parameters: Mapping[str, Any]) -> str:
    return hashed(sorted(parameters.items()))


def _finite(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


@dataclass(frozen=True)
class Records:
    """Rows in ``folder/KEY-CODE/row.json``, by hashes of the parameters, and of function and version.

    ``ended.json`` is there instead where a run exceeded its limit.
    """

    folder: Path
    parameters: list[dict[str, Any]]
    code: str
    module: str  #: Hash of the file of the function.

    def place(self, i: int) -> Path:
        """The folder of a run."""
        return self.folder / f"{_key(self.parameters[i])}-{self.code}"

    def row(self, i: int, name: str = "row.json") -> Row | None:
        """The row of a run, None unless it is there and whole."""
        with suppress(OSError, ValueError):
            return dict(json.loads((self.place(i) / name).read_text()))
        return None

    def keep(self, i: int, row: Row, name: str = "row.json") -> None:
        """Write a row whole."""
        part = self.place(i) / "part"
        part.write_text(json.dumps(row, indent=1))
        part.replace(part.with_name(name))

    def stale(self) -> list[str]:
        """Folders with rows of these parameters by other code, where there is none by this one."""
        rows: dict[str, list[str]] = {}
        for file in sorted(self.folder.glob("*-*/row.json")):
            rows.setdefault(file.parent.name.partition("-")[0], []).append(file.parent.name)
        mine = [(self.place(i).name, rows.get(_key(each), [])) for i, each in enumerate(self.parameters)]
        return [other for name, others in mine if name not in others for other in others]

    def table(self, last: bool = False) -> Table:
        """The table of the rows so far; at last with those of runs that have none on the disk."""
        found = [self.row(i) for i in range(len(self.parameters))]
        if last:
            found = [row or self.row(i, "ended.json") or _LOST for i, row in enumerate(found)]
        return Table(self.folder, [(p, row) for p, row in zip(self.parameters, found) if row])


class Table:
    """Parameters, results and error of each run, in the order of the parameters.

    ``table["name"]`` is a column: an array of numbers, NaN where a run failed, or of objects. Iteration and
    ``len`` are over rows, which are dicts. ``table["seconds"]`` and ``table["steps"]``, the time steps, are
    those of the run unless the function returns its own; the files have no seconds.

    Attributes:
        csv, json: Paths of the files. In the first, all but texts is as ``repr`` writes it.
        columns: Names in the files, ``error`` the last.
    """

    def __init__(self, folder: Path, runs: list[tuple[dict[str, Any], Row]]) -> None:
        self.csv, self.json, self._kept = (
            folder / "table.csv",
            folder / "table.json",
            [{**row, **row["results"]} for _, row in runs],
        )
        names = (name for k in (0, 1) for p, row in runs for name in (p, row["results"])[k])
        self.columns = [*dict.fromkeys(name for name in names if name != "seconds"), "error"]
        every = ({**p, **row["results"], "error": row["error"]} for p, row in runs)
        self._rows = [{name: row[name] for name in self.columns if name in row} for row in every]

    def write(self) -> None:
        """Write both files, each of them whole."""
        text = io.StringIO()
        lines = csv.DictWriter(text, self.columns, lineterminator="\n")
        lines.writeheader()
        lines.writerows({n: v if isinstance(v, str) else repr(v) for n, v in row.items()} for row in self)
        finite = [{name: _finite(value) for name, value in row.items()} for row in self]
        for path, content in ((self.csv, text.getvalue()), (self.json, json.dumps(finite, indent=1))):
            with whole_file(path) as file:
                file.write(content.encode(errors="backslashreplace"))  # surrogates, as of names of files

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._rows)

    def __getitem__(self, name: str) -> AnyArray:
        known = name in self.columns
        if not known and name not in ("seconds", "steps"):
            raise KeyError(f"the table has no {name!r}, but {', '.join(self.columns)}")
        values = [row.get(name) for row in (self._rows if known else self._kept)]
        if all(isinstance(value, (int, float)) for value in values if value is not None):
            return np.array([math.nan if value is None else value for value in values])
        column = np.empty(len(values), dtype=object)
        column[:] = values
        return column

    def pandas(self) -> Any:
        """The table as a data frame; needs pandas (extra ``tables``)."""
        return imported("pandas", "pandas() of a study").DataFrame(list(self), columns=self.columns)
