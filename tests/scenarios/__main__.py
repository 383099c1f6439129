"""``docker/run python tests/scenarios --help``."""

from __future__ import annotations

import argparse
import collections
import logging
import subprocess
import sys
import tempfile
import time
from pathlib import Path

if not __package__:  # run by the name of the folder
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from scenarios import faults

#: Seeds among which those of ``--cover`` are, and how many it tries at most: more than twice what it needs.
COVERED, MOST = 400, 80


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python tests/scenarios", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="number of the first scenario")
    parser.add_argument("--count", type=int, default=10**9, help="number of scenarios")
    parser.add_argument("--seconds", type=float, default=60.0, help="time after which no further one begins")
    parser.add_argument("--bodies", type=int, default=99, help="kinds of bodies, the first ones")
    parser.add_argument("--oracle", action="append", default=[], help="ask this one alone (several times)")
    parser.add_argument("--position", action="store_true", help="those with contact at position level alone")
    parser.add_argument("--fresh", action="store_true", help="a seed of this moment")
    parser.add_argument("--shrink", type=float, default=30.0, help="seconds to make a failure smaller")
    parser.add_argument("--verbose", action="store_true", help="a line a scenario")
    parser.add_argument("--quiet", action="store_true", help="no programs that reproduce failures")
    parser.add_argument(
        "--fault", choices=faults.FAULTS, help="put this fault back, and stop when it is found"
    )
    parser.add_argument("--faults", action="store_true", help="put all faults back, one after the other")
    parser.add_argument(
        "--cover",
        action="store_true",
        help="first, whatever the time, scenarios that ask every oracle and have every kind of contact",
    )
    parser.add_argument("--ranks", type=int, default=0, help="compare so many ranks with one instead")
    parser.add_argument(
        "--patience", type=float, default=300.0, help="seconds that ranks may need beside runs"
    )
    parser.add_argument("--on-ranks", nargs=2, metavar=("GIVEN", "FOUND"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    logging.disable(logging.WARNING)
    if options.faults:
        return try_faults(options)
    fault = faults.install(options.fault) if options.fault else None
    if options.on_ranks:
        from scenarios.ranks import on_ranks

        return on_ranks(*map(Path, options.on_ranks))
    if options.ranks:
        return compare_ranks(options, fault)
    if fault is not None and fault.by and not options.oracle:
        options.oracle = [fault.by]
    return run(options, fault)


def run(options, fault=None):
    """Scenarios one after the other; 0 if nothing was wrong (with a fault: if it was found)."""
    from scenarios.compose import BODIES, compose
    from scenarios.judge import judge

    seed, kinds = first_seed(options), min(options.bodies, len(BODIES))
    begun, failed, asked, made, ran = time.monotonic(), 0, collections.Counter(), 0, 0
    if options.cover:
        return cover(options, [compose(seed + i, kinds) for i in range(COVERED)])
    while made < options.count and time.monotonic() - begun < options.seconds:
        s = compose(seed + made, kinds)
        made += 1
        if options.position and not s.position:
            continue
        if fault is not None and not (fault.reach(s) and asks(options.oracle, s)):
            continue
        verdict, ran = judge(s, options.oracle), ran + 1
        asked.update(verdict.judged)
        failed += bool(verdict.wrong)
        if options.verbose:
            print(f"{verdict.seconds:.1f} s: {s.seed} {brief(s)}", flush=True)
        if fault is None:
            show(verdict, options)
        elif new := [each for each in verdict.wrong if fine_without(each[0], s.seed, options)]:
            name, text = new[0]
            print(f"{options.fault}: found by {name} in scenario {made} ({brief(s)}), {ran} run: {text}")
            return 0
    said = ", ".join(f"{name} {n}" for name, n in sorted(asked.items()))
    seconds = time.monotonic() - begun
    print(
        f"{made} scenarios from seed {seed} on, {ran} run, {failed} failed, in {seconds:.0f} s; asked: {said}"
    )
    return 1 if failed or fault is not None or not made else 0


def asks(names, s):
    """Whether an oracle of these names, or of all, knows something of a scenario."""
    from scenarios.oracles import ORACLES

    return not names or any(name == "runs" or ORACLES[name].applies(s) for name in names)


def cover(options, scenarios):
    """Those first that have every aspect, then others in the time; 0 if nothing was wrong or left out."""
    from scenarios.cover import covering, left_out
    from scenarios.judge import judge

    begun, failed, asked, ran = time.monotonic(), 0, collections.Counter(), []
    missing = ["all"]
    for s in covering(scenarios):
        if time.monotonic() - begun > options.seconds and not missing:
            break
        verdict = judge(s, options.oracle)
        ran.append(s)
        asked.update(verdict.judged)
        failed += bool(verdict.wrong)
        if options.verbose:
            print(f"{verdict.seconds:.1f} s: {s.seed} {brief(s)}", flush=True)
        show(verdict, options)
        missing = missing and left_out(ran, asked, scenarios)
        if missing and len(ran) == MOST:
            break
    said = ", ".join(f"{name} {n}" for name, n in sorted(asked.items()))
    print(f"{len(ran)} scenarios, {failed} failed, in {time.monotonic() - begun:.0f} s; asked: {said}")
    if missing:
        print(f"left out: {', '.join(missing)}")
    return 1 if failed or missing else 0


def fine_without(name, seed, options):
    """Whether this oracle has nothing to say of a scenario without the fault."""
    command = [sys.executable, sys.argv[0], "--seed", str(seed), "--count", "1", "--oracle", name, "--quiet"]
    command += ["--bodies", str(options.bodies)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def compare_ranks(options, fault=None):
    """Scenarios on one rank and on several; 0 if nothing differs, or a fault is found."""
    from scenarios.compose import BODIES, compose
    from scenarios.ranks import compare

    begun, seed, made, failed = time.monotonic(), first_seed(options), 0, 0
    own = ["--fault", options.fault] if fault else []
    while made < options.count and time.monotonic() - begun < options.seconds:
        some = min(10, options.count - made)
        chosen = [compose(seed + made + i, min(options.bodies, len(BODIES))) for i in range(some)]
        made += some
        chosen = [s for s in chosen if fault is None or fault.reach(s)]
        chosen = [s for s in chosen if s.position or not options.position]
        with tempfile.TemporaryDirectory() as folder:
            for s, text in compare(chosen, options.ranks, Path(folder), options.patience, own):
                failed += 1
                found = f"{options.fault}: found by ranks in " if fault else ""
                print(f"{found}scenario {s.seed} ({brief(s)}): {text}", flush=True)
        if fault and failed:
            return 0
    seconds = time.monotonic() - begun
    print(f"{made} scenarios from seed {seed} on, {options.ranks} ranks, {failed} differ, in {seconds:.0f} s")
    return 1 if failed or fault or not made else 0


def first_seed(options):
    return int(time.time()) * 1000 if options.fresh else options.seed


def show(verdict, options):
    """What went wrong, and for the first of it the program that reproduces it."""
    from scenarios.script import script
    from scenarios.shrink import shrunk

    for name, text in verdict.wrong:
        print(f"scenario {verdict.scenario.seed} ({brief(verdict.scenario)}): {name}: {text}", flush=True)
    if verdict.wrong and not options.quiet:
        small, text = shrunk(verdict.scenario, *verdict.wrong[0], seconds=options.shrink)
        print(f"{'-' * 80}\n{script(small, verdict.wrong[0][0], text)}{'-' * 80}", flush=True)


def try_faults(options):
    """Every fault in a process of its own; 0 if all were found."""
    missed = []
    for name, fault in faults.FAULTS.items():
        command = [sys.executable, *sys.argv[:1], "--fault", name, "--seed", str(options.seed)]
        command += ["--seconds", str(options.seconds), "--bodies", str(options.bodies)]
        command += ["--count", str(options.count)]
        command += ["--ranks", str(fault.ranks), "--patience", "30"] if fault.ranks else []
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        print(
            done.stdout.strip().split("\n")[-1] if done.returncode == 0 else f"{name}: NOT FOUND", flush=True
        )
        if done.returncode:
            missed.append(name)
            print(done.stdout[-400:], done.stderr[-800:], flush=True)
    print(f"{len(faults.FAULTS) - len(missed)} of {len(faults.FAULTS)} faults were found")
    return 1 if missed else 0


def brief(s):
    """A scenario in a few words."""
    words = (s.cell, s.degree, s.hypothesis, s.law, s.motion, s.floor, len(s.blocks), s.joint, s.scheme)
    return " ".join(str(each) for each in words if each)


if __name__ == "__main__":
    sys.exit(main())
