"""Arrays of a list: a row of a table has the address, the extents and the strides of each.

    %t = make_memref %list, sizes[%n] : memref<?x5xi64>             a parameter, and its length
    %w0 = tiled_load (view %t)[%row, 0] : tensor<1x1xi64>           and three more words
    %p = int_to_ptr (extract %w0);  %m, %k, %s = trunci (extract %w1), ..
    %a = make_memref %p, sizes[%m, %k], strides[%s] : memref<?x?xf16, strided<[?, 1]>>

    ListedArray(table=%t, row=%row)

Where launches write the tables (`ARRAYS_ARE_LISTED`), they write tensor maps of the arrays, too.
"""

from __future__ import annotations

from xdsl.dialects import arith, func, tensor
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from tileas_xdsl.analysis.values.launches.pointer_base_arrays import (
    array_of,
    is_parameter,
    without_promises,
)
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import constant_integer, enclosing
from tileas_xdsl.dialects.nv_tileaa.attributes import ARRAYS_ARE_LISTED
from tileas_xdsl.dialects.nv_tileaa.compute.conversions import IntToPtrOp
from tileas_xdsl.dialects.nv_tileaa.memory.views import MakeMemrefOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of


@dataclass(frozen=True)
class ListedArray:
    """An array of a list."""

    parameter: BlockArgument
    """The pointer to the table."""
    table: MakeMemrefOp
    row: SSAValue
    made: MakeMemrefOp
    """The array itself."""
    words: int
    """Of a row."""


def is_of_list(number: SSAValue | int) -> bool:
    """Whether a number is an address, an extent or a stride of an array of a list."""
    return not isinstance(number, int) and _is_listed(number.owner) and _word(number) is not None


def _is_listed(op: Operation | Block) -> bool:
    function = None if isinstance(op, Block) else enclosing(op, func.FuncOp)
    return function is not None and ARRAYS_ARE_LISTED in function.attributes


def listed_array(array: SSAValue) -> ListedArray | None:
    """Return what an array of a list is made of; None for any other array."""
    made = without_promises(array).owner
    if not isinstance(made, MakeMemrefOp) or not _is_listed(made):
        return None
    axes = range(made.array.get_num_dims())
    counts = [*map(made.extent, axes), *map(made.stride, axes)]
    words = [made.pointer, *(n for n in counts if isinstance(n, SSAValue))]
    places = [0, *(k for k, n in enumerate(counts, 1) if isinstance(n, SSAValue))]
    found = list(map(_word, words))
    if (first := found[0]) is None or found != [(*first[:2], place) for place in places]:
        return None
    table, row, _ = first
    return _in_table(table, row, made, 1 + len(counts))


def _in_table(array: SSAValue, row: SSAValue, made: MakeMemrefOp, words: int) -> ListedArray | None:
    """Return the array that has a row of another one, if that is a table of such rows."""
    table = array.owner
    if not isinstance(table, MakeMemrefOp) or table.array.get_num_dims() != 2:
        return None
    pointer = without_promises(table.pointer)
    is_table = (table.extent(1), table.stride(0), table.stride(1)) == (words, words, 1)
    if not is_table or not isinstance(pointer, BlockArgument) or not is_parameter(pointer):
        return None
    return ListedArray(pointer, table, row, made, words)


def _word(value: SSAValue) -> tuple[SSAValue, SSAValue, int] | None:
    """Return the array, the row and the column of which a value is a word, or what a word says."""
    value = without_promises(value)
    while isinstance(made := value.owner, IntToPtrOp | arith.TruncIOp):
        value = without_promises(made.operands[0])
    load = made.tensor.owner if isinstance(made, tensor.ExtractOp) else None
    if not isinstance(load, TiledLoadOp) or shape_of(load.result.type) != (1, 1) or load.offsets:
        return None
    row, column = load.coords
    place = constant_integer(column)
    return None if place is None else (array_of(load.view), row, place)
