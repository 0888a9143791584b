"""A pass that crashes or leaves invalid IR writes what shows that again; nothing else does."""

from pathlib import Path

import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from kernels import make
from tests.support.tile_ir import entry
from tileas_xdsl.compilation.reproducers import FOLDER_VARIABLE
from tileas_xdsl.compiler import compile
from tileas_xdsl.diagnostics.emission import BrokenPassError
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.tools.tileas_opt import main
from tileas_xdsl.transforms.extension import added_patterns

ADD = make("vector_add").text()
SQUARE = entry(
    "%p: tile<ptr<i32>>",
    "%q = muli %x, %y : tile<i32>\n"
    "    store_ptr_tko weak %p, %q : tile<ptr<i32>>, tile<i32> -> token",
)
"""Tile IR, with what breaks a pass."""
BROKEN, LATER = "tileas-materialize-constants", "tileas-choose-tma"


class Crash(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.MuliOp, rewriter: PatternRewriter) -> None:
        raise KeyError("lost")


class Invalidate(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.MuliOp, rewriter: PatternRewriter) -> None:
        if op.result.type != i32:
            rewriter.replace_value_with_new_type(op.result, i32)


class CrashOverInvalid(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.MuliOp, rewriter: PatternRewriter) -> None:
        if op.result.type != op.lhs.type:
            raise KeyError("lost")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_crash_is_replayed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with added_patterns(BROKEN, Crash):
        with pytest.raises(BrokenPassError) as caught:
            compile(ADD)
        (made,) = folder.iterdir()
        (note,) = caught.value.diagnostics[0].notes
        assert note.message == f"'tileas-opt --run-reproducer {made}' shows it again"
        text = made.read_text()
        assert text.startswith(f"// configuration: --passes='{BROKEN}'\n// <text>:")
        assert 'nv_tileas.last_pass = "optimize-execution-unit-mapping"' in text
        assert main([str(made), "--run-reproducer"]) == 1
        assert f"internal error in pass '{BROKEN}': KeyError: 'lost'" in capsys.readouterr().err
        with pytest.raises(BrokenPassError, match="KeyError"):
            compile(made)
    assert main([str(made), "--run-reproducer"]) == 0
    assert compile(made).ptx
    assert [*folder.iterdir()] == [made]


def test_the_file_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "add.mlir").write_text(ADD)
    with added_patterns(BROKEN, Crash):
        assert main(["add.mlir", "-p", f"cse,{BROKEN}", "--crash-reproducer", "again.mlir"]) == 1
        assert "'tileas-opt --run-reproducer again.mlir' shows it again" in capsys.readouterr().err
        assert main(["add.mlir", "-p", BROKEN, "--crash-reproducer", "no/where.mlir"]) == 1
    assert "no reproducer is written: [Errno 2]" in capsys.readouterr().err
    assert {path.name for path in folder.iterdir()} == {"add.mlir", "again.mlir"}


def test_invalid_ir_is_replayed(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEAS_VERIFY_EACH", "1")
    with added_patterns(BROKEN, Invalidate):
        with pytest.raises(BrokenPassError):
            compile(ADD)
        (made,) = folder.iterdir()
        assert main([str(made), "--run-reproducer"]) == 1
    assert f"no longer valid after pass '{BROKEN}'" in capsys.readouterr().err


def test_a_pass_that_fails_over_invalid_ir_is_not_blamed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without `--verify-each`, too, the pass that broke the IR is named, and its input written."""
    monkeypatch.setenv("TILEAS_VERIFY_EACH", "0")
    with (
        added_patterns(BROKEN, Invalidate),
        added_patterns(LATER, CrashOverInvalid),
        pytest.raises(BrokenPassError) as caught,
    ):
        compile(ADD, passes=[BROKEN, LATER])
    first, *_ = caught.value.diagnostics
    assert any(f"after pass '{BROKEN}'" in note.message for note in first.notes)
    (made,) = folder.iterdir()
    assert made.read_text().startswith(f"// configuration: --passes='{BROKEN}'\n")


def test_a_crash_on_the_way_to_tiles_is_replayed(folder: Path) -> None:
    with added_patterns("tileas-normalize-dot-operands", Crash):
        with pytest.raises(BrokenPassError, match="KeyError: 'lost'"):
            compile(SQUARE)
        (made,) = folder.iterdir()
        with pytest.raises(BrokenPassError, match="KeyError: 'lost'"):
            compile(made)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["add.mlir", "--run-reproducer"], "'add.mlir' is no reproducer"),
        (["add.mlir", "--run-reproducer", "-p", "cse"], "-p is of no use with it"),
    ],
)
def test_mistakes(
    folder: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "add.mlir").write_text(ADD)
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


def test_what_is_refused_is_no_crash(folder: Path) -> None:
    with pytest.raises(DiagnosticError):
        compile(ADD.replace("tensor<64xf32>", "tensor<63xf32>"))
    assert not [*folder.iterdir()]
