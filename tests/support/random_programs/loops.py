"""Loops, for and while: what they carry, dead arguments, slices of the rounds, carried buffers."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.support.random_programs import branches, buffers, tiles
from tests.support.random_programs.tile_types import TileType
from tests.support.random_programs.writer import MOST_ROUNDS, Buffer, Writer


@dataclass
class Carried:
    """A value that a loop carries: where it begins, and what a round gives to the next."""

    begin: str
    type: TileType
    argument: str
    result: str
    next: str = ""
    """The value that is yielded; empty as long as it is not known."""


@dataclass
class Loop:
    """A loop under construction."""

    carried: list[Carried] = field(default_factory=list[Carried])

    def begin(self, w: Writer, begin: str, type_: TileType) -> Carried:
        """One more value to carry."""
        one = Carried(begin, type_, w.name("arg"), w.name("x"))
        self.carried.append(one)
        return one


@contextmanager
def loop(w: Writer, carried: Sequence[Carried]) -> Generator[None]:
    """A `for` or a `while` around what is written inside; `next` must be set by then."""
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
    """From 0 to 2 up to as many rounds as a loop may have; the end may be an argument."""
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
    """A `while` that counts its rounds."""
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
    """A tile that grows round by round; it may change its layout on the way."""
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
    """What a round makes of a carried tile."""
    tile = w.values(lambda t: True)
    mine = next(t for t in tile if t.name == one.argument)
    inner = w.registers(one.type)
    if inner != one.type:
        w.mark("conversion of a carried tile")
        mine = tiles.converted_once(w, mine, inner)
    sum_ = tiles.computed(w, mine)
    return w.use(tiles.converted_once(w, sum_, one.type) if inner != one.type else sum_)


def _dead_arguments(w: Writer, made: Loop) -> None:
    """Arguments that nobody needs: never read, feeding themselves, feeding each other."""
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
    """A loop that carries something only for itself, and stores what it computes."""
    made = Loop()
    _dead_arguments(w, made)
    type_ = w.registers(w.tile_type())
    dead = made.begin(w, w.use(tiles.value(w, type_)), type_)
    with loop(w, made.carried):
        w.some_statements(2)
        dead.next = w.use(tiles.computed(w, w.tile(dead.argument, type_)))
    w.mark("dead argument: computed")


def carried_buffer(w: Writer) -> None:
    """A buffer that every round gets and gives on, as it is or by its first name."""
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
    """Two slots that change places from round to round, or are selected by its number."""
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
    """Read buffers and write them."""
    tile = buffers.read(w, w.choose(inner))
    if w.chance():
        tile = tiles.computed(w, tile)
    buffers.fill(w, w.choose(inner), tile)
    w.some_statements(1)


def filled_in_parts(w: Writer) -> None:
    """A carried tile that every round fills before it reads it."""
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
    """A loop that carries nothing."""
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
