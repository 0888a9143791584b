"""What ptxas makes of the GEMMs: registers, and the instructions of the loops that matter.

`python -m kernels.sass` prints the table; it fails where a loop has more than its bar.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kernels.compiled import compiled
from kernels.cute_gemm import CuteGemm
from kernels.elements import ELEMENTS
from kernels.gemm import Gemm
from kernels.tiled_gemm import TiledGemm
from tileas_xdsl.backend.nvidia_tools import MissingToolError
from tileas_xdsl.backend.sass import Loop, disassemble
from tileas_xdsl.tools.failures import ends_with_its_reader

PRODUCTS = ("UTCHMMA", "UTCQMMA", "UTCOMMA", "HGMMA", "QGMMA")
"""Matrix instructions."""

SHOWN = (*PRODUCTS, "UTCBAR", "UTMALDG", "SYNCS", "WARPGROUP", "R2UR", "ELECT")
"""What is counted in loops."""

ELSEWHERE = ("LDTM", "STTM", "UTCATOMSWS", "UTMASTG", "STG", "STS")
"""What is counted in the whole kernel."""

LOCAL = ("LDL", "STL")
"""Accesses to local memory: there are none."""

BARS: Mapping[str, Mapping[str, int]] = {
    "wgmma": {"WARPGROUP.ARRIVE": 1, "WARPGROUP.DEPBAR": 1},
    "tcgen05": {"UTCBAR": 1, "SYNCS": 2},
}
"""By matrix instruction, how many of others a loop over K may have for each of its blocks."""

BITS_OF_STEP = 256
"""Of a row of A, what one product takes, whatever the elements."""

TALL = Gemm(bm=128, bn=128, bk=64, instruction="tcgen05", consumers=1)
PAIR = replace(TALL, pair=2, b="nk")
GEMMS: Sequence[Gemm] = (
    TALL,
    replace(TALL, consumers=2, element="bf16", form="scalar"),
    replace(TALL, element="bf16", output="bf16", epilogue="tma", stages=5),
    replace(TALL, element="e4m3", b="nk", bk=128, output="f16", epilogue="tma"),
    replace(TALL, element="e4m3", cluster=2, form="scalar"),
    replace(TALL, bn=256, output="f16"),
    replace(TALL, bm=256, consumers=2),
    replace(TALL, persistent=2, epilogue="tma"),
    PAIR,
    replace(PAIR, bn=256, element="bf16", output="bf16", epilogue="tma", persistent=4, group=2),
    Gemm(bm=128, bn=128, bk=64, b="nk"),
    replace(TALL, b="nk"),
    Gemm(bm=128, bn=256, bk=64, element="bf16", epilogue="tma"),
)
"""Those of sm_100a, and two of sm_90a to compare with."""

CUTE_GEMMS: Sequence[CuteGemm] = (
    CuteGemm(bn=128),
    CuteGemm(bn=128, scheduler="static_persistent", produce="region"),
    CuteGemm(bn=128, instruction="tcgen05"),
    CuteGemm(bn=128, instruction="tcgen05", scheduler="static_persistent", produce="region"),
)
"""Written with `cutlass`, beside those of tiles that do the same."""

TILED_GEMMS: Sequence[TiledGemm] = (
    TiledGemm(bn=128),
    TiledGemm(bn=128, instruction="tcgen05"),
)
"""Written with atoms of `cute` alone."""


@dataclass(frozen=True)
class Facts:
    """A GEMM and its machine code."""

    kernel: Gemm | CuteGemm | TiledGemm
    registers: int
    spills: int
    size: int
    """Instructions."""
    loops: Sequence[tuple[str, Loop]]
    """Those that load and those that multiply."""
    counts: Mapping[str, int]

    @property
    def problems(self) -> Iterator[str]:
        """What is beyond its bar."""
        if self.spills:
            yield f"{self.spills} bytes are spilled"
        for name in LOCAL:
            if self.counts.get(name):
                yield f"{self.counts[name]} {name}"
        products = [loop for what, loop in self.loops if what == "products"]
        if len(products) != self.kernel.consumers:
            yield f"{len(products)} loops multiply, for {self.kernel.consumers} consumers"
        for loop in products:
            yield from self._of_loop(loop)

    def _of_loop(self, loop: Loop) -> Iterator[str]:
        found = sum(loop.count(name) for name in PRODUCTS)
        steps = self.kernel.bk * ELEMENTS[self.kernel.element].bits // BITS_OF_STEP
        blocks = max(found // steps, 1)
        if found != blocks * steps:
            yield f"{found} products, not {steps} for each block of K"
        for name, most in BARS[self.kernel.instruction].items():
            if loop.count(name) > most * blocks:
                yield f"{loop.count(name)} {name} in a loop of {blocks} blocks of K"

    @property
    def lines(self) -> Iterator[Sequence[str]]:
        """The lines of the table: the kernel, then its loops."""
        rest = ", ".join(f"{self.counts[name]} {name}" for name in ELSEWHERE if self.counts[name])
        bars = "; ".join(self.problems) or "yes"
        code = f"{self.registers} registers, {self.spills} spilled"
        yield (str(self.kernel), self.kernel.target, code, str(self.size), rest, bars)
        for what, loop in self.loops:
            counts = ", ".join(f"{loop.count(n)} {n}" for n in SHOWN if loop.count(n))
            yield ("", "", f"loop: {what}", str(len(loop.instructions)), counts, "")


def facts(kernel: Gemm | CuteGemm | TiledGemm) -> Facts:
    """Assemble and disassemble a GEMM; raises `MissingToolError` without the tools."""
    made = compiled(kernel)
    assembled = made.assemble()
    code = disassemble(assembled.cubin)[made.name]
    loops = [("loads", loop) for loop in code.loops_with("UTMALDG")]
    loops += [("products", loop) for name in PRODUCTS for loop in code.loops_with(name)]
    size = len(code.instructions)
    return Facts(kernel, assembled.registers, assembled.spills, size, loops, code.counts)


HEADER = ("kernel", "target", "code", "instructions", "of these", "within its bars")


def main() -> int:
    """Print the table in Markdown; 1 where a bar is missed, 2 without the tools."""
    try:
        found = [facts(kernel) for kernel in (*GEMMS, *CUTE_GEMMS, *TILED_GEMMS)]
    except MissingToolError as error:
        sys.stderr.write(f"python -m kernels.sass: {error}\n")
        return 2
    lines = [HEADER, ("---",) * len(HEADER), *(line for each in found for line in each.lines)]
    sys.stdout.writelines(f"| {' | '.join(line)} |\n" for line in lines)
    return 1 if any(problem for each in found for problem in each.problems) else 0


if __name__ == "__main__":
    with ends_with_its_reader():
        code = main()
    sys.exit(code)
