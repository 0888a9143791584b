"""Memory through pointers: loads, stores, atomic updates; and the tokens that order them.

Blocks run one after another and operations in the order of the program, which every order that
tokens ask for allows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Attribute

from tileas_xdsl.dialects.cuda_tile.enums import AtomicRMWMode, Signedness
from tileas_xdsl.dialects.cuda_tile.memory import atomics, pointers
from tileas_xdsl.dialects.cuda_tile.memory.access_checks import pointee_of
from tileas_xdsl.dialects.cuda_tile.structure import module
from tileas_xdsl.interpreters.cuda_tile.block import Block
from tileas_xdsl.interpreters.cuda_tile.faults import Undefined
from tileas_xdsl.interpreters.cuda_tile.numerics.elements import (
    Array,
    bits_of,
    stored_bits,
    width_of,
)
from tileas_xdsl.interpreters.cuda_tile.numerics.integers import read, wrap
from tileas_xdsl.interpreters.cuda_tile.semantics.registry import Elementwise, Stateful
from tileas_xdsl.interpreters.cuda_tile.semantics.shapes import added, empty
from tileas_xdsl.layout.integers import ceil_div

TOKEN = None
"""Tokens are no values."""


def _moved(op: pointers.OffsetOp, addresses: Array, offsets: Array) -> Array:
    """Offsets are signed and count elements; an address that wraps around is none."""
    bits = stored_bits(pointee_of(op.ptr.type))
    steps = read(offsets, width_of(op.offset.type), Signedness.SIGNED)
    if np.any(np.abs(steps.astype(np.float64)) * bits >= 2.0**63):
        raise Undefined("moves a pointer by more than 63 bits, which is undefined")
    with np.errstate(over="ignore"):
        return addresses + (steps * bits).view(np.uint64)


OFFSETS: Mapping[type[Any], Elementwise] = {pointers.OffsetOp: _moved}


def _mask(block: Block, op: Any, shape: tuple[int, ...]) -> Array:
    return np.ones(shape, bool) if op.mask is None else block.value(op.mask)


def _loaded(block: Block, op: pointers.LoadPtrTkoOp) -> Sequence[Any]:
    """Where the mask does not hold it is the padding; without any nothing is specified: zeros."""
    addresses = block.value(op.source)
    mask = _mask(block, op, addresses.shape)
    found = np.array(
        empty(op.result.type) if op.padding_value is None else block.value(op.padding_value)
    )
    found[mask] = block.memory.load(addresses[mask], pointee_of(op.source.type))
    return found, TOKEN


def _stored(block: Block, op: pointers.StorePtrTkoOp) -> Sequence[Any]:
    addresses, values = block.value(op.destination), block.value(op.value)
    mask = _mask(block, op, addresses.shape)
    block.memory.store(addresses[mask], values[mask], pointee_of(op.destination.type))
    return (TOKEN,)


Update = Callable[[Array, Array], Array]
"""The new element of memory from the old one and the operand."""


def update_of(mode: AtomicRMWMode, element: Attribute) -> Update:
    """What a mode does to an element."""
    if mode is AtomicRMWMode.XCHG:
        return lambda old, value: value
    if mode is AtomicRMWMode.ADDF:
        return lambda old, value: added(old, value, element)
    width = width_of(element)
    function, signedness = _INTEGER_UPDATES[mode]

    def update(old: Array, value: Array) -> Array:
        a, b = read(old, width, signedness), read(value, width, signedness)
        with np.errstate(over="ignore"):
            return wrap(np.asarray(function(a, b)).view(np.int64), width)

    return update


_INTEGER_UPDATES: Mapping[AtomicRMWMode, tuple[Callable[[Any, Any], Any], Signedness]] = {
    AtomicRMWMode.AND: (np.bitwise_and, Signedness.SIGNED),
    AtomicRMWMode.OR: (np.bitwise_or, Signedness.SIGNED),
    AtomicRMWMode.XOR: (np.bitwise_xor, Signedness.SIGNED),
    AtomicRMWMode.ADD: (np.add, Signedness.SIGNED),
    AtomicRMWMode.MAX: (np.maximum, Signedness.SIGNED),
    AtomicRMWMode.MIN: (np.minimum, Signedness.SIGNED),
    AtomicRMWMode.UMAX: (np.maximum, Signedness.UNSIGNED),
    AtomicRMWMode.UMIN: (np.minimum, Signedness.UNSIGNED),
}


def _updated(block: Block, op: atomics.AtomicRmwTkoOp) -> Sequence[Any]:
    """Elements in row-major order; the old value of one that is masked is not specified: zero."""
    addresses, values = block.value(op.pointers), block.value(op.arg)
    mask = _mask(block, op, addresses.shape)
    found = empty(op.result.type)
    found[mask] = updated(
        block, addresses[mask], values[mask], op.mode.data, pointee_of(op.pointers.type)
    )
    return found, TOKEN


def updated(
    block: Block, addresses: Array, values: Array, mode: AtomicRMWMode, element: Attribute
) -> Array:
    """Update the elements at a row of addresses one after another; gives what they were."""
    update = update_of(mode, element)

    def change(old: Array, here: slice) -> Array:
        return update(old, values[here])

    return block.memory.update(addresses, change, element)


def _exchanged(block: Block, op: atomics.AtomicCasTkoOp) -> Sequence[Any]:
    """Bits are compared; where the mask does not hold the result is what was expected."""
    addresses, new = block.value(op.pointers), block.value(op.val)
    expected = np.array(block.value(op.cmp))
    mask = _mask(block, op, addresses.shape)
    wanted, replacement = expected[mask], new[mask]

    def change(old: Array, here: slice) -> Array:
        is_equal = bits_of(old) == bits_of(wanted[here])
        return np.where(is_equal, replacement[here], old)

    expected[mask] = block.memory.update(addresses[mask], change, pointee_of(op.pointers.type))
    return expected, TOKEN


def _ordered(_block: Block, _op: Any) -> Sequence[Any]:
    return (TOKEN,)


def _allocated(block: Block, op: pointers.AllocaOp) -> Sequence[Any]:
    """Memory of its own for each time it is executed; what it holds at first is zero."""
    bits = op.num_elem.value.data * stored_bits(pointee_of(op.result.type))
    data = np.zeros(ceil_div(bits, 8), np.uint8)
    region = block.memory.allocate("the memory of an alloca", data, op.alignment.value.data)
    return (np.asarray(region.address * 8, np.uint64),)


def _global(block: Block, op: module.GetGlobalOp) -> Sequence[Any]:
    name: SymbolRefAttr = op.symbol
    return (np.asarray(block.globals[name.string_value()] * 8, np.uint64),)


MEMORY: Mapping[type[Any], Stateful] = {
    pointers.LoadPtrTkoOp: _loaded,
    pointers.StorePtrTkoOp: _stored,
    pointers.AllocaOp: _allocated,
    pointers.MakeTokenOp: _ordered,
    pointers.JoinTokensOp: _ordered,
    pointers.MemoryFenceAliasTkoOp: _ordered,
    pointers.GdcLaunchDependentsTkoOp: _ordered,
    pointers.GdcWaitTkoOp: _ordered,
    atomics.AtomicRmwTkoOp: _updated,
    atomics.AtomicCasTkoOp: _exchanged,
    module.GetGlobalOp: _global,
}
