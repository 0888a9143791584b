"""`tileas-as`: the public command line of Tile IR assemblers, its exit codes and errors."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.assembling import needs_ptxas
from support.tile_programs import PROGRAM, program_bytecode

from kernels.cutile.matmul import PROBLEMS
from tileas_xdsl.backend.ptx.printer import ptx_text
from tileas_xdsl.backend.ptx.standalone import merged
from tileas_xdsl.compiler import compile
from tileas_xdsl.frontend.bytecode.layout import VERSIONS
from tileas_xdsl.pipelines import PIPELINES
from tileas_xdsl.tools import assembler
from tileas_xdsl.tools.assembler import main, run, standalone_ptx

ELF = b"\x7fELF"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.tileirbc"
    path.write_bytes(program_bytecode())
    return path


@needs_ptxas
def test_bytecode_becomes_a_cubin(program: Path, tmp_path: Path) -> None:
    out = tmp_path / "program.cubin"
    assert run([str(program), "-o", str(out), "--gpu-name", "sm_90", "-O3", "--lineinfo"]) == 0
    assert out.read_bytes().startswith(ELF)
    assert sorted(tmp_path.iterdir()) == [out, program]


@needs_ptxas
@pytest.mark.parametrize("version", VERSIONS[:1] + VERSIONS[-1:], ids=str)
def test_an_empty_module_is_a_probe_for_its_version(
    version: tuple[int, int], tmp_path: Path
) -> None:
    cuda_tile = pytest.importorskip("cuda.tile._bytecode")
    content = bytearray()
    known = {str(v.as_string()): v for v in cuda_tile.BytecodeVersion}
    with cuda_tile.write_bytecode(num_functions=0, buf=content, version=known[str(version)]):
        pass
    (tmp_path / "empty").write_bytes(content)
    out = tmp_path / "empty.cubin"
    assert run([str(tmp_path / "empty"), "-o", str(out), "--gpu-name", "sm_120"]) == 0
    content[8:10] = b"\x63\x00"
    (tmp_path / "empty").write_bytes(content)
    out.unlink()
    assert run([str(tmp_path / "empty"), "-o", str(out), "--gpu-name", "sm_120"]) == 1
    assert not out.exists()


def test_a_standalone_kernel_has_the_parameters_of_its_entry() -> None:
    problem = PROBLEMS[0]
    passes = PIPELINES["tileas-to-standalone-ptx"].passes
    kernel = compile(problem.kernel, *problem.arguments(), target="sm_90a", passes=passes)
    hidden = ("tensor map", "tma arena")
    assert any(name.startswith(hidden) for name in problem.compiled("sm_90a").abi.parameters)
    assert not any(name.startswith(hidden) for name in kernel.abi.parameters)
    text = ptx_text(merged([kernel.module], kernel.abi.shared_bytes), "sm_90a")
    assert f".shared .align 1024 .b8 dynamic_shared[{kernel.abi.shared_bytes}];" in text
    assert ".extern" not in text


def test_each_tile_block_is_one_cta_for_whoever_launches_the_cubin() -> None:
    problem = PROBLEMS[0]
    arguments, target = problem.arguments(), "sm_90a"
    kernels = (problem.kernel, problem.kernel.replace_hints(num_ctas=2))
    modules = [compile(kernel, *arguments, target=target).tile_ir for kernel in kernels]
    one, two = (standalone_ptx(module, target) for module in modules if module is not None)
    assert one == two


FOR_SM90 = ("FILE", "-o", "OUT", "--arch=sm_90")


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (("FILE",), 2, "error: an input file and an output file (-o) are needed"),
        (
            ("FILE", "-o", "OUT"),
            2,
            "error: unsupported GPU target\n"
            "note: --gpu-name is one of sm_90, sm_100, sm_120, and is not given",
        ),
        ((*FOR_SM90, "-O4"), 2, "error: invalid optimization level: 4\n"),
        (
            (*FOR_SM90, "-g"),
            2,
            "error: optimized debugging is not supported, change optimization level to 0 or "
            "disable full debug info\n",
        ),
        ((*FOR_SM90, "--host-arch=vax"), 2, "error: unsupported host architecture: vax\n"),
        ((*FOR_SM90, "--host-os=vms"), 2, "error: unsupported host operating system: vms\n"),
        (
            ("MLIR", "-o", "OUT", "--arch=sm_90", "-O0", "-g", "--host-os=linux"),
            3,
            "error: input does not correspond to Tile IR bytecode (it looks like MLIR bytecode "
            "instead)\n",
        ),
        (("NONE", "-o", "OUT", "--arch=sm_90"), 1, "error: unable to read input file 'NONE'"),
        (("TEXT", "-o", "OUT", "--arch=sm_90"), 3, "error: input does not correspond to Tile IR"),
        (("CUT", "-o", "OUT", "--arch=sm_90"), 1, 'loc("'),
    ],
)
def test_wrong_input(
    arguments: tuple[str, ...],
    code: int,
    text: str,
    program: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    wrong, cut, out = tmp_path / "wrong", tmp_path / "cut", tmp_path / "out"
    wrong.write_text(PROGRAM)
    (tmp_path / "mlir").write_bytes(b"ML\xefR\x0dMLIR\x00")
    cut.write_bytes(program.read_bytes()[:-7])
    names = {"FILE": str(program), "OUT": str(out), "TEXT": str(wrong), "CUT": str(cut)}
    names["MLIR"] = str(tmp_path / "mlir")
    assert run([names.get(argument, argument) for argument in arguments]) == code
    assert capsys.readouterr().err.startswith(text)
    assert not out.exists()


def test_what_cannot_be_finished_is_one_sentence(
    program: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arguments = [str(program), "-o", str(tmp_path / "no" / "out"), "--gpu-name", "sm_90"]
    monkeypatch.setattr(assembler, "assembled", lambda *_: ELF)
    assert run(arguments) == 1
    assert "unable to write" in capsys.readouterr().err
    monkeypatch.undo()
    monkeypatch.setattr("tileas_xdsl.backend.nvidia_tools.find_tool", lambda _: None)
    assert run(arguments) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ptxas") or "pip install" in line
    assert sorted(tmp_path.iterdir()) == [program]


def test_versions_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--list-versions"]) == 0
    assert capsys.readouterr().out.split() == [str(version) for version in VERSIONS]
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert "release" in capsys.readouterr().out
