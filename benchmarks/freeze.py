"""Record the PTX, SASS facts and compile time of every kernel, and compare two records.

    python benchmarks/freeze.py OUT [--compare OLD] [--only TEXT]... [--no-sass] [--jobs 2]

Writes `OUT/NAME.TARGET.ptx` for each kernel of `kernels/` and each target that accepts it, and
`OUT/facts.tsv` with registers, spilled bytes, instructions and milliseconds.  With `--compare`, the
exit code is 1 where the PTX of a kernel is not that of OLD: a change of structure leaves it as is.
Lines that only locate source code (`.file`, `.loc`) do not count.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.running import end
from kernels import KERNELS
from kernels import tl as tile_programs
from kernels.atom_gemm import AtomGemm
from kernels.forms import FORMS
from kernels.kernel import Kernel
from kernels.sass import CUTE_GEMMS, GEMMS, TILED_GEMMS
from kernels.streamk_gemm import StreamkGemm
from tileas_xdsl.backend.nvidia_tools import find_tool
from tileas_xdsl.backend.sass import disassemble
from tileas_xdsl.compiler import CompiledKernel, compile
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.pipelines import PIPELINES

TARGETS = ("sm_90a", "sm_100a")
SOURCE_LINES = re.compile(r"^\s*\.(?:loc|file)\b.*\n", re.MULTILINE)
"""Directives that map instructions to source lines."""


@dataclass(frozen=True)
class Record:
    """What became of a kernel for one target."""

    name: str
    ptx: str
    """Empty if the kernel was refused."""
    milliseconds: float = 0.0
    """From text or Python to PTX, the second of two compilations."""
    registers: int = 0
    spills: int = 0
    instructions: int = 0
    refusal: str = ""
    """The first line of the diagnostic."""

    @property
    def cells(self) -> Sequence[str]:
        """The fields of its line in `facts.tsv`."""
        numbers = (self.registers, self.spills, self.instructions)
        return (self.name, *map(str, numbers), f"{self.milliseconds:.1f}", self.refusal)


Compile = Callable[[], CompiledKernel]


def _tile_kernels() -> Iterator[Kernel]:
    """One of each kernel of tiles, and those of the tables of TMA forms and of SASS."""
    yield from (kind() for kind in KERNELS.values())
    yield from (kind() for kind in tile_programs.KERNELS.values())
    yield from (form.kernel for form in FORMS)
    yield from (AtomGemm(), StreamkGemm())
    yield from (*GEMMS, *CUTE_GEMMS, *TILED_GEMMS)


def _compile_text(kernel: Kernel, target: str) -> CompiledKernel:
    return compile(kernel.text(), target, passes=PIPELINES[kernel.pipeline].passes)


def subjects() -> Mapping[str, Compile]:
    """By name and target, how each kernel is compiled."""
    found: dict[str, Compile] = {}
    for kernel in _tile_kernels():
        # Written with the instructions of one target: the other one refuses it.
        own = getattr(kernel, "instruction", "") in ("wgmma", "tcgen05")
        for target in (kernel.target,) if own else TARGETS:
            title = f"{type(kernel).__module__.split('.')[1]}-{kernel}"
            found[f"{title}.{target}"] = partial(_compile_text, kernel, target)
    if find_spec("cuda.tile") is not None:
        from kernels.cutile import problems

        for problem in problems():
            for target in problem.targets:
                found[f"cutile-{problem}.{target}"] = partial(problem.compiled, target)
    return found


def record(name: str, sass: bool) -> Record:
    """Compile one of `subjects`, assemble and disassemble it."""
    compile_it = subjects()[name]
    try:
        compile_it()
        start = time.perf_counter()
        made = compile_it()
        ptx = SOURCE_LINES.sub("", made.ptx)
        taken = 1000 * (time.perf_counter() - start)
        found = Record(name, ptx, taken)
        if not sass:
            return found
        assembled = made.assemble()
        size = sum(len(code.instructions) for code in disassemble(assembled.cubin).values())
    except DiagnosticError as error:
        return Record(name, "", refusal=str(error).partition("\n")[0])
    return replace(found, registers=assembled.registers, spills=assembled.spills, instructions=size)


def _path(folder: Path, name: str) -> Path:
    return folder / f"{re.sub(r'[^A-Za-z0-9_.=-]+', '_', name)}.ptx"


def write(folder: Path, records: Sequence[Record]) -> None:
    """Write one file for each kernel and the table of facts."""
    folder.mkdir(parents=True, exist_ok=True)
    for found in records:
        _path(folder, found.name).write_text(found.ptx, encoding="utf-8")
    lines = ["\t".join(("kernel", "registers", "spills", "instructions", "ms", "refused"))]
    lines += ["\t".join(found.cells) for found in records]
    (folder / "facts.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def changed(old: Path, records: Sequence[Record]) -> Sequence[str]:
    """The kernels whose PTX is not that of an older record, or that it does not have."""
    return [
        found.name
        for found in records
        if not (path := _path(old, found.name)).exists()
        or path.read_text(encoding="utf-8") != found.ptx
    ]


def main(words: Sequence[str] | None = None) -> int:
    """Record, and compare where an older record is named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("--compare", type=Path, metavar="OLD")
    parser.add_argument("--only", action="append", default=[], metavar="TEXT")
    parser.add_argument("--no-sass", action="store_true", help="PTX and compile time alone")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(words)
    names = [
        name
        for name in subjects()
        if not options.only or any(text in name for text in options.only)
    ]
    sass = not options.no_sass and find_tool("ptxas") is not None
    with ProcessPoolExecutor(options.jobs) as pool:
        records = list(pool.map(partial(record, sass=sass), names, chunksize=4))
    write(options.out, records)
    median = statistics.median(found.milliseconds for found in records)
    total = sum(found.milliseconds for found in records) / 1000
    refused = sum(1 for found in records if found.refusal)
    print(f"{len(records)} kernels ({refused} refused), {total:.1f} s, median {median:.0f} ms")
    if options.compare is None:
        return 0
    differing = changed(options.compare, records)
    print(*(f"differs: {name}" for name in differing), sep="\n")
    print(f"{len(differing)} of {len(records)} differ from {options.compare}")
    return 1 if differing else 0


if __name__ == "__main__":
    end(main)
