"""The image of docker/run: what it is built from, and the output while it is built."""

import os
import re
import select
import subprocess

import pytest
from dolfinx import jit
from support.paths import ROOT

DOCKER = ROOT / "docker"
BUILD = DOCKER / "build.bash"

#: A line of the builder, and the beginning of what is shown of it.
SHOWN = {
    "docker/run: installing mmdebstrap": "docker/run: installing mmdebstrap\n",
    "#9 4.21 docker/run: this image is without ruff": "docker/run: this image is without ruff\n",
    'STEP 7/8: RUN pip install || echo "docker/run: this image"': "  STEP 7/8: RUN pip",
    "STEP 3/6: RUN apt-get install": "  STEP 3/6: RUN",
    "#7 [env 2/6] RUN apt-get update": "  #7 [env 2/6]",
    "COMMIT localhost/dolfinx_impact:trixie": "  storing the image (a minute or two",
    "#12 exporting to image": "  storing the image (a minute or two",
}


def test_progress_comes_line_by_line():
    with subprocess.Popen(
        ["bash", "-euo", "pipefail", "-c", 'name= SUITE= cache_root=; source "$0"; show_progress', BUILD],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        bufsize=1,
    ) as shell:
        for line, shown in SHOWN.items():
            shell.stdin.write(f"Selecting package\n#7 3.1 Get:1 trixie/main [14 kB]\n{line}\n")
            assert select.select([shell.stderr], [], [], 5.0)[0], "nothing is shown before the end"
            assert shell.stderr.readline().startswith(shown)
        shell.stdin.write("Setting up python3 (3.13) ...\n" * 200)
        shell.stdin.close()
        assert shell.stderr.read() == 2 * "  Setting up python3 (3.13) ...\n"
        assert shell.wait() == 0


def test_seconds_of_downloads_are_those_of_apt(tmp_path):
    log = tmp_path / "build.log"
    log.write_text(
        "Fetched 16.3 MB in 1s (13.7 MB/s)\nGet:1 trixie/main [14 kB]\n"
        "#9 70.1 Fetched 726 MB in 2min 9s (6 MB/s)\nFetched 1 GB in 1h 0min 5s (277 kB/s)\n"
    )
    shell = 'name= SUITE= cache_root=; source "$0"; seconds_of_downloads "$1"'
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", shell, BUILD, log], capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("3735\n", "")


def test_a_change_of_any_file_of_the_environment_builds_a_new_image():
    environment, _ = (DOCKER / "Dockerfile").read_text().split("FROM env AS app")
    copied = re.findall(r"^COPY docker/(\S+) ", environment, re.M)
    assert f'cat "$here"/{{{",".join(copied)}}}' in (DOCKER / "run").read_text()


def test_ruff_is_one_wheel_of_each_processor():
    version, *hashes = re.findall(
        r"^ruff==(\S+)|--hash=sha256:([0-9a-f]{64})\b", (DOCKER / "ruff.txt").read_text(), re.M
    )
    assert version[0] and len({digest for _, digest in hashes}) == 2


@pytest.mark.skipif(os.environ.get("HOME") != "/cache", reason="not in docker/run")
def test_processes_wait_for_a_kernel_that_another_one_compiles():
    assert jit.get_options()["timeout"] == 600
