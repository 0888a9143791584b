"""The matrix instructions that GPUs are built around: which tiles they take, and from where.

| unit | operands | accumulator | issued by |
|---|---|---|---|
| `wgmma` | shared memory, A also registers | registers | a warpgroup |
| `tcgen05.mma` | shared memory, A also tensor memory | tensor memory | a thread |
| `mma.sync` | registers | registers | a warp |

Sources: PTX ISA, wgmma.mma_async, tcgen05.mma and mma; CUTLASS include/cute/arch/mma_sm90_desc.hpp
and mma_sm100_desc.hpp (layout types).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from types import MappingProxyType

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.target.mma.warp_tiles import fits_accumulators, share_of_columns

MAX_COLUMNS = 256
COLUMN_STEP = 8
"""N of an instruction that reads shared memory is a multiple of this, up to `MAX_COLUMNS`."""

PAIR, PAIR_COLUMN_STEP = 2, 16
"""CTAs that multiply together, and what N of their instructions is a multiple of (PTX ISA,
tcgen05.mma shapes)."""

I8_COLUMN_STEP, LAST_ODD_I8_COLUMNS = 16, 24
"""Above 24, N on bytes is a multiple of 16 (PTX ISA, wgmma.mma_async and tcgen05.mma)."""

_DEPTHS = {"f16": 16, "bf16": 16, "tf32": 8, "f8e4m3": 32, "f8e5m2": 32, "i8": 32}


@dataclass(frozen=True)
class MatrixUnit:
    """A family of matrix instructions; those that read shared memory take whole tiles."""

    instruction: str
    """What atoms call it: `wgmma`, `tcgen05`, `mma`."""
    ptx: str
    """What the PTX ISA calls it."""
    reads_shared_memory: bool
    accumulates_in_tensor_memory: bool = False
    rows: tuple[int, ...] = ()
    """M of one instruction."""
    pair_rows: tuple[int, ...] = ()
    """M of one instruction of two CTAs, each of which has half of the rows (`cta_group::2`)."""
    repeats_rows: bool = False
    """Whether warpgroups share tiles of any multiple of `rows`; else one is an instruction high."""
    columns: int = COLUMN_STEP
    """What the columns of tiles from Tile IR are a multiple of."""
    depths: Mapping[str, int] = field(default_factory=dict[str, int])
    """By element of A and B: K of one instruction."""
    layout_types: Mapping[str, int] = field(default_factory=dict[str, int])
    """The swizzle modes of its shared-memory descriptors and their codes."""
    accumulates_coarsely: frozenset[str] = frozenset()
    """Elements of A whose products it adds in fewer bits than its f32 accumulators have."""

    def takes_extents(self, m: int, n: int, warpgroups: int) -> bool:
        """Whether a tile of M x N is made of whole instructions; 0 warpgroups: no whole ones."""
        if n % COLUMN_STEP:
            return False
        if not self.repeats_rows:
            return m in self.rows and n <= MAX_COLUMNS
        return (
            fits_accumulators(m, n, warpgroups)
            and share_of_columns(m, n, warpgroups) <= MAX_COLUMNS
        )

    def takes(self, elements: Sequence[str], m: int, n: int, k: int, warpgroups: int) -> bool:
        """Whether it multiplies tiles of these elements (A, B, accumulator) and extents."""
        a, b, accumulator = elements
        depth = self.depths.get(a)
        if depth is None or a != b or accumulator != ("i32" if a == "i8" else "f32"):
            return False
        is_wide_i8 = a == "i8" and n > LAST_ODD_I8_COLUMNS
        step = max(self.columns, I8_COLUMN_STEP if is_wide_i8 else 0)
        return self.takes_extents(m, n, warpgroups) and n % step == 0 and k % depth == 0

    def takes_of_pair(self, elements: Sequence[str], m: int, n: int, k: int) -> bool:
        """Whether two CTAs multiply tiles together of which each has half of the `m` rows."""
        step = PAIR * I8_COLUMN_STEP if elements[0] == "i8" else PAIR_COLUMN_STEP
        if m not in self.pair_rows or n % step:
            return False
        return self.takes(elements, m // PAIR, n, k, 0)


WGMMA = MatrixUnit(
    "wgmma",
    "wgmma",
    reads_shared_memory=True,
    rows=(64,),
    repeats_rows=True,
    depths=_DEPTHS,
    layout_types={"none": 0, "128B": 1, "64B": 2, "32B": 3},
    # Source: DeepSeek-V3 technical report, 3.3.2: about 14 bits on Hopper.
    accumulates_coarsely=frozenset({"f8e4m3", "f8e5m2"}),
)

TCGEN05 = MatrixUnit(
    "tcgen05",
    "tcgen05.mma",
    reads_shared_memory=True,
    accumulates_in_tensor_memory=True,
    rows=(64, 128),
    pair_rows=(128, 256),
    columns=16,
    depths=_DEPTHS,
    layout_types={"none": 0, "128B_BASE32B": 1, "128B": 2, "64B": 4, "32B": 6},
)

MMA_SYNC = MatrixUnit("mma", "mma.sync", reads_shared_memory=False)
"""Every target has it; its tiles are put together from warps (`analysis.dot_layouts`)."""

MATRIX_UNITS: Mapping[str, MatrixUnit] = MappingProxyType(
    {unit.instruction: unit for unit in (WGMMA, TCGEN05, MMA_SYNC)}
)
"""By the name that atoms have for it."""
