"""Writing section Debug: the inverse of `debug`.

A position without a scope gets one, the function around it, since the format has no others.  What
is no position (names, opaque data) leads to the position inside it, as in the open writer.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
)
from xdsl.ir import Attribute, Operation

from tileas_xdsl.diagnostics.locations import file_location
from tileas_xdsl.dialects.cuda_tile.structure.debug_info import (
    LOCAL_SCOPES,
    DICompileUnitAttr,
    DIFileAttr,
    DILexicalBlockAttr,
    DISubprogramAttr,
)
from tileas_xdsl.frontend.bytecode.layout import FIRST_DEBUG_ID, DebugTag
from tileas_xdsl.frontend.bytecode.writing.output import Numbering, Output
from tileas_xdsl.frontend.bytecode.writing.unwritable import UnwritableError

_UNKNOWN = 0


class DebugTable:
    """The debug attributes that a file has needed so far."""

    def __init__(self, strings: Numbering[str]) -> None:
        self._strings = strings
        self._entries = Numbering[bytes](FIRST_DEBUG_ID)
        self._numbers: dict[Attribute, int] = {}
        self._known: dict[tuple[int, int], int] = {}
        """By the identity of a location and of the function's scope, 0 if the location has its own;
        both stay alive."""
        self._scopes: list[Attribute] = []
        self._functions: list[list[int]] = []

    def begin_function(self, scope: Attribute) -> int:
        """The number of the debug data of another function, whose locations are in this scope."""
        self._functions.append([])
        self._scopes.append(scope)
        return len(self._functions) - 1 + FIRST_DEBUG_ID

    def add(self, location: Attribute) -> None:
        """The location of the function that was begun, or of its next operation."""
        scope = self._scopes[-1]
        has_scope = isinstance(location, FusedLoc) and isinstance(location.metadata, LOCAL_SCOPES)
        key = (id(location), 0 if has_scope else id(scope))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._location(location, scope)
        self._functions[-1].append(known)

    def payload(self) -> Output:
        """The section."""
        output = Output()
        output.varint(len(self._functions))
        output.pad(4)
        offset = 0
        for numbers in self._functions:
            output.fixed(offset, 4)
            offset += len(numbers)
        output.varint(offset)
        output.pad(8)
        for numbers in self._functions:
            for number in numbers:
                output.fixed(number, 8)
        # Readers of NVIDIA's refuse an empty table.
        output.table(self._entries.in_order() or (bytes([DebugTag.UNKNOWN]),), 4)
        return output

    def _location(self, location: Attribute, scope: Attribute) -> int:
        match location:
            case FileLineColLoc():
                return self._position(location, scope)
            case CallSiteLoc():
                return self._call_site(location, scope)
            case FusedLoc() if isinstance(location.metadata, LOCAL_SCOPES):
                return self._fused(location, location.metadata)
            case NameLoc() | FusedLoc():
                raise UnwritableError(
                    f"unsupported location, got {type(location).__name__}, "
                    "expected DILocAttr or CallSiteLoc"
                )
            case _:
                return _UNKNOWN

    def _fused(self, location: FusedLoc, scope: Attribute) -> int:
        parts = cast(ArrayAttr[Attribute], location.locations)
        numbers = (self._location(part, scope) for part in parts.data)
        return next((number for number in numbers if number != _UNKNOWN), _UNKNOWN)

    def _call_site(self, location: CallSiteLoc, scope: Attribute) -> int:
        callee = self._location(location.callee, scope)
        caller = self._location(location.caller, scope)
        if _UNKNOWN in (callee, caller):
            return callee or caller
        return self._entry(DebugTag.CALL_SITE, callee, caller)

    def _position(self, location: FileLineColLoc, scope: Attribute) -> int:
        inside = self._scope(scope)
        file = self._strings[location.filename.data]
        return self._entry(DebugTag.LOC, inside, file, location.line.data, location.column.data)

    def _scope(self, scope: Attribute) -> int:
        found = self._numbers.get(scope)
        if found is None:
            found = self._numbers[scope] = self._new_scope(scope)
        return found

    def _new_scope(self, scope: Attribute) -> int:
        match scope:
            case DIFileAttr():
                names = (scope.file_name.data, scope.directory.data)
                return self._entry(DebugTag.FILE, *(self._strings[name] for name in names))
            case DICompileUnitAttr():
                return self._entry(DebugTag.COMPILE_UNIT, self._scope(scope.file))
            case DILexicalBlockAttr():
                parts = (self._scope(scope.scope), self._scope(scope.file))
                return self._entry(
                    DebugTag.LEXICAL_BLOCK, *parts, scope.line.data, _number(scope.column)
                )
            case DISubprogramAttr():
                return self._subprogram(scope)
            case _:
                return _UNKNOWN

    def _subprogram(self, scope: DISubprogramAttr) -> int:
        file, unit = self._scope(scope.file), self._scope(scope.compile_unit)
        names = (scope.function_name.data, scope.linkage_name.data)
        name, linkage = (self._strings[text] for text in names)
        line, scope_line = scope.line.data, _number(scope.scope_line)
        return self._entry(DebugTag.SUBPROGRAM, file, line, name, linkage, unit, scope_line)

    def _entry(self, tag: DebugTag, *numbers: int) -> int:
        output = Output([tag])
        for number in numbers:
            output.varint(number)
        return self._entries[bytes(output)]


def _number(value: IntAttr | NoneAttr) -> int:
    return value.data if isinstance(value, IntAttr) else 0


def scope_of(function: Operation, name: str) -> Attribute:
    """Return the scope for operations of a function that have none: the function itself.

    It is the scope of the function, or made from the first location in it; without any location it
    is `NoneAttr`.
    """
    location = function.location
    if isinstance(location, FusedLoc) and isinstance(location.metadata, LOCAL_SCOPES):
        return location.metadata
    places = (file_location(op.location) for op in function.walk())
    place = next((place for place in places if place is not None), None)
    if place is None:
        return NoneAttr()
    path = PurePath(place.file)
    folder = "" if str(path.parent) == "." else str(path.parent)
    file = DIFileAttr(StringAttr(path.name), StringAttr(folder))
    text = StringAttr(name)
    line = IntAttr(place.line)
    return DISubprogramAttr(file, line, text, text, DICompileUnitAttr(file), line)
