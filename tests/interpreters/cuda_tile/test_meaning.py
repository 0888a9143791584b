"""What operations of Tile IR compute, against the words of its specification."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.interpreters.cuda_tile.meaning import meaning
from tests.support.tile_ir import entry
from tileas_xdsl.dialects.cuda_tile import CudaTile
from tileas_xdsl.dialects.cuda_tile.opcodes import OPCODES
from tileas_xdsl.dialects.cuda_tile.structure.module import EntryOp, GlobalOp, ModuleOp
from tileas_xdsl.dialects.cuda_tile.structure.regions import TerminatorOp
from tileas_xdsl.dialects.cuda_tile.syntax.sugar import SUGAR
from tileas_xdsl.interpreters.cuda_tile.execution import CONTROL, PURE, STATEFUL
from tileas_xdsl.interpreters.cuda_tile.faults import UndefinedError

RNG = np.random.default_rng(8)
WORDS = {"float32": "f32", "float16": "f16", "int32": "i32", "int8": "i8", "bool": "i1"}


def computed(body: str, *arrays: np.ndarray[Any, Any], result: str, count: int) -> Any:
    """The tile `%r` of elements `result` that a body makes of whole tiles `%a`, `%b`, `%c`."""
    names = [*"abc"][: len(arrays)]
    lines: list[str] = []
    types = [f"{'x'.join(map(str, array.shape))}x{WORDS[array.dtype.name]}" for array in arrays]
    for name, array, type_ in zip(names, arrays, types, strict=True):
        element = WORDS[array.dtype.name]
        flat = f"{array.size}x{element}"
        lines += _pointers(name, array.size, element)
        lines += [
            f"%{name}f, %{name}k = load_ptr_tko weak %{name}p : tile<{array.size}xptr<{element}>>"
            f" -> tile<{flat}>, token",
            f"%{name} = reshape %{name}f : tile<{flat}> -> tile<{type_}>",
        ]
    shape = result.rpartition("x")[0]
    element = result.rpartition("x")[2]
    flat = f"%r : tile<{result}> -> tile<{count}x{element}>"
    lines += [body, f"%rf = reshape {flat}" if shape != str(count) else ""]
    value = "%rf" if shape != str(count) else "%r"
    lines += _pointers("o", count, element)
    lines += [
        f"%t = store_ptr_tko weak %op, {value} : tile<{count}xptr<{element}>>,"
        f" tile<{count}x{element}> -> token"
    ]
    words = [WORDS[array.dtype.name] for array in arrays]
    parameters = [f"%{n}q: tile<ptr<{word}>>" for n, word in zip(names, words, strict=True)]
    text = entry(", ".join([*parameters, f"%oq: tile<ptr<{element}>>"]), "\n".join(lines))
    dtype = {word: name for name, word in WORDS.items()}[element]
    found = meaning(text, *arrays, np.zeros(count, dtype)).arrays[-1]
    return found.reshape([int(n) for n in shape.split("x")])


def _pointers(name: str, count: int, element: str) -> list[str]:
    pointers = f"tile<{count}xptr<{element}>>"
    return [
        f"%{name}i = iota : tile<{count}xi32>",
        f"%{name}1 = reshape %{name}q : tile<ptr<{element}>> -> tile<1xptr<{element}>>",
        f"%{name}s = broadcast %{name}1 : tile<1xptr<{element}>> -> {pointers}",
        f"%{name}p = offset %{name}s, %{name}i : {pointers}, tile<{count}xi32> -> {pointers}",
    ]


def test_every_operation_has_a_meaning() -> None:
    structure = {ModuleOp, EntryOp, GlobalOp}
    operations = [op for op in CudaTile.operations if op not in SUGAR]
    known = {*PURE, *STATEFUL, *CONTROL, *structure}
    missing = [op for op in operations if op not in known and not issubclass(op, TerminatorOp)]
    assert missing == []
    assert {op.name for op in operations} == {f"cuda_tile.{row.name}" for row in OPCODES}


@pytest.mark.parametrize("reverse", [False, True])
def test_scans_take_what_was_before_then_the_element(reverse: bool) -> None:
    """`result[j] = f(result[j-1], X[j])`: 3 * previous + element, which does not commute."""
    x = RNG.integers(-4, 5, (4, 8)).astype(np.int32)
    body = f"""%r = scan %a dim=1 reverse={str(reverse).lower()} identities=[0 : i32]
        : tile<4x8xi32> -> tile<4x8xi32>
      (%before: tile<i32>, %now: tile<i32>) {{
        %three = constant <i32: 3> : tile<i32>
        %p = muli %before, %three : tile<i32>
        %n = addi %p, %now : tile<i32>
        yield %n : tile<i32>
      }}"""
    found = computed(body, x, result="4x8xi32", count=32)
    wanted, before = x * 0, x[:, 0] * 0
    for place in reversed(range(8)) if reverse else range(8):
        before = before * 3 + x[:, place]
        wanted[:, place] = before
    np.testing.assert_array_equal(found, wanted)


def test_reductions_keep_the_order_of_elements() -> None:
    """Composition of affine maps is associative and does not commute."""
    m, c = (RNG.integers(-2, 3, (8,)).astype(np.int32) for _ in range(2))
    body = """%p, %q = reduce %a, %b dim=0 identities=[1 : i32, 0 : i32]
        : tile<8xi32>, tile<8xi32> -> tile<i32>, tile<i32>
      (%m0: tile<i32>, %m: tile<i32>, %c0: tile<i32>, %c: tile<i32>) {
        %mm = muli %m, %m0 : tile<i32>
        %mc = muli %m, %c0 : tile<i32>
        %cc = addi %mc, %c : tile<i32>
        yield %mm, %cc : tile<i32>, tile<i32>
      }
    %r = reshape %q : tile<i32> -> tile<1xi32>"""
    value = 0
    for factor, term in zip(m.tolist(), c.tolist(), strict=True):
        value = factor * value + term
    assert computed(body, m, c, result="1xi32", count=1) == value


def test_bodies_that_move_elements_run_element_by_element() -> None:
    x = RNG.integers(-9, 9, (16,)).astype(np.int32)
    body = """%s = reduce %a dim=0 identities=[0 : i32] : tile<16xi32> -> tile<i32>
      (%acc: tile<i32>, %e: tile<i32>) {
        %c = cmpi greater_than %e, %acc, signed : tile<i32> -> tile<i1>
        %m = select %c, %e, %acc : tile<i1>, tile<i32>
        %o = reshape %m : tile<i32> -> tile<i32>
        yield %o : tile<i32>
      }
    %r = reshape %s : tile<i32> -> tile<1xi32>"""
    assert computed(body, x, result="1xi32", count=1) == x.max()


@pytest.mark.parametrize("signs", ["signed signed", "unsigned signed", "unsigned unsigned"])
def test_products_of_bytes_have_signs(signs: str) -> None:
    a, b = (RNG.integers(-128, 128, shape).astype(np.int8) for shape in ((4, 8), (8, 4)))
    body = f"""%five = constant <i32: 5> : tile<4x4xi32>
    %r = mmai %a, %b, %five {signs} : tile<4x8xi8>, tile<8x4xi8>, tile<4x4xi32>"""
    found = computed(body, a, b, result="4x4xi32", count=16)
    reads = [
        x if s == "signed" else x.view(np.uint8) for x, s in zip((a, b), signs.split(), strict=True)
    ]
    left, right = (np.asarray(x, np.int64) for x in reads)
    np.testing.assert_array_equal(found, left @ right + 5)


def test_shifts_lose_all_bits() -> None:
    values = np.array([-7, 7, -1, 1], np.int32)
    counts = np.array([1, 40, 32, -1], np.int32)
    for op, wanted in (
        ("shli %a, %b", [-14, 0, 0, 0]),
        ("shri %a, %b signed", [-4, 0, -1, 0]),
        ("shri %a, %b unsigned", [2**31 - 4, 0, 0, 0]),
    ):
        found = computed(f"%r = {op} : tile<4xi32>", values, counts, result="4xi32", count=4)
        np.testing.assert_array_equal(found, wanted)


def test_extremes_order_zeros_and_leave_nan_out() -> None:
    a = np.float32([0.0, -0.0, np.nan, 1.0, np.nan])
    b = np.float32([-0.0, 0.0, 2.0, np.nan, np.nan])
    a, b = (np.append(x, np.float32([1, 2, 3])) for x in (a, b))
    most = computed("%r = maxf %a, %b : tile<8xf32>", a, b, result="8xf32", count=8)
    np.testing.assert_array_equal(most[:5], np.float32([0, 0, 2, 1, np.nan]))
    assert not np.signbit(most[:2]).any()
    least = computed("%r = minf %a, %b propagate_nan : tile<8xf32>", a, b, result="8xf32", count=8)
    np.testing.assert_array_equal(np.isnan(least[:5]), [False, False, True, True, True])
    assert np.signbit(least[:2]).all()


VIEW = "tensor_view<?x?xf32, strides=[?,1]>"
LOADED = """%v = make_tensor_view %p, shape = [%m, %n], strides = [%n, 1] : tile<i32> -> {tensor}
    %w = make_tensor_view %q, shape = [4, 4], strides = [4, 1] : {out}
    %u = make_partition_view %w : {tiles}
    %c0 = constant <i32: 0> : tile<i32>
    {make}
    %l = store_view_tko weak %t, %u[%c0, %c0] : tile<4x4xf32>, {tiles}, tile<i32> -> token"""
OUT = "tensor_view<4x4xf32, strides=[4,1]>"
OPEN = "%p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>"


def loaded(make: str, a: np.ndarray[Any, Any], *more: Any, grid: Any = 1, extra: str = "") -> Any:
    """What a load of 4 by 4 elements gives."""
    tiles = f"partition_view<tile=(4x4), {OUT}>"
    body = LOADED.format(tensor=VIEW, out=OUT, tiles=tiles, make=make)
    text = entry(OPEN + extra, body)
    return meaning(text, a, np.zeros((4, 4), np.float32), *a.shape, *more, grid=grid).arrays[1]


def padded(a: np.ndarray[Any, Any], rows: Any, columns: Any, padding: float) -> Any:
    """The elements at rows and columns, or the padding where there are none."""
    wanted = np.full((len(rows), len(columns)), padding, np.float32)
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            if 0 <= row < a.shape[0] and 0 <= column < a.shape[1]:
                wanted[i, j] = a[row, column]
    return wanted


@pytest.mark.parametrize(
    ("padding", "value"), [("neg_inf", -np.inf), ("nan", np.nan), ("neg_zero", -0.0)]
)
def test_views_pad(padding: str, value: float) -> None:
    a = RNG.standard_normal((6, 7)).astype(np.float32)
    view = f"partition_view<tile=(4x4), padding_value = {padding}, {VIEW}, dim_map=[1, 0]>"
    make = f"""%k = make_partition_view %v : {view}
    %c1 = constant <i32: 1> : tile<i32>
    %t, %tk = load_view_tko weak %k[%c1, %c1] : {view}, tile<i32> -> tile<4x4xf32>, token"""
    wanted = padded(a, range(4, 8), range(4, 8), value).T
    found = loaded(make, a)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))


def test_strided_views_step() -> None:
    a = RNG.standard_normal((6, 9)).astype(np.float32)
    view = f"strided_view<tile=(4x4), traversal_strides=[3,2], padding_value = zero, {VIEW}>"
    make = f"""%k = make_strided_view %v : {view}
    %c1 = constant <i32: 1> : tile<i32>
    %c3 = constant <i32: 3> : tile<i32>
    %t, %tk = load_view_tko weak %k[%c1, %c3] : {view}, tile<i32> -> tile<4x4xf32>, token"""
    np.testing.assert_array_equal(loaded(make, a), padded(a, range(3, 7), range(6, 10), 0))


def test_gathered_rows_begin_at_an_element() -> None:
    """All coordinates of a gather count elements: those of the dense dimension too."""
    a = RNG.standard_normal((6, 9)).astype(np.float32)
    view = f"gather_scatter_view<tile=(4x4), padding_value = zero, {VIEW}, sparse_dim=0>"
    make = f"""%k = make_gather_scatter_view %v : {view}
    %rows = constant <i32: [5, 0, -1, 6]> : tile<4xi32>
    %c3 = constant <i32: 3> : tile<i32>
    %t, %tk = load_view_tko weak %k[%rows, %c3]
      : {view}, tile<4xi32>, tile<i32> -> tile<4x4xf32>, token"""
    np.testing.assert_array_equal(loaded(make, a), padded(a, [5, 0, -1, 6], range(3, 7), 0))


def test_arrays_that_overlap_are_one() -> None:
    memory = np.arange(8, dtype=np.int32)
    text = entry(
        "%p: tile<ptr<i32>>, %q: tile<ptr<i32>>",
        """%seven = constant <i32: 77> : tile<i32>
    %t = store_ptr_tko weak %q, %seven : tile<ptr<i32>>, tile<i32> -> token""",
    )
    first, second = meaning(text, memory, memory[3:]).arrays
    assert (first[3], second[0], memory[3]) == (77, 77, 3)


def test_an_exchange_compares_bits() -> None:
    text = entry(
        "%p: tile<ptr<f32>>, %q: tile<ptr<f32>>",
        """%old = constant <f32: 0.0> : tile<f32>
    %new = constant <f32: 2.0> : tile<f32>
    %r, %t = atomic_cas_tko relaxed device %p, %old, %new
      : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
    %s = store_ptr_tko weak %q, %r : tile<ptr<f32>>, tile<f32> -> token""",
    )
    for held, after in ((0.0, 2.0), (-0.0, -0.0)):
        memory, result = meaning(text, np.float32([held]), np.float32([9])).arrays
        assert (memory[0], np.signbit(memory[0])) == (after, np.signbit(after))
        assert np.signbit(result[0]) == np.signbit(held)


def test_blocks_count_and_print() -> None:
    text = entry(
        "%p: tile<ptr<i32>>",
        """%one = constant <i32: 1> : tile<i32>
    %r, %t = atomic_rmw_tko relaxed device %p, add, %one
      : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %k = print_tko "%d: %d,%d\\n", %r, %x, %y : tile<i32>, tile<i32>, tile<i32> -> token""",
    )
    found = meaning(text, np.zeros(1, np.int32), grid=(2, 2))
    assert found.arrays[0] == 4
    assert found.printed == "0: 0,0\n1: 1,0\n2: 0,1\n3: 1,1\n"
    assert found.blocks == 4


def test_constants_of_tf32() -> None:
    body = """%c = constant <tf32: [1.5, -2.0, 0.25, 3.0]> : tile<4xtf32>
    %r = ftof %c : tile<4xtf32> -> tile<4xf32>"""
    found = computed(body, result="4xf32", count=4)
    np.testing.assert_array_equal(found, np.float32([1.5, -2, 0.25, 3]))


UNDEFINED = {
    "divides by zero": "%r = divi %n, %zero signed : tile<i32>",
    "divides -2147483648 by -1": "%r = divi %least, %minus signed : tile<i32>",
    "which is no signed integer of 8 bits": (
        "%f = constant <f32: 128.0> : tile<f32>\n    %r = ftoi %f signed : tile<f32> -> tile<i8>"
    ),
    "'no_signed_wrap' is promised, but -2147483649": (
        "%r = addi %least, %minus overflow<no_signed_wrap> : tile<i32>"
    ),
    "takes slice 4 of 4": (
        "%i = iota : tile<8xi32>\n    %four = constant <i32: 4> : tile<i32>\n"
        "    %r = extract %i[%four] : tile<8xi32> -> tile<2xi32>"
    ),
    "promises 'cuda_tile.div_by', which does not hold": (
        "%three = constant <i32: 3> : tile<i32>\n    %r = assume div_by<2>, %three : tile<i32>"
    ),
    "accesses byte 4 of %p, which has 4 bytes": (
        "%one = constant <i32: 1> : tile<i32>\n"
        "    %q = offset %p, %one : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>\n"
        "    %v, %t = load_ptr_tko weak %q : tile<ptr<i32>> -> tile<i32>, token"
    ),
    "has a step of 0": "for %i in (%zero to %n, step %zero) : tile<i32> { continue }",
    "does not hold in block (0, 0, 0): never": (
        '%c = constant <i1: 0> : tile<i1>\n    assert %c, "never" : tile<i1>'
    ),
}


@pytest.mark.parametrize("words", UNDEFINED)
def test_what_is_undefined_is_an_error_at_it(words: str) -> None:
    text = entry(
        "%p: tile<ptr<i32>>, %n: tile<i32>",
        f"""%zero = constant <i32: 0> : tile<i32>
    %minus = constant <i32: -1> : tile<i32>
    %least = constant <i32: -2147483648> : tile<i32>
    {UNDEFINED[words]}""",
    )
    with pytest.raises(UndefinedError) as caught:
        meaning(text, np.zeros(1, np.int32), 5)
    assert words in str(caught.value)
    (report,) = caught.value.diagnostics
    assert report.location is not None
    assert report.location.line >= 7
    assert str(caught.value).startswith("<unknown>:")
