"""``docker/run python tests/scenarios --help``."""

from __future__ import annotations

import argparse
import collections
import logging
import sys
import time
from pathlib import Path

if not __package__:  # run by the name of the folder
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    sys.path[1:2] = []
    __package__ = "scenarios"

from scenarios.compose import BODIES, compose  # noqa: E402
from scenarios.judge import judge  # noqa: E402
from scenarios.script import script  # noqa: E402
from scenarios.shrink import shrunk  # noqa: E402


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python tests/scenarios", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="number of the first scenario")
    parser.add_argument("--count", type=int, default=10**9)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--bodies", type=int, default=len(BODIES), help="kinds of bodies, the first ones")
    parser.add_argument("--oracle", action="append", default=[])
    parser.add_argument("--fresh", action="store_true", help="a seed of this moment")
    parser.add_argument("--shrink", type=float, default=30.0, help="seconds to make a failure smaller")
    parser.add_argument("--verbose", action="store_true", help="a line a scenario")
    parser.add_argument("--quiet", action="store_true", help="no programs that reproduce failures")
    options = parser.parse_args(arguments)
    logging.disable(logging.WARNING)
    seed = int(time.time()) * 1000 if options.fresh else options.seed
    begun, failed, asked, made = time.monotonic(), 0, collections.Counter(), 0
    while made < options.count and time.monotonic() - begun < options.seconds:
        verdict = judge(compose(seed + made, options.bodies), options.oracle)
        made += 1
        asked.update(verdict.judged)
        failed += bool(verdict.wrong)
        if options.verbose:
            print(f"{verdict.seconds:.1f} s: {verdict.scenario.seed} {brief(verdict.scenario)}", flush=True)
        show(verdict, options)
    said = ", ".join(f"{name} {n}" for name, n in sorted(asked.items()))
    seconds = time.monotonic() - begun
    print(f"{made} scenarios from seed {seed} on, {failed} failed, in {seconds:.0f} s; asked: {said}")
    return 1 if failed or not made else 0


def show(verdict, options):
    """What went wrong, and for the first of it the program that reproduces it."""
    for name, text in verdict.wrong:
        print(f"scenario {verdict.scenario.seed} ({brief(verdict.scenario)}): {name}: {text}", flush=True)
    if verdict.wrong and not options.quiet:
        small, text = shrunk(verdict.scenario, *verdict.wrong[0], seconds=options.shrink)
        print(f"{'-' * 80}\n{script(small, verdict.wrong[0][0], text)}{'-' * 80}", flush=True)


def brief(s):
    """A scenario in a few words."""
    words = (s.cell, s.degree, s.hypothesis, s.law, s.motion, s.floor, len(s.blocks), s.joint, s.scheme)
    return " ".join(str(each) for each in words if each)


if __name__ == "__main__":
    sys.exit(main())
