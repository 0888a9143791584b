"""Operations with wrong parts are refused or accepted; their verifiers never fail themselves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.ir import parse
from xdsl.dialects.builtin import IntegerAttr, UnitAttr, f32, i32
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.test_value import create_ssa_value

from tileas_xdsl.dialects.cuda_tile.types.scalars import ELEMENTS
from tileas_xdsl.dialects.cuda_tile.types.tile_types import PtrType, TileType, TokenType
from tileas_xdsl.dialects.cuda_tile.types.view_types import PartitionViewType, TensorViewType

FILES = sorted((Path(__file__).parents[2] / "filecheck/dialects/cuda_tile/ops").glob("*.mlir"))
TENSOR = TensorViewType(ELEMENTS["i8"], (4,), (1,))
TYPES: list[Attribute] = [
    f32,
    TokenType(),
    TENSOR,
    PartitionViewType((4,), TENSOR),
    TileType((), i32),
    TileType((4,), PtrType(f32)),
    TileType((2, 2, 2, 2), f32),
    TileType((4, 8), ELEMENTS["f8E8M0FNU"]),
]


def broken(op: Operation) -> Iterator[Operation]:
    """The operation with one part wrong: an operand, a result, a property, a region."""
    for index in range(len(op.operands)):
        for type_ in TYPES:
            yield made(op, operands=replaced(op.operands, index, create_ssa_value(type_)))
        yield made(op, operands=[*op.operands[:index], *op.operands[index + 1 :]])
    for index in range(len(op.results)):
        for type_ in TYPES:
            types = [result.type for result in op.results]
            yield made(op, result_types=replaced(types, index, type_))
    for name in op.properties:
        others = {key: value for key, value in op.properties.items() if key != name}
        yield made(op, properties=others)
        for value in (UnitAttr(), IntegerAttr(-1, i32), TYPES[4]):
            yield made(op, properties={**others, name: value})
    if op.regions:
        yield made(op, regions=[])


def replaced(values, index, value):
    return [*values[:index], value, *values[index + 1 :]]


def made(op: Operation, **parts) -> Operation:
    whole = {
        "operands": op.operands,
        "result_types": [result.type for result in op.results],
        "properties": dict(op.properties),
    }
    if "regions" not in parts:
        parts["regions"] = [region.clone() for region in op.regions]
    return type(op).create(**{**whole, **parts})


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_verifier_never_fails_itself(file: Path) -> None:
    refused = 0
    for op in parse(file.read_text(encoding="utf-8")).walk():
        if not op.name.startswith("cuda_tile."):
            continue
        for wrong in broken(op):
            try:
                wrong.verify(verify_nested_ops=False)
            except VerifyException:
                refused += 1
    assert refused > 5
