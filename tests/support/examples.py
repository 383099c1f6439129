"""How many examples hypothesis tries: few by default, many with HYPOTHESIS_PROFILE=nightly."""

import os

import hypothesis

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "fast")
TIMES = {"fast": 1, "nightly": 20}[PROFILE]

hypothesis.settings.register_profile(
    PROFILE, max_examples=10 * TIMES, derandomize=True, deadline=None, database=None
)
hypothesis.settings.load_profile(PROFILE)


def examples(count, **options):
    """Settings of a test whose examples cost more, or less, than most: so many by default."""
    return hypothesis.settings(max_examples=count * TIMES, **options)
