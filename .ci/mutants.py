#!/usr/bin/env python3
"""Measures the teeth of the tests: how many small mistakes in the package do they see?

A mutant is the package with one small change (see mutant_sites.py). Against each run the tests that mirror
the folder of the change, then, but with ``--tier mirror``, all others of the fast tier, then, with
``--tier all``, the slow ones: on one rank, up to the first failure. A mutant is killed by a test that fails.
It is invalid, and replaced by another one, where pytest crashes or cannot import the tests, or where no
kernel was compiled although C code was changed.

What is tested is the last commit, in a clone with caches of its own, which are kept in
${XDG_CACHE_HOME:-~/.cache}/dolfinx_impact/mutants. The unmutated source must pass first. Mutants that
behave like the package are listed by hand, with the reason, in mutants_equivalent.txt. The exit status does
not depend on how many survive.
"""

from __future__ import annotations

import argparse
import fcntl
import itertools
import json
import os
import random
import shlex
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mutant_caches import Caches
from mutant_sites import Mutant, chosen, equivalent, gone

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("integrators", "contact", "algebra", "systems", "materials", "simulation", "output")
EQUIVALENT = Path(__file__).with_name("mutants_equivalent.txt")
REPORT = "results/mutant.xml"
KILLED, SURVIVED, INVALID, TOO_LONG = "killed", "survived", "invalid", "time limit"


def options(words: list[str] | None = None) -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--seed", type=int, help="which mutants; a fresh one is printed")
    add("--count", type=int, default=40, help="number of mutants that are not invalid (40)")
    add("--seconds", type=float, default=float("inf"), help="begin no mutant after this time [s]")
    add("--folders", nargs="+", default=FOLDERS, help=f"of the package: {' '.join(FOLDERS)}")
    add("--tier", choices=("mirror", "fast", "all"), default="fast", help="tests that a mutant must survive")
    add("--time-limit", type=float, default=1800.0, help="for one mutant [s] (1800)")
    add("--processes", type=int, default=0, help="that share the tests, as in pytest -n (0: none but pytest)")
    add("--list", action="store_true", help="print the mutants and end")
    add("--json", type=Path, help="file of the results; a run that was interrupted goes on from it")
    add("--pytest", default="docker/run pytest", help="command that runs the tests (docker/run pytest)")
    add("--checkout", type=Path, default=ROOT, help="the checkout (that of this file)")
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dolfinx_impact" / "mutants"
    add("--cache", type=Path, default=home, help=f"folder of the clone and its caches ({home})")
    return parser.parse_args(words)


def git(folder: Path, *words: str) -> str:
    """What git prints."""
    command = ["git", "-c", "safe.directory=*", "-C", str(folder), *words]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def fresh_clone(checkout: Path, cache: Path) -> Path:
    """The clone, always at the same place, at the last commit of the checkout."""
    clone = cache / "checkout"
    if not clone.exists():
        git(cache, "clone", "--quiet", "--no-checkout", str(checkout), str(clone))
    git(clone, "fetch", "--quiet", str(checkout), "HEAD")
    git(clone, "checkout", "--quiet", "--force", "--detach", "FETCH_HEAD")
    git(clone, "clean", "-ffdxq")
    if git(checkout, "status", "--porcelain"):
        print("changes that are not committed are left out", flush=True)
    return clone


def judged(status: int, report: Path) -> tuple[str, str]:
    """Verdict of a run of pytest, and the test that failed or the reason why the run does not count."""
    if status in (0, 5):  # 5: there are no tests
        return SURVIVED, ""
    if status == 125:
        raise SystemExit("docker/run failed: see the end of the log")
    # Several processes that stop at the first failure end with 2.
    if status not in (1, 2) or not report.exists():
        return INVALID, f"pytest ended with status {status}"
    for case in ET.parse(report).iter("testcase"):
        for failure in (*case.iter("failure"), *case.iter("error")):
            message = failure.get("message", "")
            if "collection failure" in message or "crashed while running" in message:
                return INVALID, message
            name = f"{case.get('file')}::{case.get('name')}"
            return (TOO_LONG if "Timeout (>" in message else KILLED), name
    return INVALID, "pytest failed, but no test"


