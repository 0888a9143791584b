"""What a diagnostic looks like on a terminal."""

import pytest

from tileas_xdsl.diagnostics.parsing.sources import SourceText, remember_source
from tileas_xdsl.diagnostics.report import Location, Severity, diagnostic, render

PLACE = Location("k.mlir", 2, 3)


def test_headline_names_file_line_column_severity_and_op():
    report = diagnostic(Severity.ERROR, "is wrong", PLACE, op_name="arith.addi")
    assert report.headline == "k.mlir:2:3: error: 'arith.addi' op is wrong"


def test_without_an_op_the_message_stands_alone():
    assert str(diagnostic(Severity.REMARK, "done", PLACE)) == "k.mlir:2:3: remark: done"


def test_unknown_place_reads_as_in_mlir():
    assert diagnostic(Severity.ERROR, "lost").headline == "<unknown>:0: error: lost"


def test_source_line_and_caret_follow():
    remember_source(SourceText("k.mlir", "first\n  second\n"))
    report = diagnostic(Severity.ERROR, "here", PLACE)
    assert render(report) == "k.mlir:2:3: error: here\n  second\n  ^\n"


def test_tabs_are_repeated_under_the_line():
    remember_source(SourceText("k.mlir", "a\n\t\tb c\n"))
    assert render(diagnostic(Severity.NOTE, "x", Location("k.mlir", 2, 5))).endswith(
        "\t\tb c\n\t\t  ^\n"
    )


def test_terminal_escapes_in_the_input_are_not_repeated():
    remember_source(SourceText("k.mlir", "\x1b[31mred"))
    assert "\x1b" not in render(diagnostic(Severity.ERROR, "x", Location("k.mlir", 1, 1)))


def test_windows_line_ends_are_not_shown():
    remember_source(SourceText("k.mlir", "a\r\nb\r\n"))
    assert render(diagnostic(Severity.ERROR, "x", Location("k.mlir", 2, 1))).endswith("\nb\n^\n")


def test_a_file_that_nobody_parsed_has_no_source_line():
    place = Location(__file__, 1, 1)
    assert render(diagnostic(Severity.ERROR, "x", place)) == f"{__file__}:1:1: error: x\n"


def test_bytes_of_the_message_are_kept():
    text = " can not find\tit \n"
    assert diagnostic(Severity.ERROR, text, PLACE, op_name="a.b").text == f"'a.b' op {text}"


def test_notes_come_after_the_source_line():
    remember_source(SourceText("k.mlir", "one\ntwo\n"))
    note = diagnostic(Severity.NOTE, "defined here", Location("k.mlir", 1, 1))
    report = diagnostic(Severity.ERROR, "bad", Location("k.mlir", 2, 1), notes=[note])
    assert render(report).splitlines() == [
        "k.mlir:2:1: error: bad",
        "two",
        "^",
        "k.mlir:1:1: note: defined here",
        "one",
        "^",
    ]


@pytest.mark.parametrize("column", [1, 60, 61, 5_000, 9_940, 10_000, 10_001, 99_999, 0])
def test_of_a_long_line_a_window_is_shown(column: int):
    line = "".join(f"{i:05}" for i in range(2_000))
    remember_source(SourceText("k.mlir", line))
    text = render(diagnostic(Severity.ERROR, "x", Location("k.mlir", 1, column)))
    _, shown, caret = text.splitlines()
    position = min(max(column - 1, 0), len(line))
    start = line.index(shown.strip("."))
    assert len(shown) <= 126
    assert shown == f"{'...' * (start > 0)}{line[start : start + 120]}" + "..." * (start < 9_880)
    assert caret == " " * (position - start + 3 * (start > 0)) + "^"


def test_lines_of_ordinary_length_are_shown_whole():
    line = "x" * 120
    remember_source(SourceText("k.mlir", line))
    text = render(diagnostic(Severity.ERROR, "x", Location("k.mlir", 1, 119)))
    assert text.splitlines()[1:] == [line, " " * 118 + "^"]
