"""Runs a case with a scheme and writes ``history.npz``, ``summary.json`` and the case's own files."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from mpi4py import MPI

from .. import Interrupted, Result, __version__, parallel
from ..integrators import SCHEMES, Option, Scheme, find_scheme
from ..integrators.options import check
from ..output.atomic_file import write_whole
from ..simulation.checkpoint import Checkpoint, Stored
from .case import Case, Problem
from .cases import CASES

_LONGEST = 500  #: Longest text of an error that is kept.


def describe(error: BaseException) -> str:
    """An error in one line that any file can hold, whatever it is; the code may be the user's."""
    try:
        text = str(error)
    except Exception:
        text = "an error that cannot be printed"
    line = " ".join(f"{type(error).__name__}: {text[: 4 * _LONGEST]}".split())
    line = line.encode("utf-8", "backslashreplace").decode()
    return line if len(line) <= _LONGEST else line[: _LONGEST - 3] + "..."


def catalogue() -> dict[str, Any]:
    """Cases and schemes with their parameters, as ``list --json`` prints them."""

    def parameters(options: Mapping[str, Option]) -> dict[str, Any]:
        return {n: {"default": o.default, "unit": o.unit, "help": o.help} for n, o in options.items()}

    cases, schemes = {}, {}
    for name, case in CASES.items():
        help = "parameter of a scheme, with this case's default"
        changed = {n: Option(value, "-", help) for n, value in case.defaults.items()}
        facts = {"schemes": list(case.schemes), "amplifies_rounding": case.amplifies_rounding}
        cases[name] = {"parameters": parameters({**case.parameters, **changed}), **facts}
    for name, scheme in SCHEMES.items():
        schemes[name] = {**scheme.facts(), "parameters": parameters(parameters_of(scheme))}
    return {"cases": cases, "schemes": schemes}


def parameters_of(scheme: Scheme) -> dict[str, Option]:
    """The parameters of a scheme, with the Courant number that it takes in the place of a case's."""
    help = "time step over its own critical one, in cases that give such a part"
    own = {} if scheme.courant is None else {"courant": Option(scheme.courant, "-", help)}
    return {**scheme.options, **own}


def find(case: str, scheme: str) -> Case:
    """The case; a ValueError lists the names that exist where it or the scheme is unknown."""
    if case not in CASES:
        raise ValueError(f"unknown case {case!r}; the cases are: {', '.join(CASES)}")
    if ":" in scheme:
        if find_scheme(scheme).divided and "hati" not in CASES[case].schemes:
            raise ValueError(f"{scheme} integrates two subdomains of a body, but {case} has one system")
    elif scheme not in CASES[case].schemes:
        names = f"{', '.join(CASES[case].schemes)}, and a class of your own as module:Class"
        raise ValueError(f"unknown scheme {scheme!r} for {case}; its schemes are: {names}")
    return CASES[case]


def options_of(case: Case, scheme: str) -> dict[str, Option]:
    """The parameters of a case with a scheme, whose Courant number replaces one that the case gives."""
    chosen, options = find_scheme(scheme), dict(case.parameters)
    own = case.explicit_courant if chosen.courant is None and chosen.explicit else chosen.courant
    if own is not None and "courant" in options and options["courant"].default is not None:
        options["courant"] = replace(options["courant"], default=own)
    return {**options, **{n: o for n, o in chosen.options.items() if n not in case.own}}


def parse(case: Case, scheme: str, settings: list[str]) -> dict[str, Any]:
    """Values of all parameters from ``NAME=VALUE`` settings, or a ValueError."""
    options, given = options_of(case, scheme), {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise ValueError(f"--set takes NAME=VALUE, not {setting!r}")
        if name not in options:
            raise ValueError(f"unknown parameter {name!r}; the parameters are: {', '.join(sorted(options))}")
        given[name] = _convert(name, text, options[name])
    if "h" in given and "courant" in given:
        raise ValueError("give h or courant, not both")
    defaults = {name: case.defaults.get(name, option.default) for name, option in options.items()}
    check(options, values := {**defaults, **given})
    return values


def _convert(name: str, text: str, option: Option) -> Any:
    kind = type(option.default) if option.default is not None else float
    if text.lower() in option.words:
        return text.lower()
    try:
        value: Any = {"true": True, "false": False}[text.lower()] if kind is bool else kind(text)
    except (ValueError, KeyError):
        words = {int: "a whole number", float: "a number", bool: "true or false"}
        raise ValueError(f"{name} must be {words.get(kind, 'a word')}, not {text!r}") from None
    if kind is float and not np.isfinite(value):
        raise ValueError(f"{name} must be finite, not {text}")
    if option.allowed and value not in option.allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(str, option.allowed))}, not {text}")
    return value


class Keep(NamedTuple):
    """How a run is kept."""

    path: Path | None = None  #: File of the checkpoints.
    every: int | None = None  #: Steps between two of them (coarse ones with HATI).
    restart: Path | None = None  #: A checkpoint to go on from.

    def checkpoint(self, about: dict[str, Any]) -> Checkpoint | None:
        """The argument of :func:`.simulate`; a ValueError unless file and number of steps go together."""
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
            if (was := said.get(name)) != (now := about[name]):
                raise ValueError(f"{file} is a checkpoint of the {name} {was!r}, not of {now!r}")
        before, given = said.get("parameters", {}), about["parameters"]
        for name in sorted((before.keys() | given.keys()) - {"t_end"}):
            if (was := before.get(name)) != (now := given.get(name)):
                same = "give the same parameters; t_end may be another one"
                raise ValueError(f"{file} belongs to a run with {name} = {was}, not {now}: {same}")


