"""Hints, predicates and scopes made in Python equal those read from text, and know their facts."""

from __future__ import annotations

import pytest
from support.ir import parse
from xdsl.context import Context
from xdsl.dialects.builtin import (
    Builtin,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    IntegerAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from tileas_xdsl.diagnostics.catalogue import catalogue, message
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.dialects.cuda_tile import CudaTile
from tileas_xdsl.dialects.cuda_tile.hints import OF_ENTRY, OptimizationHintsAttr
from tileas_xdsl.dialects.cuda_tile.structure.debug_checks import scope_of
from tileas_xdsl.dialects.cuda_tile.structure.debug_info import (
    DICompileUnitAttr,
    DIFileAttr,
    DILexicalBlockAttr,
    DILocAttr,
    DISubprogramAttr,
    subprogram_of,
)
from tileas_xdsl.dialects.cuda_tile.types.predicates import BoundedAttr, DivByAttr, SameElementsAttr
from tileas_xdsl.dialects.cuda_tile.types.tile_types import scalar

FILE = DIFileAttr(StringAttr("kernel.py"), StringAttr("/home/user"))
UNIT = DICompileUnitAttr(FILE)
PLACE = FileLineColLoc(StringAttr("kernel.py"), IntAttr(3), IntAttr(5))
FILE_TEXT = '#cuda_tile.di_file<"kernel.py" in "/home/user">'


def function(name: str, scope_line: int | None = None) -> DISubprogramAttr:
    line = NoneAttr() if scope_line is None else IntAttr(scope_line)
    return DISubprogramAttr(FILE, IntAttr(1), StringAttr("f"), StringAttr(name), UNIT, line)


BLOCK = DILexicalBlockAttr(function("k"), FILE, IntAttr(2), NoneAttr())


def read(text: str) -> Attribute:
    ctx = Context()
    ctx.load_dialect(Builtin)
    ctx.load_dialect(CudaTile)
    return Parser(ctx, text).parse_attribute()


@pytest.mark.parametrize(
    ("attribute", "text"),
    [
        (DivByAttr(16), "div_by<16>"),
        (DivByAttr(16, 4, 1), "div_by<16, every 4 along 1>"),
        (BoundedAttr(-1, None), "bounded<-1, ?>"),
        (SameElementsAttr([1, 2]), "same_elements<[1, 2]>"),
        (
            OptimizationHintsAttr({"sm_90": {"latency": IntegerAttr(2, i64)}, "default": {}}),
            "optimization_hints<sm_90 = {latency = 2}, default = {}>",
        ),
        (FILE, FILE_TEXT.removeprefix("#cuda_tile.")),
        (UNIT, f"di_compile_unit<file = {FILE_TEXT}>"),
        (
            function("k", 7),
            f'di_subprogram<file = {FILE_TEXT}, line = 1, name = "f", linkageName = "k", '
            f"compileUnit = {UNIT}, scopeLine = 7>",
        ),
        (BLOCK, f"di_lexical_block<scope = {function('k')}, file = {FILE_TEXT}, line = 2>"),
        (DILocAttr(PLACE, BLOCK), f'di_loc<loc("kernel.py":3:5) in {BLOCK}>'),
    ],
)
def test_attributes_round_trip(attribute: Attribute, text: str) -> None:
    assert str(attribute) == f"#cuda_tile.{text}"
    assert read(f"#cuda_tile.{text}") == attribute


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("di_compile_unit<>", "expected a parameter name in struct"),
        (f"di_compile_unit<file = {FILE_TEXT}, file = {FILE_TEXT}>", "each at most once"),
        ("di_compile_unit<line = 1>", "'line' is not one of file"),
        ("di_compile_unit<file = 3>", "expected #cuda_tile.di_file"),
        (f"di_lexical_block<scope = {FILE_TEXT}, file = {FILE_TEXT}, line = 2>", "di_subprogram"),
        (f"di_loc<loc(unknown) in {BLOCK}>", r'expected loc\("FILE":LINE:COLUMN\)'),
    ],
)
def test_other_scopes_are_refused(text: str, error: str) -> None:
    with pytest.raises(ParseError, match=error):
        read(f"#cuda_tile.{text}")


def test_hints_are_looked_up_by_architecture_then_by_default() -> None:
    two, four = IntegerAttr(2, i64), IntegerAttr(4, i64)
    hints = OptimizationHintsAttr({"sm_90": {"occupancy": two}, "default": {"occupancy": four}})
    assert hints.get("sm_90", "occupancy") == two
    assert hints.get("sm_100", "occupancy") == four
    assert hints.get("sm_90", "latency") is None
    assert list(hints.problems(OF_ENTRY)) == []
    unknown = message("cuda_tile.hints.not_for_operation", hint="occupancy")
    assert list(hints.problems(())) == [unknown] * 2


def test_every_and_along_come_together() -> None:
    with pytest.raises(
        VerifyException, match=r"'cuda_tile.div_by' 'every'/'along' must be used in combination"
    ):
        DivByAttr(16, every=4)
    DivByAttr(16).check(scalar(i32))


PROGRAM = """
cuda_tile.module @m {
  global @g <i32: 0> : tile<1xi32>
  entry @k() {
    %0 = make_token : token
    return
  }
}
"""


def placed(kernel: Attribute, token: Attribute, variable: Attribute) -> str:
    """Return the verifier's messages for a program at these locations."""
    module = parse(PROGRAM)
    places = {
        "cuda_tile.entry": kernel,
        "cuda_tile.make_token": token,
        "cuda_tile.global": variable,
    }
    op: Operation
    for op in module.walk():
        op.location = places.get(op.name, op.location)
    try:
        verify_module(module)
    except VerifyException as error:
        return str(error)
    return ""


def at(scope: Attribute) -> FusedLoc:
    return DILocAttr(PLACE, scope).as_location()


UNKNOWN = UnknownLoc()
KERNEL = at(function("k"))


@pytest.mark.parametrize(
    ("kernel", "token", "variable", "key"),
    [
        (KERNEL, at(BLOCK), UNKNOWN, None),
        (KERNEL, UNKNOWN, PLACE, None),
        (CallSiteLoc(PLACE, PLACE), UNKNOWN, UNKNOWN, "cuda_tile.debug_function.call_site"),
        (at(BLOCK), UNKNOWN, UNKNOWN, "cuda_tile.debug_function.scope"),
        (at(function("other")), UNKNOWN, UNKNOWN, "cuda_tile.debug_function.name"),
        (UNKNOWN, KERNEL, UNKNOWN, "cuda_tile.debug_operation.undefined"),
        (KERNEL, at(function("other")), UNKNOWN, "cuda_tile.debug_operation.other"),
        (KERNEL, UNKNOWN, KERNEL, "cuda_tile.debug.global"),
    ],
)
def test_scopes_fit_together(
    kernel: Attribute, token: Attribute, variable: Attribute, key: str | None
) -> None:
    said = placed(kernel, token, variable)
    if key is None:
        assert said == ""
        return
    (entry,) = (entry for entry in catalogue() if entry.id == key)
    assert all(part in said for part in entry.fragments)


def test_a_scope_is_found_inside_other_locations() -> None:
    named = NameLoc(StringAttr("n"), KERNEL)
    assert scope_of(CallSiteLoc(PLACE, named)) == function("k")
    assert scope_of(FusedLoc([PLACE, named], NoneAttr())) == function("k")
    assert scope_of(PLACE) is None
    assert subprogram_of(BLOCK) == function("k")
    assert subprogram_of(FILE) is None
