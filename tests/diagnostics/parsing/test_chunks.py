"""`--split-input-file`."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tileas_xdsl.diagnostics.parsing.chunks import Chunk, split_chunks


def test_a_text_without_separator_is_one_chunk():
    assert split_chunks(b"a\nb") == [Chunk(b"a\nb", 0)]


def test_separator_lines_split():
    assert split_chunks(b"a\n// -----\nb\n  // -----  \r\nc") == [
        Chunk(b"a\n", 0),
        Chunk(b"\nb\n", 1),
        Chunk(b"\nc", 3),
    ]


def test_nothing_else_splits():
    text = b'// -----// IR Dump\n"// -----"\nx // -----\n// ------\n// ----\n//-----\n'
    assert split_chunks(text) == [Chunk(text, 0)]


@settings(deadline=None)
@given(st.lists(st.sampled_from([b"// -----", b"a", b"", b" // ----- x"]), max_size=12))
def test_line_numbers_add_up(lines: list[bytes]):
    text = b"\n".join(lines)
    for chunk in split_chunks(text):
        for index, line in enumerate(chunk.content.split(b"\n")):
            if line:
                assert lines[chunk.line_offset + index] == line
