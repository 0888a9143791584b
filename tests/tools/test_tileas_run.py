"""`tileas-run` executes modules with pure operations of our dialects."""

from pathlib import Path

import pytest

from tileas_xdsl.tools.tileas_run import TileasRunMain

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
