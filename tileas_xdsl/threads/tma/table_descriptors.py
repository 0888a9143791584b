"""Tensor maps of the arrays of a list, which a launch writes behind the rows of its table.

    %a = make_memref (row %i of %list)              %p = %list + align(%n * 40) + 128 (%n k + %i)
    %d = make_tiled_tma_desc %a {of_list}     ->    %d = acquire_tma_desc %p

`k` counts the recipes of maps of one list (`target.tma.array_tables`).  What is in global memory is
acquired by those who copy (PTX ISA, `fence.proxy.tensormap`).
"""

from __future__ import annotations

from xdsl.dialects.builtin import i8

from tileas_xdsl.analysis.values.listed_arrays import ListedArray
from tileas_xdsl.dialects.cute_nvgpu import AcquireTmaDescOp
from tileas_xdsl.dialects.nv_tileas.tma.tensor_map_recipes import TensorMapRecipe
from tileas_xdsl.target.tma.array_tables import WORD
from tileas_xdsl.target.tma.tensor_map_bytes import SIZE
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import add, as_int64, divide, i64_constant, multiply
from tileas_xdsl.threads.codegen.lowered_values import Descriptor, GlobalView
from tileas_xdsl.threads.codegen.pointer_ops import advance, recast


def map_in_table(e: ThreadBuilder, listed: ListedArray, recipe: TensorMapRecipe) -> Descriptor:
    """Return the tensor map of an array of a list; its recipe becomes one of the list's."""
    table = e.get(listed.table.result)
    assert isinstance(table, GlobalView)
    before = [one for one in e.plan.recipes if one.is_of_list and one.argument == recipe.argument]
    e.plan.recipes.append(recipe)
    rows, size = table.extents[0], listed.words * WORD
    count = i64_constant(e, rows) if isinstance(rows, int) else as_int64(e, rows)
    row = as_int64(e, e.scalar(listed.row))
    units = divide(e, add(e, multiply(e, count, size), i64_constant(e, SIZE - 1)), SIZE)
    if before:
        units = add(e, units, multiply(e, count, len(before)))
    offset = multiply(e, add(e, units, row), SIZE)
    place = advance(e, recast(e, table.pointer, i8), offset, SIZE)
    return Descriptor(e.insert(AcquireTmaDescOp(place)).result, recipe)
