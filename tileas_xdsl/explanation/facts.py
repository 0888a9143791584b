"""What is known of a compiled kernel, as plain data: what `tileas explain` prints and draws.

KernelFacts
    loops        LoopFacts: what bounds each loop, its roofline, what was not done and why
    occupancy    threads, registers, shared memory, and which of them limits the blocks together
    registers    the tiles that registers hold where most are alive, the largest first
    shared       the map of shared memory
    layouts      of tiles, with the operation that asked for each; conversions and their price
    accesses     of threads to memory, as a block of a run made them: bank conflicts and sectors
    waves        of a launch

Cycles are those of one multiprocessor, sizes bytes, registers 32 bits of one thread.  What is not
known is None or empty, with the reason beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeAlias, cast

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.report import Location

Json: TypeAlias = Mapping[str, "Json"] | Sequence["Json"] | str | int | float | bool | None


def as_json(value: Any) -> Json:
    """Return facts as what `json.dumps` takes: objects by field, a location as `file:line:col`."""
    if isinstance(value, Location):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: as_json(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, tuple):
        return [as_json(item) for item in cast("tuple[Any, ...]", value)]
    return value if value is None or isinstance(value, bool | int | float) else str(value)


@dataclass(frozen=True)
class UnitUse:
    """How busy a unit is in the steady state of a loop."""

    unit: str
    """As `target.costs.units.Unit` names it."""
    cycles: float
    """Cycles of work of an iteration."""
    share: float
    """That part of the cycles of an iteration; 1 where the unit is never idle."""
    slack: float
    """Cycles of an iteration in which the unit is idle."""


@dataclass(frozen=True)
class Roofline:
    """Where a piece of code lies under the roofs of a multiprocessor."""

    flops: int
    """Operations on floats of one run, a fused multiply-add is two."""
    product_flops: int
    """Those of matrix products among them."""
    bytes_read: int
    """From global memory, by all loads of tiles."""
    bytes_written: int
    intensity: float | None
    """Flops for each byte from and to global memory; None without one."""
    ridge: float
    """The intensity from which on arithmetic bounds, not the path to the L2 cache."""
    peak: float
    """Flops a cycle of the fastest unit that the arithmetic runs on."""
    bandwidth: int
    """Bytes a cycle between the L2 cache and a multiprocessor, while all of them load."""
    bound: str
    """`compute`, or `memory` where the intensity is below the ridge."""
    dram_bandwidth: int
    """Bytes a cycle of a multiprocessor's share of DRAM."""
    reuse: float
    """Uses of a byte from the L2 cache that it takes so that DRAM does not bound; at least 1."""

    @property
    def bytes(self) -> int:
        """Bytes in both directions."""
        return self.bytes_read + self.bytes_written


@dataclass(frozen=True)
class ScheduledOperation:
    """An operation of a loop where the timing model has it."""

    name: str
    location: Location | None
    role: str
    """`producer` or `consumer`."""
    unit: str
    """The unit that it occupies longest."""
    stage: int
    """Iterations of the loop after the first operation."""
    start: int
    cycles: int
    """Until it has read all that it reads."""
    latency: int
    """Until its result is there."""


@dataclass(frozen=True)
class Reason:
    """Why an operation, a loop or the kernel was not made fast in one way."""

    what: str
    """`TMA`, `pipeline`, `schedule` or `rotation`."""
    why: str
    """The sentence of the pass."""
    decided_by: str
    """The pass."""
    operation: str
    location: Location | None


@dataclass(frozen=True)
class LoopFacts:
    """A loop, innermost first in program order, and what bounds an iteration."""

    location: Location | None
    cycles: float | None
    """Of an iteration of all warps of a block in the steady state; None where not predicted."""
    bound: str | None
    """The unit that is busy longest, or `latency` where none is busy half of the time."""
    units: tuple[UnitUse, ...]
    """The busiest first."""
    roofline: Roofline | None
    operations: tuple[ScheduledOperation, ...]
    stages: int
    """Stages of the ring of buffers that loads fill; 0 where there is none."""
    registers: int | None
    """Of a thread of the consumer, for tiles of the loop."""
    reasons: tuple[Reason, ...]
    not_predicted: str = ""
    """Why there are no cycles."""
    counted_iterations: int = 0
    """Of the run whose instructions were counted: cycles are then the least that the busiest unit
    takes; 0 where the timing model predicts them."""
    first: int = 0
    """Cycles until the first iteration ends, which waits for what it loads; 0 where unknown."""
    in_step: bool = False
    """Whether all that share a tensor core compute at one time what it reads of their registers."""


@dataclass(frozen=True)
class Limit:
    """A resource of a multiprocessor."""

    what: str
    """`registers`, `shared memory`, `warps` or `blocks`."""
    used: int
    """By a block."""
    available: int
    """On a multiprocessor."""
    blocks: int
    """That fit by this resource alone."""


