"""Kinds of registers, and which of them an instruction of a given type takes.

Source: PTX ISA 5.2, fundamental types, and 9.2, operand type checking: registers of bits take
every type of their width, registers of floats take floats and bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tileas_xdsl.data_classes import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of register."""

    bits: int
    prefix: str
    """What the names of registers of this kind start with."""


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "pred": Kind(1, "p"),
        "b16": Kind(16, "h"),
        "b32": Kind(32, "r"),
        "b64": Kind(64, "rd"),
        "b128": Kind(128, "rq"),
        "f32": Kind(32, "f"),
        "f64": Kind(64, "fd"),
    }
)

PARAMETER_BYTES: Mapping[str, int] = MappingProxyType(
    {
        f"{letter}{bits}": bits // 8
        for letter, widths in (("b", (8, 16, 32, 64)), ("u", (8, 16, 32, 64)))
        for bits in widths
    }
    | {f"s{bits}": bits // 8 for bits in (8, 16, 32, 64)}
    | {"f32": 4, "f64": 8}
)
"""Bytes of the elements of a parameter."""

TYPE_KINDS: Mapping[str, str] = MappingProxyType(
    {
        "pred": "pred",
        **{f"{letter}{bits}": f"b{bits}" for letter in "bus" for bits in (16, 32, 64)},
        **dict.fromkeys(("f16", "bf16", "e4m3x2", "e5m2x2"), "b16"),
        **dict.fromkeys(("f16x2", "bf16x2", "u16x2", "s16x2", "tf32"), "b32"),
        **dict.fromkeys(("f32x2",), "b64"),
        "f32": "f32",
        "f64": "f64",
    }
)
"""The kind of register that holds a result of a type."""

MEMORY_KINDS: Mapping[str, str] = MappingProxyType(
    {**TYPE_KINDS, **{f"{letter}8": "b16" for letter in "bus"}}
)
"""The same for loads and stores, which also move single bytes (into registers of 16 bits)."""

BITS: Mapping[str, int] = MappingProxyType(
    {name: KINDS[kind].bits for name, kind in TYPE_KINDS.items()}
    | {f"{letter}8": 8 for letter in "bus"}
)
"""Width of a type."""


def has_literals(instruction_type: str) -> bool:
    """Whether an operand of this type may be a literal; those of halves and of pairs are registers.

    Source: ptxas 13, which refuses others ("arguments mismatch").
    """
    return instruction_type not in ("f16", "bf16") and not instruction_type.endswith("x2")


def accepts(instruction_type: str, kind: str) -> bool:
    """Whether an instruction of this type takes a register of this kind."""
    expected = MEMORY_KINDS.get(instruction_type)
    if expected == kind:
        return True
    if expected is None or "pred" in (expected, kind):
        return False
    same_width = KINDS[expected].bits == KINDS[kind].bits
    bits_instruction = instruction_type.startswith("b") and instruction_type[1:].isdigit()
    return same_width and (bits_instruction or (expected[0] == "f" and kind[0] == "b"))
