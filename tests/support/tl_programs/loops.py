"""Random parallel loops: an access to read, arithmetic, and an access to write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from tests.support.tl_programs.reads import Index, Reading, dim, fitting, reading
from tests.support.tl_programs.values import OPERATIONS, combined
from tests.support.tl_programs.writer import ELEMENTS, MAX_ELEMENTS, Buffer, Writer
from tests.support.tl_programs.writes import PARTIAL, WHOLE


@dataclass(frozen=True)
class Target:
    """Destination of a loop's values; `around` are indices before those of the loop."""

    buffer: Buffer
    indices: tuple[Index, ...]
    around: tuple[str, ...] = ()


def loop(w: Writer, source: Buffer, kind: str = "", *, stores: bool = False) -> None:
    """Emit a loop that reads a buffer and writes an array or a new buffer."""
    name, read = reading(w, source.shape, kind)
    w.mark(name)
    element = w.choose(ELEMENTS)
    target = new_target(w, read.extents, element, stores=stores)
    if read.inner:
        _accumulate(w, source, read, target)
    else:
        others = [] if kind else _others(w, read.extents, source)
        _plain(w, source, read, others, target)
    if target.buffer.space:
        w.readable.append(target.buffer)


def new_target(w: Writer, extents: tuple[int, ...], element: str, *, stores: bool) -> Target:
    """Return a new array or buffer as destination of a loop."""
    space = "" if stores or w.chance() else w.choose(("fragment", "fragment", "shared"))
    kinds = WHOLE if w.chance() else {**WHOLE, **PARTIAL}
    kind = "identity" if space and w.chance() else w.choose(list(kinds))
    shape, indices = kinds[kind](w, extents)
    w.mark(f"{kind} write")
    if not space:
        return Target(w.output(shape, element), indices, w.blocks)
    buffer = w.allocated(shape, element, space)
    if kind in PARTIAL:
        fill(w, buffer)
    return Target(buffer, indices)


def fill(w: Writer, buffer: Buffer) -> None:
    """Emit a fill of a buffer with a constant."""
    value = w.constant(w.number(-3, 3), buffer.element)
    w.line(f"tl.fill {buffer.name}, {value} : {buffer.type}")
    w.mark("fill")


def _others(w: Writer, extents: tuple[int, ...], source: Buffer) -> list[tuple[Buffer, tuple]]:
    """Return additional operands: other buffers, and arrays with out-of-bounds reads."""
    result: list[tuple[Buffer, tuple[Index, ...]]] = []
    for buffer in w.random.sample(w.readable, min(len(w.readable), w.number(0, 2))):
        if buffer is not source:
            w.mark("other buffers")
            result.append((buffer, fitting(w, extents, buffer.shape)))
    if w.chance():
        result.append(_array(w, extents))
    return result


def _array(w: Writer, extents: tuple[int, ...]) -> tuple[Buffer, tuple[Index, ...]]:
    if w.chance(3):
        w.mark("outside of an array")
        shape = tuple(max(1, e - w.number(0, 3)) for e in extents)
        return w.array(shape, w.choose(ELEMENTS)), tuple(
            dim(k) + w.number(-2, 2) for k in range(len(extents))
        )
    return w.array(extents, w.choose(ELEMENTS)), tuple(map(dim, range(len(extents))))


def _plain(
    w: Writer,
    source: Buffer,
    read: Reading,
    others: Sequence[tuple[Buffer, tuple[Index, ...]]],
    target: Target,
) -> None:
    pointers = {at: _pointers(w, source, read, at) for at in read.accesses if None in at}
    with parallel(w, read.extents) as names:
        accesses = [(source, at) for at in read.accesses] + list(others)
        values = [
            (_load(w, buffer, at, names, pointers.get(at)), buffer) for buffer, at in accesses
        ]
        value, bound = combined(w, values, target.buffer.element)
        w.bounds[target.buffer.name] = max(bound, w.bounds.get(target.buffer.name, 4))
        at = [*target.around, *(w.index(i, names) for i in target.indices if i is not None)]
        if not target.buffer.space and w.chance(4):
            with w.block(f"scf.if {_condition(w, names, read.extents, values[0])}"):
                w.store(value, target.buffer, at)
            w.mark("condition")
        else:
            w.store(value, target.buffer, at)


def parallel(w: Writer, extents: tuple[int, ...]) -> Parallel:
    """Open a parallel loop; entering it returns the names of its variables."""
    return Parallel(w, extents)


class Parallel:
    """The body of a parallel loop as a context manager."""

    def __init__(self, w: Writer, extents: tuple[int, ...]) -> None:
        self.names = [w.name("i") for _ in extents]
        bounds = ", ".join(map(str, extents))
        self.block = w.block(f"tl.parallel ({', '.join(self.names)}) in ({bounds})")

    def __enter__(self) -> list[str]:
        self.block.__enter__()
        return self.names

    def __exit__(self, *error: object) -> None:
        self.block.__exit__(None, None, None)


