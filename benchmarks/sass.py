"""What ptxas makes of kernels: registers, spills, instructions, and what their loops multiply with.

    python benchmarks/sass.py [--only TEXT]... [--json FILE] [--compare OLD.json]

Needs ptxas and nvdisasm (`pip install 'tileas-xdsl[ptxas]'`).  Beside ours stands Triton's kernel,
where it is installed and has one.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.compiled_kernels import SUBJECTS, compilers
from benchmarks.results import Row
from benchmarks.running import end, run_benchmark
from tileas_xdsl.backend.nvidia_tools import MissingToolError, need_tool
from tileas_xdsl.backend.ptxas import Assembled
from tileas_xdsl.backend.sass import Kernel, Loop, disassemble
from tileas_xdsl.diagnostics.errors import DiagnosticError

PRODUCTS = ("HGMMA", "QGMMA", "IGMMA")
"""Products of warpgroups: of 16 bits and tf32, of fp8, of integers."""

COUNTED = (*PRODUCTS, "WARPGROUP.ARRIVE", "WARPGROUP.DEPBAR", "SYNCS", "UTMALDG", "MUFU", "BAR")
"""What is counted in a loop that multiplies."""

MEMORY = ("UTMALDG", "UTMASTG", "LDGSTS", "LDG", "STG", "LDL", "STL")
"""What is counted in the whole kernel; the last two are spills."""


def code_of(cubin: bytes) -> Kernel:
    """The machine code of the only kernel."""
    (found,) = disassemble(cubin).values()
    return found


def rows_of(name: str, assembled: Assembled, shared: int, triton: Kernel | None) -> Iterator[Row]:
    """The size of a kernel, its registers, and each loop that multiplies."""
    code = code_of(assembled.cubin)
    others = {} if triton is None else {"Triton": float(len(triton.instructions))}
    memory = ", ".join(f"{code.counts[word]} {word}" for word in MEMORY if code.counts[word])
    facts: dict[str, float | str] = {
        "registers": assembled.registers,
        "spilled bytes": assembled.spills,
        "shared bytes": shared,
        "memory": memory,
    }
    yield Row("kernels", name, len(code.instructions), "instructions", others, facts=facts)
    theirs = [] if triton is None else [len(loop.instructions) for loop in _multiplying(triton)]
    for number, loop in enumerate(_multiplying(code)):
        counts = {word: float(loop.count(word)) for word in COUNTED}
        beside = {"Triton": float(theirs[number])} if number < len(theirs) else {}
        title, size = f"{name}, loop {number}", float(len(loop.instructions))
        yield Row("loops that multiply", title, size, "instructions", beside, facts=counts)


def _multiplying(code: Kernel) -> Sequence[Loop]:
    return [loop for word in PRODUCTS for loop in code.loops_with(word)]


def measure(options: argparse.Namespace) -> Iterator[Row]:
    """Rows of all kernels, or of those whose names have one of the texts."""
    triton = {f"cuTile {subject.name}": subject.triton for subject in SUBJECTS}
    for name, compile_it in compilers().items():
        if options.only and not any(text in name for text in options.only):
            continue
        made = compile_it()
        try:
            assembled = made.assemble()
        except DiagnosticError as error:
            print(f"{name}: {error}".splitlines()[0], flush=True)
            continue
        theirs = triton.get(name) if find_spec("triton") is not None else None
        other = None if theirs is None else code_of(theirs.compile().asm["cubin"])
        yield from rows_of(name, assembled, made.abi.shared_bytes, other)


def add_options(parser: argparse.ArgumentParser) -> None:
    """What can be chosen."""
    parser.add_argument("--only", action="append", default=[], metavar="TEXT")


def main(words: Sequence[str] | None = None) -> int:
    """Print the facts; 2 without the tools."""
    try:
        tools = [need_tool("ptxas"), need_tool("nvdisasm")]
    except MissingToolError as error:
        print(f"benchmarks/sass.py: {error}", file=sys.stderr)
        return 2
    return run_benchmark(__doc__, measure, add_options, words, lambda: {"ptxas": str(tools[0])})


if __name__ == "__main__":
    end(main)