class Bench:
    """Runs the tests of the clone.

    Args:
        given: The options.
        clone: The clone.
    """

    def __init__(self, given: argparse.Namespace, clone: Path) -> None:
        self.clone, self.caches, self._cache = clone, Caches(given.cache, clone), given.cache
        self._command, self._tier, self._folders = shlex.split(given.pytest), given.tier, given.folders
        self._name = "-".join([git(clone, "rev-parse", "HEAD"), given.tier, os.environ.get("SUITE", "")])
        if self._tier == "mirror":
            self._name += "-" + "+".join(self._folders).replace("/", ".")
        self._share = ["-n", str(given.processes), "--dist", "loadfile"] if given.processes else []
        paths = sorted({path.relative_to(clone).parts[1] for path in clone.glob("tests/**/test_*.py")})
        self.tests = [f"tests/{each}" for each in paths]
        self._second = int(time.time())  # of the last change; the sources are older

    def mirror(self, folder: str) -> list[str]:
        """The tests of a folder of the package, or of the next one above that has some."""
        while folder and not any(self.clone.glob(f"tests/{folder}/**/test_*.py")):
            folder = folder.rpartition("/")[0]
        return [f"tests/{folder}"] if folder else []

    def pytest(self, words: list[str], seconds: float) -> tuple[str, str]:
        """Run pytest up to the first failure; see :func:`judged`."""
        (self.clone / REPORT).unlink(missing_ok=True)
        options = ["-x", "-q", "-o", "junit_family=xunit1", f"--junitxml={REPORT}", *self._share]
        environment = {**os.environ, "XDG_CACHE_HOME": str(self._cache)}
        with (self._cache / "log").open("w") as log:
            command, nothing = [*self._command, *options, *words], subprocess.DEVNULL
            process = subprocess.Popen(
                command, cwd=self.clone, env=environment, stdin=nothing, stdout=log, stderr=log
            )
            try:
                return judged(process.wait(max(seconds, 1.0)), self.clone / REPORT)
            except subprocess.TimeoutExpired:
                return TOO_LONG, ""
            finally:
                process.terminate()
                process.wait()

    def stages(self, first: list[str]) -> Iterator[list[str]]:
        """Arguments of pytest, stage by stage; those of the whole suite would add stages on several ranks."""
        if first:
            yield first
        others = [each for each in self.tests if each not in first]
        if others and self._tier != "mirror":
            yield [*others, *(f"--ignore={each}" for each in first)]
        if self._tier == "all":
            yield ["-m", "slow", *self.tests]

    def face(self, first: list[str], seconds: float) -> tuple[str, str]:
        """What comes of the source as it stands."""
        end = time.monotonic() + seconds
        for words in self.stages(first):
            verdict, by = self.pytest(words, end - time.monotonic())
            if verdict != SURVIVED:
                return verdict, by
        return SURVIVED, ""

    def check(self) -> None:
        """The unmutated source must pass, once for each commit; what it compiles is kept."""
        if self.caches.prepare(self._name):
            return
        print("without a change: ", end="", flush=True)
        begun = time.monotonic()
        first = sorted({name for each in self._folders for name in self.mirror(each)})
        verdict, by = self.face(first, 4 * 3600.0)
        print(f"{verdict} {by} in {time.monotonic() - begun:.0f} s", flush=True)
        if verdict != SURVIVED:
            raise SystemExit(f"the tests fail without a mutant: see {self._cache / 'log'}")
        self.caches.keep(self._name)

    def judge(self, mutant: Mutant, seconds: float) -> dict[str, Any]:
        """Make one mutant, see what comes of it, and undo it."""
        path, begun = self.clone / mutant.path, time.monotonic()
        source, stamp = path.read_bytes(), path.stat()
        with self.caches.of_mutant(self._name, mutant.path) as made:
            path.write_bytes(mutant.applied(source))
            # Bytecode is kept by the size of the source and the second of its last change.
            self._second = max(self._second + 1, int(time.time()))
            os.utime(path, (self._second, self._second))
            try:
                verdict, by = self.face(self.mirror("/".join(Path(mutant.path).parts[1:-1])), seconds)
            finally:
                path.write_bytes(source)
                os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
            if mutant.c_code and verdict in (KILLED, SURVIVED) and not made():
                verdict, by = INVALID, f"{verdict} {by}, but no kernel was compiled"
        return {**vars(mutant), "verdict": verdict, "by": by, "seconds": round(time.monotonic() - begun, 1)}


