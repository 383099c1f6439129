"""Files of the developers: workflows without logic of their own, hooks that run the tools of the image."""

import re

import pytest
from support.paths import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
COMMANDS = {
    "ci": ".ci/run",
    "docs": "docker/run sphinx-build -W --keep-going .docs results/site",
    "nightly": ".ci/nightly",
    "wheel": "docker/run python -m pip wheel --no-build-isolation --no-deps --wheel-dir dist .",
}


def test_there_is_a_workflow_for_each_command():
    assert [path.stem for path in WORKFLOWS] == sorted(COMMANDS)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_runs_one_line(workflow):
    text = workflow.read_text()
    assert re.findall(r"\brun: *(.*)$", text, re.M) == [COMMANDS[workflow.stem]]
    assert "timeout-minutes:" in text and "permissions:" in text


def test_hooks_run_the_tools_of_the_image():
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    entries = re.findall(r"^ +entry: (.*)$", hooks, re.M)
    assert len(entries) == 3 and all(re.match(r"docker/run (ruff|mypy)\b", entry) for entry in entries)
    assert "rev:" not in hooks


def test_what_is_left_to_the_nightly_run_exists():
    """Only names: a case that has another id runs with every change."""
    listed = [line for line in (ROOT / "tests" / "nightly.txt").read_text().splitlines() if line[0] != "#"]
    gone = []
    for each in listed:
        path, name = each.split("[")[0].split("::")
        file = ROOT / path
        if not (file.exists() and f"def {name}(" in file.read_text()):
            gone.append(each)
    assert listed == sorted(set(listed)) and not gone
