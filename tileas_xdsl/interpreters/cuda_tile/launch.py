"""Evaluate a Tile IR kernel: bind arguments, run the blocks of the grid one after another.

This is the oracle above all lowering: it executes the Tile IR of a kernel by the specification, on
numpy, knows no other level, and shares no semantics with the tile interpreter. Blocks run in
order, x fastest, each to its end, so that a kernel which waits for a later block does not
terminate (`MAX_ITERATIONS`); what Tile IR leaves undefined is an `UndefinedError` at the operation.

    evaluate(module, [a, b, c], grid=(4, 4)).arrays     the arguments after the run, copies

Addresses are in bits, since Tile IR has elements of 4 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cuda_tile.structure.module import EntryOp, GlobalOp
from tileas_xdsl.dialects.cuda_tile.structure.module import ModuleOp as TileModuleOp
from tileas_xdsl.dialects.cuda_tile.tiles.constants import Dense
from tileas_xdsl.dialects.cuda_tile.types.scalars import is_integer
from tileas_xdsl.dialects.cuda_tile.types.tile_types import PtrType, element_of
from tileas_xdsl.interpreters.cuda_tile.block import Block
from tileas_xdsl.interpreters.cuda_tile.execution import run_region
from tileas_xdsl.interpreters.cuda_tile.faults import UndefinedError, undefined
from tileas_xdsl.interpreters.cuda_tile.memory import Bound, Memory, bind
from tileas_xdsl.interpreters.cuda_tile.numerics.conversions import literal, memory_bytes
from tileas_xdsl.interpreters.cuda_tile.numerics.elements import (
    Array,
    dtype_of,
    element_of_dtype,
    width_of,
    word_of,
)
from tileas_xdsl.interpreters.cuda_tile.numerics.integers import wrap
from tileas_xdsl.layout.integers import three_extents

Grid: TypeAlias = tuple[int, int, int]
Progress: TypeAlias = Callable[[int, int], None]
"""Called with the blocks done and all blocks."""


@dataclass(frozen=True)
class ArrayTable:
    """A list of arrays as an argument: a row of 64-bit words for each, the first its address."""

    arrays: Sequence[Array]
    words: Array
    """Row by row, with a placeholder for the address."""


@dataclass(frozen=True)
class Evaluation:
    """The results of an evaluation."""

    arrays: Sequence[Any]
    """The arguments after the run; of a table, its arrays."""
    operations: int
    blocks: int
    printed: str


def evaluate(
    module: ModuleOp,
    args: Sequence[Any],
    *,
    kernel: str | None = None,
    grid: int | Sequence[int] = 1,
    progress: Progress | None = None,
) -> Evaluation:
    """Run a kernel of a Tile IR module on arrays and scalars, which are not modified.

    A pointer takes an array or a table of arrays, a number a scalar.  Arrays that share memory keep
    sharing it.  Raises `UndefinedError` for what Tile IR leaves undefined and for arguments that do
    not fit.
    """
    entry = find_entry(module, kernel)
    return _Launch(module, entry, args, _grid_of(entry, grid)).run(progress)


def entries_of(module: ModuleOp) -> Sequence[EntryOp]:
    """Return the kernels of a Tile IR module."""
    return [op for op in module.walk() if isinstance(op, EntryOp)]


def find_entry(module: ModuleOp, name: str | None) -> EntryOp:
    """Return the kernel of this name, or the only one; the error otherwise lists them."""
    kernels = entries_of(module)
    found = [kernel for kernel in kernels if name in (None, kernel.sym_name.data)]
    if len(found) == 1:
        return found[0]
    names = ", ".join(f"@{kernel.sym_name.data}" for kernel in kernels) or "none"
    wanted = "one kernel, say which one" if name is None else f"a kernel @{name}"
    raise undefined(module, f"is to have {wanted}; it has {names}")


def _grid_of(entry: EntryOp, grid: int | Sequence[int]) -> Grid:
    if (extents := three_extents(grid)) is None:
        raise undefined(entry, f"has a grid of one to three extents of at least 1, not {grid!r}")
    return extents


class _Launch:
    """A kernel, its arguments in memory, and its grid."""

    def __init__(self, module: ModuleOp, entry: EntryOp, args: Sequence[Any], grid: Grid) -> None:
        self.entry, self.grid = entry, grid
        self.memory = Memory()
        self.globals = {op.sym_name.data: _allocate(self.memory, op) for op in _globals_of(module)}
        self.bound, self.values = _bound(self.memory, entry, args)
        self.args = args
        self.printed: list[str] = []

    def run(self, progress: Progress | None) -> Evaluation:
        """Run all blocks, x fastest."""
        x, y, z = self.grid
        operations = done = 0
        for k in range(z):
            for j in range(y):
                for i in range(x):
                    operations += self._run_block((i, j, k))
                    done += 1
                    if progress is not None:
                        progress(done, x * y * z)
        arrays = [self._result(n, value) for n, value in enumerate(self.args)]
        return Evaluation(arrays, operations, done, "".join(self.printed))

    def _result(self, number: int, value: Any) -> Any:
        if isinstance(value, ArrayTable):
            return [self.bound[number, n].result() for n in range(len(value.arrays))]
        return self.bound[number, 0].result() if (number, 0) in self.bound else value

    def _run_block(self, index: Grid) -> int:
        block = Block(self.memory, self.globals, index, self.grid, self.printed)
        try:
            with np.errstate(all="ignore"):  # infinities and NaN are numbers like others
                run_region(block, self.entry.body, self.values)
        except UndefinedError as error:
            error.printed = "".join(self.printed)
            raise
        return block.operations


def _globals_of(module: ModuleOp) -> Sequence[GlobalOp]:
    inside = (op for op in module.walk() if isinstance(op, TileModuleOp))
    return [op for each in inside for op in each.body.block.ops if isinstance(op, GlobalOp)]


def _allocate(memory: Memory, op: GlobalOp) -> int:
    """Allocate a global and return its address in bytes."""
    value = cast("Dense", op.value)
    element: Attribute = value.get_element_type()
    (count,) = value.get_shape()
    elements = literal(value, element)
    elements = np.broadcast_to(elements, (count,)) if elements.size == 1 else elements
    alignment = 1 if op.alignment is None else op.alignment.value.data
    data = memory_bytes(elements, element).copy()
    return memory.allocate(f"@{op.sym_name.data}", data, alignment).address


def _bound(
    memory: Memory, entry: EntryOp, args: Sequence[Any]
) -> tuple[dict[tuple[int, int], Bound], Sequence[Array]]:
    """Return the arrays by argument and index in its table, and the values of the parameters."""
    parameters = entry.body.block.args
    if len(parameters) != len(args):
        raise undefined(entry, f"takes {len(parameters)} arguments, but got {len(args)}")
    arrays: dict[tuple[int, int], tuple[str, Array, Attribute]] = {}
    for n, (parameter, value) in enumerate(zip(parameters, args, strict=True)):
        element, name = element_of(parameter.type), f"%{parameter.name_hint or n}"
        if isinstance(value, ArrayTable):
            for index, array in enumerate(value.arrays):
                held = element_of_dtype(array.dtype)
                arrays[n, index] = f"{name}[{index}]", _array(entry, n, held, array), held
        elif isinstance(element, PtrType):
            arrays[n, 0] = name, _array(entry, n, element.pointee, value), element.pointee
    bound = dict(zip(arrays, bind(memory, list(arrays.values())), strict=True))
    values: list[Array] = []
    for n, parameter in enumerate(parameters):
        if isinstance(args[n], ArrayTable):
            values.append(_table(memory, args[n], [bound[key] for key in bound if key[0] == n]))
        elif (n, 0) in bound:
            values.append(bound[n, 0].address)
        else:
            values.append(_scalar(entry, n, parameter.type, args[n]))
    return bound, values


def _table(memory: Memory, table: ArrayTable, arrays: Sequence[Bound]) -> Array:
    """Allocate a table with the addresses of its arrays and return its own address in bits."""
    words = table.words.astype(np.int64)
    words[:, 0] = [int(bound.address) // 8 for bound in arrays]
    region = memory.allocate("the table of a list", words.reshape(-1).view(np.uint8))
    return np.asarray(region.address * 8, np.uint64)


def _array(entry: EntryOp, number: int, element: Attribute, value: Any) -> Array:
    """Return an array argument in its pointer's element type; unsigned ones are reinterpreted."""
    if not isinstance(value, np.ndarray):
        raise undefined(entry, f"takes an array as argument {number}, not {value!r}")
    array = cast("Array", value)
    array = array if array.flags.c_contiguous else np.ascontiguousarray(array)
    wanted = dtype_of(element)
    if array.dtype.kind == "u" and wanted.kind == "i":
        array = array.view(f"i{array.itemsize}")
    if array.dtype != wanted:
        text = f"takes an array of {wanted} as argument {number}, not of {array.dtype}"
        raise undefined(entry, text)
    return array


def _scalar(entry: EntryOp, number: int, type_: Attribute, value: Any) -> Array:
    """Return a scalar argument in the type of its parameter."""
    element = element_of(type_)
    if np.ndim(value):
        raise undefined(entry, f"takes a {word_of(type_)} as argument {number}, not an array")
    if not is_integer(element):
        return np.asarray(value).astype(dtype_of(element))
    width = width_of(type_)
    if int(value) != value or not -(1 << (width - 1)) <= value < 1 << width:
        raise undefined(entry, f"takes a {word_of(type_)} as argument {number}, not {value!r}")
    return wrap(np.asarray(int(value), object), width)
