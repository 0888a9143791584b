"""How passes and verifiers report."""

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import (
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Block, Region
from xdsl.utils.exceptions import DiagnosticException, PassFailedException, VerifyException

from tileas_xdsl.diagnostics.emission import (
    collecting_diagnostics,
    emit_error,
    emit_remark,
    emit_warning,
    note,
    op_error,
)
from tileas_xdsl.diagnostics.locations import file_location, location_of
from tileas_xdsl.diagnostics.report import Location


def at(line: int, column: int) -> FileLineColLoc:
    return FileLineColLoc(StringAttr("k.mlir"), IntAttr(line), IntAttr(column))


def located_op(line: int = 3, column: int = 5) -> test.TestOp:
    op = test.TestOp()
    op.location = at(line, column)
    return op


def test_op_error_is_what_plain_xdsl_tools_expect():
    error = op_error(located_op(), "does not fit")
    assert isinstance(error, VerifyException)
    assert isinstance(error, PassFailedException)
    assert isinstance(error, DiagnosticException)
    assert str(error) == "k.mlir:3:5: error: 'test.op' op does not fit"


def test_prefix_can_be_left_out():
    assert str(op_error(located_op(), "alone", prefix=False)) == "k.mlir:3:5: error: alone"


def test_a_location_will_do_instead_of_an_op():
    assert str(op_error(Location("a.py", 1, 2), "bad")) == "a.py:1:2: error: bad"


def test_emitted_diagnostics_go_to_the_innermost_log():
    with collecting_diagnostics() as outer:
        emit_warning(located_op(), "one")
        with collecting_diagnostics() as inner:
            emit_error(located_op(), "two", [note(located_op(1, 1), "here")])
        emit_remark(located_op(), "three")
    assert [report.headline for report in outer.diagnostics] == [
        "k.mlir:3:5: warning: 'test.op' op one",
        "k.mlir:3:5: remark: 'test.op' op three",
    ]
    assert inner.has_errors
    assert not outer.has_errors
    assert inner.diagnostics[0].notes[0].headline == "k.mlir:1:1: note: here"


def test_without_a_log_stderr_gets_it(capsys: pytest.CaptureFixture[str]):
    emit_warning(Location("never-parsed.mlir", 3, 5), "look")
    captured = capsys.readouterr()
    assert captured.err == "never-parsed.mlir:3:5: warning: look\n"
    assert captured.out == ""


@pytest.mark.parametrize(
    ("attribute", "found"),
    [
        (UnknownLoc(), None),
        (at(1, 2), Location("k.mlir", 1, 2)),
        (NameLoc(StringAttr("x"), at(1, 2)), Location("k.mlir", 1, 2)),
        (NameLoc(StringAttr("x"), NoneAttr()), None),
        (CallSiteLoc(at(1, 2), at(3, 4)), Location("k.mlir", 1, 2)),
        (CallSiteLoc(UnknownLoc(), at(3, 4)), Location("k.mlir", 3, 4)),
        (FusedLoc([UnknownLoc(), at(5, 6)], NoneAttr()), Location("k.mlir", 5, 6)),
        (FusedLoc([], NoneAttr()), None),
    ],
)
def test_the_first_file_position_of_a_location_counts(attribute, found):
    assert file_location(attribute) == found


def test_an_op_without_location_is_where_its_parent_is():
    inner = test.TestOp()
    outer = test.TestOp(regions=[Region(Block([inner]))])
    assert location_of(inner) is None
    outer.location = at(7, 8)
    assert location_of(inner) == Location("k.mlir", 7, 8)
