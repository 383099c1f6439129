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
SHOWN = re.compile(r"^<!-- insert: output ?(.*?) -->$", re.M)
_MARK = "-- shown up to here --"


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


def outputs(text: str, page: Path, pictures: Path) -> list[str]:
    """For each line that asks for it: what programs print since the last such line, and a picture they draw.

    All programs up to the last such line are run once, one after the other, in one process.

    Args:
        text: The page.
        page: Its file.
        pictures: Where pictures go.

    Raises:
        RuntimeError: A program fails.
    """
    parts, start = [], 0
    for found in SHOWN.finditer(text):
        parts += [*programs(text[start : found.start()]), f"print({_MARK!r})"]
        start = found.end()
    if not parts:
        return []
    with tempfile.TemporaryDirectory() as folder:
        printed = run("\n".join(parts), folder).split(f"{_MARK}\n")
        names = SHOWN.findall(text)
        return [
            _block(lines, name and _stored(Path(folder, name), page, pictures))
            for lines, name in zip(printed, names, strict=False)
        ]


def _stored(picture: Path, page: Path, pictures: Path) -> str:
    """The line of a picture on the page, when its file is put where pictures go."""
    pictures.mkdir(parents=True, exist_ok=True)
    shutil.copy(picture, pictures)
    return f"\n\n![{picture.stem}]({os.path.relpath(pictures / picture.name, page.parent)})"


def _block(printed: str, picture: str) -> str:
    return (f"It prints\n\n```text\n{printed.rstrip()}\n```" if printed else "") + picture
