"""Every operation has an opcode, tests of its text, and tests of its messages."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
from support.ir import parse
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr, i32, i64
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.test_value import create_ssa_value

from tileas_xdsl.diagnostics.catalogue import catalogue, emitted_ids
from tileas_xdsl.dialects.cuda_tile import CudaTile
from tileas_xdsl.dialects.cuda_tile.enums import RoundingMode, RoundingModeAttr
from tileas_xdsl.dialects.cuda_tile.memory.pointers import AllocaOp
from tileas_xdsl.dialects.cuda_tile.opcodes import OPCODES
from tileas_xdsl.dialects.cuda_tile.syntax.sugar import SUGAR
from tileas_xdsl.dialects.cuda_tile.tiles.floats import AddFOp
from tileas_xdsl.dialects.cuda_tile.tiles.misc import PrintTkoOp, format_expressions
from tileas_xdsl.dialects.cuda_tile.types.scalars import ELEMENTS
from tileas_xdsl.dialects.cuda_tile.types.tile_types import PtrType, TileType, TokenType

FILES = Path(__file__).parents[2] / "filecheck/dialects/cuda_tile"
OURS = [entry for entry in catalogue() if entry.source.endswith(("cuda-tile, 13.4", "MLIR"))]
F32 = TileType((), ELEMENTS["f32"])
OPERATIONS = [operation for operation in CudaTile.operations if operation not in SUGAR]


def texts(folder: str) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in (FILES / folder).glob("*.mlir"))


def test_operations_and_opcodes_are_the_same() -> None:
    names = [operation.name for operation in OPERATIONS]
    assert sorted(names) == sorted(f"cuda_tile.{opcode.name}" for opcode in OPCODES)
    numbers = [opcode.number for opcode in OPCODES]
    assert len(set(numbers)) == len(numbers) == 105


def test_opcodes_are_those_of_the_package() -> None:
    encodings = pytest.importorskip("cuda.tile._bytecode.encodings")
    functions = [value for name, value in vars(encodings).items() if name.startswith("encode_")]
    known = {opcode.number: opcode.name for opcode in OPCODES}
    found = {}
    for function in functions:
        number = next((c for c in function.__code__.co_consts if isinstance(c, int)), None)
        name = re.sub(r"Op$", "", function.__name__.removeprefix("encode_"))
        if number in known:
            found[number] = name.lower()
    assert len(found) > 90
    assert {n: name.replace("_", "") for n, name in known.items() if n in found} == found


def test_every_operation_is_read_and_printed_in_some_test() -> None:
    text = texts("ops")
    missing = [o.name for o in OPCODES if not re.search(rf"\b{o.name}\b", text)]
    assert not missing


def test_every_type_and_attribute_is_read_and_printed_in_some_test() -> None:
    text = texts("types") + texts("attrs")
    names = [definition.name.removeprefix("cuda_tile.") for definition in CudaTile.attributes]
    assert not [name for name in names if not re.search(rf"\b{name}\b", text)]


def test_every_message_is_fired_in_some_test() -> None:
    text = texts("invalid")
    patterns = {e.id: ".*".join(map(re.escape, e.fragments)) for e in OURS}
    missing = [key for key, pattern in patterns.items() if not re.search(pattern, text)]
    assert not missing
    assert not {entry.id for entry in OURS} - emitted_ids()


def test_the_dialect_has_everything_once() -> None:
    names = [definition.name for definition in (*CudaTile.operations, *CudaTile.attributes)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_operation_says_what_it_does(operation: type[Operation]) -> None:
    assert inspect.getdoc(operation)


def test_operations_are_made_from_their_parts() -> None:
    value = create_ssa_value(F32)
    op = AddFOp(
        operands=[value, value],
        result_types=[F32],
        properties={"rounding_mode": RoundingModeAttr(RoundingMode.ZERO)},
    )
    op.verify()
    assert op.lhs is value
    sizes = DenseArrayBase.from_list(i32, [0, 0])
    made = PrintTkoOp.create(
        result_types=[TokenType()],
        properties={"str": StringAttr("x"), "operandSegmentSizes": sizes},
    )
    made.verify()
    pointer = TileType((), PtrType(ELEMENTS["f32"]))
    number = IntegerAttr(16, i64)
    AllocaOp(result_types=[pointer], properties={"num_elem": number, "alignment": number}).verify()


def test_a_missing_operand_is_refused() -> None:
    with pytest.raises(VerifyException):
        AddFOp.create(operands=[create_ssa_value(F32)], result_types=[F32]).verify()


@pytest.mark.parametrize(
    ("text", "expressions"),
    [
        ("plain", []),
        ("%d of %+08.3f", ["%d", "%+08.3f"]),
        ("100%%", []),
        ("%%%d", ["%d"]),
        ("50%", [None]),
        ("%d 50%", ["%d", None]),
    ],
)
def test_format_expressions(text: str, expressions: list[str | None]) -> None:
    assert list(format_expressions(text)) == expressions


def test_types_and_operations_are_read_with_their_prefix_too() -> None:
    short = """
    cuda_tile.module @m {
      entry @k(%a: tile<ptr<f32>>) {
        %0 = make_token : token
      }
    }
    """
    long = """
    cuda_tile.module @m {
      cuda_tile.entry @k(%a: !cuda_tile.tile<!cuda_tile.ptr<f32>>) {
        %0 = cuda_tile.make_token : !cuda_tile.token
        cuda_tile.return
      }
    }
    """
    assert str(parse(short)) == str(parse(long))
