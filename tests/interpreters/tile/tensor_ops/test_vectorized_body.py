"""Bodies of scalars on whole arrays: the same as the scalar meanings, element by element."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from support.ir import parse
from xdsl.dialects import func
from xdsl.ir import Block, SSAValue

from tileas_xdsl.interpreters.tile.tensor_ops.elementwise import ELEMENTWISE
from tileas_xdsl.interpreters.tile.tensor_ops.vectorized_body import (
    VectorizedBody,
    is_vectorizable,
    scalar_at,
)

DTYPES: dict[str, Any] = {
    "f32": np.float32,
    "bf16": ml_dtypes.bfloat16,
    "i16": np.int16,
    "i4": np.int8,
    "index": np.int64,
}
LIMITS = {"i16": 2**15, "i4": 8, "index": 2**62}
INTEGER_TYPES = (np.int8, np.int16, np.int64)

INTEGERS = [
    f"%s = arith.{name} %a, %b : {{0}}"
    for name in (
        "addi", "subi", "muli", "andi", "ori", "xori", "divsi", "divui", "floordivsi", "ceildivsi",
        "ceildivui", "remsi", "remui", "minsi", "maxsi", "minui", "maxui", "shli", "shrui", "shrsi",
    )
]  # fmt: skip
FLOATS = [
    f"%s = arith.{name} %a, %b : {{0}}"
    for name in ("addf", "subf", "mulf", "divf", "minimumf", "maximumf", "minnumf", "maxnumf")
]
COMPARED = [
    f"%c = arith.cmpi {word}, %a, %b : {{0}}\n%s = arith.select %c, %a, %b : {{0}}"
    for word in ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
]
CONVERTED = [
    "%w = arith.extsi %a : i4 to i16\n%s = arith.trunci %w : i16 to i4",
    "%w = arith.extui %a : i4 to i16\n%f = arith.sitofp %w : i16 to f32\n"
    "%h = arith.truncf %f : f32 to bf16\n%s = arith.fptosi %h : bf16 to i4",
    "%l, %s = arith.mului_extended %a, %b : i4",
    "%s, %c = arith.addui_extended %a, %b : i4, i1",
    "%s = math.ctlz %a : i4",
    "%s = math.absi %b : i4",
]
MORE_FLOATS = [
    "%c = arith.cmpf ult, %a, %b : f32\n%s = arith.select %c, %a, %b : f32",
    "%e = math.exp2 %a : f32\n%s = math.fma %e, %b, %a : f32",
    "%s = math.copysign %a, %b : f32",
]
BODIES = [
    *((element, body.format(element)) for element in ("i16", "i4", "index") for body in INTEGERS),
    *((element, body.format(element)) for element in ("f32", "bf16") for body in FLOATS),
    *((element, body.format(element)) for element in ("i16", "index") for body in COMPARED),
    *(("i4", body) for body in CONVERTED),
    *(("f32", body) for body in MORE_FLOATS),
]


def block_of(element: str, body: str) -> Block:
    module = parse(f"""
        func.func private @g(i16) -> i16
        func.func @f(%a: {element}, %b: {element}, %tile: tensor<2xi16>) -> {element} {{
          {body}
          func.return %s : {element}
        }}""")
    function = next(op for op in module.walk() if isinstance(op, func.FuncOp) and op.body.blocks)
    return function.body.block


def data(element: str, shape: tuple[int, ...]) -> Any:
    rng = np.random.default_rng(3)
    if element in LIMITS:
        values = rng.integers(-LIMITS[element], LIMITS[element], shape)
        return np.where(values == 0, 1, values).astype(DTYPES[element])
    return rng.standard_normal(shape).astype(DTYPES[element])


def one_by_one(block: Block, *arguments: Any) -> Any:
    """The body on scalars, by the meanings of its operations."""
    values: dict[SSAValue, Any] = dict(zip(block.args, arguments, strict=False))
    for op in block.ops:
        if op is block.last_op:
            return values[op.operands[0]]
        results = ELEMENTWISE[type(op)](op, [values[operand] for operand in op.operands])
        values.update(zip(op.results, results, strict=True))
    raise AssertionError("a body ends")


def never(_: SSAValue) -> Any:
    raise AssertionError("nothing is captured")


@pytest.mark.parametrize(("element", "body"), BODIES, ids=lambda text: " ".join(text.split()[:6]))
@pytest.mark.parametrize("shape", [(40,), ()])
def test_arrays_give_what_their_elements_give(element: str, body: str, shape: tuple[int, ...]):
    block = block_of(element, body)
    assert is_vectorizable(block)
    a, b = map(np.asarray, data(element, (2, *shape)))
    lifted, origin = VectorizedBody(block, never), (0,) * len(shape)
    one = [scalar_at(values, origin) for values in (a, b)]
    for first, second in ((a, b), (a, one[1]), (one[0], b)):
        result = lifted(first, second, None)
        assert result.dtype == DTYPES[element]
        whole = np.broadcast_to(result, shape)
        for place in np.ndindex(shape):
            pair = [
                scalar_at(side, place) if isinstance(side, np.ndarray) and side.ndim else side
                for side in (first, second)
            ]
            plain = [x.item() if getattr(x, "dtype", bool) in INTEGER_TYPES else x for x in pair]
            assert np.array_equal(whole[place], one_by_one(block, *plain), equal_nan=True)


def test_what_hangs_on_no_argument_is_computed_once():
    """Constants and captured values, and what is made of them alone."""
    block = block_of("i16", """%seven = arith.constant 7 : i16
        %big = arith.muli %seven, %seven : i16
        %s = arith.minsi %big, %a : i16""")  # fmt: skip
    lifted = VectorizedBody(block, never)
    seven, big = (op.results[0] for op in list(block.ops)[:2])
    for op in list(block.ops)[:2]:
        op.detach()
    assert lifted(np.array([3, 60], np.int16), 0, None).tolist() == [3, 49]
    assert (seven.type, big.type) == (block.args[0].type, block.args[0].type)


@pytest.mark.parametrize(
    "body",
    [
        "%s = func.call @g(%a) : (i16) -> i16",
        "%k = arith.addi %tile, %tile : tensor<2xi16>\n%s = arith.addi %a, %b : i16",
        "%c = arith.cmpi eq, %a, %b : i16\n"
        "%s = scf.if %c -> (i16) { scf.yield %a : i16 } else { scf.yield %b : i16 }",
    ],
)
def test_calls_regions_and_tiles_do_not_lift(body: str):
    assert not is_vectorizable(block_of("i16", body))
