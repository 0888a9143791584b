"""Windows of tiles in memory: their origin, bounds, reads and writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from tileas_xdsl.dialects.nv_tileas.atoms import TmaAtom
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr
from tileas_xdsl.dialects.nv_tileas.enums import (
    MemSemantic,
    MemSemanticAttr,
    SpecialPadding,
    SpecialPaddingAttr,
)
from tileas_xdsl.interpreters.tile.execution.agent import Steps
from tileas_xdsl.interpreters.tile.execution.scheduler import Wait
from tileas_xdsl.interpreters.tile.faults import fault
from tileas_xdsl.interpreters.tile.memory.tracked_memory import Access, Actor
from tileas_xdsl.interpreters.tile.memory.views import View
from tileas_xdsl.interpreters.tile.numerics.element_sizes import unspecified
from tileas_xdsl.interpreters.tile.numerics.element_types import Array, dtype_of, literal

_SPECIAL = {
    SpecialPadding.NAN: np.nan,
    SpecialPadding.POS_INF: np.inf,
    SpecialPadding.NEG_INF: -np.inf,
    SpecialPadding.NEG_ZERO: -0.0,
}

_ACCESSES = {
    MemSemantic.WEAK: Access(),
    MemSemantic.RELAXED: Access(is_strong=True),
    MemSemantic.ACQUIRE: Access(is_strong=True, acquires=True),
    MemSemantic.RELEASE: Access(is_strong=True, releases=True),
    MemSemantic.ACQ_REL: Access(is_strong=True, acquires=True, releases=True),
}


def access_of(semantic: MemSemanticAttr | None) -> Access:
    """Return the memory semantics of an access, weak without the attribute."""
    return _ACCESSES[MemSemantic.WEAK if semantic is None else semantic.data]


def atomic_access(semantic: MemSemanticAttr | None) -> Access:
    """Return the memory semantics of an atomic update, relaxed without the attribute."""
    return replace(access_of(semantic), is_strong=True, updates=True)


def before_polling(
    op: Operation, access: Access, name: str, observed: Callable[[], Array]
) -> Steps:
    """Let other processes run before a strong access, which may poll for their writes."""
    if access.is_strong:
        yield Wait(lambda: True, f"{name} to change", op, observed=lambda: observed().tobytes())
    return ()


def seen_through(window: View) -> Array:
    """Return the elements of a window that exist, unchecked."""
    found = window.clipped()
    return np.zeros(0) if found is None else found[0].array()


def padding_tile(
    shape: Sequence[int], element: Attribute, padding: Attribute | None, atom: AtomAttr
) -> Array:
    """Return a tile of out-of-bounds values: the padding, zero for TMA, else unspecified."""
    if padding is None and isinstance(atom.data, TmaAtom):
        return np.zeros(tuple(shape), dtype_of(element))
    if padding is None:
        return unspecified(shape, element)
    return np.full(tuple(shape), padding_value(padding, element), dtype_of(element))


def padding_value(padding: Attribute, element: Attribute) -> Any:
    """Return a padding attribute as an element."""
    if isinstance(padding, SpecialPaddingAttr):
        number: float = _SPECIAL[padding.data]
    else:
        assert isa(padding, IntegerAttr | FloatAttr)
        number = padding.value.data
    return literal(np.asarray(number), element)


def tile_window(
    op: Operation,
    view: View,
    shape: Sequence[int],
    coordinates: Sequence[int],
    offsets: Sequence[int],
) -> View:
    """Return the window at coordinates in units of tiles plus offsets in elements."""
    rank = len(view.shape)
    if len(coordinates) != rank or len(shape) != rank:
        raise fault(op, f"takes tiles of rank {len(shape)} out of a view of rank {rank}")
    offsets = offsets or (0,) * rank
    starts = [c * n + o for c, n, o in zip(coordinates, shape, offsets, strict=True)]
    return view.part(starts, shape)


def check_in_bounds(op: Operation, window: View, flags: DenseArrayBase[IntegerType] | None) -> None:
    """Raise a fault if elements are out of bounds where the operation excludes that."""
    if flags is None:
        return
    for axis, flag in enumerate(flags.get_values()):
        low, high = window.valid[axis]
        if flag and not (low <= 0 and window.shape[axis] <= high):
            raise fault(
                op,
                f"is in bounds along dimension {axis}, but of its {window.shape[axis]} elements "
                f"only {max(low, 0)} to {min(high, window.shape[axis])} exist in "
                f"{window.memory.name}",
            )


def read_window(
    window: View, actor: Actor, access: Access, rest: Array, mask: Array | None = None
) -> Array:
    """Read the elements that exist and are not masked, with the others from `rest`."""
    if mask is not None:
        return _read_masked(window, actor, access, rest, mask)
    if window.is_inside:
        return window.read(actor, access)
    values = rest.copy()
    if (found := window.clipped()) is not None:
        inside, position = found
        values[position] = inside.read(actor, access)
    return values


def _read_masked(window: View, actor: Actor, access: Access, rest: Array, mask: Array) -> Array:
    chosen = np.nonzero(mask & existing(window))
    values = rest.copy()
    if len(chosen[0]):
        values[chosen] = window.read_at(chosen, actor, access)
    return values


def existing(window: View) -> Array:
    """Return the mask of the elements of a window that exist."""
    found = np.zeros(window.shape, np.bool_)
    if (clipped := window.clipped()) is not None:
        found[clipped[1]] = True
    return found


def write_window(window: View, values: Array, actor: Actor, access: Access) -> None:
    """Write the elements that exist, the others are dropped."""
    if window.is_inside:
        window.write(values, actor, access)
    elif (found := window.clipped()) is not None:
        inside, position = found
        inside.write(values[position], actor, access)