def prepare_folder(folder: Path) -> None:
    """Make the output folder; a ValueError where no file can be written in it. Collective."""
    try:
        parallel.on_root(MPI.COMM_WORLD, lambda: folder.mkdir(parents=True, exist_ok=True))
        write_whole(folder / ".writable", lambda f: f.write(b""))
        parallel.on_root(MPI.COMM_WORLD, (folder / ".writable").unlink)
    except OSError as error:
        raise ValueError(f"cannot write in {str(folder)!r}: {error.strerror}") from None


def run(
    case: str,
    scheme: str,
    settings: list[str],
    folder: Path | None,
    *,
    allow_unstable: bool = False,
    keep: Keep = Keep(),
) -> dict[str, Any]:
    """Run a case; write history and summary; return the summary. Collective.

    Raises:
        ValueError: Bad input; nothing was run.
        RuntimeError: A run that failed; nothing was written.
    """
    chosen = find(case, scheme)
    values = parse(chosen, scheme, settings)
    folder = folder or Path("results") / case / scheme.replace(":", ".")
    about = json.loads(json.dumps({"case": case, "scheme": scheme, "parameters": values}))
    checkpoint = keep.checkpoint(about)
    keep.refuse_other(about)
    problem = chosen.make(scheme, values, allow_unstable)
    try:
        if checkpoint is not None:
            checkpoint.check(problem.integrator)
    except OSError as error:
        raise ValueError(f"--checkpoint: {error}") from None
    prepare_folder(folder)
    how: dict[str, Any] = {"checkpoint": checkpoint, "restart": keep.restart}
    if values["every"] == 1 and not any(each.startswith("every=") for each in settings):
        how["every"] = None  # nobody asked for every step: a history that is too large has fewer samples
    summary, result = perform(case, scheme, values, problem, **how)
    _write(folder, summary, result, problem)
    # The run is kept whatever becomes of the study.
    try:
        further = [v.row("claim") for v in problem.study()]
    except Interrupted as stop:
        stop.left = "the run is written, without the verdicts of its study"
        raise
    if further:
        summary["verdicts"] += further
        _write(folder, summary, result, problem)
    if MPI.COMM_WORLD.rank == 0:
        _print(summary, result, problem, folder)
    return summary


def perform(
    case: str, scheme: str, values: dict[str, Any], problem: Problem, **how: Any
) -> tuple[dict[str, Any], Result]:
    """Run a problem, ``how`` as in :func:`.simulate`: its summary and its history. Collective."""
    try:
        result = problem.simulate(**{"progress": "bar", **how})
    except (RuntimeError, MemoryError):
        raise
    except Exception as error:
        if ":" not in scheme:
            raise
        # A class of the user's: not bad input of the command.
        raise RuntimeError(f"{scheme} failed: {describe(error)}") from error
    results, verdicts = problem.judge(result)
    values.update(problem.p)
    summary: dict[str, Any] = {"case": case, "scheme": scheme, "parameters": values, "results": results}
    summary |= {"verdicts": [v.row("claim") for v in verdicts], "balance": result.balance}
    summary |= {"steps": result.steps, "dofs": problem.dofs, "seconds": result.seconds}
    return {**summary, "versions": versions()}, result


def _write(folder: Path, summary: dict[str, Any], result: Result, problem: Problem) -> None:
    text = json.dumps(summary, indent=1, allow_nan=False).encode()
    result.save(folder / "history.npz")
    for name, content in problem.files.items():
        write_whole(folder / name, lambda f: f.write(content()))  # noqa: B023 (called at once)
    write_whole(folder / "summary.json", lambda f: f.write(text))


def versions() -> dict[str, str]:
    """Versions of everything that may change a number."""
    import dolfinx
    from petsc4py import PETSc

    petsc, python = (".".join(map(str, v)) for v in (PETSc.Sys.getVersion(), sys.version_info[:3]))
    used = {"dolfinx": dolfinx.__version__, "petsc": petsc, "numpy": np.__version__, "python": python}
    return {"package": __version__, "commit": _commit(), **used}


@functools.cache
def _commit() -> str:
    """That of the checkout when it is asked for first: the modules are loaded by then."""
    here = str(Path(__file__).resolve().parent)
    command = ["git", "-c", "safe.directory=*", "-C", here, "rev-parse", "--short", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return done.stdout.strip()


def _print(summary: dict[str, Any], result: Result, problem: Problem, folder: Path) -> None:
    whole = problem.integrator.system.comm.size < MPI.COMM_WORLD.size
    size = f"{problem.dofs} dofs" + (" whole on every rank" if whole else "")
    print(f"{summary['case']} with {summary['scheme']}: {size}, {result.summary()}")
    for name, value in summary["results"].items():
        print(f"  {name:<20} {format(value, '.9g') if isinstance(value, float) else value}")
    for v in summary["verdicts"]:
        word = "reproduced    " if v["reproduced"] else "NOT reproduced"
        finite = None not in (v["measured"], v["expected"], v["tolerance"])
        number = f"{v['measured']:.6g} ({_bound(v)})" if finite else "not a finite number"
        print(f"  {word} {v['claim']}: {number}")
    names = ["history.npz", *problem.files, "summary.json"]
    print(f"written: {', '.join(str(folder / name) for name in names)}", flush=True)


def _bound(verdict: dict[str, Any]) -> str:
    if verdict["expected"] == 0.0:
        size = " in magnitude" if verdict["measured"] < 0 else ""
        return f"at most {verdict['tolerance']:.2g}{size}"
    return f"expected {verdict['expected']:.6g} +- {verdict['tolerance']:.2g}"
