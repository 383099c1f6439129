"""Contact between surfaces in which no pair of facets sleeps: the same run without what is left out."""

import numpy as np


class Unbounded:
    """A search that says of no pair that it is far."""

    def __init__(self, search):
        self._search = search

    def find(self, *given):
        found = self._search.find(*given)
        far = np.full_like(found.above, -np.inf)
        return found._replace(above=far, beside=far)


def awake(contact):
    """The contact, or those of a list, with gaps of all points in each step and without bounds."""
    for each in contact.members:
        if (assembly := getattr(each, "assembly", None)) is None:
            continue
        assembly._renew = lambda u, of=assembly, renew=assembly._renew: _renewed(of, renew, u)
        assembly._motion.forget()
        update = assembly.update
        assembly.update = lambda u, every=True, renew=False, update=update: update(u, renew=renew)
    return contact


def _renewed(assembly, renew, u):
    """What a search begins with: other facets are held, and searches are made anew."""
    renew(u)
    for name in ("_search", "_corner_search"):
        if not isinstance(search := getattr(assembly, name), Unbounded):
            setattr(assembly, name, Unbounded(search))


def seen(assembly):
    """What a step reads of the closed points: numbers, gaps, areas, and rows by the nodes of the facets."""
    closed = assembly.gap <= assembly.tolerance
    start, nodes, B, W = assembly.entries(lambda gap: gap <= assembly.tolerance)
    which = np.flatnonzero(closed)
    return [
        which,
        assembly.gap[which],
        assembly.area[which],
        start.copy(),
        assembly.facets.node_number[assembly.needed[nodes]],
        B.copy(),
        W.copy(),
    ]


def asleep(assembly):
    """Whether a part of a slave facet with candidates is left out of the last step."""
    tables = assembly._tables
    return bool(np.any((tables["state"] == 0) & (np.diff(tables["start"]) > 0)))
