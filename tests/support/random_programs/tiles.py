"""Random values: loads, elementwise operations, layout conversions, dots, reductions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.support.random_programs.tile_types import TileType
from tests.support.random_programs.writer import Tile, Writer, coordinates

FLOAT_OPS = ("addf", "subf", "mulf", "maximumf", "minimumf")
INTEGER_OPS = ("addi", "subi", "muli", "xori", "maxsi", "minui")
CASTS: dict[str, Sequence[tuple[str, str]]] = {
    "f32": (("truncf", "f16"), ("truncf", "bf16")),
    "f16": (("extf", "f32"),),
    "bf16": (("extf", "f32"),),
}
"""Integer casts of tiles are not among what `arith` verifies."""


def loaded(w: Writer, type_: TileType) -> Tile:
    """Emit a load of the input, synchronous or asynchronous."""
    argument, memory = w.input(type_)
    place = w.place_to_read()
    form = w.choose(["tiled", "plain", "async", "tma"][: 4 if type_.can_be_boxed else 3])
    w.mark(f"{form} load")
    if form == "plain":
        return w.tile(_plain_load(w, type_, argument, memory, place), type_)
    view = w.let("v", f"nv_tileas.view {argument} : {memory} -> {type_.view('gmem')}")
    where = coordinates(place, type_)
    if form == "async":
        token = w.let(
            "t",
            f"nv_tileas.async.tiled_load {view}[{where}] {{atom = #ldg}} "
            f": {type_.view('gmem')} -> !nv_tileas.token<{type_}>",
        )
        return w.tile(
            w.let("x", f"nv_tileas.async.wait {token} : !nv_tileas.token<{type_}> -> {type_}"),
            type_,
        )
    atom = w.choose(["#ldg", "#any"])
    if form == "tma":
        atom = f"#nv_tileas<atom tma_load_2d<box = [{type_.shape[1]}, {type_.shape[0]}]>>"
    load = f"nv_tileas.tiled_load {view}[{where}] {{atom = {atom}}}"
    return w.tile(w.let("x", f"{load} : {type_.view('gmem')} -> {type_}"), type_)


def _plain_load(w: Writer, type_: TileType, argument: str, memory: str, place: str) -> str:
    row = w.let("row", f"arith.muli {place}, {w.const(type_.shape[0])} : index")
    where = coordinates(row, type_)
    return w.let("x", f"nv_tileas.load {argument}[{where}] {{atom = #ldg}} : {memory} -> {type_}")


def value(w: Writer, type_: TileType) -> Tile:
    """Return a tile of exactly this type: existing, converted, or new."""
    known = w.values(lambda t: t.plain == type_.plain)
    if not known or w.chance(4):
        return loaded(w, type_)
    return converted(w, w.choose(known[:4]), type_)


def converted(w: Writer, tile: Tile, type_: TileType) -> Tile:
    """Convert a tile to a layout, possibly through an intermediate one."""
    if tile.type == type_:
        return tile
    if w.chance(3):
        w.mark("conversion chain")
        between = w.shared(type_) if w.chance() else w.registers(type_)
        if between not in (tile.type, type_):
            return converted_once(w, converted_once(w, tile, between), type_)
    return converted_once(w, tile, type_)


def converted_once(w: Writer, tile: Tile, type_: TileType) -> Tile:
    """Emit one `convert_layout`."""
    kinds = [kind_of(w, t) for t in (tile.type, type_)]
    w.mark(f"conversion {kinds[0]} to {kinds[1]}")
    move = f"nv_tileas.convert_layout {w.use(tile)} : {tile.type} -> {type_}"
    return w.tile(w.let("x", move), type_)


def kind_of(w: Writer, type_: TileType) -> str:
    """Return the kind of layout: `blocked`, `shared`, `nothing` ..."""
    meant = w.aliases.get(type_.encoding, "")
    return "smem" if type_.in_memory else meant.split("<")[0].removeprefix("#nv_tileas.") or "none"


def load(w: Writer) -> None:
    """Emit a load of the input."""
    loaded(w, w.registers(w.tile_type()))


def load_to_shared(w: Writer) -> None:
    """Emit a load of the input into a value with a shared-memory layout."""
    type_ = w.shared(w.tile_type())
    argument, memory = w.input(type_)
    view = w.let("v", f"nv_tileas.view {argument} : {memory} -> {type_.view('gmem')}")
    where = coordinates(w.place_to_read(), type_)
    w.mark("load to shared memory")
    name = w.let(
        "x",
        f"nv_tileas.tiled_load {view}[{where}] {{atom = #any}} : {type_.view('gmem')} -> {type_}",
    )
    converted(w, w.tile(name, type_), w.registers(type_))


def convert(w: Writer) -> None:
    """Emit a conversion to another layout."""
    type_ = w.registers(w.tile_type())
    tile = value(w, type_)
    converted(w, tile, w.registers(type_))


def elementwise(w: Writer) -> None:
    """Emit arithmetic on two tiles."""
    computed(w, value(w, w.registers(w.tile_type())))


def computed(w: Writer, one: Tile) -> Tile:
    """Return the result of arithmetic on a tile and a second one."""
    type_ = one.type
    op = w.choose(FLOAT_OPS if type_.is_float else INTEGER_OPS)
    other = value(w, type_)
    w.mark("element-wise")
    return w.tile(w.let("x", f"arith.{op} {w.use(one)}, {w.use(other)} : {type_}"), type_)


def unary(w: Writer) -> None:
    """Emit an element conversion, an absolute value, or the addition of a constant."""
    tile = value(w, w.registers(w.tile_type()))
    type_ = tile.type
    if not type_.is_float or w.chance(3):
        changed(w, tile)
        return
    if w.chance():
        w.tile(w.let("x", f"math.absf {w.use(tile)} : {type_}"), type_)
        return
    op, element = w.choose(CASTS[type_.element])
    w.mark("conversion of elements")
    result = type_.with_element(element)
    w.tile(w.let("x", f"arith.{op} {w.use(tile)} : {type_} to {result}"), result)


def changed(w: Writer, tile: Tile) -> Tile:
    """Return a tile that differs from the given one in every element."""
    type_ = tile.type
    number, op = ("1.5", "mulf") if type_.is_float else ("3", "addi")
    name = w.let("k", f"arith.constant dense<{number}> : {type_}")
    w.mark("constant tile")
    return w.tile(w.let("x", f"arith.{op} {w.use(tile)}, {name} : {type_}"), type_)


def generate(w: Writer) -> None:
    """Emit a tile computed from its coordinates."""
    type_ = w.registers(w.tile_type()).with_element("i32")
    args = [w.name("i") for _ in type_.shape]
    name = w.name("x")
    w.mark("generate")
    w.line(f"{name} = nv_tileas.generate : {type_} {{")
    w.line(f"^bb0({', '.join(f'{a}: index' for a in args)}):")
    with w.region():
        total = w.let("n", f"arith.addi {args[0]}, %block : index")
        for k, arg in enumerate(args):
            scaled = w.let("n", f"arith.muli {total}, {w.const(3 + k)} : index")
            total = w.let("n", f"arith.addi {scaled}, {arg} : index")
        w.line(f"{(last := w.name('n'))} = arith.index_cast {total} : index to i32")
        w.line(f"nv_tileas.yield {last} : i32")
    w.line("}")
    w.tile(name, type_)


def reduction(w: Writer) -> None:
    """Emit a row or column reduction: maxima, or integer sums, which are order-independent."""
    type_ = w.registers(_matrix_type(w))
    tile = value(w, type_)
    axis = w.choose([1, 0])
    result = w.registers(type_.with_shape(type_.shape[1 - axis]))
    element, op = type_.element, "maximumf" if type_.is_float else w.choose(["addi", "maxsi"])
    name = w.name("x")
    w.mark("reduction")
    w.line(
        f"{name} = nv_tileas.reduce {w.use(tile)} {{axis = {axis} : i32}} : {type_} -> {result} {{"
    )
    one, other = w.name("e"), w.name("e")
    w.line(f"^bb0({one}: {element}, {other}: {element}):")
    with w.region():
        total = w.let("e", f"arith.{op} {one}, {other} : {element}")
        w.line(f"nv_tileas.yield {total} : {element}")
    w.line("}")
    w.tile(name, result)


def _matrix_type(w: Writer) -> TileType:
    type_ = w.tile_type()
    return type_ if len(type_.shape) == 2 else type_.with_shape(16, 8)


PRODUCTS = (("f16", "mma_f16_f16_f32"), ("bf16", "mma_bf16_bf16_f32"))


def product(w: Writer) -> None:
    """Emit a small dot of values, or with an operand in shared memory."""
    element, atom = w.choose(PRODUCTS)
    m, n = w.choose([(16, 8), (16, 16)])
    a = value(w, w.registers(TileType((m, 16), element)))
    b = value(w, w.registers(TileType((16, n), element)))
    c_type = w.registers(TileType((m, n), "f32"))
    c = value(w, c_type)
    second = _operand(w, b)
    w.mark("product")
    types = f"{a.type}, {second[1]}, {c_type} -> {c_type}"
    names = f"{w.use(a)}, {second[0]}, {w.use(c)}"
    w.tile(
        w.let("x", f"nv_tileas.dot {names} {{atom = #nv_tileas<atom {atom}>}} : {types}"), c_type
    )


def _operand(w: Writer, tile: Tile) -> tuple[str, TileType]:
    """Return a tile value, or a buffer that contains the tile."""
    same = w.buffers()
    found = [b for b in same if b.type.plain == tile.type.plain]
    if found and w.chance():
        w.mark("product of a buffer")
        buffer = w.choose(found)
        return buffer.name, buffer.type
    return w.use(tile), tile.type


STATEMENTS: Sequence[Callable[[Writer], None]] = (
    load,
    elementwise,
    convert,
    unary,
    load_to_shared,
    generate,
    reduction,
    product,
)
