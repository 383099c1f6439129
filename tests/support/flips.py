"""A verdict that cannot turn says nothing: checks that every claim turns with another scheme."""

import json


def check(claim, runs, broken):
    """The verdict on the claim, after it was seen to turn with the schemes ``broken`` in the place of others.

    A claim that holds must not hold with schemes that lack the property; one that does not hold must
    hold with schemes that have it.
    """
    finding = claim.decide(runs)
    json.dumps(vars(finding), allow_nan=False)
    assert finding.words and finding.reproduced is not None
    assert None not in (finding.measured, finding.expected, finding.tolerance), finding.words
    turned = claim.decide(runs.instead(broken))
    assert turned.reproduced is (not finding.reproduced), f"{claim.id}: {finding} stays {turned}"
    return finding
