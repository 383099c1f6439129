"""What the schemes take, feature by feature, read off the declarations by which their classes refuse."""

from __future__ import annotations

from typing import Any

from .requirements import OF_CONTACT, UNSTEADY, excluded

#: Features of systems, contacts and runs in the order of tables.
FEATURES = (*UNSTEADY, "history laws", *OF_CONTACT, "adaptive step", "compiled loop", "restart")


def takes(kind: Any) -> dict[str, str]:
    """What a class of schemes takes: ``"yes"``, ``"no"`` or the condition, for each of :data:`FEATURES`.

    ``excludes`` of the class and of its contact law is refused when a scheme is made, as a history is without
    ``follows_history``; a run refuses :class:`.StepControl` without ``change_step``, compiled steps without
    ``compiled_loop`` or the data of the contact law for it, and checkpoints without ``state_names``.
    """
    law, without = kind.law, excluded(kind)
    declared = {
        **{name: name not in without for name in (*UNSTEADY, *OF_CONTACT)},
        "history laws": kind.follows_history and "nonlinear forces" not in without,
        "adaptive step": getattr(kind, "change_step", None) is not None,
        "compiled loop": getattr(kind, "compiled_loop", None) is not None
        and (law is None or hasattr(law, "compiled")),
        "restart": bool(kind.state_names),
    }
    words = {True: "yes", False: "no"}
    return {name: kind.remarks.get(name, words[declared[name]]) for name in FEATURES}
