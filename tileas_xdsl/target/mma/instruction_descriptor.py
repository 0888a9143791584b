"""The 32-bit instruction descriptor of tcgen05.mma, plain and block-scaled.

Sources: PTX ISA 9.7.16, instruction descriptor; CUTLASS include/cute/arch/mma_sm100_desc.hpp.  They
differ in one place: PTX gives M of the block-scaled forms as bits 27-28 (M >> 7), CUTLASS as bits
24-28 (M >> 4).  Their M are multiples of 128, so both write the same word.
"""

from __future__ import annotations

from typing import Any

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.target.bits import BitField, code_of, named, pack, unpack
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.mma.canonical import MAJORS, Major
from tileas_xdsl.target.mma.mma_kinds import MmaKind, check_shape, get_kind, group_text

_OPERAND_FIELDS = (
    BitField("sparse", 2, 1),
    BitField("a", 7, 3),
    BitField("b", 10, 3),
    BitField("negate_a", 13, 1),
    BitField("negate_b", 14, 1),
    BitField("a_major", 15, 1),
    BitField("b_major", 16, 1),
    BitField("n", 17, 6, dropped=3),
)

PLAIN_FIELDS = (
    *_OPERAND_FIELDS,
    BitField("sparsity_selector", 0, 2),
    BitField("saturate", 3, 1),
    BitField("d", 4, 2),
    BitField("m", 24, 5, dropped=4),
    BitField("max_shift", 30, 2),
)
"""kind::f16, tf32, f8f6f4 and i8."""

SCALED_FIELDS = (
    *_OPERAND_FIELDS,
    BitField("b_scale_id", 4, 2),
    BitField("scale", 23, 1),
    BitField("m", 27, 2, dropped=7),
    BitField("a_scale_id", 29, 2),
    BitField("k96", 31, 1),
)
"""kind::mxf8f6f4, mxf4 and mxf4nvf4."""

WITHOUT_SELECTOR = ("f8f6f4", "i8")
"""Kinds whose sparsity selector is 0: all of their columns of metadata are read."""

BYTES_K = 32
"""K of the kinds whose operands fill bytes."""

MAX_SHIFTS = {0: 0, 8: 1, 16: 2, 32: 3}
"""Codes of the largest shift of B in the weight-stationary form."""


@dataclass(frozen=True, slots=True)
class _Operands:
    """The fields common to both forms: the kind, the formats of A and B, and the shape."""

    kind: str
    a: str
    b: str
    m: int
    n: int
    a_major: Major = "k"
    b_major: Major = "k"
    negate_a: bool = False
    negate_b: bool = False
    sparse: bool = False

    def operand_codes(self, kind: MmaKind) -> dict[str, int]:
        """The values of the fields that both forms share; refuses what `kind` does not have."""
        self._check_operands(kind)
        return {
            "sparse": self.sparse,
            "a": kind.operands[self.a],
            "b": kind.operands[self.b],
            "negate_a": self.negate_a,
            "negate_b": self.negate_b,
            "a_major": MAJORS[self.a_major],
            "b_major": MAJORS[self.b_major],
            "n": self.n,
            "m": self.m,
        }

    def check_transposed(self, kind: MmaKind, group: str) -> None:
        """Refuse an N that a transposed B of bytes does not have.

        Source: PTX ISA 9.7.16.10.1, table 50.
        """
        step = 32 if group == "2" else 16
        if self.b_major == "mn" and kind.k == BYTES_K and self.n % step:
            raise TargetError(
                f"kind::{kind.name} with {group_text(group)} has N in steps of {step} where B is "
                f"N-major, not {self.n}"
            )

    def _check_operands(self, kind: MmaKind) -> None:
        what = f"kind::{kind.name}"
        for side, element, major in (("A", self.a, self.a_major), ("B", self.b, self.b_major)):
            code_of(kind.operands, element, f"{what}: element of {side}")
            code_of(MAJORS, major, f"{what}: major of {side}")
            if major == "mn" and element not in kind.mn_major:
                raise TargetError(f"{what}: {side} of {element} is K-major only")
        if kind.same_operands and self.a != self.b:
            raise TargetError(f"{what}: A is {self.a} and B {self.b}, they must be of one type")
        if (self.negate_a or self.negate_b) and not kind.negate:
            raise TargetError(f"{what}: operands cannot be negated")


@dataclass(frozen=True, slots=True)
class InstructionDescriptor(_Operands):
    """kind::f16, tf32, f8f6f4 or i8: `d += a * b` of (M, N) with accumulators of type `d`.

    `group` ("1", "2" CTAs, or "ws" for the weight-stationary form) is not part of the word; it
    decides which M and N are legal.
    """

    d: str = "f32"
    saturate: bool = False
    sparsity_selector: int = 0
    max_shift: int = 0
    group: str = "1"

    def encode(self) -> int:
        """Return the 32-bit descriptor; raise `TargetError` for what the kind does not support."""
        kind = _kind(self.kind, scaled=False)
        codes = self.operand_codes(kind)
        codes["d"] = code_of(kind.accumulators, self.d, f"kind::{kind.name}: accumulator")
        self._check(kind)
        codes["saturate"] = self.saturate
        codes["sparsity_selector"] = self.sparsity_selector
        codes["max_shift"] = MAX_SHIFTS[self.max_shift]
        return pack(PLAIN_FIELDS, codes, f"kind::{kind.name}")

    def _check(self, kind: MmaKind) -> None:
        check_shape(kind, self.m, self.n, self.group)
        self.check_transposed(kind, self.group)
        what = f"kind::{kind.name}"
        if self.d == "f16" and kind.name == "f16" and self.a != "f16":
            raise TargetError(f"{what}: {self.a} operands accumulate in f32, not in f16")
        if self.saturate and not kind.saturate:
            raise TargetError(f"{what}: only kind::i8 saturates")
        if self.sparsity_selector and not self.sparse:
            raise TargetError(f"{what}: a sparsity selector needs a sparse instruction")
        if self.sparsity_selector and kind.name in WITHOUT_SELECTOR:
            raise TargetError(f"{what}: the sparsity selector is 0, not {self.sparsity_selector}")
        if self.max_shift not in MAX_SHIFTS:
            raise TargetError(f"{what}: a largest shift of {self.max_shift} is not 0, 8, 16 or 32")
        if self.max_shift and self.group != "ws":
            raise TargetError(f"{what}: {group_text(self.group)} has no shift of B")
        if self.sparse and self.group == "ws" and self.n == 256:
            raise TargetError(f"{what}: the sparse .ws form has N 64 or 128, not 256")


