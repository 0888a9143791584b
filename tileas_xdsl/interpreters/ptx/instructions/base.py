"""Shared infrastructure of the instruction families: semantics rows and the build site."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NoReturn, Protocol, TypeAlias

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.errors import PtxError
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import TYPES, ScalarType
from tileas_xdsl.interpreters.ptx.parsing.syntax import (
    Address,
    Float,
    Instruction,
    Integer,
    Minus,
    Negated,
    Operand,
    Pair,
    Register,
    Selected,
    Sink,
    Symbol,
    Vector,
)
from tileas_xdsl.target.isa.kinds import has_literals

Step: TypeAlias = Callable[[ConvergenceGroup], "int | None"]
"""Execute an instruction; return None for the next one, an index to jump to, or `STOP`."""

STOP = -1
"""Returned when the group is blocked (before or past the instruction), split, or ended."""


@dataclass(frozen=True, slots=True)
class Semantics:
    """Execution semantics of an instruction: an opcode prefix, and the builder of its step.

    Which opcodes are legal is decided in `target/isa/`.  `waits` marks instructions that block, or
    that need lanes to converge.
    """

    name: str
    build: Callable[[Site], Step]
    waits: bool = False
    types: frozenset[str] = frozenset()
    """Types that may end the opcode; empty if the semantics hold for all."""


class Slots(Protocol):
    """Allocator of register-file slots for operands."""

    def register(self, register: Register) -> int:
        """Return the slot of a register."""
        ...

    def constant(self, value: int) -> int:
        """Return a slot that holds a constant."""
        ...

    def special(self, name: str) -> int:
        """Return the slot of a special register whose value does not change."""
        ...

    def symbol(self, name: str, offset: int) -> int | None:
        """Return the slot with the address of a variable or parameter; None for unknown names."""
        ...

    def scratch(self) -> int:
        """Return the slot for unused results."""
        ...


class Site:
    """One instruction being built: its modifiers, types and operands."""

    def __init__(self, instruction: Instruction, at: int, program: Any, form: Semantics) -> None:
        self.instruction = instruction
        self.at = at
        self.program = program
        self.slots: Slots = program.slots
        self.operands = instruction.operands
        self.modifiers = list(instruction.parts[form.name.count(".") + 1 :])
        self.name = form.name
        self.written: list[int] = []
        """Registers that the instruction writes."""
        self.read: list[int] = []

    def fail(self, message: str) -> NoReturn:
        """Raise an error at the instruction."""
        raise PtxError(f"{self.name}: {message}", self.instruction.location)

    # Modifiers

    def flag(self, name: str) -> bool:
        """Consume a modifier; return whether it was present."""
        if name in self.modifiers:
            self.modifiers.remove(name)
            return True
        return False

    def choose(self, options: Iterable[str], default: str | None = None) -> str:
        """Consume and return one of several modifiers, or the default; fail if there is neither."""
        for name in options:
            if self.flag(name):
                return name
        if default is None:
            self.fail(f"one of .{', .'.join(options)} is missing")
        return default

    def ignore(self, names: Iterable[str]) -> None:
        """Drop modifiers that have no effect on the emulation."""
        for name in names:
            self.flag(name)

    def type(self, allowed: Collection[str] | None = None) -> ScalarType:
        """Consume and return the type that ends the opcode."""
        if not self.modifiers:
            self.fail("the type is missing")
        name = self.modifiers.pop()
        if name not in TYPES or (allowed is not None and name not in allowed):
            self.fail(f"type .{name} is not allowed here")
        return TYPES[name]

    def no_more(self) -> None:
        """Fail if modifiers are left over."""
        if self.modifiers:
            self.fail(f"modifier .{self.modifiers[0]} is not supported")

    # Operands

    def count(self, low: int, high: int | None = None) -> int:
        """Check the number of operands."""
        found = len(self.operands)
        if not low <= found <= (low if high is None else high):
            wanted = f"{low}" if high is None else f"{low} to {high}"
            self.fail(f"takes {wanted} operands, not {found}")
        return found

    def source(self, operand: Operand | int, type_: ScalarType, *, any_width: bool = False) -> int:
        """Return the slot of a source operand."""
        operand = self.operands[operand] if isinstance(operand, int) else operand
        if isinstance(operand, Register):
            self._check_width(operand, type_, any_width=any_width)
            slot = self.slots.register(operand)
            self.read.append(slot)
            return slot
        if isinstance(operand, Integer | Float):
            self._check_literal(operand, type_)
        if isinstance(operand, Integer):
            return self.slots.constant(self._constant(operand, type_))
        if isinstance(operand, Float):
            return self.slots.constant(self.float_bits(operand, type_))
        if isinstance(operand, Symbol):
            return self.symbol(operand)
        if isinstance(operand, Address | Vector | Pair | Sink | Negated | Selected | Minus):
            self.fail(f"an operand of type .{type_.name} is expected")
        return self.slots.special(operand.name)

    def _check_literal(self, operand: Integer | Float, type_: ScalarType) -> None:
        """Refuse a literal that ptxas 13 refuses: a number of another kind than the type."""
        if not has_literals(type_.name):
            self.fail(f"an operand of type .{type_.name} is a register, not a literal")
        other = {"f": Integer, "s": Float, "u": Float}.get(type_.name[0])
        if other is type(operand):
            wanted = "a floating-point" if other is Integer else "an integer"
            self.fail(f"a literal of type .{type_.name} is {wanted} one")

    def fragment(
        self, operand: Operand | int, counts: Collection[int], type_: ScalarType
    ) -> list[int]:
        """Return the slots of a fragment of a matrix, which may have literals beside registers.

        ptxas 13 takes the type of a vector from its registers: `{1, %r0}` is of `.b32`, `{1, 1}`
        of integers, as accumulators of `.s32` are, and no operand of packed elements.
        """
        parts = self.vector(operand, counts)
        if not all(isinstance(part, Integer | Float) for part in parts):
            return [self.source(part, TYPES[f"b{type_.bits}"]) for part in parts]
        if type_.name == "b32" and all(isinstance(part, Integer) for part in parts):
            self.fail(f"a fragment of .{type_.name} is in registers, not of literals alone")
        return [self.source(part, type_) for part in parts]

    def _constant(self, operand: Integer, type_: ScalarType) -> int:
        if type_.kind == "predicate":
            return operand.value != 0
        return operand.value & ((1 << type_.bits) - 1)

    def symbol(self, operand: Symbol) -> int:
        """Return the slot of the address of a variable."""
        slot = self.slots.symbol(operand.name, operand.offset)
        if slot is None:
            self.fail(f"'{operand.name}' is not declared")
        return slot

    def float_bits(self, operand: Float, type_: ScalarType) -> int:
        """Return a floating-point literal as the bit pattern of a type."""
        from tileas_xdsl.interpreters.ptx.numerics.float_formats import FORMATS, encode_value

        if operand.width == type_.bits:
            return operand.bits
        if type_.name in FORMATS:
            return encode_value(operand.value, type_.name)
        return self.fail(f"a floating-point literal is no .{type_.name}")

    def destination(
        self, operand: Operand | int, type_: ScalarType, *, any_width: bool = False
    ) -> int:
        """Return the slot of a destination operand."""
        operand = self.operands[operand] if isinstance(operand, int) else operand
        if isinstance(operand, Sink):
            return self.slots.scratch()
        if not isinstance(operand, Register):
            self.fail("the result must be a register")
        self._check_width(operand, type_, any_width=any_width)
        slot = self.slots.register(operand)
        self.written.append(slot)
        return slot

    def _check_width(self, register: Register, type_: ScalarType, *, any_width: bool) -> None:
        found = register.type
        if found.bits == type_.bits:
            return
        if any_width and found.bits > type_.bits and found.kind != "predicate":
            return
        self.fail(f"register {register.name} is .{found.name}, the instruction .{type_.name}")

    def register_bits(self, operand: Operand | int) -> int:
        """Return the width of a register operand, and the maximal width for other operands."""
        operand = self.operands[operand] if isinstance(operand, int) else operand
        return operand.type.bits if isinstance(operand, Register) else 64

    def predicate(self, operand: Operand | int) -> tuple[int, bool]:
        """Return the slot of a source predicate, and whether it is negated."""
        operand = self.operands[operand] if isinstance(operand, int) else operand
        if isinstance(operand, Negated):
            return self.source(operand.predicate, TYPES["pred"]), True
        return self.source(operand, TYPES["pred"]), False

    def vector(self, operand: Operand | int, counts: Collection[int]) -> tuple[Operand, ...]:
        """Return the parts of a vector operand."""
        operand = self.operands[operand] if isinstance(operand, int) else operand
        parts = operand.parts if isinstance(operand, Vector) else (operand,)
        if len(parts) not in counts:
            wanted = " or ".join(map(str, counts))
            self.fail(f"a vector of {wanted} registers is expected, not of {len(parts)}")
        return parts

    def words(
        self, parts: Sequence[Operand], type_: ScalarType
    ) -> tuple[tuple[Operand, ...], ScalarType]:
        """Return registers and their type; one of 128 bits is two of 64, low and high."""
        if type_.name != "b128":
            return tuple(parts), type_
        return tuple(half for part in parts for half in self.halves(part)), TYPES["b64"]

    def halves(self, operand: Operand | int) -> tuple[Operand, Operand]:
        """Return the low and the high half of a register of 128 bits, as registers of 64."""
        operand = self.operands[operand] if isinstance(operand, int) else operand
        if isinstance(operand, Sink):
            return operand, operand
        if not isinstance(operand, Register):
            self.fail("a register of type .b128 is expected")
        self._check_width(operand, TYPES["b128"], any_width=False)
        low, high = (Register(f"{operand.name}{of}", TYPES["b64"]) for of in (".low", ".high"))
        return low, high

    def address(self, operand: Operand | int) -> tuple[int, int]:
        """Return slot and offset of an address operand."""
        operand = self.operands[operand] if isinstance(operand, int) else operand
        if not isinstance(operand, Address):
            self.fail("an address in brackets is expected")
        if isinstance(operand.base, Register):
            if operand.base.type.bits not in (32, 64):
                self.fail(f"register {operand.base.name} is no address")
            slot = self.slots.register(operand.base)
            self.read.append(slot)
            return slot, operand.offset
        if isinstance(operand.base, Integer):
            return self.slots.constant(operand.base.value), operand.offset
        return self.symbol(operand.base), operand.offset

    def immediate(self, operand: Operand | int) -> int:
        """Return the value of an operand that must be an integer literal."""
        operand = self.operands[operand] if isinstance(operand, int) else operand
        if not isinstance(operand, Integer):
            self.fail("an integer constant is expected")
        return operand.value


def build_no_operation(site: Site) -> Step:
    """Build a step without effect: of hints, and of waits for what completes at once."""
    del site
    return lambda f: None
