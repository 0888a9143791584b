"""Reductions, scans and generated tiles against a fold over single elements, in Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interpreters.tile.tensor_ops.combining import reduce_tile, scan_tile
from support.ir import parse
from xdsl.dialects import arith
from xdsl.ir import Region, SSAValue

from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp, ScanOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.interpreters.tile.faults import SimulationError
from tileas_xdsl.interpreters.tile.tensor_ops.reduction import (
    EXTREMES,
    INTEGER_COMBINERS,
    ROUNDING,
    combiner_of,
    generate_tile,
)

Scalars = Callable[[Any, Any], Any]

FLOATS: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
}
INTEGERS: dict[str, tuple[int, Any]] = {
    "i1": (1, np.bool_),
    "i4": (4, np.int8),
    "i8": (8, np.int8),
    "i24": (24, np.int32),
    "i32": (32, np.int32),
    "i64": (64, np.int64),
    "index": (64, np.int64),
}


def tile(shape: Sequence[int], element: str) -> str:
    return f"tensor<{'x'.join(map(str, [*shape, element]))}>"


def operation(
    kind: type[Any], shape: tuple[int, ...], axis: int, element: str, body: str, extra: str = ""
) -> Any:
    """A reduction or scan whose body computes `%s` of `%acc`, `%val` and the captured `%x`."""
    result = shape[:axis] + shape[axis + 1 :] if kind is ReduceOp else shape
    module = parse(f"""
        func.func private @pick({element}, {element}) -> {element}
        func.func @f(%t: {tile(shape, element)}, %x: {element}, %tile: {tile((2,), element)}) {{
          %0 = {kind.name} %t {{axis = {axis} : i32{extra}}}
            : {tile(shape, element)} -> {tile(result, element)} {{
          ^bb0(%acc: {element}, %val: {element}):
            {body}
            nv_tileas.yield %s : {element}
          }}
          func.return
        }}""")
    return next(op for op in module.walk() if isinstance(op, kind))


def never(*_: Any) -> Any:
    raise AssertionError("nothing is captured, and the body lifts")


def folded(values: Any, axis: int, step: Scalars) -> Any:
    """The reduction, one element after the other."""
    return np.apply_along_axis(lambda line: reduce(step, line), axis, values)


def unsigned(value: int, width: int) -> int:
    return value % (1 << width)


def signed(value: int, width: int) -> int:
    return (value + (1 << (width - 1))) % (1 << width) - (1 << (width - 1))


EXACT: dict[str, Callable[[int, int, int], int]] = {
    "addi": lambda a, b, _: a + b,
    "muli": lambda a, b, _: a * b,
    "andi": lambda a, b, _: a & b,
    "ori": lambda a, b, _: a | b,
    "xori": lambda a, b, _: a ^ b,
    "maxsi": lambda a, b, _: max(a, b),
    "minsi": lambda a, b, _: min(a, b),
    "maxui": lambda a, b, w: max(unsigned(a, w), unsigned(b, w)),
    "minui": lambda a, b, w: min(unsigned(a, w), unsigned(b, w)),
}


def test_the_tables_of_free_orders_are_covered():
    assert {f"arith.{name}" for name in EXACT} == {op.name for op in INTEGER_COMBINERS}
    assert {op.name for op in EXTREMES} == {f"arith.{n}" for n in EXTREME_RULES}
    assert set(ROUNDING) == {arith.AddfOp, arith.MulfOp}


@pytest.mark.parametrize("kind", [ReduceOp, ScanOp])
@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("element", INTEGERS)
def test_integers_combine_as_their_width_says(kind: type[Any], name: str, element: str):
    width, dtype = INTEGERS[element]
    rng = np.random.default_rng(1)
    values = rng.integers(-(1 << (width - 1)), (1 << (width - 1)) - 1, (5, 7), endpoint=True)
    stored = (values & 1).astype(bool) if width == 1 else values.astype(dtype)
    op = operation(kind, (5, 7), 1, element, f"%s = arith.{name} %val, %acc : {element}")
    result = (reduce_tile if kind is ReduceOp else scan_tile)(op, stored, never, never)
    assert result.dtype == dtype
    for line, row in zip(result, values, strict=True):
        sums = [int(row[0])]
        for value in row[1:]:
            sums.append(signed(EXACT[name](sums[-1], int(value), width), width))
        wanted = sums[-1] if kind is ReduceOp else sums
        assert (
            line.tolist()
            == (np.array(wanted) % 2 == 1 if width == 1 else np.array(wanted)).tolist()
        )


@pytest.mark.parametrize("element", FLOATS)
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("extent", [1, 2, 3, 7, 8])
def test_sums_of_small_integers_are_exact_in_any_order(element: str, axis: int, extent: int):
    rng = np.random.default_rng(2)
    shape = tuple(extent if k == axis else 3 for k in range(3))
    values = rng.integers(-1, 2, shape)
    op = operation(ReduceOp, shape, axis, element, f"%s = arith.addf %acc, %val : {element}")
    result = reduce_tile(op, values.astype(FLOATS[element]), never, never)
    assert result.dtype == FLOATS[element]
    assert np.array_equal(result.astype(int), values.sum(axis))


@pytest.mark.parametrize("name", ["addf", "mulf"])
@pytest.mark.parametrize("element", FLOATS)
def test_every_partial_sum_is_rounded_to_the_element(name: str, element: str):
    """Of four elements the halves are (0, 2) and (1, 3)."""
    dtype, op = FLOATS[element], {"addf": np.add, "mulf": np.multiply}[name]
    values = np.random.default_rng(3).uniform(0.5, 1.9, (400, 4)).astype(dtype)

    def step(a: Any, b: Any) -> Any:
        wide = np.float64 if element == "f64" else np.float32
        return op(a.astype(wide), b.astype(wide)).astype(dtype)

    made = operation(ReduceOp, (400, 4), 1, element, f"%s = arith.{name} %acc, %val : {element}")
    wanted = step(step(*values.T[[0, 2]]), step(*values.T[[1, 3]]))
    assert np.array_equal(reduce_tile(made, values, never, never), wanted)
    if element != "f64":
        once = op.reduce(values.astype(np.float64), axis=1).astype(dtype)
        assert not np.array_equal(wanted, once)


@pytest.mark.parametrize("name", ["addf", "mulf"])
@pytest.mark.parametrize("element", FLOATS)
@pytest.mark.parametrize("reverse", [False, True])
def test_a_scan_goes_from_element_to_element(name: str, element: str, reverse: bool):
    dtype, op = FLOATS[element], {"addf": np.add, "mulf": np.multiply}[name]
    values = np.random.default_rng(4).uniform(-1.5, 1.5, (9, 6)).astype(dtype)
    made = operation(
        ScanOp, (9, 6), 0, element, f"%s = arith.{name} %acc, %val : {element}",
        ", reverse" if reverse else "",
    )  # fmt: skip
    result = scan_tile(made, values, never, never)
    assert result.dtype == dtype
    wide = np.float64 if element == "f64" else np.float32
    order = range(9)[::-1] if reverse else range(9)
    total = None
    for k in order:
        total = values[k] if total is None else op(
            total.astype(wide), values[k].astype(wide)
        ).astype(dtype)  # fmt: skip
        assert np.array_equal(result[k], total)


def larger(a: float, b: float) -> float:
    """IEEE 754 maximum of numbers: +0 is larger than -0."""
    return max(a, b, key=lambda x: (x, not np.signbit(x)))


def smaller(a: float, b: float) -> float:
    return min(a, b, key=lambda x: (x, not np.signbit(x)))


def spreading(rule: Scalars) -> Scalars:
    return lambda a, b: np.nan if np.isnan(a) or np.isnan(b) else rule(a, b)


def skipping(rule: Scalars) -> Scalars:
    return lambda a, b: b if np.isnan(a) else a if np.isnan(b) else rule(a, b)


EXTREME_RULES: dict[str, Scalars] = {
    "maximumf": spreading(larger),
    "minimumf": spreading(smaller),
    "maxnumf": skipping(larger),
    "minnumf": skipping(smaller),
}
SPECIALS = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.5, -2.0]


@pytest.mark.parametrize("kind", [ReduceOp, ScanOp])
@pytest.mark.parametrize("name", EXTREME_RULES)
@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "f64", "f8E5M2"])
def test_extremes_of_specials(kind: type[Any], name: str, element: str):
    rng = np.random.default_rng(5)
    rows = [rng.choice(SPECIALS, 4) for _ in range(150)]
    rows += [rng.choice([0.0, -0.0], 4) for _ in range(50)]
    values = np.array(rows).astype(FLOATS[element])
    op = operation(kind, values.shape, 1, element, f"%s = arith.{name} %acc, %val : {element}")
    result = (reduce_tile if kind is ReduceOp else scan_tile)(op, values, never, never)
    assert result.dtype == values.dtype
    rule = EXTREME_RULES[name]
    for line, row in zip(result.astype(float), values.astype(float), strict=True):
        runs = [row[0]]
        for value in row[1:]:
            runs.append(rule(runs[-1], value))
        wanted = np.array(runs[-1] if kind is ReduceOp else runs)
        assert np.array_equal(line, wanted, equal_nan=True)
        known = ~np.isnan(wanted)
        assert np.array_equal(np.signbit(line)[known], np.signbit(wanted)[known])


# Bodies that are not one operation of free order: from the first element to the last

BODIES: list[tuple[str, str, Scalars]] = [
    ("f32", "%s = arith.subf %acc, %val : f32", lambda a, b: a - b),
    ("f32", "%s = arith.addf %acc, %acc : f32", lambda a, b: a + a),
    ("f16", "%s = arith.divf %val, %acc : f16", lambda a, b: b / a),
    ("bf16", "%s = math.fma %acc, %val, %x : bf16",
     lambda a, b: ml_dtypes.bfloat16(float(a) * float(b) + 0.75)),
    ("f32", """%c = arith.cmpf ogt, %acc, %val : f32
      %d = arith.select %c, %val, %acc : f32
      %s = arith.addf %d, %x : f32""", lambda a, b: (b if a > b else a) + np.float32(0.75)),
    ("f32", "%s = arith.constant 2.5 : f32", lambda a, b: np.float32(2.5)),
    ("f32", """%s = arith.addf %val, %x : f32
      %u = arith.mulf %s, %s : f32""", lambda a, b: b + np.float32(0.75)),
    ("i32", """%two = arith.constant 2 : i32
      %m = arith.minsi %two, %val : i32
      %h = arith.shrsi %acc, %two : i32
      %s = arith.subi %h, %m : i32""", lambda a, b: signed((int(a) >> 2) - min(2, int(b)), 32)),
    ("i8", "%s = arith.addi %x, %acc : i8", lambda a, b: signed(int(a) + 3, 8)),
    ("i8", """%low, %s = arith.mulsi_extended %acc, %val : i8""",
     lambda a, b: signed(int(a) * int(b) >> 8, 8)),
    ("i8", """%one = arith.constant true
      %k = arith.index_cast %acc : i8 to index
      %n = arith.index_cast %k : index to i8
      %z = arith.extui %one : i1 to i8
      %w = arith.shli %z, %x : i8
      %c = math.ctpop %n : i8
      %d = arith.select %one, %c, %acc : i8
      %p = arith.addi %w, %d : i8
      %s = arith.addi %p, %val : i8""",
     lambda a, b: signed(8 + unsigned(int(a), 8).bit_count() + int(b), 8)),
    ("i1", """%true = arith.constant true
      %n = arith.xori %acc, %true : i1
      %s = arith.ori %n, %val : i1""", lambda a, b: (not a) or bool(b)),
    ("index", """%c = arith.cmpi ult, %acc, %val : index
      %s = arith.select %c, %val, %x : index""",
     lambda a, b: b if unsigned(int(a), 64) < unsigned(int(b), 64) else 3),
]  # fmt: skip


def captured(op: Any) -> Callable[[SSAValue], Any]:
    """Values for the arguments of the function around: the tile, `%x` and another tile."""
    element = op.source.type.element_type
    function = op.parent_op()

    def value_of(value: SSAValue) -> Any:
        assert value is function.body.block.args[1]
        if str(element) in FLOATS:
            return np.asarray(0.75, FLOATS[str(element)])
        return 3

    return value_of


def data(element: str, shape: tuple[int, ...], rng: np.random.Generator) -> Any:
    if element in FLOATS:
        return rng.uniform(0.5, 3, shape).astype(FLOATS[element])
    width, dtype = INTEGERS[element]
    values = rng.integers(-(1 << min(width - 1, 40)), 1 << min(width - 1, 40), shape)
    return values.astype(dtype)


@pytest.mark.parametrize("kind", [ReduceOp, ScanOp])
@pytest.mark.parametrize(("element", "body", "step"), BODIES, ids=lambda x: str(x)[:24])
@pytest.mark.parametrize("shape", [(6, 5), (5,), (2, 5, 3)])
def test_other_bodies_fold_from_the_first_element(
    kind: type[Any], element: str, body: str, step: Scalars, shape: tuple[int, ...]
):
    rng = np.random.default_rng(6)
    values = data(element, shape, rng)
    axis = 1 if len(shape) > 1 else 0
    op = operation(kind, shape, axis, element, body)
    assert combiner_of(op.body.block) is None
    result = (reduce_tile if kind is ReduceOp else scan_tile)(op, values, captured(op), never)
    assert isinstance(result, np.ndarray)
    assert result.dtype == values.dtype
    lines = np.moveaxis(values, axis, 0)
    runs = [lines[0]]
    for line in lines[1:]:
        made = np.empty(line.shape, values.dtype)
        for place in np.ndindex(line.shape):
            made[place] = step(runs[-1][place], line[place])
        runs.append(made)
    wanted = runs[-1] if kind is ReduceOp else np.moveaxis(np.stack(runs), 0, axis)
    assert np.array_equal(result, wanted)


BRANCH = """%c = arith.cmpi slt, %acc, %val : i32
    %s = scf.if %c -> (i32) {
      scf.yield %val : i32
    } else {
      scf.yield %acc : i32
    }"""
CALL = "%s = func.call @pick(%acc, %val) : (i32, i32) -> i32"
OF_TILES = """%k = arith.addi %tile, %tile : tensor<2xi32>
    %s = arith.addi %acc, %val : i32"""


@pytest.mark.parametrize("kind", [ReduceOp, ScanOp])
@pytest.mark.parametrize("body", [BRANCH, CALL, OF_TILES])
def test_bodies_that_do_not_lift_run_for_each_element(kind: type[Any], body: str):
    op = operation(kind, (4, 3), 0, "i32", body)
    ran: list[tuple[Any, ...]] = []

    def run_body(region: Region, args: Sequence[Any]) -> Sequence[Any]:
        assert region is op.body
        assert all(type(arg) is int for arg in args)
        ran.append(tuple(args))
        return (2 * args[0] - args[1],)

    values = np.random.default_rng(7).integers(-99, 99, (4, 3)).astype(np.int32)
    result = (reduce_tile if kind is ReduceOp else scan_tile)(op, values, never, run_body)
    assert len(ran) == 9
    wanted = folded(values, 0, lambda a, b: 2 * a - b)
    assert result.dtype == np.int32
    assert np.array_equal(result if kind is ReduceOp else result[-1], wanted)


@pytest.mark.parametrize("element", ["f16", "i1"])
def test_a_body_that_runs_gets_scalars_as_the_interpreter_holds_them(element: str):
    body = f"%s = func.call @pick(%acc, %val) : ({element}, {element}) -> {element}"
    op = operation(ReduceOp, (3,), 0, element, body)
    values = np.array([1, 0, 1]).astype(np.float16 if element == "f16" else bool)

    def run_body(_: Region, args: Sequence[Any]) -> Sequence[Any]:
        for arg in args:
            if element == "i1":
                assert type(arg) is bool
            else:
                assert (arg.shape, arg.dtype) == ((), np.float16)
        return (args[1],)

    result = reduce_tile(op, values, never, run_body)
    assert (result.shape, result.dtype, float(result)) == ((), values.dtype, 1.0)


def test_one_element_is_its_own_reduction():
    """The body does not run, not even what it computes of captured values only."""
    body = """%q = arith.divsi %x, %x : i32
      %s = arith.addi %q, %val : i32"""
    op = operation(ReduceOp, (1, 4), 0, "i32", body)
    values = np.array([[4, 5, 6, 7]], np.int32)
    assert np.array_equal(reduce_tile(op, values, lambda _: 0, never), values[0])


def test_a_fault_in_a_lifted_body_is_located():
    op = operation(ReduceOp, (3,), 0, "i32", "%s = arith.divsi %acc, %val : i32")
    with pytest.raises(SimulationError, match="division by zero"):
        reduce_tile(op, np.array([6, 3, 0], np.int32), never, never)


def test_nothing_cannot_be_combined():
    op = operation(ReduceOp, (3, 2), 0, "i32", "%s = arith.addi %acc, %val : i32")
    with pytest.raises(SimulationError, match="dimension 0 has no elements to combine"):
        reduce_tile(op, np.empty((0, 2), np.int32), never, never)


def test_sources_are_not_changed():
    op = operation(ScanOp, (4, 3), 0, "f32", "%s = arith.addf %acc, %val : f32", ", reverse")
    values = np.random.default_rng(8).standard_normal((4, 3)).astype(np.float32)
    before = values.copy()
    scan_tile(op, values, never, never)
    assert np.array_equal(values, before)


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=3),
    st.sampled_from(["i8", "f32"]),
    st.data(),
)
def test_shapes_of_all_kinds(shape: list[int], element: str, choices: st.DataObject):
    axis = choices.draw(st.integers(0, len(shape) - 1))
    rng = np.random.default_rng(choices.draw(st.integers(0, 99)))
    values = rng.integers(-9, 9, shape).astype(np.int8 if element == "i8" else np.float32)
    word = "addi" if element == "i8" else "addf"
    body = f"%s = arith.{word} %acc, %val : {element}"
    reduced = reduce_tile(
        operation(ReduceOp, tuple(shape), axis, element, body), values, never, never
    )
    scanned = scan_tile(operation(ScanOp, tuple(shape), axis, element, body), values, never, never)
    assert np.array_equal(reduced, values.sum(axis, dtype=values.dtype))
    assert np.array_equal(scanned, values.cumsum(axis, dtype=values.dtype))


# Generated tiles


def generate_op(shape: Sequence[int], element: str, body: str) -> GenerateOp:
    names = [f"%i{k}" for k in range(len(shape))]
    head = f"^bb0({', '.join(f'{n}: index' for n in names)}):" if names else ""
    module = parse(f"""
        func.func private @pick(index, index) -> {element}
        func.func @f(%x: {element}, %n: index) {{
          %0 = nv_tileas.generate : {tile(shape, element)} {{
            {head}
            {body}
            nv_tileas.yield %s : {element}
          }}
          func.return
        }}""")
    return next(op for op in module.walk() if isinstance(op, GenerateOp))


def test_a_tile_is_made_of_its_coordinates():
    op = generate_op((6, 5), "i32", """%k = arith.muli %i0, %n : index
        %l = arith.addi %k, %i1 : index
        %s = arith.index_cast %l : index to i32""")  # fmt: skip
    result = generate_tile(op, lambda _: 100, never)
    assert result.dtype == np.int32
    assert np.array_equal(result, np.arange(6)[:, None] * 100 + np.arange(5))


@pytest.mark.parametrize("name", ["f32", "bf16", "f8E4M3FN"])
def test_a_mask_chooses_between_a_captured_and_a_constant_value(name: str):
    op = generate_op((7, 4), name, f"""%zero = arith.constant 0.0 : {name}
        %c = arith.cmpi sle, %i1, %i0 : index
        %s = arith.select %c, %x, %zero : {name}""")  # fmt: skip
    result = generate_tile(op, lambda _: np.asarray(1.5, FLOATS[name]), never)
    assert result.dtype == FLOATS[name]
    assert np.array_equal(result.astype(float), 1.5 * np.tri(7, 4))


def test_a_body_may_ignore_coordinates():
    one = generate_op((3, 4), "index", "%s = arith.addi %i1, %i1 : index")
    assert generate_tile(one, never, never).tolist() == [[0, 2, 4, 6]] * 3
    none = generate_op((3,), "f16", "%s = arith.constant 2.5 : f16")
    assert generate_tile(none, never, never).tolist() == [2.5] * 3
    bit = generate_op((2, 3), "i1", "%s = arith.constant true")
    made = generate_tile(bit, never, never)
    assert made.flags.writeable
    assert (made.dtype, made.all(), made.shape) == (np.bool_, True, (2, 3))


def test_a_tile_of_rank_zero_is_one_element():
    made = generate_tile(generate_op((), "f32", "%s = arith.constant 1.0 : f32"), never, never)
    assert isinstance(made, np.ndarray)
    assert (made.shape, made.dtype, float(made)) == ((), np.float32, 1.0)


def test_a_generating_body_that_does_not_lift_runs_for_each_element():
    op = generate_op((3, 2), "f16", "%s = func.call @pick(%i0, %i1) : (index, index) -> f16")

    def run_body(region: Region, args: Sequence[Any]) -> Sequence[Any]:
        assert region is op.body
        assert all(type(arg) is int for arg in args)
        return (np.asarray(10 * args[0] + args[1], np.float16),)

    result = generate_tile(op, never, run_body)
    assert result.dtype == np.float16
    assert result.tolist() == [[0, 1], [10, 11], [20, 21]]


def test_a_generated_tile_has_known_extents():
    op = generate_op((3,), "f16", "%s = arith.constant 2.5 : f16")
    open_op = parse(str(op.parent_op()).replace("tensor<3xf16>", "tensor<?xf16>"))
    found = next(op for op in open_op.walk() if isinstance(op, GenerateOp))
    with pytest.raises(SimulationError, match="generates a tile of known extents"):
        generate_tile(found, never, never)
