"""How fast Tile IR bytecode is read and written (`make bench`); medians of five runs.

The file is one of many functions, as a library of kernels would be: a row softmax and a matrix
product of cuTile, again and again, each operation with its place in the source.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import ModuleOp, StringAttr

from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.diagnostics.verification.verify import verify_errors
from tileas_xdsl.frontend.bytecode.reading.reader import read_bytecode
from tileas_xdsl.frontend.bytecode.writing.writer import write_bytecode
from tileas_xdsl.tools.failures import ends_with_its_reader

FUNCTIONS = 1000

ARRAY = """
      %{a}0 = assume div_by<16>, %{a} : tile<ptr<{t}>>
      %{a}1 = assume bounded<0, ?>, %{a}h : tile<i32>
      %{a}2 = assume bounded<0, ?>, %{a}w : tile<i32>
      %{a}3 = assume bounded<0, ?>, %{a}p : tile<i32>
      %{a}v = make_tensor_view %{a}0, shape = [%{a}1, %{a}2], strides = [%{a}3, 1] : tile<i32> -> tensor_view<?x?x{t}, strides=[?,1]>
"""

SOFTMAX = """
    entry @softmax({parameters}) {{
      %token = make_token : token
      {arrays}
      %i, %j, %k = get_tile_block_id : tile<i32>
      %zero = constant <i32: 0> : tile<i32>
      %in = make_partition_view %xv : partition_view<tile=(1x256), padding_value = neg_inf, tensor_view<?x?xf32, strides=[?,1]>>
      %row, %loaded = load_view_tko weak %in[%i, %zero] token = %token : partition_view<tile=(1x256), padding_value = neg_inf, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<1x256xf32>, token
      %most = reduce %row dim=1 identities=[0xff800000 : f32] : tile<1x256xf32> -> tile<1xf32> (%a: tile<f32>, %b: tile<f32>) {{
        %c = maxf %a, %b : tile<f32>
        yield %c : tile<f32>
      }}
      %most1 = reshape %most : tile<1xf32> -> tile<1x1xf32>
      %most2 = broadcast %most1 : tile<1x1xf32> -> tile<1x256xf32>
      %less = subf %row, %most2 : tile<1x256xf32>
      %e = exp %less : tile<1x256xf32>
      %sum = reduce %e dim=1 identities=[0.0 : f32] : tile<1x256xf32> -> tile<1xf32> (%a: tile<f32>, %b: tile<f32>) {{
        %c = addf %a, %b : tile<f32>
        yield %c : tile<f32>
      }}
      %sum1 = reshape %sum : tile<1xf32> -> tile<1x1xf32>
      %sum2 = broadcast %sum1 : tile<1x1xf32> -> tile<1x256xf32>
      %q = divf %e, %sum2 : tile<1x256xf32>
      %out = make_partition_view %yv : partition_view<tile=(1x256), tensor_view<?x?xf32, strides=[?,1]>>
      %stored = store_view_tko weak %q, %out[%i, %zero] token = %token : tile<1x256xf32>, partition_view<tile=(1x256), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
      return
    }}
"""

MATMUL = """
    entry @matmul({parameters}) {{
      %token = make_token : token
      {arrays}
      %i, %j, %k = get_tile_block_id : tile<i32>
      %zero = constant <i32: 0> : tile<i32>
      %one = constant <i32: 1> : tile<i32>
      %start = constant <f32: 0.0> : tile<128x128xf32>
      %lefts = make_partition_view %av : partition_view<tile=(128x64), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>
      %rights = make_partition_view %bv : partition_view<tile=(64x128), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>
      %rows, %count = get_index_space_shape %lefts : partition_view<tile=(128x64), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>> -> tile<i32>
      %sum = for %step in (%zero to %count, step %one) : tile<i32> iter_values(%acc = %start) -> (tile<128x128xf32>) {{
        %l, %lt = load_view_tko weak %lefts[%i, %step] token = %token : partition_view<tile=(128x64), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> tile<128x64xf16>, token
        %r, %rt = load_view_tko weak %rights[%step, %j] token = %token : partition_view<tile=(64x128), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> tile<64x128xf16>, token
        %next = mmaf %l, %r, %acc : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
        continue %next : tile<128x128xf32>
      }}
      %out = make_partition_view %cv : partition_view<tile=(128x128), tensor_view<?x?xf32, strides=[?,1]>>
      %stored = store_view_tko weak %sum, %out[%i, %j] token = %token : tile<128x128xf32>, partition_view<tile=(128x128), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
      return
    }}
"""


def entry(text: str, **arrays: str) -> str:
    parameters = ", ".join(
        f"%{a}: tile<ptr<{t}>>, %{a}h: tile<i32>, %{a}w: tile<i32>, %{a}p: tile<i32>"
        for a, t in arrays.items()
    )
    views = "".join(ARRAY.format(a=a, t=t) for a, t in arrays.items())
    return text.format(parameters=parameters, arrays=views)


def program() -> ModuleOp:
    """`FUNCTIONS` functions: one softmax and one product, copied, with the same places in the source."""
    from tileas_xdsl.installed import registered_context

    ctx = registered_context()
    functions = entry(SOFTMAX, x="f32", y="f32") + entry(MATMUL, a="f16", b="f16", c="f32")
    text = f"cuda_tile.module @kernels {{\n{functions}\n}}"
    module = read_bytecode(write_bytecode(parse_module(ctx, text, "bench.mlir")))
    assert not verify_errors(module)
    [kernels] = module.ops
    block = kernels.regions[0].block
    first = list(block.ops)
    for number in range(FUNCTIONS // 2 - 1):
        for function in first:
            copy = function.clone()
            name = function.properties["sym_name"]
            assert isinstance(name, StringAttr)
            copy.properties["sym_name"] = StringAttr(f"{name.data}{number}")
            block.add_op(copy)
    return module


def median_of_five(run: Callable[[], Any]) -> float:
    """Seconds of the processor, which other programs disturb less than those of the clock."""
    times: list[float] = []
    for _ in range(5):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return statistics.median(times)


def main() -> None:
    module = program()
    data = write_bytecode(module)
    assert write_bytecode(read_bytecode(data)) == data
    count = sum(1 for _ in module.walk())
    print(f"{FUNCTIONS} functions, {count} operations, {len(data)} bytes")
    for name, run in (
        ("read", lambda: read_bytecode(data)),
        ("write", lambda: write_bytecode(module)),
    ):
        seconds = median_of_five(run)
        print(
            f"{name:<8} {len(data) / seconds / 1e6:6.2f} MB/s"
            f"  {1e6 * seconds / count:6.2f} us an operation"
        )


if __name__ == "__main__":
    with ends_with_its_reader():
        main()
