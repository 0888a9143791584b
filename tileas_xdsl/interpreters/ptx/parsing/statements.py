"""The body of a kernel: scopes, labels and instructions.  Source: PTX ISA 4.2, statements."""

from __future__ import annotations

from dataclasses import field, replace

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.errors import PtxError, SourceLocation
from tileas_xdsl.interpreters.ptx.parsing.declarations import parse_registers, parse_variables
from tileas_xdsl.interpreters.ptx.parsing.operands import Scope, parse_operands
from tileas_xdsl.interpreters.ptx.parsing.syntax import (
    Guard,
    Instruction,
    Operand,
    Register,
    Symbol,
    Variable,
    Vector,
)
from tileas_xdsl.interpreters.ptx.parsing.token_stream import Cursor

VARIABLE_SPACES = (".shared", ".local", ".global", ".const")

MAX_INSTRUCTIONS = 1 << 20
"""Most instructions of a kernel: a stamp of the checker has 20 bits for the index of one."""

MAX_DEPTH = 200
"""Largest nesting depth of scopes."""


@dataclass
class Body:
    """The parsed body of a kernel: instructions, variables and scopes."""

    code: list[Instruction] = field(default_factory=list[Instruction])
    labels: dict[str, int] = field(default_factory=dict[str, int])
    variables: list[Variable] = field(default_factory=list[Variable])
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    table_scopes: dict[str, tuple[Scope, SourceLocation]] = field(
        default_factory=dict[str, tuple[Scope, SourceLocation]]
    )
    scopes: list[Scope] = field(default_factory=list[Scope])
    """The scope of each instruction."""
    origins: list[tuple[int, int, int] | None] = field(
        default_factory=list[tuple[int, int, int] | None]
    )
    """File index, line and column of each instruction's `.loc`."""


