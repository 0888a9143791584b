"""Input of layout inference: a block-level program as buffers and operations on them.

Indices are affine expressions.  Their dimensions are the variables of the loop, the parallel ones
first, then those of serial loops within its body; their symbols, numbered for the whole program,
are values that all threads share (block numbers, variables of serial loops around, scalars).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from math import prod
from typing import TypeAlias

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.layout.expr.expression import Number

DYNAMIC = -1
"""An extent of a global buffer that only run time knows."""


class Scope(StrEnum):
    """Where a buffer lives: a fragment is in registers spread over the threads of the block."""

    GLOBAL = "global"
    SHARED = "shared"
    FRAGMENT = "fragment"
    LOCAL = "local"


class AccessKind(StrEnum):
    """What an access does; an update is atomic."""

    READ = "read"
    WRITE = "write"
    UPDATE = "update"


class LoopKind(StrEnum):
    """What a loop was written as."""

    PARALLEL = "parallel"
    COPY = "copy"
    FILL = "fill"


class WarpPolicy(StrEnum):
    """How the warps of a product are spread over its rows and columns."""

    SQUARE = "square"
    FULL_ROW = "full_row"
    FULL_COL = "full_col"


@dataclass(frozen=True)
class Buffer:
    """A row-major array of elements of `bits` bits; buffers of one `storage` are views of one."""

    name: str
    shape: tuple[int, ...]
    bits: int
    scope: Scope
    element: str = "f32"
    storage: str = ""
    location: str = ""


@dataclass(frozen=True)
class Access:
    """One load or store in a loop; an index that depends on data is None.

    `is_guarded` means that it is under a condition, so that iterations may skip it.
    """

    buffer: str
    indices: tuple[Number | None, ...]
    kind: AccessKind
    location: str = ""
    is_guarded: bool = False

    @property
    def writes(self) -> bool:
        """Whether elements change."""
        return self.kind is not AccessKind.READ

    @property
    def is_certain(self) -> bool:
        """Whether every iteration does it, to elements that are known."""
        return not self.is_guarded and None not in self.indices


@dataclass(frozen=True)
class Loop:
    """Iterations that threads share: `extents` of the parallel variables, then of `inner` ones.

    `cast_bits` is the width of the widest type that the body converts from or to, 0 for none.
    """

    extents: tuple[int, ...]
    accesses: tuple[Access, ...]
    kind: LoopKind = LoopKind.PARALLEL
    inner: tuple[int, ...] = ()
    location: str = ""
    annotation: FragmentMap | None = None
    coalesced_width: int | None = None
    cast_bits: int = 0

    @property
    def total(self) -> int:
        """The number of parallel iterations."""
        return prod(self.extents)


@dataclass(frozen=True)
class Reduce:
    """`target` gets the rows of `source` combined along `axis`; without `clear`, onto itself."""

    source: str
    target: str
    axis: int
    keep_dims: bool = False
    clear: bool = True
    location: str = ""


@dataclass(frozen=True)
class CumSum:
    """A cumulative sum of `source` along `axis`, written to `target`."""

    source: str
    target: str
    axis: int
    reverse: bool = False
    location: str = ""


@dataclass(frozen=True)
class Gemm:
    """`c += a @ b`; a transposed operand is stored with K first (a) or last (b)."""

    a: str
    b: str
    c: str
    transpose_a: bool = False
    transpose_b: bool = False
    policy: WarpPolicy = WarpPolicy.SQUARE
    clear: bool = False
    location: str = ""


Operation: TypeAlias = Loop | Reduce | CumSum | Gemm


@dataclass(frozen=True)
class Program:
    """The operations of one block in program order, including those of serial loops.

    `floating` names fragments that are also read outside of the listed operations (a condition of
    the whole block); `annotations` are layouts that the program prescribes; `trip_counts` is the
    trip count of each operation (default: 1), for costs.
    """

    threads: int
    buffers: Mapping[str, Buffer]
    operations: tuple[Operation, ...]
    arch: str = "sm_90a"
    floating: frozenset[str] = frozenset()
    annotations: Mapping[str, FragmentMap] = field(default_factory=dict[str, FragmentMap])
    trip_counts: tuple[int, ...] = ()


def touched(operation: Operation) -> tuple[str, ...]:
    """The buffers of an operation, each once, in the order of their first access."""
    match operation:
        case Loop():
            names = [access.buffer for access in operation.accesses]
        case Reduce() | CumSum():
            names = [operation.source, operation.target]
        case Gemm():
            names = [operation.a, operation.b, operation.c]
    return tuple(dict.fromkeys(names))
