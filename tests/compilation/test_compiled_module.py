"""A module with several kernels becomes one PTX text with an entry for each."""

import re
from pathlib import Path

import numpy as np
import pytest
from support.assembling import needs_ptxas
from typer.testing import CliRunner

from kernels import make
from tileas_xdsl.compiler import compile, compile_kernels
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.tools.tileas import app

ADD = make("vector_add").text()
KERNEL = ADD[ADD.index("func.func") :]
TWO = ADD + "\n" + KERNEL.replace("@vector_add", "@vector_mul").replace("addf", "mulf")
TILE_IR = """
cuda_tile.module @both {
  global @table <i32: 3> : tile<1xi32>
  entry @one(%p: tile<ptr<i32>>) {
    %x = constant <i32: 1> : tile<i32>
    print_tko "one %i\\n", %x : tile<i32> -> token
    return
  }
  entry @two(%p: tile<ptr<i32>>) {
    %x = constant <i32: 2> : tile<i32>
    print_tko "two %i\\n", %x : tile<i32> -> token
    return
  }
}
"""


def entries(ptx: str) -> list[str]:
    return re.findall(r"\.visible \.entry (\w+)\(", ptx)


@needs_ptxas
def test_the_kernels_are_those_that_are_compiled_alone(tmp_path: Path) -> None:
    made = compile_kernels(TWO)
    assert entries(made.ptx) == [*made] == ["vector_add", "vector_mul"]
    assert repr(made) == "<CompiledModule @vector_add, @vector_mul for sm_90a>"
    a, b = np.random.default_rng(1).standard_normal((2, 64)).astype(np.float32)
    got = made["vector_mul"].emulate(a, b, np.zeros_like(a)).arrays[2]
    np.testing.assert_array_equal(got, a * b)
    assert {*made.assemble().entries} == {"vector_add", "vector_mul"}
    again = compile_kernels(made.lowered_ir)
    without_lines = re.compile(r"^\s*\.(loc|file).*\n", re.MULTILINE)
    assert without_lines.sub("", again.ptx) == without_lines.sub("", made.ptx)
    (tmp_path / "two.mlir").write_text(TWO)
    said = CliRunner().invoke(app, ["compile", str(tmp_path / "two.mlir")])
    assert entries(said.stdout) == ["vector_add", "vector_mul"]


def test_declarations_are_there_once_and_names_are_kept_apart() -> None:
    made = compile_kernels(TILE_IR)
    assert entries(made.ptx) == ["one", "two"]
    names = re.findall(r"^\.(?:visible )?\.?global .*?\.b8 (\w+)\[", made.ptx, re.MULTILINE)
    assert len(names) == len({*names}), made.ptx
    assert len(re.findall(r"\.extern \.func.* vprintf", made.ptx)) == 1
    for name in made:
        zeros = np.zeros(1, np.int32)
        alone = compile(made.lowered_ir, kernel=name)
        assert alone.emulate(zeros).printed == made[name].emulate(zeros).printed
        assert alone.emulate(zeros).printed.startswith(name)


def test_no_kernel() -> None:
    with pytest.raises(DiagnosticError, match="there is no kernel to compile"):
        compile_kernels("builtin.module {\n}")
