"""What is found anew for every body although it is equal is found once by the tests of a process.

FFCx lists its folder of kernels, thousands of files, for every form that is made, and formats its options for
a log that nobody reads; an element makes its cell with all entities of it whenever it is asked for it; the
package writes the C code of a law for every body, and seeks the highest frequency of each. Of several
processes that need a loop which numba has not compiled yet, one compiles it, and the others read it.
"""

import contextlib
import fcntl
import functools
import hashlib
import importlib.util
import itertools
import os
import time
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import SimpleNamespace

import basix.ufl
import ffcx.codegeneration.jit as jit
import ffcx.options
import numpy as np
import ufl

import dolfinx_impact as di
from dolfinx_impact.systems import critical_step
from dolfinx_impact.systems.elements import element_forces

#: Age of a kernel's source without the kernel at which whoever compiled it is taken to have ended [s]: tests
#: end processes at any moment, and FFCx waits for them.
LOST = 120
#: Laws that are equal where their constants are.
LAWS = (di.LinearElastic, di.StVenantKirchhoff, di.NeoHookean, di.MooneyRivlin)


def remember():
    """Keep kernels, cells, C codes of laws and ends of spectra for this process."""
    # UFL sorts constants by the text of their numbers, 10 before 9: the same form had several kernels.
    ufl.Constant._counter = itertools.count(10**6)
    ffcx.options.pprint = SimpleNamespace(pformat=repr)
    jit.get_cached_module = _kernels_once(jit.get_cached_module)
    basix.ufl._ElementBase.cell = property(_cells_once(basix.ufl._ElementBase.cell.fget))
    element_forces.code_of = _codes_once(element_forces.code_of)
    critical_step.spectrum = _spectra_once(critical_step.spectrum)
    if kept := os.environ.get("NUMBA_CACHE_DIR"):
        with contextlib.suppress(ImportError):
            from numba.core.dispatcher import Dispatcher

            Dispatcher.compile = _loops_once(Dispatcher.compile, Path(kept))


def _kernels_once(look_up):
    loaded = {}

    @functools.wraps(look_up)
    def remembered(name, objects, folder, timeout):
        key = name, tuple(objects), str(folder)
        if key not in loaded:
            kernels = _looked_up(look_up, name, objects, folder, timeout)
            if kernels[0] is None:  # to be compiled by the caller
                return kernels
            loaded[key] = kernels
        return loaded[key]

    return remembered


def _looked_up(look_up, name, objects, folder, timeout):
    source = Path(folder, name).with_suffix(".c")
    if compiled := _compiled(source):
        return _loaded(compiled, objects)
    _forget_lost(source)
    try:
        return look_up(name, objects, folder, min(timeout, LOST))
    except TimeoutError:
        _forget_lost(source)
        return look_up(name, objects, folder, timeout)


def _compiled(source):
    """The kernel of a source, once whoever compiles it has ended; None before."""
    if not Path(f"{source}.cached").exists():
        return None
    files = (source.with_suffix(suffix) for suffix in EXTENSION_SUFFIXES)
    return next((file for file in files if file.exists()), None)


def _loaded(file, objects):
    """What FFCx returns, without its search in the folder."""
    found = importlib.util.spec_from_file_location(file.name.split(".")[0], file)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return [getattr(module.lib, each) for each in objects], module


def _forget_lost(source):
    """Remove a source that nobody compiles any more."""
    if source.exists() and not Path(f"{source}.cached").exists():
        if time.time() - source.stat().st_mtime >= LOST:
            source.unlink(missing_ok=True)


def _cells_once(cell_of):
    made = {}

    @functools.wraps(cell_of)
    def remembered(element):
        if element.cell_type not in made:
            made[element.cell_type] = cell_of(element)
        return made[element.cell_type]

    return remembered


def _codes_once(code_of):
    written = {}

    @functools.wraps(code_of)
    def remembered(law, element, mesh, **modes):
        if type(law) not in LAWS:
            return code_of(law, element, mesh, **modes)
        key = law, element.dim, element.hoop, *sorted(modes.items())
        if key not in written:
            written[key] = code_of(law, element, mesh, **modes)
        return written[key]

    return remembered


def _spectra_once(find):
    """A matrix is known by its product with the start vector, which has components of all modes."""
    found = {}

    @functools.wraps(find)
    def remembered(comm, apply, start, **options):
        product = np.empty_like(start)
        apply(start, product)
        here = hashlib.sha256(start.tobytes() + product.tobytes()).digest()
        key = *comm.allgather(here), *options.items()
        if key not in found:
            found[key] = find(comm, apply, start, **options)
        return found[key]

    return remembered


def _loops_once(compile_loop, folder):
    """A loop that another process compiles is waited for, and found on disk then."""
    held = set()

    @functools.wraps(compile_loop)
    def compiled(dispatcher, signature):
        made = dispatcher.py_func
        about = f"{made.__module__} {made.__qualname__} {made.__code__.co_firstlineno}"
        if dispatcher._cache.cache_path is None or about in held:
            return compile_loop(dispatcher, signature)
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / f"{hashlib.sha256(about.encode()).hexdigest()[:16]}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # of callers before those of what they call, in every process
            held.add(about)
            try:
                return compile_loop(dispatcher, signature)
            finally:
                held.remove(about)

    return compiled
