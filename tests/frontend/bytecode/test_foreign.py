"""Every operation as the package cuda-tile writes it, with random operands and attributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i1,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Block, Operation, OpResult

from tileas_xdsl.diagnostics.emission import OpError
from tileas_xdsl.dialects.cuda_tile.enums import RoundingMode, RoundingModeAttr
from tileas_xdsl.dialects.cuda_tile.hints import OptimizationHintsAttr
from tileas_xdsl.dialects.cuda_tile.tiles.conversions import FToFOp
from tileas_xdsl.dialects.cuda_tile.types.predicates import BoundedAttr, DivByAttr
from tileas_xdsl.frontend.bytecode.enumerations import ENUMERATIONS
from tileas_xdsl.frontend.bytecode.layout import V13_4, VERSIONS, Version
from tileas_xdsl.frontend.bytecode.operations import ENCODINGS, SEGMENT_SIZES, TOKEN_SINCE
from tileas_xdsl.frontend.bytecode.reading.constants import packed
from tileas_xdsl.frontend.bytecode.reading.reader import read_bytecode
from tileas_xdsl.frontend.bytecode.writing.writer import write_bytecode

pytest.importorskip("cuda.tile")

from tests.frontend.bytecode.foreign_bytecode import Said, encoders, opcode_of, write_file

NUMBERS = {
    member: number for members in ENUMERATIONS.values() for number, member in enumerate(members)
}
PREVIEWS = (0x7B, 0x7C, 0x7D)
"""Opcodes of 13.5, which is not out."""


OPCODES = {name: opcode_of(name) for name in encoders()}


def later_than(version: Version) -> list[str]:
    known = {opcode for opcode, encoding in ENCODINGS.items() if encoding.since <= version}
    return [name for name, opcode in OPCODES.items() if opcode not in known]


def test_the_table_has_all_operations() -> None:
    assert set(OPCODES.values()) - set(PREVIEWS) == set(ENCODINGS)


def entry_of(module: ModuleOp) -> Operation:
    [kernels] = module.ops
    return next(op for op in kernels.regions[0].block.ops if op.name == "cuda_tile.entry")


class Numbered:
    """The operations of a function in the order of the file, and its values by their numbers."""

    def __init__(self, entry: Operation, version: Version) -> None:
        self._version = version
        self.ops: list[tuple[Operation, list[int]]] = []
        self._values: dict[object, int] = {}
        self._walk(entry.regions[0].block)

    def _walk(self, block: Block) -> None:
        known = len(self._values)
        for argument in block.args:
            self._values[argument] = len(self._values)
        for op in block.ops:
            self.ops.append((op, [self._values[operand] for operand in op.operands]))
            for region in op.regions:
                for inner in region.blocks:
                    self._walk(inner)
            for result in self.numbered(op):
                self._values[result] = len(self._values)
        if block.parent_op() is not None and block.parent_op().name != "cuda_tile.entry":
            while len(self._values) > known:
                self._values.popitem()

    def numbered(self, op: Operation) -> Sequence[OpResult]:
        """The results that the version has."""
        since = TOKEN_SINCE.get(op.name, self._version)
        return op.results if since <= self._version else ()


def flat(said: list[Said]) -> list[Said]:
    return [each for one in said for each in (one, *flat(one.inside))]


PLAIN: Mapping[type[Any], Callable[[Any], object]] = {
    EnumAttribute: lambda value: NUMBERS[value],
    IntegerAttr: lambda value: bool(value.value.data) if value.type == i1 else value.value.data,
    FloatAttr: lambda value: value.value.data,
    StringAttr: lambda value: value.data,
    SymbolRefAttr: lambda value: value.root_reference.data,
    UnitAttr: lambda value: True,
    DenseArrayBase: lambda value: [int(number) & 0xFFFFFFFF for number in value.get_values()],
    ArrayAttr: lambda value: [plain(each) for each in value.data],
    OptimizationHintsAttr: lambda value: plain(value.value),
    DictionaryAttr: lambda value: {key: plain(each) for key, each in value.data.items()},
    DenseIntOrFPElementsAttr: packed,
    DivByAttr: lambda value: tuple(getattr(part, "data", None) for part in value.parameters),
    BoundedAttr: lambda value: tuple(getattr(part, "data", None) for part in value.parameters),
}


def plain(value: Attribute) -> object:
    """Return an attribute in the form passed to the package's writer."""
    return next(form(value) for kind, form in PLAIN.items() if isinstance(value, kind))


