"""Cost of imports, and results without the optional packages."""

import importlib.resources
import inspect
import itertools
import json

import numpy as np
import pytest

import dolfinx_impact
from dolfinx_impact import Result
from dolfinx_impact.algebra import kernels
from dolfinx_impact.benchmark.__main__ import main

OPTIONAL = ("gmsh", "pyvista", "matplotlib", "tqdm", "numba", "slepc4py")

WITHOUT_NUMBA = """
import importlib.util, sys
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == "numba" else find(name, *more)
sys.modules["numba"] = None
"""
RUN = """
from dolfinx_impact.algebra import kernels
from dolfinx_impact.benchmark.__main__ import main
import json
for words in json.loads(sys.argv[1]):
    assert main(words) == 0
print("compiled" if kernels.load().COMPILED else "numpy")
"""


SCHEMES = ["cd-lagrange", "moreau-jean"]
SIZES = {"1D": ["elements=20"], "3D": ["dimension=3", "elements=8", "lateral=2"]}


def test_import_pulls_in_nothing_optional_compiles_nothing_and_leaves_signals_and_finders_as_they_are(
    launch, tmp_path, monkeypatch
):
    """Also where Python looks for a command of the package (python -m)."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("CC", "no-such-compiler")
    # DOLFINx itself imports numba where it finds it.
    code = (
        "import json, signal, sys; sys.argv[:1] = ['-m']; import dolfinx;"
        "before, finders, numbers = set(sys.modules), list(sys.meta_path), signal.valid_signals();"
        "handlers = [signal.getsignal(n) for n in numbers];"
        "import dolfinx_impact; assert sys.meta_path == finders;"
        "assert handlers == [signal.getsignal(n) for n in numbers];"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    done = launch(["-c", code], cwd=tmp_path)
    assert done.returncode == 0 and done.stderr == ""
    loaded = {name.partition(".")[0] for name in json.loads(done.stdout)}
    assert "dolfinx_impact" in loaded and not loaded & set(OPTIONAL)
    assert not list(tmp_path.rglob("*.so"))


@pytest.fixture(scope="module")
def with_and_without_numba(launch, tmp_path_factory):
    """Histories by kind, scheme and dimension: those without numba come from a process of their own."""
    pytest.importorskip("numba")
    folder = tmp_path_factory.mktemp("numba")

    def runs(kind):
        for scheme, (name, size) in itertools.product(SCHEMES, SIZES.items()):
            out = str(folder / f"{kind}-{scheme}-{name}")
            yield ["run", "impacting-bar", scheme, "--set", *size, "restitution=0.5", "--out", out]

    done = launch(["-c", WITHOUT_NUMBA + RUN, json.dumps([*runs("numpy")])])
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "numpy"
    assert done.stderr == "numba is not installed: same results, slower steps\n"
    assert kernels.load().COMPILED and all(main(words) == 0 for words in runs("compiled"))
    return {path.name: Result.load(path / "history.npz") for path in folder.iterdir()}


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("size", SIZES)
def test_results_without_numba_are_the_same(scheme, size, with_and_without_numba):
    compiled, plain = (with_and_without_numba[f"{kind}-{scheme}-{size}"] for kind in ("compiled", "numpy"))
    assert set(compiled) == set(plain)
    largest = np.abs(compiled["kinetic"]).max()
    for name, value in compiled.items():
        if value.dtype.kind == "U":
            assert np.array_equal(value, plain[name])
        else:
            scale = largest if name == "residual" else np.abs(value).max()
            assert np.abs(plain[name] - value).max() <= 1e-12 * scale, name


COMPLEX = "import numpy as np\n__version__ = '0.9.0'\ndefault_scalar_type = np.complex128"
STUBS = {
    "none": ("raise ModuleNotFoundError(\"No module named 'dolfinx'\")", "fails: No module named 'dolfinx'"),
    "broken": ("raise ImportError('libpetsc.so: cannot open\\nmore')", "fails: libpetsc.so: cannot open (on"),
    "older": ("__version__ = '0.8.0'", "but this DOLFINx is 0.8.0"),
    "newer": ("__version__ = '0.12.0'", "but this DOLFINx is 0.12.0"),
    "another": ("", "but this DOLFINx is of no version"),
    "complex": (COMPLEX, "has complex ones: take the real build"),
}


@pytest.mark.parametrize("dolfinx, words", STUBS.values(), ids=STUBS)
def test_what_is_missing_is_said_in_one_line(dolfinx, words, launch, tmp_path):
    (tmp_path / "dolfinx.py").write_text(dolfinx)
    code = "try:\n    import dolfinx_impact\nexcept ImportError as error:\n    print(error)"
    done = launch(["-c", code], cwd=tmp_path)
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.startswith("dolfinx_impact needs DOLFINx 0.9 to 0.11 with a PETSc of real numbers, ")
    assert words in done.stdout and done.stdout.count("\n") == 1


def test_dir_shows_the_public_names():
    assert dir(dolfinx_impact) == sorted(dolfinx_impact.__all__)


def test_types_are_shipped():
    assert importlib.resources.files("dolfinx_impact").joinpath("py.typed").is_file()


@pytest.mark.parametrize("name", dolfinx_impact.__all__)
def test_public_names_are_documented(name):
    thing = getattr(dolfinx_impact, name)
    if not (inspect.isclass(thing) or inspect.isroutine(thing)):
        return
    assert thing.__doc__ and len(thing.__doc__) > 20 and not thing.__doc__.startswith(f"{name}(")
    for method, value in vars(thing).items() if inspect.isclass(thing) else ():
        if not method.startswith("_") and (inspect.isroutine(value) or isinstance(value, property)):
            assert inspect.getdoc(getattr(thing, method)), f"{name}.{method}"


def test_public_names_exist_and_are_sorted():
    public = dolfinx_impact.__all__
    assert sorted(public) == sorted(set(public))
    assert all(hasattr(dolfinx_impact, name) for name in public)
