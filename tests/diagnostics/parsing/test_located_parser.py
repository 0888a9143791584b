"""Every operation knows where it was written, and every parse error where it is."""

from io import StringIO

import pytest
from xdsl.context import Context
from xdsl.dialects import test
from xdsl.dialects.builtin import UNKNOWN_LOC, FileLineColLoc, UnknownLoc
from xdsl.ir import Dialect
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.locations import file_location
from tileas_xdsl.diagnostics.parsing.located_parser import LocatedParser, parse_module
from tileas_xdsl.diagnostics.parsing.parse_errors import LocatedParseError
from tileas_xdsl.diagnostics.report import Location, render

FUNCTION = """\
func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
\t%1 = "test.op"() ({
    "test.termop"() : () -> ()
  }) : () -> i32
  func.return %0 : i32
}
"""


def places(module) -> list[tuple[str, int, int]]:
    found = [(op.name, file_location(op.location)) for op in module.walk()]
    return [(name, place.line, place.column) for name, place in found if place is not None]


def first_line(error: LocatedParseError) -> str:
    return str(error).splitlines()[0]


def failing(parse, text, **options) -> LocatedParseError:
    with pytest.raises(LocatedParseError) as caught:
        parse(text, **options)
    return caught.value


def test_operations_are_located_at_their_names(parse):
    assert places(parse(FUNCTION)) == [
        ("builtin.module", 1, 1),
        ("func.func", 1, 1),
        ("arith.addi", 2, 8),
        ("test.op", 3, 7),
        ("test.termop", 4, 5),
        ("func.return", 6, 3),
    ]


def test_line_offset_is_added(parse):
    assert places(parse('\n"test.op"() : () -> ()', line_offset=10))[1] == ("test.op", 12, 1)


def test_explicit_locations_are_kept(parse):
    module = parse(
        '"test.op"() : () -> () loc("a.py":4:2)\n'
        '"test.op"() : () -> () loc(unknown)\n'
        '"test.op"() ({ "test.termop"() : () -> () loc("b.py":1:1) }) : () -> ()\n'
    )
    first, second, third = module.body.ops
    assert str(file_location(first.location)) == "a.py:4:2"
    assert second.location == UnknownLoc()
    assert second.location is not UNKNOWN_LOC
    assert str(file_location(third.location)) == "k.mlir:3:1"
    assert str(file_location(third.regions[0].block.first_op.location)) == "b.py:1:1"


@pytest.mark.parametrize(
    "location",
    ['fused["a.py":1:2, unknown]', 'fused<"scope">["a.py":1:2]', 'fused<i32>["x"("a.py":1:2)]'],
)
def test_fused_locations_keep_their_metadata(parse, location):
    module = parse(f'"test.op"() : () -> () loc({location})')
    stream = StringIO()
    Printer(stream, print_debuginfo=True).print_op(module)
    assert f"loc({location})" in stream.getvalue()
    [op] = module.ops
    assert file_location(op.location) == Location("a.py", 1, 2)


def test_block_arguments_are_located(parse):
    function = parse(FUNCTION).body.block.first_op
    assert str(file_location(function.body.block.args[0].location)) == "k.mlir:1:14"


def test_nothing_but_comments_is_an_empty_module(parse):
    assert not parse("// RUN: true\n").body.ops


def test_parses_the_same_ir_as_xdsl(ctx: Context, parse):
    assert str(parse(FUNCTION)) == str(Parser(ctx, FUNCTION).parse_module())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@", "1:1: error: Unexpected end of file after @."),
        ("%0 = arith.constnt 1 : i32", "1:6: error: Operation arith.constnt is not registered"),
        ('"no.op"() : () -> ()', "1:1: error: Operation no.op is not registered"),
        (
            "func.func @f() {\n  retrn\n}",
            "2:3: error: Operation retrn is not registered; did you mean func.return",
        ),
        ('"test.op"() {a = #no.attr} : () -> ()', "1:18: error: 'no.attr' is not registered"),
        ('"test.op"() : () -> !no.type', "1:21: error: 'no.type' is not registered"),
        (
            '%0 = "test.op"() : () -> i32\n%1 = arith.addi %0, %0 : i64',
            "2:17: error: use of value '%0' expects different type than prior uses: 'i64' vs 'i32'",
        ),
        (
            '%a, %b = "test.op"() : () -> (i32, i64)\n%c = arith.select %a, %b, %b : i64',
            "2:19: error: use of value '%a' expects different type than prior uses: 'i1' vs 'i32'",
        ),
        ("%0 = arith.constant 300 : i8", "1:21: error: Integer value 300 is out of range"),
        (
            "%v = arith.constant 1.0 : f32\n%0 = arith.addi %v, %v : f32",
            "2:6: error: 'arith.addi' op ",
        ),
        (
            "func.func @f() {\n  func.return %c : i32\n}",
            "2:15: error: use of undeclared SSA value name %c",
        ),
        (
            'func.func @f() { "cf.br"()[^no] : () -> () }',
            "1:28: error: reference to an undefined block ^no",
        ),
        ('"cf.br"()[^no] : () -> ()', "1:11: error: reference to an undefined block ^no"),
        ('"test.op"() {a = dense<[1, 2]> : tensor<3xi32>} : () -> ()', "1:47: error: "),
        ('"test.op"() : () -> tuple<!no>', "1:27: error: undefined symbol alias '!no'"),
        ('"test.op"() {a = ' + "[" * 2000 + "} : () -> ()", "1:"),
        (f'"test.op"() {{a = {"9" * 5000}}} : () -> ()', "1:18: error: cannot parse this: "),
        (b"// caf\xc3\xa9\n// \xff", "2:4: error: the input is not UTF-8: cannot decode byte 0xff"),
    ],
)
def test_errors_point_to_what_is_wrong(parse, text, expected):
    assert first_line(failing(parse, text)).startswith(f"k.mlir:{expected}")


