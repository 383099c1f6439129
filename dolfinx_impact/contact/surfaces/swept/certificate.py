"""What may be said of the steps of a contact: whether anything passed through anything."""

from __future__ import annotations

from dataclasses import dataclass

from ...._types import FloatArray

#: Names of the numbers that a checkpoint holds, in their order.
NUMBERS = ("tested", "added", "steps", "rounds", "together", "inside", "deepest", "skin_used", "inside_now")


@dataclass(frozen=True)
class Certificate:
    """Statement on the steps since the start.

    It is no proof for covered facets pointwise (their contact holds in weighted means), cells that invert,
    facets within one cell of a crease, obstacles, curved facets beyond their linear parts, and states that
    were inside each other at the start.

    Attributes:
        tested: Feature pairs tested on their paths, of all steps.
        added: Rows added within steps.
        steps: Steps with such rows.
        rounds: Largest number of rounds in a step.
        together: Steps in which nodes were moved together.
        inside: Pairs of features that were inside each other when their cover ended, or with a skin when this
            was used up, counted once.
        deepest: Largest penetration of covered surfaces, over the lesser cell height; with a skin that into
            the skin.
        skin: The offset of each side, the largest one [m].
        skin_used: Largest part of the skin that was used; 0 without a skin.
        passed: Number of feature pairs that crossed: 0, or the run has ended in words; None where nothing
            was tested.
    """

    tested: int = 0
    added: int = 0
    steps: int = 0
    rounds: int = 0
    together: int = 0
    inside: int = 0
    deepest: float = 0.0
    skin_used: float = 0.0
    skin: float = 0.0
    passed: int | None = None

    @classmethod
    def of(cls, numbers: FloatArray, skin: float) -> Certificate:
        """The certificate of steps in which paths were tested, from :data:`NUMBERS`."""
        tested, added, steps, rounds, together, inside = (int(number) for number in numbers[:6])
        deepest, used = (float(number) for number in numbers[6:8])
        return cls(tested, added, steps, rounds, together, inside, deepest, used, skin, passed=0)

    def __str__(self) -> str:
        if self.passed is None:
            return "not tested: the paths of features were not looked at (swept=False)"
        said = [
            f"nothing passed: of {_count(self.tested)} feature pairs tested on their paths none crossed",
            self._covered(),
            f"{self.added} rows were added in {self.steps} steps, at most {self.rounds} rounds",
            f"{self.together} times nodes were moved together",
            f"{self.inside} pairs were inside when their cover ended",
        ]
        return "; ".join(said)

    def _covered(self) -> str:
        """Words on covered surfaces."""
        if 0.0 < self.skin and self.skin_used < 1.0 and not self.inside:
            used = f"skin {1e3 * self.skin:.3g} mm, used at most {100 * self.skin_used:.2g} %"
            return f"surfaces did not touch ({used})"
        deepest = f"covered surfaces penetrate at most {100 * self.deepest:.2g} % of a cell"
        up = 0.0 < self.skin and self.skin_used >= 1.0
        return f"{deepest}, the skin of {1e3 * self.skin:.3g} mm used up" if up else deepest


def _count(number: int) -> str:
    return f"{number}" if number < 10**5 else f"{number:.2g}".replace("e+0", "e").replace("e+", "e")
