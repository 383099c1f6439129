"""What the certificate of a contact says, as numbers of a run."""

from __future__ import annotations

from typing import Any

from ...case import Results, Verdict, Verdicts

#: Attributes of a certificate that runs report.
NAMES = ("passed", "together", "tested", "added", "rounds")


def numbers(contact: Any) -> Results:
    """Pairs of features that passed through each other, None where none was tested, and counts."""
    found = contact.certificate()
    return {name: None if (value := getattr(found, name)) is None else int(value) for name in NAMES}


def verdicts(results: Results) -> Verdicts:
    """Nothing passed; without paths of features there is no verdict."""
    if results["passed"] is not None:
        yield Verdict.below("no features passed through each other (pairs)", results["passed"], 0.0)
