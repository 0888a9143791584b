"""Lowered values: the registers, memory locations or scalars that a value of the IR becomes.

Control flow carries the SSA values that a lowered value consists of (`parts`), and rebuilds the
value from the results (`of`).

    value of the IR                          what it becomes
    %n : i32                                 Scalar(%n)
    dense<0.0> : tensor<64x64xf32>           Splat((64, 64), f32, 0.0): no registers
    tensor<64x64xf32>, of wgmma              RegisterTile(layout, f32, (%v,)), %v : vector<32xf32>
    tensor<64x64xf16, smem>                  SharedTile: a byte offset and a swizzled layout
    tensor<64x64xf32, tmem>                  TmemTile: columns of tensor memory
    memref<?x?xf16>                          GlobalView: pointer, extents and strides
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import TypeAlias

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, i64
from xdsl.ir import Attribute, Block, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.dialects.nv_tileas.memory.tiled import AsyncTiledLoadOp
from tileas_xdsl.dialects.nv_tileas.tma.tensor_map_recipes import TensorMapRecipe
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.threads.codegen.shared_allocations import KeptLine, OwnLine
from tileas_xdsl.threads.pipeline.stage_consumers import Readers, StageReader
from tileas_xdsl.threads.pipeline.stage_proxies import StageProxies
from tileas_xdsl.threads.smem.smem_layout import SharedLayout
from tileas_xdsl.threads.tmem.tmem_layout import TmemColumns


def held_as(type_: Attribute) -> Attribute:
    """The type of a value in registers: pointers are numbers there."""
    return i64 if isinstance(type_, PtrType) else type_


@dataclass(frozen=True)
class Scalar:
    """A scalar value, uniform across the agent or one per thread."""

    value: SSAValue

    @property
    def parts(self) -> Sequence[SSAValue]:
        """The value itself."""
        return (self.value,)

    def of(self, parts: Sequence[SSAValue]) -> Scalar:
        """Return the same kind of value from other parts."""
        return Scalar(parts[0])


@dataclass(frozen=True)
class Splat:
    """A tile of one repeated element, materialised in registers where it is used."""

    shape: tuple[int, ...]
    element: Attribute
    constant: Attribute | SSAValue
    """A number, or a scalar of the program."""


@dataclass(frozen=True)
class Unset:
    """An uninitialised register tile; the first copy into it defines its registers."""

    shape: tuple[int, ...]
    element: Attribute


@dataclass(frozen=True)
class RegisterTile:
    """A tile in registers: its register layout, and the SSA vectors of a thread."""

    layout: RegisterLayout
    element: Attribute
    parts: tuple[SSAValue, ...]

    def of(self, parts: Sequence[SSAValue]) -> RegisterTile:
        """Return the same kind of tile in other registers."""
        return replace(self, parts=tuple(parts))


@dataclass(frozen=True)
class LateSums:
    """The accumulator of a dot whose last wgmma group may still be in flight across iterations."""

    sums: RegisterTile
    product: tuple[SSAValue, ...] = ()
    """Promoted FP8 sums: the registers of the group in flight, to be added to the end of `sums`.

    Without promotion wgmma adds to `sums` itself, and this is empty."""

    @property
    def parts(self) -> Sequence[SSAValue]:
        """All registers."""
        return (*self.sums.parts, *self.product)

    def of(self, parts: Sequence[SSAValue]) -> LateSums:
        """Return the same kind of sums in other registers."""
        count = len(self.sums.parts)
        return LateSums(self.sums.of(parts[:count]), tuple(parts[count:]))


@dataclass(frozen=True)
class SharedTile:
    """A tile in shared memory, or a range of its rows."""

    pointer: SSAValue
    """To the first byte of the tile that `layout` describes; the window may begin later."""
    layout: SharedLayout
    element: Attribute
    first_row: int = 0
    rows: int = 0
    """Rows of the window; 0 for all."""
    is_in_order_of_sums: bool = False
    """Whether the rows of a transposed tile are permuted as accumulator registers hold them."""

    @property
    def height(self) -> int:
        """Rows of the window."""
        return self.rows or self.layout.rows

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the window."""
        shape = self.layout.shape
        return (*shape[:-2], self.height, self.layout.columns) if self.rows else shape


@dataclass
class PendingTile:
    """A shared-memory tile that is allocated at its first use."""

    layout: SharedLayout
    element: Attribute
    name: str
    offset: int | None = None
    """Byte offset from the start of shared memory; None before the first use."""
    visible_to: int | None = None
    """The last agent that wrote it, once its threads have synchronised after the write."""
    is_free_in: Block | None = None
    """The block of code in which a barrier follows its last read, so that it may be written."""
    is_in_order_of_sums: bool = False
    """Whether the rows of a transposed tile are permuted as accumulator registers hold them."""
    places: int = 1
    """Copies of the tile, contiguous in memory: one is written while another is read."""
    place: SSAValue | None = None
    """Index of the copy that was written last; None where there is one."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the tile."""
        return self.layout.shape

    @property
    def bytes(self) -> int:
        """Bytes of all copies."""
        return self.places * self.layout.bytes


