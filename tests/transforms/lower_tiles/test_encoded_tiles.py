"""Tiles with explicit layouts: the lowering keeps them and the results."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from support.seeds import seeds

from kernels import Gemm
from tests.support.assembling import needs_ptxas
from tests.support.encodings import (
    ELEMENTS,
    Array,
    chain,
    linear,
    lowered,
    random_array,
    random_encoding,
    tensor,
)
from tests.support.plain_kernels import LAUNCHES, Launch, kernel
from tileas_xdsl.backend.ptxas import assemble
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.registers.blocked import row_values_layout, rows_layout
from tileas_xdsl.target.mma.warp_tiles import accumulator_layout

PLAIN = [name for name in LAUNCHES if not name.startswith("piped")]
STAGED = [f"staged {tile}" for tile in ("16x64 f16", "1x512 f16", "8x256 i8", "64x16 i8")]
PIPED = [name for name in LAUNCHES if name.startswith("piped")]
TILE = re.compile(r"tensor<((?:\d+x)+)([a-z][A-Za-z0-9]*)>")

Encode = Callable[[tuple[int, ...], int], Layout]


def encoded(text: str, encode: Encode) -> str:
    """A kernel whose register tiles have encodings, all tiles of a shape the same one."""
    found = re.search(r"num_warps = (\d+)", text)
    assert found
    threads = 32 * int(found.group(1))

    def typed(match: re.Match[str]) -> str:
        shape = tuple(int(extent) for extent in match.group(1).split("x")[:-1])
        return tensor(shape, match.group(2), linear(encode(shape, threads)))

    return TILE.sub(typed, text)


def randomly(rng: np.random.Generator, *, values: int = 48) -> Encode:
    known: dict[tuple[int, ...], Layout] = {}

    def encode(shape: tuple[int, ...], threads: int) -> Layout:
        if shape not in known:
            sparse, replicas = rng.random() < 0.2, rng.random() < 0.3
            known[shape] = random_encoding(
                rng, shape, threads, values=values, sparse=sparse, replicas=replicas
            )
        return known[shape]

    return encode


def check(launch: Launch, text: str) -> None:
    found = lowered(text).emulate(*launch.arguments, grid=launch.grid, order="random")
    assert [str(finding) for finding in found.findings] == []
    got, expected = found.arrays[-1], launch.expected
    if not launch.tolerance:
        assert got.tobytes() == expected.astype(got.dtype).tobytes()
        return
    exact = expected.astype(np.float64)
    errors = np.abs(got.astype(np.float64) - exact) / np.maximum(1, np.abs(exact))
    assert errors.max() <= launch.tolerance


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", PLAIN)
def test_kernels_compute_the_same_in_any_registers(name: str) -> None:
    rng = np.random.default_rng([23, PLAIN.index(name)])
    launch = LAUNCHES[name](np.random.default_rng(11))
    check(launch, encoded(launch.text, randomly(rng)))


SHAPES = ((64,), (16, 32), (8, 8, 16), (32, 32), (4, 128), (1, 64))


def conversion(seed: int) -> tuple[str, Array, Array]:
    """A chain of conversions between random layouts, what it gets, and what it gives."""
    rng = np.random.default_rng([7, seed])
    shape = SHAPES[seed % len(SHAPES)]
    element = [*ELEMENTS][seed % len(ELEMENTS)]
    warps = int(rng.choice([1, 2, 3, 4, 4, 8]))
    layouts = [
        random_encoding(
            rng, shape, 32 * warps, sparse=rng.random() < 0.3, replicas=rng.random() < 0.3
        )
        for _ in range(3)
    ]
    ragged = bool(rng.random() < 0.4)
    extents = [max(1, n - int(rng.integers(0, 3))) for n in shape] if ragged else shape
    numbers = random_array(rng, extents, element)
    expected = numbers.copy()
    for _ in layouts[1:] if element != "i8" else []:
        expected = (expected + expected).astype(numbers.dtype)
    text = chain(shape, element, [linear(layout) for layout in layouts], warps, ragged=ragged)
    return text, numbers, expected


@pytest.mark.sample(4)
@pytest.mark.parametrize("seed", seeds(12, 40))
def test_conversions_between_any_registers(seed: int) -> None:
    """The emulator, the interpreter and numpy give the same bits."""
    text, numbers, expected = conversion(seed)
    made = lowered(text)
    found = made.emulate(numbers, np.zeros_like(numbers), grid=(1, 1, 1), order="random")
    assert [str(finding) for finding in found.findings] == []
    assert found.arrays[-1].tobytes() == expected.tobytes()
    tiles = made.simulate(numbers, np.zeros_like(numbers), grid=(1, 1, 1))
    assert np.asarray(tiles.arrays[-1]).tobytes() == expected.tobytes()


@needs_ptxas
@pytest.mark.parametrize("seed", [0, 20])
def test_the_assembler_takes_conversions(seed: int) -> None:
    assemble(lowered(conversion(seed)[0]).ptx)


def test_layouts_of_the_lowering_give_the_same_code() -> None:
    """An encoding that is what the lowering chooses by itself changes nothing."""
    launch = LAUNCHES["normalised 8x512 by 4 warps"](np.random.default_rng(11))
    rows = rows_layout((8, 512), 4, 4)

    def encode(shape: tuple[int, ...], threads: int) -> Layout:
        plain = rows if shape == (8, 512) else row_values_layout(rows)
        return plain.layout

    text = launch.text.replace("tensor<512xf32>", "TENSOR")
    assert "TENSOR" in text
    text = encoded(text, encode).replace("TENSOR", "tensor<512xf32>")
    assert lowered(text).ptx == lowered(launch.text).ptx


# Shared memory

SHARED = (
    "<({m},{n}),({n},1)>",
    "<({m},{n}),({n},1),swizzle<1,4,3>>",
    "<({m},{n}),({n},1),swizzle<3,4,3>>",
    "<({m},({h},2)),({h},(1,{p}))>",
    "<({m},({h},2)),({h},(1,{p})),swizzle<2,4,3>>",
)


def shared(form: str, rows: int, columns: int) -> str:
    half = columns // 2
    return "#nv_tileas.shared" + form.format(m=rows, n=columns, h=half, p=rows * half)


@pytest.mark.sample(3)
@pytest.mark.parametrize("form", SHARED)
@pytest.mark.parametrize("name", STAGED)
def test_tiles_lie_in_shared_memory_as_types_say(name: str, form: str) -> None:
    """With register tiles in registers of all kinds."""
    launch = LAUNCHES[name](np.random.default_rng(11))
    found = re.search(r"tensor<(\d+)x(\d+)x(\w+), #smem>", launch.text)
    assert found
    rows, columns = int(found.group(1)), int(found.group(2))
    text = launch.text.replace(", #smem>", f", {shared(form, rows, columns)}>")
    check(launch, text)
    rng = np.random.default_rng([29, PLAIN.index(name), SHARED.index(form)])
    check(launch, encoded(text, randomly(rng)))


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", PIPED)
def test_stages_hold_tiles_as_types_say(name: str) -> None:
    launch = LAUNCHES[name](np.random.default_rng(11))
    found = re.search(r"!tile = tensor<(\d+)x(\d+)x(\w+)>", launch.text)
    assert found
    rows, columns, element = int(found.group(1)), int(found.group(2)), found.group(3)
    registers = linear(random_encoding(np.random.default_rng(5), (rows, columns), 32))
    for swizzled in (False, True):
        encoding = staged(rows, columns, np.dtype(ELEMENTS[element]).itemsize, swizzled=swizzled)
        text = launch.text.replace(
            found.group(0),
            f"!tile = {tensor((rows, columns), element, encoding)}\n"
            f"!regs = {tensor((rows, columns), element, registers)}",
        )
        text = text.replace("(!cons, !tile) {", "(!cons, !regs) {")
        text = text.replace(
            "%s = nv_tileas.reduce %stage",
            "%held = nv_tileas.convert_layout %stage : !tile -> !regs\n"
            "        %s = nv_tileas.reduce %held",
        )
        text = text.replace(f": tensor<{rows}x{columns}x{element}> -> tensor", ": !regs -> tensor")
        text = text.replace("generate : !tile", "generate : !regs")
        text = text.replace("arith.subf %stage, %most : !tile", "arith.subf %held, %most : !regs")
        text = text.replace("yield %less : !tile", "yield %less : !regs")
        text = text.replace("{atom = #stg} : !tile,", "{atom = #stg} : !regs,")
        check(launch, text)


def staged(rows: int, columns: int, size: int, *, swizzled: bool) -> str:
    """A layout that TMA fills: rows as they are, or panels as wide as a swizzle spans."""
    if not swizzled:
        return f"#nv_tileas.shared<({rows},{columns}),({columns},1)>"
    bits = min(3, (columns * size // 16).bit_length() - 1)
    panel = (16 << bits) // size
    return (
        f"#nv_tileas.shared<({rows},({panel},{columns // panel})),"
        f"({panel},(1,{rows * panel})),swizzle<{bits},4,3>>"
    )


def test_a_product_of_encoded_operands_is_the_same_code() -> None:
    """Panels of operands and registers of accumulators, as the lowering has them by itself."""
    text = Gemm(bm=128, bn=128, bk=64).text()
    half = accumulator_layout(64, 128, 1).layout
    a = "#nv_tileas.shared<(128,64),(64,1),swizzle<3,4,3>>"
    b = "#nv_tileas.shared<(64,(64,2)),(64,(1,4096)),swizzle<3,4,3>>"
    laid_out = text
    for before, after in (
        ("!a = tensor<128x64xf16>", f"!a = tensor<128x64xf16, {a}>"),
        ("!b = tensor<64x128xf16>", f"!b = tensor<64x128xf16, {b}>"),
        ("!acc = tensor<64x128xf32>", f"!acc = tensor<64x128xf32, {dot_operand(half)}>"),
        ("!out = tensor<64x128xf32>", f"!out = tensor<64x128xf32, {dot_operand(half)}>"),
    ):
        assert before in laid_out, before
        laid_out = laid_out.replace(before, after)
    assert lowered(laid_out).ptx == lowered(text).ptx


def dot_operand(layout: Layout) -> str:
    return f'#nv_tileas.dot_operand<"{layout}">'


MATRIX = '#nv_tileas.dot_operand<"((8,2),(2,4,2)):((4@thread,2@value),(1@value,1@thread,4@value))">'
"""What ldmatrix gives a warp of a 16x16 tile of 16-bit elements."""


@pytest.mark.parametrize("swizzle", ["", ",swizzle<1,4,3>"])
def test_matrices_move_between_shared_memory_and_registers(swizzle: str) -> None:
    memory = tensor((16, 16), "f16", f"#nv_tileas.shared<(16,16),(16,1){swizzle}>")
    registers, view = tensor((16, 16), "f16", MATRIX), "!nv_tileas.tiled_view<16x16xf16, gmem>"
    body = f"""%from = nv_tileas.view %a : memref<16x16xf16> -> {view}
  %to = nv_tileas.view %b : memref<16x16xf16> -> {view}
  %t = nv_tileas.tiled_load %from[%zero, %zero] {{atom = #ldg}} : {view} -> {registers}
  %s = nv_tileas.alloc_tensor : {memory}
  nv_tileas.copy %t, %s {{atom = #nv_tileas<atom stsm_m88>}} : {registers}, {memory}
  %u = nv_tileas.convert_layout %s : {memory} -> {registers}
  nv_tileas.tiled_store %u, %to[%zero, %zero] {{atom = #stg}} : {registers}, {view}
"""
    text = kernel("%a: memref<16x16xf16>, %b: memref<16x16xf16>", body, 1)
    numbers = np.random.default_rng(2).standard_normal((16, 16)).astype(np.float16)
    made = lowered(text)
    assert "stmatrix.sync.aligned.m8n8.x4" in made.ptx
    assert "ldmatrix.sync.aligned.m8n8.x4" in made.ptx
    check(Launch(text, (numbers, np.zeros_like(numbers)), (1, 1, 1), numbers), text)


def test_encoded_tiles_through_loops_and_branches() -> None:
    """Tiles that loops carry and branches give are in the registers of their types."""
    rng = np.random.default_rng(31)
    first, second = (
        tensor((16, 32), "f32", linear(random_encoding(rng, (16, 32), 128))) for _ in range(2)
    )
    view = "!nv_tileas.tiled_view<16x32xf32, gmem>"
    body = f"""%from = nv_tileas.view %a : memref<16x32xf32> -> {view}
  %to = nv_tileas.view %b : memref<16x32xf32> -> {view}
  %four = arith.constant 4 : index
  %nothing = arith.constant dense<1.5> : {first}
  %sum = scf.for %i = %zero to %four step %one iter_args(%acc = %nothing) -> ({first}) {{
    %t = nv_tileas.tiled_load %from[%zero, %zero] {{atom = #ldg}} : {view} -> {second}
    %odd = arith.remui %i, %two : index
    %is_odd = arith.cmpi eq, %odd, %one : index
    %c = scf.if %is_odd -> ({first}) {{
      %u = nv_tileas.convert_layout %t : {second} -> {first}
      %v = arith.addf %acc, %u : {first}
      scf.yield %v : {first}
    }} else {{
      %half = arith.constant dense<0.5> : {first}
      scf.yield %half : {first}
    }}
    %next = arith.addf %acc, %c : {first}
    scf.yield %next : {first}
  }}
  nv_tileas.tiled_store %sum, %to[%zero, %zero] {{atom = #stg}} : {first}, {view}
"""
    text = kernel("%a: memref<16x32xf32>, %b: memref<16x32xf32>", body)
    text = text.replace("%one = ", "%two = arith.constant 2 : index\n  %one = ")
    numbers = rng.integers(-8, 8, (16, 32)).astype(np.float32)
    expected = np.full_like(numbers, 1.5)
    for i in range(4):
        expected = expected + (expected + numbers if i % 2 else np.float32(0.5))
    launch = Launch(text, (numbers, np.zeros_like(numbers)), (1, 1, 1), expected)
    check(launch, text)
    found = lowered(text).simulate(*launch.arguments, grid=(1, 1, 1))
    assert np.asarray(found.arrays[-1]).tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    "layout",
    [
        "(16,16):(1@thread,1@thread+1@value)",
        "(16,16):(3@thread,1@thread+2@value)",
        "(16,16):(1@thread+1@value,5@thread)",
    ],
)
def test_registers_that_no_digits_describe(layout: str) -> None:
    """Which thread has a column depends on the row."""
    numbers = np.random.default_rng(3).standard_normal((16, 16)).astype(np.float16)
    other = '#nv_tileas.linear<"(16,16):(1@thread,1@value)">'
    encoding = f'#nv_tileas.linear<"{layout}">'
    text = chain((16, 16), "f16", [encoding, other, encoding], 4)
    check(Launch(text, (numbers, np.zeros_like(numbers)), (1, 1, 1), 4 * numbers), text)


REFUSED = {
    "more threads than there are": (
        '#nv_tileas.blocked<"(16,16):(16@thread,1@thread)">',
        "kernel of 128 threads cannot hold tensor<16x16xf16, #nv_tileas.blocked<",
    ),
    "one register for a row": (
        '#nv_tileas.linear<"(16,16):(1@thread,0)">',
        "keeps two elements in one register",
    ),
    "too many registers": (
        '#nv_tileas.linear<"(16,16):(64@value,4@value)">',
        "takes 512 registers of a thread, which has at most 255",
    ),
    "another shape": (
        '#nv_tileas.linear<"(16,8):(1@thread,1@value)">',
        "does not map a (16,16) tile",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_registers_cannot_hold_is_refused(name: str) -> None:
    encoding, expected = REFUSED[name]
    text = chain((16, 16), "f16", [encoding], 4)
    with pytest.raises(DiagnosticError, match=re.escape(expected)) as caught:
        _ = lowered(text).ptx
    assert caught.value.diagnostics[0].location is not None


def buffer(encoding: str, load: str = "", store: str = "") -> str:
    """A tile goes through shared memory; its load and its store may say how it lies."""
    view, memory = "!nv_tileas.tiled_view<16x64xf16, gmem>", tensor((16, 64), "f16", encoding)
    body = f"""%from = nv_tileas.view %a : memref<16x64xf16> -> {view}
  %to = nv_tileas.view %b : memref<16x64xf16> -> {view}
  %t = nv_tileas.tiled_load %from[%zero, %zero] {{atom = #ldg}} : {view} -> tensor<16x64xf16>
  %s = nv_tileas.alloc_tensor : {memory}
  nv_tileas.tiled_store %t, %s[%zero, %zero] {{atom = #copy{store}}} : tensor<16x64xf16>, {memory}
  %u = nv_tileas.tiled_load %s[%zero, %zero] {{atom = #copy{load}}} : {memory} -> tensor<16x64xf16>
  nv_tileas.tiled_store %u, %to[%zero, %zero] {{atom = #stg}} : tensor<16x64xf16>, {view}
"""
    return kernel("%a: memref<16x64xf16>, %b: memref<16x64xf16>", body)


def said(layout: str) -> str:
    return f", nv_tileas.layout = {layout}"


ROWS, SWIZZLED = "<(16,64),(64,1)>", "<(16,64),(64,1),swizzle<3,4,3>>"


def test_attributes_decide_where_types_do_not() -> None:
    plain, swizzled = (lowered(buffer(f"#nv_tileas.shared{form}")).ptx for form in (ROWS, SWIZZLED))
    assert plain != swizzled
    assert lowered(buffer("#smem", load=said(ROWS))).ptx == plain
    assert lowered(buffer("#smem", store=said(ROWS))).ptx == plain
    assert lowered(buffer("#smem", said(SWIZZLED), said(SWIZZLED))).ptx == swizzled
    assert lowered(buffer(f"#nv_tileas.shared{ROWS}", load=said(ROWS))).ptx == plain


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            buffer(f"#nv_tileas.shared{ROWS}", load=said(SWIZZLED)),
            f"'nv_tileas.tiled_load' op says that a tile lies as {SWIZZLED}, but it lies as {ROWS}",
        ),
        (
            buffer("#smem", load=said(ROWS), store=said(SWIZZLED)),
            "says that a tile lies as",
        ),
        (
            buffer("#nv_tileas.shared<(16,64),(1,16)>"),
            "'nv_tileas.alloc_tensor' op tiles do not lie in shared memory as <(16,64),(1,16)>: "
            "it does not put panels of whole rows one after another",
        ),
        (
            buffer("#smem", load=said("<(16,32),(32,1)>")),
            "has the layout <(16,32),(32,1)>, which is none of a tile of 16x64",
        ),
        (
            buffer("#nv_tileas.shared<(16,64),(64,1),elem=f32>"),
            "its elements are f32, which do not have 16 bits",
        ),
    ],
)
def test_what_shared_memory_is_not_said_to_be_is_refused(text: str, message: str) -> None:
    with pytest.raises(DiagnosticError, match=re.escape(message)) as caught:
        _ = lowered(text).ptx
    assert caught.value.diagnostics[0].location is not None
