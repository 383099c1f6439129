"""What a release needs: one version everywhere, recipes with the dependencies of the package, the paper."""

import ast
import re
import tomllib

import pytest
from support.paths import ROOT

import dolfinx_impact as di

RELEASE = ROOT / ".release"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PAPER = (RELEASE / "paper" / "paper.md").read_text()
BIBLIOGRAPHY = (RELEASE / "paper" / "paper.bib").read_text()
NEEDED = {re.split(r"[<>=]", each)[0] for each in PROJECT["dependencies"]}


def test_one_version():
    texts = {
        "CITATION.cff": r"^version: (.*)$",
        "README.md": r"version = \{(.*)\}",
        "CHANGELOG.md": r"^## \[(\d.*?)\]",
        ".release/conda-forge/recipe.yaml": r'version: "(.*)"',
        ".release/spack/package.py": r'version\("(.*?)"\)',
    }
    found = {name: re.search(how, (ROOT / name).read_text(), re.M) for name, how in texts.items()}
    versions = {name: match and match[1] for name, match in found.items()}
    assert set(versions.values()) == {PROJECT["version"]} == {di.__version__}, versions


def test_metadata():
    assert PROJECT["authors"] == [{"name": "The dolfinx_impact developers"}]
    assert "License :: OSI Approved :: MIT License" in PROJECT["classifiers"]
    assert "urls" not in PROJECT  # left to the owner


def test_recipe_of_conda_forge():
    yaml = pytest.importorskip("yaml")
    recipe = yaml.safe_load((RELEASE / "conda-forge" / "recipe.yaml").read_text())
    assert recipe["schema_version"] == 1 and recipe["build"]["noarch"] == "python"
    run = {each.split()[0] for each in recipe["requirements"]["run"]}
    assert run >= NEEDED
    (dolfinx,) = [each for each in PROJECT["dependencies"] if each.startswith("fenics-dolfinx")]
    assert dolfinx.replace("fenics-dolfinx", "fenics-dolfinx ") in recipe["requirements"]["run"]
    assert recipe["context"]["python_min"] == PROJECT["requires-python"].removeprefix(">=")


def test_recipe_of_spack():
    tree = ast.parse((RELEASE / "spack" / "package.py").read_text())
    (package,) = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    assert package.name == "PyDolfinxImpact" and package.bases[0].id == "PythonPackage"
    calls = [node for node in ast.walk(package) if isinstance(node, ast.Call)]
    given = [node.args[0].value for node in calls if node.func.id == "depends_on"]
    names = {re.split(r"[@~+]", each)[0].removeprefix("py-") for each in given}
    assert names >= NEEDED
    variants = {node.args[0].value for node in calls if node.func.id == "variant"}
    extras = set(PROJECT["optional-dependencies"]) - {"dev", "docs", "progress"}
    assert variants == extras


def test_the_paper_cites_what_its_bibliography_has():
    cited = set(re.findall(r"@(\w+)", PAPER.split("---", 2)[2]))
    known = set(re.findall(r"^@\w+\{(\w+),", BIBLIOGRAPHY, re.M))
    assert cited == known
    for part in ("Statement of need", "State of the field"):
        assert f"# {part}" in PAPER
    for code in ("Siconos", "Akantu", "MOOSE", "LMGC90", "Tribol", "asimov-contact", "ElastodynamiCSx"):
        assert code in PAPER
    assert 250 < len(PAPER.split()) < 1000


def test_the_figure_of_the_paper_is_one_of_the_report():
    from dolfinx_impact.benchmark.cases.surfaces.figures import FIGURES

    (name,) = re.findall(r"\]\(([\w-]+)\.png\)", PAPER)
    (case,) = re.findall(r"report --cases ([\w-]+)", PAPER)
    assert (name, case) in {(figure.id, figure.case) for figure in FIGURES}