ARRAY_ALIGNMENT = 16
"""Bytes by which arrays that a kernel takes are aligned: the widest access of a thread."""


@dataclass(frozen=True)
class GlobalView:
    """A view of an array in global memory that begins at the coordinates `starts`."""

    pointer: SSAValue
    element: Attribute
    extents: tuple[SSAValue | int, ...]
    strides: tuple[SSAValue | int, ...]
    """In elements."""
    starts: tuple[SSAValue | int, ...]
    shape: tuple[int, ...] = ()
    """Shape of the tile that the view selects; empty for the whole array."""
    alignment: int = ARRAY_ALIGNMENT
    """Bytes by which the address of the array is known to be aligned."""


@dataclass(frozen=True)
class SliceRows:
    """The rows of a slice of an array, along one dimension."""

    axis: int
    start: SSAValue
    extent: SSAValue


@dataclass(frozen=True)
class Descriptor:
    """A TMA descriptor: a hidden argument of the kernel."""

    argument: SSAValue
    recipe: TensorMapRecipe
    rows: SliceRows | None = None
    """The slice of the array that TMA moves; None for all of it."""


@dataclass(frozen=True)
class StageIndex:
    """A pipeline iterator: the stage, and the parity of its phase."""

    stage: SSAValue
    phase: SSAValue

    @property
    def parts(self) -> Sequence[SSAValue]:
        """Stage, then parity."""
        return (self.stage, self.phase)

    def of(self, parts: Sequence[SSAValue]) -> StageIndex:
        """Return the same kind of value from other parts."""
        return StageIndex(parts[0], parts[1])


@dataclass(frozen=True)
class StagedTile:
    """One tile of a pipeline stage: its byte offset in the stage, layout and element type."""

    offset: int
    layout: SharedLayout
    element: Attribute


@dataclass
class Stages:
    """A pipeline: its slots and its two arrays of barriers."""

    name: str
    count: int
    offset: int
    """Of the first slot in shared memory."""
    slots: SSAValue
    """Pointer to the bytes of the first slot."""
    slot_bytes: int
    tiles: Sequence[StagedTile]
    full: SSAValue
    empty: SSAValue
    """Pointers to the barriers of the first stage."""
    group: int = 1
    """Blocks that share loads."""
    readers: Readers = field(default_factory=dict[int, StageReader])
    """By the number of an agent, how it reads stages."""
    is_copied_to: bool = False
    """Whether each thread of the producer arrives when its copies do (`cp.async`)."""
    proxies: StageProxies = StageProxies()

    @property
    def is_of_pair(self) -> bool:
        """Whether two blocks fill stages for products of both."""
        return any(reader.by_pair for reader in self.readers.values())


@dataclass(frozen=True)
class OrderToken:
    """A token, which has no value in threads: it orders operations, and may refer to a stage."""

    stages: Stages | None = None
    index: StageIndex | None = None
    """The stage that was acquired or waited for."""

    @property
    def parts(self) -> Sequence[SSAValue]:
        """The stage and its parity, or nothing."""
        return () if self.index is None else self.index.parts

    def of(self, parts: Sequence[SSAValue]) -> OrderToken:
        """Return the same kind of token, of another stage."""
        return self if self.index is None else OrderToken(self.stages, self.index.of(parts))


@dataclass(frozen=True)
class TmemTile:
    """An accumulator in tensor memory, or a range of its columns."""

    place: TmemColumns
    element: Attribute
    full: SSAValue
    """Whether an MMA has written the accumulator; if not it reads as zero."""
    shape: tuple[int, ...]
    column: SSAValue | int = 0
    """The first column, relative to the allocation."""
    halves: int = 1
    """Ranges of columns that stand below one another in its lanes (`analysis/memory`)."""

    @property
    def parts(self) -> Sequence[SSAValue]:
        """The flag `full`; the accumulator itself stays in tensor memory."""
        return (self.full,)

    def of(self, parts: Sequence[SSAValue]) -> TmemTile:
        """Return the same accumulator with another flag `full`."""
        return replace(self, full=parts[0])


@dataclass(frozen=True)
class DotToken:
    """MMAs in flight, and the registers or tensor memory of their accumulator."""

    fragment: RegisterTile | TmemTile
    kept: tuple[SSAValue, ...] = ()
    """Registers of A, which have to stay unchanged until the products are complete."""
    group: int | None = None
    """The ordinal of its wgmma group in the code of the kernel; None where that is not known."""

    @property
    def parts(self) -> Sequence[SSAValue]:
        """The registers."""
        return (*self.fragment.parts, *self.kept)

    def of(self, parts: Sequence[SSAValue]) -> DotToken:
        """Return the same kind of token for other registers, in other code."""
        count = len(self.fragment.parts)
        return DotToken(self.fragment.of(parts[:count]), tuple(parts[count:]))


