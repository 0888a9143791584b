"""Declarations: variables, parameters and registers.  Source: PTX ISA 5.4, variables."""

from __future__ import annotations

import struct
from math import prod

from tileas_xdsl.interpreters.ptx.numerics.float_formats import FORMATS, encode_value
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import TYPES, ScalarType
from tileas_xdsl.interpreters.ptx.parsing.operands import Scope, parse_operand
from tileas_xdsl.interpreters.ptx.parsing.syntax import (
    Float,
    Integer,
    Parameter,
    Register,
    Symbol,
    Variable,
)
from tileas_xdsl.interpreters.ptx.parsing.token_stream import Cursor
from tileas_xdsl.layout.integers import is_power_of_two

VECTORS = {".v2": 2, ".v4": 4, ".v8": 8}

MAX_REGISTERS = 1 << 20
"""Largest number of virtual registers of a declaration."""

MAX_BYTES = 1 << 31
"""Largest size of a variable in bytes."""


def parse_type(cursor: Cursor) -> ScalarType:
    """Parse a type such as `.f32`."""
    name = cursor.token.text[1:]
    if cursor.token.kind != "directive" or name not in TYPES:
        cursor.fail(f"expected a type, found {cursor.shown()}")
    cursor.take()
    return TYPES[name]


def parse_registers(cursor: Cursor, scope: Scope) -> None:
    """Parse the rest of `.reg .b32 %r<4>, a;` after `.reg`."""
    if cursor.token.text in VECTORS:
        cursor.fail(f"registers of vector type {cursor.token.text} are not supported")
    type_ = parse_type(cursor)
    while True:
        name = cursor.word("the name of a register")
        if cursor.accept("<"):
            count = cursor.integer("a number of registers")
            if not 0 < count <= MAX_REGISTERS:
                cursor.fail(f"{count} registers are not in 1..{MAX_REGISTERS}")
            cursor.expect(">", "after a number of registers")
            scope.ranges[name] = (count, type_)
        else:
            scope.registers[name] = Register(scope.unique(name), type_)
        if not cursor.accept(","):
            break
    cursor.expect(";", "after registers")


def _alignment(cursor: Cursor) -> int:
    """Parse optional `.align N`, `.attribute(...)` and `.ptr`; return the alignment, 0 for none."""
    align = 0
    while cursor.token.text in (".align", ".attribute", ".ptr", ".global", ".shared", ".const"):
        text = cursor.take().text
        if text == ".align":
            align = cursor.integer("an alignment")
            if not is_power_of_two(align):
                cursor.fail(f"the alignment {align} is no power of two")
        elif text == ".attribute":
            while not cursor.accept(")"):
                if cursor.take().kind == "end":
                    cursor.fail("the text ends inside an attribute")
    return align


def parse_parameter(cursor: Cursor) -> Parameter:
    """Parse `.param .align 64 .b8 name[128]`."""
    cursor.expect(".param", "in the list of parameters")
    align = _alignment(cursor)
    type_ = parse_type(cursor)
    align = max(align, _alignment(cursor))
    location = cursor.location
    name = cursor.word("the name of a parameter")
    extents = _extents(cursor)
    size = type_.size * prod(extents)
    if not 0 < size <= 32764:
        cursor.fail(f"parameter '{name}' takes {size} bytes, not 1..32764")
    return Parameter(name, type_, size, align or type_.size, bool(extents), location)


def _extents(cursor: Cursor) -> list[int]:
    """Parse array extents such as `[4][2]`; empty brackets count as 0."""
    found: list[int] = []
    while cursor.accept("["):
        if cursor.accept("]"):
            found.append(0)
            continue
        extent = cursor.integer("a number of elements")
        if not 0 <= extent <= MAX_BYTES:
            cursor.fail(f"{extent} elements are not in 0..{MAX_BYTES}")
        found.append(extent)
        cursor.expect("]", "after a number of elements")
    return found


def parse_variables(cursor: Cursor, space: str, *, extern: bool) -> list[Variable]:
    """Parse variables after `.shared`, `.global`, `.const` or `.local`."""
    align = _alignment(cursor)
    lanes = VECTORS.get(cursor.token.text, 0)
    if lanes:
        cursor.take()
    type_ = parse_type(cursor)
    found: list[Variable] = []
    while True:
        found.append(_variable(cursor, space, type_, max(lanes, 1), align, extern))
        if not cursor.accept(","):
            break
    cursor.expect(";", "after a variable")
    return found


def _variable(
    cursor: Cursor, space: str, type_: ScalarType, lanes: int, align: int, extern: bool
) -> Variable:
    location = cursor.location
    name = cursor.word("the name of a variable")
    extents = _extents(cursor)
    size = type_.size * lanes * prod(extents)
    if size > MAX_BYTES:
        cursor.fail(f"variable '{name}' takes {size} bytes, more than {MAX_BYTES}")
    data, addresses = b"", dict[int, Symbol]()
    if cursor.accept("="):
        data = _initial_values(cursor, type_, addresses, 0)
        if extents and extents[0] == 0:
            size = len(data)
    align = align or type_.size * lanes
    return Variable(name, space, size, align, location, data, extern, addresses)


def _initial_values(
    cursor: Cursor, type_: ScalarType, addresses: dict[int, Symbol], at: int
) -> bytes:
    """Return the bytes of initial values; `addresses` gets those known only at a launch."""
    if cursor.accept("{"):
        data = b""
        while not cursor.accept("}"):
            data += _initial_values(cursor, type_, addresses, at + len(data))
            if not cursor.accept(",") and cursor.token.text != "}":
                cursor.fail(f"expected ',' or '}}' in an initial value, found {cursor.shown()}")
        return data
    generic = cursor.accept("generic")
    if generic:
        cursor.expect("(", "after 'generic'")
    value = parse_operand(cursor, Scope(0))
    if generic:
        cursor.expect(")", "after the name of a variable")
    if isinstance(value, Symbol) and type_.bits == 64:
        addresses[at] = value
        return bytes(8)
    if isinstance(value, Integer):
        return (value.value & ((1 << type_.bits) - 1)).to_bytes(type_.size, "little")
    if isinstance(value, Float) and type_.name in FORMATS:
        return encode_value(value.value, type_.name).to_bytes(type_.size, "little")
    if isinstance(value, Float) and value.width == type_.bits:
        return struct.pack("<Q", value.bits)[: type_.size]
    return cursor.fail("initial values are numbers, or addresses where the type has 64 bits")