@dataclass(frozen=True)
class RoleFacts:
    """A range of warps with a budget of registers (`setmaxnreg`)."""

    name: str
    warps: int
    registers: int
    """Of a thread; 0 where the count at entry is kept."""


@dataclass(frozen=True)
class Occupancy:
    """How many blocks share a multiprocessor, and what limits that."""

    threads: int
    warps: int
    registers: int | None
    """Of a thread at entry, by ptxas; None without it."""
    spills: int | None
    """Bytes that ptxas spills."""
    shared_bytes: int
    blocks: int
    """That share a multiprocessor."""
    share: float
    """Of the warps that a multiprocessor holds."""
    limited_by: str
    limits: tuple[Limit, ...]
    """Those that allow fewest blocks first."""
    roles: tuple[RoleFacts, ...]


@dataclass(frozen=True)
class RegisterHolder:
    """A tile in registers where most registers are alive."""

    value: str
    type: str
    registers: int
    """Of a thread."""
    role: str
    """The agent whose threads hold it; empty without agents."""
    location: Location | None


@dataclass(frozen=True)
class SharedBuffer:
    """A part of shared memory."""

    name: str
    offset: int
    bytes: int
    what: str
    """Its layout, or what it is for."""
    stages: int
    """Of a pipeline; else 1."""
    location: Location | None
    """Of what fills it."""


@dataclass(frozen=True)
class TileLayout:
    """The layout that a group of tiles got, and the operation that asked for it."""

    tiles: tuple[str, ...]
    shape: tuple[int, ...]
    memory: str
    """`registers`, `shared`, `tensor`."""
    layout: str
    chosen_by: str
    """The operations whose atoms the layout serves, `dot (wgmma_f16_f16_f32)`."""
    location: Location | None
    candidates: int
    """Layouts that were compared."""
    dropped: tuple[str, ...]
    """Why others are impossible, each once."""


@dataclass(frozen=True)
class Conversion:
    """A tile that changes its layout between registers of threads."""

    location: Location | None
    operation: str
    """What needs the tile in the other layout."""
    source: str
    target: str
    """Or `elements by index`, of a gather."""
    shape: tuple[int, ...]
    how: str
    """`identity`, `permutation` of registers, `shuffle` or through `shared` memory."""
    price: str
    """Instructions of a thread, or bytes through shared memory and the barriers around it."""
    cycles: int
    """By the machine model, for all tiles of a block."""


@dataclass(frozen=True)
class AccessFacts:
    """What the accesses of an instruction of a run cost, all warps of a block together."""

    location: Location | None
    instruction: str
    memory: str
    """`shared` or `global`."""
    accesses: int
    """Of warps."""
    bytes: int
    transactions: int
    """Wavefronts of shared memory, or sectors of 32 bytes of global memory."""
    ideal: int
    """The fewest that move these bytes by accesses of this width."""

    @property
    def excess(self) -> int:
        """Bank conflicts, or sectors that are moved in vain."""
        return self.transactions - self.ideal


@dataclass(frozen=True)
class Waves:
    """A launch on a whole GPU."""

    grid: tuple[int, int, int]
    blocks: int
    multiprocessors: int
    blocks_together: int
    waves: int
    tail: float
    """The part of the last wave that is idle."""
    efficiency: float
    """Blocks over those that so many waves hold."""


@dataclass(frozen=True)
class LeastTime:
    """A launch that the busiest unit of its blocks bounds, if all blocks do what the first does."""

    microseconds: float
    unit: str
    cycles: float
    """Of a block, in which the unit is busy."""
    blocks: int
    """Of a multiprocessor, one after another or together."""


@dataclass(frozen=True)
class KernelFacts:
    """All that is known of a compiled kernel."""

    name: str
    target: str
    level: str
    """Of the input: `Tile IR`, `tiles of nv_tileas`, ..."""
    loops: tuple[LoopFacts, ...]
    outside: Roofline | None
    """What a block does outside of loops."""
    reasons: tuple[Reason, ...]
    """All of them, those of loops too."""
    occupancy: Occupancy | None
    registers: tuple[RegisterHolder, ...]
    shared: tuple[SharedBuffer, ...]
    layouts: tuple[TileLayout, ...]
    conversions: tuple[Conversion, ...]
    accesses: tuple[AccessFacts, ...]
    accesses_unknown: str
    """Why accesses were not counted; empty if they were."""
    waves: Waves | None
    least: LeastTime | None = None
    """Of a launch whose grid is known and whose first block ran to its end."""

    def to_json(self) -> Json:
        """Return the facts as what `json.dumps` takes."""
        return as_json(self)
