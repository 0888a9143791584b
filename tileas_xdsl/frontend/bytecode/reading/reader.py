"""From bytecode to a module."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xdsl.dialects.builtin import (
    ArrayAttr,
    FileLineColLoc,
    FunctionType,
    IntAttr,
    IntegerAttr,
    LocationAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Region

from tileas_xdsl.dialects.cuda_tile import CudaTile
from tileas_xdsl.dialects.cuda_tile.hints import OptimizationHintsAttr
from tileas_xdsl.dialects.cuda_tile.types.tile_types import TokenType
from tileas_xdsl.frontend.bytecode.enumerations import ENUMERATIONS
from tileas_xdsl.frontend.bytecode.layout import (
    V13_3,
    V13_5,
    AttributeTag,
    FunctionFlag,
    Section,
    Version,
)
from tileas_xdsl.frontend.bytecode.limits import FREE_ARGUMENTS
from tileas_xdsl.frontend.bytecode.operations import ENCODINGS, TOKEN_SINCE
from tileas_xdsl.frontend.bytecode.reading.assembly import (
    NO_VALUES,
    append_block,
    append_operation,
    append_region,
    defined,
    give_result,
    without_collection,
)
from tileas_xdsl.frontend.bytecode.reading.attributes import Attributes
from tileas_xdsl.frontend.bytecode.reading.bodies import Body, Heads
from tileas_xdsl.frontend.bytecode.reading.constants import Constants
from tileas_xdsl.frontend.bytecode.reading.cursor import Cursor
from tileas_xdsl.frontend.bytecode.reading.debug import NOWHERE, DebugInfo, no_debug_info
from tileas_xdsl.frontend.bytecode.reading.plans import Plan, make_plan
from tileas_xdsl.frontend.bytecode.reading.sections import Sections, split_sections
from tileas_xdsl.frontend.bytecode.reading.strings import Strings
from tileas_xdsl.frontend.bytecode.reading.types import Types

MODULE_NAME = "kernels"
"""The name of every module that is read, as in the open reader: the format carries none."""

DEFINITIONS = {definition.name: definition for definition in CudaTile.operations}
"""The operations of the dialect by their names."""

_ENTRY = defined(DEFINITIONS["cuda_tile.entry"])
_GLOBAL = defined(DEFINITIONS["cuda_tile.global"])


def read_bytecode(data: bytes, file: str = "<bytecode>", *, first_column: int = 1) -> ModuleOp:
    """The module of a bytecode file, which a `cuda_tile.module` inside a `builtin.module` is.

    Every operation has the location that the debug information gives it, in which columns count
    from `first_column` (0 or 1).  Nothing is verified beyond what the format needs.  Raises
    `BytecodeError` for a file that is wrong, with the byte.
    """
    with without_collection():
        return _Reader(split_sections(data, file), first_column).module()


class _Reader:
    """A file whose tables are read."""

    def __init__(self, sections: Sections, first_column: int) -> None:
        self._sections = sections
        self._version = sections.version
        self._strings = Strings(self._sections.table(Section.STRING))
        self._types = Types(self._sections.table(Section.TYPE), self._version).all()
        self._constants = Constants(self._sections.table(Section.CONSTANT))
        self._attributes = Attributes(self._strings, self._types, self._constants)
        self._heads = Heads(_Plans(self._version, self._attributes), self._types)
        self._locations = self._debug_info(first_column)
        self._lacks_tokens = any(self._version < since for since in TOKEN_SINCE.values())
        self._last_hints: tuple[bytes, Attribute] = (_NO_HINTS, OptimizationHintsAttr({}))
        self._arguments_left = FREE_ARGUMENTS + sections.size

    def _debug_info(self, first_column: int) -> Callable[[Cursor], Iterator[LocationAttr]]:
        cursor = self._sections.get(Section.DEBUG)
        if cursor is None:
            return no_debug_info
        return DebugInfo(cursor, self._strings, first_column).of_function

    def module(self) -> ModuleOp:
        """The module, with the globals before the functions."""
        block = Block()
        self._read_globals(block)
        self._read_functions(block)
        properties: dict[str, Attribute] = {"sym_name": StringAttr(MODULE_NAME)}
        cursor = self._sections.get(Section.PRODUCER)
        if cursor is not None:
            properties["producer"] = self._strings.attribute(cursor, "the producer")
            cursor.finished("the producer")
        inner = DEFINITIONS["cuda_tile.module"].create(
            properties=properties, regions=[Region(block)]
        )
        inner.location = NOWHERE
        outer = ModuleOp([inner])
        outer.location = FileLineColLoc(StringAttr(self._sections.file), IntAttr(1), IntAttr(1))
        return outer

    def _read_globals(self, block: Block) -> None:
        cursor = self._sections.table(Section.GLOBAL)
        for _ in range(cursor.count("globals", 4)):
            properties = self._global(cursor)
            append_operation(block, _GLOBAL, NO_VALUES, (), properties, NOWHERE)
        cursor.finished("the globals")

    def _global(self, cursor: Cursor) -> dict[str, Attribute]:
        properties: dict[str, Attribute] = {
            "sym_name": self._strings.attribute(cursor, "the name of a global")
        }
        type_ = self._heads.type(cursor, "the type of a global")
        properties["value"] = self._constants.elements(cursor, type_)
        properties["alignment"] = _alignment(cursor)
        visibility = 0
        if self._version >= V13_3:
            start = cursor.position
            visibility = cursor.varint("the visibility of a global")
            if visibility >= len(_VISIBILITIES):
                raise cursor.error(f"there is no visibility {visibility}", start)
            if cursor.boolean("whether a global is constant"):
                properties["constant"] = UnitAttr()
        properties["symbol_visibility"] = _VISIBILITIES[visibility]
        return properties

    def _read_functions(self, block: Block) -> None:
        cursor = self._sections.table(Section.FUNC)
        for _ in range(cursor.count("functions", 5)):
            self._function(cursor, block)
        if cursor.remaining >= 8:
            cursor.finished("the functions")

    def _function(self, cursor: Cursor, functions: Block) -> None:
        start = cursor.position
        name = self._strings.attribute(cursor, "the name of a function")
        type_ = self._function_type(cursor)
        has_hints = self._has_hints(cursor) or self._version >= V13_5
        locations = self._locations(cursor)
        location = next(locations, NOWHERE)
        properties: dict[str, Attribute] = {"sym_name": name, "function_type": type_}
        if has_hints:
            properties["optimization_hints"] = self._hints(cursor)
        if self._version >= V13_5:
            self._no_argument_attributes(cursor)
        body = cursor.cut(cursor.varint("the length of a function"), "a function")
        self._arguments_left -= len(type_.inputs)
        if self._arguments_left < 0:
            raise cursor.error("more parameters in all than the file has bytes", start)
        entry = append_operation(functions, _ENTRY, NO_VALUES, (), properties, location)
        block = append_block(append_region(entry), type_.inputs.data, location)
        Body(self._heads, body, block.args, locations).read(block)
        if self._lacks_tokens:
            self._complete(block)

    def _no_argument_attributes(self, cursor: Cursor) -> None:
        """Pass over the attributes of a function's arguments, of which none is known."""
        start = cursor.position
        found = self._attributes.tagged(cursor)
        if found != ArrayAttr(()):
            raise cursor.error(f"the arguments of a function have attributes: {found}", start)

    def _complete(self, block: Block) -> None:
        """Give tokens to operations that had none in this version."""
        for op in block.walk():
            since = TOKEN_SINCE.get(op.name, self._version)
            if self._version < since and not op.results:
                give_result(op, TokenType())

    def _function_type(self, cursor: Cursor) -> FunctionType:
        start = cursor.position
        type_ = self._heads.type(cursor, "the type of a function")
        if not isinstance(type_, FunctionType):
            raise cursor.error(f"a function has the type {type_}", start)
        return type_

    def _has_hints(self, cursor: Cursor) -> bool:
        start = cursor.position
        flags = cursor.byte("the flags of a function")
        if flags & ~FunctionFlag.HINTS != FunctionFlag.ENTRY:
            raise cursor.error(f"only public entries are supported, not the flags {flags}", start)
        return flags & FunctionFlag.HINTS != 0

    def _hints(self, cursor: Cursor) -> Attribute:
        """The hints of a function; most have the same as the one before."""
        start = cursor.position
        last, hints = self._last_hints
        if cursor.data.startswith(last, start, cursor.end):
            cursor.position += len(last)
            return hints
        hints = self._attributes.tagged(cursor)
        if not isinstance(hints, OptimizationHintsAttr):
            raise cursor.error(f"the hints of a function are {hints}", start)
        self._last_hints = cursor.data[start : cursor.position], hints
        return hints


_NO_HINTS = bytes([AttributeTag.OPTIMIZATION_HINTS, 0])
_VISIBILITIES = ENUMERATIONS["SymbolVisibility"]


def _alignment(cursor: Cursor) -> Attribute:
    start = cursor.position
    alignment = cursor.varint("the alignment of a global")
    if alignment >> 63:
        raise cursor.error(f"the alignment {alignment} of a global is too large", start)
    return IntegerAttr(alignment, i64)


class _Plans(dict[int, Plan | None]):
    """By opcode, the plans of a version, made when they are needed; None if there is none."""

    def __init__(self, version: Version, attributes: Attributes) -> None:
        super().__init__()
        self._version = version
        self._attributes = attributes

    def __missing__(self, opcode: int) -> Plan | None:
        encoding = ENCODINGS.get(opcode)
        if encoding is None or encoding.since > self._version:
            return None
        definition = defined(DEFINITIONS[f"cuda_tile.{encoding.name}"])
        plan = make_plan(encoding, self._version, definition, self._attributes.decoder)
        self[opcode] = plan
        return plan
