"""State of lowering a loop body: SSA values of all iterations of a thread.

tl.parallel (%i, %j) in (64, 32), 128 threads: 16 iterations of each

%i, %j             integers known per thread and iteration, up to scalars   ThreadAffine
%x = load %a[%j]   one value for each iteration                             vector<16xf32>
%s, the same for all iterations                                             a scalar
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import field
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, VectorType, i1
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.inference.program import AccessKind
from tileas_xdsl.layout.expr.affine_form import AffineForm
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import i1_constant, index_constant, logical_and, xor
from tileas_xdsl.threads.index.per_thread_tables import Flags, Table, holds
from tileas_xdsl.threads.index.thread_affine import (
    INDEX,
    ThreadAffine,
    at_iteration,
    column,
    is_uniform,
    of_iterations,
    of_scalar,
)
from tileas_xdsl.threads.registers.vector_values import element, joined, repeated
from tileas_xdsl.transforms.lower_tl.buffer_locations import LocalLocation, SharedLocation
from tileas_xdsl.transforms.lower_tl.loops.iteration_assignment import ThreadIterations
from tileas_xdsl.transforms.lower_tl.lowering_state import State

Value: TypeAlias = ThreadAffine | SSAValue
"""An integer known up to scalars; else a scalar, the same in all iterations, or a vector."""

Path: TypeAlias = tuple[tuple[SSAValue, bool], ...]
"""Conditions, scalars or vectors, and what they have to be."""


@dataclass
class LoopBodyState:
    """The SSA values of a loop body for all iterations of a thread."""

    state: State
    iterations: ThreadIterations
    vector: int = 0
    """Elements that an access moves at most; 0 for as many as memory allows."""
    values: dict[SSAValue, Value] = field(default_factory=dict[SSAValue, Value])
    path: Path = ()
    known_path: Flags = field(default_factory=lambda: np.ones((1, 1), dtype=bool))
    """What is known of the conditions around: `(threads, iterations)`."""
    locals: dict[SSAValue, list[Value]] = field(default_factory=dict[SSAValue, "list[Value]"])
    """Elements of buffers that each iteration has of its own."""
    writes: dict[tuple[Operation, int], Table] = field(
        default_factory=dict[tuple[Operation, int], Table]
    )
    """By store and round, `(threads, elements)`: how often it has written them."""
    rounds: Counter[Operation] = field(default_factory=Counter[Operation])
    """How often each store was written down for these iterations."""
    done: dict[AccessKind, set[SSAValue]] = field(default_factory=dict[AccessKind, set[SSAValue]])
    """What was done to memory since threads met; noted where several run one iteration."""
    spills: dict[SSAValue, SharedLocation] = field(default_factory=dict[SSAValue, SharedLocation])
    """By storage, fragments that are in shared memory too, as they are now."""

    @property
    def e(self) -> ThreadBuilder:
        """Where code goes."""
        return self.state.e

    @property
    def count(self) -> int:
        """Iterations of a thread."""
        return self.iterations.count

    @property
    def active(self) -> Flags:
        """Which iterations run, as far as it is known: `(threads, iterations)`."""
        return self.iterations.valid & self.known_path

    def touch(self, storage: SSAValue, kind: AccessKind) -> None:
        """Insert a barrier where an access depends on one by another replica's thread."""
        if not self.iterations.is_replicated:
            return
        others = AccessKind if kind is not AccessKind.READ else (AccessKind.WRITE,)
        if any(storage in self.done.get(other, ()) for other in others):
            synchronize_agent(self.e)
            self.done.clear()
        self.done.setdefault(kind, set()).add(storage)

    # values

    def value(self, value: SSAValue) -> Value:
        """What a value has become."""
        found = self.values.get(value)
        return self.state.values[value] if found is None else found

    def affine(self, value: SSAValue) -> ThreadAffine:
        """An integer as a sum."""
        found = self.value(value)
        if isinstance(found, AffineForm):
            return found
        if isinstance(found.type, VectorType):
            return of_iterations([element(self.e, found, k) for k in range(self.count)])
        return of_scalar(found)

    def operand(self, value: SSAValue) -> SSAValue:
        """A scalar, or a vector of all iterations."""
        found = self.value(value)
        return self.written(found, value.type) if isinstance(found, AffineForm) else found

    def spread(self, found: SSAValue) -> SSAValue:
        """A scalar in all iterations."""
        if isinstance(found.type, VectorType) or self.count == 1:
            return found
        return repeated(self.e, found, self.count)

    def written(self, form: ThreadAffine, type_: Attribute) -> SSAValue:
        """An integer as code."""
        active = self.active
        if is_uniform(form):
            return self._number(at_iteration(form, 0), np.any(active, axis=1), type_, 0)
        return joined(
            self.e,
            [
                self._number(at_iteration(form, k), column(active, k)[:, 0], type_, k)
                for k in range(self.count)
            ],
        )

    def at(self, form: ThreadAffine, k: int, type_: Attribute = INDEX) -> SSAValue:
        """Emit the integer for iteration `k`; one that is uniform serves all iterations."""
        active = self.active
        runs = np.any(active, axis=1) if is_uniform(form) else column(active, k)[:, 0]
        return self._number(at_iteration(form, k), runs, type_, k)

    def _number(self, index: ThreadAffine, valid: Flags, type_: Attribute, k: int) -> SSAValue:
        if index.is_constant and (constant := _only(index.constant[:, 0], valid)) is not None:
            return self._constant(constant, type_)
        if type_ == i1:
            flags = np.broadcast_to(index.constant[:, 0] != 0, (self.iterations.threads,)) & valid
            found = holds(self.e, flags, self.iterations.digits)
            return i1_constant(self.e, True) if found is None else found
        return self.state.writer.number(index, valid, type_, self.iterations.hints(k))

    def _constant(self, number: int, type_: Attribute) -> SSAValue:
        if isinstance(type_, IndexType):
            return index_constant(self.e, number)
        kind: Any = type_
        return self.e.insert(arith.ConstantOp(IntegerAttr(number, kind))).result

    # conditions

    @contextmanager
    def under(self, condition: SSAValue, wanted: bool) -> Generator[None]:
        """Only the iterations where a condition is what it has to be."""
        found, outer = self.value(condition), (self.path, self.known_path)
        if isinstance(found, AffineForm):
            flags = (found.constant != 0) == wanted
            self.known_path = self.known_path & flags
        else:
            self.path = (*self.path, (found, wanted))
        try:
            yield
        finally:
            self.path, self.known_path = outer

    def condition(self, k: int) -> SSAValue | None:
        """What only run time knows of whether an iteration runs; None if nothing."""
        e, result = self.e, None
        for value, wanted in self.path:
            here = element(e, value, k)
            here = here if wanted else xor(e, here, i1_constant(e, True))
            result = logical_and(e, result, here)
        return result

    @property
    def path_is_uniform(self) -> bool:
        """Return whether dynamic conditions are uniform across the iterations of a thread."""
        return all(not isinstance(value.type, VectorType) for value, _ in self.path)

    def guard(self, flags: Flags) -> SSAValue | None:
        """Whether this thread is one of some, `(threads,)`; None if all are."""
        return holds(self.e, flags, self.iterations.digits)


def _only(entries: Table, valid: Flags) -> int | None:
    """The entry that all threads have that count; None where they differ."""
    mine = entries if len(entries) == 1 else entries[valid]
    if not len(mine):
        return 0
    return int(mine[0]) if (mine == mine[0]).all() else None


def local_elements(work: LoopBodyState, location: LocalLocation) -> list[Value]:
    """What an iteration has in its own buffer, each element for all iterations."""
    if location.storage not in work.locals:
        whole = work.state.registers[location.storage]
        work.locals[location.storage] = [
            element(work.e, whole, k) for k in range(location.registers)
        ]
    return work.locals[location.storage]
