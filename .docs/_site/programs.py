"""What the programs of a page print, from a run of them."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = re.compile(r"^```python\n(.*?)^```$", re.S | re.M)
SHOWN = re.compile(r"^<!-- insert: output.*?-->$", re.M)
_MARK = "-- from here on --"


def programs(text: str) -> list[str]:
    """The programs of a page in Markdown."""
    return PROGRAM.findall(text)


def lines(text: str) -> str:
    """How many lines the last program of ``text`` has, without blank ones and comments."""
    count = sum(
        1 for line in programs(text)[-1].splitlines() if line.strip() and not line.strip().startswith("#")
    )
    return f"These are {count} lines."


def environment() -> dict[str, str]:
    """The variables of a process that imports the package of this checkout and draws without a window."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, "MPLBACKEND": "Agg"}


def run(program: str, folder: str | Path) -> str:
    """What a program prints, run in a folder of its own; a RuntimeError with its errors if it fails."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode:
        raise RuntimeError(f"a program of the documentation failed:\n{program}\n{done.stderr}")
    return done.stdout


def output(text: str, page: Path, pictures: Path, picture: str = "") -> str:
    """The block with what programs print since the last such block, and a picture they draw.

    All programs of ``text`` are run one after the other.

    Args:
        text: The page up to here.
        page: The file of the page.
        pictures: Where pictures go.
        picture: Name of the file, or nothing.
    """
    with tempfile.TemporaryDirectory() as folder:
        before = max((found.end() for found in SHOWN.finditer(text)), default=0)
        parts = [*programs(text[:before]), f"print({_MARK!r})", *programs(text[before:])]
        printed = run("\n".join(parts), folder).partition(f"{_MARK}\n")[2]
        block = f"It prints\n\n```text\n{printed.rstrip()}\n```" if printed else ""
        if picture:
            pictures.mkdir(parents=True, exist_ok=True)
            shutil.copy(Path(folder, picture), pictures)
            target = os.path.relpath(pictures / picture, page.parent)
            block += f"\n\n![{Path(picture).stem}]({target})"
    return block
