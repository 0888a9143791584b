"""What Tile IR has and nothing below has is refused, at the operation, and never done wrongly."""

from __future__ import annotations

import pytest

from tests.support.tile_ir import entry, lowered
from tileas_xdsl.diagnostics.emission import OpError
from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.installed import registered_context
from tileas_xdsl.transforms.conversion.convert_cudatile_to_tileaa import ConvertCudatileToTileaa

REFUSED = {
    "nibbles": (
        """%q = ptr_to_ptr %p : tile<ptr<f32>> -> tile<ptr<f4E2M1FN>>
    %v = make_tensor_view %q, shape = [8], strides = [1] : tensor_view<8xf4E2M1FN, strides=[1]>""",
        "make_tensor_view",
        "two share a byte; access bytes, and pack or unpack them",
    ),
    "count": (
        """%a = constant <i64: 0> : tile<i64>
    for unsigned %i in (%a to %a, step %a) : tile<i64> { continue }""",
        "for",
        "64 bits without a sign",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    body, op, text = REFUSED[name]
    source = entry("%p: tile<ptr<f32>>", body)
    with pytest.raises(OpError, match=text) as caught:
        lowered(source)
    (report,) = caught.value.diagnostics
    assert report.op_name == f"cuda_tile.{op}"
    assert report.location is not None
    line = source.splitlines()[report.location.line - 1]
    assert f"{op} " in line


def test_f32_has_no_matrix_instruction() -> None:
    body = """%a = constant <f32: 1.0> : tile<16x16xf32>
    %r = mmaf %a, %a, %a : tile<16x16xf32>, tile<16x16xf32>, tile<16x16xf32>"""
    assert "atom fma_f32_f32_f32" in str(lowered(entry("", body)))


@pytest.mark.parametrize("capability", [None, "", "90b", "hopper", "sm_9"])
def test_the_target_must_be_said(capability: str | None) -> None:
    ctx = registered_context()
    module = parse_module(ctx, entry("", ""))
    with pytest.raises(OpError, match="invalid or missing --compute-capability option"):
        ConvertCudatileToTileaa(capability).apply(ctx, module)


def test_the_ctas_of_a_tile_block_are_kept_for_the_pass_that_divides_it() -> None:
    hints = "optimization_hints = <sm_100 = {num_cta_in_cga = 2}>"
    assert "nv_tileaa.num_cta_in_cga = 2 : i32" in str(lowered(entry("", "", hints), "sm_100a"))


def test_hints_are_those_of_the_target() -> None:
    hints = (
        "optimization_hints = <sm_90 = {num_worker_warps_per_cta = 8, occupancy = 2},"
        " sm_100 = {num_cta_in_cga = 2}>"
    )
    source = entry("", "", hints)
    (hopper,) = lowered(source, "sm_90a").body.block.ops
    (blackwell,) = lowered(source, "sm_100a").body.block.ops
    spec = "nv_tileaa.kernel_spec"
    assert str(hopper.attributes[spec]).endswith("<num_warps = 8, occupancy = 2>")
    assert str(blackwell.attributes[spec]).endswith("<num_warps = 4>")
    assert "nv_tileaa.num_cta_in_cga" not in hopper.attributes
    assert str(blackwell.attributes["nv_tileaa.num_cta_in_cga"]) == "2 : i32"