@dataclass(frozen=True)
class LoadToken:
    """A tile being loaded; the first use of its registers waits for the load."""

    fragment: RegisterTile

    @property
    def parts(self) -> Sequence[SSAValue]:
        """The registers."""
        return self.fragment.parts

    def of(self, parts: Sequence[SSAValue]) -> LoadToken:
        """Return the same kind of token for other registers."""
        return LoadToken(self.fragment.of(parts))

    def delivered(self) -> RegisterTile:
        """Return the tile, whose first use waits."""
        return self.fragment


@dataclass(frozen=True)
class BegunLoad:
    """Global loads in flight to registers, and the code that makes a tile of their vectors."""

    finish: Callable[[], RegisterTile]

    def delivered(self) -> RegisterTile:
        """Wait for the vectors, and return the tile."""
        return self.finish()


@dataclass(frozen=True)
class LoadedLine:
    """A line, stored to shared memory at the wait for it (`gmem/rows/kept_lines.py`)."""

    finish: Callable[[], RegisterTile]
    line: KeptLine | OwnLine
    op: AsyncTiledLoadOp


@dataclass(frozen=True)
class KeptTile:
    """A tile that threads copy into shared memory, row-major, and read where they use it."""

    layout: RegisterLayout
    """Which thread copies which elements of the whole tile."""
    element: Attribute
    pointer: SSAValue
    """To the first element."""
    shape: tuple[int, ...]
    """Of the tile, or of columns of it."""
    is_private: bool = True
    """Whether each thread reads only elements that it has copied, so that no barrier is needed."""
    end: int | None = None
    """The first column that was not stored: all columns from it on are `padding`."""
    padding: FloatAttr | IntegerAttr | None = None
    """The value of padding elements; None for zero."""

    @property
    def parts(self) -> Sequence[SSAValue]:
        """The pointer: the tile itself stays in shared memory."""
        return (self.pointer,)

    def of(self, parts: Sequence[SSAValue]) -> KeptTile:
        """Return the same tile at another address."""
        return replace(self, pointer=parts[0])


@dataclass(frozen=True)
class AskedTileBlock:
    """The next tile block of a CTA, requested by an atomic counter; the id arrives later."""

    asked: SSAValue
    """The result of the atomic add, valid in the first thread."""
    first: SSAValue | None
    """Predicate of the first thread; None where it alone runs the code."""
    behind: SSAValue
    """Tile blocks that are assigned by CTA id; the counter numbers those after them."""
    count: SSAValue
    """Number of tile blocks of the grid."""
    extents: tuple[SSAValue, ...]
    """Of the grid."""

    @property
    def parts(self) -> Sequence[SSAValue]:
        """The result of the atomic add."""
        return (self.asked,)

    def of(self, parts: Sequence[SSAValue]) -> AskedTileBlock:
        """The tile block of another round."""
        return replace(self, asked=parts[0])


@dataclass(frozen=True)
class StoreToken:
    """Bulk stores in flight, committed by the elected thread of the agent."""

    elected: SSAValue | None
    """Predicate of the thread that committed them; None for stores of a previous iteration."""
    until_read: bool = False
    """Whether a wait ends once the source tiles have been read (`.read`), before the writes."""

    @property
    def parts(self) -> Sequence[SSAValue]:
        """Nothing: the same thread is elected each time."""
        return ()

    def of(self, parts: Sequence[SSAValue]) -> StoreToken:
        """The token of another round."""
        return StoreToken(None, self.until_read)


@dataclass(frozen=True)
class BulkToken:
    """A bulk load in flight with an mbarrier of its own."""

    barrier: int
    """Byte offset of the mbarrier in shared memory."""
    parity: SSAValue
    """Parity of the mbarrier phase that the load completes."""
    tile: PendingTile | None
    """The tile that it fills; None where it fills a part of one."""


Carried: TypeAlias = (
    Scalar
    | AskedTileBlock
    | RegisterTile
    | LateSums
    | StageIndex
    | OrderToken
    | DotToken
    | KeptTile
    | LoadToken
    | StoreToken
    | TmemTile
)
"""Lowered values that control flow can carry."""

Lowered: TypeAlias = (
    Carried
    | BegunLoad
    | Splat
    | SharedTile
    | PendingTile
    | GlobalView
    | Descriptor
    | Stages
    | LoadedLine
    | BulkToken
    | Unset
)
"""The lowered form of a value of a tile program."""


def flatten(values: Sequence[Lowered]) -> list[SSAValue]:
    """Return the SSA values that lowered values consist of, in order."""
    return [part for value in values for part in _carried(value).parts]


def unflatten(like: Sequence[Lowered], parts: Sequence[SSAValue]) -> list[Lowered]:
    """Return lowered values of the same kinds that consist of other SSA values."""
    result: list[Lowered] = []
    position = 0
    for value in like:
        carried = _carried(value)
        count = len(carried.parts)
        result.append(carried.of(parts[position : position + count]))
        position += count
    return result


def _carried(value: Lowered) -> Carried:
    assert isinstance(value, Carried), value
    return value
