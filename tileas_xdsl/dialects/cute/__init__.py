"""CuTe: layouts, views of memory and atoms as values, target-neutral; and fragments of one thread.

All that is known before run time stands in the types, `!cute.layout<"(?,64):(64,1)">`, and a value
carries the numbers that only run time knows.  What an operation means is said once, on symbolic
numbers with the layout package; its result type and its code follow from that.

| folder | contents |
|---|---|
| `base` | what every operation builds on: inference, symbolic values, checks of operands |
| `types` | pointers, layouts, tuples, views, tiled atoms, integers with a known divisor |
| `layout_algebra` | `make_int_tuple`, the hub; sizes, CuTe's algebra, divides, products |
| `memory` | pointers, views, their partitions among blocks and threads, globals |
| `registers` | what one thread holds of a tile, `vector<NxT>` |
| `atom` | atoms by the interface of their types, calls, tiled copies and products |

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

Operations of layouts are built by `base.operation.built(SizeOp, [layout], mode=integers([0]))`.
"""

from tileas_xdsl.dialects.cute.memory.globals import *
from tileas_xdsl.dialects.cute.memory.pointers import *
from tileas_xdsl.dialects.cute.registers.elementwise import *
from tileas_xdsl.dialects.cute.registers.fragments import *
from tileas_xdsl.dialects.cute.types.address_spaces import *
from tileas_xdsl.dialects.cute.types.pointers import *
from tileas_xdsl.dialects.registry import dialect_of

Cute = dialect_of(__name__, "cute")
