"""The outer form of a file: header, versions, sections and their alignment."""

import pytest

from tileas_xdsl.frontend.bytecode.layout import (
    ALIGNMENT,
    LATEST,
    MAGIC,
    SECTION_SINCE,
    VERSIONS,
    Section,
    Version,
    is_bytecode,
    version_named,
)
from tileas_xdsl.frontend.bytecode.reading.cursor import BytecodeError
from tileas_xdsl.frontend.bytecode.reading.sections import split_sections
from tileas_xdsl.frontend.bytecode.writing.output import Output

BODIES = {
    Section.STRING: b"\0",
    Section.FUNC: b"\0abc",
    Section.GLOBAL: b"\0\0",
    Section.PRODUCER: b"\7",
}


def header(version: Version = LATEST, tag: int = 0) -> Output:
    output = Output(MAGIC)
    output += bytes([*version])
    output.fixed(tag, 2)
    return output


def whole(version: Version = LATEST, *, skip: Section | None = None) -> bytes:
    output = header(version)
    for section, body in BODIES.items():
        if section is not skip and SECTION_SINCE.get(section, version) <= version:
            output.section(section, body)
    output.append(Section.END)
    return bytes(output)


@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_sections_are_found(version: Version) -> None:
    sections = split_sections(whole(version), "f")
    assert sections.version == version
    for section, cursor in sections.payloads.items():
        assert cursor.take(cursor.remaining, "all") == BODIES[section]
        assert cursor.position - len(BODIES[section]) == _aligned(cursor.end, section)
    assert sections.get(Section.TYPE) is None
    assert sections.table(Section.TYPE).varint("the number of types") == 0


def _aligned(end: int, section: Section) -> int:
    start = end - len(BODIES[section])
    assert start % ALIGNMENT.get(section, 1) == 0
    return start


def test_magic() -> None:
    assert is_bytecode(whole())
    assert not is_bytecode(b"module {}")
    assert not is_bytecode(MAGIC[:7])


def test_versions_have_names() -> None:
    assert [version_named(str(version)) for version in VERSIONS] == list(VERSIONS)
    with pytest.raises(ValueError, match=r"no bytecode version '14'; there are 13.1, 13.2,"):
        version_named("14")


def with_section(number: int, *rest: int) -> bytes:
    return bytes(header()) + bytes([number, *rest])


@pytest.mark.parametrize(
    ("data", "offset", "message"),
    [
        (b"", 0, "the data ends inside the magic number"),
        (b"\x7fELF" + bytes(20), 1, "invalid magic number at position 1, got 69 expected 84"),
        (MAGIC[:-1] + bytes([1, 13, 1, 0, 0]), 7, "invalid magic number at position 7, got 1"),
        (MAGIC + b"\x0d\x01", 10, "the data ends inside the version"),
        (bytes(header(Version(13, 0))), 8, "unsupported Tile version 13.0.0, this reader supports"),
        (bytes(header(Version(13, 6))), 8, "unsupported Tile version 13.6.0, this reader supports"),
        (bytes(header(Version(14, 0))), 8, "supports versions [13.1 - 13.5]"),
        (bytes(header(tag=1)), 8, "unsupported Tile version 13.4.1, this reader"),
        (bytes(header()), 12, "the data ends inside a section's id: there is no end section"),
        (with_section(0x55), 12, "there is no section with the id 85"),
        (with_section(0x80), 12, "the end section has an alignment"),
        (with_section(0x86, 3, 1), 15, "section Global of 3 bytes does not fit in the 0 bytes"),
        (with_section(0x86, 0, 0), 14, "the alignment 0 is no power of two"),
        (with_section(0x86, 0, 6), 14, "the alignment 6 is no power of two"),
        (with_section(0x81, 0, 2), 14, "section String is aligned to 2 bytes instead of 4"),
        (with_section(0x02, 0), 14, "section Func is aligned to 1 bytes instead of 8"),
        (with_section(6, 0, 6, 0), 16, "a second section Global"),
        (with_section(6, 0, 0), 15, "there is no section String, which every file has"),
        (whole(skip=Section.FUNC), None, "there is no section Func, which every file has"),
        (whole() + b"x", None, "1 bytes are left over after the end section"),
    ],
)
def test_what_is_wrong_is_said_with_its_byte(data: bytes, offset: int | None, message: str) -> None:
    with pytest.raises(BytecodeError) as caught:
        split_sections(data, "f")
    assert message in str(caught.value)
    assert offset in (None, caught.value.offset)


def test_sections_that_came_later_are_refused_before() -> None:
    data = bytearray(whole(LATEST))
    data[9] = 2
    with pytest.raises(BytecodeError, match=r"section Producer exists from version 13.3 on"):
        split_sections(bytes(data), "f")
