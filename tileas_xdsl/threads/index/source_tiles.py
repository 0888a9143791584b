"""The tiles whose elements the body of a `generate` extracts, where threads can read them.

%e = tensor.extract %t[%i, %j]      coordinates known at compile time: registers renamed, or
                                    gathered from other threads before the body
%e = tensor.extract %t[%k]          computed at run time: from lanes where a warp holds all of
                                    a short tile, else from a copy in shared memory
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import TypeAlias

import numpy as np
from xdsl.dialects import tensor
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    i1_constant,
    logical_and,
    xor,
)
from tileas_xdsl.threads.codegen.lowered_values import (
    RegisterTile,
    Splat,
)
from tileas_xdsl.threads.convert.register_conversion import carried
from tileas_xdsl.threads.index.generate_body import GenerateBody, Path, Step
from tileas_xdsl.threads.index.per_thread_tables import (
    Table,
)
from tileas_xdsl.threads.index.runtime_elements import (
    from_carrier,
    lanes_layout,
    scratch_element,
    taken_from_lanes,
)
from tileas_xdsl.threads.registers.register_gather import (
    Gathered,
    gathered,
)
from tileas_xdsl.threads.registers.register_tile import in_registers
from tileas_xdsl.threads.registers.vector_values import (
    element,
    is_vector,
    joined,
    splat_scalar,
)
from tileas_xdsl.threads.smem.scratch_buffer import Scratch, spilled

LoweredValue: TypeAlias = Callable[[SSAValue], SSAValue]
"""What a value of the body is in the code for a block of registers."""


@dataclass
class SourceTiles:
    """Where the elements of the tiles are that a body extracts from."""

    e: ThreadBuilder
    body: GenerateBody
    taken: dict[Operation, Gathered] = field(default_factory=dict[Operation, Gathered])
    """Elements extracted at statically known coordinates, by `extract` operation."""
    scratch_buffers: dict[SSAValue, Scratch] = field(default_factory=dict[SSAValue, Scratch])
    """Shared-memory copies of tiles that are read at run-time coordinates."""
    in_lanes: dict[SSAValue, RegisterTile] = field(default_factory=dict[SSAValue, RegisterTile])
    """Short tiles that are read at run-time coordinates, an element a lane."""
    vectors: dict[tuple[object, ...], SSAValue] = field(
        default_factory=dict[tuple[object, ...], SSAValue]
    )
    """Vectors that several register blocks share."""

    def prepare(self) -> None:
        """Gather known elements, and spill the tiles that are read at run-time coordinates."""
        for step in self.body.steps:
            if isinstance(step, Step) and isinstance(step.op, tensor.ExtractOp):
                self._prepare(step, step.op)

    def _prepare(self, step: Step, op: tensor.ExtractOp) -> None:
        e, source = self.e, op.tensor
        if op.result not in self.body.wanted or isinstance(e.get(source), Splat):
            return
        tile = in_registers(e, op, source)
        if all(index in self.body.known for index in op.indices):
            self.taken[op] = gathered(e, op, tile, self._positions(step, op, tile))
        elif not step.path and (lanes := lanes_layout(tile.layout)) is not None:
            if source not in self.in_lanes:
                self.in_lanes[source] = carried(e, in_registers(e, op, source, lanes))
        elif source not in self.scratch_buffers:
            self.scratch_buffers[source] = spilled(e, op, carried(e, tile))

    def _positions(self, step: Step, op: tensor.ExtractOp, tile: RegisterTile) -> Table:
        """By register, the element that is extracted; -1 where it is not needed."""
        shape, flags = tile.layout.shape, self.body.wanted[op.result]
        path = self.body.flags(step.path)
        flags = flags if path is None else flags & path
        indices = [np.broadcast_to(self.body.known[v], flags.shape) for v in op.indices]
        for axis, index in enumerate(indices):
            inside = (index >= 0) & (index < shape[axis])
            wrong = flags & ~inside
            if wrong.any() and not self.body.unknown(step.path):
                raise op_error(
                    op,
                    f"takes element {int(index[wrong][0])} along dimension {axis} of a tile of "
                    f"{'x'.join(map(str, shape))}",
                )
            flags = flags & inside
        if not indices:
            return np.where(flags, 0, -1)
        safe = tuple(np.where(flags, index, 0) for index in indices)
        return np.where(flags, np.ravel_multi_index(safe, shape, order="F"), -1)

    def extracted(
        self, op: tensor.ExtractOp, path: Path, registers: range, value_of: LoweredValue
    ) -> SSAValue:
        """Return the element for each register of a block: a vector, or a scalar that all share.

        `value_of` gives the values of the body as they are lowered for this block.
        """
        found = self.e.get(op.tensor)
        if isinstance(found, Splat):
            return splat_scalar(self.e, found)
        if op.tensor in self.in_lanes and not path:
            index = value_of(op.indices[0])
            type_ = element_of(op.tensor.type)
            return taken_from_lanes(self.e, self.in_lanes[op.tensor], type_, index)
        if op not in self.taken:
            return self._from_scratch(op, path, len(registers), value_of)
        taken, first, count = self.taken[op], registers.start, len(registers)
        if taken.is_one(first, count):
            return self._once((op, taken.column[first]), lambda: taken.single(first))
        columns = tuple(taken.column[first : first + count])
        return self._once((op, columns), lambda: taken.vector(first, count))

    def _once(self, key: tuple[object, ...], make: Callable[[], SSAValue]) -> SSAValue:
        """Return a value that is emitted in the first block that needs it."""
        if key not in self.vectors:
            self.vectors[key] = make()
        return self.vectors[key]

    def _from_scratch(
        self, op: tensor.ExtractOp, path: Path, count: int, value_of: LoweredValue
    ) -> SSAValue:
        e, buffer = self.e, self.scratch_buffers[op.tensor]
        shape = shape_of(op.tensor.type) or ()
        indices = [value_of(value) for value in op.indices]
        guards = [(value_of(value), holds_) for value, holds_ in path]
        if not any(map(is_vector, [*indices, *(value for value, _ in guards)])):
            value = scratch_element(e, buffer, shape, indices, _all_hold(e, guards))
            return from_carrier(e, value, element_of(op.tensor.type))
        found: list[SSAValue] = []
        for k in range(count):
            here = [element(e, value, k) for value in indices]
            guard = _all_hold(e, [(element(e, value, k), holds_) for value, holds_ in guards])
            value = scratch_element(e, buffer, shape, here, guard)
            found.append(from_carrier(e, value, element_of(op.tensor.type)))
        return joined(e, found)


def _all_hold(e: ThreadBuilder, guards: Sequence[tuple[SSAValue, bool]]) -> SSAValue | None:
    """Return the conjunction of conditions of a path; None without any."""
    found: SSAValue | None = None
    for value, wanted in guards:
        here = value if wanted else xor(e, value, i1_constant(e, True))
        found = logical_and(e, found, here)
    return found
