"""Indices of TMA descriptors: the entry of the host or device table that an operation uses.

A function whose descriptors are arguments marked `cute_nvgpu.grid_constant` has their counts:
`nv_tileas.num-host-tmas` and `nv_tileas.num-device-tmas`.  A descriptor that the kernel builds is
in the device table; of the arguments, the last ones are the host's, those before them the device's.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue
from xdsl.traits import CallableOpInterface

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.ir_queries import enclosing_function
from tileas_xdsl.dialects.nv_tileas.tma.capture import origins
from tileas_xdsl.dialects.nv_tileas.tma.slices import unsliced

HOST_TMAS = "nv_tileas.num-host-tmas"
DEVICE_TMAS = "nv_tileas.num-device-tmas"
TMA_INDEX = "tmaIdx"
HOST_CODE = "nv_tileas.host-code"
EXTENDED_SMEM = "nv_tileas.enable-extended-smem"
"""On a function: whether a launch may request more than 48 KiB of shared memory."""
GRID_CONSTANT = "cute_nvgpu.grid_constant"
MAKE_DESCRIPTOR = "nv_tileas.make_tiled_tma_desc"


@dataclass(frozen=True, slots=True)
class TmaCounts:
    """How many descriptors a function has from the host and from the device."""

    host: int
    device: int


def tma_counts(op: Operation) -> TmaCounts | None:
    """Return this attribute of the enclosing function; None without it."""
    function = enclosing_function(op)
    return None if function is None else counts_of(function)


def counts_of(function: Operation) -> TmaCounts | None:
    """Return the descriptor count of a function; None without the attribute."""
    if not {HOST_TMAS, DEVICE_TMAS} & function.attributes.keys():
        return None
    return TmaCounts(_count(function, HOST_TMAS), _count(function, DEVICE_TMAS))


def is_host_code(op: Operation) -> bool:
    """Whether the function around `op` is the one that builds descriptors on the host."""
    function = enclosing_function(op)
    return function is not None and HOST_CODE in function.attributes


def _count(function: Operation, name: str) -> int:
    number = function.attributes.get(name)
    return number.value.data if isinstance(number, IntegerAttr) else 0


def has_descriptors(op: Operation) -> bool:
    """Return whether the enclosing function takes its descriptors as arguments or counts them."""
    return tma_counts(op) is not None or _has_grid_constants(enclosing_function(op))


def _has_grid_constants(function: Operation | None) -> bool:
    arguments = None if function is None else function.properties.get("arg_attrs")
    return isinstance(arguments, ArrayAttr) and any(
        GRID_CONSTANT in argument.data
        for argument in cast("ArrayAttr[Attribute]", arguments)
        if isinstance(argument, DictionaryAttr)
    )


def check_tma_index(op: Operation, descriptor: SSAValue) -> None:
    """Once the function has its descriptors, the operation has an index below their number.

    Raises `OpError` where it has none, where it is too large, or where the function has no counts.
    """
    counts = tma_counts(op)
    if counts is None:
        raise op_error(op, message("nv_tileas.tma_index.counts_missing"))
    index = op.properties.get(TMA_INDEX)
    if not isinstance(index, IntegerAttr):
        raise op_error(op, message("nv_tileas.tma_index.missing"))
    number = index.value.data
    if number < 0:
        raise op_error(op, f"{TMA_INDEX} is {number}, but tables start with 0")
    device = _table(descriptor, counts)
    if device is None:
        device = counts.device > counts.host
    if device and number >= counts.device:
        raise op_error(op, message("nv_tileas.tma_index.exceeds_device"))
    if not device and number >= counts.host:
        raise op_error(op, message("nv_tileas.tma_index.exceeds_host"))


def _table(descriptor: SSAValue, counts: TmaCounts) -> bool | None:
    """Whether a descriptor is in the device's table rather than the host's, None if not known.

    It is not known where control flow merges descriptors of both tables, or where a region or an
    operation of another kind hands one in.
    """
    tables = {_table_of_origin(origin, counts) for origin in origins(unsliced(descriptor))}
    return tables.pop() if len(tables) == 1 else None


def _table_of_origin(origin: SSAValue, counts: TmaCounts) -> bool | None:
    if isinstance(origin, OpResult):
        return True if origin.op.name == MAKE_DESCRIPTOR else None
    if not isinstance(origin, BlockArgument):
        return None
    function = origin.block.parent_op()
    if function is None or not function.has_trait(CallableOpInterface):
        return None
    if origin.block is not function.regions[0].first_block:
        return None
    from_last = len(origin.block.args) - origin.index
    return counts.host < from_last <= counts.host + counts.device
