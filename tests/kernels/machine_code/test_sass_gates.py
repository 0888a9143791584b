"""What machine code of each class of kernel has at most, at sizes that no benchmark measures.

Operands of products are in `test_sass_operands.py`, rows in `test_sass_rows.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from support.assembling import needs_nvdisasm

pytest.importorskip("cuda.tile")

from kernels import tl
from kernels.cutile.activations import silu
from kernels.cutile.attention import attention
from kernels.cutile.batched_matmul import batched_matmul
from kernels.cutile.layer_norm import layer_norm
from kernels.cutile.matmul import matmul
from kernels.cutile.softmax import softmax
from kernels.cutile.split_k import split_k_atomic
from kernels.cutile.transpose import transpose
from tests.cutile_loops import windowed
from tests.cutile_products import biased
from tests.support.compiling import compile as compile_text
from tileas_xdsl.backend.ptxas import Assembled
from tileas_xdsl.backend.sass import Kernel, Loop, disassemble
from tileas_xdsl.compiler import compile

HEADS = "f16[?, ?, ?, ?%8]"
ROWS = "f16[?, ?%8]"


@dataclass(frozen=True)
class Code:
    """Machine code, and what ptxas says of it."""

    made: Assembled
    kernel: Kernel

    @property
    def counts(self) -> Counter[str]:
        """Of all instructions, by opcode with modifiers."""
        return Counter(one.opcode for one in self.kernel.instructions)

    def count(self, opcode: str) -> int:
        """Instructions with this opcode, whatever its modifiers."""
        return sum(n for name, n in self.counts.items() if f"{name}.".startswith(f"{opcode}."))

    def multiplying(self) -> Loop:
        """The longest innermost loop with products."""
        loops = [loop for loop in self.kernel.loops_with("HGMMA") if loop.count("HGMMA") > 1]
        return max(loops, key=lambda loop: loop.count("HGMMA"))


def attends(code: Code) -> None:
    """Loads by TMA alone; no masks and no spills where all keys are whole tiles."""
    assert (code.count("LDG"), code.count("STG")) == (0, 0)
    assert code.count("UTMALDG") > 0
    assert code.multiplying().count("FSEL") == 0


def peels(code: Code) -> None:
    """Of a window of keys, masked in every round: the rounds between its ends have no mask."""
    loops = [loop for loop in code.kernel.loops_with("HGMMA") if loop.count("HGMMA") > 1]
    assert sorted(loop.count("FSEL") > 0 for loop in loops) == [False, True, True]


def multiplies(code: Code) -> None:
    """TMA moves all; one arrival and one wait for four products of a warpgroup."""
    assert (code.count("LDG"), code.count("STG"), code.count("STS")) == (0, 0, 0)
    loop = code.multiplying()
    counts = [loop.count(name) for name in ("WARPGROUP.ARRIVE", "WARPGROUP.DEPBAR", "BAR")]
    assert counts == [1, 1, 0]


def adds_by_vectors(code: Code) -> None:
    """128x64 sums in 128 threads: neighbours are added to memory by one instruction."""
    assert code.count("REDG.E.ADD.F32x2") == 32
    assert code.count("REDG") == 32


def adds_and_stores(code: Code) -> None:
    """What is computed of sums is put into shared memory by matrices, and stored by TMA."""
    assert code.count("STG") == 0
    assert code.count("STSM") > 0
    assert code.count("UTMASTG") > 0


def divides_once(code: Code) -> None:
    """2,048 elements in 64 threads: one division, one exponential of each from the instruction."""
    assert code.count("FCHK") <= 1
    elements = 8 * code.count("LDG.E.128")
    assert elements >= 16
    assert len(code.kernel.instructions) <= 14 * elements + 200
    assert code.count("MUFU.EX2") == elements


def is_resident(code: Code) -> None:
    """Two rows of 2,048 elements in 128 threads: registers leave room for 20 warps."""
    assert code.made.registers <= 96


def turns(code: Code) -> None:
    """Of 64x128 elements in 256 threads: each access of a warp is a whole row, of 256 or 128 bytes.

    Triton has accesses of 16 bytes and half as many instructions; both run at the speed of a copy.
    """
    assert (code.count("LDG"), code.count("STG")) == (8, 16)
    assert len(code.kernel.instructions) <= 300


def inverts(code: Code) -> None:
    """No flush behind an inverse but in the exact divisions of rare operands.

    Each of 8 elements takes five fused multiply-adds for the exponential and two for the quotient,
    and one instruction that makes it an f32.
    """
    assert code.count("FADD.FTZ") <= 2
    assert code.count("PRMT") == 0
    assert code.count("FFMA") <= 7 * 8 + 8


PRODUCT = "a: bf16[?, ?%8], b: bf16[?, ?%8]"
GATES: dict[str, tuple[object, str, Callable[[Code], None]]] = {
    "attention": (
        attention,
        f"q: {HEADS}, k: {HEADS}, v: {HEADS}, out: {HEADS}, heads=6, group=2, scale=0.1, "
        "causal=False, tm=128, tn=64, d=64",
        attends,
    ),
    "attention with a window": (
        windowed,
        "q: f16[?, ?%8], k: f16[?, ?%8], v: f16[?, ?%8], out: f16[?, ?%8], scale=0.1, window=500, "
        "tm=128, tn=64, d=64",
        peels,
    ),
    "batched product": (
        batched_matmul,
        "a: f16[?, ?, ?%8], b: f16[?, ?, ?%8], c: f16[?, ?, ?%8], tm=128, tn=256, tk=64",
        multiplies,
    ),
    "product": (matmul, f"{PRODUCT}, c: bf16[?, ?%8], tm=128, tn=256, tk=64", multiplies),
    "product with bias": (
        biased,
        "a: f16[?, ?%8], b: f16[?, ?%8], bias: f16[?%8], rest: f16[?, ?%8], c: f16[?, ?%8], "
        "tm=128, tn=128, tk=32",
        adds_and_stores,
    ),
    "product split along K": (
        split_k_atomic,
        "a: f16[?, ?%8], b: f16[?, ?%8], c: f32[?, ?%8], tm=128, tn=64, tk=32",
        adds_by_vectors,
    ),
    "softmax": (softmax, f"x: {ROWS}, y: {ROWS}, rows=1, columns=2048", divides_once),
    "layer_norm": (
        layer_norm,
        f"x: {ROWS}, w: f16[?%8], b: f16[?%8], y: {ROWS}, means: f32[?], scales: f32[?], "
        "rows=2, columns=2048",
        is_resident,
    ),
    "transpose": (transpose, "x: bf16[?, ?%8], y: bf16[?, ?%8], rows=64, columns=128", turns),
    "silu": (silu, "x: bf16[?%8], y: bf16[?%8], tile=512", inverts),
}


@pytest.mark.sample(3)
@needs_nvdisasm
@pytest.mark.parametrize("name", GATES)
def test_code_is_within_its_gate(name: str) -> None:
    kernel, signature, gate = GATES[name]
    made = compile(kernel, target="sm_90a", signature=signature).assemble()
    (code,) = disassemble(made.cubin).values()
    assert made.spills == 0
    gate(Code(made, code))


@pytest.mark.parametrize("element", ["f16", "bf16"])
@needs_nvdisasm
def test_a_product_of_buffers_is_within_the_gate_of_tiles(element: str) -> None:
    """Bias and gelu behind sums of 128x256, of any extents: instructions of 256 columns."""
    program = tl.Gemm(element, bm=128, bn=256, bk=32, stages=4)
    made = compile_text(program.text(), "sm_90a").assemble()
    (kernel,) = disassemble(made.cubin).values()
    code = Code(made, kernel)
    loop = code.multiplying()
    suffix = "F32.BF16" if element == "bf16" else "F32"
    assert made.spills == 0
    assert loop.count(f"HGMMA.64x256x16.{suffix}") == loop.count("HGMMA") == 2
    assert [loop.count(name) for name in ("LDG", "LDS", "STS", "BAR")] == [0, 0, 0, 0]
