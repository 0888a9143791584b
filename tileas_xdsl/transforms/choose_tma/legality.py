"""Say why TMA cannot transfer a tile between global and shared memory, or None if it can.

The rules, and where they come from (PTX ISA, cp.async.bulk.tensor and tensor maps; CUDA driver
API, cuTensorMapEncodeTiled):

* base address, strides between rows, and rows of a box are multiples of 16 bytes; the innermost
  stride is 1, the rank at most 5, an extent of a box at most 256;
* the host encodes the map before the launch: address, extents and strides must be arguments, but
  for where a slice of rows begins and ends;
* the first element of a tile is at a multiple of 16 bytes of its row (`offset_problem`);
* TMA fills out-of-bounds elements with zeros, has no mask, and its copies are weak;
* all threads must reach the operation together, since one of them issues it for the block.

What a type does not say may be guaranteed by `assume` (`nv_tileaa.div_by`); `promised_divisor`
reads both.

    strides of f16   the problem
    8 and 1          None
    4 and 1          its rows are apart by multiples of 8 bytes as far as is known, not of 16
    ? and 1          ... multiples of 2 bytes ...; `div_by<8>` of the stride would mend it
    64 and 2         elements of its rows are not known to lie side by side
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import func, memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, NoneAttr, TensorType, i64
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.analysis.memory.tma_descriptors import window_of
from tileas_xdsl.analysis.values.integer_bounds import is_never_negative
from tileas_xdsl.analysis.values.launches.array_slices import ArraySlice, array_slice, map_problem
from tileas_xdsl.analysis.values.launches.pointer_base_arrays import (
    array_of,
    promised_divisor,
    promised_row_divisor,
    stated_divisor,
    without_promises,
)
from tileas_xdsl.analysis.values.listed_arrays import is_of_list, listed_array
from tileas_xdsl.dialects.memoized_walks import memoized_walk
from tileas_xdsl.dialects.nv_tileaa.base import Array, as_array
from tileas_xdsl.dialects.nv_tileaa.memory.tokens import JoinMemTokenOp
from tileas_xdsl.dialects.nv_tileaa.memory.views import MakeMemrefOp, strides_of
from tileas_xdsl.dialects.nv_tileas.control import GridDependencyOp
from tileas_xdsl.dialects.nv_tileas.element_names import element_name
from tileas_xdsl.dialects.nv_tileas.enums import ACQUIRES, MemScope, MemSemantic
from tileas_xdsl.dialects.nv_tileas.memory.atomics import PointedAtomicOp
from tileas_xdsl.dialects.nv_tileas.memory.atoms import is_zero
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadOp, StoreOp
from tileas_xdsl.dialects.nv_tileas.memory.ordering_checks import TMA_REDUCED
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledAtomicRmwOp, TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.pipelines.token_chain import inflows
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import CreateNoneOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import ROWS_OF_AN_INSTRUCTION, bits_of
from tileas_xdsl.target.tma.tensor_map import tensor_map_element
from tileas_xdsl.target.tma.tensor_map_rules import BOX_LIMIT
from tileas_xdsl.threads.smem.smem_layout import SPANS
from tileas_xdsl.transforms.choose_tma.store_chains import (
    Written,
    after_others,
    chained_stores,
    commute,
)
from tileas_xdsl.transforms.tma_to_async.global_arrays import offset_problem

ALIGNMENT = 16
"""Bytes that arrays, rows and boxes' rows are multiples of."""

MAX_TENSOR_MAP_RANK = 5


def load_problem(op: TiledLoadOp) -> str | None:
    """Return why TMA cannot do a load, None if it can."""
    if op.token is not None and not _comes_behind_claims(op.token, set()):
        return after_others(op.token)
    if op.mask is not None:
        return "it is masked, and TMA moves whole boxes"
    if not is_zero(op.padding_value):
        return f"it is padded with {op.padding_value}, and TMA with zeros"
    return _problem(op)


def rows_problem(op: LoadOp | StoreOp, view: SSAValue) -> str | None:
    """Return why TMA cannot gather or scatter the rows that an access through pointers moves."""
    if op.mem_semantic is not None and op.mem_semantic.data is not MemSemantic.WEAK:
        return f"it is {op.mem_semantic.data.value}, and copies of TMA are weak"
    if op.token is not None and not _depends_on_nothing(op.token):
        return after_others(op.token)
    if isinstance(op, LoadOp) and not is_zero(op.padding_value):
        return f"it is padded with {op.padding_value}, and TMA with zeros"
    if isinstance(op, StoreOp) and op.out_token is not None and any(op.out_token.uses):
        return "other accesses to memory come after it"
    if not isinstance(op.parent_op(), func.FuncOp):
        return "it is in a loop or branch, where threads copy rows ahead"
    type_ = op.result.type if isinstance(op, LoadOp) else op.value.type
    rows = (shape_of(type_) or (0,))[0]
    if rows % ROWS_OF_AN_INSTRUCTION:
        return f"it has {rows} rows, no multiple of {ROWS_OF_AN_INSTRUCTION}"
    end = _end_problem(view) if isinstance(op, StoreOp) else None
    return _tile_problem(type_) or array_problem(view) or end


