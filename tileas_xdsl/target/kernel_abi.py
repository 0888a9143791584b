"""How a compiled kernel is called: its parameters in order, tensor maps, threads, shared memory.

The array parameters of the tile kernel become a pointer, the sizes and strides that its type leaves
open, and hidden tensor maps at the end.  `backend.ptx.abi` reads this off a lowered kernel; a
launch needs nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.integers import align_up, ceil_div
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.launches.bounded_rows import BoundedRows
from tileas_xdsl.target.launches.divided_sums import INTERPRETED_PARTS, DividedSums
from tileas_xdsl.target.launches.few_tile_blocks import FewTileBlocks
from tileas_xdsl.target.launches.persistent_launches import PersistentLaunches
from tileas_xdsl.target.launches.shared_loads import SharedLoads
from tileas_xdsl.target.launches.specializations import (
    ChooseSpecialization,
    Grid,
    LaunchPredicate,
    RowLengths,
    Specialization,
    chosen_count,
    chosen_lengths,
    chosen_loads,
)
from tileas_xdsl.target.launches.uneven_waves import UnevenWaves
from tileas_xdsl.target.launches.whole_tiles import WholeTiles
from tileas_xdsl.target.tma.array_slices import map_of_slices
from tileas_xdsl.target.tma.tensor_map import PixelBox, TensorMap

Array: TypeAlias = NDArray[Any]

TENSOR_MAP = "tensor map"
"""How the names of parameters begin that are tensor maps; their number follows."""

ARENA = "tma arena"
"""The parameter that points to the arena: tensor maps built on the device, memory of blocks."""

TRANSFER = "tile transfer"
"""The parameter that points to memory through which CTAs of a launch transfer tiles, and count tile
blocks: first `TRANSFER_ZEROS` bytes that are zeros before a launch and after it."""

TRANSFER_SLOTS, TRANSFER_FLAGS = 2048, 128
"""As many CTAs as transfer tiles, and bytes of the flags of each.  Fewer run at once: eight of 256
threads on each of 160 multiprocessors are 1,280."""

TILE_BLOCK_COUNTER = TRANSFER_SLOTS * TRANSFER_FLAGS
"""Where the word is that counts the tile blocks which CTAs have asked for, behind all flags."""

TRANSFER_ZEROS = TILE_BLOCK_COUNTER + TRANSFER_FLAGS

TRANSFER_BYTES = "tileas.transfer_bytes"
"""Attribute of a kernel whose CTAs transfer tiles: bytes of those of a CTA."""

TILE_BLOCK_CTAS = "tileas.tile_block_ctas"
"""Attribute of a kernel whose tile blocks are computed by several CTAs each: how many."""

PERSISTENT = "tileas.persistent"
"""Attribute of a kernel whose CTAs take one tile block after another."""

WAITS_FIRST = "tileas.waits_first"
"""Attribute of a kernel that waits for those before it in front of all accesses to memory."""

TILE_BLOCKS = "tile blocks"
"""How the names of parameters begin that count the tile blocks of a launch; their axis follows."""

PERSISTENT_LAUNCHES = "tileas.persistent_launches"
"""Attribute of a kernel that could be persistent, or is: the `PersistentLaunches` that gain."""

BOUNDED_ROWS, ROW_LENGTHS = "tileas.bounded_rows", "tileas.row_lengths"
"""Attributes of a kernel: the `BoundedRows` of launches, and the lengths of those it is for."""

WHOLE_TILES, FILLS_TILES = "tileas.whole_tiles", "tileas.fills_tiles"
"""Attributes of a kernel: the `WholeTiles` of launches, and that it is for those."""

UNEVEN_WAVES = "tileas.uneven_waves"
"""Attribute of a kernel whose CTAs can share tile blocks: the `UnevenWaves` of launches."""

FEW_TILE_BLOCKS = "tileas.few_tile_blocks"
"""Attribute of a kernel whose tile blocks CTAs can divide: the `FewTileBlocks` of launches."""

DIVIDED_SUMS, DIVIDED = "tileas.divided_sums", "tileas.divided"
"""Attributes of a kernel: the `DividedSums` of launches, and that it is for some of those."""

RUNS_AT_ONCE = "tileas.runs_at_once"
"""Attribute of a kernel for launches all of whose CTAs run at once, one on a multiprocessor."""

SHARED_LOADS, CLUSTERED = "tileas.shared_loads", "tileas.clustered"
"""Attributes of a kernel: the `SharedLoads` of launches, and that it is for some of those."""

LAUNCH_PREDICATES = (
    *(PERSISTENT_LAUNCHES, SHARED_LOADS, FEW_TILE_BLOCKS),
    *(UNEVEN_WAVES, BOUNDED_ROWS, DIVIDED_SUMS, WHOLE_TILES),
)
"""Attributes of a kernel with the predicates that select its specializations."""

INTERPRETED_TILE_BLOCKS = 3
"""Tile blocks of each CTA of a persistent kernel where no GPU says how many CTAs run at once."""

MAX_TILE_BLOCKS = (1 << 31) - (1 << 16)
"""Tile blocks of a persistent kernel: their number stays in 32 bits past the last one too."""

UNUSED_BYTES = 128
"""Memory that the tensor maps of empty arrays describe a granule of, aligned to as much."""

WRITTEN = UNUSED_BYTES // 2
"""Where in it the granule is that stores write: the other one is read, as zeros."""

GRANULE_BITS = 128
"""What TMA writes at once."""

ANY_ROWS = "tl.any_rows"
"""Attribute of a kernel for arrays whose rows, if run time knows them, begin anywhere."""

SCALAR = "scalar"
"""Prefix of a number that the launch passes; the index of its argument follows."""


@dataclass(frozen=True)
class Passed:
    """The number that a launch passes for an argument."""

    argument: int

    def __str__(self) -> str:
        return f"{SCALAR} {self.argument}"


Count: TypeAlias = int | Passed
"""Elements: a constant, or what a launch passes."""


@dataclass(frozen=True)
class Extents:
    """Sizes and strides, in elements and in the order of the dimensions."""

    sizes: tuple[Count, ...]
    strides: tuple[Count, ...]

    def of_launch(
        self, args: Sequence[Any] | Mapping[int, Any]
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Both as numbers, for the arguments of a launch."""
        known = [
            tuple(n if isinstance(n, int) else int(args[n.argument]) for n in counts)
            for counts in (self.sizes, self.strides)
        ]
        return known[0], known[1]


