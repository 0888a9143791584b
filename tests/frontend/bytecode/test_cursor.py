"""Numbers in bytes: what is written is read back, and what is no number is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tileas_xdsl.frontend.bytecode.reading.cursor import BytecodeError, Cursor
from tileas_xdsl.frontend.bytecode.reading.tables import read_table
from tileas_xdsl.frontend.bytecode.writing.output import Numbering, Output

UNSIGNED = st.integers(0, (1 << 64) - 1)
SIGNED = st.integers(-(1 << 63), (1 << 63) - 1)


def cursor(data: bytes) -> Cursor:
    return Cursor(data, 0, len(data), "section Test", "file.tileirbc")


@given(st.lists(UNSIGNED), st.lists(SIGNED))
def test_numbers_survive(unsigned: list[int], signed: list[int]) -> None:
    output = Output()
    for number in unsigned:
        output.varint(number)
    for number in signed:
        output.signed(number)
    reader = cursor(bytes(output))
    assert [reader.varint("x") for _ in unsigned] == unsigned
    assert [reader.signed("x") for _ in signed] == signed
    reader.finished("the numbers")


@pytest.mark.parametrize(
    ("number", "data"),
    [(0, "00"), (127, "7f"), (128, "8001"), (300, "ac02"), ((1 << 64) - 1, "ff" * 9 + "01")],
)
def test_numbers_have_seven_bits_a_byte(number: int, data: str) -> None:
    output = Output()
    output.varint(number)
    assert output.hex() == data


@pytest.mark.parametrize(("number", "byte"), [(0, 0), (-1, 1), (1, 2), (-2, 3), (-64, 127)])
def test_the_sign_is_the_lowest_bit(number: int, byte: int) -> None:
    output = Output()
    output.signed(number)
    assert list(output) == [byte]


@pytest.mark.parametrize("width", [1, 4, 8])
@given(data=st.data())
def test_lists_of_numbers_survive(width: int, data: st.DataObject) -> None:
    half = 1 << (8 * width - 1)
    numbers = data.draw(st.lists(st.integers(-half, half - 1), max_size=9))
    output = Output()
    output.integers(numbers, width)
    assert cursor(bytes(output)).integers(width, "numbers", 9) == numbers


@pytest.mark.parametrize("width", [4, 8])
@given(entries=st.lists(st.binary(max_size=9)), before=st.binary(max_size=9))
def test_tables_survive(width: int, entries: list[bytes], before: bytes) -> None:
    payload = Output()
    payload.table(entries, width)
    data = before + bytes(payload)
    reader = Cursor(data, len(before), len(data), "section Test", "file")
    places = read_table(reader, len(before), width, "entries")
    assert [data[start:end] for start, end in places] == entries


@pytest.mark.parametrize(
    ("data", "offset", "message"),
    [
        ("", 0, "the data ends inside x"),
        ("8080", 2, "the data ends inside x"),
        ("ff" * 9 + "02", 0, "x does not fit in 64 bits"),
        ("80" * 11, 0, "x does not fit in 64 bits"),
    ],
)
def test_what_is_no_number(data: str, offset: int, message: str) -> None:
    with pytest.raises(BytecodeError) as caught:
        cursor(bytes.fromhex(data)).varint("x")
    assert caught.value.offset == offset
    assert str(caught.value) == (
        f"file.tileirbc:1:{offset + 1}: error: {message} (byte {offset} of the bytecode, "
        "section Test)"
    )


def test_counts_are_bounded_by_the_bytes_that_follow() -> None:
    with pytest.raises(BytecodeError, match="16 things do not fit in the 1 bytes that are left"):
        cursor(b"\x10\x00").count("things")
    with pytest.raises(BytecodeError, match="2 numbers do not fit in the 7 bytes"):
        cursor(b"\x02" + bytes(7)).integers(4, "numbers", 9)
    with pytest.raises(BytecodeError, match="3 numbers are more than 2"):
        cursor(b"\x03" + bytes(3)).integers(1, "numbers", 2)


@pytest.mark.parametrize(
    ("offsets", "message"),
    [
        ((2, 1), "entries 0 begins at 2 and ends at 1 of 3 bytes"),
        ((0, 9), "entries 0 begins at 0 and ends at 9 of 3 bytes"),
    ],
)
def test_offsets_of_a_table_count_up(offsets: tuple[int, int], message: str) -> None:
    data = bytearray(b"\x02\xcb\xcb\xcb")
    for offset in offsets:
        data += offset.to_bytes(4, "little")
    with pytest.raises(BytecodeError, match=message):
        read_table(cursor(bytes(data) + b"abc"), 0, 4, "entries")


def test_numbering_counts_what_it_sees_first() -> None:
    numbers = Numbering[str](first=1)
    assert [numbers[text] for text in "abca"] == [1, 2, 3, 1]
    assert numbers.in_order() == ("a", "b", "c")
    assert len(numbers) == 3