def told(value: object) -> object:
    """Return the arguments passed to the writer, in the same form."""
    import cuda.tile._bytecode.attribute as known

    match value:
        case known.Integer():
            return value.value
        case known.Float():
            return _float_of(value)
        case known.OptimizationHints():
            return {key: told(inner) for key, inner in value.hints_by_arch}
        case known.Dictionary():
            return {key: told(inner) for key, inner in value.items}
        case known.Bool():
            return value.value
        case known.DivBy():
            return (value.divisor, value.every, value.along)
        case known.Bounded():
            return (value.lb, value.ub)
        case list():
            return [told(each) for each in value]
        case bool() | int() | str() | bytes():
            return value
        case _:
            return int.from_bytes(value.value)  # pyright: ignore[reportAttributeAccessIssue]


def _float_of(value: object) -> float:
    from cuda.tile._bytecode import SimpleType
    from cuda.tile._bytecode.float import float_from_bits

    kinds = {16: SimpleType.F16, 32: SimpleType.F32, 8: SimpleType.F8E5M2}
    return float_from_bits(value.value_bits, kinds[value.bit_size])  # pyright: ignore[reportAttributeAccessIssue]


def expected_attributes(said: Said) -> dict[str, object]:
    found = {key: told(value) for key, value in said.attributes.items()}
    for key, value in found.items():
        if isinstance(value, list) and value and isinstance(value[0], bool):
            found[key] = [0xFFFFFFFF if each else 0 for each in value]
    return {key: value for key, value in found.items() if value is not False}


def actual_attributes(op: Operation) -> dict[str, object]:
    found = {key: plain(value) for key, value in op.properties.items() if key != SEGMENT_SIZES}
    return {key: value for key, value in found.items() if value != []}


@pytest.mark.parametrize("version", VERSIONS, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_operations_are_read_as_they_were_written(version: Version, seed: int) -> None:
    data, said = write_file(str(version), seed, without=later_than(version))
    numbered = Numbered(entry_of(read_bytecode(data)), version)
    expected = flat(said)
    assert len(expected) == len(numbered.ops)
    for one, (op, operands) in zip(expected, numbered.ops, strict=True):
        assert op.name == f"cuda_tile.{ENCODINGS[one.opcode].name}"
        assert operands == one.operands, op.name
        assert len(numbered.numbered(op)) == len(one.results)
        attributes = actual_attributes(op)
        known = [a.name for a in ENCODINGS[one.opcode].attributes if a.since <= version]
        for name, value in expected_attributes(one).items():
            assert name not in known or attributes[name] == value, (op.name, name)


@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_what_is_written_is_read_as_the_same(version: Version) -> None:
    """Roundings between floats are those of the version; others are refused."""
    data, _ = write_file(str(version), 7, without=later_than(version))
    module = read_bytecode(data)
    others = [op for op in module.walk() if isinstance(op, FToFOp) and not op.rounds_as_in_13_3]
    if version < V13_4 and others:
        with pytest.raises(OpError, match=r"its rounding needs version 13\.4"):
            write_bytecode(module, version)
        for op in others:
            op.properties["rounding_mode"] = RoundingModeAttr(RoundingMode.NEAREST_EVEN)
    written = write_bytecode(module, version)
    again = read_bytecode(written)
    assert module.is_structurally_equivalent(again)
    assert [op.location for op in module.walk()] == [op.location for op in again.walk()]
    assert write_bytecode(again, version) == written
