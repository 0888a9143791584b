"""Instances of IR whose attributes need no dictionary of their own.

CPython keeps the names of attributes once for all instances of a class, in the order in which the
first thirty of them set any (PEP 412).  A name that comes later finds no place, and each instance
that sets it gets a dictionary: 200 bytes more, a hash for each look-up, one object more for the
collector to walk.

    use = object.__new__(Use)      the reader of bytecode sets what differs from the default
    use._operation, use._index     thirty of these, and `_prev_use` has no place: all uses that the
    op.erase()                     process makes have dictionaries; so have operations that are
                                   erased, which gives them `_successors`

An instance that sets all fields first keeps a place for each.
"""

from __future__ import annotations

from dataclasses import fields
from inspect import isabstract
from typing import Any


def share_keys(kind: type) -> None:
    """Keep places for the fields of a data class; to be called before it has thirty instances."""
    made: Any = kind
    if isabstract(made):
        return
    first = object.__new__(made)
    for each in fields(kind):
        object.__setattr__(first, each.name, None)
