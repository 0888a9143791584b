"""The state of `convert-cute-nvgpu-to-ptx`: where instructions go, and what each value became.

A value is registers (`values`), or an address (`addresses`): a base register and a constant, so
that `ld.global [%rd1+128]` needs no addition. PTX text is written once and ptxas does not undo
careless placement of values with long lifetimes, so the lowering itself places instructions:

    once      constants and kernel-wide values: the entry block, where they dominate everything
    derive    what depends on one value and constants: right after that value, once
    here      once per block (or its loop's preheader)
    emit      the current block; loop-invariant instructions of innermost loops go to the preheader

    loop body:  %a = shl %i, 2        derive: after %i, outside of the loop if %i is
                %d = descriptor       invariant: hoisted while registers are left
                wgmma ...             stays

Hoisting is bounded by `registers_left`: each hoisted value is live all along the loop, and past the
budget ptxas would spill it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from functools import cached_property, lru_cache
from math import inf
from typing import Any

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import Pure

from tileas_xdsl.backend.ptx.lowering.forms import Form, form_of
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import OpError, op_error
from tileas_xdsl.dialects import ptx
from tileas_xdsl.dialects.cute_nvgpu.threads.innermost_loops import (
    LOOPS,
    is_innermost,
    registers_free,
    registers_left,
)
from tileas_xdsl.dialects.ir_queries import enclosing
from tileas_xdsl.dialects.kinds import has_instance
from tileas_xdsl.dialects.ptx.base import PtxOp, kind_of, type_of
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.isa.kinds import KINDS

Handler = Callable[[Any, "Lowering"], None]
"""Lowers one operation: reads `low.value`, emits, and calls `low.define` for its results."""


@dataclass(frozen=True, slots=True)
class Address:
    """An address (or a matrix descriptor): a base register and a constant offset.

    `root` and `terms` record how the register was computed: `base = root + sum(value * scale)`,
    with values of the IR.  Offsets are in bytes, those of a descriptor in units of 16 bytes.
    """

    base: SSAValue
    offset: int = 0
    root: SSAValue | None = None
    terms: tuple[tuple[SSAValue, int], ...] = ()

    @property
    def start(self) -> SSAValue:
        """The register that `terms` are added to."""
        return self.base if self.root is None else self.root


@lru_cache(maxsize=256)
def _is_pure(kind: type[Operation]) -> bool:
    return kind.has_trait(Pure)


@dataclass
class Loop:
    """An innermost loop: the block before it, and what is computed inside."""

    preheader: Block
    left: float = inf
    """32-bit registers of a thread that values computed before the loop may still take."""
    free: float = inf
    """Those of them that are in no use."""
    inside: set[SSAValue] = field(default_factory=set[SSAValue])
    _held: set[SSAValue] = field(default_factory=set[SSAValue])
    """Values before the loop that count as registers all along it."""
    _intermediate: set[SSAValue] = field(default_factory=set[SSAValue])
    """Values before the loop that only others before it have used so far."""

    def leaves_out(self, op: Operation) -> bool:
        """Whether an operation may be hoisted in front of the loop, and take its registers if so.

        It must be pure, use nothing defined inside, and fit the registers that are left. Operands
        that only served hoisted operations are replaced by the result: their registers are free.
        """
        if not _is_pure(type(op)) or not self.inside.isdisjoint(op.operands):
            return False
        replaced = self._held.intersection(op.operands)
        taken = _registers(op.results) - _registers(replaced)
        if taken > max(self.left, 0):
            return False
        self.left -= taken
        self.free -= taken
        self._held.difference_update(replaced)
        self._intermediate.update(replaced)
        self._held.update(op.results)
        return True

    def contains(self, op: Operation) -> None:
        """Record an operation inside: what it uses is in registers all along the loop."""
        self.inside.update(op.results)
        used = self._intermediate.intersection(op.operands)
        self.left -= _registers(used)
        self.free -= _registers(used)
        self._intermediate.difference_update(used)
        self._held.update(used)


def _registers(values: Iterable[SSAValue]) -> int:
    """Return the 32-bit registers of values of PTX; predicates have their own."""
    types = [type_of(value) for value in values]
    return sum(type_.count.data * KINDS[type_.kind.data].bits // 32 for type_ in types)


@dataclass(frozen=True)
class Halves:
    """Bytes 0 and 2, and bytes 1 and 3 of words, each the low byte of a sum of 16 bits."""

    even: SSAValue
    odd: SSAValue
    terms: int
    """How many bytes were added at most."""


@dataclass
class Lowering:
    """The lowering of one kernel."""

    handlers: Mapping[type[Operation], Handler]
    target: Target
    region: Region
    """The body of the entry."""
    block: Block
    """Where operations go now."""
    op: Operation
    """The operation that is lowered now."""
    uses_shared: bool = False
    """Whether it addresses dynamic shared memory."""
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    addresses: dict[SSAValue, Address] = field(default_factory=dict[SSAValue, Address])
    apart: dict[SSAValue, Halves] = field(default_factory=dict[SSAValue, Halves])
    """Of words of four bytes what they were put together of."""
    location: LocationAttr = UNKNOWN_LOC
    loop: Loop | None = None
    begun: dict[Operation, SSAValue] = field(default_factory=dict[Operation, SSAValue])
    """By wgmma after a fence: its initial accumulator registers, moved before the fence."""
    declared: dict[str, ptx.FunctionOp | ptx.GlobalOp] = field(
        default_factory=dict[str, "ptx.FunctionOp | ptx.GlobalOp"]
    )
    """What the module has to declare, by name."""
    texts: dict[bytes, str] = field(default_factory=dict[bytes, str])
    """The names of texts in memory."""
    _derived: dict[tuple[object, ...], SSAValue] = field(
        default_factory=dict[tuple[object, ...], SSAValue]
    )
    _shared: set[Operation] = field(default_factory=set[Operation])
    _last_shared: Operation | None = None

    @cached_property
    def has_loops(self) -> bool:
        """Whether the kernel that is lowered has a loop."""
        kernel = enclosing(self.op, FuncOp)
        return kernel is None or has_instance(kernel, *LOOPS)

    def lower(self, ops: Iterable[Operation]) -> None:
        """Lower operations one after the other; the block may change on the way.

        An instruction without registers may be there already: it stays as it is.
        """
        for op in ops:
            handler = self.handlers.get(type(op))
            self.op, self.location = op, op.location
            if handler is None and isinstance(op, PtxOp) and not op.operands and not op.results:
                self.act(op.clone())
                continue
            if handler is None:
                raise self.error("is not lowered to PTX")
            handler(op, self)

    def error(self, message: str) -> OpError:
        """A located error about the operation that is lowered now."""
        return op_error(self.op, message)

    def emit(self, op: PtxOp) -> SSAValue:
        """Put an operation at the end of the current block, or before the loop if it may be there.

        Gives the first result.
        """
        loop = self.loop
        if loop is None or not loop.leaves_out(op):
            self.act(op)
        else:
            op.location = self.location
            end = loop.preheader.last_op
            assert end is not None
            loop.preheader.insert_op_before(op, end)
        return op.results[0]

    def act(self, op: PtxOp) -> None:
        """Put an operation at the end of the current block."""
        op.location = self.location
        self.block.add_op(op)
        if self.loop is not None:
            self.loop.contains(op)

    @contextmanager
    def looping(self, op: Operation) -> Generator[None]:
        """Lower a loop after the current block; what stays the same in an innermost one leaves it.

        As far as `registers_left` of the loop goes: more than that ptxas would spill.

        What an outer loop does not change stays in it: it would be in registers all along the
        inner ones, where accumulators need them.
        """
        before = self.loop
        self.loop = (
            Loop(self.block, registers_left(op), registers_free(op)) if is_innermost(op) else None
        )
        try:
            yield
        finally:
            self.loop = before

    def declare(self, op: ptx.FunctionOp | ptx.GlobalOp) -> None:
        """Have the module declare something, once."""
        op.location = self.location
        self.declared.setdefault(op.sym_name.data, op)

    def value(self, value: SSAValue) -> SSAValue:
        """The registers of a value; of an address, in a register that dominates this block."""
        found = self.values.get(value)
        return self.at(self.addresses[value]) if found is None else found

    def define(self, value: SSAValue, registers: SSAValue) -> None:
        """Record the registers that a value is lowered to."""
        self.values[value] = registers

    def form(self, value: SSAValue) -> Form:
        """The registers that a value needs; an error if PTX has none for its type."""
        return self.form_of(value.type)

    def form_of(self, type_: Attribute) -> Form:
        """The registers of a type; an error if PTX has none for it."""
        form = form_of(type_)
        if form is None:
            raise self.error(f"no registers hold a value of type {type_}")
        return form

    def address_of(self, value: SSAValue) -> Address:
        """Where a pointer or descriptor points to."""
        found = self.addresses.get(value)
        if found is None:
            found = self.addresses[value] = Address(self.values[value])
        return found

    def at(self, address: Address) -> SSAValue:
        """The address in one register.

        Sums of 64 bits, which descriptors are, leave their loop only for registers that are in no
        use (attention of head size 64 is 2 to 10 % slower with them inside): in the loop each is
        one uniform addition, and cheaper than a spill.
        """
        if address.offset == 0:
            return address.base
        kind = kind_of(address.base)
        distance = self.constant(address.offset, kind)
        if kind == "b64":
            return self.here(
                ("+", address.base, address.offset),
                lambda: ptx.AddOp(address.base, distance, "s64"),
                for_free=True,
            )
        return self.derive(
            address.base,
            ("+", address.offset),
            lambda: ptx.AddOp(address.base, distance, f"s{kind[1:]}"),
        )

    def constant(self, value: float, kind: str = "b32", count: int = 1) -> SSAValue:
        """A constant; equal ones are one value."""
        # Zero has a sign: 0.0 and -0.0 are equal keys, their texts are not.
        key = ("constant", str(value), kind, count)
        return self.once(key, lambda: ptx.ConstOp(value, kind, count))

    def once(self, key: tuple[object, ...], make: Callable[[], PtxOp]) -> SSAValue:
        """Return the value of `make`, emitted once in the entry block to dominate all uses."""
        found = self._derived.get(key)
        if found is None:
            op = make()
            self._put(op, self._last_shared, self.region.blocks[0])
            self._last_shared = op
            self._shared.add(op)
            found = self._derived[key] = op.results[0]
        return found

    def derive(
        self, source: SSAValue, key: tuple[object, ...], make: Callable[[], PtxOp]
    ) -> SSAValue:
        """Return the value that `make` computes from `source` and constants, emitted once.

        It is placed right after `source`, outside of every loop that `source` is outside of.
        """
        found = self._derived.get((source, *key))
        if found is None:
            op, owner = make(), source.owner
            if isinstance(owner, Block):
                self._put(op, None, owner)
            else:
                block = owner.parent
                assert block is not None
                self._put(op, self._behind(owner), block)
            found = self._derived[source, *key] = op.results[0]
            if self.loop is not None and source in self.loop.inside:
                self.loop.inside.add(found)
        return found

    def here(
        self, key: tuple[object, ...], make: Callable[[], PtxOp], *, for_free: bool = False
    ) -> SSAValue:
        """Return the value that `make` computes, emitted once in the current block.

        With `for_free` it leaves a loop only where registers are in no use.
        """
        found = self._derived.get((self.block, *key))
        if found is None and self.loop is not None:
            found = self._derived.get((self.loop.preheader, *key))
        if found is None:
            op = make()
            if for_free and self.loop is not None and self.loop.free < _registers(op.results):
                self.act(op)
                found = op.results[0]
            else:
                found = self.emit(op)
            self._derived[op.parent, *key] = found
        return found

    def _behind(self, owner: Operation) -> Operation:
        """Return the operation after which users of `owner` and of constants may be inserted."""
        if owner in self._shared and self._last_shared is not None:
            return self._last_shared
        return owner

    def _put(self, op: PtxOp, behind: Operation | None, block: Block) -> None:
        op.location = self.location
        if behind is not None:
            block.insert_op_after(op, behind)
        elif (first := block.first_op) is not None:
            block.insert_op_before(op, first)
        else:
            block.add_op(op)

    def enter(self, block: Block) -> None:
        """Append a block to the region and continue in it."""
        self.region.add_block(block)
        self.block = block
        if self.loop is not None:
            self.loop.inside.update(block.args)


def block_of(types: Sequence[Attribute] = ()) -> Block:
    """Return a detached block with arguments of these types."""
    return Block(arg_types=types)
