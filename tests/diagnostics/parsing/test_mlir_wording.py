"""MLIR's words for what xDSL's parser refuses."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import FileLineColLoc, FusedLoc

from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.diagnostics.parsing.mlir_wording import is_of_the_parser, mlir_wording
from tileas_xdsl.diagnostics.parsing.parse_errors import LocatedParseError
from tileas_xdsl.installed import registered_context

KERNEL = "cuda_tile.module @m {{\n  entry @k(%a: tile<i32>) {{\n    {}\n    return\n  }}\n}}"


@pytest.mark.parametrize(
    ("body", "place", "text"),
    [
        ("%x = addi %a, %a tile<i32>", (3, 22), "expected ':'"),
        ("%x = addi %a, %a", (3, 21), "expected ':'"),
        ("%x = addi %a, %a : tile<f32>", (3, 15), "use of value '%a' expects different type"),
        ("%x = nothing %a", (3, 10), "custom op 'nothing' is unknown (tried 'cuda_tile.nothing'"),
        ("%x, %y = addi %a, %a : tile<i32>", (3, 5), "operation defines 1 results but was"),
        ('%x = print_tko "\\n" -> token', None, ""),
        ("%a = addi %a, %a : tile<i32>", (3, 5), "redefinition of SSA value '%a'"),
        ("%x = maxi %a, %a : tile<i32>", (3, 22), "custom op 'cuda_tile.maxi' expected valid key"),
        ("%x = constant <f32: 1> : tile<f32>", (3, 25), "unexpected decimal integer literal"),
    ],
)
def test_operations(body: str, place: tuple[int, int] | None, text: str) -> None:
    source = KERNEL.format(body)
    if place is None:
        parse_module(registered_context(), source, "k")
        return
    with pytest.raises(LocatedParseError) as refused:
        parse_module(registered_context(allow_unregistered=True), source, "k")
    (report,) = refused.value.diagnostics
    assert report.location is not None
    assert (report.location.line, report.location.column) == place
    assert text in report.text


def test_the_definition_of_a_value_is_a_note() -> None:
    with pytest.raises(LocatedParseError) as refused:
        parse_module(registered_context(), KERNEL.format("%x = addi %a, %a : tile<f32>"), "k")
    (note,) = refused.value.diagnostics[0].notes
    assert note.text == "prior use here"
    assert note.location is not None
    assert note.location.line == 2


def test_words_of_the_parser_name_no_operation() -> None:
    assert mlir_wording("'>' expected") == "expected '>'"
    assert mlir_wording("a view says where it lives") == "a view says where it lives"
    assert is_of_the_parser("redefinition of SSA value '%a'")
    assert is_of_the_parser("'cuda_tile.addi' op is wrong")
    assert not is_of_the_parser("expected static shape")


def test_locations_may_be_aliases_that_are_defined_further_down() -> None:
    module = parse_module(
        registered_context(),
        """
cuda_tile.module @m {
  entry @k() {
    return loc(#loc2)
  } loc(#loc1)
} loc(unknown)
#file = #cuda_tile.di_file<"k.py" in "/home">
#place = loc("k.py":3:4)
#unit = #cuda_tile.di_compile_unit<file = #file>
#function = #cuda_tile.di_subprogram<file = #file, line = 1, name = "k", linkageName = "k",
  compileUnit = #unit, scopeLine = 1>
#loc1 = #cuda_tile.di_loc<#place in #function>
#loc2 = #cuda_tile.di_loc<loc("k.py":5:6) in #function>
""",
        "k",
    )
    places = {op.name: op.location for op in module.walk()}
    location = places["cuda_tile.entry"]
    assert isinstance(location, FusedLoc)
    (place,) = location.locations
    assert isinstance(place, FileLineColLoc)
    assert (place.line.data, place.column.data) == (3, 4)
