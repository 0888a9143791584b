"""Aliases of buffers: their allocations, where they begin, and under which layout they show it."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, SSAValue

from tests.support.ir import parse
from tileas_xdsl.analysis.memory.buffer_aliases import BufferAliases
from tileas_xdsl.analysis.memory.buffer_allocation import BufferOffsets
from tileas_xdsl.analysis.memory.buffer_layouts import shows_in_place
from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp

PROGRAM = """
!ring = tensor<4x8x16xf16, #nv_tileas<space smem>>
!slot = tensor<8x16xf16, #nv_tileas<space smem>>
!part = tensor<4x4xf16, #nv_tileas<space smem>>
!bits = tensor<8x16xi16, #nv_tileas<space smem>>
func.func @f(%c: i1, %n: index, %k: index, %x: tensor<8x16xf16>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %ring = nv_tileas.alloc_tensor : !ring
  %other = nv_tileas.alloc_tensor : !slot
  %first = nv_tileas.view %ring : !ring -> !slot
  %second = nv_tileas.view %ring[%two, %zero, %one] : !ring -> !slot
  %any = nv_tileas.view %ring[%k, %one, %zero] : !ring -> !slot
  %more = nv_tileas.view %any {offset = 5} : !slot
  %part = nv_tileas.view %first[%one, %zero] : !slot -> !part
  %slice = nv_tileas.extract_slice %second[0, 4][4, 4][1, 1] : !slot -> !part
  %bits = nv_tileas.reinterpret %second : !slot -> !bits
  %chosen = arith.select %c, %first, %second : !slot
  %mixed = arith.select %c, %chosen, %other : !slot
  %r, %s = scf.for %i = %zero to %n step %one iter_args(%u = %first, %v = %more) -> (!slot, !slot) {
    %w = nv_tileas.view %u {offset = 0} : !slot
    nv_tileas.copy %x, %v {atom = #nv_tileas<atom unknown_copy>} : tensor<8x16xf16>, !slot
    scf.yield %w, %first : !slot, !slot
  }
  "test.op"(%part, %slice, %bits, %mixed) : (!part, !part, !bits, !slot) -> ()
  "test.op"(%r, %s) : (!slot, !slot) -> ()
  func.return
}
"""


def values(module: ModuleOp) -> dict[str, SSAValue]:
    """Everything that has a name."""
    found: dict[str, SSAValue] = {}
    for op in module.walk():
        inner = [arg for region in op.regions for block in region.blocks for arg in block.args]
        for value in (*op.results, *inner):
            if value.name_hint is not None:
                found[value.name_hint] = value
    return found


def test_every_way_leads_to_the_allocation() -> None:
    module = parse(PROGRAM)
    aliases, names = BufferAliases(module), values(module)
    of_ring = {name for name in names if aliases.allocation_of(names[name]) is names["ring"]}
    views = {"first", "second", "any", "more", "part", "slice", "bits", "w"}
    assert of_ring == {"ring", *views, "chosen", "u", "v", "r", "s"}
    assert aliases.allocation_of(names["other"]) is names["other"]
    assert aliases.allocation_of(names["mixed"]) is None
    assert len(aliases.roots(names["mixed"]).allocations) == 2
    assert aliases.roots(names["x"]).others == [names["x"]]
    assert all(isinstance(names[name].owner, AllocTensorOp) for name in ("ring", "other"))


@pytest.mark.parametrize(
    ("name", "base", "constant", "terms"),
    [
        ("ring", "ring", 0, {}),
        ("first", "ring", 0, {}),
        ("second", "ring", 257, {}),
        ("any", "ring", 16, {"k": 128}),
        ("more", "ring", 21, {"k": 128}),
        ("part", "part", 0, {}),
        ("slice", "slice", 0, {}),
        ("bits", "bits", 0, {}),
        ("chosen", "ring", 0, {"chosen": 1}),
        ("mixed", "mixed", 0, {}),
        ("u", "ring", 0, {}),
        ("w", "ring", 0, {}),
        ("r", "ring", 0, {}),
        ("v", "ring", 0, {"v": 1}),
        ("s", "ring", 0, {"s": 1}),
    ],
)
def test_where_they_begin(name: str, base: str, constant: int, terms: dict[str, int]) -> None:
    module = parse(PROGRAM)
    names = values(module)
    place = BufferOffsets(BufferAliases(module)).offset_of(names[name])
    assert place is not None
    assert place.base is names[base]
    assert place.offset.constant == constant
    assert {value.name_hint: n for value, n in place.offset.terms.items()} == terms


def test_the_depth_counts_windows_and_merges() -> None:
    assert BufferAliases(parse(PROGRAM)).depth() == 3
    assert BufferAliases(parse("func.func private @f()")).depth() == 0


def _type(text: str) -> Attribute:
    module = parse(f'"test.op"() : () -> {text}')
    assert module.body.block.first_op is not None
    return module.body.block.first_op.results[0].type


ROWS = "tensor<16x64xf16, #nv_tileas.shared<(16,64),(64,1)>>"
SWIZZLED = "tensor<16x64xf16, #nv_tileas.shared<(16,64),(64,1),swizzle<3,4,3>>>"
HALF = "tensor<8x64xf16, #nv_tileas.shared<(8,64),(64,1),swizzle<3,4,3>>>"
QUARTER = "tensor<4x64xf16, #nv_tileas.shared<(4,64),(64,1),swizzle<3,4,3>>>"
COLUMNS = "tensor<16x64xf16, #nv_tileas.shared<(16,64),(1,16)>>"
NOT_LAID_OUT = "tensor<16x64xf16, #nv_tileas<space smem>>"
VIEW = "!nv_tileas.tiled_view<16x64xf16, smem, <(16,64),(64,1)>>"
WRONG = "tensor<16x64xf16, #nv_tileas.shared<(8,64),(64,1)>>"
LANES = 'tensor<128x64xf32, #nv_tileas.linear<"(128,64):(1@lane,1@column)">>'
OTHER_LANES = 'tensor<128x64xf32, #nv_tileas.linear<"(128,64):(1@lane,2@column)">>'


@pytest.mark.parametrize(
    ("whole", "part", "offset", "expected"),
    [
        (ROWS, ROWS, 0, True),
        (ROWS, SWIZZLED, 0, False),
        (ROWS, COLUMNS, 0, False),
        (ROWS, VIEW, 0, True),
        (NOT_LAID_OUT, SWIZZLED, 0, True),
        (SWIZZLED, NOT_LAID_OUT, 3, True),
        (SWIZZLED, HALF, 0, True),
        (SWIZZLED, HALF, 512, True),
        (SWIZZLED, HALF, None, True),
        (SWIZZLED, HALF, 256, False),
        (SWIZZLED, QUARTER, 0, True),
        (SWIZZLED, QUARTER, 256, False),
        (SWIZZLED, QUARTER, None, False),
        (SWIZZLED, SWIZZLED, 1024, True),
        (SWIZZLED, HALF, 768, False),
        (ROWS, WRONG, 0, False),
        (LANES, LANES, 0, True),
        (LANES, OTHER_LANES, 0, False),
    ],
)
def test_under_which_layout(whole: str, part: str, offset: int | None, expected: bool) -> None:
    assert shows_in_place(_type(whole), _type(part), offset) is expected
