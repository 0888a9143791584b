"""Operands of instructions.  Source: PTX ISA 6, instruction operands."""

from __future__ import annotations

import re
import struct
from dataclasses import field

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import ScalarType
from tileas_xdsl.interpreters.ptx.parsing.special_registers import SPECIAL_REGISTERS
from tileas_xdsl.interpreters.ptx.parsing.syntax import (
    Address,
    Float,
    Integer,
    Minus,
    Negated,
    Operand,
    Pair,
    Register,
    Selected,
    Sink,
    Special,
    Symbol,
    Vector,
)
from tileas_xdsl.interpreters.ptx.parsing.token_stream import Cursor

_NUMBERED = re.compile(r"(.*?)(0|[1-9]\d*)$")


@dataclass
class Scope:
    """The names declared in a `{ }` scope; inner declarations shadow outer ones."""

    number: int
    parent: Scope | None = None
    registers: dict[str, Register] = field(default_factory=dict[str, Register])
    ranges: dict[str, tuple[int, ScalarType]] = field(
        default_factory=dict[str, tuple[int, ScalarType]]
    )
    labels: dict[str, str] = field(default_factory=dict[str, str])
    variables: dict[str, str] = field(default_factory=dict[str, str])

    def unique(self, name: str) -> str:
        """Return a name that is unique in the kernel."""
        return name if self.number == 0 else f"{name}#{self.number}"

    def register(self, name: str) -> Register | None:
        """Look up a register in this and the enclosing scopes."""
        scope: Scope | None = self
        while scope is not None:
            found = scope.registers.get(name) or scope._numbered(name)
            if found is not None:
                return found
            scope = scope.parent
        return None

    def label(self, name: str) -> str | None:
        """Look up the unique name of a label in this and the enclosing scopes."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.labels:
                return scope.labels[name]
            scope = scope.parent
        return None

    def variable(self, name: str) -> str:
        """Look up the unique name of a variable in this and the enclosing scopes, else its name."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.variables:
                return scope.variables[name]
            scope = scope.parent
        return name

    def _numbered(self, name: str) -> Register | None:
        match = _NUMBERED.match(name)
        if match is None or match[1] not in self.ranges:
            return None
        count, type_ = self.ranges[match[1]]
        if int(match[2]) >= count:
            return None
        register = self.registers[name] = Register(self.unique(name), type_)
        return register


def parse_operands(cursor: Cursor, scope: Scope) -> tuple[Operand, ...]:
    """Parse all operands and consume the semicolon."""
    found: list[Operand] = []
    if cursor.accept(";"):
        return ()
    while True:
        found.append(parse_operand(cursor, scope))
        if cursor.accept(";"):
            return tuple(found)
        cursor.expect(",", "or ';' after an operand")


def parse_operand(cursor: Cursor, scope: Scope) -> Operand:
    """Parse one operand."""
    if cursor.token.text == "[":
        return _address(cursor, scope)
    if cursor.token.text == "{":
        return Vector(_group(cursor, scope))
    if cursor.accept("!"):
        return Negated(_register(cursor, scope))
    first = _simple(cursor, scope)
    if cursor.accept("|"):
        return Pair(first, _simple(cursor, scope))
    return first


def _group(cursor: Cursor, scope: Scope) -> tuple[Operand, ...]:
    cursor.expect("{", "here")
    found = [parse_operand(cursor, scope)]
    while cursor.accept(","):
        found.append(parse_operand(cursor, scope))
    cursor.expect("}", "at the end of a vector")
    return tuple(found)


def _register(cursor: Cursor, scope: Scope) -> Register:
    if cursor.token.kind != "word":
        cursor.fail(f"expected a register, found {cursor.shown()}")
    register = scope.register(cursor.token.text)
    if register is None:
        cursor.fail(f"register '{cursor.token.text}' is not declared")
    cursor.take()
    return register


def _simple(cursor: Cursor, scope: Scope) -> Operand:
    token = cursor.token
    if token.kind == "word":
        return _name(cursor, scope)
    if token.text == "-" and cursor.peek().kind == "word":
        return _minus(cursor, scope)
    if token.text == "-" or token.kind in ("int", "float", "hexfloat"):
        return _number(cursor)
    return cursor.fail(f"expected an operand, found {cursor.shown()}")


def _name(cursor: Cursor, scope: Scope) -> Operand:
    name = cursor.token.text
    if name == "_":
        cursor.take()
        return Sink()
    register = scope.register(name)
    if register is not None:
        cursor.take()
        return register
    if name in SPECIAL_REGISTERS:
        cursor.take()
        return Special(name)
    base, _, part = name.rpartition(".")
    register = scope.register(base)
    if register is not None:
        cursor.take()
        return Selected(register, part)
    if name.startswith("%"):
        cursor.fail(f"register '{name}' is not declared")
    cursor.take()
    return Symbol(scope.variable(name), _offset(cursor))


def _minus(cursor: Cursor, scope: Scope) -> Minus:
    cursor.take()
    value = _name(cursor, scope)
    if not isinstance(value, Register | Selected):
        cursor.fail("a register is expected after '-'")
    return Minus(value)


def _offset(cursor: Cursor) -> int:
    """Parse an optional `+ integer` or `- integer`."""
    if cursor.token.text == "-":
        return cursor.integer("an offset")
    if cursor.accept("+"):
        return cursor.integer("an offset")
    return 0


def _number(cursor: Cursor) -> Integer | Float:
    negative = cursor.accept("-")
    token = cursor.token
    if token.kind == "int":
        value = cursor.number()
        return Integer(-value if negative else value)
    if token.kind not in ("float", "hexfloat"):
        cursor.fail(f"expected a number, found {cursor.shown()}")
    cursor.take()
    if token.kind == "float":
        number = float(token.text)
        return Float(-number if negative else number)
    width = 32 if token.text[1] in "fF" else 64
    bits = int(token.text[2:], 16) ^ (int(negative) << (width - 1))
    value = struct.unpack("<f" if width == 32 else "<d", bits.to_bytes(width // 8, "little"))[0]
    return Float(value, bits, width)


def _address(cursor: Cursor, scope: Scope) -> Address:
    cursor.expect("[", "here")
    base = _base(cursor, scope)
    offset = _offset(cursor)
    parts: list[Operand] = []
    while cursor.accept(","):
        parts.append(parse_operand(cursor, scope))
    cursor.expect("]", "at the end of an address")
    return Address(base, offset, tuple(parts))


def _base(cursor: Cursor, scope: Scope) -> Register | Symbol | Integer:
    if cursor.token.kind == "int" or cursor.token.text == "-":
        return Integer(cursor.integer("an address"))
    if cursor.token.kind != "word":
        cursor.fail(f"expected an address, found {cursor.shown()}")
    register = scope.register(cursor.token.text)
    if register is not None:
        cursor.take()
        return register
    if cursor.token.text.startswith("%"):
        cursor.fail(f"register '{cursor.token.text}' is not declared")
    return Symbol(scope.variable(cursor.take().text))
