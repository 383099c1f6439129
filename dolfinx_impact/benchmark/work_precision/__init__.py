"""Which scheme for me: the time that each scheme takes to reach an error, case by case (work and precision).

``studies`` names what is compared in a case, ``measure`` times runs and finds the cost of an error,
``figures`` draws the diagrams and makes the tables of these costs.
"""