@dataclass(frozen=True, slots=True)
class BlockScaledDescriptor(_Operands):
    """kind::mxf8f6f4, mxf4 or mxf4nvf4: f32 accumulators, scales of format `scale` in TMEM.

    `a_scale_id` and `b_scale_id` select the byte (kind::mxf8f6f4) or half (0 or 2) of the 32-bit
    scale cell; `k96` selects 96 instead of 64 elements of K, which sm_100a does not have.
    """

    scale: str = "ue8m0"
    a_scale_id: int = 0
    b_scale_id: int = 0
    k96: bool = False
    group: str = "1"

    def encode(self) -> int:
        """Return the 32-bit descriptor; raise `TargetError` for what the kind does not support."""
        kind = _kind(self.kind, scaled=True)
        codes = self.operand_codes(kind)
        codes["scale"] = code_of(kind.scales, self.scale, f"kind::{kind.name}: scale format")
        self._check(kind)
        codes["a_scale_id"] = self.a_scale_id
        codes["b_scale_id"] = self.b_scale_id
        codes["k96"] = self.k96
        return pack(SCALED_FIELDS, codes, f"kind::{kind.name}")

    def _check(self, kind: MmaKind) -> None:
        check_shape(kind, self.m, self.n, self.group)
        self.check_transposed(kind, self.group)
        what = f"kind::{kind.name}"
        for side, scale_id in (("A", self.a_scale_id), ("B", self.b_scale_id)):
            if scale_id not in kind.scale_ids:
                allowed = ", ".join(map(str, kind.scale_ids))
                raise TargetError(f"{what}: the scale id of {side} is {scale_id}, not {allowed}")
        if self.k96:
            raise TargetError(f"{what}: K = 96 needs sm_103a")
        if self.sparse and self.group == "2" and self.m != 256:
            raise TargetError(f"{what}: the sparse form with cta_group::2 has M 256, not {self.m}")


def decode(
    word: int, kind_name: str, group: str = "1"
) -> InstructionDescriptor | BlockScaledDescriptor:
    """Decode a 32-bit descriptor for an instruction of this kind and group of CTAs.

    Raises `TargetError` for reserved bits and codes, and for what `encode` rejects.
    """
    kind = get_kind(kind_name)
    result = _decode_scaled(word, kind, group) if kind.scales else _decode_plain(word, kind, group)
    result.encode()
    return result


def _decode_plain(word: int, kind: MmaKind, group: str) -> InstructionDescriptor:
    what = f"kind::{kind.name}"
    values = unpack(PLAIN_FIELDS, word, 32, what)
    return InstructionDescriptor(
        **_operands(values, kind),
        d=named(kind.accumulators, values["d"], f"{what}: accumulator code"),
        saturate=bool(values["saturate"]),
        sparsity_selector=values["sparsity_selector"],
        max_shift={code: shift for shift, code in MAX_SHIFTS.items()}[values["max_shift"]],
        group=group,
    )


def _decode_scaled(word: int, kind: MmaKind, group: str) -> BlockScaledDescriptor:
    what = f"kind::{kind.name}"
    values = unpack(SCALED_FIELDS, word, 32, what)
    return BlockScaledDescriptor(
        **_operands(values, kind),
        scale=named(kind.scales, values["scale"], f"{what}: scale format code"),
        a_scale_id=values["a_scale_id"],
        b_scale_id=values["b_scale_id"],
        k96=bool(values["k96"]),
        group=group,
    )


def _operands(values: dict[str, int], kind: MmaKind) -> dict[str, Any]:
    what = f"kind::{kind.name}"
    return {
        "kind": kind.name,
        "a": named(kind.operands, values["a"], f"{what}: format code of A"),
        "b": named(kind.operands, values["b"], f"{what}: format code of B"),
        "m": values["m"],
        "n": values["n"],
        "a_major": "mn" if values["a_major"] else "k",
        "b_major": "mn" if values["b_major"] else "k",
        "negate_a": bool(values["negate_a"]),
        "negate_b": bool(values["negate_b"]),
        "sparse": bool(values["sparse"]),
    }


def _kind(name: str, *, scaled: bool) -> MmaKind:
    kind = get_kind(name)
    if bool(kind.scales) != scaled:
        form = "block-scaled" if kind.scales else "plain"
        raise TargetError(f"kind::{name} has the {form} instruction descriptor")
    return kind
