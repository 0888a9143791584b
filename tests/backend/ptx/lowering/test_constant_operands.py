"""Operands of products that are constants are registers: `mma` takes no literals."""

from __future__ import annotations

import re

from tileas_xdsl.compiler import compile

BYTES = """cuda_tile.module @m {
  entry @k(%a: tile<ptr<i8>>, %c: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %av = make_tensor_view %a, shape = [16, 32], strides = [32, 1] : tensor_view<16x32xi8,strides=[32,1]>
    %au = make_partition_view %av : partition_view<tile=(16x32), tensor_view<16x32xi8, strides=[32,1]>>
    %x, %t = load_view_tko weak %au[%zero, %zero] : partition_view<tile=(16x32), tensor_view<16x32xi8, strides=[32,1]>>, tile<i32> -> tile<16x32xi8>, token
    %y = constant <i8: 3> : tile<32x16xi8>
    %s = constant <i32: 0> : tile<16x16xi32>
    %p = mmai %x, %y, %s signed signed : tile<16x32xi8>, tile<32x16xi8>, tile<16x16xi32>
    %cv = make_tensor_view %c, shape = [16, 16], strides = [16, 1] : tensor_view<16x16xi32,strides=[16,1]>
    %cu = make_partition_view %cv : partition_view<tile=(16x16), tensor_view<16x16xi32, strides=[16,1]>>
    %u = store_view_tko weak %p, %cu[%zero, %zero] : tile<16x16xi32>, partition_view<tile=(16x16), tensor_view<16x16xi32, strides=[16,1]>>, tile<i32> -> token
    return
  }
}
"""  # noqa: E501


def test_bytes_of_a_constant_operand_are_in_registers() -> None:
    kernel = compile(BYTES, "sm_90a")
    products = re.findall(r"mma\.sync\S* \{.*?\}, \{.*?\}, \{(.*?)\}", kernel.ptx)
    assert products
    assert all(re.fullmatch(r"%r\d+, %r\d+", operand) for operand in products)
    assert kernel.assemble().spills == 0
