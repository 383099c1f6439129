"""Demos on the site: what each shows, its stored film and pictures, what it printed."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import NamedTuple

import jupytext
from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parents[2]
STORED = ROOT / ".docs" / "stored" / "demos"


class Demo(NamedTuple):
    """One sentence, and which of the files that a demo writes comes first, a film or a picture."""

    shows: str
    first: str
    #: Left, top, right and bottom of what the card shows of it, and of a film the moment, from 0 to 1.
    part: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0)
    moment: float = 0.5
    arguments: tuple[str, ...] = ()


DEMOS = {
    "drop_test": Demo(
        "A part from a CAD file is dropped on a floor with friction: stress, duration of contact, rebound.",
        "drop.gif",
        (0.02, 0.08, 0.8, 0.9),
        0.35,
        ("--size", "4e-3"),
    ),
    "colliding_parts": Demo(
        "Two rubber rings with meshes that do not match hit, slide on each other and tumble apart.",
        "rings.gif",
        (0.05, 0.13, 0.8, 0.88),
        0.33,
    ),
    "taylor_bar": Demo(
        "A copper cylinder hits a wall at 227 m/s and spreads like a mushroom: a metal that yields.",
        "taylor_bar.gif",
        (0.1, 0.6, 0.9, 0.97),
        1.0,
    ),
    "crushed_can": Demo(
        "A plate crushes an aluminium can, whose folds pile on each other: a surface in contact with itself.",
        "can.gif",
        (0.1, 0.25, 0.85, 0.85),
        0.75,
    ),
    "pile": Demo(
        "A hundred blocks are poured into a box: everything touches everything, forces on floor and walls.",
        "pile.gif",
        (0.0, 0.33, 0.8, 0.86),
        0.4,
    ),
    "obstacles": Demo(
        "A soft ball is thrown at fifteen obstacles: shapes, signed distances, unions, moving ones.",
        "stairs.png",
        (0.33, 0.16, 0.66, 0.92),
    ),
    "bridge_crane": Demo(
        "A trolley jumps on a crane in an earthquake: small explicit steps at its wheels, large ones beyond.",
        "crane.gif",
        (0.42, 0.14, 1.0, 0.5),
        0.6,
    ),
    "cradle": Demo(
        "Newton's cradle of five elastic blocks: the last one leaves with the speed of the first one.",
        "cradle.gif",
        (0.0, 0.1, 0.85, 0.75),
    ),
    "impacting_bar": Demo(
        "A steel bar hits a wall: the wave in it, with two schemes beside the exact solution.",
        "strip.png",
        (0.32, 0.69, 0.63, 0.9),
    ),
    "own_scheme": Demo(
        "A scheme of one's own, which damps what rings, judged by the benchmark beside CD-Lagrange.",
        "velocity.png",
    ),
    "by_hand": Demo(
        "CD-Lagrange as a loop of twenty lines, to the last bit the scheme of the package.", "history.png"
    ),
}


def notebook(text: str) -> NotebookNode:
    """The notebook of a script in the percent format, with the language of its cells."""
    found = jupytext.reads(text, fmt="py:percent")
    found.metadata["language_info"] = {"name": "python", "pygments_lexer": "python"}
    return found


def title(name: str) -> str:
    """The title of a demo."""
    return (ROOT / "demos" / f"{name}.py").read_text().splitlines()[1].removeprefix("# # ")


def media(name: str, file: str, root: str) -> str:
    """A film or a picture of a demo in HTML; ``root`` is the way from the page to the site's top."""
    stem, source = Path(file).stem, f"{root}_static/demos/{name}/{Path(file).stem}"
    words = escape(f"{title(name)}: {stem.replace('_', ' ')}")
    if (STORED / name / f"{stem}.mp4").exists():
        return (
            f'<video class="film" controls loop muted autoplay playsinline aria-label="{words}" '
            f'poster="{source}.webp"><source src="{source}.mp4" type="video/mp4"></video>'
        )
    return f'<img class="film" alt="{words}" src="{source}.webp" loading="lazy">'


def film(name: str, root: str) -> str:
    """The film or the first picture of a demo."""
    return media(name, DEMOS[name].first, root)


def gallery(names: str, root: str) -> str:
    """A card for each of some demos, by default for all: a picture and a sentence."""
    cards = []
    for name in names.split() or DEMOS:
        link = f"{root}demos/{name}.py"
        cards += [
            ":::{container} card",
            f"[![{title(name)}]({root}stored/demos/{name}/card.webp)]({link})",
            "",
            f"[{title(name)}]({link})",
            "",
            DEMOS[name].shows,
            ":::",
        ]
    return "\n".join(["::::{container} gallery", *cards, "::::"])


def _cell(lines: list[str]) -> str:
    return "\n".join(["# %% [markdown]", *(f"# {line}".rstrip() for line in lines)]) + "\n\n"


def page(name: str, text: str) -> str:
    """The script of a demo with its film below the title, and what it printed and drew before its result."""
    first = Path(DEMOS[name].first).stem
    head, _, rest = text.partition("\n#\n")
    text = f"{head}\n#\n# {media(name, DEMOS[name].first, '../')}\n#\n{rest}"
    printed = (STORED / name / "printed.txt").read_text().rstrip().splitlines()
    lines = ["## What it prints and draws", "", "```text", *printed, "```"]
    if DEMOS[name].arguments:
        lines[2:2] = [f"With `{' '.join(DEMOS[name].arguments)}`:", ""]
    for picture in sorted((STORED / name).glob("*.webp")):
        if picture.stem not in ("card", first) and not picture.with_suffix(".mp4").exists():
            lines += ["", media(name, picture.name, "../")]
    last = re.search(r"^# %% \[markdown\]\n# ## The result", text, re.M)
    if last is None:
        raise ValueError(f"demos/{name}.py does not say what its result is")
    return text[: last.start()] + _cell(lines) + text[last.start() :]
