"""What `make demo` runs: two kernels of cuTile Python, from source to machine code, on this CPU.

Each is compiled for both targets, assembled, run on random data as tiles and as PTX, and compared
with numpy.  The pictures go to the folder given with `--out`.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.utils.hints import isa

from kernels.cutile import Problem, problems, simulated
from kernels.cutile.table import print_rows
from tileas_xdsl.compiler import CompiledKernel
from tileas_xdsl.dialects.nv_tileas.attributes import (
    BlockedEncoding,
    DotOperandEncoding,
    SharedEncoding,
)
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.interpreters.tile.launch import simulate
from tileas_xdsl.interpreters.tile.tracing.timeline import draw_timeline
from tileas_xdsl.layout.output.draw import draw_layout
from tileas_xdsl.runtime.arguments.cutile_arguments import held
from tileas_xdsl.tools.failures import ends_with_its_reader

KERNELS = ("matmul", "attention")
LAID_OUT = "tileas-materialize-convert-layout"
"""The pass after which every tile has its layout."""

Encoding: TypeAlias = SharedEncoding | BlockedEncoding | DotOperandEncoding
KINDS: Mapping[type[Encoding], str] = {
    SharedEncoding: "shared-memory",
    BlockedEncoding: "registers",
    DotOperandEncoding: "tensor-core",
}
"""The encodings that are drawn, and what their pictures are called."""


def say(text: str = "") -> None:
    """Print a line of the demo."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def source_of(problem: Problem) -> str:
    """The Python source of a kernel."""
    return inspect.getsource(inspect.unwrap(problem.kernel._pyfunc)).rstrip()


def encodings(module: ModuleOp) -> Sequence[tuple[Encoding, int]]:
    """The layouts that tiles have, each once, with the bits of an element."""
    found: dict[tuple[Encoding, int], None] = {}
    values = (value for op in module.walk() for value in op.results)
    tensors = (value.type for value in values if isa(value.type, TensorType))
    for tensor in tensors:
        if isinstance(tensor.encoding, Encoding):
            found[tensor.encoding, bits_of(tensor.element_type)] = None
    return tuple(found)


def pictures(problem: Problem, kernel: CompiledKernel, folder: Path) -> Iterator[Path]:
    """Draw one block in time, and the layouts that the passes chose; gives the files."""
    assert kernel.parameters is not None
    arguments = held(kernel.parameters, problem.arguments())
    laid_out = kernel.module_after(LAID_OUT)
    run = simulate(laid_out, arguments, target=kernel.target, trace=True)
    yield _saved(folder / f"{kernel.name}-timeline.svg", draw_timeline(run.trace))
    # A layout of registers looks the same whatever elements it has.
    drawn = {draw_layout(one.data, bits): KINDS[type(one)] for one, bits in encodings(laid_out)}
    for number, (picture, kind) in enumerate(drawn.items(), 1):
        yield _saved(folder / f"{kernel.name}-layout-{number}-{kind}.svg", picture)


def _saved(path: Path, picture: str) -> Path:
    path.write_text(picture, encoding="utf-8")
    return path


def show(problem: Problem, folder: Path) -> bool:
    """One kernel, all the way; whether it is right."""
    kernel = problem.compiled(problem.targets[0])
    say(f"\n{problem.name}, from {Path(inspect.getfile(problem.kernel._pyfunc)).name}\n")
    say(source_of(problem))
    tiles = simulated(problem, kernel)
    say(f"\nAs tiles it differs from numpy by {tiles.deviation.error:.1e}. As PTX:\n")
    rows = print_rows([problem])
    say("\nPictures, for any browser:")
    for path in pictures(problem, kernel, folder):
        say(f"   {path}")
    return tiles.is_right and all(row.is_right for row in rows)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; 1 where a kernel is not right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/demo"), help="folder for pictures")
    parser.add_argument("kernels", nargs="*", default=KERNELS, help="modules of kernels.cutile")
    options = parser.parse_args(argv)
    options.out.mkdir(parents=True, exist_ok=True)
    say("tileas_xdsl: kernels of cuTile Python, compiled and run without a GPU")
    rights = [show(next(problems(name)), options.out) for name in options.kernels]
    say("\nNext: tileas compile kernel.py:NAME --sig ..., and notebooks/cutile.py")
    return 0 if all(rights) else 1


if __name__ == "__main__":
    with ends_with_its_reader():
        code = main()
    sys.exit(code)
