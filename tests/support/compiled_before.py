"""A checkout without caches takes what another one with the same sources has compiled.

numba keeps loops, and Python and pytest keep bytecode, by the times of the sources: of a fresh clone all of
it was compiled anew, for more than the tests take. Here the content of the sources decides: of all modules
of the package for loops, since one has others within it, and of each file for bytecode.

Only where ``docker/run`` keeps the caches of a checkout apart; nothing is done elsewhere.
"""

import contextlib
import hashlib
import os
import pickle
import shutil
import tempfile
import time
from pathlib import Path

from .paths import ROOT

#: Caches that nobody has taken for so long are forgotten [s].
FORGOTTEN = 30 * 86400


def take():
    """Fill the caches of a checkout that has no loops yet."""
    if (places := _places()) and not next(places[0].rglob("*.nbi"), None):
        loops, bytecode, store = places
        with contextlib.suppress(OSError):  # another run may just keep more
            _take_loops(store / f"loops-{_content(_modules())}", loops)
        for source in _sources():
            _take_bytecode(store / f"code-{_content([source])}", bytecode, source)


def keep():
    """Keep what has been compiled, for checkouts to come."""
    if places := _places():
        loops, bytecode, store = places
        store.mkdir(parents=True, exist_ok=True)
        kept = store / f"loops-{_content(_modules())}"
        if _compiled_after_all_changes(loops) and _count(loops) > _count(kept):
            shutil.rmtree(kept, ignore_errors=True)  # fewer, of a run of a part of the tests
            _whole(kept, lambda folder: _keep_loops(loops, folder))
        for source in _sources():
            compiled = _compiled(bytecode, source)
            if compiled:
                _whole(
                    store / f"code-{_content([source])}", lambda folder, files=compiled: _copy(files, folder)
                )
        for each in store.iterdir():
            if time.time() - each.stat().st_mtime > FORGOTTEN:
                shutil.rmtree(each, ignore_errors=True)


def _places():
    """Folders of numba's loops and of bytecode of this checkout, and that for all of them; or None."""
    given = [os.environ.get(name) for name in ("NUMBA_CACHE_DIR", "PYTHONPYCACHEPREFIX", "XDG_CACHE_HOME")]
    if not all(given):
        return None
    loops, bytecode, common = map(Path, given)
    return loops, bytecode, common / "compiled_before"


def _modules():
    return sorted((ROOT / "dolfinx_impact").rglob("*.py"))


def _sources():
    return [*_modules(), *sorted((ROOT / "tests").rglob("*.py"))]


def _content(files):
    """A name of the content of files, and of their places in the checkout."""
    found = hashlib.sha256()
    for file in files:
        found.update(f"{file.relative_to(ROOT)}\0".encode() + file.read_bytes() + b"\0")
    return found.hexdigest()[:24]


def _whole(folder, write):
    """Make a folder once, whole, whoever else does."""
    if folder.exists():
        return
    made = Path(tempfile.mkdtemp(dir=folder.parent))
    write(made)
    try:
        made.rename(folder)
    except OSError:  # another run was faster
        shutil.rmtree(made)


def _copy(files, folder):
    for file in files:
        shutil.copyfile(file, folder / file.name)


# -- loops: an index of numba begins with its version, then come the stamp of the source and the rest


def _count(folder):
    return sum(1 for _ in folder.rglob("*.nbc"))


def _stamp(source):
    found = source.stat()
    return found.st_mtime, found.st_size


def _compiled_after_all_changes(loops):
    """Whether no loop may have an earlier version of another module within it."""
    changed = max(source.stat().st_mtime for source in _modules())
    return all(file.stat().st_mtime > changed for file in loops.rglob("*.nbc"))


def _keep_loops(loops, folder):
    """Indices that are those of the sources, whose places stand for their stamps."""
    named = {_stamp(source): str(source.relative_to(ROOT)) for source in _modules()}
    for index in loops.rglob("*.nbi"):
        version, (stamp, rest) = _read(index)
        if stamp in named:
            place = folder / index.relative_to(loops).parent
            place.mkdir(exist_ok=True, parents=True)
            _write(place / index.name, version, (named[stamp], rest))
            _copy(index.parent.glob(f"{index.stem}.*.nbc"), place)


def _take_loops(folder, loops):
    if not folder.exists():
        return
    os.utime(folder)
    for index in folder.rglob("*.nbi"):
        version, (source, rest) = _read(index)
        place = loops / index.relative_to(folder).parent
        place.mkdir(exist_ok=True, parents=True)
        _copy(index.parent.glob(f"{index.stem}.*.nbc"), place)
        _write(place / index.name, version, (_stamp(ROOT / source), rest))


def _read(index):
    with index.open("rb") as file:
        return pickle.load(file), pickle.loads(file.read())


def _write(index, version, content):
    index.write_bytes(pickle.dumps(version) + pickle.dumps(content))


# -- bytecode: magic number, flags, then time and size of the source, four bytes each


def _times(source):
    stat = source.stat()
    return b"".join((int(x) & 0xFFFFFFFF).to_bytes(4, "little") for x in (stat.st_mtime, stat.st_size))


def _folder(bytecode, source):
    return bytecode.joinpath(*source.parent.parts[1:])


def _compiled(bytecode, source):
    """Files of bytecode, that of pytest among them, which are those of the source."""
    files = _folder(bytecode, source).glob(f"{source.stem}.*.pyc")
    expected = bytes(4) + _times(source)
    return [file for file in files if file.read_bytes()[4:16] == expected]


def _take_bytecode(folder, bytecode, source):
    if not folder.exists():
        return
    os.utime(folder)
    place = _folder(bytecode, source)
    place.mkdir(exist_ok=True, parents=True)
    for file in folder.iterdir():
        content = file.read_bytes()
        if not (place / file.name).exists():
            (place / file.name).write_bytes(content[:8] + _times(source) + content[16:])
