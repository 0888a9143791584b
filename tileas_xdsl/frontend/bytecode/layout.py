"""How a bytecode file is laid out: magic, versions, sections, tags.

Facts from `BytecodeEnums.h`, `BytecodeReader.cpp` and `BytecodeWriter.cpp` of NVIDIA/cuda-tile and
from the `_bytecode` package of cuda-tile, which also has what 13.4 added.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

MAGIC = b"\x7fTileIR\x00"
HEADER_BYTES = len(MAGIC) + 4
"""Magic, major and minor version of a byte each, and a tag of two bytes."""

PADDING = 0xCB
ALIGNED = 0x80
"""The bit of a section id byte that marks an alignment after the length."""


class Version(NamedTuple):
    """A version of the format; versions compare as their numbers do."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


V13_1 = Version(13, 1)
V13_2 = Version(13, 2)
V13_3 = Version(13, 3)
V13_4 = Version(13, 4)
V13_5 = Version(13, 5)

VERSIONS = (V13_1, V13_2, V13_3, V13_4)
"""The versions that are written."""

LATEST = VERSIONS[-1]

READABLE = (*VERSIONS, V13_5)
"""13.5 is one of development, as far as the public writer of cuda-tile 1.7 has it."""


def version_named(text: str) -> Version:
    """The version called `13.4`; raises `ValueError` if there is none."""
    found = next((version for version in VERSIONS if str(version) == text), None)
    if found is None:
        known = ", ".join(map(str, VERSIONS))
        raise ValueError(f"there is no bytecode version '{text}'; there are {known}")
    return found


class Section(IntEnum):
    """What a section holds; the members are named as the messages call them."""

    END = 0
    STRING = 1
    FUNC = 2
    DEBUG = 3
    CONSTANT = 4
    TYPE = 5
    GLOBAL = 6
    PRODUCER = 7

    @property
    def title(self) -> str:
        """The name as the format's description has it."""
        return self.name.capitalize()


MANDATORY = (Section.STRING, Section.FUNC)

ALIGNMENT = {
    Section.STRING: 4,
    Section.TYPE: 4,
    Section.FUNC: 8,
    Section.DEBUG: 8,
    Section.CONSTANT: 8,
}
"""Sections that must be aligned, and to a multiple of how many bytes."""

SECTION_SINCE = {Section.PRODUCER: V13_3}


class FunctionFlag(IntEnum):
    """The flags of a function."""

    PRIVATE = 1
    ENTRY = 2
    HINTS = 4


class DebugTag(IntEnum):
    """The kinds of debug attributes."""

    UNKNOWN = 0
    COMPILE_UNIT = 1
    FILE = 2
    LEXICAL_BLOCK = 3
    LOC = 4
    SUBPROGRAM = 5
    CALL_SITE = 6


FIRST_DEBUG_ID = 1
"""Debug attributes count from here: 0 is the unknown location."""


class AttributeTag(IntEnum):
    """The kinds of self-describing attributes."""

    INTEGER = 1
    FLOAT = 2
    BOOL = 3
    TYPE = 4
    STRING = 5
    ARRAY = 6
    DENSE_ELEMENTS = 7
    DIV_BY = 8
    SAME_ELEMENTS = 9
    DICTIONARY = 10
    OPTIMIZATION_HINTS = 11
    BOUNDED = 12


DYNAMIC = -(1 << 63)
"""An extent or a stride that is known at run time only."""


class TypeTag(IntEnum):
    """The kinds of types."""

    I1 = 0
    I8 = 1
    I16 = 2
    I32 = 3
    I64 = 4
    F16 = 5
    BF16 = 6
    F32 = 7
    TF32 = 8
    F64 = 9
    F8E4M3FN = 10
    F8E5M2 = 11
    POINTER = 12
    TILE = 13
    TENSOR_VIEW = 14
    PARTITION_VIEW = 15
    FUNC = 16
    TOKEN = 17
    F8E8M0FNU = 18
    F4E2M1FN = 19
    GATHER_SCATTER_VIEW = 20
    STRIDED_VIEW = 21
    I4 = 22
    F8E5M3FNU = 130


TYPE_SINCE = {
    TypeTag.F8E8M0FNU: V13_2,
    TypeTag.F4E2M1FN: V13_3,
    TypeTag.I4: V13_3,
    TypeTag.GATHER_SCATTER_VIEW: V13_3,
    TypeTag.STRIDED_VIEW: V13_3,
    TypeTag.F8E5M3FNU: V13_4,
}


def is_bytecode(content: bytes) -> bool:
    """Does this begin as a bytecode file does?  What follows may still be wrong."""
    return content.startswith(MAGIC)
