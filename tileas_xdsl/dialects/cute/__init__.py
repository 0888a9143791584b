"""CuTe: layouts, views of memory and atoms as values, target-neutral; and fragments of one thread.

All that is known before run time stands in the types, `!cute.layout<"(?,64):(64,1)">`, and a value
carries the numbers that only run time knows.  What an operation means is said once, on symbolic
numbers with the layout package; its result type and its code follow from that.

| file | operations |
|---|---|
| `tuples`, `parts`, `queries` | `make_int_tuple`, the hub; arithmetic, parts, sizes, coordinates |
| `layouts`, `algebra`, `tiling` | layouts, composed ones, CuTe's algebra, divides and products |
| `views`, `partitions`, `pointers` | views, iterators, accesses, parts of blocks and threads |
| `atoms`, `copies`, `tiled` | atoms by the interface of their types, calls, partitions |
| `refinements`, `printing` | divisors known and forgotten, fast division, printing |
| `fragments`, `maps`, `reductions` | what one thread holds of a tile, `vector<NxT>` |

| class | name | meaning |
|---|---|---|
| `PtrAddOp(ptr, offset, alignment=None)` | `cute.add_offset` | `offset` elements further on |
| `RecastPtrOp(ptr, element, alignment=None)` | `cute.recast_iter` | same address, another element |
| `PtrToIntOp(ptr)` | `cute.ptrtoint` | the address |
| `IntToPtrOp(address, type)` | `cute.inttoptr` | the pointer with an address |
| `LoadOp(ptr, result_type, pred=None, offset=0)` | `cute.ptr.load` | an element or a fragment |
| `StoreOp(value, ptr, pred=None, offset=0)` | `cute.ptr.store` | an element or a fragment |
| `MakeFragmentOp(parts)` | `cute.fragment.make` | elements and fragments in a row |
| `SliceFragmentOp(source, offset, size)` | `cute.fragment.slice` | consecutive elements |
| `SelectFragmentOp(mask, lhs, rhs)` | `cute.fragment.select` | one or the other element |
| `MapFragmentOp(inputs, types, body)` | `cute.fragment.map` | a body for every element |
| `UndefFragmentOp(type)` | `cute.fragment.undef` | registers that hold nothing yet |
| `AddressOfOp(symbol, type)` | `cute.address_of` | the pointer to a global of the module |
| `PrintTextOp(format, values=())` | `cute.print_text` | the thread prints text |

Operations of layouts are built by `operation.built(SizeOp, [layout], mode=integers([0]))`.
"""

from xdsl.ir import Dialect

from tileas_xdsl.dialects.cute import (
    algebra,
    atoms,
    copies,
    fragments,
    layout_types,
    layouts,
    maps,
    module,
    number_types,
    partitions,
    parts,
    pointers,
    printing,
    queries,
    reductions,
    refinements,
    tiled,
    tiled_types,
    tiling,
    tuple_types,
    tuples,
    view_types,
    views,
)
from tileas_xdsl.dialects.cute.fragments import (
    MakeFragmentOp,
    SelectFragmentOp,
    SliceFragmentOp,
    UndefFragmentOp,
)
from tileas_xdsl.dialects.cute.maps import MapFragmentOp, YieldFragmentOp
from tileas_xdsl.dialects.cute.module import AddressOfOp, PrintTextOp
from tileas_xdsl.dialects.cute.pointers import (
    IntToPtrOp,
    LoadOp,
    PtrAddOp,
    PtrToIntOp,
    RecastPtrOp,
    StoreOp,
    access_alignment,
    access_offset,
)
from tileas_xdsl.dialects.cute.spaces import AddressSpace, AddressSpaceAttr
from tileas_xdsl.dialects.cute.types import PtrType, SwizzleType

__all__ = [
    "AddressOfOp",
    "AddressSpace",
    "AddressSpaceAttr",
    "Cute",
    "IntToPtrOp",
    "LoadOp",
    "MakeFragmentOp",
    "MapFragmentOp",
    "PrintTextOp",
    "PtrAddOp",
    "PtrToIntOp",
    "PtrType",
    "RecastPtrOp",
    "SelectFragmentOp",
    "SliceFragmentOp",
    "StoreOp",
    "SwizzleType",
    "UndefFragmentOp",
    "YieldFragmentOp",
    "access_alignment",
    "access_offset",
]

Cute = Dialect(
    "cute",
    [
        op
        for family in (
            pointers, fragments, maps, module, tuples, queries, parts, layouts, algebra, tiling,
            partitions, views, refinements, reductions, atoms, copies, tiled,
            printing,
        )
        for op in family.OPERATIONS
    ],
    [
        AddressSpaceAttr,
        SwizzleType,
        PtrType,
        *tuple_types.TYPES,
        *tuple_types.ATTRIBUTES,
        *layout_types.TYPES,
        *layout_types.ATTRIBUTES,
        *view_types.TYPES,
        *number_types.TYPES,
        *tiled_types.TYPES,
    ],
)  # fmt: skip
