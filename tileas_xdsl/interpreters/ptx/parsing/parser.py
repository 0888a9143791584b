"""PTX modules.  Source: PTX ISA 11, directives.

`parse` reads whole files of anyone: what only debuggers and linkers read is passed over, functions
become part of the kernels that call them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.errors import PtxError, SourceLocation
from tileas_xdsl.interpreters.ptx.parsing.declarations import parse_parameter, parse_variables
from tileas_xdsl.interpreters.ptx.parsing.inlining import Function, inlined
from tileas_xdsl.interpreters.ptx.parsing.lexer import Source
from tileas_xdsl.interpreters.ptx.parsing.statements import (
    VARIABLE_SPACES,
    Body,
    BodyParser,
    loc_directive,
)
from tileas_xdsl.interpreters.ptx.parsing.syntax import (
    Instruction,
    Kernel,
    Parameter,
    PtxModule,
    Symbol,
    Variable,
)
from tileas_xdsl.interpreters.ptx.parsing.token_stream import Cursor
from tileas_xdsl.target.tiers import is_target_name

LINKAGE = (".visible", ".extern", ".weak", ".common")

TUNING: Mapping[str, str] = {
    ".maxntid": "max_threads",
    ".reqntid": "required_threads",
    ".reqnctapercluster": "required_cluster",
    ".maxnreg": "max_registers",
    ".minnctapersm": "min_blocks",
}
"""Kernel directives with an effect on execution; others only guide the assembler."""

_VERSION = re.compile(r"(\d+)\.(\d+)$")


@dataclass
class _Header:
    version: tuple[int, int] = (0, 0)
    target: str = ""
    kernels: dict[str, Kernel] = field(default_factory=dict[str, Kernel])
    variables: list[Variable] = field(default_factory=list[Variable])
    files: dict[int, str] = field(default_factory=dict[int, str])
    bodies: dict[str, Body] = field(default_factory=dict[str, Body])
    functions: dict[str, Function] = field(default_factory=dict[str, Function])


def parse(text: str, path: str) -> PtxModule:
    """Parse a module; raise `PtxError` with the location of an error."""
    cursor = Cursor(Source(text, path))
    header = _Header()
    _preamble(cursor, header)
    while cursor.token.kind != "end":
        _top_level(cursor, header)
    functions = {
        name: replace(f, code=_located(f.code, header.bodies[name], header))
        for name, f in header.functions.items()
    }
    located = [
        replace(kernel, code=_located(kernel.code, header.bodies[name], header))
        for name, kernel in header.kernels.items()
    ]
    bodies = [body.code for body in (*located, *functions.values())]
    pointed = _pointed(header.variables, bodies, functions)
    kernels = {kernel.name: inlined(kernel, functions, pointed) for kernel in located}
    return PtxModule(
        path, header.version, header.target, kernels, header.variables, [f.name for f in pointed]
    )


def _pointed(
    variables: Sequence[Variable],
    bodies: Sequence[Sequence[Instruction]],
    functions: Mapping[str, Function],
) -> Sequence[Function]:
    """Return the functions whose addresses are taken, by variables or instructions."""
    symbols = [symbol for variable in variables for symbol in variable.addresses.values()]
    for code in bodies:
        moves = (i for i in code if i.parts[0] != "call")
        symbols += [o for i in moves for o in i.operands if isinstance(o, Symbol)]
    names = dict.fromkeys(symbol.name for symbol in symbols)
    return [functions[name] for name in names if name in functions]


def _located(code: Sequence[Instruction], body: Body, header: _Header) -> Sequence[Instruction]:
    """Return instructions with their `.loc` origins, since `.file` may come last."""
    code = list(code)
    for at, origin in enumerate(body.origins):
        if origin is not None and origin[0] in header.files:
            location = SourceLocation(header.files[origin[0]], *origin[1:])
            one = code[at]
            code[at] = Instruction(  # `replace` takes as long as to parse an operand
                one.parts, one.operands, one.guard, one.location, one.text, location
            )
    return code


def _preamble(cursor: Cursor, header: _Header) -> None:
    cursor.expect(".version", "at the beginning of a module")
    found = _VERSION.match(cursor.token.text)
    if found is None:
        cursor.fail(f"expected a version such as 8.0, found {cursor.shown()}")
    cursor.take()
    header.version = (int(found[1]), int(found[2]))
    cursor.expect(".target", "after .version")
    if not is_target_name(cursor.token.text):
        cursor.fail(f"expected a target such as sm_90a, found {cursor.shown()}")
    header.target = cursor.word("a target")
    while cursor.accept(","):
        cursor.word("a target option")
    if cursor.accept(".address_size"):
        size = cursor.integer("32 or 64")
        if size != 64:
            cursor.fail(f"addresses of {size} bits are not supported, only of 64")


def _top_level(cursor: Cursor, header: _Header) -> None:
    token = cursor.token
    if token.kind != "directive":
        cursor.fail(f"expected a directive, found {cursor.shown()}")
    extern = False
    while cursor.token.text in LINKAGE:
        extern = cursor.take().text == ".extern" or extern
    text = cursor.token.text
    if text == ".entry":
        cursor.take()
        kernel = _kernel(cursor, header)
        header.kernels[kernel.name] = kernel
    elif text == ".func":
        cursor.take()
        _function(cursor, header)
    elif text in VARIABLE_SPACES:
        cursor.take()
        header.variables += parse_variables(cursor, text[1:], extern=extern)
    else:
        _skip_directive(cursor, header)


def _skip_directive(cursor: Cursor, header: _Header) -> None:
    """Skip a directive without effect on execution."""
    text = cursor.token.text
    if text == ".loc":
        loc_directive(cursor)
    elif text == ".file":
        cursor.take()
        number, name = cursor.integer("the number of a file"), cursor.take().text.strip('"')
        header.files[number] = name
        while cursor.token.kind in ("int", "string") or cursor.token.text == ",":
            cursor.take()
    elif text == ".section":
        cursor.take()
        cursor.take()
        cursor.skip_braces()
    elif text in (".pragma", ".alias"):
        while not cursor.accept(";"):
            if cursor.take().kind == "end":
                cursor.fail(f"the text ends inside {text}")
    else:
        cursor.fail(f"directive {cursor.shown()} is not supported")


def _function(cursor: Cursor, header: _Header) -> None:
    """Parse a function; what is wrong with one is an error only for the kernels that call it."""
    begin = cursor.mark()
    if not _skip_function(cursor):
        return
    end = cursor.mark()
    cursor.reset(begin)
    try:
        function, body = _function_with_body(cursor)
    except PtxError as error:
        function, body = Function(_name_of_function(cursor, begin), (), (), broken=error), Body()
    header.functions[function.name], header.bodies[function.name] = function, body
    cursor.reset(end)


def _skip_function(cursor: Cursor) -> bool:
    """Skip a function; return whether it has a body."""
    location = cursor.location
    while cursor.token.text not in ("{", ";"):
        if cursor.take().kind == "end":
            raise PtxError("the text ends inside this function", location)
    if cursor.accept(";"):
        return False
    cursor.skip_braces()
    return True


def _function_with_body(cursor: Cursor) -> tuple[Function, Body]:
    results = _parameters(cursor)
    name = cursor.word("the name of a function")
    parameters = _parameters(cursor)
    _tuning(cursor)
    body = BodyParser(cursor).parse()
    found = Function(name, results, parameters, body.code, body.labels, body.variables, body.tables)
    return found, body


def _name_of_function(cursor: Cursor, begin: int) -> str:
    """Return the name before the parameters; the results, if any, are in parentheses too."""
    cursor.reset(begin)
    if cursor.accept("("):
        while not cursor.accept(")"):
            cursor.take()
    return cursor.take().text


def _kernel(cursor: Cursor, header: _Header) -> Kernel:
    location = cursor.location
    name = cursor.word("the name of a kernel")
    if name in header.kernels:
        raise PtxError(f"kernel '{name}' is defined twice", location)
    parameters = _parameters(cursor)
    tuning = _tuning(cursor)
    body = header.bodies[name] = BodyParser(cursor).parse()
    return Kernel(
        name,
        parameters,
        body.code,
        body.labels,
        body.variables,
        {name: targets for name, targets in body.tables.items()},
        location,
        **tuning,
    )


def _parameters(cursor: Cursor) -> list[Parameter]:
    found: list[Parameter] = []
    if not cursor.accept("(") or cursor.accept(")"):
        return found
    while True:
        parameter = parse_parameter(cursor)
        if any(other.name == parameter.name for other in found):
            raise PtxError(f"parameter '{parameter.name}' is declared twice", parameter.location)
        found.append(parameter)
        if cursor.accept(")"):
            return found
        cursor.expect(",", "or ')' after a parameter")


def _tuning(cursor: Cursor) -> dict[str, Any]:
    """Parse the performance-tuning directives between parameters and body."""
    found: dict[str, Any] = {}
    readers: Mapping[str, Callable[[str], object]] = {
        ".maxnreg": cursor.integer,
        ".minnctapersm": cursor.integer,
    }
    while cursor.token.kind == "directive":
        text = cursor.take().text
        if text in TUNING:
            read = readers.get(text, cursor.integers)
            found[TUNING[text]] = read(f"a number of {text}")
        else:
            _skip_values(cursor)
    if cursor.token.text != "{":
        cursor.fail(f"expected '{{' at the beginning of a kernel, found {cursor.shown()}")
    return found


def _skip_values(cursor: Cursor) -> None:
    """Skip the arguments of a directive that only guides the assembler."""
    while cursor.token.kind in ("int", "word", "string") or cursor.token.text in (",", ";"):
        cursor.take()
