"""`tileas compile` from the command line: output files, messages, rejected input."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.assembling import needs_ptxas
from typer.testing import CliRunner, Result
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

import kernels
from tileas_xdsl.dialects.cute_nvgpu import GetDynSmemOp
from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.pipelines import PIPELINES
from tileas_xdsl.tools.tileas import app
from tileas_xdsl.transforms.extension import added_patterns

THREADS = "convert-tileas-to-cute-nvgpu"
PASSES = [spec.name for spec in PIPELINES["tileas-to-ptx"].passes]

TEXT = kernels.make("gemm", epilogue="tma", bm=128, bn=64, bk=64).text()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test has a folder of its own with a kernel."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gemm.mlir").write_text(TEXT)
    return tmp_path


def run(*args: str, code: int = 0) -> Result:
    result = CliRunner().invoke(app, ["compile", *args])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert "internal error" not in result.output
    assert result.exit_code == code, result.output
    return result


def test_ptx_is_written_to_stdout_or_to_a_file(folder: Path) -> None:
    text = run("gemm.mlir").stdout
    assert re.search(r"^\.target sm_90a$", text, re.MULTILINE)
    assert "wgmma.mma_async" in text
    written = run("gemm.mlir", "-o", "gemm.ptx")
    assert written.stdout == ""
    assert (folder / "gemm.ptx").read_text() == text


def test_ir_is_that_after_the_last_pass() -> None:
    assert "ptx.entry" in run("gemm.mlir", "--emit", "ir").stdout
    unlowered = run("gemm.mlir", "--emit", "ir", "-p", "canonicalize").stdout
    assert "nv_tileas.async.dot" in unlowered


@needs_ptxas
def test_a_cubin_is_machine_code(folder: Path) -> None:
    run("gemm.mlir", "--emit", "cubin", "-o", "gemm")
    run("gemm.mlir", "-o", "gemm.cubin")
    assert (folder / "gemm").read_bytes()[:4] == b"\x7fELF"
    assert (folder / "gemm.cubin").read_bytes() == (folder / "gemm").read_bytes()
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


@needs_ptxas
def test_facts_are_those_of_ptxas_and_of_the_shared_memory() -> None:
    told = run("gemm.mlir", "--facts", "-o", "gemm.ptx").stderr
    assert re.search(r"^registers +\d+$", told, re.MULTILINE)
    assert re.search(r"^spills +0 bytes$", told, re.MULTILINE)
    assert re.search(r"full of %p0 +mbarriers", told)


def test_times_and_ir_of_the_passes_go_to_stderr() -> None:
    result = run("gemm.mlir", "--time-passes", "--print-ir-after-all")
    assert "// IR after" not in result.stdout
    assert re.findall(r"^// IR after (\S+)$", result.stderr, re.MULTILINE) == PASSES
    times = re.findall(r"^(\S+) +\d+\.\d$", result.stderr, re.MULTILINE)
    assert times == [*PASSES, "all"]


def test_the_ir_after_one_pass() -> None:
    result = run("gemm.mlir", "--print-ir-after", THREADS)
    assert re.findall(r"^// IR after (\S+)$", result.stderr, re.MULTILINE) == [THREADS]
    assert "cute_nvgpu." in result.stderr


class MisplaceMemory(RewritePattern):
    """A faulty pattern: it leaves an operation that does not verify."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CreatePipelineOp, rewriter: PatternRewriter) -> None:
        if not isinstance(op.prev_op, GetDynSmemOp):
            rewriter.insert(GetDynSmemOp(-1))


@pytest.mark.parametrize(
    ("asks", "variable"),
    [("option", "0"), ("variable", "1"), ("at the end", "50"), ("nobody", "0")],
)
def test_a_pass_that_leaves_invalid_ir_is_named_where_somebody_asks(
    asks: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the IR is verified behind the last pass alone."""
    monkeypatch.setenv("TILEAS_VERIFY_EACH", variable)
    options = ("--verify-each",) if asks == "option" else ()
    passes = ("--emit", "ir", "-p", "tileas-choose-tma,tileas-remove-dead-args")
    with added_patterns("tileas-choose-tma", MisplaceMemory):
        result = run("gemm.mlir", *passes, *options, code=int(asks != "nobody"))
    found = "the IR is no longer valid after pass 'tileas-choose-tma'" in result.stderr
    assert found == (asks != "nobody")


WRONG: Sequence[tuple[Sequence[str], int, str]] = [
    (("none.mlir",), 1, "none.mlir:1:1: error: cannot read the file"),
    (("gemm.txt",), 2, "is no .mlir file"),
    (("gemm.mlir", "--target", "sm_80"), 2, "unknown target 'sm_80'"),
    (
        ("gemm.mlir", "--target", "sm_100a"),
        1,
        "gemm.mlir:75:16: error: 'nv_tileas.async.dot' op atom 'wgmma_f16_f16_f32' needs sm_90a; "
        "sm_100a multiplies by tcgen05.mma",
    ),
    (("gemm.mlir", "--kernel", "other"), 1, "there is no kernel @other; the module has @gemm"),
    (("gemm.mlir", "-p", "nothing"), 2, "nothing"),
    (("gemm.mlir", "-p", "cleanup"), 1, "the passes do not lower the kernel to PTX"),
    (
        ("gemm.mlir", "--print-ir-after", "dce"),
        2,
        "no pass 'dce' runs; there are tileas-choose-tma",
    ),
    (("gemm.mlir", "-o", "no/where.ptx"), 1, "cannot write 'no/where.ptx'"),
    (("gemm.mlir", "-o", "."), 1, "cannot write '.'"),
    (("broken.mlir",), 1, "broken.mlir:"),
    (("unlowered.mlir",), 1, "unlowered.mlir:"),
    (("named.mlir",), 1, "named.mlir:29:1: error: 'func.func' op is a kernel called 'my kernel'"),
]


@pytest.mark.parametrize(("args", "code", "message"), WRONG)
def test_wrong_input_is_told_and_nothing_is_written(
    args: Sequence[str], code: int, message: str, folder: Path
) -> None:
    (folder / "broken.mlir").write_text("func.func @k(")
    (folder / "unlowered.mlir").write_text(
        'func.func @k(%a: memref<?xf32>) {\n  "test.op"() : () -> ()\n  func.return\n}'
    )
    (folder / "named.mlir").write_text(TEXT.replace("@gemm", '@"my kernel"'))
    before = sorted(path.name for path in folder.iterdir())
    result = run(*args, code=code)
    assert result.stdout == ""
    assert message in " ".join(result.stderr.replace("│", " ").split())
    assert sorted(path.name for path in folder.iterdir()) == before


def test_without_ptxas_a_cubin_is_refused_with_the_command_that_installs_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tileas_xdsl.backend.nvidia_tools.find_tool", lambda name: None)
    result = run("gemm.mlir", "--emit", "cubin", "-o", "gemm.cubin", code=1)
    assert "install it with: pip install 'tileas-xdsl[ptxas]'" in result.stderr
    assert not (folder / "gemm.cubin").exists()
