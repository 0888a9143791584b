"""Shapes and types of the matrix instructions.

Source: PTX ISA 9.7.14 (mma), 9.7.15 (wgmma), 9.7.16 (tcgen05), checked against ptxas 13.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from types import MappingProxyType

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.target.features import Feature
from tileas_xdsl.target.isa.requirements import BLACKWELL, Requirement, since

WGMMA_K: Mapping[str, int] = MappingProxyType(
    {"f16": 16, "bf16": 16, "tf32": 8, "e4m3": 32, "e5m2": 32, "s8": 32, "u8": 32}
)
"""Columns of A in one `wgmma`: 32 bytes."""

_BYTES = ("e4m3", "e5m2")
_SMALL = ("s8", "u8")

WGMMA_TYPES: Mapping[tuple[str, str], tuple[str, ...]] = MappingProxyType(
    {
        ("f16", "f16"): ("f16", "f32"),
        ("bf16", "bf16"): ("f32",),
        ("tf32", "tf32"): ("f32",),
        **{(a, b): ("f16", "f32") for a in _BYTES for b in _BYTES},
        **{(a, b): ("s32",) for a in _SMALL for b in _SMALL},
    }
)
"""By types of A and B: those of D."""


WGMMA_COLUMNS = tuple(range(8, 257, 8))
WGMMA_INTEGER_COLUMNS = (8, 16, 24, *range(32, 257, 16))
"""N of products of integers."""


_AMPERE = since((7, 0), 80)


@dataclass(frozen=True, slots=True)
class Fragments:
    """Registers of each thread for A, B and C (and D) of an `mma.sync`."""

    a: int
    b: int
    c: int
    c_kind: str = "f32"
    kind: str = "b32"
    """The kind of A and B."""
    requires: Requirement = _AMPERE
    mma_kind: str = ""
    """What `.kind::` says, where the instruction needs it."""

    @property
    def kind_suffix(self) -> str:
        """What the mnemonic has for its kind."""
        return f".kind::{self.mma_kind}" if self.mma_kind else ""


_MMA_F32 = {
    ("m16n8k8", "f32"): (("f16", "bf16"), Fragments(2, 1, 4)),
    ("m16n8k16", "f32"): (("f16", "bf16"), Fragments(4, 2, 4)),
    ("m16n8k8", "f16"): (("f16",), Fragments(2, 1, 2, "b32")),
    ("m16n8k16", "f16"): (("f16",), Fragments(4, 2, 2, "b32")),
}
_MMA_TF32 = {
    ("m16n8k4", "f32", "tf32", "tf32"): Fragments(2, 1, 4),
    ("m16n8k8", "f32", "tf32", "tf32"): Fragments(4, 2, 4),
}

_F64 = since((7, 8), 90)
_FP8 = since((8, 4), 89)
_FP8_SMALL = since((8, 7), 89)
_MMA_FP8 = {
    ("m16n8k32", "f32"): Fragments(4, 2, 4, requires=_FP8),
    ("m16n8k32", "f16"): Fragments(4, 2, 2, "b32", requires=_FP8_SMALL),
    ("m16n8k16", "f32"): Fragments(2, 1, 4, requires=_FP8_SMALL),
    ("m16n8k16", "f16"): Fragments(2, 1, 2, "b32", requires=_FP8_SMALL),
}

NARROW = ("e4m3", "e5m2", "e3m2", "e2m3", "e2m1")
"""Floats of 8, 6 and 4 bits, each in a byte of the registers of A and B."""

MMA_NARROW_SHAPE = "m16n8k32"
WARP_NARROW = since((8, 7), 120, Feature.WARP_BLOCK_SCALE)

MMA_NARROW: Mapping[str, Fragments] = MappingProxyType(
    {
        d: replace(_MMA_FP8[MMA_NARROW_SHAPE, d], requires=WARP_NARROW, mma_kind="f8f6f4")
        for d in ("f32", "f16")
    }
)
"""By type of D: `mma.sync ... .kind::f8f6f4`, of any two of `NARROW` (PTX ISA 9.7.14.5.14)."""

MMA: Mapping[tuple[str, str, str, str], Fragments] = MappingProxyType(
    {
        **{
            (shape, d, ab, ab): fragments
            for (shape, d), (types, fragments) in _MMA_F32.items()
            for ab in types
        },
        **_MMA_TF32,
        **{
            (shape, d, a, b): fragments
            for (shape, d), fragments in _MMA_FP8.items()
            for a in _BYTES
            for b in _BYTES
        },
        **{("m16n8k16", "s32", a, b): Fragments(2, 1, 4, "b32") for a in _SMALL for b in _SMALL},
        **{("m16n8k32", "s32", a, b): Fragments(4, 2, 4, "b32") for a in _SMALL for b in _SMALL},
        ("m8n8k4", "f64", "f64", "f64"): Fragments(1, 1, 2, "f64", "f64"),
        ("m16n8k4", "f64", "f64", "f64"): Fragments(2, 1, 4, "f64", "f64", _F64),
        ("m16n8k8", "f64", "f64", "f64"): Fragments(4, 2, 4, "f64", "f64", _F64),
        ("m16n8k16", "f64", "f64", "f64"): Fragments(8, 4, 4, "f64", "f64", _F64),
        **{
            (MMA_NARROW_SHAPE, d, a, b): fragments
            for d, fragments in MMA_NARROW.items()
            for a in NARROW
            for b in NARROW
            if not {a, b} <= set(_BYTES)
        },
    }
)
"""By shape and types of D, A and B; two of 8 bits need no `.kind`."""


@dataclass(frozen=True, slots=True)
class ScaledMma:
    """A kind of `mma.sync ... block_scale`: registers of A, B and C are those of 8-bit products."""

    shape: str
    elements: tuple[str, ...]
    """Of A and B, in any combination."""
    vectors: Mapping[str, str]
    """By `.scale_vec`, the type of the scales; "" where it may be left out."""
    block: Mapping[str, int]
    """By `.scale_vec`, how many elements of K share a scale."""
    later: Mapping[str, str] = field(default_factory=dict[str, str])
    """By `.scale_vec`, another type of scales, which came with PTX 9.1."""


SCALED_MMA: Mapping[str, ScaledMma] = MappingProxyType(
    {
        "mxf8f6f4": ScaledMma("m16n8k32", NARROW, {"": "ue8m0", "1X": "ue8m0"}, {"1X": 32}),
        "mxf4": ScaledMma("m16n8k64", ("e2m1",), {"": "ue8m0", "2X": "ue8m0"}, {"2X": 32}),
        "mxf4nvf4": ScaledMma(
            "m16n8k64",
            ("e2m1",),
            {"2X": "ue8m0", "4X": "ue4m3"},
            {"2X": 32, "4X": 16},
            {"4X": "ue8m0"},
        ),
    }
)
"""By kind: products of a warp with block scales (PTX ISA 9.7.14.5.14)."""

_WMMA_SHAPES = ("m16n16k16", "m8n32k16", "m32n8k16")


@dataclass(frozen=True, slots=True)
class WmmaOperands:
    """A and B of a `wmma`: registers of each thread by shape, types of D and C, when it came."""

    registers: Mapping[str, tuple[int, int]]
    results: tuple[str, ...]
    requires: Requirement
    kind: str = "b32"


def _by_shape(*registers: tuple[int, int]) -> Mapping[str, tuple[int, int]]:
    return MappingProxyType(dict(zip(_WMMA_SHAPES, registers, strict=True)))


_WMMA_SMALL = WmmaOperands(_by_shape((2, 2), (1, 4), (4, 1)), ("s32",), since((6, 3), 72))

WMMA: Mapping[str, WmmaOperands] = MappingProxyType(
    {
        "f16": WmmaOperands(_by_shape((8, 8), (8, 8), (8, 8)), ("f16", "f32"), since((6, 1), 70)),
        "bf16": WmmaOperands(_by_shape((4, 4), (2, 8), (8, 2)), ("f32",), _AMPERE),
        "tf32": WmmaOperands(MappingProxyType({"m16n16k8": (4, 4)}), ("f32",), _AMPERE),
        "s8": _WMMA_SMALL,
        "u8": _WMMA_SMALL,
        "f64": WmmaOperands(MappingProxyType({"m8n8k4": (1, 1)}), ("f64",), _AMPERE, "f64"),
    }
)
"""By type of A and B.  Those of f16 have room for the largest shape, whatever the shape."""

WMMA_RESULTS: Mapping[str, tuple[int, str]] = MappingProxyType(
    {"f16": (4, "b32"), "f32": (8, "f32"), "s32": (8, "b32"), "f64": (2, "f64")}
)
"""By type of C and D: the registers of each thread, and their kind."""

TMEM_REGISTERS: Mapping[str, int] = MappingProxyType(
    {"32x32b": 1, "16x64b": 1, "16x128b": 2, "16x256b": 4, "16x32bx2": 1}
)
"""By shape of an access to tensor memory: registers per repetition."""

TMEM_REPEATS = (1, 2, 4, 8, 16, 32, 64, 128)
TMEM_MAX_REGISTERS = 128

TMEM_COPIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "128x256b": ("",),
        "4x256b": ("",),
        "128x128b": ("",),
        "64x128b": ("warpx2::02_13", "warpx2::01_23"),
        "32x128b": ("warpx4",),
    }
)
"""By shape of `tcgen05.cp`: how warps share it."""

TMEM_FORMATS = ("", "b6x16_p32", "b4x16_p64")
"""What `tcgen05.cp` unpacks to bytes."""


@dataclass(frozen=True, slots=True)
class TensorKind:
    """A kind of `tcgen05.mma`."""

    scale_vectors: tuple[str, ...] = ()
    """Block scales: how many elements share one; empty if there are none."""
    scales_d: bool = False
    """Whether D may be divided by a power of two first."""
    needs: Requirement = BLACKWELL


BYTES = BLACKWELL.joined(since((8, 6), 100, Feature.TCGEN05_I8))
NVFP4 = BLACKWELL.joined(since((8, 7)))

TENSOR_KINDS: Mapping[str, TensorKind] = MappingProxyType(
    {
        "f16": TensorKind(scales_d=True),
        "tf32": TensorKind(scales_d=True),
        "f8f6f4": TensorKind(),
        "i8": TensorKind(needs=BYTES),
        "mxf8f6f4": TensorKind(("", "1X", "block32")),
        "mxf4": TensorKind(("", "2X", "block32")),
        "mxf4nvf4": TensorKind(("2X", "4X", "block16", "block32"), needs=NVFP4),
    }
)

COLLECTORS = ("", "fill", "use", "lastuse", "discard")
TMEM_COLUMNS = (32, 64, 128, 256, 512)
"""Columns that can be allocated."""
