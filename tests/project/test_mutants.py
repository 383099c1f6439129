"""The mutants of .ci: where they are made, what comes of them, and that no cache hides them."""

import importlib
import json
import subprocess
import sys

import pytest
from support.paths import ROOT

PACKAGE = '''
"""Areas: a + b is no place for a change."""

SCALE: float = (1.0,)[0]


def area(a: float, b: float = 2 * 3) -> float:
    """Area, not a - b."""
    if b is None:
        raise ValueError(f"{a * b} is no area")
    return SCALE * (a  # height - width
            * b)


def unseen(a):
    return a - 1.5
'''
TEST = """
from dolfinx_impact.output.areas import area

def test_area():
    assert area(2.0, 3.0) == 6.0
"""
C_CODE = b"""/* a + b */
#define N (1 + 2)
static void f(const double *x, double y[2])
{
  double z[2] = {x[0] - 0.5 * x[1], 0.0};
  scale(y, z);
}
"""


@pytest.fixture
def part(monkeypatch):
    """``part(name)``: a module of ``.ci``, which is no package."""
    monkeypatch.syspath_prepend(ROOT / ".ci")
    return importlib.import_module


@pytest.fixture
def checkout(tmp_path):
    """A package of one module with its tests, committed."""
    folder = tmp_path / "checkout"
    for name in ("dolfinx_impact/output", "tests/output"):
        (folder / name).mkdir(parents=True)
    (folder / "dolfinx_impact/__init__.py").touch()
    (folder / "dolfinx_impact/output/__init__.py").touch()
    (folder / "dolfinx_impact/output/areas.py").write_text(PACKAGE)
    (folder / "tests/output/test_areas.py").write_text(TEST)
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "areas"]):
        subprocess.run([*git, *words], check=True)
    return folder


