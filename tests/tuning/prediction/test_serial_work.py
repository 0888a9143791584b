"""What code takes of units that overlaps nothing by itself."""

from xdsl.dialects import func

from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.installed import registered_context
from tileas_xdsl.target.costs.latencies import latencies
from tileas_xdsl.tuning.prediction.serial_work import SerialWork, serial_work

ROW = """
func.func @row(%x: tensor<4096xf16>) {{
  %e = arith.extf %x : tensor<4096xf16> to tensor<4096xf32>
  %y = math.exp %e : tensor<4096xf32>
  {more}
  func.return
}}
"""


SUM = """%s = nv_tileas.reduce %y {axis = 0 : i32} : tensor<4096xf32> -> tensor<f32> {
      ^bb0(%a: f32, %b: f32):
        %c = arith.addf %a, %b : f32
        nv_tileas.yield %c : f32
      }"""


def of(more: str = "", row: str = ROW) -> SerialWork:
    module = parse_module(registered_context(), row.format(more=more))
    (function,) = [op for op in module.ops if isinstance(op, func.FuncOp)]
    return serial_work(function.body.block, latencies("sm_90a"))


def test_functions_take_the_special_lanes() -> None:
    found = of()
    assert found.units["mufu"] == 4096 / 16
    assert found.units["issue"] >= 2 * 4096 / 128
    assert not found.has_loaded


def test_warps_meet_for_what_they_load_alone() -> None:
    assert not of().meets
    assert not of(SUM).meets
    load = "%l = nv_tileas.load %p : tensor<4096x!nv_tileaa.ptr<f32, 1>> -> tensor<4096xf32>\n"
    pointers = ROW.replace("%x:", "%p: tensor<4096x!nv_tileaa.ptr<f32, 1>>, %x:")
    assert of(load + SUM, pointers).meets


def test_a_reduction_waits_for_the_other_warps() -> None:
    clock = latencies("sm_90a")
    waits = of(SUM).waits - of().waits
    assert waits >= 5 * clock.shuffle + clock.barrier
