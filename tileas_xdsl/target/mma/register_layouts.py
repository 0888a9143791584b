"""Which element of a matrix each register of each thread holds, instruction by instruction.

A register layout is CuTe's TV layout, `(thread, value)` to the column-major index in a tile.
Values count elements, lowest bits of the lowest register first.  Operand B is an (N, K) tile.  The
operands of ldmatrix and stmatrix are (column, row, matrix) tiles: indices follow rows of memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.output.text import parse_cute_layout
from tileas_xdsl.layout.registers.register_layout import RegisterLayout, register_layout_from_tv
from tileas_xdsl.target.errors import TargetError


@dataclass(frozen=True)
class InstructionOperand:
    """A TV layout `tv` (CuTe text) of a `tile`, and where the fact is written."""

    name: str
    tv: str
    tile: tuple[int, ...]
    source: str

    @cached_property
    def layout(self) -> Layout:
        """The TV layout: `(thread, value)` to the column-major index in the tile."""
        parsed = parse_cute_layout(self.tv)
        assert isinstance(parsed, Layout)
        return parsed

    @cached_property
    def fragment(self) -> RegisterLayout:
        """The other direction: a coordinate of the tile (and a replica) to thread and value."""
        return register_layout_from_tv(self.layout, self.tile)

    @property
    def threads(self) -> int:
        """The threads that execute the instruction."""
        return self.layout[0].size()

    @property
    def values(self) -> int:
        """How many elements each thread holds."""
        return self.layout[1].size()


Row = tuple[str, str, tuple[int, ...]]

_GMMA = "PTX ISA 9.7.15 wgmma register fragments; CUTLASS atom/mma_traits_sm90_gmma.hpp"
_MMA = "PTX ISA 9.7.14 matrix fragments of mma; CUTLASS atom/mma_traits_sm80.hpp"
_LDSM = "PTX ISA ldmatrix; CUTLASS atom/copy_traits_sm75.hpp"
_STSM = "PTX ISA stmatrix; CUTLASS atom/copy_traits_sm90.hpp"
_LDSM_B8 = "PTX ISA ldmatrix .m16n16 .b8; CUTLASS arch/copy_sm100.hpp (SM100_U8x8_LDSM_T)"
_STSM_B8 = "PTX ISA stmatrix .m16n8 .b8; CUTLASS atom/copy_traits_sm100.hpp"

WGMMA_N = range(8, 257, 8)
"""The N of wgmma.  8-bit integer forms have only 8, 16, 24, 32 and multiples of 16."""

_WGMMA_A: tuple[Row, ...] = (
    ("wgmma.m64k16.16bit.a", "((4,8,4),(2,2,2)):((128,1,16),(64,8,512))", (64, 16)),
    ("wgmma.m64k32.8bit.a", "((4,8,4),(4,2,2)):((256,1,16),(64,8,1024))", (64, 32)),
    ("wgmma.m64k8.tf32.a", "((4,8,4),(2,2)):((64,1,16),(8,256))", (64, 8)),
)

_C_16X8 = "((4,8),(2,2)):((32,1),(16,8))"
_8X4 = "((4,8),1):((8,1),0)"

_MMA_SYNC: tuple[Row, ...] = (
    ("mma.m16n8k8.16bit.a", "((4,8),(2,2)):((32,1),(16,8))", (16, 8)),
    ("mma.m16n8k8.16bit.b", "((4,8),2):((16,1),8)", (8, 8)),
    ("mma.m16n8k8.16bit.c", _C_16X8, (16, 8)),
    ("mma.m16n8k16.16bit.a", "((4,8),(2,2,2)):((32,1),(16,8,128))", (16, 16)),
    ("mma.m16n8k16.16bit.b", "((4,8),(2,2)):((16,1),(8,64))", (8, 16)),
    ("mma.m16n8k16.16bit.c", _C_16X8, (16, 8)),
    ("mma.m16n8k4.tf32.a", "((4,8),2):((16,1),8)", (16, 4)),
    ("mma.m16n8k4.tf32.b", _8X4, (8, 4)),
    ("mma.m16n8k4.tf32.c", _C_16X8, (16, 8)),
    ("mma.m16n8k8.tf32.a", "((4,8),(2,2)):((16,1),(8,64))", (16, 8)),
    ("mma.m16n8k8.tf32.b", "((4,8),2):((8,1),32)", (8, 8)),
    ("mma.m16n8k8.tf32.c", _C_16X8, (16, 8)),
    ("mma.m16n8k16.8bit.a", "((4,8),(4,2)):((64,1),(16,8))", (16, 16)),
    ("mma.m16n8k16.8bit.b", "((4,8),4):((32,1),8)", (8, 16)),
    ("mma.m16n8k16.8bit.c", _C_16X8, (16, 8)),
    ("mma.m16n8k32.8bit.a", "((4,8),(4,2,2)):((64,1),(16,8,256))", (16, 32)),
    ("mma.m16n8k32.8bit.b", "((4,8),(4,2)):((32,1),(8,128))", (8, 32)),
    ("mma.m16n8k32.8bit.c", _C_16X8, (16, 8)),
    ("mma.m16n8k64.4bit.a", "((4,8),(8,2,2)):((128,1),(16,8,512))", (16, 64)),
    ("mma.m16n8k64.4bit.b", "((4,8),(8,2)):((64,1),(8,256))", (8, 64)),
    ("mma.m16n8k64.4bit.c", _C_16X8, (16, 8)),
    ("mma.m8n8k4.f64.a", _8X4, (8, 4)),
    ("mma.m8n8k4.f64.b", _8X4, (8, 4)),
    ("mma.m8n8k4.f64.c", "((4,8),2):((16,1),8)", (8, 8)),
    ("mma.m16n8k4.f64.a", "((4,8),2):((16,1),8)", (16, 4)),
    ("mma.m16n8k4.f64.b", _8X4, (8, 4)),
    ("mma.m16n8k4.f64.c", _C_16X8, (16, 8)),
    ("mma.m16n8k8.f64.a", "((4,8),(2,2)):((16,1),(8,64))", (16, 8)),
    ("mma.m16n8k8.f64.b", "((4,8),2):((8,1),32)", (8, 8)),
    ("mma.m16n8k8.f64.c", _C_16X8, (16, 8)),
    ("mma.m16n8k16.f64.a", "((4,8),(2,4)):((16,1),(8,64))", (16, 16)),
    ("mma.m16n8k16.f64.b", "((4,8),4):((8,1),32)", (8, 16)),
    ("mma.m16n8k16.f64.c", _C_16X8, (16, 8)),
)

# Rows of 16 bytes that lanes point at; lanes of stride 0 are not asked for an address
_ROWS_B16 = {
    1: "((8,4),8):((8,0),1)",
    2: "((16,2),8):((8,0),1)",
    4: "(32,8):(8,1)",
}
_REGISTERS_B16 = {
    1: "(32,2):(2,1)",
    2: "(32,(2,2)):(2,(1,64))",
    4: "(32,(2,4)):(2,(1,64))",
}
_TRANSPOSED_B16 = {
    1: "((4,8),2):((16,1),8)",
    2: "((4,8),(2,2)):((16,1),(8,64))",
    4: "((4,8),(2,4)):((16,1),(8,64))",
}
# .m16n16 loads need 16 rows a matrix, .m16n8 stores 8; both transpose
_ROWS_LOAD_B8 = {1: "((16,2),16):((16,0),1)", 2: "(32,16):(16,1)"}
_REGISTERS_LOAD_B8 = {
    1: "((4,8),(4,2)):((64,1),(16,8))",
    2: "((4,8),(4,2,2)):((64,1),(16,8,256))",
}
_ROWS_STORE_B8 = {1: "((8,4),16):((16,0),1)", 2: "((16,2),16):((16,0),1)", 4: "(32,16):(16,1)"}
_REGISTERS_STORE_B8 = {
    1: "((4,8),(2,2)):((32,1),(16,8))",
    2: "((4,8),(2,2,2)):((32,1),(16,8,128))",
    4: "((4,8),(2,2,4)):((32,1),(16,8,128))",
}


def wgmma_accumulator(n: int) -> InstructionOperand:
    """The accumulator of wgmma.m64nNkK: a (64, n) tile over the 128 threads of a warpgroup."""
    if n not in WGMMA_N:
        raise TargetError(f"wgmma has N 8 to 256 in steps of 8, not {n}")
    tv = f"((4,8,4),(2,2,{n // 8})):((128,1,16),(64,8,512))"
    return InstructionOperand(f"wgmma.m64n{n}.d", tv, (64, n), _GMMA)


def _matrices() -> list[InstructionOperand]:
    """Both sides of ldmatrix and stmatrix; `src` is memory for a load, registers for a store."""
    found: list[InstructionOperand] = []

    def add(name: str, src: str, dst: str, tile: tuple[int, ...], source: str) -> None:
        found.append(InstructionOperand(f"{name}.src", src, tile, source))
        found.append(InstructionOperand(f"{name}.dst", dst, tile, source))

    for count, rows in _ROWS_B16.items():
        tile = (8, 8, count)
        for form, registers in (("", _REGISTERS_B16), (".trans", _TRANSPOSED_B16)):
            add(f"ldmatrix.m8n8.x{count}{form}.b16", rows, registers[count], tile, _LDSM)
            add(f"stmatrix.m8n8.x{count}{form}.b16", registers[count], rows, tile, _STSM)
    for count, rows in _ROWS_LOAD_B8.items():
        tile = (16, 16, count)
        add(f"ldmatrix.m16n16.x{count}.trans.b8", rows, _REGISTERS_LOAD_B8[count], tile, _LDSM_B8)
    for count, rows in _ROWS_STORE_B8.items():
        tile = (16, 8, count)
        add(f"stmatrix.m16n8.x{count}.trans.b8", _REGISTERS_STORE_B8[count], rows, tile, _STSM_B8)
    return found


REGISTER_LAYOUTS: Mapping[str, InstructionOperand] = {
    entry.name: entry
    for entry in (
        *(wgmma_accumulator(n) for n in WGMMA_N),
        *(InstructionOperand(*row, _GMMA) for row in _WGMMA_A),
        *(InstructionOperand(*row, _MMA) for row in _MMA_SYNC),
        *_matrices(),
    )
}
"""Every register layout by its name, `instruction.shape.type.operand`."""


def register_layout(name: str) -> InstructionOperand:
    """The register layout called `name`; `TargetError` lists those of the same instruction."""
    if name in REGISTER_LAYOUTS:
        return REGISTER_LAYOUTS[name]
    family = name.split(".")[0]
    near = [known for known in REGISTER_LAYOUTS if known.startswith(f"{family}.")]
    listed = ", ".join(near) or ", ".join(dict.fromkeys(k.split(".")[0] for k in REGISTER_LAYOUTS))
    raise TargetError(f"unknown register layout '{name}'; known: {listed}")
