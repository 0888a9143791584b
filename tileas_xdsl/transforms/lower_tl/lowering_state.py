"""State of the lowering: buffer locations, register values, scalars."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, IntegerType, VectorType
from xdsl.dialects.vector import BitcastOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.hints import isa

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.locations import name_of
from tileas_xdsl.layout.expr.affine_form import AffineForm
from tileas_xdsl.target.arch import Target
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.index.affine_codegen import AffineWriter
from tileas_xdsl.threads.index.thread_affine import ThreadAffine, of_scalar
from tileas_xdsl.threads.registers.vector_values import element_type
from tileas_xdsl.transforms.lower_tl.buffer_locations import (
    BufferLocation,
    FragmentLocation,
    SharedLocation,
)

Handler: TypeAlias = "Callable[[State, Any], None]"
"""Lowers one operation of the block; all of its threads come here."""


@dataclass
class State:
    """The state of lowering one `tl` kernel to thread-level IR."""

    e: ThreadBuilder
    target: Target
    threads: int
    handlers: Mapping[type[Operation], Handler]
    barriers_before: frozenset[Operation] = frozenset()
    """Operations before which all threads wait for one another."""
    stages: Mapping[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    """How many stages each buffer has in a pipelined loop."""
    locations: dict[SSAValue, BufferLocation] = field(
        default_factory=dict[SSAValue, BufferLocation]
    )
    registers: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """By storage, what registers of fragments and local buffers hold now."""
    values: dict[SSAValue, ThreadAffine | SSAValue] = field(
        default_factory=dict[SSAValue, "ThreadAffine | SSAValue"]
    )
    """Scalars, the same in all threads."""
    ranges: dict[SSAValue, tuple[int, int]] = field(default_factory=dict[SSAValue, tuple[int, int]])
    """The smallest and the largest number that a scalar may be."""
    scratch_offsets: dict[tuple[Operation, str], int] = field(
        default_factory=dict[tuple[Operation, str], int]
    )
    """Shared memory through which threads exchange elements, by operation and what for."""
    writer: AffineWriter = field(init=False)

    def __post_init__(self) -> None:
        self.writer = AffineWriter(self.e, self.threads)

    def lower(self, op: Operation) -> None:
        """Lower one operation of the block; an error where nothing lowers it."""
        outer, self.e.source = self.e.source, op
        handler = self.handlers.get(type(op))
        if handler is None:
            raise op_error(op, f"'{name_of(op)}' is not lowered to threads yet")
        if op in self.barriers_before:
            synchronize_agent(self.e)
        handler(self, op)
        self.e.source = outer

    def run(self, block: Block) -> None:
        """Lower the operations of a block, but for a terminator."""
        for op in block.ops:
            if not op.name.endswith("yield"):
                self.lower(op)

    def fragment(self, op: Operation, buffer: SSAValue) -> FragmentLocation:
        """A buffer that has to be a fragment."""
        location = self.locations[buffer]
        if not isinstance(location, FragmentLocation):
            raise op_error(op, f"takes a fragment, not {buffer.type}")
        return location

    def held(self, location: FragmentLocation) -> SSAValue:
        """What the registers of a fragment hold, as its elements."""
        return self._as_bits(self.registers[location.storage], location.element, location.registers)

    def hold(self, location: FragmentLocation, value: SSAValue) -> None:
        """Put a vector into the registers of a fragment, or of what it is a view of."""
        element = element_type(self.registers[location.storage])
        self.registers[location.storage] = self._as_bits(value, element, location.registers)

    def _as_bits(self, value: SSAValue, element: Attribute, count: int) -> SSAValue:
        type_ = VectorType(element, [count])
        return value if value.type == type_ else self.e.insert(BitcastOp(value, type_)).result

    def shared(self, op: Operation, buffer: SSAValue) -> SharedLocation:
        """A buffer that has to be in shared memory."""
        location = self.locations[buffer]
        if not isinstance(location, SharedLocation):
            raise op_error(op, f"takes a buffer in shared memory, not {buffer.type}")
        return location

    def affine(self, value: SSAValue) -> ThreadAffine:
        """An integer of the block as a sum."""
        found = self.values[value]
        return found if isinstance(found, AffineForm) else of_scalar(found)

    def scalar(self, value: SSAValue) -> SSAValue:
        """A scalar of the block as code."""
        found = self.values[value]
        if not isinstance(found, AffineForm):
            return found
        if found.is_constant and isa(value.type, IntegerType):
            constant = IntegerAttr(int(found.constant[0, 0]), value.type)
            return self.e.insert(arith.ConstantOp(constant)).result
        return self.writer.number(found, np.ones(self.threads, dtype=bool), value.type)
