"""Files that are wrong: one located message, and neither a traceback nor much memory or time."""

from __future__ import annotations

import random
import re
import tracemalloc
from collections.abc import Iterator

import pytest
from support.tile_programs import program_bytecode

from tileas_xdsl.frontend.bytecode.layout import (
    LATEST,
    MAGIC,
    VERSIONS,
    AttributeTag,
    DebugTag,
    Section,
    TypeTag,
    Version,
)
from tileas_xdsl.frontend.bytecode.limits import MAX_LOCATION, MAX_NESTING
from tileas_xdsl.frontend.bytecode.reading.cursor import BytecodeError
from tileas_xdsl.frontend.bytecode.reading.reader import read_bytecode
from tileas_xdsl.frontend.bytecode.reading.sections import split_sections
from tileas_xdsl.frontend.bytecode.writing.output import Output

MESSAGE = re.compile(r"f:1:\d+: error: .+ \(byte \d+ of the bytecode, (section \w+|\w+ ?\w*).*\)")


def outcome(data: bytes) -> str | None:
    """The message for a file, None if it is read; any other exception fails the test."""
    try:
        read_bytecode(data, "f")
    except BytecodeError as error:
        [report] = error.diagnostics
        assert MESSAGE.fullmatch(str(error)), str(error)
        assert 0 <= error.offset <= len(data)
        assert report.location is not None
        return report.message
    return None


@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_every_beginning_of_a_file_is_refused(version: Version) -> None:
    data = program_bytecode(version)
    assert outcome(data) is None
    for length in range(len(data)):
        assert outcome(data[:length]) is not None, length


def test_flipped_bits_are_read_or_refused() -> None:
    data = program_bytecode()
    refused = 0
    for place in range(0, len(data), 2):
        changed = bytearray(data)
        changed[place] ^= 1 << place // 2 % 8
        refused += outcome(bytes(changed)) is not None
    assert refused > len(data) // 8


def mutants(seed: int, number: int) -> Iterator[bytes]:
    rng = random.Random(seed)
    for _ in range(number):
        data = bytearray(program_bytecode(rng.choice(VERSIONS)))
        place = rng.randrange(12, len(data))
        length = rng.randrange(4)
        data[place : place + length] = rng.choice(
            [rng.randbytes(rng.randrange(5)), b"\xff" * 4, b"\x00" * 4, b"\x80" * 9 + b"\x01"]
        )
        yield bytes(data)


def test_changed_bytes_are_read_or_refused() -> None:
    results = [outcome(data) for data in mutants(1, 300)]
    assert sum(result is not None for result in results) > 150


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_many_changed_bytes_are_read_or_refused(seed: int) -> None:
    for data in mutants(seed, 1000):
        outcome(data)


def entries(data: bytes, section: Section, width: int) -> list[bytes]:
    """The entries of a table of a file."""
    cursor = split_sections(data, "f").payloads[section]
    start = cursor.position
    number = cursor.varint("n")
    cursor.pad(width, start)
    offsets = [int.from_bytes(cursor.take(width, "o"), "little") for _ in range(number)]
    rest = cursor.take(cursor.remaining, "entries")
    return [rest[a:b] for a, b in zip(offsets, [*offsets[1:], len(rest)], strict=True)]


def table(items: list[bytes], width: int) -> Output:
    output = Output()
    output.table(items, width)
    return output


def with_sections(changed: dict[Section, bytes]) -> bytes:
    """The program's file with other payloads of some sections."""
    data = program_bytecode()
    output = Output(MAGIC + bytes([*LATEST, 0, 0]))
    for section, cursor in split_sections(data, "f").payloads.items():
        output.section(section, changed.get(section, cursor.take(cursor.remaining, "all")))
    output.append(Section.END)
    return bytes(output)


def message_with(section: Section, payload: bytes) -> str:
    message = outcome(with_sections({section: payload}))
    assert message is not None
    return message


def types(*more: bytes) -> Output:
    """The types of the program, and more."""
    return table([*entries(program_bytecode(), Section.TYPE, 4), *more], 4)


NUMBER_OF_TYPES = len(entries(program_bytecode(), Section.TYPE, 4))
ITSELF = NUMBER_OF_TYPES