def line(number: int, found: dict[str, Any]) -> str:
    """A line of the table."""
    place = f"{found['path'].removeprefix('dolfinx_impact/')}:{found['line']}"
    verdict = f"{found['verdict']}{' by' * (found['verdict'] == KILLED)} {found['by']}".strip()
    return f"{number:3}  {place}  {found['shown']}  {verdict}  {found['seconds']:.0f} s"


def opened(given: argparse.Namespace, commit: str) -> dict[str, Any]:
    """Results so far: those of the file, if there is one; it must be of the same mutants."""
    setting = {"commit": commit, "folders": [*given.folders], "tier": given.tier}
    if not (given.json and given.json.exists()):
        seed = random.SystemRandom().randrange(10**6) if given.seed is None else given.seed
        return {**setting, "seed": seed, "mutants": []}
    past: dict[str, Any] = json.loads(given.json.read_text())
    setting["seed"] = past["seed"] if given.seed is None else given.seed
    other = [name for name, value in setting.items() if past[name] != value]
    if other:
        raise SystemExit(f"{given.json} is of another {', '.join(other)}: give another file")
    return past


def save(given: argparse.Namespace, results: dict[str, Any]) -> None:
    """Write the file of the results, if one is asked for."""
    if given.json:
        given.json.write_text(json.dumps(results, indent=1) + "\n")


def run(given: argparse.Namespace, clone: Path) -> None:
    """Judge mutants until there are enough."""
    begun, bench = time.monotonic(), Bench(given, clone)
    results = opened(given, git(clone, "rev-parse", "HEAD"))
    print(f"seed {results['seed']}", flush=True)
    bench.check()
    skipped, counts = equivalent(EQUIVALENT.read_text()), Counter[str]()
    for path, before, after in gone(clone, skipped):
        print(f"{EQUIVALENT.name}: there is no '{before}' -> '{after}' in {path} any more", flush=True)
    past = {(each["path"], each["start"], each["new"]): each for each in results["mutants"]}
    for number, mutant in enumerate(chosen(clone, given.folders, results["seed"]), 1):
        if counts.total() - counts[INVALID] >= given.count or time.monotonic() - begun > given.seconds:
            break
        if (reason := skipped.get((mutant.path, mutant.before, mutant.after))) is not None:
            print(f"{number:3}  {mutant.path}:{mutant.line}  {mutant.shown}  skipped: {reason}", flush=True)
            continue
        if (found := past.get((mutant.path, mutant.start, mutant.new))) is None:
            found = bench.judge(mutant, given.time_limit)
            results["mutants"].append(found)
            save(given, results)
        counts[found["verdict"]] += 1
        print(line(number, found), flush=True)
    told = ", ".join(f"{counts[each]} {each}" for each in (KILLED, SURVIVED, TOO_LONG, INVALID))
    valid = counts[KILLED] + counts[SURVIVED]
    print(f"seed {results['seed']}: {told}; the tests see {counts[KILLED]} of {valid}", flush=True)


def main(words: list[str] | None = None) -> None:
    """The command."""
    given = options(words)
    given.checkout, given.cache = given.checkout.resolve(), given.cache.resolve()
    if given.list:
        seed = random.randrange(10**6) if given.seed is None else given.seed
        print(f"seed {seed}")
        for number, mutant in enumerate(
            itertools.islice(chosen(given.checkout, given.folders, seed), given.count), 1
        ):
            print(f"{number:3}  {mutant.path}:{mutant.line}  {mutant.shown}")
        return
    given.cache.mkdir(parents=True, exist_ok=True)
    with (given.cache / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise SystemExit(f"another run is at work in {given.cache}") from None
        run(given, fresh_clone(given.checkout, given.cache))


if __name__ == "__main__":
    # What is half done is undone.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    main()
