"""`canonicalize` on Tile IR: kernels mean what they meant, by the meaning of Tile IR."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from xdsl.transforms.canonicalize import CanonicalizePass

from tests.support.tile_ir import entry
from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.installed import registered_context
from tileas_xdsl.interpreters.cuda_tile.launch import evaluate

SELECTS = {
    "known": "%r = select %true, %a, %b : tile<i1>, tile<i32>",
    "same": "%r = select %p, %b, %b : tile<i1>, tile<i32>",
    "nested": """%i = select %p, %a, %b : tile<i1>, tile<i32>
      %j = select %p, %c, %a : tile<i1>, tile<i32>
      %r = select %p, %i, %j : tile<i1>, tile<i32>""",
    "negated": """%n = xori %p, %true : tile<i1>
      %r = select %n, %a, %b : tile<i1>, tile<i32>""",
    "equal": """%e = cmpi equal %a, %b, signed : tile<i32> -> tile<i1>
      %r = select %e, %a, %b : tile<i1>, tile<i32>""",
    "not equal": """%e = cmpi not_equal %b, %a, signed : tile<i32> -> tile<i1>
      %r = select %e, %a, %b : tile<i1>, tile<i32>""",
    "one and zero": "%r = select %p, %one, %zero : tile<i1>, tile<i32>",
    "zero and one": "%r = select %p, %zero, %one : tile<i1>, tile<i32>",
    "truth": """%n = select %p, %false, %true : tile<i1>, tile<i1>
      %r = select %n, %a, %b : tile<i1>, tile<i32>""",
}
KERNEL = """
      %zero = constant <i32: 0> : tile<i32>
      %one = constant <i32: 1> : tile<i32>
      %true = constant <i1: 1> : tile<i1>
      %false = constant <i1: 0> : tile<i1>
      %p = cmpi not_equal %q, %zero, signed : tile<i32> -> tile<i1>
      BODY
      %t = store_ptr_tko weak %o, %r : tile<ptr<i32>>, tile<i32> -> token"""


@pytest.mark.parametrize("name", SELECTS)
def test_selections_mean_the_same(name: str) -> None:
    parameters = "%q: tile<i32>, %a: tile<i32>, %b: tile<i32>, %c: tile<i32>, %o: tile<ptr<i32>>"
    text = entry(parameters, KERNEL.replace("BODY", SELECTS[name]))
    before, after = (parse_module(registered_context(), text) for _ in range(2))
    verify_module(before)
    CanonicalizePass().apply(registered_context(), after)
    verify_module(after)
    assert sum(1 for _ in after.walk()) < sum(1 for _ in before.walk())
    for q, (a, b) in product((0, 1, 5), ((3, 3), (-7, 9))):
        found = [
            evaluate(module, [q, a, b, 40, np.full(1, 99, np.int32)], grid=1).arrays[-1]
            for module in (before, after)
        ]
        assert found[0][0] == found[1][0]