class BodyParser:
    """Parses one body; branch targets are resolved when all labels are known."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.body = Body()
        self._opened = 0
        self._origin: tuple[int, int, int] | None = None

    def parse(self) -> Body:
        """Parse up to the closing brace."""
        opened = self.cursor.location
        self.cursor.expect("{", "at the beginning of a body")
        self._block(Scope(0), opened, 0)
        self._resolve()
        return self.body

    def _block(self, scope: Scope, opened: SourceLocation, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise PtxError(f"scopes are nested deeper than {MAX_DEPTH}", opened)
        while not self.cursor.accept("}"):
            if self.cursor.token.kind == "end":
                raise PtxError("this brace is never closed", opened)
            self._statement(scope, depth)

    def _statement(self, scope: Scope, depth: int) -> None:
        cursor = self.cursor
        token = cursor.token
        if token.text == "{":
            opened = cursor.location
            cursor.take()
            self._opened += 1
            self._block(Scope(self._opened, scope), opened, depth + 1)
        elif token.kind == "directive":
            self._directive(scope)
        elif token.kind == "word" and cursor.peek().text == ":":
            self._label(scope)
        elif not cursor.accept(";"):
            self._instruction(scope)

    def _directive(self, scope: Scope) -> None:
        cursor = self.cursor
        text = cursor.token.text
        if text == ".reg":
            cursor.take()
            parse_registers(cursor, scope)
        elif text in VARIABLE_SPACES:
            cursor.take()
            self.body.variables += parse_variables(cursor, text[1:], extern=False)
        elif text == ".loc":
            self._origin = loc_directive(cursor)
        elif text == ".pragma":
            while not cursor.accept(";"):
                if cursor.take().kind == "end":
                    cursor.fail("the text ends inside .pragma")
        elif text == ".param":
            cursor.take()
            self._parameters_of_call(scope)
        else:
            cursor.fail(f"directive '{text}' is not supported inside a kernel")

    def _parameters_of_call(self, scope: Scope) -> None:
        """Parse `.param` variables of a body: local memory of each thread, visible in their
        scope."""
        for variable in parse_variables(self.cursor, "local", extern=False):
            # Scopes of calls all have the same names; `#` is in none of them.
            unique = f"{variable.name}#{self._opened}"
            scope.variables[variable.name] = unique
            self.body.variables.append(replace(variable, name=unique))

    def _label(self, scope: Scope) -> None:
        cursor = self.cursor
        location = cursor.location
        name = cursor.take().text
        cursor.expect(":", "after a label")
        if name in scope.labels:
            raise PtxError(f"label '{name}' is defined twice", location)
        unique = scope.unique(name)
        scope.labels[name] = unique
        if cursor.accept(".branchtargets"):
            names = [cursor.word("a label")]
            while cursor.accept(","):
                names.append(cursor.word("a label"))
            cursor.expect(";", "after labels")
            self.body.tables[unique] = tuple(names)
            self.body.table_scopes[unique] = (scope, location)
            return
        if cursor.token.text in (".callprototype", ".calltargets"):
            self._skip_targets()
            return
        self.body.labels[unique] = len(self.body.code)

    def _skip_targets(self) -> None:
        """Skip what a call through a pointer may reach: it is compared with every function."""
        what = self.cursor.take().text
        while not self.cursor.accept(";"):
            if self.cursor.take().kind == "end":
                self.cursor.fail(f"the text ends inside {what}")

    def _instruction(self, scope: Scope) -> None:
        cursor = self.cursor
        start = cursor.token.start
        guard = self._guard(scope)
        location = cursor.location
        opcode = cursor.word("an instruction")
        if opcode.startswith("%"):
            raise PtxError(f"expected an instruction, found '{opcode}'", location)
        called = opcode.split(".")[0] == "call"
        operands = _called(cursor, scope) if called else parse_operands(cursor, scope)
        end = cursor.peek(-1).start
        text = " ".join(cursor.source.text[start:end].split())
        shown = text if len(text) <= 120 else f"{text[:117]}..."
        self.body.code.append(
            Instruction(tuple(opcode.split(".")), operands, guard, location, shown)
        )
        self.body.scopes.append(scope)
        self.body.origins.append(self._origin)
        if len(self.body.code) > MAX_INSTRUCTIONS:
            raise PtxError(f"a kernel has at most {MAX_INSTRUCTIONS} instructions", location)

    def _guard(self, scope: Scope) -> Guard | None:
        cursor = self.cursor
        if not cursor.accept("@"):
            return None
        negated = cursor.accept("!")
        name = cursor.token.text
        register = scope.register(name)
        if register is None:
            cursor.fail(f"predicate '{name}' is not declared")
        if register.type.name != "pred":
            cursor.fail(f"'{name}' is of type .{register.type.name}, a guard is .pred")
        cursor.take()
        return Guard(register, negated)

    def _resolve(self) -> None:
        """Resolve branch targets to the unique names of labels."""
        body = self.body
        for name, (scope, location) in body.table_scopes.items():
            body.tables[name] = tuple(_label(n, scope, location) for n in body.tables[name])
        for i, instruction in enumerate(body.code):
            if instruction.parts[0] not in ("bra", "brx"):
                continue
            scope = body.scopes[i]
            operands = tuple(_target(o, scope, instruction.location) for o in instruction.operands)
            body.code[i] = replace(instruction, operands=operands)


def _called(cursor: Cursor, scope: Scope) -> tuple[Operand, ...]:
    """Parse `(results), name, (arguments)` of a call, lists as vectors, a pointer as its register.

    The prototype of a call through a pointer follows as a name, which is left out.
    """
    found: list[Operand] = []
    while not cursor.accept(";"):
        token = cursor.take()
        if token.kind == "end":
            cursor.fail("the text ends inside a call")
        if token.text == "(":
            found.append(_group_of_call(cursor, scope))
        elif token.kind == "word":
            register = scope.register(token.text)
            found.append(register or Symbol(token.text))
    if any(isinstance(operand, Register) for operand in found):
        found = [operand for operand in found if not isinstance(operand, Symbol)]
    return tuple(found)


def _group_of_call(cursor: Cursor, scope: Scope) -> Operand:
    names: list[Operand] = []
    while not cursor.accept(")"):
        token = cursor.take()
        if token.kind == "end":
            cursor.fail("the text ends inside a call")
        if token.kind == "word":
            names.append(Symbol(scope.variable(token.text)))
    return Vector(tuple(names))


def _target(operand: Operand, scope: Scope, location: SourceLocation) -> Operand:
    if not isinstance(operand, Symbol):
        return operand
    return Symbol(_label(operand.name, scope, location))


def _label(name: str, scope: Scope, location: SourceLocation) -> str:
    found = scope.label(name)
    if found is None:
        raise PtxError(f"label '{name}' is not defined", location)
    return found


def loc_directive(cursor: Cursor) -> tuple[int, int, int]:
    """Parse `.loc file line column [, function_name label [+ n]] [, inlined_at ...]`."""
    cursor.expect(".loc", "here")
    file, line, column = (cursor.integer("a number of .loc") for _ in range(3))
    while cursor.accept(","):
        if cursor.accept("function_name"):
            cursor.word("a label after function_name")
            if cursor.accept("+"):
                cursor.integer("an offset after the label")
        elif cursor.accept("inlined_at"):
            for _ in range(3):
                cursor.integer("a number of inlined_at")
        else:
            cursor.fail(f"expected function_name or inlined_at, found {cursor.shown()}")
    return file, line, column
