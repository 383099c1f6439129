"""What one checkout has compiled is taken by another one of the same content, and by no other."""

import os
import pickle
import py_compile
import time
from importlib.util import cache_from_source

import pytest
from support import compiled_before

SOURCES = {"dolfinx_impact/loops.py": "a = 1\n", "tests/test_loops.py": "b = 2\n"}


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """``checkout(name, age, changes)``: folders of a checkout so old [s], of its loops and its bytecode."""

    def make(name, age, changes=None):
        root = tmp_path / name
        for path, text in {**SOURCES, **(changes or {})}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
            os.utime(root / path, (time.time() - age,) * 2)
        monkeypatch.setattr(compiled_before, "ROOT", root)
        for variable, folder in (("NUMBA_CACHE_DIR", "loops"), ("PYTHONPYCACHEPREFIX", "code")):
            monkeypatch.setenv(variable, str(tmp_path / f"{name}-{folder}"))
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        monkeypatch.setattr(
            compiled_before, "_folder", lambda bytecode, source: bytecode / source.parent.name
        )
        return root, tmp_path / f"{name}-loops", tmp_path / f"{name}-code"

    return make


def compiled(root, loops, code):
    """An index with its stamp, version and loop as of numba, and bytecode."""
    source = root / "dolfinx_impact/loops.py"
    stamp = source.stat().st_mtime, source.stat().st_size
    (loops / "sub").mkdir(parents=True)
    (loops / "sub/loops.advance-3.nbi").write_bytes(pickle.dumps("0.61") + pickle.dumps((stamp, b"kinds")))
    (loops / "sub/loops.advance-3.1.nbc").write_bytes(b"machine code")
    for path in SOURCES:
        file = code / (root / path).parent.name / os.path.basename(cache_from_source(path))
        py_compile.compile(str(root / path), cfile=str(file))


def test_a_checkout_of_the_same_content_takes_them_with_its_own_times(checkout):
    compiled(*checkout("first", age=100))
    compiled_before.keep()
    root, loops, code = checkout("second", age=5000)
    compiled_before.take()
    source = root / "dolfinx_impact/loops.py"
    with (loops / "sub/loops.advance-3.nbi").open("rb") as index:
        assert pickle.load(index) == "0.61"
        assert pickle.load(index) == ((source.stat().st_mtime, source.stat().st_size), b"kinds")
    assert (loops / "sub/loops.advance-3.1.nbc").read_bytes() == b"machine code"
    for path in SOURCES:
        assert len(compiled_before._compiled(code, root / path)) == 1


def test_a_run_of_more_loops_takes_the_place_of_one_of_fewer(checkout):
    compiled(*checkout("first", age=100))
    compiled_before.keep()
    _, loops, _ = checkout("second", age=100)
    compiled_before.take()
    (loops / "sub/loops.advance-3.2.nbc").write_bytes(b"for another kind")
    compiled_before.keep()
    _, loops, _ = checkout("third", age=100)
    compiled_before.take()
    assert len(list(loops.rglob("*.nbc"))) == 2


def test_what_has_changed_is_compiled_anew(checkout):
    """Loops have other modules within them; bytecode is that of one file."""
    compiled(*checkout("first", age=100))
    compiled_before.keep()
    root, loops, code = checkout("second", age=5000, changes={"dolfinx_impact/other.py": "c = 3\n"})
    compiled_before.take()
    assert not loops.exists()
    assert len(compiled_before._compiled(code, root / "tests/test_loops.py")) == 1


def test_loops_that_are_older_than_a_change_are_not_kept(checkout):
    root, loops, code = checkout("first", age=100)
    compiled(root, loops, code)
    (root / "dolfinx_impact/other.py").write_text("c = 3\n")
    os.utime(root / "dolfinx_impact/other.py", (time.time() + 10,) * 2)
    compiled_before.keep()
    _, loops, _ = checkout("second", age=5000, changes={"dolfinx_impact/other.py": "c = 3\n"})
    compiled_before.take()
    assert not loops.exists()


def test_a_checkout_with_loops_keeps_its_own(checkout):
    compiled(*checkout("first", age=100))
    compiled_before.keep()
    root, loops, code = checkout("second", age=5000)
    compiled(root, loops, code)
    own = (loops / "sub/loops.advance-3.1.nbc").stat().st_mtime_ns
    compiled_before.take()
    assert (loops / "sub/loops.advance-3.1.nbc").stat().st_mtime_ns == own


def test_elsewhere_nothing_is_done(monkeypatch):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    compiled_before.keep()
    compiled_before.take()