@pytest.fixture
def measure(part, checkout, tmp_path, capsys, monkeypatch):
    """``measure(options)``: results and lines of a run on the folder ``output`` of the checkout."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # most of the time of so small a test

    def run(*words, pytest=f"{sys.executable} -m pytest"):
        places = ["--checkout", checkout, "--cache", tmp_path / "cache", "--json", tmp_path / "found.json"]
        words = [*places, "--folders", "output", "--pytest", pytest, *words]
        part("mutants").main(list(map(str, words)))
        return json.loads((tmp_path / "found.json").read_text())["mutants"], capsys.readouterr().out

    return run


# -- what comes of them


def test_one_is_killed_one_survives_and_one_breaks_the_import(measure, checkout):
    found, out = measure("--seed", 1, "--count", 4)
    assert "without a change: survived" in out
    verdicts = {(each["line"], each["new"]): (each["verdict"], each["by"]) for each in found}
    killer = "killed", "tests/output/test_areas.py::test_area"
    assert verdicts.pop((16, "+")) == ("survived", "")
    assert verdicts.pop((4, "1"))[0] == "invalid"
    assert verdicts == {(9, "is not"): killer, (11, "/"): killer, (12, "/"): killer}
    assert len(found) == 5 and "3 killed, 1 survived, 0 time limit, 1 invalid; the tests see 3 of 4" in out
    assert (checkout / "dolfinx_impact/output/areas.py").read_text() == PACKAGE
    # A run goes on where it was interrupted.
    again, out = measure("--count", 4, pytest="false")
    assert again == found and "without a change" not in out
    with pytest.raises(SystemExit, match="is of another seed"):
        measure("--seed", 2)


def test_all_tests_that_mirror_nothing_come_second(part, checkout, tmp_path):
    mutants = part("mutants")
    for name in ("tests/systems/elements/test_a.py", "tests/systems/test_b.py", "tests/test_c.py"):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).touch()
    places = ["--checkout", str(checkout), "--cache", str(tmp_path)]
    bench = mutants.Bench(mutants.options([*places, "--tier", "all"]), checkout)
    assert bench.mirror("output/files") == ["tests/output"] and bench.mirror("materials") == []
    first = bench.mirror("systems/elements")
    stages = [
        ["tests/systems/elements"],
        ["tests/output", "tests/systems", "tests/test_c.py", "--ignore=tests/systems/elements"],
        ["-m", "slow", "tests/output", "tests/systems", "tests/test_c.py"],
    ]
    assert list(bench.stages(first)) == stages
    assert list(bench.stages(bench.mirror("output")))[1][:2] == ["tests/systems", "tests/test_c.py"]


def test_tests_that_fail_without_a_mutant_judge_nothing(measure):
    with pytest.raises(SystemExit, match="the tests fail without a mutant"):
        measure("--seed", 1, pytest="false")


@pytest.mark.parametrize(
    "status, failure, verdict",
    [
        (0, None, "survived"),
        (5, None, "survived"),
        (1, "AssertionError: 1", "killed"),
        (1, "Failed: Timeout (>900.0s) from pytest-timeout.", "time limit"),
        (1, "collection failure", "invalid"),
        (2, "AssertionError: 1", "killed"),
        (2, None, "invalid"),
        (139, None, "invalid"),
    ],
)
def test_only_a_test_that_fails_kills(part, tmp_path, status, failure, verdict):
    report = tmp_path / "report.xml"
    case = f'<testcase file="tests/a.py" name="b"><failure message="{failure}"/></testcase>'
    report.write_text(f"<testsuite>{case.replace('>9', '&gt;9') if failure else ''}</testsuite>")
    assert part("mutants").judged(status, report)[0] == verdict


# -- where they are made


def test_what_is_read_by_people_is_not_changed(part, checkout):
    sites = part("mutant_sites")
    found = sites.mutants_of(checkout, "dolfinx_impact/output/areas.py")
    assert sorted({each.line for each in found}) == [4, 9, 11, 12, 16]
    for each in found:
        compile(each.applied(PACKAGE.encode()), "mutant", "exec")


def test_c_code_is_changed_where_it_computes(part, tmp_path):
    (tmp_path / "a.c").write_bytes(C_CODE)
    found = part("mutant_sites").mutants_of(tmp_path, "a.c")
    assert {(each.line, each.kind, each.new) for each in found} == {
        (5, "index", "1"),
        (5, "sign", "+"),
        (5, "factor", "1.0"),
        (5, "factor", "/"),
        (5, "index", "2"),
        (6, "call", ";"),
    }


def test_every_change_of_the_package_is_a_program(part):
    sites = part("mutant_sites")
    for name in ("integrators/central/central_formulas.py", "contact/surfaces/sides.py"):
        source = (ROOT / "dolfinx_impact" / name).read_bytes()
        found = sites.mutants_of(ROOT, f"dolfinx_impact/{name}")
        assert {each.kind for each in found} <= set(sites.KINDS) and len(found) > 10
        for each in found[::5]:
            compile(each.applied(source), "mutant", "exec")


def test_equivalent_mutants_have_a_reason(part):
    sites = part("mutant_sites")
    text = "# comment\n\na.py\n- x = a - b\n+ x = a + b\nb is 0 here\n"
    assert sites.equivalent(text) == {("a.py", "x = a - b", "x = a + b"): "b is 0 here"}
    with pytest.raises(SystemExit, match="reason"):
        sites.equivalent("a.py\n- x = a - b\n+ x = a + b\n")
    assert all(sites.equivalent((ROOT / ".ci" / "mutants_equivalent.txt").read_text()).values())


def test_entries_of_mutants_that_are_gone_are_named(part, checkout):
    known = {
        ("dolfinx_impact/output/areas.py", "return a - 1.5", f"return a {sign} 1.5"): "" for sign in "+*"
    }
    gone = part("mutant_sites").gone(checkout, {**known, ("b.py", "", ""): ""})
    assert gone == [("dolfinx_impact/output/areas.py", "return a - 1.5", "return a * 1.5"), ("b.py", "", "")]


# -- caches


def test_functions_into_which_a_change_is_compiled_are_compiled_anew(part, tmp_path):
    caches = part("mutant_caches")
    clone, folder = tmp_path / "clone", tmp_path / "dolfinx_impact" / "image" / "checkout-1" / "numba" / "a"
    package = clone / "dolfinx_impact"
    package.mkdir(parents=True)
    folder.mkdir(parents=True)
    (package / "formulas.py").write_text("def f(x): return x  # for numba")
    (package / "loop.py").write_text("import numba\nfrom .formulas import f\n")
    (package / "other.py").write_text("import numba\n")
    for name in ("loop.run-1.py313.nbi", "other.run-1.py313.nbi"):
        (folder / name).touch()
    kernels = tmp_path / "dolfinx_impact" / "image" / "fenics"
    kernels.mkdir()
    of = caches.Caches(tmp_path, clone)
    of.keep("now")
    with of.of_mutant("now", "dolfinx_impact/formulas.py") as made:
        assert [each.name for each in folder.iterdir()] == ["other.run-1.py313.nbi"]
        assert not made()
        (kernels / "impact_1.so").touch()
        assert made()
    assert not list(kernels.iterdir())
    assert of.prepare("now") and len(list(folder.iterdir())) == 2
