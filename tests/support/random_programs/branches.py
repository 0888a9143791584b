"""Random selects and ifs over tiles and buffers, with layout conversions in the arms."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.support.random_programs import buffers, tiles
from tests.support.random_programs.tile_types import TileType
from tests.support.random_programs.writer import Buffer, Tile, Writer


def flag(w: Writer) -> str:
    """Return a condition: an existing one, or one that depends on the iteration or block index."""
    if not w.chance():
        return w.flag()
    number = w.choose(["%block", w.round])
    odd = w.let("odd", f"arith.andi {number}, {w.const(1)} : index")
    name = w.let("f", f"arith.cmpi {w.choose(['eq', 'ne'])}, {odd}, %c0 : index")
    w.scopes[-1].flags.append(name)
    return name


def select_of_tiles(w: Writer) -> None:
    """Emit a select of two values."""
    type_ = w.registers(w.tile_type())
    one, other = tiles.value(w, type_), tiles.value(w, type_)
    w.mark("select of values")
    text = f"arith.select {flag(w)}, {w.use(one)}, {w.use(other)} : {type_}"
    w.tile(w.let("x", text), type_)


def pair(w: Writer, *, to_write: bool = True) -> list[Buffer]:
    """Return two buffers of the same type and allocation."""
    found = w.buffers(to_write=to_write)
    for k, one in enumerate(found):
        for other in found[k + 1 :]:
            if (one.storage, one.type) == (other.storage, other.type) and w.chance():
                return [one, other]
    return buffers.slots(w)


def select_of_buffers(w: Writer) -> None:
    """Emit a select of two slots, followed by a read or write of the result."""
    one, other = pair(w)
    first, second = w.choose([(one, other), (other, one)])
    text = f"arith.select {flag(w)}, {first.name}, {second.name} : {one.type}"
    chosen = w.buffer(w.let("b", text), one.type, one.storage)
    w.mark("select of buffers")
    if w.chance():
        w.mark("selected buffer written")
        buffers.fill(w, chosen, buffers.content(w, chosen.type))
    buffers.read(w, w.choose([chosen, one, other]))


def branch(w: Writer) -> None:
    """Emit an if that yields tiles, each converted from a layout of its arm's own."""
    result = None if w.chance(4) else w.registers(w.tile_type())
    names = [] if result is None else [w.name("x")]
    head = f"{names[0]} = " if names else ""
    w.mark("if with a result" if names else "if without result")
    w.line(f"{head}scf.if {flag(w)}{'' if result is None else f' -> ({result})'} {{")
    _arm(w, result)
    w.line("} else {")
    _arm(w, result)
    w.line("}")
    if result is not None:
        w.tile(names[0], result)


def _arm(w: Writer, result: TileType | None) -> None:
    with w.region():
        w.some_statements(2)
        text = "" if result is None else w.use(_of_arm(w, result))
        w.store_unused()
        if result is not None:
            w.line(f"scf.yield {text} : {result}")


def _of_arm(w: Writer, result: TileType) -> Tile:
    """Compute a value in an arm in its own layout, converted to that of the branch."""
    inner = w.registers(result)
    tile = tiles.computed(w, tiles.value(w, inner))
    if inner == result:
        return tile
    w.mark("conversion at the end of an arm")
    return tiles.converted_once(w, tile, result)


def branch_of_buffers(w: Writer) -> None:
    """Emit an if that yields one of two slots."""
    one, other = pair(w)
    name, type_ = w.name("b"), one.type
    w.mark("if with a buffer")
    w.line(f"{name} = scf.if {flag(w)} -> ({type_}) {{")
    for k, buffer in enumerate(w.choose([(one, other), (other, one)])):
        with w.region():
            if w.chance(3):
                buffers.fill(w, buffer, buffers.content(w, type_))
            w.store_unused()
            w.line(f"scf.yield {buffer.name} : {type_}")
        w.line("}" if k else "} else {")
    buffers.read(w, w.buffer(name, type_, one.storage))


def arms_fill_a_new_tile(w: Writer) -> None:
    """Emit an if whose arms insert into fresh storage, all of it or different parts."""
    type_ = w.tile_type()
    if len(type_.shape) != 2:
        type_ = type_.with_shape(16, 8)
    piece_type = type_.with_shape(type_.shape[0] // 2, type_.shape[1])
    pieces = [tiles.value(w, piece_type) for _ in range(2)]
    begin, name = buffers.allocated(w, type_), w.name("x")
    w.mark("arms fill a new tile")
    w.line(f"{name} = scf.if {flag(w)} -> ({type_}) {{")
    for k in range(2):
        with w.region():
            text = begin
            for row, piece in enumerate(w.choose([pieces, pieces[::-1]])):
                text = insert(w, piece, text, type_, row * piece_type.shape[0])
            w.line(f"scf.yield {text} : {type_}")
        w.line("}" if k else "} else {")
    w.tile(name, type_)


def insert(w: Writer, piece: Tile, whole: str, type_: TileType, row: int | str) -> str:
    """Return `whole` with its rows from `row` on replaced by `piece`."""
    sizes = ", ".join(map(str, piece.type.shape))
    zeros, ones = ", 0" * (len(type_.shape) - 1), ", 1" * (len(type_.shape) - 1)
    text = f"nv_tileas.insert_slice {w.use(piece)} into {whole}[{row}{zeros}][{sizes}][1{ones}]"
    return w.let("x", f"{text} : {piece.type} into {type_}")


STATEMENTS: Sequence[Callable[[Writer], None]] = (
    branch,
    select_of_tiles,
    select_of_buffers,
    branch_of_buffers,
    arms_fill_a_new_tile,
)
