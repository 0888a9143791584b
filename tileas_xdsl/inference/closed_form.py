"""Inversion of an ownership map: the iteration as a function of thread and step.

>>> from tileas_xdsl.layout.expr.expression import dimension
>>> g, r = dimension(0), dimension(1)
>>> owners = FragmentMap((2, 2), g * 32 + r * 16, 0, threads=64)
>>> print(section_of(owners))
i0 = thread // 32
i1 = thread // 16 % 2
if thread % 16 == 0
"""

from __future__ import annotations

import numpy as np

from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.operations.inverse import Section, invert
from tileas_xdsl.layout.operations.recovery import recover
from tileas_xdsl.layout.registers.register_layout import THREAD, VALUE


def layout_of(owners: FragmentMap) -> Layout | None:
    """A map as a layout onto the axes thread and value; None where it has no such digits.

    The modes are the dimensions and then the copies, if there are several.  Where the digits of
    dimensions do not divide, mode 0 is the row-major index of all dimensions instead.
    """
    copies = (owners.replicas,) if owners.replicas > 1 else ()
    by_dimension = _recovered(owners, (*owners.shape, *copies), owners.shape)
    return by_dimension or _recovered(owners, (owners.slot_table.size, *copies), None)


def section_of(owners: FragmentMap) -> Section | None:
    """The inverse with its guard, over the modes of `layout_of`; None where it has no digits."""
    layout = layout_of(owners)
    if layout is None:
        return None
    try:
        return invert(layout, {THREAD: owners.threads, VALUE: owners.slots})
    except LayoutError:
        return None


def _recovered(
    owners: FragmentMap, modes: tuple[int, ...], shape: tuple[int, ...] | None
) -> Layout | None:
    order = "F" if shape is not None else "C"
    threads = np.concatenate([table.ravel(order=order) for table in owners.thread_table])
    slots = np.tile(owners.slot_table.ravel(order=order), owners.replicas)
    found = recover({THREAD: threads, VALUE: slots}, modes)
    return None if found is None or found[1] != 0 else found[0]
