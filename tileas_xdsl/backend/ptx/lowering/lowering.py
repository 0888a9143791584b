"""The state of a lowering: where operations go, and which registers each value became."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tileas_xdsl.backend.ptx.lowering.forms import Form, form_of
from tileas_xdsl.diagnostics.emission import OpError, op_error
from tileas_xdsl.dialects.ptx.base import PtxOp
from tileas_xdsl.dialects.ptx.values import ConstOp

Handler = Callable[[Any, "Lowering"], None]
"""Lowers one operation: reads `low.value`, emits, and calls `low.define` for its results."""


@dataclass
class Lowering:
    """One kernel on its way."""

    handlers: Mapping[type[Operation], Handler]
    region: Region
    """The body of the entry."""
    entry: Block
    """Its first block: constants and addresses of variables are put in front there."""
    block: Block
    """Where operations go now."""
    op: Operation
    """The operation that is lowered now."""
    symbols: frozenset[str] = frozenset()
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    location: LocationAttr = UNKNOWN_LOC
    _shared: dict[tuple[object, ...], SSAValue] = field(
        default_factory=dict[tuple[object, ...], SSAValue]
    )
    _last_shared: Operation | None = None

    def lower(self, ops: Sequence[Operation]) -> None:
        """Lower operations one after the other; the block may change on the way."""
        for op in ops:
            handler = self.handlers.get(type(op))
            self.op, self.location = op, op.location
            if handler is None:
                raise self.error("is not lowered to PTX")
            handler(op, self)

    def error(self, message: str, op: Operation | None = None) -> OpError:
        """A located error about the operation that is lowered now."""
        return op_error(op or self.op, message)

    def emit(self, op: PtxOp) -> SSAValue:
        """Put an operation at the end of the current block; its first result."""
        self.act(op)
        return op.results[0]

    def act(self, op: PtxOp) -> None:
        """Put an operation without results at the end of the current block."""
        op.location = self.location
        self.block.add_op(op)

    def value(self, value: SSAValue) -> SSAValue:
        """The registers of a value."""
        return self.values[value]

    def define(self, value: SSAValue, registers: SSAValue) -> None:
        """Say which registers a value became."""
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

    def constant(self, value: float, kind: str = "b32", count: int = 1) -> SSAValue:
        """A constant; equal ones are one value."""
        # Zero has a sign: 0.0 and -0.0 are equal keys, their texts are not.
        return self.once(("const", str(value), kind, count), lambda: ConstOp(value, kind, count))

    def once(self, key: tuple[object, ...], make: Callable[[], PtxOp]) -> SSAValue:
        """What `make` gives, made once in front of the entry, where every place sees it."""
        found = self._shared.get(key)
        if found is not None:
            return found
        op = make()
        if self._last_shared is None:
            first = self.entry.first_op
            if first is None:
                self.entry.add_op(op)
            else:
                self.entry.insert_op_before(op, first)
        else:
            self.entry.insert_op_after(op, self._last_shared)
        self._last_shared = op
        self._shared[key] = op.results[0]
        return op.results[0]

    def new_block(self, types: Sequence[Attribute] = ()) -> Block:
        """A block behind all others that takes registers of these types."""
        block = Block(arg_types=types)
        self.region.add_block(block)
        return block
