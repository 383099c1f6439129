"""Tables of parameters in which every two values meet, for products that would prove nothing more."""

import itertools


def pairwise(**values):
    """Names and rows for ``pytest.mark.parametrize``: each value of a parameter meets all of every other one.

    Faults lie where two choices meet, seldom where three do: Kuhn, Wallace and Gallo, IEEE Trans. Softw. Eng.
    30 (2004), doi:10.1109/TSE.2004.24. Rows are taken one by one, the first of those with most new pairs.
    """
    rows = list(itertools.product(*values.values()))
    places = list(itertools.combinations(range(len(values)), 2))

    def pairs(row):
        return {(i, j, repr(row[i]), repr(row[j])) for i, j in places}

    left, taken = set().union(*map(pairs, rows)), []
    while left:
        best = max(rows, key=lambda row: len(pairs(row) & left))
        taken.append(best)
        left -= pairs(best)
    return ", ".join(values), taken
