"""One atomic read-modify-write by one thread: `atom`/`red`, or a compare-and-swap loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import AnyFloat, IntegerType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute import LoadOp
from tileas_xdsl.dialects.cute_nvgpu import AtomicCasOp, AtomicRmwOp
from tileas_xdsl.dialects.cute_nvgpu.threads.atomics import has_update
from tileas_xdsl.dialects.nv_tileas.enums import RmwMode
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.xdsl_ops import comparison, selection
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.pointer_ops import recast
from tileas_xdsl.threads.gmem.memory_order import MemoryOrder
from tileas_xdsl.threads.registers.vector_values import zero

FLOAT_LOOPS: Mapping[RmwMode, Any] = {RmwMode.MAX: arith.MaxnumfOp, RmwMode.MIN: arith.MinnumfOp}
"""What no instruction does to floats in memory: a number wins over NaN."""


@dataclass(frozen=True)
class Updater:
    """Updates of elements of one type."""

    e: ThreadBuilder
    op: Operation
    mode: RmwMode
    element: Attribute
    order: MemoryOrder

    @property
    def _bits(self) -> IntegerType:
        return IntegerType(bits_of(self.element))

    def update(self, value: SSAValue, pointer: SSAValue, exists: SSAValue | None) -> SSAValue:
        """Update an element where `exists` holds; what was there, else zero."""
        kind = "exch" if self.mode is RmwMode.XCHG else self.mode.value
        if isinstance(self.element, AnyFloat) and kind == "exch":
            here = recast(self.e, pointer, self._bits)
            return self._as_element(self._rmw(kind, self._as_bits(value), here, exists))
        if has_update(kind, self.element):
            return self._rmw(kind, value, pointer, exists)
        if self.mode not in FLOAT_LOOPS or not isinstance(self.element, AnyFloat):
            raise op_error(self.op, f"updates {self.element} by '{kind}', which threads cannot")
        return self._loop(value, pointer, exists)

    def compare_and_set(
        self, compare: SSAValue, value: SSAValue, pointer: SSAValue, exists: SSAValue | None
    ) -> SSAValue:
        """Put a value where memory has the bits of `compare`; what was there, else `compare`."""
        here = recast(self.e, pointer, self._bits)
        old = self._as_element(
            self._cas(self._as_bits(compare), self._as_bits(value), here, exists)
        )
        if exists is None:
            return old
        return self.e.insert(selection(exists, old, compare)).result

    def _rmw(
        self, kind: str, value: SSAValue, pointer: SSAValue, exists: SSAValue | None
    ) -> SSAValue:
        made = AtomicRmwOp(
            kind, value, pointer, exists, order=self.order.semantics, scope=self.order.scope
        )
        return self.e.insert(made).result

    def _cas(
        self, compare: SSAValue, value: SSAValue, pointer: SSAValue, exists: SSAValue | None
    ) -> SSAValue:
        made = AtomicCasOp(
            compare, value, pointer, exists, order=self.order.semantics, scope=self.order.scope
        )
        return self.e.insert(made).result

    def _as_bits(self, value: SSAValue) -> SSAValue:
        if value.type == self._bits:
            return value
        return self.e.insert(arith.BitcastOp(value, self._bits)).result

    def _as_element(self, bits: SSAValue) -> SSAValue:
        if self.element == self._bits:
            return bits
        return self.e.insert(arith.BitcastOp(bits, self.element)).result

    def _loop(self, value: SSAValue, pointer: SSAValue, exists: SSAValue | None) -> SSAValue:
        """Update by a compare-and-swap loop."""
        e = self.e
        if exists is None:
            return self._tries(value, pointer)
        taken, other = Block(), Block()
        with e.within(taken):
            e.insert(scf.YieldOp(self._tries(value, pointer)))
        with e.within(other):
            e.insert(scf.YieldOp(zero(e, self.element)))
        made = scf.IfOp(exists, [self.element], Region(taken), Region(other))
        return e.insert(made).results[0]

    def _tries(self, value: SSAValue, pointer: SSAValue) -> SSAValue:
        e, bits = self.e, self._bits
        here = recast(e, pointer, bits)
        scope = self.order.scope or "gpu"
        first = e.insert(LoadOp(here, bits, order="relaxed", scope=scope)).result
        before, after = Block(arg_types=[bits]), Block(arg_types=[bits])
        with e.within(before):
            expected = before.args[0]
            kind = FLOAT_LOOPS[self.mode]
            new = e.insert(kind(self._as_element(expected), value)).result
            found = self._cas(expected, self._as_bits(new), here, None)
            again = e.insert(comparison(found, expected, "ne")).result
            e.insert(scf.ConditionOp(again, found))
        with e.within(after):
            e.insert(scf.YieldOp(after.args[0]))
        made = scf.WhileOp([first], [bits], Region(before), Region(after))
        return self._as_element(e.insert(made).results[0])