def type_bytes(tag: int, *numbers: int) -> bytes:
    output = Output()
    for number in (tag, *numbers):
        output.varint(number)
    return bytes(output)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ([type_bytes(99)], "there is no type with the tag 99"),
        ([type_bytes(TypeTag.I1, 0)], "1 bytes are left over after type"),
        ([type_bytes(TypeTag.POINTER, 0, ITSELF)], f"type {ITSELF} contains itself"),
        (
            [type_bytes(TypeTag.POINTER, 0, ITSELF + 1), type_bytes(TypeTag.POINTER, 0, ITSELF)],
            f"type {ITSELF} contains itself",
        ),
        (
            [type_bytes(TypeTag.POINTER, 0, 10_000)],
            "the type that a pointer points to is number 10000 of",
        ),
        ([type_bytes(TypeTag.POINTER, 2, 0)], "a type has no flags 0x2"),
        ([type_bytes(TypeTag.TILE, 0, 65)], "65 extents do not fit in the 0 bytes"),
        ([type_bytes(TypeTag.TILE, 0, 1) + (3).to_bytes(8, "little")], "power"),
        ([type_bytes(TypeTag.FUNC, 1 << 40)], "types of a parameters do not fit in"),
        (
            [type_bytes(TypeTag.FUNC, 0, 0), type_bytes(TypeTag.FUNC, 1, ITSELF, 0)],
            "the type of a parameter is a function",
        ),
        ([type_bytes(TypeTag.PARTITION_VIEW, 0, 0, 0)], "i1 is no tensor view"),
        ([type_bytes(TypeTag.PARTITION_VIEW, 0, 1, 0, 0, 0, 0)], "extents of a tile are positive"),
        (
            [type_bytes(TypeTag.TENSOR_VIEW, 0, 0, 1, *[0] * 8, 1, *[0] * 8)],
            "extents of a view are positive, not 0",
        ),
        (
            [type_bytes(TypeTag.TENSOR_VIEW, 0, 0, 1, 4, *[0] * 7, 1, *[0] * 8)],
            "strides of a view are positive, not 0",
        ),
        (
            [type_bytes(TypeTag.STRIDED_VIEW, 0, 1, 4, 0, 0, 0, 1, 0, 0, 0, 0)],
            "strides of tiles are positive, not 0",
        ),
    ],
)
def test_wrong_types(more: list[bytes], message: str) -> None:
    assert message in message_with(Section.TYPE, types(*more))


def test_types_nest_only_so_deep() -> None:
    chain = [type_bytes(TypeTag.POINTER, 0, ITSELF + depth + 1) for depth in range(5000)]
    said = message_with(Section.TYPE, types(*chain, type_bytes(TypeTag.F32)))
    assert f"more than {MAX_NESTING} types inside one another" in said


def debug(*attributes: bytes) -> Output:
    """A debug section of no function with these attributes."""
    output = Output()
    output.varint(0)
    output.pad(4)
    output.varint(0)
    output.pad(8)
    output.table(attributes, 4)
    return output


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ([b"\x09"], "there is no debug attribute with the tag 9"),
        ([b""], "the data ends inside the tag of a debug attribute"),
        ([bytes([DebugTag.COMPILE_UNIT, 1])], "debug attribute 0 contains itself"),
        (
            [bytes([DebugTag.COMPILE_UNIT, 9])],
            "the file of a compile unit is debug attribute 9 of 1",
        ),
        (
            [bytes([DebugTag.COMPILE_UNIT, 0])],
            "debug attribute 0 cannot be the file of a compile unit",
        ),
        ([bytes([DebugTag.FILE, 0, 99])], "the folder of a file is number 99 of"),
        ([bytes([DebugTag.CALL_SITE, 0, 0]), b"\x01\x01"], "cannot be the file of a compile unit"),
    ],
)
def test_wrong_locations(attributes: list[bytes], message: str) -> None:
    assert message in message_with(Section.DEBUG, debug(*attributes))


def test_locations_cannot_be_larger_than_the_file_suggests() -> None:
    """Each call site names the one before twice: forty of them would be 2^40 locations."""
    sites = [bytes([DebugTag.CALL_SITE, number, number]) for number in range(40)]
    said = message_with(Section.DEBUG, debug(*sites))
    assert f"a location of more than {MAX_LOCATION} parts" in said


def function(body: bytes, *, hints: bytes = b"", flags: int = 2) -> Output:
    """A function section: the type of `@second`, which has no parameters, and this body."""
    data = program_bytecode()
    name = entries(data, Section.STRING, 4).index(b"second")
    kind = entries(data, Section.TYPE, 4).index(type_bytes(TypeTag.FUNC, 0, 0))
    output = Output()
    for number in (1, name, kind):
        output.varint(number)
    output.append(flags)
    output.varint(0)
    output += hints
    output.varint(len(body))
    output += body
    return output


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        (function(b"\x16"), "this version has no operation with the opcode 0x16"),
        (function(b"\xff\x7f"), "this version has no operation with the opcode 0x3fff"),
        (function(b"\x5c\x00\x01\x00"), "an operand is value 0 of 0 that are known here"),
        (function(b"\x5c\x00\x7f"), "127 operands do not fit in the 0 bytes that are left"),
        (function(b"\x5c\x7f"), "127 results do not fit in the 0 bytes that are left"),
        (function(b"\x5c"), "the data ends inside the number of results"),
        (function(b"\x44\xff\x01"), "the type of a result is number 255 of"),
        (function(b"\x41\x00\x00\x02"), "'cuda_tile.loop' has 1 regions, not 2"),
        (function(b"\x41\x00\x00\x01\x7f"), "127 blocks do not fit in the 0 bytes"),
        (function(b"\x41\x00\x00\x01\x01\x00\x05\x0a"), "5 operations of a block do not fit in"),
        (function(b"\x3d\x00\x00\x40"), "'load_ptr_tko' has no flags 0x40"),
        (function(b"", flags=0), "only public entries are supported, not the flags 0"),
        (function(b"", flags=3), "only public entries are supported, not the flags 3"),
        (function(b"", flags=10), "only public entries are supported, not the flags 10"),
        (function(b"", hints=b"\x03\x01", flags=6), "the hints of a function are"),
        (function(b"", hints=b"\x08\x10\x01\x04", flags=6), "come together"),
        (function(b"", hints=b"\x08\x10\x05\x04", flags=6), "an attribute has no flags 0x4"),
        (function(b"", hints=b"\x0d", flags=6), "unknown attribute tag 13"),
        (function(b"", hints=b"\x0b\x01\x00\x03\x01", flags=6), "hints are wrong"),
    ],
)
def test_wrong_functions(payload: bytes, message: str) -> None:
    assert message in message_with(Section.FUNC, payload)


