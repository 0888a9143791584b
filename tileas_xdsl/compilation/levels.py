"""At which level of the compiler a module is, and the passes that remain to make PTX of it.

    builtin.module attributes {nv_tileas.target = "sm_90a", nv_tileas.last_pass = "tileas-slicing"}

Passes that run in the order of a compilation leave their name on a module that names its target, so
that its text can be compiled on from there, edited or not.  The name counts while the operations
are still those of its level; where there is none, and after a pass of another tool, they decide:
tiles begin with the first pass on tiles, threads with the first one on threads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache
from itertools import pairwise

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.utils.arg_spec import ArgSpec

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.verification.snapshot import LAST_PASS
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.interned import text_attr
from tileas_xdsl.dialects.target_attribute import TARGET
from tileas_xdsl.pipelines import PIPELINES, Pipeline
from tileas_xdsl.transforms.tileaa_to_tileas.legality import is_legal

TO_TILES = "cudatile-to-tileas"
"""The pipeline from Tile IR to tiles."""

BUFFERS, BUFFERS_BY_TILES = "tl-to-ptx", "tl-by-tiles-to-ptx"
"""The pipelines from programs over buffers."""

THREADS_KERNEL = "cute.kernel"
"""The attribute of a kernel that is written for the threads of a block."""

BLOCK_PROGRAM = "tl.kernel"
"""The operation that a program over buffers consists of."""


class Level(Enum):
    """A level of IR, from the input to the output of the compiler."""

    TILE_IR = "Tile IR"
    TILEAA = "tiles of nv_tileaa"
    TILES = "tiles of nv_tileas"
    BUFFERS = "buffers of tl"
    THREADS = "threads"
    PTX = "PTX"


_LOWERINGS: Mapping[str, tuple[Level, Level]] = {
    "convert-cudatile-to-tileaa": (Level.TILE_IR, Level.TILEAA),
    "convert-tileaa-to-tileas": (Level.TILEAA, Level.TILES),
    "convert-tileas-to-cute-nvgpu": (Level.TILES, Level.THREADS),
    "convert-tl-to-tileaa": (Level.BUFFERS, Level.TILEAA),
    "tl-lower": (Level.BUFFERS, Level.THREADS),
    "convert-cute-nvgpu-to-ptx": (Level.THREADS, Level.PTX),
}
"""By pass: the level that it takes a kernel from, and to.  Other passes stay on their level."""


@dataclass(frozen=True)
class _Step:
    """A pass at its place in a compilation."""

    spec: ArgSpec
    before: Level
    after: Level


@dataclass(frozen=True)
class Remaining:
    """What is left to do for a kernel."""

    to_tiles: Sequence[ArgSpec]
    """Passes of the pipeline that makes tiles."""
    passes: Sequence[ArgSpec]
    """Those after it."""


def level_of(ops: Iterable[Operation]) -> Level:
    """Return the level of a module, or of a kernel, by its operations: the first one that is left.

    `ops` are those of the module, or a kernel alone.
    """
    found = Level.TILES
    for op in (inner for top in ops for inner in operations_in(top)):
        dialect = op.name.partition(".")[0]
        if dialect == "cuda_tile":
            return Level.TILE_IR
        if not is_legal(op):
            return Level.TILEAA
        if op.name == "ptx.entry":
            return Level.PTX
        if op.name == BLOCK_PROGRAM:
            found = Level.BUFFERS
        elif THREADS_KERNEL in op.attributes:
            return Level.THREADS
    return found


def remaining(module: ModuleOp, ops: Iterable[Operation], *, host_code: bool = False) -> Remaining:
    """Return the passes that lower a kernel, `ops` of a module, from where it is to PTX.

    With `host_code` those that make host code are among them.
    """
    level = level_of(ops)
    mark = _mark(module)
    lines = _lines(host_code)
    for line in lines:
        for index in reversed(range(len(line))):
            step = line[index]
            if step.spec.name == mark and step.after is level:
                return _split(line, index + 1)
    if level is Level.BUFFERS:
        return _split(_line(PIPELINES[_pipeline_of_buffers(ops)]), 0)
    return _split(*_beginning(level, lines[0]))


def _pipeline_of_buffers(ops: Iterable[Operation]) -> str:
    """The pipeline of programs over buffers: by way of tiles, if all of them gain by that."""
    from tileas_xdsl.transforms.tl_to_tiles.choice import why_not_by_tiles

    kernels = [op for op in ops if isinstance(op, func.FuncOp) and not op.is_declaration]
    is_by_tiles = all(why_not_by_tiles(kernel) is None for kernel in kernels)
    return BUFFERS_BY_TILES if is_by_tiles else BUFFERS


def mark_done(module: ModuleOp, name: str, level: Level | None) -> None:
    """Leave the name of a pass that ran on a module, if it is the next of a compilation.

    `level` is that of the module before it, where nothing was marked on it then.
    """
    if TARGET not in module.attributes:
        return
    if _is_next(name, _mark(module), level):
        module.attributes[LAST_PASS] = text_attr(name)


@cache
def _is_next(name: str, mark: str | None, level: Level | None) -> bool:
    lines = _lines(False)
    return any(_follows(line, mark, name) if mark else _starts(line, name, level) for line in lines)


def unmarked_level(module: ModuleOp) -> Level | None:
    """Return the level of a module that names its target and no pass; else None."""
    if TARGET not in module.attributes or LAST_PASS in module.attributes:
        return None
    return level_of(module.ops)


def _mark(module: ModuleOp) -> str | None:
    found = module.attributes.get(LAST_PASS)
    return found.data if isinstance(found, StringAttr) else None


def _follows(line: Sequence[_Step], mark: str, name: str) -> bool:
    """Whether a pass is after another one in a line, and on the level that the other one left."""
    for index, step in enumerate(line):
        if step.spec.name == mark:
            rest = line[index + 1 :]
            return any(s.spec.name == name and s.before is step.after for s in rest)
    return False


def _starts(line: Sequence[_Step], name: str, level: Level | None) -> bool:
    """Whether a pass is the first one of a line for modules of a level, or leaves the level."""
    if name in _LOWERINGS:
        return _LOWERINGS[name][0] is level
    on_level = [n for n, step in enumerate(line) if step.before is level]
    firsts = {*on_level[:1], _tiles_begin(line)}
    return any(line[n].spec.name == name for n in firsts & {*on_level})


def _tiles_begin(line: Sequence[_Step]) -> int:
    """The index of the first pass after those that make tiles of Tile IR."""
    made = [spec.name for spec in PIPELINES[TO_TILES].passes]
    return len(made) if [step.spec.name for step in line[: len(made)]] == made else 0


def _beginning(level: Level, line: Sequence[_Step]) -> tuple[Sequence[_Step], int]:
    """The line of a level, and where it begins for modules that no pass has marked.

    What comes as tiles was written as tiles, and keeps the form that was given to it.
    """
    match level:
        case Level.TILE_IR:
            return line, 0
        case Level.TILES:
            return line, _tiles_begin(line)
        case Level.BUFFERS:
            return _line(PIPELINES[BUFFERS]), 0
        case Level.THREADS:
            return _line(PIPELINES["cute-to-ptx"]), 0
        case Level.TILEAA:
            return line, next(n for n, step in enumerate(line) if step.before is level)
        case Level.PTX:
            return line, len(line)


def _split(line: Sequence[_Step], first: int) -> Remaining:
    """The passes of a line from one on."""
    border = max(first, _tiles_begin(line))
    return Remaining(
        [step.spec for step in line[first:border]], [step.spec for step in line[border:]]
    )


@cache
def _lines(host_code: bool) -> Sequence[Sequence[_Step]]:
    """Every order of passes from an input to PTX; the first one is that of tiles."""
    names = ["tileas-to-ptx", "tileas-to-ptx-with-host-code", "tileas-to-standalone-ptx"]
    if host_code:
        names[:2] = names[1::-1]
    tiles = [_line(PIPELINES[TO_TILES], PIPELINES[name]) for name in names]
    others = ("cute-to-ptx", BUFFERS, BUFFERS_BY_TILES)
    return [*tiles, *(_line(PIPELINES[name]) for name in others)]


def _line(*pipelines: Pipeline) -> Sequence[_Step]:
    specs = [spec for pipeline in pipelines for spec in pipeline.passes]
    levels = list(_levels(specs))
    return [_Step(spec, *ends) for spec, ends in zip(specs, pairwise(levels), strict=True)]


def _levels(specs: Sequence[ArgSpec]) -> Iterator[Level]:
    """The level before the first pass, and that after each one."""
    level = next(_LOWERINGS[spec.name][0] for spec in specs if spec.name in _LOWERINGS)
    yield level
    for spec in specs:
        level = _LOWERINGS.get(spec.name, (level, level))[1]
        yield level