def _pointers(w: Writer, source: Buffer, read: Reading, at: tuple[Index, ...]) -> Buffer:
    """Return an index array with the element that each iteration reads."""
    return w.array(read.extents, "i32", 0, source.shape[at.index(None)] - 1)


def _load(
    w: Writer, buffer: Buffer, at: tuple[Index, ...], names: list[str], pointers: Buffer | None
) -> str:
    chosen = ""
    if pointers is not None:
        pointer = w.load(pointers, names[: len(pointers.shape)])
        chosen = w.let("p", f"arith.index_cast {pointer} : i32 to index")
    return w.load(buffer, [chosen if i is None else w.index(i, names) for i in at])


def _condition(
    w: Writer, names: list[str], extents: tuple[int, ...], value: tuple[str, Buffer]
) -> str:
    """Return the condition of a store: on the iteration index or on loaded data."""
    name, element = value[0], value[1].element
    if w.chance() and element != "i32":
        zero = w.constant(0, element)
        return w.let("b", f"arith.cmpf ogt, {name}, {zero} : {element}")
    k = w.number(0, len(extents) - 1)
    limit = w.constant(w.number(0, extents[k]), "index")
    return w.let("b", f"arith.cmpi {w.choose(('ult', 'uge'))}, {names[k]}, {limit} : index")


def _accumulate(w: Writer, source: Buffer, read: Reading, target: Target) -> None:
    """Emit a reduction over a serial loop in the body, accumulated in the destination."""
    zero, end = w.constant(0, "index"), w.constant(read.inner[0], "index")
    start = w.constant(w.number(-2, 2), target.buffer.element)
    with parallel(w, read.extents) as names:
        at = [*target.around, *(w.index(i, names) for i in target.indices if i is not None)]
        w.store(start, target.buffer, at)
        k = w.name("k")
        with w.block(f"tl.serial {k} = {zero} to {end}"):
            value = _load(w, source, read.accesses[0], [*names, k], None)
            value, bound = combined(w, [(value, source)], target.buffer.element, limit=4)
            w.store(added(w, value, target.buffer, at), target.buffer, at)
    w.bounds[target.buffer.name] = 4 + bound * read.inner[0]


def added(w: Writer, value: str, buffer: Buffer, at: Sequence[str]) -> str:
    """Return an element combined with one more value."""
    before, operation = w.load(buffer, at), w.choose(OPERATIONS[buffer.element])
    return w.let("v", f"arith.{operation} {before}, {value} : {buffer.element}")


def atomics(w: Writer, source: Buffer) -> None:
    """Emit atomic additions of many iterations to an array."""
    name, read = reading(w, source.shape)
    if read.inner or None in read.accesses[0]:
        return
    w.mark(name)
    w.mark("atomics")
    element = w.choose(("f32", "i32"))
    axis = w.number(0, len(read.extents) - 1)
    extent = w.choose((1, min(7, read.extents[axis]), read.extents[axis]))
    sums = w.output((extent,), element)
    with parallel(w, read.extents) as names:
        found = _load(w, source, read.accesses[0], names, None)
        value, _ = combined(w, [(found, source)], element, limit=64)
        at = ", ".join([*w.blocks, w.index(dim(axis) % extent, names)])
        w.line(f"tl.atomic_add {sums.name}[{at}], {value} : {sums.type}")


def in_place(w: Writer, buffer: Buffer) -> None:
    """Emit an in-place update of a buffer."""
    others = _others(w, buffer.shape, buffer)
    w.mark("in place")
    with parallel(w, buffer.shape) as names:
        values = [(w.load(buffer, names), buffer)]
        values += [(_load(w, b, at, names, None), b) for b, at in others]
        value, w.bounds[buffer.name] = combined(w, values, buffer.element)
        w.store(value, buffer, names)


def rounds(w: Writer, source: Buffer) -> None:
    """Emit a serial loop of the block over rows."""
    if len(source.shape) < 2 or prod(source.shape) > MAX_ELEMENTS:
        return
    rest, element = source.shape[1:], w.choose(("f32", "i32"))
    total = w.allocated(rest, element, "fragment")
    fill(w, total)
    zero, end = w.constant(0, "index"), w.constant(source.shape[0], "index")
    k = w.name("k")
    w.mark("serial around")
    with w.block(f"tl.serial {k} = {zero} to {end}"), parallel(w, rest) as names:
        found = w.load(source, [k, *names])
        value, bound = combined(w, [(found, source)], element, limit=64)
        w.store(added(w, value, total, names), total, names)
    w.bounds[total.name] = 4 + bound * source.shape[0]
    w.readable.append(total)
