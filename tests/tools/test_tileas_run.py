"""`tileas-run` executes modules with pure operations of our dialects."""

from pathlib import Path

import pytest

from tileas_xdsl.tools.tileas_run import TileasRunMain, main

MODULE = """func.func @main(%x: f32, %a: tensor<2xf16>) -> (tensor<2xf16>, !cute.int_tuple<"32">) {
  %h = arith.truncf %x : f32 to f16
  %t = tensor.splat %h : tensor<2xf16>
  %s = arith.addf %t, %a : tensor<2xf16>
  %l = cute.static() : () -> !cute.layout<"(8,4):(1,8)">
  %n = cute.size(%l) : (!cute.layout<"(8,4):(1,8)">) -> !cute.int_tuple<"32">
  func.return %s, %n : tensor<2xf16>, !cute.int_tuple<"32">
}
"""


def test_results_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "module.mlir"
    path.write_text(MODULE)
    arguments = "0.5 : f32, dense<[1.0, 2.0]> : tensor<2xf16>"
    TileasRunMain(args=[str(path), "--args", arguments, "--verbose"]).run()
    assert capsys.readouterr().out == "result: (\n    [1.5 2.5],\n    32\n)\n"


@pytest.mark.parametrize(
    ("text", "words", "code", "said"),
    [
        (None, (), 1, "module.mlir:1:1: error: cannot read the file: No such file or directory"),
        (MODULE.replace("splat %h", "splat %q"), (), 1, "module.mlir:3:21: error: use of undecl"),
        (MODULE, (), 2, "error: @main takes (f32, tensor<2xf16>), but --args has 0"),
        (MODULE, ("--symbol", "nobody"), 1, "error: Could not find symbol nobody"),
        (MODULE, ("--args", "1.0 :"), 2, "argument --args: type expected at column 6 of '1.0 :'"),
        (MODULE, ("--nosuch",), 2, "error: unrecognized arguments: --nosuch"),
    ],
)
def test_what_is_wrong_is_told_where(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    text: str | None,
    words: tuple[str, ...],
    code: int,
    said: str,
) -> None:
    path = tmp_path / "module.mlir"
    if text is not None:
        path.write_text(text)
    assert main([str(path), *words]) == code
    assert said in capsys.readouterr().err
