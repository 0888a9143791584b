"""The result of inference: a layout for each fragment, shared buffer and loop, with reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.layout.composed import AnyLayout


@dataclass(frozen=True)
class LoopDecision:
    """The thread mapping of a loop: `owners` maps iterations to a thread and a step of it.

    `vector` is the number of adjacent steps that access memory at once.  `runs_once`: of the
    replicas of an iteration only replica 0 has effects on shared and global memory.  `is_padded`:
    steps may be outside of the loop bounds and are guarded.
    """

    owners: FragmentMap
    vector: int = 1
    runs_once: bool = False
    is_padded: bool = False


@dataclass(frozen=True)
class Conversion:
    """Operation `operation` reads or writes `buffer` in layout `target`, by a conversion.

    What it reads is converted before it, what it writes converted back after it; `cost` is in
    cycles of the block.
    """

    operation: int
    buffer: str
    target: FragmentMap
    cost: int


@dataclass(frozen=True)
class Staging:
    """Loop `operation` accesses the fragment `buffer` through a row-major copy in shared memory.

    The copy is filled before the loop, and copied back after it if the loop writes to it; `cost`
    is in cycles of the block.  `staging.spelled_out` shows the loops that this stands for.
    """

    operation: int
    buffer: str
    cost: int


@dataclass(frozen=True)
class Considered:
    """A candidate of the search: its description, cost, and why it was or was not taken."""

    candidate: str
    verdict: str
    cost: str = ""


@dataclass(frozen=True)
class Reason:
    """Why `subject`, a buffer or a loop (`loop 3`), has its layout.

    `operation` is the number of the operation that fixed it; None: an annotation or a floating use.
    """

    subject: str
    rule: str
    operation: int | None
    considered: tuple[Considered, ...] = ()


@dataclass(frozen=True)
class Decisions:
    """The layouts of one program; `shared` maps coordinates to byte offsets in the buffer."""

    fragments: Mapping[str, FragmentMap]
    loops: Mapping[int, LoopDecision]
    shared: Mapping[str, AnyLayout] = field(default_factory=dict[str, AnyLayout])
    conversions: tuple[Conversion, ...] = ()
    reasons: tuple[Reason, ...] = ()
    staged: tuple[Staging, ...] = ()
    spilled: RegistersError | None = None
    """Why a part of the fragments lives in local memory, if it does."""


@dataclass(frozen=True)
class Note:
    """A remark beside an error: another access, or another loop."""

    location: str
    text: str


class InferenceError(Exception):
    """No layout: `text` names the accesses and a concrete element; `location` is where."""

    def __init__(self, text: str, location: str = "", notes: tuple[Note, ...] = ()) -> None:
        super().__init__(text)
        self.text = text
        self.location = location
        self.notes = notes


class RegistersError(InferenceError):
    """Layouts exist, but a thread has too few registers for those that were found."""

    found: Decisions | None = None
    """Those layouts, where so little is missing that the rest may be spilled."""