@dataclass(frozen=True)
class TensorMapRecipe:
    """How the host makes a tensor map of an array argument."""

    argument: int
    box: tuple[int, ...]
    """Innermost first, elements."""
    element: str
    """As tensor maps call it."""
    bits: int
    swizzle: str
    nan_fill: bool
    is_window: bool = False
    """Whether it begins elsewhere than its array: only host code makes such a map."""
    pixels: PixelBox | None = None
    extents: Extents | None = None
    """Of the array behind a pointer; None where the argument is the array."""
    slices: int | None = None
    """The dimension along which copies move slices of the array; None where they move all."""
    is_of_list: bool = False
    """Whether the argument is a list of arrays, each of which has such a map in its table."""
    is_written: bool = False
    """Whether tiles are stored by it, and none are loaded."""

    def is_of_nothing(self, args: Sequence[Any]) -> bool:
        """Whether the array is empty.  Its map describes 16 bytes: no map has an extent of 0.

        A launch gives `UNUSED_BYTES` that nothing else is in; what stores write there is not read.
        """
        if self.extents is None:
            return np.asarray(args[self.argument]).size == 0
        return 0 in self.extents.of_launch(args)[0]

    def described(self, args: Sequence[Any]) -> TensorMap:
        """The tensor map for the arguments of a launch, from address 0 on."""
        array = np.asarray(args[self.argument])
        if self.extents is None:
            return self.tensor_map(array)
        sizes, strides = self.extents.of_launch(args)
        return self.of_array(sizes, strides, 0)

    def tensor_map(self, array: Array, address: int = 0) -> TensorMap:
        """The tensor map of a row-major array at an address."""
        strides = [stride // array.dtype.itemsize for stride in array.strides]
        return self.of_array(array.shape, strides, address)

    def of_array(self, sizes: Sequence[int], strides: Sequence[int], address: int) -> TensorMap:
        """The tensor map of an array; sizes and strides count elements."""
        if 0 in sizes:
            # What TMA writes at once: less would be written past its end.
            granule = GRANULE_BITS // self.bits
            sizes, strides = (*(1 for _ in sizes[1:]), granule), (granule,) * len(strides)
            address += WRITTEN if self.is_written else 0
        found = TensorMap(
            self.element,
            address,
            tuple(reversed(sizes)),
            tuple(stride * self.bits // 8 for stride in reversed(strides[:-1])),
            self.box,
            swizzle=self.swizzle,
            nan_fill=self.nan_fill,
            pixels=self.pixels,
        )
        return found if self.slices is None else map_of_slices(found, len(sizes) - 1 - self.slices)


def persistent_ctas(
    grid: Grid,
    ctas: int,
    resident: int | None = None,
    most: int = MAX_TILE_BLOCKS,
    *,
    cluster: int,
) -> Grid:
    """The CTAs, all along x, that take the tile blocks of a grid, `ctas` of them each.

    They are the `resident` ones, or one tile block's for each, `most` at most.  Where it is not
    known how many run at once, each takes a few, so that interpreters loop.  They are whole
    clusters of so many CTAs.
    Raises `TargetError` for tile blocks that 32 bits do not number.
    """
    count = prod(grid)
    if count > MAX_TILE_BLOCKS // ctas:
        raise TargetError(
            f"a grid of {' x '.join(map(str, grid))} has {count} tile blocks; the CTAs of a "
            f"persistent kernel take up to {MAX_TILE_BLOCKS // ctas}: compile with persistent = off"
        )
    at_once = ceil_div(count, INTERPRETED_TILE_BLOCKS) if resident is None else resident // ctas
    at_once = max(min(at_once, most // max(cluster, ctas)), 1)
    return align_up(min(count, at_once) * ctas, max(cluster, ctas)), 1, 1


@dataclass(frozen=True)
class BoundTensorMap:
    """A tensor map that a launch passes, and the argument whose memory it describes."""

    argument: int
    tensor_map: TensorMap
    is_of_nothing: bool = False
    """Whether the array is empty, and the map describes an element of unused memory."""


@dataclass(frozen=True)
class KernelAbi:
    """What a launch must know of a compiled kernel."""

    name: str
    threads: int
    cluster: tuple[int, int, int]
    shared_bytes: int
    parameters: tuple[str, ...]
    tensor_maps: tuple[TensorMapRecipe, ...]
    arena_slots: int
    """How many slots of 128 bytes each block has in the arena."""
    shared_map: str
    """The shared-memory allocations, as text."""
    tile_block_ctas: int = 1
    """CTAs along x that compute one tile block together; a grid counts tile blocks."""
    is_persistent: bool = False
    """Whether a CTA takes tile blocks as far apart as there are CTAs."""
    persistent_launches: PersistentLaunches | None = None
    """The launches for which a persistent kernel is faster; None where there are none."""
    shared_loads: tuple[SharedLoads, ...] = ()
    """The launches for which clusters of tile blocks are faster, the best first."""
    transfer_bytes: int = 0
    """Bytes of the tiles that a CTA transfers to another one."""
    is_clustered: bool = False
    """Whether tile blocks beside each other are a cluster."""
    few_tile_blocks: tuple[FewTileBlocks, ...] = ()
    """The launches that have CTAs to spare for each tile block, the most first."""
    uneven_waves: UnevenWaves | None = None
    """The launches for which CTAs share tile blocks; None where they take whole ones."""
    waits_first: bool = False
    """Whether a launch may begin before the kernel in front of it on the stream has completed."""
    runs_at_once: bool = False
    """Whether all CTAs of its launches run at once, one on a multiprocessor."""
    bounded_rows: BoundedRows | None = None
    """The launches that have code for the length of their rows; None where there are none."""
    row_lengths: RowLengths | None = None
    """The least and the most elements of rows that the code is for; None for any."""
    divided_sums: DividedSums | None = None
    """The launches for which CTAs divide iterations; None where there are none."""
    is_divided: bool = False
    """Whether CTAs divide the iterations of each tile block."""
    whole_tiles: WholeTiles | None = None
    """The launches whose extents tiles divide; None where no code is for these alone."""
    fills_tiles: bool = False
    """Whether the code is for these alone."""

    @property
    def counts_tile_blocks(self) -> bool:
        """Whether a launch has other CTAs than its grid: as many as run at once, at most."""
        return self.is_persistent or self.is_divided

    @property
    def predicates(self) -> Sequence[LaunchPredicate]:
        """The predicates over launches that select a specialization."""
        single = (
            *(self.persistent_launches, self.uneven_waves),
            *(self.bounded_rows, self.divided_sums, self.whole_tiles),
        )
        known = (one for one in single if one is not None)
        return [*known, *self.shared_loads, *self.few_tile_blocks]

    @property
    def specialization(self) -> Specialization:
        """What this code is specialized for."""
        is_persistent = self.persistent_launches is not None and self.is_persistent
        count = self.tile_block_ctas if self.runs_at_once else 0
        is_dealt = self.uneven_waves is not None and self.transfer_bytes > 0
        cluster = self.cluster if self.is_clustered else (1, 1, 1)
        forms = self.row_lengths, self.is_divided, self.fills_tiles
        return Specialization(is_persistent, cluster, count, is_dealt, *forms)

    def wanted(self, choose: ChooseSpecialization) -> Specialization:
        """The specialization that the predicates select."""
        count = chosen_count(self.few_tile_blocks, choose)
        lengths = chosen_lengths(self.bounded_rows, choose)
        is_whole = self.whole_tiles is not None and choose(self.whole_tiles)
        sums = self._sums_of(count)
        if sums is not None and choose(sums):
            divided = Specialization(few_ctas=count, row_lengths=lengths, is_divided=True)
            return divided._replace(fills_tiles=is_whole)
        asked = self.persistent_launches
        is_persistent = asked is not None and choose(asked)
        is_dealt = self.uneven_waves is not None and choose(self.uneven_waves)
        shared = chosen_loads(self.shared_loads, choose)
        cluster = (1, 1, 1) if shared is None else shared.cluster
        forms = lengths, False, is_whole
        return Specialization(is_persistent, cluster, count, is_dealt, *forms)

    def _sums_of(self, count: int) -> DividedSums | None:
        """The launches whose CTAs divide iterations, where so many compute a tile block."""
        found = (sums for few in self.few_tile_blocks for sums in few.sums if sums.ctas == count)
        return next(found, self.divided_sums)

    def transfer_size(self, ctas: Grid) -> int:
        """Bytes of the memory through which so many CTAs exchange tiles or numbers; 0 for none."""
        tiles = prod(ctas) * self.transfer_bytes
        return TRANSFER_ZEROS + tiles if TRANSFER in self.parameters else 0

    def ctas(self, grid: Grid, resident: int | None = None, args: Sequence[Any] = ()) -> Grid:
        """The CTAs of a launch with a grid of tile blocks, on a GPU that runs `resident` at once.

        `args` are those that predicates read.
        Raises `TargetError` for more tile blocks than CTAs of a persistent kernel count.
        """
        each, grid = self.tile_block_ctas, self._whole_clusters(grid)
        if self.is_divided:
            return prod(grid) * self._parts(grid, resident, args) * each, 1, 1
        if self.is_persistent:
            most = TRANSFER_SLOTS if self.transfer_bytes else MAX_TILE_BLOCKS
            asked = self.persistent_launches
            if asked is not None and asked.differ and resident is not None:
                most = min(most, asked.count(args, grid, max(resident // each, 1)) * each)
            return persistent_ctas(grid, each, resident, most, cluster=self.cluster[0])
        x, y, z = grid
        return x * each, y, z

    def _parts(self, grid: Grid, resident: int | None, args: Sequence[Any]) -> int:
        """Return into how many parts the iterations of each tile block are divided."""
        if resident is None or self.divided_sums is None:
            return INTERPRETED_PARTS
        each = self.tile_block_ctas
        parts = self.divided_sums.parts(args, grid, max(resident // each, 1))
        return max(min(parts, TRANSFER_SLOTS // (prod(grid) * each)), 1)

    def _whole_clusters(self, grid: Grid) -> Grid:
        """The grid with the tile blocks behind it that complete its last clusters."""
        asked = (one for one in self.shared_loads if one.cluster == self.specialization.cluster)
        return next((one.covered(grid) for one in asked if one.rounds_up), grid)

    def maps_of_list(self, argument: int) -> Sequence[TensorMapRecipe]:
        """The recipes of the tensor maps that the table of a list has for each of its arrays."""
        return [one for one in self.tensor_maps if one.is_of_list and one.argument == argument]

    def bind(self, args: Sequence[Any]) -> list[Any]:
        """The values of the parameters: arrays, integers, scalars and bound tensor maps."""
        return [self.value(name, args) for name in self.parameters]

    def value(self, name: str, args: Sequence[Any]) -> Any:
        """The value of one parameter."""
        match words := name.split():
            case ["ptr" | "scalar", position]:
                return args[int(position)]
            case ["size", position, axis]:
                return int(args[int(position)].shape[int(axis)])
            case ["stride", position, axis]:
                array = cast("Array", args[int(position)])
                return int(array.strides[int(axis)]) // array.dtype.itemsize
            case ["tma", "arena"] | ["tile", "transfer"] | ["tile", "blocks", _]:
                return None
            case _:
                recipe = self.tensor_maps[int(words[-1])]
                if recipe.is_window:
                    raise TargetError(
                        f"tensor map {words[-1]} describes a part of argument {recipe.argument}: "
                        "only host code makes it, compile with host code"
                    )
                is_of_nothing = recipe.is_of_nothing(args)
                return BoundTensorMap(recipe.argument, recipe.described(args), is_of_nothing)
