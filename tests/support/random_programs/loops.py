"""Random for and while loops: carried values and buffers, dead arguments, partial tiles."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.support.random_programs import branches, buffers, tiles
from tests.support.random_programs.tile_types import TileType
from tests.support.random_programs.writer import MOST_ROUNDS, Buffer, Writer


@dataclass
class Carried:
    """A loop-carried value: its initial value and the value yielded to the next iteration."""

    begin: str
    type: TileType
    argument: str
    result: str
    next: str = ""
    """The yielded value; empty until it is known."""


@dataclass
class Loop:
    """A loop under construction."""

    carried: list[Carried] = field(default_factory=list[Carried])

    def begin(self, w: Writer, begin: str, type_: TileType) -> Carried:
        """Add a carried value with its initial value."""
        one = Carried(begin, type_, w.name("arg"), w.name("x"))
        self.carried.append(one)
        return one


@contextmanager
def loop(w: Writer, carried: Sequence[Carried]) -> Generator[None]:
    """Emit a `for` or `while` around the enclosed text; `next` must be set by its end."""
    with (_while if w.chance(4) else _for)(w, carried):
        yield


@contextmanager
def _for(w: Writer, carried: Sequence[Carried]) -> Generator[None]:
    i, head, types = w.name("i"), "", ""
    if carried:
        head = f"{', '.join(one.result for one in carried)} = "
        begins = ", ".join(f"{one.argument} = {one.begin}" for one in carried)
        types = f" iter_args({begins}) -> ({_types(carried)})"
    low, high, step = _bounds(w)
    w.line(f"{head}scf.for {i} = {low} to {high} step {step}{types} {{")
    w.mark("for")
    with w.region(round=i):
        yield
        w.store_unused()
        if carried:
            w.line(f"scf.yield {', '.join(one.next for one in carried)} : {_types(carried)}")
    w.line(f"}}{_slice_count(w)}")


def _bounds(w: Writer) -> tuple[str, str, str]:
    """Return loop bounds and step within the iteration limit; the upper one may be an argument."""
    if w.chance(3):
        w.mark("bound that is not known")
        return "%c0", "%n", "%c1"
    high = w.number(1, MOST_ROUNDS)
    low = w.choose([0, 0, 1])
    w.mark("loop without rounds" if low >= high else "loop with known rounds")
    return w.const(low), w.const(high), w.const(w.choose([1, 1, 2]))


def _slice_count(w: Writer) -> str:
    if not w.chance(3):
        return ""
    w.mark("sliceCount")
    return f" {{sliceCount = {w.choose([2, 1, 3])} : i32}}"


@contextmanager
def _while(w: Writer, carried: Sequence[Carried]) -> Generator[None]:
    """Emit a `while` that counts its iterations."""
    index, end = w.name("i"), w.choose(["%n", w.const(w.number(1, MOST_ROUNDS))])
    inside = [w.name("arg") for _ in carried]
    begins = ", ".join(
        [
            *(f"{name} = {one.begin}" for name, one in zip(inside, carried, strict=True)),
            f"{index}a = %c0",
        ]
    )
    types = ", ".join([*(str(one.type) for one in carried), "index"])
    results = ", ".join([*(one.result for one in carried), f"{index}r"])
    w.line(f"{results} = scf.while ({begins}) : ({types}) -> ({types}) {{")
    w.mark("while")
    with w.region():
        more = w.let("more", f"arith.cmpi slt, {index}a, {end} : index")
        passed = ", ".join([*inside, f"{index}a"])
        w.line(f"scf.condition({more}) {passed} : {types}")
    w.line("} do {")
    arguments = ", ".join([*(f"{one.argument}: {one.type}" for one in carried), f"{index}: index"])
    w.line(f"^bb0({arguments}):")
    with w.region(round=index):
        yield
        w.store_unused()
        following = w.let("i", f"arith.addi {index}, %c1 : index")
        w.line(f"scf.yield {', '.join([*(one.next for one in carried), following])} : {types}")
    w.line("}")


def _types(carried: Sequence[Carried]) -> str:
    return ", ".join(str(one.type) for one in carried)


def accumulate(w: Writer) -> None:
    """Emit an accumulation over iterations, possibly with layout conversions."""
    made = Loop()
    for _ in range(w.number(1, 2)):
        type_ = w.registers(w.tile_type())
        made.begin(w, w.use(tiles.value(w, type_)), type_)
    _dead_arguments(w, made)
    with loop(w, made.carried):
        for one in made.carried:
            if not one.next:
                w.tile(one.argument, one.type)
        w.some_statements(2)
        for one in made.carried:
            if not one.next:
                one.next = _grown(w, one)
    w.mark("carried tile")
    for one in made.carried:
        if one.next:
            w.tile(one.result, one.type)


def _grown(w: Writer, one: Carried) -> str:
    """Return the next value of a carried tile."""
    tile = w.values(lambda t: True)
    mine = next(t for t in tile if t.name == one.argument)
    inner = w.registers(one.type)
    if inner != one.type:
        w.mark("conversion of a carried tile")
        mine = tiles.converted_once(w, mine, inner)
    sum_ = tiles.computed(w, mine)
    return w.use(tiles.converted_once(w, sum_, one.type) if inner != one.type else sum_)


def _dead_arguments(w: Writer, made: Loop) -> None:
    """Add dead carried values: never read, feeding only themselves, or feeding each other."""
    form = w.choose(["none", "unused", "self-feeding", "mutually feeding", "passing"])
    if form == "none":
        return
    w.mark(f"dead argument: {form}")
    type_ = w.registers(w.tile_type())
    begin = w.use(tiles.value(w, type_))
    first = made.begin(w, begin, type_)
    if form == "mutually feeding":
        other = made.begin(w, w.use(tiles.value(w, type_)), type_)
        first.next, other.next = other.argument, first.argument
    else:
        first.next = begin if form == "unused" else first.argument


def dead_results(w: Writer) -> None:
    """Emit a loop with a dead carried value, which stores its other results."""
    made = Loop()
    _dead_arguments(w, made)
    type_ = w.registers(w.tile_type())
    dead = made.begin(w, w.use(tiles.value(w, type_)), type_)
    with loop(w, made.carried):
        w.some_statements(2)
        dead.next = w.use(tiles.computed(w, w.tile(dead.argument, type_)))
    w.mark("dead argument: computed")


def carried_buffer(w: Writer) -> None:
    """Emit a loop that carries a buffer, yielded through its argument or its outer name."""
    buffer = buffers.some_buffer(w, to_write=True)
    made = Loop()
    one = made.begin(w, buffer.name, buffer.type)
    one.next = w.choose([one.argument, buffer.name])
    with loop(w, made.carried):
        inner = w.buffer(one.argument, buffer.type, buffer.storage)
        _work(w, [inner])
    w.mark("carried buffer")
    buffers.read(w, w.buffer(one.result, buffer.type, buffer.storage))


def double_buffer(w: Writer) -> None:
    """Emit a loop that swaps two slots per iteration, or selects one by the iteration index."""
    pair = branches.pair(w)
    made = Loop()
    first, second = (made.begin(w, b.name, b.type) for b in pair)
    first.next, second.next = second.argument, first.argument
    with loop(w, made.carried):
        inner = [
            w.buffer(one.argument, b.type, b.storage)
            for one, b in zip(made.carried, pair, strict=True)
        ]
        _work(w, inner)
    w.mark("buffers that change places")
    buffers.read(w, w.buffer(w.choose([first, second]).result, pair[0].type, pair[0].storage))


def _work(w: Writer, inner: Sequence[Buffer]) -> None:
    """Emit reads and writes of buffers."""
    tile = buffers.read(w, w.choose(inner))
    if w.chance():
        tile = tiles.computed(w, tile)
    buffers.fill(w, w.choose(inner), tile)
    w.some_statements(1)


def filled_in_parts(w: Writer) -> None:
    """Emit a loop that fills a carried tile completely before it reads it."""
    type_ = w.tile_type()
    if len(type_.shape) != 2:
        type_ = type_.with_shape(16, 8)
    half = type_.with_shape(type_.shape[0] // 2, type_.shape[1])
    made = Loop()
    one = made.begin(w, buffers.allocated(w, type_), type_)
    with loop(w, made.carried):
        text = one.argument
        for row in w.choose([(0, half.shape[0]), (half.shape[0], 0)]):
            text = branches.insert(w, tiles.value(w, half), text, type_, row)
        one.next = text
        filled = w.tile(text, type_)
        part = f"nv_tileas.extract_slice {w.use(filled)}[{w.number(0, half.shape[0])}, 0]"
        size = f"[{half.shape[0]}, {half.shape[1]}][1, 1]"
        w.tile(w.let("x", f"{part}{size} : {type_} -> {half}"), half)
    w.mark("carried tile that is filled first")


def plain(w: Writer) -> None:
    """Emit a loop without carried values."""
    with loop(w, []):
        w.some_statements(3)


STATEMENTS: Sequence[Callable[[Writer], None]] = (
    accumulate,
    carried_buffer,
    dead_results,
    double_buffer,
    filled_in_parts,
    plain,
)
