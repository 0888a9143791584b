"""Element types by name: how many bits each takes in memory, and what kind of number it is.

The names are those of `elem=` clauses, of argument specifications and of MLIR's builtin types.
Sources: PTX ISA (fundamental and alternate types), OCP Microscaling Formats 1.0, MLIR.
"""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.errors import LayoutError


@dataclass(frozen=True, slots=True)
class ElementType:
    """An element type: its canonical name, its bits in a packed array, `float` or `int`."""

    name: str
    bits: int
    kind: str
    note: str = ""


_TYPES = (
    ElementType("i1", 1, "int"),
    ElementType("i4", 4, "int"),
    ElementType("i8", 8, "int"),
    ElementType("i16", 16, "int"),
    ElementType("i32", 32, "int"),
    ElementType("i64", 64, "int"),
    ElementType("f16", 16, "float", "IEEE binary16"),
    ElementType("bf16", 16, "float", "bfloat16"),
    ElementType("tf32", 32, "float", "19 bits of a 32-bit word"),
    ElementType("f32", 32, "float", "IEEE binary32"),
    ElementType("f64", 64, "float", "IEEE binary64"),
    ElementType("f8e4m3", 8, "float", "OCP E4M3, finite"),
    ElementType("f8e5m2", 8, "float", "OCP E5M2"),
    ElementType("f8e8m0", 8, "float", "OCP E8M0 scale"),
    ElementType("f6e2m3", 6, "float", "OCP E2M3"),
    ElementType("f6e3m2", 6, "float", "OCP E3M2"),
    ElementType("f4e2m1", 4, "float", "OCP E2M1"),
    ElementType("mxf8", 8, "float", "MX block: f8 elements, one E8M0 scale for 32"),
    ElementType("mxf6", 6, "float", "MX block: f6 elements, one E8M0 scale for 32"),
    ElementType("mxf4", 4, "float", "MX block: E2M1 elements, one E8M0 scale for 32"),
    ElementType("nvfp4", 4, "float", "E2M1 elements, one E4M3 scale for 16"),
)

ELEMENT_TYPES = {t.name: t for t in _TYPES}
"""Every element type by its canonical name."""

ALIASES = {
    "f8e4m3fn": "f8e4m3", "e4m3": "f8e4m3", "f8e5m2": "f8e5m2", "e5m2": "f8e5m2",
    "f8e8m0fnu": "f8e8m0", "ue8m0": "f8e8m0", "f6e2m3fn": "f6e2m3", "e2m3": "f6e2m3",
    "f6e3m2fn": "f6e3m2", "e3m2": "f6e3m2", "f4e2m1fn": "f4e2m1", "e2m1": "f4e2m1",
    "s8": "i8", "u8": "i8", "s16": "i16", "u16": "i16", "s32": "i32", "u32": "i32",
    "s64": "i64", "u64": "i64", "nvf4": "nvfp4",
}  # fmt: skip

LIBRARY_NAMES = {
    "bool": "i1", "bool_": "i1", "int4": "i4", "int8": "i8", "int16": "i16", "int32": "i32",
    "int64": "i64", "uint4": "i4", "uint8": "i8", "uint16": "i16", "uint32": "i32",
    "uint64": "i64", "half": "f16", "float16": "f16", "fp16": "f16", "bfloat16": "bf16",
    "float": "f32", "float32": "f32", "fp32": "f32", "tfloat32": "tf32", "double": "f64",
    "float64": "f64", "fp64": "f64", "float8_e4m3fn": "f8e4m3", "float8_e5m2": "f8e5m2",
    "float8_e8m0fnu": "f8e8m0", "float6_e2m3fn": "f6e2m3", "float6_e3m2fn": "f6e3m2",
    "float4_e2m1fn": "f4e2m1",
}  # fmt: skip
"""What numpy, ml_dtypes, PyTorch and cuTile call these types: not accepted, but suggested from."""


def element_type(name: str) -> ElementType:
    """Return the element type called `name` (case-insensitive); `LayoutError` lists close names."""
    key = name.lower()
    found = ELEMENT_TYPES.get(ALIASES.get(key, key))
    if found is None:
        raise LayoutError(unknown_element(name))
    return found


def unknown_element(name: str) -> str:
    """The sentence that rejects an element type's name."""
    return f"unknown element type '{name}'; {element_hint(name, ELEMENT_TYPES)}"


def element_hint(name: str, known: Collection[str]) -> str:
    """`did you mean ...?` with the `known` elements that `name` may stand for, or all of them.

    A name of another library (`float16`) leads to its element type, misspelled (`flaot16`) too.
    """
    key = name.lower()
    same = LIBRARY_NAMES.get(key)
    if same in known:
        return f"did you mean {same}?"
    near = get_close_matches(key, [*known, *ALIASES], n=3) or get_close_matches(
        key, LIBRARY_NAMES, n=3
    )
    canonical = (LIBRARY_NAMES.get(n) or ALIASES.get(n, n) for n in near)
    found = [n for n in dict.fromkeys(canonical) if n in known]
    return f"did you mean {' or '.join(found)}?" if found else f"known: {', '.join(known)}"
