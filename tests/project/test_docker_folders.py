"""docker/run from any folder: what it asks of Docker, Podman and buildah, here stand-ins that note it."""

import csv
import os
import subprocess
from types import SimpleNamespace

import pytest
from support.paths import ROOT

#: Answers as an engine that has the image; what it is to run stands in a file, one argument after the other.
ENGINE = """#!/usr/bin/env bash
case "$1 $*" in
    "run "*)
        printf '%s\\0' "$@" >"$NOTED"
        for link in "$TMPDIR"/*; do [ ! -L "$link" ] || readlink "$link" >"$NOTED.link"; done
        echo 0 >"$TMPDIR/status" ;;
esac
"""
ENGINES = ("docker", "podman", "buildah")
SHADOWED = ("/", "/usr", "/usr/share", "/etc", "/var", "/run", "/tmp")
ODD = ("plain", "a b", "comma,name", "colon:name", "quo\"te's", "both:of,them", "$x")


@pytest.fixture
def start(tmp_path):
    """Starts docker/run in a folder: where CMD is to run, and what is mounted, targets by source."""
    (tmp_path / "bin").mkdir()
    for engine in ENGINES:
        (tmp_path / "bin" / engine).write_text(ENGINE)
        (tmp_path / "bin" / engine).chmod(0o755)

    def run(folder, engine="docker", script=ROOT / "docker" / "run", **environment):
        noted = tmp_path / "noted"
        noted.unlink(missing_ok=True)
        path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
        mine = {"CONTAINER_ENGINE": engine, "PATH": path, "NOTED": str(noted), "PWD": str(folder)}
        mine |= {"XDG_CACHE_HOME": str(tmp_path / "cache"), "TMPDIR": str(tmp_path)}
        command = [str(script), "python", "my script.py"]
        done = subprocess.run(
            command, cwd=folder, env=os.environ | mine | environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        given = noted.read_text().split("\0")[:-1]
        assert given[-2:] == ["python", "my script.py"]
        at = given.index("--workingdir" if engine == "buildah" else "-w")
        return SimpleNamespace(folder=given[at + 1], mounts=dict(mounts(given, engine)))

    return run


def mounts(given, engine):
    """Sources and targets, by the rules of the engine."""
    for option, value in zip(given, given[1:]):
        if option == "-v":
            assert value.count(":") == 1
            source, target = value.split(":")
        elif option == "--mount":
            (fields,) = [value.split(",")] if engine == "buildah" else csv.reader([value])
            named = dict(field.split("=", 1) for field in fields)
            assert named.pop("type") == "bind" and (engine != "buildah" or named.pop("rw") == "true")
            source, target = named.pop("source"), named.pop("target")
            assert not named
        else:
            continue
        yield source, target


def engines_here():
    return [e for e in ENGINES if e != "buildah" or os.getuid() == 0]


@pytest.mark.parametrize("engine", engines_here())
def test_the_current_folder_is_mounted_under_its_own_path_beside_the_checkout(engine, start, tmp_path):
    for name in ODD[:: 1 if engine == "buildah" else 2]:
        folder = tmp_path / name
        folder.mkdir()
        found = start(folder, engine)
        assert len(found.mounts) == 3 and found.mounts[str(ROOT)] == "/checkout"
        if engine == "buildah" and name == "both:of,them":  # for which it has no notation
            assert found.folder == str(folder).replace(":", "_") in found.mounts.values()
            assert (tmp_path / "noted.link").read_text() == f"{folder}\n"
        else:
            assert found.folder == found.mounts[str(folder)] == str(folder)


@pytest.mark.parametrize("folder", SHADOWED)
def test_folders_that_the_image_has_itself_are_elsewhere(folder, start):
    found = start(folder)
    assert found.folder == f"/host{folder}".rstrip("/")
    assert found.mounts[os.path.realpath(folder)] == found.folder


def test_below_the_checkout_nothing_else_is_mounted(start, tmp_path):
    (tmp_path / "link").symlink_to(ROOT / "demos")
    for folder in (ROOT / "demos", tmp_path / "link"):
        found = start(folder)
        assert found.folder == "/checkout/demos" and len(found.mounts) == 2
    assert start(ROOT).folder == "/checkout"
    if ROOT.parent.name:
        assert start(ROOT.parent).mounts[str(ROOT.parent)] == str(ROOT.parent)


def test_links_to_the_folder_and_to_the_command(start, tmp_path):
    """The caller's path is that of the link; the checkout is where the command itself lies."""
    (tmp_path / "place").mkdir()
    (tmp_path / "link").symlink_to("place")
    (tmp_path / "impact").symlink_to(ROOT / "docker" / "run")
    found = start(tmp_path / "link", script=tmp_path / "impact")
    assert found.folder == str(tmp_path / "link")
    assert found.mounts[str(tmp_path / "place")] == found.folder and str(ROOT) in found.mounts


@pytest.mark.skipif(os.getuid() != 0, reason="with buildah the caller is root")
def test_new_files_belong_to_the_owner_of_the_folder(start, tmp_path):
    folder = tmp_path / "of a user"
    (folder / "results").mkdir(parents=True)
    os.chown(folder, 1234, 1235)
    old, other = folder / "old", tmp_path / "other"
    old.touch()
    other.touch()
    writes = tmp_path / "bin" / "buildah"
    making = f'touch "{folder}/results/new"; ln "{other}" "{folder}/linked"'
    writes.write_text(ENGINE.replace("printf", f"{making}; printf"))
    os.utime(old, (0, 0))
    start(folder, "buildah")
    assert (folder / "results" / "new").stat().st_uid == 1234
    assert old.stat().st_uid == 0
    assert other.stat().st_uid == 0  # it lies elsewhere, too
