"""Why a kernel is refused: what costs the memory that it lacks, and what change would compile.

The last tiles before the refusal tell which values registers and shared memory hold.  The change is
found by trying: constants of the signature, or the extents that a text names, are halved, fewest
halvings first, and what is named has been compiled, by ptxas without spills where it is installed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from tileas_xdsl.analysis.memory.shared_memory import allocated_tiles, tile_bytes
from tileas_xdsl.backend.nvidia_tools import MissingToolError
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import collecting_diagnostics
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.locations import location_of
from tileas_xdsl.diagnostics.report import Location
from tileas_xdsl.dialects.nv_tileaa.attributes import KERNEL_SPEC, KernelSpec, KernelSpecAttr
from tileas_xdsl.dialects.tl.buffers import AllocFragmentOp, AllocSharedOp
from tileas_xdsl.explanation.compilation.layouts import tile_layouts
from tileas_xdsl.explanation.compilation.reasons import reasons_in
from tileas_xdsl.explanation.compilation.register_holders import register_holders, type_text
from tileas_xdsl.explanation.compilation.snapshots import UNLAID, Snapshots
from tileas_xdsl.explanation.facts import Json, Reason, RegisterHolder, TileLayout, as_json
from tileas_xdsl.explanation.refused.variants import SMALLEST, Variants
from tileas_xdsl.target.arch import Target

SHARED_MEMORY, REGISTERS = "shared memory", "registers"

_LACKED: Mapping[str, re.Pattern[str]] = {
    SHARED_MEMORY: re.compile(r"\d+ bytes of shared memory"),
    REGISTERS: re.compile(r"\d+ registers"),
}
"""By resource: what a message says that lacks it.  Verbatim texts say it in a note."""

MAX_HALVINGS = 4
"""Of all sizes together."""


@dataclass(frozen=True)
class SharedTile:
    """A tile that is kept in shared memory."""

    type: str
    bytes: int
    location: Location | None


@dataclass(frozen=True)
class Attempt:
    """A change of sizes that was compiled."""

    constants: tuple[tuple[str, int], ...]
    """Those that differ from the refused ones, with their new values."""
    problem: str
    """Why it is refused too; empty if it compiles without spills."""
    change: str = ""
    """In words."""


@dataclass(frozen=True)
class Refusal:
    """A kernel that does not compile."""

    target: str
    errors: tuple[str, ...]
    lacks: tuple[str, ...]
    """`shared memory` and `registers`, if the errors say that a block has too little of it."""
    registers: tuple[RegisterHolder, ...]
    """Tiles where most are live, the largest first."""
    shared: tuple[SharedTile, ...]
    """Tiles that shared memory keeps, the largest first."""
    reasons: tuple[Reason, ...]
    layouts: tuple[TileLayout, ...]
    attempts: tuple[Attempt, ...]
    """The changes that were tried, in order."""

    @property
    def works(self) -> Sequence[Attempt]:
        """The smallest changes that compile."""
        return [one for one in self.attempts if not one.problem]

    def to_json(self) -> Json:
        """Return the refusal as what `json.dumps` takes."""
        return as_json(self)


def refusal(
    error: DiagnosticError,
    source: ModuleOp,
    snapshots: Snapshots,
    target: Target,
    variants: Variants | None,
) -> Refusal:
    """Return why the kernel of `source` was refused; if it lacks memory, `variants` are tried."""
    modules, lacks = snapshots.modules, lacked(error)
    last = list(modules.values())[-1] if modules else None
    registers = () if last is None else register_holders(last, _warps(last), target)
    shared = tuple(_buffers(source, AllocSharedOp) or ([] if last is None else _shared_tiles(last)))
    attempts: Sequence[Attempt] = ()
    if lacks and variants is not None:
        holders: list[SharedTile | RegisterHolder] = [*shared]
        if REGISTERS in lacks:
            holders += [*registers, *_buffers(source, AllocFragmentOp)]
        attempts = smaller_sizes(variants, extents_of([one.type for one in holders]))
    return Refusal(
        target.name,
        tuple(str(one) for one in error.diagnostics),
        lacks,
        registers,
        shared,
        tuple(reasons_in(modules.values())),
        _layouts(modules.get(UNLAID), target),
        tuple(attempts),
    )


def lacked(error: DiagnosticError) -> tuple[str, ...]:
    """Return the resources that a kernel was refused for."""
    texts = [one.message for report in error.diagnostics for one in (report, *report.notes)]
    return tuple(
        what for what, pattern in _LACKED.items() if any(pattern.search(text) for text in texts)
    )


def _warps(module: ModuleOp) -> int:
    for op in module.ops:
        spec = op.attributes.get(KERNEL_SPEC) if isinstance(op, func.FuncOp) else None
        if isinstance(spec, KernelSpecAttr):
            return spec.data.num_warps
    return KernelSpec().num_warps


def _shared_tiles(module: ModuleOp) -> Sequence[SharedTile]:
    found = [
        SharedTile(type_text(type_), tile_bytes(type_), location_of(op))
        for op, type_ in allocated_tiles(module)
    ]
    return sorted(found, key=lambda one: -one.bytes)


def _buffers(source: ModuleOp, kind: type[AllocSharedOp | AllocFragmentOp]) -> Sequence[SharedTile]:
    """The buffers that a `tl` program allocates, the largest first."""
    found = [
        SharedTile(type_text(op.buffer.type), tile_bytes(op.buffer.type), location_of(op))
        for op in source.walk()
        if isinstance(op, kind)
    ]
    return sorted(found, key=lambda one: -one.bytes)


def _layouts(unlaid: ModuleOp | None, target: Target) -> tuple[TileLayout, ...]:
    """The layouts that are possible, where their choice is not what is refused."""
    try:
        return () if unlaid is None else tile_layouts(unlaid, target)
    except DiagnosticError:
        return ()


# Smaller sizes


def extents_of(types: Iterable[str]) -> Sequence[int]:
    """Return the extents of tiles, `128x64xf16`, each once."""
    words = (word for text in types for word in text.split("x"))
    return list(dict.fromkeys(int(word) for word in words if word.isdigit()))


def smaller_sizes(variants: Variants, extents: Sequence[int]) -> Sequence[Attempt]:
    """Halve sizes until some compile: all ways with the fewest halvings are tried."""
    sizes = variants.sizes(extents)
    attempts: list[Attempt] = []
    for halvings in range(1, MAX_HALVINGS + 1):
        found = [_attempt(variants, made) for made in _made(sizes, halvings)]
        attempts += found
        if any(not one.problem for one in found):
            break
    return attempts


def _made(sizes: Mapping[str, int], halvings: int) -> Iterator[Mapping[str, int]]:
    """Yield what sizes become by so many halvings in all."""
    names = list(sizes)
    for shifts in product(range(halvings + 1), repeat=len(names)):
        made = {name: sizes[name] >> by for name, by in zip(names, shifts, strict=True) if by}
        is_whole = all(
            sizes[name] % (1 << by) == 0 and sizes[name] >> by >= SMALLEST
            for name, by in zip(names, shifts, strict=True)
            if by
        )
        if sum(shifts) == halvings and is_whole:
            yield made


def _attempt(variants: Variants, values: Mapping[str, int]) -> Attempt:
    change = ", ".join(variants.change(name, size) for name, size in values.items())
    return Attempt(tuple(values.items()), problem_of(variants, values), change)


def problem_of(variants: Variants, sizes: Mapping[str, int]) -> str:
    """Return why a kernel does not compile with these sizes, or spills; empty if neither."""
    try:
        with collecting_diagnostics():
            spilled = variants.compiled(sizes).assemble().spills
    except MissingToolError:
        return ""
    except DiagnosticError as error:
        return error.diagnostics[0].text
    return f"{spilled} bytes are spilled" if spilled else ""
