"""Random tl programs as inference input: fragments read and written in every known way."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import prod
from random import Random

from tests.support.decided_programs import array, fragment, loop, program, read, write
from tests.support.tl_programs.reads import Shape, dim, fitting, reading
from tests.support.tl_programs.writer import MAX_ELEMENTS, Writer
from tests.support.tl_programs.writes import PARTIAL, WHOLE
from tileas_xdsl.inference.program import Access, Buffer, Operation, Program, Reduce

BLOCKS = (32, 64, 96, 128, 160, 256)


@dataclass
class Builder:
    """A program as it grows; `readable` are its fragments that have values."""

    w: Writer
    buffers: list[Buffer] = field(default_factory=list[Buffer])
    operations: list[Operation] = field(default_factory=list[Operation])
    readable: list[Buffer] = field(default_factory=list[Buffer])

    def array(self, shape: Shape) -> Buffer:
        return self._kept(array(f"A{len(self.buffers)}", *shape, bits=self.w.choose((16, 32))))

    def fragment(self, shape: Shape) -> Buffer:
        name = f"f{len(self.buffers)}"
        return self._kept(fragment(name, *shape, bits=self.w.choose((16, 32, 32))))

    def _kept(self, buffer: Buffer) -> Buffer:
        self.buffers.append(buffer)
        return buffer

    def loaded(self, rank: int | None = None) -> Buffer:
        shape = self.w.shape(rank)
        source, target = self.array(shape), self.fragment(shape)
        here = tuple(map(dim, range(len(shape))))
        moves = read(source.name, *here), write(target.name, *here)
        self.operations.append(loop(*shape, does=moves))
        self.readable.append(target)
        return target

    def reading(self, source: Buffer, kind: str = "", *, stores: bool = False) -> str:
        """A loop that reads a fragment in some way, perhaps others, and writes."""
        name, how = reading(self.w, source.shape, kind)
        accesses = [read(source.name, *at) for at in how.accesses]
        for other in self.readable:
            if not kind and other is not source and self.w.chance(3):
                accesses.append(
                    read(other.name, *(fitting(self.w, how.extents, other.shape) or ()))
                )
        accesses.append(self._written(how.extents, stores=stores))
        more = {"inner": how.inner} if how.inner else {}
        self.operations.append(loop(*how.extents, does=tuple(accesses), **more))
        return name

    def _written(self, extents: Shape, *, stores: bool) -> Access:
        kinds = WHOLE if self.w.chance(3) else {**WHOLE, **PARTIAL}
        shape, indices = kinds[self.w.choose(list(kinds))](self.w, extents)
        if stores or prod(shape) > MAX_ELEMENTS or self.w.chance():
            return write(self.array(shape).name, *indices)
        target = self.fragment(shape)
        self.readable.append(target)
        return write(target.name, *indices)

    def reduced(self, source: Buffer) -> None:
        if len(source.shape) < 2:
            return
        axis, keeps = self.w.number(0, len(source.shape) - 1), self.w.chance(3)
        middle = (1,) if keeps else ()
        target = self.fragment((*source.shape[:axis], *middle, *source.shape[axis + 1 :]))
        self.operations.append(Reduce(source.name, target.name, axis, keeps))
        self.readable.append(target)

    def in_place(self, source: Buffer) -> None:
        here = tuple(map(dim, range(len(source.shape))))
        accesses = [read(source.name, *here)]
        other = self.w.choose(self.readable)
        if other is not source:
            accesses.append(read(other.name, *(fitting(self.w, source.shape, other.shape) or ())))
        accesses.append(write(source.name, *here))
        self.operations.append(loop(*source.shape, does=tuple(accesses)))


def inferred(seed: int, statements: int | None = None) -> Program:
    """The program of a seed."""
    random = Random(seed)
    w = Writer(random, random.choice(BLOCKS))
    b = Builder(w)
    b.loaded()
    for _ in range(w.number(1, 5) if statements is None else statements):
        source = w.choose(b.readable)
        if w.chance(6):
            b.loaded()
        w.choose((b.reading, b.reading, b.reduced, b.in_place))(source)
    b.reading(w.choose(b.readable), stores=True)
    return program(w.threads, tuple(b.buffers), *b.operations)


def one_read(kind: str, seed: int) -> Program:
    """A fragment is filled and read in one way."""
    random = Random(seed)
    w = Writer(random, random.choice(BLOCKS))
    b = Builder(w)
    b.reading(b.loaded(2 if kind not in ("broadcast", "grouped") else None), kind, stores=True)
    return program(w.threads, tuple(b.buffers), *b.operations)


def renamed(asked: Program) -> tuple[Program, dict[str, str]]:
    """The same program with other names of its buffers, in another alphabetical order."""
    names = {name: f"z{len(asked.buffers) - k}" for k, name in enumerate(asked.buffers)}

    def access(one: Access) -> Access:
        return replace(one, buffer=names[one.buffer])

    def operation(one: Operation) -> Operation:
        if isinstance(one, Reduce):
            return replace(one, source=names[one.source], target=names[one.target])
        return replace(one, accesses=tuple(map(access, one.accesses)))  # type: ignore[union-attr]

    buffers = {names[n]: replace(b, name=names[n]) for n, b in asked.buffers.items()}
    return replace(
        asked, buffers=buffers, operations=tuple(map(operation, asked.operations))
    ), names
