"""Line tables."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tileas_xdsl.diagnostics.parsing.sources import SourceText, remember_source, source_line


@settings(deadline=None)
@given(st.text(alphabet="ab\n\r", max_size=30), st.integers(0, 30), st.integers(0, 5))
def test_line_and_column_count_newlines(text: str, position: int, offset: int):
    position = min(position, len(text))
    before = text[:position]
    line, column = SourceText("f", text, offset).line_and_column(position)
    assert line == before.count("\n") + 1 + offset
    assert column == position - (before.rfind("\n") + 1) + 1


@settings(deadline=None)
@given(st.text(alphabet="ab\n", max_size=30), st.integers(0, 5))
def test_line_returns_every_line_and_nothing_outside(text: str, offset: int):
    source = SourceText("f", text, offset)
    lines = text.split("\n")
    numbers = range(offset + 1, offset + 1 + len(lines))
    assert [source.line(number) for number in numbers] == lines
    assert source.line(offset) is None
    assert source.line(offset + len(lines) + 1) is None


def test_the_newest_text_of_a_name_wins():
    remember_source(SourceText("again.mlir", "old"))
    remember_source(SourceText("again.mlir", "new"))
    assert source_line("again.mlir", 1) == "new"


def test_only_some_texts_are_kept():
    for number in range(100):
        remember_source(SourceText(f"{number}.mlir", "text"))
    assert source_line("0.mlir", 1) is None
    assert source_line("99.mlir", 1) == "text"
