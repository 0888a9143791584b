"""The header of a file, and the stretches of bytes that its sections are."""

from __future__ import annotations

from collections.abc import Mapping

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.frontend.bytecode.layout import (
    ALIGNED,
    ALIGNMENT,
    HEADER_BYTES,
    MAGIC,
    MANDATORY,
    READABLE,
    SECTION_SINCE,
    Section,
    Version,
)
from tileas_xdsl.frontend.bytecode.reading.cursor import Cursor
from tileas_xdsl.layout.integers import is_power_of_two


@dataclass(frozen=True)
class Sections:
    """A file taken apart: its version, and a cursor over the payload of each section."""

    version: Version
    payloads: Mapping[Section, Cursor]
    file: str
    size: int
    """Bytes of the file."""

    def get(self, section: Section) -> Cursor | None:
        """The payload, from its beginning; None if the file does not have this section."""
        payload = self.payloads.get(section)
        return None if payload is None else payload.part(payload.position, payload.end)

    def table(self, section: Section) -> Cursor:
        """As `get`; a table without entries if the file does not have this section."""
        if (payload := self.get(section)) is not None:
            return payload
        return Cursor(b"\0", 0, 1, f"section {section.title}, which is missing", self.file)


def split_sections(data: bytes, file: str) -> Sections:
    """Take a file apart; raises `BytecodeError` if its outer form is wrong."""
    cursor = Cursor(data, 0, len(data), "header", file)
    version = _read_version(cursor)
    payloads: dict[Section, Cursor] = {}
    cursor.section = "section table"
    while (payload := _next_section(cursor, version)) is not None:
        section, body = payload
        if section in payloads:
            raise cursor.error(f"a second section {section.title}", body.position)
        payloads[section] = body
    cursor.finished("the end section")
    for section in MANDATORY:
        if section not in payloads:
            raise cursor.error(f"there is no section {section.title}, which every file has")
    return Sections(version, payloads, file, len(data))


def _read_version(cursor: Cursor) -> Version:
    _check_magic(cursor)
    header = cursor.take(HEADER_BYTES - len(MAGIC), "the version")
    version = Version(header[0], header[1])
    tag = int.from_bytes(header[2:], "little")
    if version not in READABLE or tag:
        unsupported = message(
            "bytecode.unsupported_tile_version",
            version=version,
            tag=tag,
            first=READABLE[0],
            last=READABLE[-1],
        )
        raise cursor.error(unsupported, len(MAGIC))
    return version


def _check_magic(cursor: Cursor) -> None:
    """Pass the magic number byte by byte, as the public reader does."""
    for position, expected in enumerate(MAGIC):
        given = cursor.byte("the magic number 7F 'TileIR' 00")
        if given != expected:
            wrong = message(
                "bytecode.invalid_magic_number_position",
                position=position,
                given=given,
                expected=expected,
            )
            raise cursor.error(wrong, position)


def _next_section(cursor: Cursor, version: Version) -> tuple[Section, Cursor] | None:
    """The next section and its payload; None for the end section."""
    start = cursor.position
    number = cursor.byte("a section's id: there is no end section")
    try:
        section = Section(number & ~ALIGNED)
    except ValueError:
        raise cursor.error(f"there is no section with the id {number & ~ALIGNED}", start) from None
    since = SECTION_SINCE.get(section, version)
    if version < since:
        raise cursor.error(
            f"section {section.title} exists from version {since} on, this is {version}", start
        )
    if section is Section.END:
        if number & ALIGNED:
            raise cursor.error("the end section has an alignment", start)
        return None
    length = cursor.varint("the length of a section")
    _align(cursor, section, aligned=bool(number & ALIGNED))
    if length > cursor.remaining:
        left = f"the {cursor.remaining} bytes that are left"
        raise cursor.error(f"section {section.title} of {length} bytes does not fit in {left}")
    body = Cursor(
        cursor.data,
        cursor.position,
        cursor.position + length,
        f"section {section.title}",
        cursor.file,
    )
    cursor.position += length
    return section, body


def _align(cursor: Cursor, section: Section, *, aligned: bool) -> None:
    start = cursor.position
    alignment = cursor.varint("the alignment of a section") if aligned else 1
    if not is_power_of_two(alignment):
        raise cursor.error(f"the alignment {alignment} is no power of two", start)
    required = ALIGNMENT.get(section, 1)
    if alignment % required:
        raise cursor.error(
            f"section {section.title} is aligned to {alignment} bytes instead of {required}", start
        )
    cursor.pad(alignment, origin=0)
