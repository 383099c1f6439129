"""Progress bar on rank 0; without effect if tqdm is missing."""

from __future__ import annotations

import math
import sys
import time
from typing import Any

from .. import parallel

_LINE = "{percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt} steps{postfix} [{elapsed}<{remaining}, {rate_fmt}]"
#: Time between two updates of the text after the bar [s].
_PAUSE = 0.3
#: Delay before the bar is shown [s]: short runs have none.
_DELAY = 0.5


class Progress:
    """Bar with steps, simulated time, energy drift, remaining time and speed. Use as a context manager.

    Args:
        steps: Number of steps of the run.
        made: Number of steps before a restart.
    """

    def __init__(self, steps: int, made: int = 0) -> None:
        self._bar: Any = None
        self._next, self._made = 0.0, made
        if parallel.world().rank == 0:
            try:
                from tqdm import tqdm
            except ImportError:
                return
            self._bar = tqdm(
                total=steps,
                initial=made,
                unit=" steps",
                delay=_DELAY,
                mininterval=_PAUSE,
                miniters=1,
                bar_format=_LINE,
                dynamic_ncols=True,
            )

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *stop: Any) -> None:
        if self._bar is not None:
            self._bar.close()

    def update(self, made: int, t: float, drift: float, left: int) -> None:
        """Update the bar.

        Args:
            made: Number of completed steps, including those before a restart.
            t: Simulated time [s].
            drift: Relative residual of the energy balance; NaN without a balance.
            left: Number of remaining steps.
        """
        bar, steps, self._made = self._bar, made - self._made, made
        if bar is None or steps == 0:
            return
        now = time.perf_counter()
        if now >= self._next:
            self._next = now + _PAUSE
            energy = "" if math.isnan(drift) else f", energy drift {drift:.0e}"
            bar.set_postfix_str(f"t = {t:.4g} s{energy}", refresh=False)
            bar.total = bar.n + steps + left
        bar.update(steps)

    def say(self, line: str) -> None:
        """Print a line below the bar."""
        if self._bar is not None:
            print(line, file=sys.stderr, flush=True)
