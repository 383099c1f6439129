"""Kernels of forms that a process has loaded are not looked for on disk again.

FFCx lists its folder of kernels, thousands of files, for every form that is made.
"""

import ffcx.codegeneration.jit as jit


def remember():
    """Let FFCx keep the kernels that it loads, for this process."""
    loaded = {}
    look_up = jit.get_cached_module

    def remembered(name, objects, folder, timeout):
        key = name, tuple(objects), str(folder)
        if key not in loaded:
            kernels = look_up(name, objects, folder, timeout)
            if kernels[0] is None:  # to be compiled by the caller
                return kernels
            loaded[key] = kernels
        return loaded[key]

    jit.get_cached_module = remembered
