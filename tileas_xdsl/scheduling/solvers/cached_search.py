"""Cache of solved scheduling problems."""

from __future__ import annotations

from collections import OrderedDict

from tileas_xdsl.scheduling.problem import Problem, Solution
from tileas_xdsl.scheduling.solvers.search import SearchOptions, find_schedule

REMEMBERED = 256
"""Problems, of which the least recent goes first."""

_known: OrderedDict[tuple[str, SearchOptions], Solution | None] = OrderedDict()


def cached_schedule(problem: Problem, options: SearchOptions) -> Solution | None:
    """Return what `find_schedule` returns, from memory where the problem was solved before."""
    key = (repr(problem), options)
    if key not in _known:
        _known[key] = find_schedule(problem, options)
    _known.move_to_end(key)
    if len(_known) > REMEMBERED:
        _known.popitem(last=False)
    return _known[key]
