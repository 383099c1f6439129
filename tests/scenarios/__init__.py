"""The machine that doubts: whole small problems at random, and oracles that know the right answer.

Tests find what their author thinks of; most wrong results lie where two features meet. ``compose`` makes a
problem from a seed, of bodies, supports, loads, damping, contacts, schemes and steps that users compose;
``program`` writes it as a Python program of public names, which ``observe`` runs; the ``oracles`` judge what
was seen by mechanics alone: weight, momentum, energy, depth, frames, the spectrum of the step, ways of
running. A failure is made smaller by ``shrink`` and printed as a program of at most 40 lines by ``script``::

    docker/run python tests/scenarios                                  # seeds from 1 on, for 60 s
    docker/run python tests/scenarios --seed 26 --count 1              # one scenario
    docker/run python tests/scenarios --fresh --seconds 3600           # a seed of this moment
    docker/run python tests/scenarios --oracle momentum --oracle frame # these alone
    docker/run python tests/scenarios --ranks 3                        # three ranks and one
    docker/run python tests/scenarios --faults --seconds 300           # faults put back, one after the other

A new choice goes into ``further`` and ``program``, a new truth into ``oracles``: a function of what was seen
that yields numbers, what they must be, what is allowed and why. What an oracle cannot know is left out by it,
with the reason in its docstring. No scenario is left out because it fails.
"""
