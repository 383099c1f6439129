"""What the rows and figures of solids with known answers share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ...claim import Claim
from ...runs import FailedRun, Run
from ...verdict import Verdict

BOTH = CD, MJ = "cd-lagrange", "moreau-jean"
HERTZ, CUBE, RIGID, SLIDING = "hertz-sphere", "cube-drop", "rigid-body", "sliding-block"
DISC, RING, FLIGHT, OBLIQUE, WAVE = (
    "spinning-disc",
    "ring-in-cylinder",
    "free-flight",
    "oblique-bar",
    "wave-block",
)
#: Where the answers come from.
JOHNSON, LAME = "Johnson, Contact Mechanics (1985)", "Lame's mode"
CLOSED, INVARIANCE, CONSERVED = "closed form", "invariance", "conservation law"

#: Part that exact numbers may be off by rounding.
ROUNDING = 1e-12
#: Elements along a side of the cube; the implicit scheme makes do with fewer.
CUBES = {CD: (4, 8, 16), MJ: (4, 6, 8)}
#: Angles of the plane [degrees] above and below that of the friction 0.3, 16.7 degrees.
ABOVE, BELOW = (20.0, 30.0, 45.0), (5.0, 10.0, 16.0)
#: Degrees of the elements that carry the wave.
DEGREES = (1, 2, 3)


class Register(list[Claim]):
    """Rows in the order in which they are entered."""

    def __call__(
        self,
        case: str,
        name: str,
        source: str,
        setting: str,
        says: str,
        judge: Callable[..., Verdict],
        schemes: Sequence[str] = BOTH,
        /,
        **settings: Any,
    ) -> None:
        """Enter a row for each of the schemes, judged with these settings."""
        for scheme in schemes:
            decide = partial(judge, scheme=scheme, **settings)
            where = f"{case}, {setting}"
            self.append(Claim(f"{case}-{name}-{scheme}", case, source, where, f"{says} ({scheme}).", decide))


def number(run: Run, name: str, why: str) -> float:
    """A result of a run.

    Raises:
        FailedRun: It has none, ``why`` says what that means.
    """
    found = run.results.get(name)
    if found is None:
        raise FailedRun(why)
    return float(found)


def shown(values: Sequence[float], form: str = ".3g") -> str:
    """Numbers for a `why`."""
    return ", ".join(format(value, form) for value in values)
