"""Make the stored files of the site anew: ``docker/run python .docs/_site/store.py [NAME ...]``.

NAME is ``demos``, one demo, or ``report``; by default all. Demos are run, five minutes on two cores. The
report is the one that lies in ``results/report``, written by ``docker/run python -m dolfinx_impact.benchmark
report`` (25 minutes). ``.docs/stored`` has films and pictures as small as a page needs them, what demos
printed, and of the report what the pages show, with its date and versions: 4 MB in all, checked by a test.
"""

from __future__ import annotations

import datetime
import gzip
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

sys.path[:0] = [str(Path(__file__).resolve().parents[n]) for n in (1, 2)]

from _site import demos, programs, report  # noqa: E402

ROOT = demos.ROOT
RESULTS = ROOT / "results"
_FILM, _PICTURE, _CARD = 640, 1000, 400  #: Widths [pixels].
_CLAIM = "id paper where claim kind measured expected tolerance relation reproduced why".split()
_PROPERTY = "name measured reproduced".split()


def _shrink(picture: Image.Image, width: int, target: Path) -> None:
    """Store a picture at most so wide."""
    picture = picture.convert("RGB")
    if picture.width > width:
        height = round(picture.height * width / picture.width)
        picture = picture.resize((width, height), Image.Resampling.LANCZOS)
    picture.save(target, quality=80, method=6)


def _film(source: Path, target: Path) -> None:
    """Store a film."""
    words = ["ffmpeg", "-y", "-loglevel", "error", "-i", str(source), "-an"]
    words += ["-vf", f"scale='min({_FILM},trunc(iw/2)*2)':-2:flags=lanczos", "-pix_fmt", "yuv420p"]
    words += ["-c:v", "libx264", "-preset", "veryslow", "-crf", "27", "-movflags", "+faststart"]
    subprocess.run([*words, str(target.with_suffix(".mp4"))], check=True, stdin=subprocess.DEVNULL)


def _moment(film: Path, moment: float) -> Image.Image:
    """The picture of a film in GIF at a part of its length."""
    with Image.open(film) as found:
        found.seek(round(moment * (found.n_frames - 1)))
        return found.convert("RGB")


def run_demo(name: str) -> str:
    """What a demo prints, run as a user would, into ``results/NAME``."""
    shutil.rmtree(RESULTS / name, ignore_errors=True)
    command = [sys.executable, f"demos/{name}.py", *demos.DEMOS[name].arguments]
    return subprocess.run(
        command,
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        stdin=subprocess.DEVNULL,
        env=programs.environment(),
    ).stdout


def store_demo(name: str, printed: str) -> None:
    """Store what a demo printed, and what it drew into ``results/NAME``."""
    demo, source, target = demos.DEMOS[name], RESULTS / name, demos.STORED / name
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    (target / "printed.txt").write_text(printed)
    for picture in source.glob("*.png"):
        with Image.open(picture) as found:
            _shrink(found, _PICTURE, target / f"{picture.stem}.webp")
    for film in source.glob("*.gif"):
        _film(film, target / film.stem)
        _shrink(_moment(film, demo.moment), _FILM, target / f"{film.stem}.webp")
    _card(source / demo.first, demo, target / "card.webp")


def _card(source: Path, demo: demos.Demo, target: Path) -> None:
    """Store the small picture of a card."""
    found = _moment(source, demo.moment) if source.suffix == ".gif" else Image.open(source)
    sizes = (found.width, found.height) * 2
    _shrink(found.crop(tuple(round(part * size) for part, size in zip(demo.part, sizes))), _CARD, target)


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number[0]):.1f}".removesuffix(".0")


def _slim(svg: str) -> str:
    """A drawing with coordinates to a tenth of a point, without remarks and what nothing refers to.

    What is below 1 keeps its digits: sizes of letters and widths of lines are such factors.
    """
    svg = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", svg, flags=re.S)
    svg = re.sub(r"(?<![\d.])-?[1-9]\d*\.\d{2,}", _rounded, svg)
    return re.sub(r"\s*\n\s*", "\n", svg)


def store_report() -> None:
    """Store the report of ``results/report``: what pages show of it, and its figures."""
    source, target = RESULTS / "report", report.STORED
    if not (source / "report.json").exists():
        raise SystemExit("there is no report: docker/run python -m dolfinx_impact.benchmark report")
    written = datetime.datetime.fromtimestamp((source / "report.json").stat().st_mtime, tz=datetime.UTC)
    found = json.loads((source / "report.json").read_text())
    kept = {"date": f"{written:%Y-%m-%d}", "versions": found["versions"]}
    kept["claims"] = [{name: row[name] for name in _CLAIM} for row in found["claims"]]
    kept["schemes"] = {
        scheme: [{name: row[name] for name in _PROPERTY} for row in rows]
        for scheme, rows in found["schemes"].items()
    }
    kept["work_precision"] = found.get("work_precision", [])
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    lines = json.dumps(kept, indent=1)
    # One claim or property a line: a change of one shows as one.
    lines = re.sub(r"\{[^{}]*\}", lambda row: re.sub(r"\n\s*", " ", row[0]), lines)
    (target / "report.json").write_text(lines + "\n")
    for figure in source.glob("*.svg"):
        # Without the time, so that the same figure gives the same file.
        packed = gzip.compress(_slim(figure.read_text()).encode(), mtime=0)
        (target / f"{figure.name}.gz").write_bytes(packed)


def main(names: Sequence[str]) -> None:
    """Store some of it, by default all."""
    known = {"demos": list(demos.DEMOS), "report": ["report"], **{name: [name] for name in demos.DEMOS}}
    if unknown := [name for name in names if name not in known]:
        raise SystemExit(f"nothing is called {unknown[0]!r}: there are {', '.join(known)}")
    for name in dict.fromkeys(each for some in names or ("demos", "report") for each in known[some]):
        print(f"storing {name}", flush=True)
        if name == "report":
            store_report()
        else:
            store_demo(name, run_demo(name))
    size = sum(file.stat().st_size for file in demos.STORED.parent.rglob("*") if file.is_file())
    print(f"stored: {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(sys.argv[1:])
