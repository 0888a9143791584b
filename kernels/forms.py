"""The forms of TMA, and the kernel that runs each: on the interpreter, as PTX, against numpy.

`python -m kernels.forms` runs them all and prints the table; it fails where a row does.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from kernels.bulk_copy import BulkCopy
from kernels.combine import Combine
from kernels.compiled import ORDERS
from kernels.copy import Copy
from kernels.elements import Array
from kernels.gemm import Gemm
from kernels.kernel import Kernel, Sizes
from kernels.permute import Permute
from kernels.unroll import Unroll
from kernels.windows import Windows
from tileas_xdsl.backend.nvidia_tools import find_tool
from tileas_xdsl.compiler import CompiledKernel, compile
from tileas_xdsl.dialects.nv_tileas.enums import RmwMode
from tileas_xdsl.dialects.nv_tileas.memory.ordering_checks import TMA_REDUCED
from tileas_xdsl.tools.failures import ends_with_its_reader

BOTH = ("sm_90a", "sm_100a")
LOAD, STORE = "cp.async.bulk.tensor.2d.shared::cluster", "cp.async.bulk.tensor.2d.global"


@dataclass(frozen=True)
class Form:
    """A form of TMA, and a kernel whose PTX has its instruction."""

    name: str
    kernel: Kernel
    instruction: str
    """Parts of its name, in their order."""
    targets: Sequence[str] = BOTH
    host_code: bool = False
    """Whether code for the host encodes its tensor maps."""
    lacks: str = ""
    """What the PTX must not have: another way to do it."""

    @property
    def sizes(self) -> Sizes:
        """The problem that is run."""
        is_gemm = isinstance(self.kernel, Gemm)
        return {"m": 130, "n": 72, "k": 144} if is_gemm else self.kernel.sizes


def _gemm(instruction: str, **parameters: int | str) -> Gemm:
    facts: dict[str, int | str] = {"bm": 64, "bn": 64, "bk": 64, "stages": 2, "consumers": 1}
    facts |= {"bm": 128} if instruction == "tcgen05" else {}
    return Gemm(instruction=instruction, **{**facts, **parameters})  # pyright: ignore[reportArgumentType]


def _sums() -> Iterator[Form]:
    """Each combination of an element and a mode that the instruction has."""
    for mode in RmwMode:
        for element in map(str, TMA_REDUCED.get(mode, ())):
            kernel = Combine(element=element, mode=mode.value)
            op = kernel.mode.removeprefix("u")
            title = f"reduction of tiles, {kernel.mode} of {element}"
            yield Form(title, kernel, f"cp.reduce.async.bulk.tensor.2d .{op}.")


FORMS: Sequence[Form] = (
    Form("load of tiles into a pipeline", Copy(), f"{LOAD} .mbarrier"),
    Form("load of tiles outside of a pipeline", BulkCopy(), f"{LOAD} .mbarrier"),
    Form("load of tiles for two blocks", _gemm("wgmma", cluster=2), ".multicast", ("sm_90a",)),
    Form("load of tiles for two blocks", _gemm("tcgen05", cluster=2), ".multicast", ("sm_100a",)),
    Form(
        "load of tiles for a pair of blocks",
        _gemm("tcgen05", pair=2, b="nk"),
        f"{LOAD} .cta_group::2",
        ("sm_100a",),
    ),
    Form("load of rows by their numbers", Permute(), f"{LOAD} .tile::gather4", ("sm_100a",)),
    Form("load of columns of pixels", Unroll(), "cp.async.bulk.tensor.4d .im2col"),
    Form("store of tiles", Copy("f32", 4, 16), f"{STORE} .bulk_group"),
    Form("store of tiles from registers", BulkCopy("f32", 16, 32), f"{STORE} .bulk_group"),
    Form("store of rows by their numbers", Permute("f32", 8, 32), ".tile::scatter4", ("sm_100a",)),
    *_sums(),
    Form("map that a block changes", Windows(), "tensormap.replace"),
    Form("map of an array, encoded by host code", Copy("bf16"), LOAD, host_code=True),
    Form(
        "map of a window, encoded by host code",
        Windows(born="host"),
        LOAD,
        host_code=True,
        lacks="tensormap.replace",
    ),
)
"""All that is lowered."""


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    form: Form
    target: str
    problems: Sequence[str] = field(default_factory=list[str])
    findings: int = 0
    ptxas: str = "not installed"

    @property
    def is_right(self) -> bool:
        """Whether interpreter, emulator and numpy agree, without diagnostics."""
        return not self.problems

    @property
    def cells(self) -> Sequence[str]:
        """The cells of the row."""
        agree = "; ".join(self.problems) or "yes"
        kernel = f"{self.form.kernel}"
        return (self.form.name, kernel, self.target, agree, str(self.findings), self.ptxas)


def run(form: Form, target: str, orders: Sequence[tuple[str, int]] = ORDERS) -> Row:
    """Run a form on the interpreter and, in orders of asynchronous completion, as PTX."""
    made = compile(form.kernel.text(), target, host_code=form.host_code)
    problems = [*_of_text(form, made)]
    kernel, grid = form.kernel, form.kernel.grid(form.sizes)
    inputs = kernel.make_inputs(np.random.default_rng(0), form.sizes)
    simulated = cast("Sequence[Array]", made.simulate(*inputs, grid=grid).arrays)
    if not kernel.check(inputs, simulated).is_right:
        problems.append("the interpreter differs from numpy")
    findings = 0
    for name, number in orders:
        emulation = made.emulate(*inputs, grid=grid, order=name, seed=number)
        findings += len(emulation.findings)
        arrays = cast("Sequence[Array]", emulation.arrays)
        if not kernel.check(inputs, arrays).is_right:
            problems.append(f"the emulator differs from numpy, {name} {number}")
    if findings:
        problems.append("the emulator finds faults")
    ptxas = _ptxas(made)
    if ptxas not in ("ok", "not installed"):
        problems.append("ptxas complains")
    return Row(form, target, problems, findings, ptxas)


def _of_text(form: Form, made: CompiledKernel) -> Iterator[str]:
    """Return what is wrong with the PTX before it runs."""
    lines = made.ptx.splitlines()
    words = form.instruction.split()
    if not any(all(word in line for word in words) for line in lines):
        yield f"the PTX has no {form.instruction}"
    if form.lacks and form.lacks in made.ptx:
        yield f"the PTX has {form.lacks}"
    if form.host_code and not made.host_code:
        yield "there is no host code"


def _ptxas(made: CompiledKernel) -> str:
    if find_tool("ptxas") is None:
        return "not installed"
    assembled = made.assemble()
    spilled = [f"{assembled.spills} spilled"] if assembled.spills else []
    return "; ".join([*(said.message for said in assembled.messages), *spilled]) or "ok"


def rows(
    forms: Sequence[Form] = FORMS, orders: Sequence[tuple[str, int]] = ORDERS
) -> Iterator[Row]:
    """The rows of the table, one after another."""
    for form in forms:
        for target in form.targets:
            yield run(form, target, orders)


HEADER = ("form", "kernel", "target", "emulator = interpreter = numpy", "findings", "ptxas")


def main() -> int:
    """Print the table in Markdown; 1 where a row is wrong."""
    lines = [HEADER, ("---",) * len(HEADER)]
    is_right = True
    for line in lines:
        _print(line)
    for row in rows():
        is_right &= row.is_right
        _print(row.cells)
    return 0 if is_right else 1


def _print(cells: Sequence[str]) -> None:
    sys.stdout.write(f"| {' | '.join(cells)} |\n")
    sys.stdout.flush()


if __name__ == "__main__":
    with ends_with_its_reader():
        code = main()
    sys.exit(code)
