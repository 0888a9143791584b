"""Random shared memory: buffers, slots of an allocation, sub-views, copies and reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.support.random_programs import tiles
from tests.support.random_programs.tile_types import SMEM, TileType
from tests.support.random_programs.writer import Buffer, Tile, Writer, coordinates


def allocated(w: Writer, type_: TileType) -> str:
    """Emit an uninitialised allocation."""
    return w.let("b", f"nv_tileas.alloc_tensor : {type_}")


def fill(w: Writer, buffer: Buffer, tile: Tile) -> None:
    """Emit a write of the whole buffer: a copy, a store, or an asynchronous copy."""
    form = w.choose(["copy", "store", "async copy"])
    w.mark(f"{form} into a buffer")
    source, type_ = w.use(tile), buffer.type
    if form == "store":
        view = smem_view(w, buffer)
        where = coordinates("%c0", type_)
        w.line(
            f"nv_tileas.tiled_store {source}, {view}[{where}] {{atom = #any}} "
            f": {tile.type}, {type_.view('smem')}"
        )
        return
    ends = f"{source}, {buffer.name} {{atom = #any}} : {tile.type}, {type_}"
    if form == "copy":
        w.line(f"nv_tileas.copy {ends}")
        return
    token = w.let("t", f"nv_tileas.async.copy {ends} -> !nv_tileas.token")
    w.line(f"nv_tileas.async.wait {token} : !nv_tileas.token")


def smem_view(w: Writer, buffer: Buffer) -> str:
    """Return a tiled view of a buffer."""
    type_ = buffer.type
    return w.let("v", f"nv_tileas.view {buffer.name} : {type_} -> {type_.view('smem')}")


def content(w: Writer, type_: TileType) -> Tile:
    """Return a tile outside shared memory that may be copied into a buffer."""
    return tiles.value(w, w.registers(type_))


def single(w: Writer) -> Buffer:
    """Emit a buffer in its own allocation."""
    type_ = w.shared(w.tile_type())
    buffer = Buffer(allocated(w, type_), type_, w.number_of_storage())
    if type_.can_be_boxed and _keeps_rows(w, type_) and w.chance():
        _fill_by_tma(w, buffer)
    else:
        fill(w, buffer, content(w, type_))
    w.scopes[-1].buffers.append(buffer)
    w.mark("buffer")
    return buffer


def _is_transposed(w: Writer, type_: TileType) -> bool:
    """Return whether views of other memory with this layout would be transposed."""
    return len(type_.shape) == 2 and f"(1,{type_.shape[0]})" in w.aliases[type_.encoding]


def in_shared_memory(*shape: int, element: str) -> TileType:
    """Return a tile type that gives the shared memory space and no layout."""
    return TileType(shape, element, "#smem", in_memory=True)


def _keeps_rows(w: Writer, type_: TileType) -> bool:
    """Return whether TMA can fill the layout: consecutive rows."""
    extents = "({},{}),({},1)".format(*type_.shape, type_.shape[1])
    return w.aliases[type_.encoding] in (SMEM, f"#nv_tileas.shared<{extents}>")


def _fill_by_tma(w: Writer, buffer: Buffer) -> None:
    argument, memory = w.input(buffer.type)
    place = w.place_to_read()
    desc = tma_descriptor(w, argument, memory, buffer.type, "load")
    barrier = w.let("bar", "nv_tileas.create_none : !nv_tileas.mem_token")
    token = w.let(
        "t",
        f"nv_tileas.async.tiled_tma_load {desc}, {buffer.name}[{place}, %c0] barrier {barrier} "
        f"{{atom = #nv_tileas<atom tma_load_2d>}} : !nv_tileas.tma_desc, {buffer.type}, index, "
        "index, !nv_tileas.mem_token -> !nv_tileas.token",
    )
    w.line(f"nv_tileas.async.wait {token} : !nv_tileas.token")
    w.mark("TMA into a buffer")


def tma_descriptor(w: Writer, argument: str, memory: str, type_: TileType, way: str) -> str:
    """Emit a descriptor whose box has the shape of a tile."""
    rows, columns = type_.shape
    return w.let(
        "d",
        f"nv_tileas.make_tiled_tma_desc {argument} box[{w.const(columns)}, {w.const(rows)}] "
        f"{{atom = #nv_tileas<atom tma_{way}_2d>}} : {memory} -> !nv_tileas.tma_desc",
    )


def slots(w: Writer, type_: TileType | None = None) -> list[Buffer]:
    """Emit two initialised slots of one allocation, as views at offsets or at indices."""
    type_ = w.shared(w.tile_type()) if type_ is None else type_
    if _is_transposed(w, type_):
        type_ = in_shared_memory(*type_.shape, element=type_.element)
    whole = in_shared_memory(2, *type_.shape, element=type_.element)
    base, storage = allocated(w, whole), w.number_of_storage()
    found: list[Buffer] = []
    for k in range(2):
        name = w.let("b", f"nv_tileas.view {base}{_place_of_slot(w, k, type_)}")
        w.lines[-1] += f" : {whole} -> {type_}"
        buffer = Buffer(name, type_, storage)
        fill(w, buffer, content(w, type_))
        found.append(buffer)
    w.scopes[-1].buffers += found
    w.mark("slots of one allocation")
    return found


def _place_of_slot(w: Writer, k: int, type_: TileType) -> str:
    size = k * type_.size
    return w.choose(
        [
            f" {{offset = {size}}}",
            f"[{w.const(size)}]",
            f"[{w.const(k)}{', %c0' * len(type_.shape)}]",
        ]
    )


def window(w: Writer) -> None:
    """Emit a view or slice of some rows of a buffer."""
    found = [b for b in w.buffers() if b.type.shape[0] >= 16]
    if not found:
        single(w)
        return
    whole = w.choose(found)
    rows = whole.type.shape[0] // 2
    type_ = in_shared_memory(rows, *whole.type.shape[1:], element=whole.type.element)
    first = w.const(w.number(0, rows))
    form = w.choose(["view", "slice"])
    if form == "view":
        where = coordinates(first, type_)
        text = f"nv_tileas.view {whole.name}[{where}] : {whole.type} -> {type_}"
    else:
        zeros, ones = ", 0" * (len(type_.shape) - 1), ", 1" * (len(type_.shape) - 1)
        sizes = ", ".join(map(str, type_.shape))
        text = (
            f"nv_tileas.extract_slice {whole.name}[{first}{zeros}][{sizes}][1{ones}] "
            f": {whole.type} -> {type_}"
        )
    part = w.buffer(w.let("b", text), type_, whole.storage)
    part.may_change = any(b is whole for b in w.buffers(to_write=True))
    w.mark(f"window by a {form}")
    read(w, part)


def read(w: Writer, buffer: Buffer) -> Tile:
    """Emit a read of a buffer: converted to registers, loaded from a view, or loaded in part."""
    form = w.choose(["convert", "load"])
    type_ = w.registers(buffer.type)
    w.mark(f"{form} out of a buffer")
    if form == "convert":
        if not type_.encoding:
            w.mark("conversion smem to none")
        move = f"nv_tileas.convert_layout {buffer.name} : {buffer.type} -> {type_}"
        return w.tile(w.let("x", move), type_)
    view = smem_view(w, buffer)
    where = coordinates("%c0", type_)
    text = f"nv_tileas.tiled_load {view}[{where}] {{atom = #any}}"
    return w.tile(w.let("x", f"{text} : {buffer.type.view('smem')} -> {type_}"), type_)


def some_buffer(w: Writer, *, to_write: bool = False) -> Buffer:
    """Return an existing buffer, or a new one."""
    found = w.buffers(to_write=to_write)
    if not found or w.chance(4):
        return single(w)
    return w.choose(found[:4])


def new(w: Writer) -> None:
    """Emit one or two new buffers."""
    if w.chance():
        slots(w)
    else:
        single(w)


def write(w: Writer) -> None:
    """Emit a write of new contents to a buffer."""
    buffer = some_buffer(w, to_write=True)
    fill(w, buffer, content(w, buffer.type))
    w.mark("buffer written again")


def look(w: Writer) -> None:
    """Emit a read of a buffer, or a direct store of it."""
    buffer = some_buffer(w)
    if w.chance(4):
        w.mark("store of a buffer")
        w.store_named(buffer.name, buffer.type)
    else:
        tiles.computed(w, read(w, buffer))


def write_between_reads(w: Writer) -> None:
    """Emit a read, a write and a second read of the same buffer."""
    buffer = some_buffer(w, to_write=True)
    type_ = w.registers(buffer.type)
    move = f"nv_tileas.convert_layout {buffer.name} : {buffer.type} -> {type_}"
    before = w.tile(w.let("x", move), type_)
    fill(w, buffer, tiles.changed(w, before))
    after = w.tile(w.let("x", move), type_)
    op = "subf" if type_.is_float else "subi"
    w.tile(w.let("x", f"arith.{op} {w.use(before)}, {w.use(after)} : {type_}"), type_)
    w.mark("buffer written between two reads")


STATEMENTS: Sequence[Callable[[Writer], object]] = (
    new,
    look,
    write,
    window,
    write_between_reads,
)
