"""Loops without masks where these hold give what they gave, at the ends of 32 bits too."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects import scf

from tests.support.ir import parse
from tileas_xdsl.interpreters.tile.launch import simulate
from tileas_xdsl.transforms.loops.tileas_peel_masks import TileasPeelMasks

LAST = (1 << 31) - 1
FMA = "#nv_tileas<atom fma_f32_f32_f32>"
TILE, VIEW = "tensor<4x4xf32>", "!nv_tileas.tiled_view<4x4xf32, gmem>"
LOOP = """
func.func @masked(%a: memref<4x4xf32>, %low: i32, %high: i32, %p: i32, %q: i32) {{
  %zero = arith.constant 0 : index
  %step = arith.constant {step} : i32
  %factor = arith.constant {factor} : i32
  %none = arith.constant dense<1.0> : {TILE}
  %v = nv_tileas.view %a : memref<4x4xf32> -> {VIEW}
  %x = nv_tileas.tiled_load %v[%zero, %zero] {{atom = #nv_tileas<atom ldg>}} : {VIEW} -> {TILE}
  %r = scf.for %j = %low to %high step %step iter_args(%c = %x) -> ({TILE}) : i32 {{
    %d = nv_tileas.dot %x, %x, %c {{atom = {FMA}}} : {TILE}, {TILE}, {TILE} -> {TILE}
    %t = nv_tileas.generate : {TILE} {{
    ^bb0(%row: index, %column: index):
      %first = arith.muli %j, %factor : i32
      %i = arith.index_cast %row : index to i32
      %k = arith.index_cast %column : index to i32
      %left = arith.addi %first, %k : i32
      %shifted = arith.addi %left, %p : i32
      %right = arith.addi %q, %i : i32
      %m = arith.cmpi {predicate}, %shifted, %right : i32
      %s = tensor.extract %d[%row, %column] : {TILE}
      %o = tensor.extract %none[%row, %column] : {TILE}
      %y = arith.select %m, %s, %o : f32
      nv_tileas.yield %y : f32
    }}
    scf.yield %t : {TILE}
  }}
  nv_tileas.tiled_store %r, %v[%zero, %zero] {{atom = #nv_tileas<atom stg>}} : {TILE}, {VIEW}
  func.return
}}
"""
"""What a round sums where `factor * j + column + p` compares with `q + row`; else one."""

NUMBERS = (
    *((0, 0), (0, 9), (7, -3), (-20, 4), (0, LAST), (0, -LAST - 1)),
    *((LAST - 9, LAST - 2), (-LAST, 3), (-LAST - 1, -LAST), (LAST, -LAST)),
)


SELECTION = "%y = arith.select %m, %s, %o : f32"
NEGATED = """%true = arith.constant true
      %n = arith.xori %m, %true : i1
      %y = arith.select %n, %o, %s : f32"""
FORMS = {
    "kept": SELECTION,
    "left out": "%y = arith.select %m, %o, %s : f32",
    "negated": NEGATED,
    "multiplied": "%w = arith.uitofp %m : i1 to f32\n      %y = arith.mulf %s, %w : f32",
    "either": NEGATED.replace("%o, %s", "%s, %o").replace("xori %m", "ori %m"),
}
"""How a mask is used: `either` selects by a mask that is always true."""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("predicate", ["slt", "sge", "ult", "ugt"])
@pytest.mark.parametrize(("factor", "step"), [(4, 1), (-3, 1), (5, 3)])
@pytest.mark.sample(20)
def test_rounds_are_what_they_were(form: str, predicate: str, factor: int, step: int) -> None:
    text = LOOP.format(predicate=predicate, factor=factor, step=step, TILE=TILE, VIEW=VIEW, FMA=FMA)
    text = text.replace(SELECTION, FORMS[form])
    before, after = parse(text), parse(text)
    TileasPeelMasks().apply(Context(), after)
    after.verify()
    assert sum(isinstance(op, scf.ForOp) for op in after.walk()) > 1
    a = np.random.default_rng(0).integers(0, 3, (4, 4)).astype(np.float32)
    for numbers in ((*bounds, *one) for one in NUMBERS for bounds in ((0, 4), (-2, 2), (3, 3))):
        first, second = (simulate(one, [a, *numbers]).arrays[0] for one in (before, after))
        np.testing.assert_array_equal(first, second, str(numbers))


TILE_OF_SUMS = """    %t = nv_tileas.generate : {TILE} {{
    ^bb0(%row: index, %column: index):
"""
BRANCHES = {
    "does where it holds": ("scf.yield %z : {TILE}", "scf.yield %h : {TILE}"),
    "does where it does not": ("scf.yield %h : {TILE}", "scf.yield %z : {TILE}"),
}
"""What the sides of a branch that doubles scaled sums yield."""
BRANCH = """    %scale = arith.constant dense<0.5> : {TILE}
    %h = arith.mulf %d, %scale : {TILE}
    %first = arith.muli %j, %factor : i32
    %shifted = arith.addi %first, %p : i32
    %m = arith.cmpi {predicate}, %shifted, %q : i32
    %t = scf.if %m -> ({TILE}) {{
      THEN
    }} else {{
      ELSE
    }}
"""


@pytest.mark.parametrize("form", BRANCHES)
@pytest.mark.parametrize("predicate", ["slt", "sge", "ugt"])
@pytest.mark.parametrize(("factor", "step"), [(4, 1), (-3, 1), (5, 3)])
@pytest.mark.sample(8)
def test_branches_do_what_they_did(form: str, predicate: str, factor: int, step: int) -> None:
    begin, rest = LOOP.split(TILE_OF_SUMS)
    end = rest.split("    }}\n", 1)[1]
    busy = "%z = arith.addf %h, %h : {TILE}\n      "
    sides = [busy + side if "%z" in side else side for side in BRANCHES[form]]
    body = BRANCH.replace("THEN", sides[0]).replace("ELSE", sides[1])
    numbers = {"predicate": predicate, "factor": factor, "step": step}
    text = (begin + body + end).format(**numbers, TILE=TILE, VIEW=VIEW, FMA=FMA)
    before, after = parse(text), parse(text)
    TileasPeelMasks().apply(Context(), after)
    after.verify()
    loops = [op for op in after.walk() if isinstance(op, scf.ForOp)]
    branches = [sum(isinstance(op, scf.IfOp) for op in loop.walk()) for loop in loops]
    assert sorted(branches)[0] == 0
    assert max(branches) == 1
    a = np.random.default_rng(0).integers(0, 3, (4, 4)).astype(np.float32)
    for given in ((*bounds, *one) for one in NUMBERS for bounds in ((0, 4), (-2, 2), (3, 3))):
        first, second = (simulate(one, [a, *given]).arrays[0] for one in (before, after))
        np.testing.assert_array_equal(first, second, str(given))


def test_a_loop_that_stays_is_the_only_reader() -> None:
    """A mask that is added cannot go: nothing outside of the module reads its values."""
    text = LOOP.format(predicate="slt", factor=4, step=1, TILE=TILE, VIEW=VIEW, FMA=FMA)
    total = "%w = arith.uitofp %m : i1 to f32\n      %y = arith.addf %s, %w : f32"
    module = parse(text.replace(SELECTION, total))
    TileasPeelMasks().apply(Context(), module)
    assert sum(isinstance(op, scf.ForOp) for op in module.walk()) == 1
    for op in module.walk():
        for use in (use for result in op.results for use in result.uses):
            assert use.operation.get_toplevel_object() is module
