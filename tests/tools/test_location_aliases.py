"""Locations print as aliases behind the module, and read back the same."""

from __future__ import annotations

from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.installed import registered_context
from tileas_xdsl.tools.location_aliases import text_with_locations

PLAIN = """\
builtin.module {
  func.func @f(%x: i32 loc(#loc1)) -> i32 {
    %y = arith.addi %x, %x : i32 loc(#loc3)
    func.return %y : i32 loc(#loc5)
  } loc(#loc)
} loc(#loc)
#loc = loc("a.py":1:2)
#loc1 = loc(unknown)
#loc2 = loc("b.py":5:6)
#loc3 = loc(callsite(#loc2 at #loc))
#loc4 = loc("named"(#loc))
#loc5 = loc(fused[#loc4, #loc2])
"""

SCOPED = """\
builtin.module {
  cuda_tile.module @m {
    entry @f() {
      return loc(#loc2)
    } loc(#loc1)
  } loc(#loc)
} loc(#loc)
#di_file = #cuda_tile.di_file<"a.py" in "">
#loc = loc("a.py":1:2)
#di_compile_unit = #cuda_tile.di_compile_unit<file = #di_file>
#di_subprogram = #cuda_tile.di_subprogram<file = #di_file, line = 1, name = "f", \
linkageName = "f", compileUnit = #di_compile_unit>
#di_lexical_block = #cuda_tile.di_lexical_block<scope = #di_subprogram, file = #di_file, line = 3>
#loc1 = #cuda_tile.di_loc<#loc in #di_subprogram>
#loc2 = #cuda_tile.di_loc<#loc in #di_lexical_block>
"""


def again(text: str) -> str:
    ctx = registered_context()
    return text_with_locations(parse_module(ctx, text, "m.mlir"), {}, ctx.loaded_dialects)


def test_locations_are_defined_behind_the_module_what_is_contained_first() -> None:
    assert again(PLAIN) == PLAIN


def test_a_location_with_a_scope_is_that_of_its_dialect() -> None:
    assert again(SCOPED) == SCOPED