@pytest.mark.parametrize(
    ("tag", "data", "message"),
    [
        (TypeTag.F32, bytes(4), None),
        (TypeTag.F32, bytes(16), None),
        (TypeTag.F32, bytes(8), "constant 0 of 8 bytes has the type !cuda_tile.tile<4xf32>"),
        (TypeTag.F32, b"", "constant 0 of 0 bytes has the type"),
        (TypeTag.TF32, b"\xff\xff\x07", None),
        (TypeTag.TF32, b"\xff\xff\x08", "constant 0 of 3 bytes has the type"),
        (TypeTag.F4E2M1FN, b"\x0f\x01\x02\x03", None),
        (TypeTag.F4E2M1FN, b"\x0f\x10\x02\x03", "constant 0 of 4 bytes has the type"),
        (TypeTag.I1, b"\x05", None),
        (TypeTag.I1, b"\x05\x05", "constant 0 of 2 bytes has the type"),
        (TypeTag.I4, b"\x05", "no tile of numbers"),
        (TypeTag.F8E5M3FNU, b"\x05", "there are no constants of !cuda_tile.f8E5M3FNU"),
    ],
)
def test_constants_have_the_bytes_of_their_type(
    tag: TypeTag, data: bytes, message: str | None
) -> None:
    first = NUMBER_OF_TYPES
    tile = type_bytes(TypeTag.TILE, first, 1) + (4).to_bytes(8, "little")
    said = outcome(
        with_sections(
            {
                Section.TYPE: types(type_bytes(tag), tile),
                Section.CONSTANT: table([type_bytes(len(data)) + data], 8),
                Section.FUNC: function(b"\x10" + type_bytes(first + 1, 0)),
                Section.GLOBAL: b"\x00",
            }
        )
    )
    assert said is None if message is None else message in (said or "")


def test_attributes_nest_only_so_deep() -> None:
    hints = bytes([AttributeTag.ARRAY, 1]) * 5000 + bytes([AttributeTag.BOOL, 1])
    said = message_with(Section.FUNC, function(b"", hints=hints, flags=6))
    assert f"more than {MAX_NESTING} attributes inside one another" in said


def test_regions_nest_only_so_deep() -> None:
    said = message_with(Section.FUNC, function(b"\x41\x00\x00\x01\x01\x00\x01" * 5000))
    assert f"more than {MAX_NESTING} regions inside one another" in said


def test_functions_share_their_type_but_not_for_free() -> None:
    """Each function of seven bytes would have sixty thousand parameters."""
    many = 60_000
    kind = type_bytes(TypeTag.FUNC, many) + bytes([1]) * many + b"\x00"
    payload = Output()
    payload.varint(1000)
    for _ in range(1000):
        for number in (0, NUMBER_OF_TYPES, 2, 0, 0):
            payload.varint(number)
    data = with_sections({Section.FUNC: payload, Section.TYPE: types(kind)})
    tracemalloc.start()
    said = outcome(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert said is not None
    assert "more parameters in all than the file has bytes" in said
    assert peak < 200e6


def test_equal_elements_are_counted_before_they_are_made() -> None:
    """A constant of four bytes is a tile of 64 MB; there may be as many as there are shapes."""
    first = NUMBER_OF_TYPES
    shapes = [
        type_bytes(TypeTag.TILE, 1, 2)
        + (1 << power).to_bytes(8, "little")
        + (1 << (24 - power)).to_bytes(8, "little")
        for power in range(25)
    ]
    body = b"".join(b"\x10" + type_bytes(first + index, 0) for index in range(25))
    data = with_sections(
        {
            Section.TYPE: types(*shapes),
            Section.CONSTANT: table([b"\x04\x01\x02\x03\x04"], 8),
            Section.FUNC: function(body),
            Section.GLOBAL: b"\x00",
        }
    )
    said = outcome(data)
    assert said is not None
    assert "constants of more than 268435456 bytes" in said


def test_the_place_is_that_of_the_wrong_byte() -> None:
    token = entries(program_bytecode(), Section.TYPE, 4).index(bytes([TypeTag.TOKEN]))
    make_token = bytes([0x44, token])
    body = make_token * 5 + b"\x16" + make_token
    data = with_sections({Section.FUNC: function(body)})
    with pytest.raises(BytecodeError) as caught:
        read_bytecode(data, "f")
    assert caught.value.offset == data.index(body) + 10
    assert caught.value.section == "section Func"
