"""From a module to bytecode: the inverse of `reader`.

Sections come in the order in which cuTile Python writes them, tables in the order of first use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute, Operation

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cuda_tile.types.dense import tile_type_of
from tileas_xdsl.frontend.bytecode.enumerations import ENUMERATIONS
from tileas_xdsl.frontend.bytecode.layout import (
    LATEST,
    MAGIC,
    V13_3,
    FunctionFlag,
    Section,
    Version,
)
from tileas_xdsl.frontend.bytecode.operations import Kind
from tileas_xdsl.frontend.bytecode.writing.attribute_writer import AttributeWriter
from tileas_xdsl.frontend.bytecode.writing.body_writer import BodyWriter
from tileas_xdsl.frontend.bytecode.writing.debug_table import DebugTable, scope_of
from tileas_xdsl.frontend.bytecode.writing.output import Numbering, Output
from tileas_xdsl.frontend.bytecode.writing.self_contained import check_self_contained
from tileas_xdsl.frontend.bytecode.writing.type_table import TypeTable
from tileas_xdsl.frontend.bytecode.writing.unwritable import UnwritableError


def write_bytecode(module: ModuleOp, version: Version = LATEST) -> bytes:
    """Return the bytecode of a module with one `cuda_tile.module`.

    The module must be valid.  The name of the `cuda_tile.module` is not written, and globals come
    before functions.  Raises `OpError` at an operation that this version cannot represent.
    """
    kernels = _kernels(module)
    check_self_contained(kernels)
    return _Writer(version).file(kernels)


def _kernels(module: ModuleOp) -> Operation:
    """The `cuda_tile.module`; raises `OpError` if there is none, or anything beside it."""
    if module.name == "cuda_tile.module":
        return module
    ops = list(module.ops)
    if len(ops) == 1 and ops[0].name == "cuda_tile.module":
        return ops[0]
    where = next((op for op in ops if op.name != "cuda_tile.module"), module)
    raise op_error(where, "bytecode is written of one 'cuda_tile.module' and nothing beside it")


class _Writer:
    def __init__(self, version: Version) -> None:
        self._version = version
        self._strings = Numbering[str]()
        self._constants = Numbering[bytes]()
        self._types = TypeTable(version)
        self._debug = DebugTable(self._strings)
        self._attributes = AttributeWriter(self._strings, self._types, self._constants)

    def file(self, kernels: Operation) -> bytes:
        """The whole file."""
        ops = list(kernels.regions[0].block.ops)
        globals_ = self._globals([op for op in ops if op.name == "cuda_tile.global"])
        functions = self._functions([op for op in ops if op.name == "cuda_tile.entry"])
        try:
            producer = self._producer(kernels)
        except UnwritableError as error:
            raise op_error(kernels, f"cannot be written as bytecode: {error}") from error
        output = Output(MAGIC)
        output += bytes([self._version.major, self._version.minor, 0, 0])
        output.section(Section.FUNC, functions)
        if globals_:
            output.section(Section.GLOBAL, globals_)
        output.section(Section.CONSTANT, _table(self._constants.in_order(), 8))
        output.section(Section.DEBUG, self._debug.payload())
        output.section(Section.TYPE, _table(self._types.entries, 4))
        if producer:
            output.section(Section.PRODUCER, producer)
        texts = [text.encode("utf-8", "surrogateescape") for text in self._strings.in_order()]
        output.section(Section.STRING, _table(texts, 4))
        output.append(Section.END)
        return bytes(output)

    def _producer(self, kernels: Operation) -> Output:
        output = Output()
        attributes = {**kernels.attributes, **kernels.properties}
        attributes.pop("sym_name", None)
        producer = attributes.pop("producer", None)
        _refuse_attributes(attributes)
        if not isinstance(producer, StringAttr) or self._version < V13_3:
            return output
        output.varint(self._strings[producer.data])
        return output

    def _globals(self, ops: list[Operation]) -> Output:
        output = Output()
        if not ops:
            return output
        output.varint(len(ops))
        for op in ops:
            try:
                self._global(output, op)
            except UnwritableError as error:
                raise op_error(op, f"cannot be written as bytecode: {error}") from error
        return output

    def _global(self, output: Output, op: Operation) -> None:
        attributes = {**op.attributes, **op.properties}
        name, value = attributes.pop("sym_name"), attributes.pop("value")
        output.varint(self._strings[cast(StringAttr, name).data])
        output.varint(self._types.number(tile_type_of(cast(Any, value))))
        self._attributes.write(output, Kind.CONSTANT, value)
        self._attributes.write(output, Kind.I64, attributes.pop("alignment", _NO_ALIGNMENT))
        visibility = attributes.pop("symbol_visibility", _PUBLIC)
        constant = attributes.pop("constant", None)
        _refuse_attributes(attributes)
        if self._version >= V13_3:
            self._attributes.write(output, "SymbolVisibility", visibility)
            output.append(constant is not None)
        elif constant is not None or visibility != _PUBLIC:
            raise UnwritableError(f"private and constant globals need version {V13_3}")

    def _functions(self, ops: list[Operation]) -> Output:
        output = Output()
        output.varint(len(ops))
        for op in ops:
            try:
                self._function(output, op)
            except UnwritableError as error:
                raise op_error(op, f"cannot be written as bytecode: {error}") from error
        return output

    def _function(self, output: Output, op: Operation) -> None:
        attributes = {**op.attributes, **op.properties}
        name = cast(StringAttr, attributes.pop("sym_name"))
        hints = attributes.pop("optimization_hints", None)
        type_ = attributes.pop("function_type")
        for key in ("arg_attrs", "res_attrs"):
            if _says_nothing(attributes.get(key)):
                attributes.pop(key, None)
        _refuse_attributes(attributes)
        scope = scope_of(op, name.data)
        place = self._debug.begin_function(scope)
        self._debug.add(op.location)
        output.varint(self._strings[name.data])
        output.varint(self._types.number(type_))
        output.append(FunctionFlag.ENTRY | (FunctionFlag.HINTS if hints else 0))
        output.varint(place)
        if hints is not None:
            self._attributes.tagged(output, hints)
        writer = BodyWriter(self._version, self._types, self._attributes, self._debug)
        body = writer.write(op.regions[0].block)
        output.varint(len(body))
        output += body


_PUBLIC = ENUMERATIONS["SymbolVisibility"][0]
_NO_ALIGNMENT = IntegerAttr(0, i64)


def _table(entries: Sequence[bytes], width: int) -> Output:
    output = Output()
    output.table(entries, width)
    return output


def _says_nothing(value: Attribute | None) -> bool:
    """Is this a list of empty dictionaries, which functions may have for their parameters?"""
    if not isinstance(value, ArrayAttr):
        return False
    entries = cast(ArrayAttr[Attribute], value).data
    return all(isinstance(each, DictionaryAttr) and not each.data for each in entries)


def _refuse_attributes(attributes: Mapping[str, Attribute]) -> None:
    for name in attributes:
        raise UnwritableError(f"there is no place for its attribute '{name}'")
