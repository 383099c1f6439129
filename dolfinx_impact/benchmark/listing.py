"""Text of ``list``: the cases and schemes at a glance, and all about one of them."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from ..integrators import SCHEMES
from ..integrators.features import takes
from .case import defaults
from .cases import CASES
from .runner import parameters_of

_NAME = 24  #: Columns of the names.
_PARAMETERS = "Parameters (--set NAME=VALUE), default, meaning"


def overview(width: int) -> str:
    """Every case with its sentence and every scheme with its paper, in ``width`` columns."""
    cases = [_entry(name, case.about, width) for name, case in CASES.items()]
    schemes = [_entry(name, f"{s.paper}, {s.equations}", width) for name, s in SCHEMES.items()]
    names = f"{next(iter(CASES))}` or `list {next(iter(SCHEMES))}"
    more = f"Parameters, and which schemes run a case: `list {names}`; for programs: `list --json`."
    return "\n".join(["Cases", *cases, "", "Schemes", *schemes, "", *textwrap.wrap(more, width)])


def details(name: str, width: int) -> str:
    """All about a case or a scheme; a ValueError where neither has this name."""
    if name in CASES:
        case = CASES[name]
        given = {**defaults(case.parameters), **case.defaults}
        lines = [name, *_wrapped(case.about, width), "", "Schemes"]
        lines += [*_wrapped(", ".join(case.schemes), width), "", _PARAMETERS]
        others = {n: option for s in reversed(case.schemes) for n, option in SCHEMES[s].options.items()}
        options = {**case.parameters, **{n: others[n] for n in case.defaults if n not in case.parameters}}
        return "\n".join(lines + _parameters(options, given, width))
    if name in SCHEMES:
        s = SCHEMES[name]
        about = s.facts()
        about["takes no"] = ", ".join(n for n, word in takes(s.make).items() if word == "no") or "-"
        about["cases"] = ", ".join(n for n, c in CASES.items() if name in c.schemes)
        lines = [name, *(_entry(key, value, width) for key, value in about.items()), ""]
        options = parameters_of(s)
        lines += [_PARAMETERS] if options else []
        return "\n".join(lines + _parameters(options, defaults(options), width))
    names = f"the cases are: {', '.join(CASES)}; the schemes are: {', '.join(SCHEMES)}"
    raise ValueError(f"unknown name {name!r}; {names}")


def _parameters(options: Mapping[str, Any], given: Mapping[str, Any], width: int) -> list[str]:
    rows = []
    for name, option in options.items():
        unit = "" if option.unit == "-" else f" [{option.unit}]"
        limits = f", {option.range}" if option.interval else ""
        rows.append(_entry(f"{name:<15}{_value(given[name])}", f"{option.help}{unit}{limits}", width))
    return rows


def _value(value: Any) -> str:
    if value is None:
        return "-"
    return format(value, ".6g") if isinstance(value, float) else str(value).lower()


def _entry(name: str, words: str, width: int) -> str:
    """A name and, behind it, words that are wrapped."""
    behind = " " * (_NAME + 2)
    first = f"  {name:<{_NAME - 1}} "
    return textwrap.fill(words, width, initial_indent=first, subsequent_indent=behind, break_on_hyphens=False)


def _wrapped(words: str, width: int) -> list[str]:
    return textwrap.wrap(words, width, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
