"""Command line: ``python -m dolfinx_impact.benchmark list | run | report | speed``."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from mpi4py import MPI

from ..parallel import Parser
from ..simulation.loop import Interrupted
from . import listing, runner

_BAD_INPUT, _FAILED = 2, 3
_PROGRAM = "python -m dolfinx_impact.benchmark"
_EXAMPLES = f"""examples:
  {_PROGRAM} list bouncing-ball
  {_PROGRAM} run bouncing-ball cd-lagrange --set h=1e-3
  {_PROGRAM} report --cases bouncing-ball,rigid-body
  {_PROGRAM} speed --case bouncing-ball

{_PROGRAM} COMMAND --help says more of a command."""


class _Parser(Parser):
    def error(self, message: str) -> NoReturn:
        raise SystemExit(_complain(message, _BAD_INPUT))


def _complain(message: object, status: int) -> int:
    if MPI.COMM_WORLD.rank == 0:
        text = str(message).encode("utf-8", "backslashreplace").decode()
        print(f"error: {text}", file=sys.stderr, flush=True)
    return status


def _arguments() -> argparse.ArgumentParser:
    about, raw = "Cases with known answers, for every scheme.", argparse.RawDescriptionHelpFormatter
    parser = _Parser(prog=_PROGRAM, description=about, epilog=_EXAMPLES, formatter_class=raw)
    commands = parser.add_subparsers(dest="command", title="commands", metavar="COMMAND")
    names = commands.add_parser("list", help="the cases and schemes, and their parameters")
    names.add_argument("name", nargs="?", metavar="NAME", help="a case or a scheme: all about it")
    names.add_argument("--json", action="store_true", help="everything, for programs")
    run = commands.add_parser("run", help="run a case with a scheme; history, results, verdicts")
    run.add_argument("case")
    run.add_argument("scheme")
    settings: dict[str, Any] = {"metavar": "NAME=VALUE", "help": "parameters; see list CASE and list SCHEME"}
    run.add_argument("--set", action="extend", nargs="+", default=[], **settings)
    run.add_argument("--out", type=Path, metavar="DIR", help="default: results/CASE/SCHEME")
    run.add_argument("--allow-unstable", action="store_true", help="accept a step above the critical one")
    run.add_argument("--checkpoint", type=Path, metavar="FILE", help="keep the run, to go on from there")
    run.add_argument("--checkpoint-every", type=int, metavar="N", help="steps between two checkpoints")
    run.add_argument("--restart", type=Path, metavar="FILE", help="go on from a checkpoint of this run")
    report = commands.add_parser("report", help="all cases with all schemes, every claim decided")
    report.add_argument("--cases", type=_names, metavar="A,B", help="default: all")
    choice = (
        "names leave out the others of the catalogue, classes of your own come beside them; these alone come "
        "beside one scheme, on three cases, or with all,module:Class beside all"
    )
    report.add_argument("--schemes", type=_names, metavar="C,module:Class", help=choice)
    report.add_argument("--out", type=Path, metavar="DIR", help="default: results/report")
    processes = "processes, at most four a core; default: usable cores"
    anew = "make runs anew that earlier reports on schemes of your own have kept"
    report.add_argument("--again", action="store_true", help=anew)
    report.add_argument("--jobs", type=int, metavar="N", help=processes)
    speed = commands.add_parser("speed", help="measure the cost of a step against the best alternative")
    speed.add_argument("--case", help="default: all that are measured")
    speed.add_argument("--json", action="store_true", help="a JSON object a number; all else on stderr")
    speed.add_argument("--dofs", type=int, action="append", metavar="N", help="default: 100000 and 1000000")
    return parser


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def _list(name: str | None, as_json: bool) -> None:
    if as_json and name is not None:
        raise ValueError("give a name or --json, not both: --json lists everything")
    width = shutil.get_terminal_size((100, 24)).columns
    text = listing.overview(width) if name is None else listing.details(name, width)
    if MPI.COMM_WORLD.rank == 0:
        print(json.dumps(runner.catalogue(), indent=1) if as_json else text, flush=True)


def _carry_out(given: argparse.Namespace) -> None:
    if given.command == "list":
        _list(given.name, given.json)
    elif given.command == "run":
        if given.out is not None and not given.out.name:
            raise ValueError("--out needs the name of a folder")
        keep = runner.Keep(given.checkpoint, given.checkpoint_every, given.restart)
        what = (given.case, given.scheme, given.set, given.out)
        runner.run(*what, allow_unstable=given.allow_unstable, keep=keep)
    elif given.command == "report":
        from .report import build as report

        report.write(given.cases, given.schemes, given.out, jobs=given.jobs, again=given.again)
    else:
        from .speed import main as speed

        speed.measure(given.case, given.dofs or [100_000, 1_000_000], as_json=given.json)


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns the exit status of the contract."""
    parser = _arguments()
    try:
        given = parser.parse_args(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)
    if given.command is None:
        parser.print_help(sys.stderr)
        return _complain("no command: one of list, run, report and speed", _BAD_INPUT)
    try:
        _carry_out(given)
    except SystemExit as stop:  # code of the user's
        print(f"error: the scheme ended the program: sys.exit({stop.code!r})", file=sys.stderr, flush=True)
        return _end_all(_FAILED)
    except (np.linalg.LinAlgError, RuntimeError) as error:  # unstable, not converged
        return _complain(error, _FAILED)
    except (ValueError, FileNotFoundError, ImportError) as error:
        return _complain(error, _BAD_INPUT)
    except BrokenPipeError:  # whoever read what is printed has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except OSError as error:
        return _complain(f"could not write: {error}", _FAILED)
    except Interrupted as stop:  # of a run, known to all ranks
        return _complain(str(stop), 128 + stop.number)
    except KeyboardInterrupt:  # during set-up, perhaps on this rank only
        return _end_all(_complain("interrupted: nothing was written", 128 + signal.SIGINT))
    except Exception as error:
        # Perhaps on this rank only: the others must not wait for it.
        print(f"error: {runner.describe(error)}", file=sys.stderr, flush=True)
        return _end_all(_FAILED)
    return 0


def _end_all(status: int) -> int:
    if MPI.COMM_WORLD.size > 1:
        MPI.COMM_WORLD.Abort(status)
    return status


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # PETSc would end the program with a page of advice
    sys.exit(main())