def store_problem(op: Written) -> str | None:
    """Return why TMA cannot do a store; stores that tokens chain go by TMA together or not."""
    chain = chained_stores(op)
    if isinstance(chain, str):
        return chain
    if any(isinstance(one, TiledAtomicRmwOp) for one in chain) and not commute(chain):
        return "tokens order it among updates of another mode, or stores"
    if (problem := _written_problem(op)) is not None:
        return problem
    others = (_written_problem(other) for other in chain if other is not op)
    problem = next((one for one in others if one is not None), None)
    return (
        None if problem is None else f"a store that tokens order with it is not by TMA: {problem}"
    )


def _written_problem(op: Written) -> str | None:
    """Return why TMA cannot write a tile, whatever tokens order it with.

    A write that begins at a negative coordinate is an illegal instruction on an H200; of a tile
    that offsets place there may be elements in the array, of one that is counted in tiles not.
    """
    if problem := _problem(op) or _end_problem(op.view):
        return problem
    if all(map(is_never_negative, op.offsets)):
        return None
    return "it may begin in front of its array, where TMA writes nothing"


def _problem(op: TiledLoadOp | Written) -> str | None:
    if op.allow_tma is not None and not op.allow_tma.value.data:
        return "allow_tma is false"
    problem = _update_problem(op) if isinstance(op, TiledAtomicRmwOp) else _copy_problem(op)
    if problem is not None:
        return problem
    if not _is_uniform(op):
        return "it is in a region of which it is not known how often it runs"
    is_load = isinstance(op, TiledLoadOp)
    if (part := array_slice(array_of(op.view))) is not None:
        tile = op.result.type if is_load else op.value.type
        return _slice_problem(op, part) or _tile_problem(tile)
    if problem := offset_problem(op.offsets, element_of(op.view.type)):
        return f"it {problem}"
    return _tile_problem(op.result.type if is_load else op.value.type) or array_problem(op.view)


def _copy_problem(op: TiledLoadOp | TiledStoreOp) -> str | None:
    if op.mem_semantic is not None and op.mem_semantic.data is not MemSemantic.WEAK:
        return f"it is {op.mem_semantic.data.value}, and copies of TMA are weak"
    return None


def _update_problem(op: TiledAtomicRmwOp) -> str | None:
    """Reductions of TMA are relaxed, seen by the GPU (PTX ISA, cp.reduce.async.bulk.tensor)."""
    element, mode = element_of(op.value.type), op.rmw_mode.data
    if any(op.result.uses):
        return "what was there before is used, and TMA does not give it"
    if element not in TMA_REDUCED.get(mode, ()):
        return f"TMA does not reduce {element} by '{mode.value}'"
    semantic = MemSemantic.RELAXED if op.mem_semantic is None else op.mem_semantic.data
    if semantic not in (MemSemantic.WEAK, MemSemantic.RELAXED):
        return f"it is {semantic.value}, and reductions of TMA are relaxed"
    if op.mem_scope is not None and op.mem_scope.data is MemScope.SYS:
        return "its scope is sys, and reductions of TMA are of scope gpu"
    return None


def _is_uniform(op: Operation) -> bool:
    """Whether all threads of a block reach an operation together, in every iteration."""
    parent = op.parent_op()
    while isinstance(parent, scf.ForOp | scf.IfOp | scf.WhileOp):
        parent = parent.parent_op()
    return isinstance(parent, func.FuncOp)


@memoized_walk
def _depends_on_nothing(token: SSAValue) -> bool:
    """Whether a token orders its operation behind nothing but the preceding grids.

    `griddepcontrol.wait` makes their writes visible to the async proxy too.
    """
    made = token.owner
    if isinstance(made, GridDependencyOp):
        return made.token is None or _depends_on_nothing(made.token)
    if isinstance(made, JoinMemTokenOp):
        return all(_depends_on_nothing(value) for value in made.operands)
    return isinstance(made, CreateNoneOp)


def _comes_behind_claims(token: SSAValue, seen: set[SSAValue]) -> bool:
    """Whether a token orders its operation behind nothing but numbers that a block acquires.

    The threads that learn of them fence (`threads/gmem/memory_order.py`).
    """
    if token in seen or _depends_on_nothing(token):
        return True
    seen.add(token)
    made = token.owner
    if isinstance(made, JoinMemTokenOp):
        return all(_comes_behind_claims(value, seen) for value in made.operands)
    if isinstance(made, PointedAtomicOp):
        semantic = made.mem_semantic
        is_number = not isinstance(made.value.type, TensorType)
        return is_number and semantic is not None and semantic.data in ACQUIRES
    flows = inflows(token)
    return flows is not None and all(_comes_behind_claims(value, seen) for value in flows)