def test_every_undefined_value_is_reported_at_its_first_use(parse):
    error = failing(parse, '"test.op"(%a) : (i1) -> ()\n"test.op"(%b, %a) : (i1, i1) -> ()')
    assert [report.headline for report in error.diagnostics] == [
        "k.mlir:1:11: error: use of undeclared SSA value name %a",
        "k.mlir:2:11: error: use of undeclared SSA value name %b",
    ]


def test_undefined_values_hide_no_scope(parse):
    """The first use counts in the function where the value is missing, not in the whole text."""
    text = (
        "func.func @g() {\n  %c = arith.constant 1 : i32\n  func.return\n}\n"
        "func.func @f() {\n  func.return %c : i32\n}"
    )
    assert first_line(failing(parse, text)).startswith("k.mlir:6:15: error: use of undeclared SSA")


def test_similar_operations_are_suggested(parse):
    assert "did you mean arith.addi" in str(failing(parse, "%0 = arith.addii %0"))


def test_similar_dialects_are_suggested(parse):
    assert "there is no dialect 'ariht', did you mean arith" in str(failing(parse, '"ariht.x"()'))


def test_two_definitions_show_both_places(parse):
    text = 'func.func @f() {\n^a:\n  "test.termop"() : () -> ()\n^a:\n}'
    error = failing(parse, text)
    assert error.diagnostics[0].headline == "k.mlir:4:1: error: re-declaration of block 'a'"
    assert error.diagnostics[0].notes[0].headline == "k.mlir:2:1: note: originally declared here"


def test_more_text_after_the_module_is_an_error(parse):
    error = failing(parse, "builtin.module {}\nbuiltin.module {}", implicit_module=False)
    assert first_line(error).startswith("k.mlir:2:1: error: expected the end of the input")


def test_line_offset_and_source_line_of_errors(parse):
    error = failing(parse, '"test.op"() : () -> ()\n  @', line_offset=7)
    assert render(error.diagnostics[0]).startswith("k.mlir:9:3: error: ")
    assert render(error.diagnostics[0]).endswith("\n  @\n  ^\n")


def test_the_error_is_a_parse_error_for_others_too(ctx: Context):
    with pytest.raises(ParseError) as caught:
        LocatedParser(ctx, "%0 = ", "k.mlir").parse_module()
    assert str(caught.value).startswith("k.mlir:1:6: error: operation name expected")


def test_located_errors_of_operations_keep_their_text(ctx: Context):
    class Strict(test.TestOp):
        name = "strict.op"

        @classmethod
        def parse(cls, parser):
            raise op_error(None, " does not\tfit \n")

    ctx.load_dialect(Dialect("strict", [Strict]))
    with pytest.raises(LocatedParseError) as caught:
        parse_module(ctx, "\n  strict.op", "k.mlir")
    assert str(caught.value) == "k.mlir:2:3: error:  does not\tfit \n"


def test_locations_survive_printing(ctx: Context, parse):
    from io import StringIO

    from xdsl.printer import Printer

    stream = StringIO()
    Printer(stream, print_debuginfo=True).print_op(parse(FUNCTION))
    again = parse_module(ctx, stream.getvalue(), "other.mlir")
    assert places(again)[1:] == places(parse(FUNCTION))[1:]
    assert all(isinstance(op.location, FileLineColLoc) for op in again.walk())