def _tile_problem(type_: Attribute) -> str | None:
    shape, element = shape_of(type_) or (), element_of(type_)
    bits = bits_of(element)
    if not shape or len(shape) > MAX_TENSOR_MAP_RANK:
        return f"its tile has {len(shape)} dimensions, and tensor maps 1 to {MAX_TENSOR_MAP_RANK}"
    longest = max((*shape[:-1], _panel(shape[-1], bits)))
    if longest > BOX_LIMIT:
        return f"an extent of its tile is {longest}, and of boxes at most {BOX_LIMIT}"
    if element is None or tensor_map_element(element_name(element), bits) is None or bits % 8:
        return f"tensor maps have no elements {element}"
    if shape[-1] * bits % (8 * ALIGNMENT):
        return f"rows of its tile have {shape[-1] * bits // 8} bytes, no multiple of {ALIGNMENT}"
    return None


def _panel(columns: int, bits: int) -> int:
    """Return the columns of a panel: the span of the widest swizzle, if it divides a row."""
    widest = SPANS[0][1] * 8 // bits if bits else columns
    return widest if columns % widest == 0 else columns


def array_problem(view: SSAValue) -> str | None:
    """Return what a launch does not know of the array when it encodes a tensor map."""
    array = array_of(view)
    if (listed := listed_array(array)) is not None:
        return _made_problem(listed.made)
    window = window_of(array)
    if window is None or not window.is_whole:
        return "address, extents and strides of its array are not all arguments"
    if window.pointed is None:
        return _argument_problem(array, window.type)
    made = without_promises(array).owner
    if isinstance(made, memref.ReinterpretCastOp):
        return _argument_problem(made.source, window.type)
    assert isinstance(made, MakeMemrefOp)
    return _made_problem(made)


def _made_problem(made: MakeMemrefOp) -> str | None:
    """The same for an array that a kernel makes of a pointer, extents and strides."""
    if (problem := _alignment_problem(made.pointer, 1, "its array begins at")) is not None:
        return problem
    axes = range(made.array.get_num_dims())
    extents = [made.extent(axis) for axis in axes]
    if any(isinstance(extent, SSAValue) and extent.type == i64 for extent in extents):
        return "its extents have 64 bits, and coordinates of TMA have 32"
    return _strides_problem(
        [made.stride(axis) for axis in axes], bits_of(made.array.element_type) // 8
    )


def _slice_problem(op: TiledLoadOp | Written, part: ArraySlice) -> str | None:
    """Return why no map describes all slices of an array (`target.tma.array_slices`)."""
    if (problem := map_problem(part)) is not None:
        return f"its array is a slice {problem}"
    if op.offsets:
        return "it begins between tiles of a slice, and may do so before its first row"
    if (problem := _alignment_problem(part.pointer, 1, "its array begins at")) is not None:
        return problem
    bytes_ = bits_of(part.whole.type.element_type) // 8
    strides = [part.made.stride(axis) for axis in range(len(part.whole.sizes))]
    return _strides_problem(strides, bytes_)


def _argument_problem(array: SSAValue, type_: Array) -> str | None:
    """The same for an array that is itself an argument: its type has the strides."""
    if (problem := _alignment_problem(array, 1, "its array begins at")) is not None:
        return problem
    return _strides_problem(_strides(array, type_), bits_of(type_.element_type) // 8)


def _strides(array: SSAValue, type_: Array) -> Sequence[int]:
    """Return strides in elements; for a dynamic one, the largest divisor that is guaranteed."""
    return [
        _promised_stride(array, type_, axis) if stride == DYNAMIC_INDEX else stride
        for axis, stride in enumerate(strides_of(type_))
    ]


def _promised_stride(array: SSAValue, type_: Array, axis: int) -> int:
    return max(promised_row_divisor(array, axis) * 8 // bits_of(type_.element_type), 1)


def _end_problem(view: SSAValue) -> str | None:
    """Return why a store could write behind the end of a row.

    TMA stores write whole 16-byte units: measured on an H200, bytes behind the last column of an
    array whose rows are no multiple of 16 bytes are overwritten.
    """
    array = array_of(view)
    made, type_ = without_promises(array).owner, as_array(array)
    size, last = bits_of(type_.element_type) // 8, type_.get_num_dims() - 1
    extent = type_.get_shape()[last]
    if isinstance(made, MakeMemrefOp):
        return _alignment_problem(made.extent(last), size, "its rows have")
    if extent == DYNAMIC_INDEX:
        is_dense = last > 0 and isinstance(type_.layout, NoneAttr)
        extent = _promised_stride(array, type_, last - 1) if is_dense else 1
    return _alignment_problem(extent, size, "its rows have")


def _strides_problem(strides: Sequence[SSAValue | int], size: int) -> str | None:
    *outer, inner = strides
    if inner != 1:
        return "elements of its rows are not known to lie side by side"
    if any(isinstance(stride, int) and stride <= 0 for stride in outer):
        return "its rows do not go upwards in memory"
    found = (_alignment_problem(stride, size, "its rows are apart by") for stride in outer)
    return next((problem for problem in found if problem is not None), None)


def _alignment_problem(value: SSAValue | int, size: int, what: str) -> str | None:
    """Return why a value in elements of `size` bytes is not a multiple of 16 bytes."""
    known = stated_divisor(value) if is_of_list(value) else promised_divisor(value)
    if (divisor := known * size) % ALIGNMENT == 0:
        return None
    return f"{what} multiples of {divisor} bytes as far as is known, not of {ALIGNMENT}"
